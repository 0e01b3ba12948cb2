//! CSV files to numbers, with the place of everything that is wrong.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use smave::Mat;

/// A table of numbers, row after row.
pub struct Table {
    path: PathBuf,
    /// Column names, from the header line.
    pub names: Vec<String>,
    /// Values, row after row.
    pub values: Vec<f64>,
}

/// Which columns of a file are wanted.
enum Wanted<'a> {
    All,
    /// These, by name; others are skipped unread.
    Only(&'a [String]),
}

impl Table {
    /// All columns of a CSV file; `targets` only improve the message if such a column is text.
    pub fn read(path: &Path, targets: &[String]) -> Result<Self> {
        Self::read_columns(path, Wanted::All, targets)
    }

    /// The named columns of a CSV file, in the order of `names`.
    pub fn read_only(path: &Path, names: &[String]) -> Result<Self> {
        Self::read_columns(path, Wanted::Only(names), &[])
    }

    fn read_columns(path: &Path, wanted: Wanted<'_>, targets: &[String]) -> Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(file);
        let header = reader.byte_headers().with_context(|| format!("cannot read {shown}"))?.clone();
        if header.is_empty() {
            bail!("{shown} is empty: expected a header line with column names, then rows of numbers");
        }
        let mut names = Vec::new();
        for (column, name) in header.iter().enumerate() {
            let Ok(name) = std::str::from_utf8(name) else {
                bail!(
                    "{shown}, line 1, column {}: the name is not UTF-8 text; is this a CSV file?",
                    column + 1
                );
            };
            if let Some(first) = names.iter().position(|other| other == name) {
                bail!(
                    "{shown}, line 1: columns {} and {} are both named '{name}'; rename one",
                    first + 1,
                    column + 1
                );
            }
            names.push(name.to_string());
        }
        let columns: Vec<usize> = match wanted {
            Wanted::All => (0..names.len()).collect(),
            Wanted::Only(wanted) => {
                let find = |name: &String| position(&names, name, &format!("{shown}"));
                wanted.iter().map(find).collect::<Result<_>>()?
            }
        };
        let mut values = Vec::new();
        let mut record = csv::ByteRecord::new();
        loop {
            if !reader.read_byte_record(&mut record).with_context(|| format!("cannot read {shown}"))? {
                break;
            }
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() != names.len() {
                bail!(
                    "{shown}, line {line}: {} values where the header has {} columns",
                    record.len(),
                    names.len()
                );
            }
            for &column in &columns {
                let cell = &record[column];
                let place = || format!("{shown}, line {line}, column {} ('{}')", column + 1, names[column]);
                match parse_finite(cell) {
                    Ok(value) => values.push(value),
                    Err(Cell::Missing) => {
                        bail!("{}: the value is missing; remove the row or fill it in first", place())
                    }
                    Err(Cell::NotFinite(text)) => {
                        bail!(
                            "{}: '{text}' is not a finite number; remove the row or fill it in first",
                            place()
                        )
                    }
                    Err(Cell::Text(text)) if targets.contains(&names[column]) => bail!(
                        "{}: the target must be numeric, but '{text}' is text; choose another column or code it as numbers",
                        place()
                    ),
                    Err(Cell::Text(text)) => {
                        bail!("{}: '{text}' is not a number; drop the column or code it as numbers", place())
                    }
                }
            }
        }
        if values.is_empty() {
            bail!("{shown} has a header line but no rows");
        }
        let names = columns.iter().map(|&column| names[column].clone()).collect();
        Ok(Self { path: path.into(), names, values })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.names.len()
    }

    /// Takes a column out: the other columns, of which there must be some, and its values.
    pub fn split_off(mut self, name: &str) -> Result<(Self, Vec<f64>)> {
        let column = position(&self.names, name, &format!("{}", self.path.display()))?;
        if self.names.len() == 1 {
            bail!("{} has no columns besides '{name}'", self.path.display());
        }
        let width = self.names.len();
        let values = self.values.iter().skip(column).step_by(width).copied().collect();
        // In place: a file may be as large as memory allows.
        let mut index = 0;
        self.values.retain(|_| {
            index += 1;
            (index - 1) % width != column
        });
        self.names.remove(column);
        Ok((self, values))
    }
}

/// The column names of a CSV file.
pub fn header(path: &Path) -> Result<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(reader
        .headers()
        .with_context(|| format!("cannot read {}", path.display()))?
        .iter()
        .map(String::from)
        .collect())
}

/// Where a column is, or an error that says which columns there are.
fn position(names: &[String], wanted: &str, file: &str) -> Result<usize> {
    names.iter().position(|name| name == wanted).with_context(|| {
        let close = names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
        let hint = close.map_or(String::new(), |name| format!(" (did you mean '{name}'?)"));
        let mut listed = names.iter().take(12).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
        if names.len() > 12 {
            listed.push_str(&format!(" and {} more", names.len() - 12));
        }
        format!("{file} has no column '{wanted}'{hint}; its columns are {listed}")
    })
}

/// What a cell may hold instead of a number.
enum Cell {
    Missing,
    NotFinite(String),
    Text(String),
}

fn parse_finite(cell: &[u8]) -> Result<f64, Cell> {
    let text = String::from_utf8_lossy(cell);
    if text.is_empty() {
        return Err(Cell::Missing);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Cell::NotFinite(text.into_owned())),
        Err(_) if text.eq_ignore_ascii_case("na") || text == "." => Err(Cell::Missing),
        Err(_) => Err(Cell::Text(text.into_owned())),
    }
}

/// A basis as `simulate` writes it: a column `name` and one column per direction, a row per
/// covariate in any order.
pub fn read_basis(path: &Path, features: &[String]) -> Result<Mat<f64>> {
    let shown = path.display();
    let mut reader = csv::Reader::from_path(path).with_context(|| format!("cannot read {shown}"))?;
    let header = reader.headers().with_context(|| format!("cannot read {shown}"))?.clone();
    if header.get(0) != Some("name") || header.len() < 2 {
        bail!(
            "{shown} is not a basis: expected the columns name,b1,b2,... as `smave simulate --truth` writes them"
        );
    }
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; features.len()];
    for record in reader.records() {
        let record = record.with_context(|| format!("cannot read {shown}"))?;
        let line = record.position().map_or(0, csv::Position::line);
        let name = &record[0];
        let Some(row) = features.iter().position(|feature| feature == name) else {
            bail!("{shown}, line {line}: '{name}' is not a covariate of the data");
        };
        let parse = |cell: &str| parse_finite(cell.as_bytes()).ok();
        rows[row] = Some(
            record
                .iter()
                .skip(1)
                .map(parse)
                .collect::<Option<_>>()
                .with_context(|| format!("{shown}, line {line}: a value is not a finite number"))?,
        );
    }
    if let Some(missing) = rows.iter().position(Option::is_none) {
        bail!("{shown} has no row for the covariate '{}'", features[missing]);
    }
    let rows: Vec<Vec<f64>> = rows.into_iter().flatten().collect();
    Ok(Mat::from_fn(features.len(), header.len() - 1, |i, j| rows[i][j]))
}
