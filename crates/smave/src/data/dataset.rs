//! X and y, checked once, so that nothing after has to check again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::data::dense::Dense;
use crate::data::design::{Design, Rows, expect_size};
use crate::data::repeats::{Counted, count_repeats};
use crate::data::responses::Responses;
use crate::data::standardize::standardized;
use crate::error::{Error, Result};
use crate::linalg::Points;

/// Something a user should know about the data that does not stop a fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// All values of a column are equal: it can have no effect.
    ConstantColumn {
        /// Column, counted from 0.
        column: usize,
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::ConstantColumn { name, .. } => {
                write!(f, "covariate '{name}' is constant and cannot contribute; consider dropping it")
            }
        }
    }
}

/// n samples of p covariates and a response, or several, all finite.
pub struct Dataset<'a> {
    x: Box<dyn Design + 'a>,
    /// One response after another.
    y: Cow<'a, [f64]>,
    /// The same in standard deviations from the mean, where there are several.
    standardized: Option<Vec<f64>>,
    weights: Option<Cow<'a, [f64]>>,
    names: Vec<String>,
    warnings: Vec<Warning>,
}

impl<'a> Dataset<'a> {
    /// Checks shapes and values. Columns are named x1, x2, ... until [`Dataset::with_names`].
    ///
    /// # Errors
    /// No rows or columns, fewer than 2 rows, lengths that differ, a value
    /// that is not finite, a response that never changes.
    pub fn new(x: impl Design + 'a, y: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        Self::from_parts(Box::new(x), y.into(), 1, None)
    }

    /// As [`Dataset::new`], with the names of the columns of X.
    ///
    /// # Errors
    /// Also when there are more or fewer names than columns, or two that are the same.
    pub fn with_names(x: impl Design + 'a, y: impl Into<Cow<'a, [f64]>>, names: Vec<String>) -> Result<Self> {
        Self::from_parts(Box::new(x), y.into(), 1, Some(names))
    }

    /// Several responses come one after another.
    fn from_parts(
        x: Box<dyn Design + 'a>,
        y: Cow<'a, [f64]>,
        n_responses: usize,
        names: Option<Vec<String>>,
    ) -> Result<Self> {
        let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
        if n_rows == 0 || n_cols == 0 {
            return Err(Error::Empty { n_rows, n_cols });
        }
        expect_size("length of y against rows of X", n_rows * n_responses, y.len())?;
        let names = names.unwrap_or_else(|| default_names(n_cols));
        expect_size("column names against columns of X", n_cols, names.len())?;
        check_distinct(&names)?;
        if n_rows < 2 {
            return Err(Error::TooFewSamples {
                needed: 2,
                found: n_rows,
                purpose: "for any regression".into(),
            });
        }
        let inspection = x.inspect();
        if let Some((row, column, value)) = inspection.first_non_finite {
            return Err(Error::NonFinite { row, column, name: names[column].clone(), value });
        }
        for y in y.chunks_exact(n_rows) {
            check_response(y, None)?;
        }
        let warnings = inspection
            .constant
            .iter()
            .enumerate()
            .filter(|(_, constant)| **constant)
            .map(|(column, _)| Warning::ConstantColumn { column, name: names[column].clone() })
            .collect();
        let mut data = Self { x, y, standardized: None, weights: None, names, warnings };
        data.standardize_responses()?;
        Ok(data)
    }

    /// The same with a further response of the same rows. Methods look for what all responses need, each counted in
    /// standard deviations of its own; predictions are made for each.
    ///
    /// # Errors
    /// When the length is another than the number of rows, a value is not finite, or all are the same.
    pub fn with_response(mut self, y: &[f64]) -> Result<Self> {
        expect_size("length of y against rows of X", self.n_samples(), y.len())?;
        check_response(y, self.weights())?;
        self.y.to_mut().extend_from_slice(y);
        self.standardize_responses()?;
        Ok(self)
    }

    /// As [`Dataset::new`], with responses one after another, weights and default names.
    pub(crate) fn of_responses(x: impl Design + 'a, y: Vec<f64>, weights: Option<Vec<f64>>) -> Result<Self> {
        let n_responses = y.len() / x.n_rows().max(1);
        let data = Self::from_parts(Box::new(x), y.into(), n_responses, None)?;
        match weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        }
    }

    fn standardize_responses(&mut self) -> Result<()> {
        if self.n_responses() == 1 {
            return Ok(());
        }
        let columns = self.raw_responses().iter().map(|y| standardized(y, self.weights()));
        self.standardized = Some(columns.collect::<Result<Vec<_>>>()?.concat());
        Ok(())
    }

    /// Gives each row a weight, which counts rows: weight 2 is the row twice, weight 0 leaves it out.
    ///
    /// # Errors
    /// When there are more or fewer weights than rows, one is negative or not finite, they sum to less than 2, or the
    /// response is the same wherever they are positive.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        expect_size("weights against rows of X", self.n_samples(), weights.len())?;
        let refuse = |value: String, requirement: &str| {
            Err(Error::InvalidParameter { name: "weights", value, requirement: requirement.into() })
        };
        if let Some(row) = weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
            return refuse(format!("{} in row {row}", weights[row]), "finite, zero or more");
        }
        let total: f64 = weights.iter().sum();
        if !(total >= 2.0 && total.is_finite()) {
            let requirement = "at least 2, because they count rows; scale them to a mean of 1";
            return refuse(format!("a sum of {total}"), requirement);
        }
        for y in self.raw_responses().iter() {
            check_response(y, Some(&weights))?;
        }
        // Rows that all count once are just rows.
        self.weights = if weights.iter().all(|w| *w == 1.0) { None } else { Some(weights) };
        self.standardize_responses()?;
        Ok(self)
    }

    /// The weight of each row; `None` if each counts once.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// How many rows there are, counted by weight.
    pub fn n_counted(&self) -> usize {
        count_rows(self.weights(), self.n_samples())
    }

    /// A copy of some rows, in the order given; a row may come more than once.
    ///
    /// # Errors
    /// When a row does not exist, there are fewer than 2, or the response is the same in all of them.
    pub fn subset(&self, rows: &[usize]) -> Result<Dataset<'static>> {
        let x = self.covariates(rows)?;
        let y = self.raw_responses().at(rows);
        let some = Dataset::from_parts(Box::new(x), y.into(), self.n_responses(), Some(self.names.clone()))?;
        match &self.weights {
            Some(weights) => some.with_weights(rows.iter().map(|&row| weights[row]).collect::<Vec<_>>()),
            None => Ok(some),
        }
    }

    /// A copy with each row once that counts, weighted by how often it occurs; `None` if this is it. Where rows count once
    /// and occur once they keep their order, otherwise they are put in one that depends on their values alone: a weight
    /// of 2 and the same row twice, wherever it stands, then give the same fit to the last bit.
    ///
    /// # Errors
    /// When fewer than 2 rows are left, or the response is the same in all of them.
    pub fn distinct(&self) -> Result<Option<Dataset<'static>>> {
        let Some(Counted { rows, weights }) = count_repeats(self.x(), self.raw_responses(), self.weights())
        else {
            return Ok(None);
        };
        let some = self.subset(&rows)?;
        Ok(Some(match weights {
            Some(weights) => some.with_weights(weights)?,
            None => some,
        }))
    }

    /// A copy of the covariates of some rows, in the order given.
    ///
    /// # Errors
    /// When a row does not exist.
    pub fn covariates(&self, rows: &[usize]) -> Result<Dense<'static, f64>> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.n_samples()) {
            return Err(Error::InvalidParameter {
                name: "rows",
                value: row.to_string(),
                requirement: format!("less than the number of rows, {}", self.n_samples()),
            });
        }
        let mut points = Points::zeros(rows.len(), self.n_features());
        self.x.copy_rows_into(Rows::Subset(rows), &mut points);
        Dense::new(points.into_values(), rows.len(), self.n_features())
    }

    /// The covariates.
    pub fn x(&self) -> &dyn Design {
        &*self.x
    }

    /// The response; of several, the first.
    pub fn y(&self) -> &[f64] {
        &self.y[..self.n_samples()]
    }

    /// All responses, in their units.
    pub fn raw_responses(&self) -> Responses<'_> {
        Responses::new(&self.y, self.n_samples())
    }

    /// What methods fit: the response, or, of several, each in standard deviations from its mean.
    pub fn responses(&self) -> Responses<'_> {
        Responses::new(self.standardized.as_deref().unwrap_or(&self.y), self.n_samples())
    }

    /// Number of responses.
    pub fn n_responses(&self) -> usize {
        self.raw_responses().count()
    }

    /// Number of samples n.
    pub fn n_samples(&self) -> usize {
        self.x.n_rows()
    }

    /// Number of covariates p.
    pub fn n_features(&self) -> usize {
        self.x.n_cols()
    }

    /// The names of the covariates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What a user should know about the data.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl fmt::Debug for Dataset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("n_samples", &self.n_samples())
            .field("n_features", &self.n_features())
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Refuses a response that is not finite, or the same in every row that counts.
fn check_response(y: &[f64], weights: Option<&[f64]>) -> Result<()> {
    if let Some(row) = y.iter().position(|v| !v.is_finite()) {
        return Err(Error::NonFiniteTarget { row, value: y[row] });
    }
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let mut counted = (0..y.len()).filter(|&row| counts(row)).map(|row| y[row]);
    match counted.next() {
        Some(value) if counted.all(|y| y == value) => Err(Error::ConstantTarget { value }),
        _ => Ok(()),
    }
}

/// n, or the sum of weights, to the nearest whole row.
pub(crate) fn count_rows(weights: Option<&[f64]>, n_rows: usize) -> usize {
    weights.map_or(n_rows, |weights| weights.iter().sum::<f64>().round() as usize)
}

/// x1, x2, ..., xp.
pub fn default_names(n_cols: usize) -> Vec<String> {
    (1..=n_cols).map(|i| format!("x{i}")).collect()
}

fn check_distinct(names: &[String]) -> Result<()> {
    let mut seen = HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, second) {
            return Err(Error::DuplicateName { name: name.clone(), first, second });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;

    fn message(x: Vec<f64>, n: usize, p: usize, y: Vec<f64>) -> String {
        Dataset::new(Dense::new(x, n, p).unwrap(), y).unwrap_err().to_string()
    }

    #[test]
    fn bad_values_are_named_by_row_and_column() {
        let text = message(vec![1.0, 2.0, 3.0, f64::NAN], 2, 2, vec![0.0, 1.0]);
        assert_eq!(text, "row 1, column 1 ('x2') of X is NaN: remove the row or fill the value in first");
        let text = message(vec![1.0, f64::NEG_INFINITY, 3.0, 1.0], 2, 2, vec![0.0, 1.0]);
        assert!(text.starts_with("row 0, column 1 ('x2') of X is -inf"), "{text}");
        let text = message(vec![1.0, 2.0], 2, 1, vec![0.0, f64::INFINITY]);
        assert!(text.starts_with("row 1 of the target y is inf"), "{text}");
    }

    #[test]
    fn shapes_that_differ_are_refused() {
        let text = message(vec![1.0, 2.0, 3.0], 3, 1, vec![0.0, 1.0]);
        assert_eq!(text, "length of y against rows of X: expected 3, found 2");
        let x = Dense::new(vec![1.0, 2.0, 3.0, 4.0], 2, 2).unwrap();
        let one = Dataset::with_names(x.clone(), vec![0.0, 1.0], vec!["a".into()]).unwrap_err().to_string();
        assert_eq!(one, "column names against columns of X: expected 2, found 1");
        let twice = Dataset::with_names(x, vec![0.0, 1.0], vec!["a".into(), "a".into()]).unwrap_err();
        assert_eq!(twice.to_string(), "columns 0 and 1 are both named 'a': rename one of them");
    }

    #[test]
    fn empty_one_row_and_constant_targets_are_refused() {
        assert!(message(vec![], 0, 3, vec![]).starts_with("the data is empty: 0 rows and 3 columns"));
        assert!(message(vec![], 3, 0, vec![0.0, 1.0, 2.0]).starts_with("the data is empty"));
        assert!(message(vec![1.0], 1, 1, vec![1.0]).starts_with("too few rows for any regression: 1,"));
        assert!(message(vec![1.0, 2.0], 2, 1, vec![4.0, 4.0]).starts_with("the target y is 4 in every row"));
    }

    #[test]
    fn a_subset_has_the_rows_asked_for() {
        let x = Dense::new(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2).unwrap();
        let data = Dataset::with_names(x, vec![7.0, 8.0, 9.0], vec!["a".into(), "b".into()]).unwrap();
        let some = data.subset(&[2, 0, 2]).unwrap();
        let mut rows = Points::zeros(3, 2);
        some.x().copy_rows_into(Rows::All, &mut rows);
        assert_eq!(rows.values(), [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
        assert_eq!((some.y(), some.names()), (&[9.0, 7.0, 9.0][..], data.names()));
        assert!(data.subset(&[3, 0]).is_err() && data.subset(&[1, 1]).is_err() && data.subset(&[]).is_err());
    }

    #[test]
    fn weights_count_rows() {
        let x = || Dense::new(vec![1.0, 2.0, 3.0], 3, 1).unwrap();
        let data = || Dataset::new(x(), vec![0.0, 1.0, 1.0]).unwrap();
        let weighted = data().with_weights(vec![2.0, 0.5, 1.4]).unwrap();
        assert_eq!((weighted.n_counted(), weighted.weights().unwrap()[1]), (4, 0.5));
        assert_eq!(weighted.subset(&[0, 2]).unwrap().weights().unwrap(), [2.0, 1.4]);
        assert!(data().with_weights(vec![1.0; 3]).unwrap().weights().is_none());
        let message = |weights: Vec<f64>| data().with_weights(weights).unwrap_err().to_string();
        assert!(message(vec![1.0; 2]).contains("expected 3, found 2"));
        assert!(message(vec![1.0, -1.0, 3.0]).contains("-1 in row 1"));
        assert!(message(vec![1.0, f64::NAN, 3.0]).contains("NaN in row 1"));
        assert!(message(vec![0.2, 0.3, 0.5]).contains("scale them to a mean of 1"));
        assert!(message(vec![0.0, 3.0, 5.0]).contains("the target y is 1 in every row"));
    }

    #[test]
    fn a_constant_column_is_a_warning() {
        let x = Dense::new(vec![1.0f32, 2.0, 1.0, 3.0], 2, 2).unwrap();
        let data = Dataset::new(x, vec![0.0, 1.0]).unwrap();
        assert_eq!(data.warnings(), [Warning::ConstantColumn { column: 0, name: "x1".into() }]);
        assert!(data.warnings()[0].to_string().contains("'x1'"));
    }
}
