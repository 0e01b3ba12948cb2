//! Sums of outer products, $\sum_i w_i z_i z_i^\top$ with $z_i = W^\top x_i - s$, a few rows at a time.
//!
//! Rows are projected in batches, so that X is seen through its product only and no copy of it is
//! made; each batch then goes through one matrix product. Cost: n p q + n q^2 for a p x q matrix W.

use faer::Par;
use faer::linalg::matmul::matmul;
use rayon::prelude::*;

use crate::data::design::{Design, Rows};
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatRef, Points, symmetric_eigen};

/// Rows that go through one matrix product.
const BATCH: usize = 512;

/// Sums that are made side by side, and then added in order.
const MAX_PARTS: usize = 32;

/// The affine map whose values are multiplied with each other.
#[derive(Clone, Copy)]
pub(crate) struct AffineMap<'a> {
    /// W, p x q.
    pub w: MatRef<'a, f64>,
    /// s, of length q.
    pub shift: &'a [f64],
}

/// The sum of $w_i z_i z_i^\top$ over `rows`, with all weights one if `weights` is `None`; weights
/// are indexed by row of X.
pub(crate) fn second_moment(
    x: &dyn Design,
    map: AffineMap<'_>,
    rows: &[usize],
    weights: Option<&[f64]>,
) -> Mat<f64> {
    let q = map.w.ncols();
    let part = rows.len().div_ceil(MAX_PARTS).max(BATCH);
    let parts: Vec<Mat<f64>> = rows
        .par_chunks(part)
        .map(|rows| {
            let mut sum = Mat::zeros(q, q);
            for rows in rows.chunks(BATCH) {
                let z = mapped(x, map, rows);
                let mut weighted = z.clone();
                if let Some(weights) = weights {
                    for (point, &row) in weighted.values_mut().chunks_exact_mut(q).zip(rows) {
                        point.iter_mut().for_each(|v| *v *= weights[row]);
                    }
                }
                let accumulate = faer::Accum::Add;
                matmul(sum.as_mut(), accumulate, weighted.as_mat().transpose(), z.as_mat(), 1.0, Par::Seq);
            }
            sum
        })
        .collect();
    parts.iter().fold(Mat::zeros(q, q), |sum, part| sum + part)
}

/// The mean of X, and the eigenvalues (decreasing) and eigenvectors of its covariance (divisor n, or the sum of weights).
///
/// # Errors
/// When a moment is not a finite number.
pub(crate) fn principal_axes(
    x: &dyn Design,
    weights: Option<&[f64]>,
) -> Result<(Vec<f64>, Vec<f64>, Mat<f64>)> {
    let (n, p) = (x.n_rows(), x.n_cols());
    let mean = x.moments(weights).mean;
    let identity = Mat::identity(p, p);
    let rows: Vec<usize> = (0..n).collect();
    let mut covariance = second_moment(x, AffineMap { w: identity.as_ref(), shift: &mean }, &rows, weights);
    covariance *= 1.0 / weights.map_or(n as f64, |weights| weights.iter().sum());
    match symmetric_eigen(covariance.as_ref()) {
        Some((values, vectors)) if values.iter().all(|v| v.is_finite()) => Ok((mean, values, vectors)),
        _ => Err(Error::NotFinite { what: "the covariance of X", iteration: 0 }),
    }
}

/// $z_i = W^\top x_i - s$ for some rows.
pub(crate) fn mapped(x: &dyn Design, map: AffineMap<'_>, rows: &[usize]) -> Points {
    let mut z = Points::zeros(rows.len(), map.w.ncols());
    x.project_into(map.w, Rows::Subset(rows), &mut z);
    for point in z.values_mut().chunks_exact_mut(map.shift.len().max(1)) {
        for (z, shift) in point.iter_mut().zip(map.shift) {
            *z -= shift;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;
    use crate::linalg::norm;

    #[test]
    fn equals_its_definition() {
        let (n, p, q) = (1300, 4, 3);
        let values: Vec<f64> = (0..n * p).map(|i| ((i * i) as f64).sin()).collect();
        let x = Dense::new(&values[..], n, p).unwrap();
        let w = Mat::from_fn(p, q, |i, j| (i as f64 - 2.0 * j as f64).cos());
        let map = AffineMap { w: w.as_ref(), shift: &[0.5, -1.0, 0.25] };
        let rows: Vec<usize> = (0..n).rev().filter(|i| i % 3 != 0).collect();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
        for weights in [None, Some(&weights[..])] {
            let mut expected = Mat::<f64>::zeros(q, q);
            for &i in &rows {
                let z = |c: usize| (0..p).map(|l| values[i * p + l] * w[(l, c)]).sum::<f64>() - map.shift[c];
                let weight = weights.map_or(1.0, |w| w[i]);
                expected += Mat::from_fn(q, q, |a, b| weight * z(a) * z(b));
            }
            let found = second_moment(&x, map, &rows, weights);
            assert!(norm((&found - &expected).as_ref()) < 1e-11 * norm(expected.as_ref()));
        }
    }
}
