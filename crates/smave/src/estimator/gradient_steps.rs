//! What the methods share that estimate gradients, learn from them who is near whom, and begin again.
//!
//! Covariates are whitened once. A step takes the rows as some method sees them, draws anchors, weights rows by
//! their distance from each anchor as seen, regresses y on all whitened covariates, and gives
//! the principal axes of the slopes. Cost per step: anchors times n p^2.

use crate::data::dataset::count_rows;
use crate::data::design::Design;
use crate::data::responses::Responses;
use crate::data::second_moment::mapped;
use crate::error::{Error, Result};
use crate::estimator::whiten::Whitening;
use crate::linalg::{Mat, Points};
use crate::local::kernel::{Bandwidth, CUT, gaussian_neighborhoods};
use crate::local::size::walking_bandwidth;
use crate::objective::ambient::{Ridge, dense_slopes, leading_directions};
use crate::rng::{Purpose, sorted_sample, stream};

/// Ridge of the local regressions, as a share of the average local variance.
const RIDGE: f64 = 1e-3;

/// Whitened covariates, and where the randomness comes from.
pub(crate) struct GradientSteps<'a> {
    white: Whitening,
    z: Points,
    y: Responses<'a>,
    weights: Option<&'a [f64]>,
    seed: u64,
    steps: u64,
}

/// Principal axes of the slopes, in whitened coordinates, and the average squared slope along each.
pub(crate) struct Axes {
    pub directions: Mat<f64>,
    pub values: Vec<f64>,
}

/// Rows as they are seen, which decides who is near whom, and as they are: whitened covariates, responses, weights.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub seen: &'a Points,
    pub z: &'a Points,
    pub y: Responses<'a>,
    pub weights: Option<&'a [f64]>,
}

impl Sight<'_> {
    /// The principal axes of the slopes at the anchors: bandwidth `base`, but nowhere less than the distance of the
    /// neighbor of rank `reach`.
    pub fn axes(&self, anchors: &[usize], n_axes: usize, base: f64, reach: usize) -> Result<Axes> {
        let Self { seen, z, y, weights } = *self;
        let reach = Some(reach.min(count_rows(weights, y.n_rows()) - 1));
        let hoods = gaussian_neighborhoods(seen, anchors, Bandwidth { base, reach, cut: CUT }, weights);
        let slopes = dense_slopes(z, y, &hoods, Ridge::Relative(RIDGE));
        let (directions, values) = leading_directions(&slopes, n_axes, hoods.anchor_weights())?;
        Ok(Axes { directions, values })
    }
}

impl<'a> GradientSteps<'a> {
    /// Whitens `x`.
    pub fn new(x: &dyn Design, y: Responses<'a>, weights: Option<&'a [f64]>, seed: u64) -> Result<Self> {
        let white = Whitening::new(x, weights)?;
        let z = mapped(x, white.map(), &white.rows);
        Ok(Self { white, z, y, weights, seed, steps: 0 })
    }

    /// How many rows there are, counted by weight.
    pub fn n_counted(&self) -> usize {
        count_rows(self.weights, self.y.n_rows())
    }

    /// The bandwidth of a walk that has come to `seen`.
    pub fn walking_bandwidth(&self, seen: &Points) -> f64 {
        walking_bandwidth(seen, self.weights)
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
        let anchors = sorted_sample(&mut stream(self.seed, Purpose::Walk, self.steps), seen.len(), n_anchors);
        self.steps += 1;
        let rows = Sight { seen, z: &self.z, y: self.y, weights: self.weights };
        rows.axes(&anchors, n_axes, base, reach)
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
