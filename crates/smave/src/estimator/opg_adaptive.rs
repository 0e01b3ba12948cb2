//! Structure-adaptive OPG: neighborhoods that narrow along the directions found and widen across them.
//!
//! A function of a few directions changes along those only. So rows that differ in the others are
//! as good as near, once it is known which those are: on whitened covariates, estimate slopes at some random rows, form
//! $\hat M = \frac1m \sum_j \hat b_j \hat b_j^\top / \lambda_1$, its largest eigenvalue scaled to one, measure distances by
//!
//! $$ (z - z')^\top (I + \rho^{-2} \hat M) (z - z'), $$
//!
//! and begin again with a smaller ρ and a larger bandwidth h:
//!
//! | setting | value |
//! |---|---|
//! | ρ | 1, then $e^{-1/6}$ times the last, down to $n^{-1/3}$ |
//! | h | $n^{-1/\max(4, p)}$, then $e^{1/(2 \max(4, p))}$ times the last, at least the distance of the second neighbor |
//! | anchors | 200 |
//! | ridge | 0.001 of the average local variance |
//!
//! In the first step neighborhoods are balls, as in [`Opg`](crate::Opg). The kernel is Gaussian, where Hristache and others cut a
//! parabola off.
//!
//! No condition on X. What the first, spherical step has not seen is not seen later: a direction along which the
//! regression is symmetric is lost when balls with enough rows in them reach to both sides, at n = 1000 from some 15 covariates
//! on, where [`OpgWalk`](crate::OpgWalk) goes further. The eigenvalues of the [`Reduction`] are those of the last
//! average outer product. Cost per step, of which there are 2 ln n: anchors times n p^2.
//!
//! Hristache, Juditsky, Polzehl and Spokoiny (2001), Structure adaptive approach for dimension reduction.
//! Dalalyan, Juditsky and Spokoiny (2008), A new algorithm for estimating the effective dimension-reduction subspace.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::design::Design;
use crate::error::{Error, Result};
use crate::estimator::gradient_steps::{Axes, GradientSteps};
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, check_dimension, check_rows, spectral_reduction, with_columns};
use crate::linalg::Mat;
use crate::optim::trace::Observer;

/// The bandwidth is nowhere less than the distance of the neighbor of this rank.
const REACH: usize = 2;

/// Structure-adaptive OPG.
#[derive(Clone, Debug, Serialize)]
pub struct OpgAdaptive {
    n_components: usize,
    n_anchors: usize,
    seed: u64,
}

impl OpgAdaptive {
    /// With the settings above.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, n_anchors: 200, seed: 0 }
    }

    /// Random rows at which slopes are estimated in each step.
    pub fn n_anchors(mut self, n_anchors: usize) -> Self {
        self.n_anchors = n_anchors;
        self
    }

    /// The seed of the anchors.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn adapt(
        &self,
        x: &dyn Design,
        data: &Dataset<'_>,
        observer: &dyn Observer,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let mut steps = GradientSteps::new(x, data.responses(), data.weights(), self.seed)?;
        let (n, rank) = (steps.n_counted() as f64, steps.rank());
        let slow = rank.max(4) as f64;
        let (mut rho, mut h) = (1.0, n.powf(-1.0 / slow));
        let mut metric = Mat::<f64>::identity(rank, rank);
        let mut before: Option<Axes> = None;
        loop {
            observer.check()?;
            let seen = steps.seen_through(&metric);
            let axes = match (steps.step(&seen, self.n_anchors, rank, h, REACH), before) {
                // Rows that count often have come to be alone: what was found before stands.
                (Err(Error::NotFinite { .. }), Some(before)) => {
                    return steps.finish(before, self.n_components);
                }
                (axes, _) => axes?,
            };
            rho *= (-1.0f64 / 6.0).exp();
            h *= (0.5 / slow).exp();
            if rho < n.powf(-1.0 / 3.0) {
                return steps.finish(axes, self.n_components);
            }
            metric = stretched(&axes, rho);
            before = Some(axes);
        }
    }
}

/// V (I + Λ / (λ_1 ρ^2))^{1/2}: distances after this map are those of the metric.
fn stretched(axes: &Axes, rho: f64) -> Mat<f64> {
    let largest = axes.values[0];
    let factor = |j: usize| (1.0 + axes.values[j].max(0.0) / (largest * rho * rho)).sqrt();
    Mat::from_fn(axes.directions.nrows(), axes.directions.ncols(), |i, j| axes.directions[(i, j)] * factor(j))
}

impl Estimator for OpgAdaptive {
    fn name(&self) -> &'static str {
        "opg-adaptive"
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        check_rows(self.n_components, data)?;
        let found = with_columns(data, true, |x| self.adapt(x, data, observer))?;
        let mut reduction = spectral_reduction(self.name(), found, data)?;
        reduction.seed = Some(self.seed);
        Ok(reduction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::norm;

    #[test]
    fn the_metric_is_that_of_the_formula() {
        let directions = crate::linalg::orthonormalize(
            Mat::from_fn(3, 3, |i, j| ((i * i + 2 * j * j + i * j + 1) as f64).sin()).as_ref(),
        )
        .unwrap();
        let axes = Axes { directions: directions.clone(), values: vec![4.0, 1.0, 0.0] };
        let map = stretched(&axes, 0.5);
        let m = &directions * Mat::from_fn(3, 3, |i, j| if i == j { axes.values[i] / 4.0 } else { 0.0 });
        let metric = Mat::<f64>::identity(3, 3) + m * directions.transpose() * faer::Scale(4.0);
        assert!(norm((&map * map.transpose() - metric).as_ref()) < 1e-12);
    }
}
