//! A table as it was read: numbers, texts as codes, and what is missing.

use crate::error::{Error, Result};

/// Values of any number of columns, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where it comes from, for messages.
    pub file: String,
    /// The columns that were read.
    pub columns: Vec<Column>,
    /// Row after row: numbers, or places in [`Column::levels`]; NaN where a value is missing.
    pub values: Vec<f64>,
    /// Where values are missing: the first few.
    pub missing: Vec<Place>,
    /// What places are counted in: "line" of a text file, otherwise "row".
    pub unit: &'static str,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// For a column of texts, each of them once.
    pub levels: Option<Vec<String>>,
}

/// A place in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line or row, counted from 1.
    pub line: u64,
    /// The column among those read.
    pub column: usize,
}

/// Which columns are read, and as what.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// These, in this order; all if `None`.
    pub only: Option<Vec<String>>,
    /// After those, these if they are there.
    pub optional: Vec<String>,
    /// Not these.
    pub except: Vec<String>,
    /// As text, even where they look like numbers.
    pub text: Vec<String>,
    /// As numbers: a text there is an error, not a level.
    pub numbers: Vec<String>,
}

/// Missing places that are remembered.
pub(crate) const MISSING_SHOWN: usize = 5;

/// Different texts that a column may hold before it is taken for something else than a category.
pub const MAX_LEVELS: usize = 100;

impl Table {
    /// A table whose places are rows.
    pub(crate) fn of_rows(file: &str, columns: Vec<Column>, values: Vec<f64>) -> Result<Self> {
        let width = columns.len();
        if let Some(e) = values.iter().position(|v| v.is_infinite()) {
            let problem = format!(
                "row {}: {} is not a finite number; remove the row or correct the value first",
                e / width + 1,
                values[e]
            );
            return Err(Error::Column { file: file.into(), name: columns[e % width].name.clone(), problem });
        }
        let missing = (values.iter().enumerate().filter(|(_, v)| v.is_nan()).take(MISSING_SHOWN))
            .map(|(e, _)| Place { line: (e / width + 1) as u64, column: e % width })
            .collect();
        Ok(Self { file: file.into(), columns, values, missing, unit: "row" })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.columns.len().max(1)
    }

    /// Where a column is.
    ///
    /// # Errors
    /// When there is none of that name; the message says which there are.
    pub fn position(&self, name: &str) -> Result<usize> {
        let names: Vec<&str> = self.columns.iter().map(|column| &column.name[..]).collect();
        position(&names, name, &self.file)
    }

    /// The values of a column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().skip(column).step_by(self.columns.len()).copied()
    }

    /// How many values are missing in each column.
    pub fn count_missing(&self) -> Vec<usize> {
        (0..self.columns.len()).map(|c| self.column(c).filter(|v| v.is_nan()).count()).collect()
    }

    /// The places of the first missing values, in words.
    pub fn missing_places(&self) -> String {
        let name = |place: &Place| self.columns.get(place.column).map_or("", |column| &column.name);
        let places =
            self.missing.iter().map(|place| format!("{} {} ('{}')", self.unit, place.line, name(place)));
        places.collect::<Vec<_>>().join(", ")
    }

    /// Keeps the columns for which `keep` is true, in place: a table may be as large as memory allows.
    pub fn retain_columns(&mut self, keep: &[bool]) {
        let width = keep.len();
        let mut index = 0;
        self.values.retain(|_| {
            index += 1;
            keep[(index - 1) % width]
        });
        let mut kept = keep.iter();
        self.columns.retain(|_| *kept.next().unwrap_or(&true));
    }

    /// Keeps the rows for which `keep` is true, in place.
    pub fn retain_rows(&mut self, keep: impl Fn(usize, &[f64]) -> bool) {
        let width = self.columns.len();
        let mut next = 0;
        for row in 0..self.n_rows() {
            if keep(row, &self.values[row * width..(row + 1) * width]) {
                self.values.copy_within(row * width..(row + 1) * width, next * width);
                next += 1;
            }
        }
        self.values.truncate(next * width);
    }
}

impl Wanted {
    /// The places of the columns to read, out of all.
    pub(crate) fn places(&self, names: &[String], file: &str) -> Result<Vec<usize>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let find = |name: &String| position(&names, name, file);
        for name in self.except.iter().chain(&self.text).chain(&self.numbers) {
            find(name)?;
        }
        let places: Vec<usize> = match &self.only {
            Some(only) => {
                let mut places: Vec<usize> = only.iter().map(find).collect::<Result<_>>()?;
                places.extend(self.optional.iter().filter_map(|name| names.iter().position(|n| n == name)));
                places
            }
            None => (0..names.len()).collect(),
        };
        let places: Vec<usize> = places
            .into_iter()
            .filter(|&place| !self.except.iter().any(|name| name == names[place]))
            .collect();
        if places.is_empty() {
            return Err(Error::File { file: file.into(), problem: "no column is left to read".into() });
        }
        Ok(places)
    }
}

/// Where a column is, or an error that says which columns there are.
pub(crate) fn position(names: &[&str], wanted: &str, file: &str) -> Result<usize> {
    names.iter().position(|name| *name == wanted).ok_or_else(|| {
        let close = names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
        let mut listed = names.iter().take(12).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
        if names.len() > 12 {
            listed.push_str(&format!(" and {} more", names.len() - 12));
        }
        Error::NoColumn {
            file: file.into(),
            name: wanted.into(),
            hint: close.map_or(String::new(), |name| format!(" (did you mean '{name}'?)")),
            listed,
        }
    })
}

/// Refuses two columns of one name.
pub(crate) fn check_distinct(names: &[String], file: &str) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, second) {
            return Err(Error::DuplicateColumn {
                file: file.into(),
                name: name.clone(),
                first: first + 1,
                second: second + 1,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let column = |name: &str| Column { name: name.into(), levels: None };
        Table {
            file: "t.csv".into(),
            columns: vec![column("a"), column("b"), column("c")],
            values: vec![1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0],
            missing: vec![Place { line: 2, column: 1 }],
            unit: "line",
        }
    }

    #[test]
    fn rows_and_columns_are_dropped_in_place() {
        let mut columns = table();
        assert_eq!(columns.count_missing(), [0, 1, 0]);
        assert_eq!(columns.missing_places(), "line 2 ('b')");
        columns.retain_columns(&[true, false, true]);
        assert_eq!((columns.values, columns.columns.len()), (vec![1.0, 3.0, 4.0, 6.0], 2));
        let mut rows = table();
        rows.retain_rows(|_, row| row.iter().all(|v| !v.is_nan()));
        assert_eq!((rows.n_rows(), rows.values), (1, vec![4.0, 5.0, 6.0]));
    }

    #[test]
    fn a_missing_column_is_named_with_those_there_are() {
        let message = table().position("B").unwrap_err().to_string();
        assert_eq!(message, "t.csv has no column 'B' (did you mean 'b'?); its columns are 'a', 'b', 'c'");
    }
}
