//! Predictions for the rows shown, each by a regression that has not seen its response.
//!
//! Rows that the model was fitted to are predicted in folds: the regression on the reduced coordinates is made again
//! from the other folds. The directions are those of the model, which have seen every row, so the errors
//! are a little too small. Other rows are predicted by the model as it is.

use std::collections::HashSet;

use smave::data::folds::k_folds;
use smave::predict::MAX_TRAINING_ROWS;
use smave::{Model, Points, Prediction, Predictor, Regression, Result};

/// How predictions were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By the regression on the other folds, so many in all.
    Folds(usize),
    /// By the model, which was not fitted to these rows.
    NewRows,
    /// By a regression that has seen the rows: there were too few to leave some out.
    InSample,
}

/// Predictions for one response.
#[derive(Clone, Debug)]
pub struct Predicted {
    pub values: Vec<f64>,
    pub origin: Origin,
    /// Rows that lie outside of those the model was fitted to.
    pub n_outside: usize,
}

/// The rows of one response.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub z: &'a Points,
    pub y: &'a [f64],
    pub weights: Option<&'a [f64]>,
}

impl Rows<'_> {
    fn some(&self, rows: &[usize]) -> (Points, Vec<f64>, Option<Vec<f64>>) {
        let mut z = Points::zeros(rows.len(), self.z.dim());
        for (to, &row) in z.values_mut().chunks_exact_mut(self.z.dim()).zip(rows) {
            to.copy_from_slice(self.z.point(row));
        }
        let at = |values: &[f64]| rows.iter().map(|&row| values[row]).collect();
        (z, at(self.y), self.weights.map(at))
    }

    /// Whether most of the rows are among those that `predictor` was made from. Coordinates are compared to six
    /// digits: another machine may round them otherwise, and rows must not pass for new for that.
    fn are_known_to(&self, predictor: &Predictor) -> bool {
        let training = predictor.coordinates();
        let size = training.values().iter().fold(f64::MIN_POSITIVE, |size, v| size.max(v.abs()));
        let key = |z: &[f64], y: f64| -> (u64, Vec<i64>) {
            (y.to_bits(), z.iter().map(|v| (v / size * 1e6).round() as i64).collect())
        };
        let known: HashSet<_> =
            predictor.responses().iter().enumerate().map(|(i, &y)| key(training.point(i), y)).collect();
        let found = (0..self.y.len()).filter(|&i| known.contains(&key(self.z.point(i), self.y[i]))).count();
        2 * found > self.y.len()
    }
}

/// Predictions of response `j` at some rows; `None` where there are too few for any regression.
pub fn predict(model: &Model, j: usize, n_samples: usize, rows: Rows<'_>) -> Result<Option<Predicted>> {
    let predictor = model.predictors.get(j);
    // Where a model keeps only a part of its rows, or none, their number must tell.
    let as_many = model.reduction.n_samples() == n_samples;
    let known = predictor.map_or(as_many, |predictor| {
        rows.are_known_to(predictor) || (as_many && predictor.coordinates().len() == MAX_TRAINING_ROWS)
    });
    if let (Some(predictor), false) = (predictor, known) {
        let found = predictor.predict(rows.z)?;
        let n_outside = found.iter().filter(|prediction| prediction.outside).count();
        return Ok(Some(Predicted { values: values(&found), origin: Origin::NewRows, n_outside }));
    }
    let regression = predictor.map_or(Regression::default(), Predictor::regression);
    if let Some((values, folds)) = in_folds(rows, regression) {
        return Ok(Some(Predicted { values, origin: Origin::Folds(folds), n_outside: 0 }));
    }
    let whole = |rows: Rows<'_>| {
        Predictor::weighted(rows.z.clone(), rows.y.to_vec(), rows.weights.map(<[f64]>::to_vec), regression)
            .ok()
    };
    match predictor.cloned().or_else(|| whole(rows)) {
        Some(predictor) => {
            let values = values(&predictor.predict(rows.z)?);
            Ok(Some(Predicted { values, origin: Origin::InSample, n_outside: 0 }))
        }
        None => Ok(None),
    }
}

fn values(found: &[Prediction]) -> Vec<f64> {
    found.iter().map(|prediction| prediction.value).collect()
}

/// Predictions in folds, and how many folds; `None` if a fold leaves too few rows.
fn in_folds(rows: Rows<'_>, regression: Regression) -> Option<(Vec<f64>, usize)> {
    let n = rows.y.len();
    let folds = if n < 2000 { n.min(10) } else { 5 };
    let fold_of = k_folds(n, folds, 0, 0).ok()?;
    let mut out = vec![0.0; n];
    for fold in 0..folds {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&row| fold_of[row] == fold);
        let (z, y, weights) = rows.some(&kept);
        let predictor = Predictor::weighted(z, y, weights, regression).ok()?;
        let found = predictor.predict(&rows.some(&held).0).ok()?;
        held.iter().zip(found).for_each(|(&row, found)| out[row] = found.value);
    }
    Some((out, folds))
}
