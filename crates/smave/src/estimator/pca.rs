//! Principal components: the baseline that does not look at y.
//!
//! The leading eigenvectors of the covariance of X. They recover a regression only if it happens
//! to run along the directions in which X varies most. The eigenvalues of the
//! [`Reduction`] are the variances along the components. Cost: n p^2 + p^3.
//!
//! Pearson (1901), On lines and planes of closest fit to systems of points in space.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::second_moment::principal_axes;
use crate::error::Result;
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, check_dimension, spectral_reduction, with_columns};
use crate::optim::trace::Observer;

/// Principal component analysis.
#[derive(Clone, Debug, Serialize)]
pub struct Pca {
    n_components: usize,
    standardize: bool,
}

impl Pca {
    /// `n_components` components of the columns as they are.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, standardize: false }
    }

    /// Whether columns are scaled to unit variance first; off by default.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }
}

impl Estimator for Pca {
    fn name(&self) -> &'static str {
        "pca"
    }

    fn fit_observed(&self, data: &Dataset<'_>, _: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        with_columns(data, self.standardize, |x| {
            let (_, values, vectors) = principal_axes(x, data.weights())?;
            let basis = vectors.as_ref().subcols(0, self.n_components).to_owned();
            Ok((basis, values[..self.n_components].to_vec()))
        })
        .and_then(|found| spectral_reduction(self.name(), found, data))
    }
}
