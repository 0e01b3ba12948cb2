//! From files to data sets.

use std::path::Path;

use anyhow::{Context, Result, bail};
use smave::data::SourceColumn;
use smave::{Dataset, Dense, Mat, Model};
use smave_table::{Missing, Prepared, Roles, Table, Wanted, apply, prepare};

use crate::args::{MissingValues, Precision, TableArgs};

/// A data set, and how it came about.
pub struct Loaded {
    pub data: Dataset<'static>,
    /// What was made of each column; empty if every covariate is a column as it stands.
    pub encoding: Vec<SourceColumn>,
    /// Values that were missing, and rows left out for it.
    pub n_missing: usize,
    pub n_dropped: usize,
}

impl TableArgs {
    fn roles(&self) -> Roles {
        Roles {
            targets: self.target.clone(),
            features: self.features.clone(),
            drop: self.drop.clone(),
            weights: self.weights.clone(),
            categorical: self.categorical.clone(),
            missing: match self.missing {
                MissingValues::Error => Missing::Error,
                MissingValues::Drop => Missing::Drop,
                MissingValues::Mean => Missing::Mean,
            },
        }
    }

    /// Reads the table and gives its columns their roles. What is left out goes to standard error.
    pub fn prepare(&self) -> Result<Prepared> {
        let roles = self.roles();
        let prepared = prepare(Table::read(&self.data, &roles.wanted())?, &roles)?;
        if prepared.n_dropped > 0 {
            eprintln!(
                "warning: {} rows with missing values are left out, {} remain",
                prepared.n_dropped,
                prepared.responses[0].len()
            );
        }
        Ok(prepared)
    }

    /// The data set that the flags ask for. Warnings go to standard error.
    pub fn load(&self, precision: Precision) -> Result<Loaded> {
        let Prepared { names, values, responses, weights, encoding, n_missing, n_dropped } =
            self.prepare()?;
        let data = dataset(names, values, responses, weights, precision)?;
        let plain = encoding.iter().all(SourceColumn::is_plain);
        Ok(Loaded { data, encoding: if plain { Vec::new() } else { encoding }, n_missing, n_dropped })
    }
}

fn dataset(
    names: Vec<String>,
    values: Vec<f64>,
    responses: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
    precision: Precision,
) -> Result<Dataset<'static>> {
    let mut responses = responses.into_iter();
    let y = responses.next().context("no target: name a column with --target")?;
    let (n, p) = (y.len(), names.len());
    let mut data = match precision {
        Precision::F64 => Dataset::with_names(Dense::new(values, n, p)?, y, names),
        Precision::F32 => {
            let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            drop(values);
            Dataset::with_names(Dense::new(narrow, n, p)?, y, names)
        }
    }?;
    for y in responses {
        data = data.with_response(&y)?;
    }
    if let Some(weights) = weights {
        data = data.with_weights(weights)?;
    }
    for warning in data.warnings() {
        eprintln!("warning: {warning}");
    }
    Ok(data)
}

/// The columns that a model is made of, and after them the others named.
fn wanted(sources: &[SourceColumn], others: &[&String]) -> Wanted {
    let names = |text: bool| {
        let these = sources.iter().filter(move |source| source.levels.is_some() == text);
        these.map(|source| source.name.clone())
    };
    let others = others.iter().map(|name| (*name).clone());
    Wanted {
        only: Some(sources.iter().map(|source| source.name.clone()).chain(others.clone()).collect()),
        text: names(true).collect(),
        numbers: names(false).chain(others).collect(),
        ..Wanted::default()
    }
}

/// The name and the values of a column.
pub type Named = (String, Vec<f64>);

/// Takes the columns after the first `count` off a table.
fn split_off(table: &mut Table, count: usize) -> Vec<Named> {
    let others = (count..table.columns.len())
        .filter(|&c| table.columns[c].levels.is_none())
        .map(|c| (table.columns[c].name.clone(), table.column(c).collect()))
        .collect();
    let keep: Vec<bool> = (0..table.columns.len()).map(|c| c < count).collect();
    table.retain_columns(&keep);
    others
}

/// The covariates of a model in a table, by name, and such of its targets as are there and known in every row.
pub fn covariates(path: &Path, model: &Model) -> Result<(Dense<'static, f64>, Vec<Named>)> {
    let sources = model.sources();
    let optional = model.targets.iter().filter(|name| !sources.iter().any(|source| source.name == **name));
    let wanted = Wanted { optional: optional.cloned().collect(), ..wanted(&sources, &[]) };
    let mut table = Table::read(path, &wanted)?;
    let targets = split_off(&mut table, sources.len());
    let n = table.n_rows();
    let values = apply(table, &sources)?;
    let known = targets.into_iter().filter(|(_, y)| y.iter().all(|v| v.is_finite())).collect();
    Ok((Dense::new(values, n, model.reduction.n_features())?, known))
}

/// The setting of a model file that says what was done about missing values.
pub const MISSING: &str = "missing";

/// The rows of a table as a model sees them, with the responses given, or those that the model names. Rows are left out as
/// they were when it was fitted.
pub fn for_model(path: &Path, model: &Model, given: &[String], weights: Option<&String>) -> Result<Loaded> {
    let targets = if given.is_empty() { &model.targets } else { given };
    if targets.is_empty() {
        bail!("the model does not name its target: say which column it is with --target");
    }
    let sources = model.sources();
    let others: Vec<&String> = targets.iter().chain(weights).collect();
    let mut table = Table::read(path, &wanted(&sources, &others))?;
    let n_missing = table.count_missing().iter().sum();
    let before = table.n_rows();
    let named = |policy: MissingValues| model.settings[MISSING] == policy.name();
    if named(MissingValues::Drop) {
        table.retain_rows(|_, row| row.iter().all(|v| !v.is_nan()));
    } else if named(MissingValues::Mean) {
        table.retain_rows(|_, row| row[sources.len()..].iter().all(|v| !v.is_nan()));
    }
    let n_dropped = before - table.n_rows();
    let mut others = split_off(&mut table, sources.len());
    if let Some((name, _)) = others.iter().find(|(_, y)| y.iter().any(|v| v.is_nan())) {
        bail!("{}: values of '{name}' are missing; remove these rows first", path.display());
    }
    let values = apply(table, &sources)?;
    let counts = weights.and_then(|_| others.pop()).map(|(_, counts)| counts);
    let responses = others.into_iter().map(|(_, y)| y).collect();
    let data = dataset(model.reduction.names().to_vec(), values, responses, counts, Precision::F64)?;
    Ok(Loaded { data, encoding: model.encoding.clone(), n_missing, n_dropped })
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
        let parse = |cell: &str| cell.trim().parse().ok().filter(|value: &f64| value.is_finite());
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
