//! How many directions: cross-validated prediction error, with two second opinions.
//!
//! For each split into folds, [`Smave`] is fitted on the training rows in the largest dimension, then in
//! each smaller one from the leading directions of the one before; a local linear regression on the reduced
//! coordinates predicts the test rows. Zero dimensions, "no signal", predicts the mean of the training rows.
//! With $e_i(d)$ the squared test error of row i, averaged over repetitions, the choice is the smallest d
//! whose mean error exceeds the least by no more than the standard error of the latter
//! (the one-standard-error rule).
//!
//! The least error is that of a choice made on the same test rows, and so a little optimistic: the paper
//! reports it for real data. With [`SelectDimension::nested`] every choice is made within the training rows of an
//! outer split and judged on rows it has not seen. That error is honest.
//!
//! The second opinions ([`Ladle`], [`Augmentation`]) look at the average outer product of slopes, not at
//! predictions.

mod augmentation;
mod cross_validation;
mod ladle;
mod slopes;

pub use augmentation::Augmentation;
pub use ladle::Ladle;

use std::ops::ControlFlow;

use serde::Serialize;

use crate::checkpoint::Checkpoint;
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::estimator::{Estimator, Smave};
use crate::rng::derive_seed;
use crate::tally::{Tally, Watch};

use cross_validation::{Curve, nested_error, repeated};
use slopes::SlopeMatrix;

/// The choice of the dimension. See [`SelectDimension::new`] for the defaults.
#[derive(Clone, Debug, Serialize)]
pub struct SelectDimension {
    max_dim: usize,
    folds: usize,
    repeats: usize,
    nested: bool,
    second_opinions: bool,
    standardize: bool,
    seed: u64,
}

/// Prediction error in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DimensionError {
    /// The dimension d.
    pub dim: usize,
    /// Mean squared error on rows not fitted to, in the units of y squared.
    pub error: f64,
    /// Its standard error over rows.
    pub standard_error: f64,
}

/// The error of the whole procedure, choice included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NestedError {
    /// Mean squared error on rows that neither fit nor choice has seen.
    pub error: f64,
    /// Its standard error over rows.
    pub standard_error: f64,
    /// The dimension chosen within each outer fold.
    pub dims: Vec<usize>,
}

/// A dimension, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DimensionChoice {
    /// The smallest dimension within a standard error of the least error.
    pub chosen: usize,
    /// The dimension with the least error.
    pub least: usize,
    /// Errors in 0, 1, ... dimensions.
    pub curve: Vec<DimensionError>,
    /// The error of choosing and fitting, if asked for.
    pub nested: Option<NestedError>,
    /// Second opinion: eigenvalues and the bootstrap variation of eigenvectors.
    pub ladle: Option<Ladle>,
    /// Second opinion: how much weight eigenvectors give to covariates of pure noise.
    pub augmentation: Option<Augmentation>,
}

impl SelectDimension {
    /// Candidates 0 to `max_dim`, 5 folds, twice, with both second opinions, not nested, columns scaled to unit variance.
    pub fn new(max_dim: usize) -> Self {
        Self {
            max_dim,
            folds: 5,
            repeats: 2,
            nested: false,
            second_opinions: true,
            standardize: true,
            seed: 0,
        }
    }

    /// Folds of the cross-validation.
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// Times rows are shuffled into folds anew.
    pub fn repeats(mut self, repeats: usize) -> Self {
        self.repeats = repeats;
        self
    }

    /// Whether the error of choosing and fitting together is estimated: as many times longer as there are folds.
    pub fn nested(mut self, nested: bool) -> Self {
        self.nested = nested;
        self
    }

    /// Whether the ladle and predictor augmentation are computed.
    pub fn second_opinions(mut self, second_opinions: bool) -> Self {
        self.second_opinions = second_opinions;
        self
    }

    /// Whether columns are scaled to unit variance.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// The seed of folds, fits and second opinions.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Chooses.
    ///
    /// # Errors
    /// When the candidates or folds do not fit the data, or a fit fails.
    pub fn run(&self, data: &Dataset<'_>) -> Result<DimensionChoice> {
        self.run_watched(data, &|_, _| ControlFlow::Continue(()), None)
    }

    /// Chooses, telling `watch` after each fold how many are done. With a checkpoint, what was done before is not
    /// done again.
    ///
    /// # Errors
    /// As [`SelectDimension::run`], [`Error::Cancelled`], and when the checkpoint cannot be written.
    pub fn run_watched(
        &self,
        data: &Dataset<'_>,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<DimensionChoice> {
        let n_features = data.n_features();
        if !(1..=n_features).contains(&self.max_dim) {
            return Err(Error::InvalidDimension { n_components: self.max_dim, n_features });
        }
        if self.repeats == 0 {
            return Err(Error::InvalidParameter {
                name: "repeats",
                value: "0".into(),
                requirement: "at least 1".into(),
            });
        }
        let inner = if self.nested { self.folds * (self.folds + 1) } else { 0 };
        let opinions = usize::from(self.second_opinions);
        let tally = Tally::new(watch, self.folds * self.repeats + inner + opinions).keeping(checkpoint);
        let curve = repeated(self, data, self.repeats, &tally, "")?;
        let nested = if self.nested { Some(nested_error(self, data, &tally)?) } else { None };
        let (mut ladle, mut augmentation) = (None, None);
        if self.second_opinions {
            // One dimension more than chosen decides who is near whom: room for what cross-validation may have missed.
            let room = (curve.chosen + 1).min(self.max_dim);
            let wide = self.smave(room, 0).fit_observed(data, &mut tally.observer())?;
            tally.check()?;
            let slopes = SlopeMatrix::new(data, &wide.transform(data.x())?)?;
            let own = slopes.spectrum(None, None, derive_seed(self.seed, &[3]))?;
            ladle = Some(ladle::ladle(&slopes, &own, self.max_dim, self.seed, &tally)?);
            augmentation = Some(augmentation::augmentation(&slopes, &own, self.max_dim, self.seed, &tally)?);
            tally.step()?;
        }
        let Curve { chosen, least, errors } = curve;
        Ok(DimensionChoice { chosen, least, curve: errors, nested, ladle, augmentation })
    }

    /// The estimator of one of many fits.
    fn smave(&self, dim: usize, part: u64) -> Smave {
        Smave::new(dim).standardize(self.standardize).seed(derive_seed(self.seed, &[part]))
    }
}
