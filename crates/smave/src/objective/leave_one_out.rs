//! How far local regressions miss the response of a row they have not seen.
//!
//! With leverage h, the prediction for row j without row j misses $y_j$ by $r_{jj} / (1 - h)$: nothing is fitted
//! twice. This is exact without a ridge. Cost: k d^2 per row.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::linalg::Points;
use crate::local::neighborhoods::Neighborhoods;
use crate::objective::regression::{LocalRegression, with_response};

/// Rows whose regressions are one task.
const ROWS_PER_TASK: usize = 8;

/// For each of `rows`, its response less what the local regression around it predicts from the other rows;
/// `hoods` are theirs, in the same order.
pub(crate) fn held_out_residuals(
    z: &Points,
    y: &[f64],
    hoods: &Neighborhoods,
    rows: &[usize],
    ridge: f64,
) -> Vec<f64> {
    let zy = &with_response(z, y);
    let mut residuals = vec![0.0; rows.len()];
    residuals.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, residuals)| {
        let first = task * ROWS_PER_TASK;
        Arch::new().dispatch(HoldOut { ridge, d: z.dim(), zy, hoods, rows, first, residuals });
    });
    residuals
}

/// The residuals of some consecutive rows.
struct HoldOut<'a> {
    ridge: f64,
    d: usize,
    zy: &'a Points,
    hoods: &'a Neighborhoods,
    rows: &'a [usize],
    first: usize,
    residuals: &'a mut [f64],
}

impl WithSimd for HoldOut<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { ridge, d, zy, hoods, rows, first, residuals } = self;
        let mut fit = LocalRegression::new(d);
        for (offset, residual) in residuals.iter_mut().enumerate() {
            let hood = hoods.get(first + offset);
            fit.fit(simd, zy, hood, ridge);
            let own = rows[first + offset];
            let row = zy.point(own);
            *residual = row[d] - fit.at(row);
            // Among many equal points a row need not be its own neighbor.
            if let Ok(place) = hood.rows.binary_search(&(own as u32)) {
                let weight = hood.weights.map_or(1.0 / hood.rows.len() as f64, |w| w[place]);
                // Of a row that counts several times, once is left out.
                let weight = weight / hoods.anchor_weight(first + offset).max(1.0);
                let rest = 1.0 - fit.leverage(row, weight);
                // A row that alone decides a slope has nothing but the mean of the others to be predicted from.
                *residual =
                    if rest > 1e-6 { *residual / rest } else { (row[d] - fit.means()[d]) / (1.0 - weight) };
            }
        }
    }
}
