//! What the methods share that estimate gradients, learn from them who is near whom, and begin again.
//!
//! Covariates are whitened once. A step takes the rows as some method sees them, draws anchors, weights rows by
//! their distance from each anchor as seen, regresses y on all whitened covariates, and gives
//! the principal axes of the slopes. Cost per step: anchors times n p^2.

use rand::seq::index::sample;

use crate::data::dataset::count_rows;
use crate::data::design::Design;
use crate::data::second_moment::mapped;
use crate::error::{Error, Result};
use crate::estimator::whiten::Whitening;
use crate::linalg::{Mat, Points};
use crate::local::kernel::{Bandwidth, CUT, gaussian_neighborhoods};
use crate::local::size::mean_deviation;
use crate::objective::ambient::{Ridge, dense_slopes, leading_directions};
use crate::rng::{Purpose, stream};

/// Ridge of the local regressions, as a share of the average local variance.
const RIDGE: f64 = 1e-3;

/// Whitened covariates, and where the randomness comes from.
pub(crate) struct GradientSteps<'a> {
    white: Whitening,
    z: Points,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    seed: u64,
    steps: u64,
}

/// Principal axes of the slopes, in whitened coordinates, and the average squared slope along each.
pub(crate) struct Axes {
    pub directions: Mat<f64>,
    pub values: Vec<f64>,
}

impl<'a> GradientSteps<'a> {
    /// Whitens `x`.
    pub fn new(x: &dyn Design, y: &'a [f64], weights: Option<&'a [f64]>, seed: u64) -> Result<Self> {
        let white = Whitening::new(x, weights)?;
        let z = mapped(x, white.map(), &white.rows);
        Ok(Self { white, z, y, weights, seed, steps: 0 })
    }

    /// How many rows there are, counted by weight.
    pub fn n_counted(&self) -> usize {
        count_rows(self.weights, self.y.len())
    }

    /// The standard deviation of the coordinates of `seen`, on average.
    pub fn mean_deviation(&self, seen: &Points) -> f64 {
        mean_deviation(seen, self.weights)
    }

    /// Number of whitened coordinates.
    pub fn rank(&self) -> usize {
        self.z.dim()
    }

    /// The whitened rows times a matrix.
    pub fn seen_through(&self, map: &Mat<f64>) -> Points {
        let product = self.z.as_mat() * map;
        let row = |i: usize| (0..map.ncols()).map(move |j| (i, j));
        let values = (0..self.z.len()).flat_map(row).map(|place| product[place]).collect();
        Points::from_values(values, map.ncols()).unwrap_or_else(|| Points::zeros(0, map.ncols()))
    }

    /// One step at so many random rows, for so many axes: bandwidth `base`, but nowhere less than the distance of the neighbor of rank `reach`.
    pub fn step(
        &mut self,
        seen: &Points,
        n_anchors: usize,
        n_axes: usize,
        base: f64,
        reach: usize,
    ) -> Result<Axes> {
        if n_anchors == 0 {
            return Err(Error::InvalidParameter {
                name: "n_anchors",
                value: "0".into(),
                requirement: "at least 1".into(),
            });
        }
        let n = seen.len();
        let mut rng = stream(self.seed, Purpose::Walk, self.steps);
        self.steps += 1;
        let mut anchors = sample(&mut rng, n, n_anchors.min(n)).into_vec();
        anchors.sort_unstable();
        let reach = Some(reach.min(self.n_counted() - 1));
        let bandwidth = Bandwidth { base, reach, cut: CUT };
        let hoods = gaussian_neighborhoods(seen, &anchors, bandwidth, self.weights);
        let slopes = dense_slopes(&self.z, self.y, &hoods, Ridge::Relative(RIDGE));
        let (directions, values) = leading_directions(&slopes, n_axes, hoods.anchor_weights())?;
        Ok(Axes { directions, values })
    }

    /// The first d axes as directions of X, and their values.
    pub fn finish(&self, axes: Axes, d: usize) -> Result<(Mat<f64>, Vec<f64>)> {
        let Axes { directions, mut values } = axes;
        let basis = self
            .white
            .directions(directions.as_ref().subcols(0, d.min(directions.ncols())), d)
            .ok_or(Error::NotFinite { what: "the basis", iteration: 0 })?;
        values.resize(d, 0.0);
        Ok((basis, values))
    }
}
