//! Refined OPG that walks the working dimension from p down to d.
//!
//! Ambient neighborhoods are empty when p is large, and projected ones need the projection that is
//! sought. The walk gets from one to the other: on whitened covariates, start with all p
//! dimensions, where neighborhoods are nearly everything and slopes nearly those of a global linear
//! fit; regress y on all of x at some random rows, weighted by distance in the current
//! dimensions; keep the leading eigenvectors of the average outer product of slopes, fewer at each
//! step; and stay at d for a few rounds.
//!
//! | setting | default |
//! |---|---|
//! | anchors | 100 |
//! | bandwidth | $1.2 \bar\sigma n^{-1/(q+4)}$ in q dimensions, at least the distance of the max(2q, 20)-th neighbor |
//! | ridge | 0.001 of the average local variance |
//! | next dimension | 0.7 q, one less from 10 down, no more than there are anchors |
//! | rounds at d | 5 |
//!
//! It needs no condition on X and finds the right subspace from no start at all where p is some
//! tenth of n or less. The eigenvalues of the [`Reduction`] are those of the last round.
//! Cost per step: anchors times n p^2. Users of R's MAVE package know it, in spirit, as meanOPG.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::design::Design;
use crate::error::Result;
use crate::estimator::gradient_steps::{Axes, GradientSteps};
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, check_dimension, check_rows, spectral_reduction, with_columns};
use crate::linalg::Mat;
use crate::optim::trace::Observer;

/// The walk from p dimensions to d.
#[derive(Clone, Debug, Serialize)]
pub struct OpgWalk {
    n_components: usize,
    n_anchors: usize,
    brisk: bool,
    rounds: usize,
    seed: u64,
}

impl OpgWalk {
    /// With the defaults above.
    pub fn new(n_components: usize) -> Self {
        Self { n_components, n_anchors: 100, brisk: false, rounds: 5, seed: 0 }
    }

    /// Random rows at which slopes are estimated in each step.
    pub fn n_anchors(mut self, n_anchors: usize) -> Self {
        self.n_anchors = n_anchors;
        self
    }

    /// Whether to take longer steps, to half the dimensions and two fewer from 10 down: half the time, and a start
    /// that still has to be refined.
    pub fn brisk(mut self, brisk: bool) -> Self {
        self.brisk = brisk;
        self
    }

    /// Rounds in the final dimension.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// The seed of the anchors.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn walk(
        &self,
        x: &dyn Design,
        data: &Dataset<'_>,
        observer: &dyn Observer,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let mut steps = GradientSteps::new(x, data.responses(), data.weights(), self.seed)?;
        let (rank, d) = (steps.rank(), self.n_components.min(steps.rank()));
        let mut axes = Axes { directions: Mat::identity(rank, rank), values: vec![1.0; rank] };
        let n_axes = rank.min(self.n_anchors.max(d));
        for q in dimensions(rank, d, n_axes, self.brisk, self.rounds) {
            observer.check()?;
            let seen = steps.seen_through(&axes.directions.as_ref().subcols(0, q).to_owned());
            let base = steps.walking_bandwidth(&seen);
            axes = steps.step(&seen, self.n_anchors, n_axes, base, (2 * q).max(20))?;
        }
        steps.finish(axes, self.n_components)
    }
}

impl Estimator for OpgWalk {
    fn name(&self) -> &'static str {
        "opg-walk"
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        check_rows(self.n_components, data)?;
        // Whitening takes the units out anyway, but for its shrinkage: always scale.
        let found = with_columns(data, true, |x| self.walk(x, data, observer))?;
        let mut reduction = spectral_reduction(self.name(), found, data)?;
        reduction.seed = Some(self.seed);
        Ok(reduction)
    }
}

/// The working dimensions, from `from` down to `to`, which comes `rounds` times, at least once; after the first no
/// more than `most`, the slopes there are to span them.
fn dimensions(from: usize, to: usize, most: usize, brisk: bool, rounds: usize) -> Vec<usize> {
    let mut dimensions = Vec::new();
    let mut q = from;
    while q > to {
        dimensions.push(q);
        q = to.max(match q {
            11.. if brisk => most.min(q / 2),
            11.. => most.min(q * 7 / 10),
            5.. if brisk => q - 2,
            _ => q - 1,
        });
    }
    dimensions.extend(std::iter::repeat_n(to, rounds.max(1)));
    dimensions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_shrinks_and_stays() {
        assert_eq!(dimensions(50, 2, 100, false, 5), [50, 35, 24, 16, 11, 7, 6, 5, 4, 3, 2, 2, 2, 2, 2]);
        assert_eq!(dimensions(90, 7, 20, false, 1), [90, 20, 14, 9, 8, 7]);
        assert_eq!(dimensions(90, 2, 60, true, 1), [90, 45, 22, 11, 5, 3, 2]);
        assert_eq!(dimensions(3, 3, 3, false, 2), [3, 3]);
        assert_eq!(dimensions(2, 1, 9, false, 0), [2, 1]);
    }
}
