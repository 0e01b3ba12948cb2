//! ADE: the average derivative, one direction.
//!
//! When y depends on one index, every gradient of the regression is a multiple of its direction, and so
//! is their average $\hat\delta = \frac1n \sum_j \hat b_j$, which is far less noisy than any one of them.
//! The slopes are those of local linear regressions on the k nearest rows among all covariates, with k
//! that of `opg-knn` but at least four times p, so that a slope is a fit and not an interpolation.
//!
//! It needs no condition on X, but the average slope must not vanish: an even link defeats it.
//! The eigenvalue of the [`Reduction`] is the squared length of $\hat\delta$. Cost: as `opg-knn`.
//!
//! Härdle and Stoker (1989), Investigating smooth multiple regression by the method of average derivatives.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, spectral_reduction, with_columns};
use crate::linalg::Points;
use crate::local::index::build_index;
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::local::size::{MIN_NEIGHBORS_AMBIENT, neighborhood_size};
use crate::objective::ambient::{Ridge, all_columns, ambient_slopes, leading_directions};
use crate::optim::trace::Observer;

/// Average derivative estimation.
#[derive(Clone, Debug, Serialize)]
pub struct Ade {
    n_components: usize,
    ridge: f64,
    standardize: bool,
}

impl Ade {
    /// `n_components` must be 1: there is one average.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, ridge: 1e-5, standardize: false }
    }

    /// ε, the ridge of the local regressions; 1e-5 by default.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// Whether columns are scaled to unit variance first; off by default.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }
}

impl Estimator for Ade {
    fn name(&self) -> &'static str {
        "ade"
    }

    fn fit_observed(&self, data: &Dataset<'_>, _: &mut dyn Observer) -> Result<Reduction> {
        if self.n_components != 1 {
            return Err(Error::InvalidParameter {
                name: "n_components",
                value: self.n_components.to_string(),
                requirement: "1, because the average derivative is one direction; use opg for more".into(),
            });
        }
        let (n, p) = (data.n_samples(), data.n_features());
        let counted = data.n_counted();
        let k = neighborhood_size(counted, p, MIN_NEIGHBORS_AMBIENT).max(4 * p).min(counted);
        let found = with_columns(data, self.standardize, |x| {
            let x = all_columns(x)?;
            let anchors: Vec<usize> = (0..n).collect();
            let index = build_index(&x, k.min(n));
            let hoods = Neighborhoods::find(&*index, &x, &anchors, k, Weighting::Uniform, data.weights());
            let slopes = ambient_slopes(&x, data.responses(), &hoods, Ridge::Absolute(self.ridge));
            // The average slope of each response, and the direction that they have most in common.
            let mut means = Points::zeros(data.n_responses(), p);
            let slopes = slopes.values().chunks_exact(n * p);
            for (mean, slopes) in means.values_mut().chunks_exact_mut(p).zip(slopes) {
                for (a, slope) in slopes.chunks_exact(p).enumerate() {
                    let share = hoods.anchor_weight(a) / hoods.total_weight();
                    mean.iter_mut().zip(slope).for_each(|(mean, v)| *mean += share * v);
                }
            }
            if means.values().iter().all(|v| *v == 0.0) {
                return Err(Error::NotFinite { what: "the direction of the average slope", iteration: 0 });
            }
            leading_directions(&means, 1, None)
        })?;
        let mut reduction = spectral_reduction(self.name(), found, data)?;
        reduction.n_neighbors = Some(k);
        Ok(reduction)
    }
}
