//! The average outer product of slopes along all covariates, and its spectrum.
//!
//! On whitened covariates, regress y locally on all of them at some random rows, rows being near each other when they
//! are in a reduction to one dimension more than cross-validation chose. The average outer product of the slopes has, up
//! to noise, the rank of the true subspace. No dimension has to be settled for this, nothing is
//! iterated, and so it can be repeated many times on resampled rows or with further covariates. Slopes are in
//! standard deviations of y. Cost: anchors times n p^2.

use crate::data::dataset::Dataset;
use crate::data::responses::Responses;
use crate::data::second_moment::mapped;
use crate::data::standardize::standardized;
use crate::error::Result;
use crate::estimator::gradient_steps::{Axes, Sight};
use crate::estimator::whiten::Whitening;
use crate::estimator::with_columns;
use crate::linalg::Points;
use crate::local::size::walking_bandwidth;
use crate::rng::{Purpose, sorted_sample, stream};

/// Rows at which slopes are estimated, or twice the number of covariates if that is more.
const ANCHORS: usize = 150;

/// What the matrix is made of.
pub(super) struct SlopeMatrix {
    /// Whitened covariates.
    z: Points,
    /// Rows as reduced, which decides who is near whom.
    seen: Points,
    /// The responses, standardized, one after another.
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl SlopeMatrix {
    /// Whitens the covariates of `data`, whose rows `seen` are in reduced coordinates.
    pub fn new(data: &Dataset<'_>, seen: &Points) -> Result<Self> {
        let (z, _) = with_columns(data, true, |x| {
            let white = Whitening::new(x, data.weights())?;
            Ok(mapped(x, white.map(), &white.rows))
        })?;
        let columns = data.raw_responses().iter().map(|y| standardized(y, data.weights()));
        let y = columns.collect::<Result<Vec<_>>>()?.concat();
        Ok(Self { z, seen: seen.clone(), y, weights: data.weights().map(<[f64]>::to_vec) })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.z.len()
    }

    /// Number of whitened covariates.
    pub fn rank(&self) -> usize {
        self.z.dim()
    }

    /// The spectrum on these rows (all, if `None`), with further covariates after the whitened ones.
    pub fn spectrum(&self, rows: Option<&[usize]>, further: Option<&Points>, seed: u64) -> Result<Axes> {
        let all: Vec<usize>;
        let rows = match rows {
            Some(rows) => rows,
            None => {
                all = (0..self.n_rows()).collect();
                &all
            }
        };
        let width = self.rank() + further.map_or(0, Points::dim);
        let mut z = Points::zeros(rows.len(), width);
        for (out, &row) in z.values_mut().chunks_exact_mut(width).zip(rows) {
            let (own, rest) = out.split_at_mut(self.rank());
            own.copy_from_slice(self.z.point(row));
            if let Some(further) = further {
                rest.copy_from_slice(further.point(row));
            }
        }
        let mut seen = Points::zeros(rows.len(), self.seen.dim());
        for (out, &row) in seen.values_mut().chunks_exact_mut(self.seen.dim()).zip(rows) {
            out.copy_from_slice(self.seen.point(row));
        }
        let y = Responses::new(&self.y, self.n_rows()).at(rows);
        let weights = self.weights.as_ref();
        let weights: Option<Vec<f64>> = weights.map(|w| rows.iter().map(|&row| w[row]).collect());
        let weights = weights.as_deref();

        let rng = &mut stream(seed, Purpose::Walk, 0);
        let anchors = sorted_sample(rng, rows.len(), ANCHORS.max(2 * width));
        let base = walking_bandwidth(&seen, weights);
        let sight = Sight { seen: &seen, z: &z, y: Responses::new(&y, rows.len()), weights };
        let mut axes = sight.axes(&anchors, width, base, (2 * width).max(20))?;
        // Rounding can leave a zero eigenvalue of a sum of squares slightly negative.
        axes.values.iter_mut().for_each(|v| *v = v.max(0.0));
        Ok(axes)
    }
}
