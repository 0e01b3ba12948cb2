//! Local linear regression at any point: a plane through the nearest rows, weighted by distance.

use pulp::{Arch, Simd, WithSimd};

use crate::linalg::Points;
use crate::local::index::{Neighbor, NeighborIndex};
use crate::local::neighborhoods::{NearestCounted, Neighborhood, Weighting, epanechnikov_in_place};
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size};
use crate::objective::regression::{LocalRegression, with_response};
use crate::predict::Prediction;
use crate::predict::queries::answer_each;

/// Multiples of the published k among which leave-one-out error chooses, in increasing order.
const MULTIPLES: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Ridge, as a share of the average variance of a coordinate: enough for a plane to exist among equal points.
const RIDGE: f64 = 1e-6;

/// Neighborhood sizes worth trying for n rows in d coordinates, in increasing order.
pub(super) fn candidates(n: usize, d: usize) -> Vec<usize> {
    let published = neighborhood_size(n, d, MIN_NEIGHBORS_PROJECTED) as f64;
    let mut sizes: Vec<usize> =
        MULTIPLES.iter().map(|m| ((m * published).round() as usize).max(3 * (d + 1)).min(n)).collect();
    sizes.dedup();
    sizes
}

/// The ridge of regressions among the rows of `z`.
pub(super) fn ridge(z: &Points) -> f64 {
    let (n, d) = (z.len() as f64, z.dim());
    let variance = |c: usize| {
        let values = z.values().iter().skip(c).step_by(d);
        let mean = values.clone().sum::<f64>() / n;
        values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / n
    };
    RIDGE * (0..d).map(variance).sum::<f64>() / d as f64
}

/// The training rows as local regressions read them.
pub(super) struct LocalLinear {
    rows: Points,
    d: usize,
    ridge: f64,
}

impl LocalLinear {
    pub fn new(z: &Points, y: &[f64]) -> Self {
        Self { rows: with_response(z, y), d: z.dim(), ridge: ridge(z) }
    }

    /// Fits around each query, and lets `finish` make a prediction of the value and the neighbors found.
    pub fn predict(
        &self,
        index: &dyn NeighborIndex,
        queries: &Points,
        k: usize,
        counts: Option<&[f64]>,
        finish: impl Fn(f64, &mut [Neighbor]) -> Prediction + Sync,
    ) -> Vec<Prediction> {
        let space = || (LocalRegression::new(self.d), Vec::new(), Vec::new());
        let counted = counts.map(|counts| NearestCounted::new(index, counts, k));
        // What is found without counting is of no use with it.
        let asked = if counted.is_some() { 1 } else { k };
        answer_each(index, queries, asked, space, |(fit, rows, weights), query, found| {
            if let Some(counted) = &counted {
                counted.find(query, Weighting::Epanechnikov, found, weights);
            } else {
                weights.clear();
                weights.extend(found.iter().map(|neighbor| neighbor.distance2));
                epanechnikov_in_place(weights);
            }
            rows.clear();
            rows.extend(found.iter().map(|neighbor| neighbor.row));
            let hood = Neighborhood { rows, weights: Some(weights) };
            Arch::new().dispatch(Fit { model: self, hood, fit: &mut *fit });
            finish(fit.at(query), found)
        })
    }
}

/// One local regression.
struct Fit<'a> {
    model: &'a LocalLinear,
    hood: Neighborhood<'a>,
    fit: &'a mut LocalRegression,
}

impl WithSimd for Fit<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.fit.fit(simd, &self.model.rows, self.hood, self.model.ridge);
    }
}
