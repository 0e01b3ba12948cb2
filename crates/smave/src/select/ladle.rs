//! The ladle: where eigenvalues have fallen and eigenvectors still hold together.
//!
//! Past the true rank eigenvalues are small and the space of the leading eigenvectors varies wildly from one bootstrap
//! sample to the next; before it eigenvalues are large and that space is stable. With
//! $f_0(k) = \mathrm{avg}_b \, (1 - |\det V_k^\top V_k^{(b)}|)$ over bootstrap samples b, the estimate is the k
//! from 0 to K that minimizes
//!
//! $$ g(k) = \frac{f_0(k)}{1 + \sum_{i \le K} f_0(i)} + \frac{\lambda_{k+1}}{1 + \sum_{i \le K} \lambda_{i+1}} $$
//!
//! (Luo and Li, Biometrika 2016).

use rayon::prelude::*;
use serde::Serialize;

use crate::error::Result;
use crate::estimator::gradient_steps::Axes;
use crate::linalg::{Mat, MatRef};
use crate::rng::{bootstrap_rows, derive_seed};
use crate::select::slopes::SlopeMatrix;
use crate::tally::Tally;

/// Bootstrap samples.
const SAMPLES: u64 = 40;

/// What the ladle says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ladle {
    /// Where the curve is lowest.
    pub chosen: usize,
    /// g(0), g(1), ...
    pub curve: Vec<f64>,
    /// The leading eigenvalues of the average outer product of slopes, y having unit variance.
    pub eigenvalues: Vec<f64>,
}

pub(super) fn ladle(
    slopes: &SlopeMatrix,
    own: &Axes,
    max_dim: usize,
    seed: u64,
    tally: &Tally<'_>,
) -> Result<Ladle> {
    // Beyond the last covariate there is no eigenvalue, and nothing can vary.
    let last = max_dim.min(slopes.rank() - 1);
    let variations: Vec<Vec<f64>> = (0..SAMPLES)
        .into_par_iter()
        .map(|sample| {
            tally.check()?;
            let rows = bootstrap_rows(slopes.n_rows(), derive_seed(seed, &[4]), sample);
            let again = slopes.spectrum(Some(&rows), None, derive_seed(seed, &[5, sample]))?;
            Ok((0..=last)
                .map(|k| 1.0 - overlap(own.directions.as_ref(), again.directions.as_ref(), k))
                .collect())
        })
        .collect::<Result<_>>()?;
    let variation = |k: usize| variations.iter().map(|v| v[k]).sum::<f64>() / SAMPLES as f64;
    let f: Vec<f64> = (0..=last).map(variation).collect();
    let curve = combine(&f, &own.values);
    Ok(Ladle { chosen: lowest(&curve), curve, eigenvalues: own.values[..=last].to_vec() })
}

/// g from $f_0$ and the eigenvalues.
fn combine(f: &[f64], values: &[f64]) -> Vec<f64> {
    let f_total = 1.0 + f.iter().sum::<f64>();
    let value_total = 1.0 + values[..f.len()].iter().sum::<f64>();
    f.iter().zip(values).map(|(f, value)| f / f_total + value / value_total).collect()
}

/// The place of the smallest value.
pub(super) fn lowest(curve: &[f64]) -> usize {
    (0..curve.len()).min_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap_or(0)
}

/// $|\det V_k^\top W_k|$ of the first k columns.
fn overlap(v: MatRef<'_, f64>, w: MatRef<'_, f64>, k: usize) -> f64 {
    if k == 0 {
        return 1.0;
    }
    let inner: Mat<f64> = v.subcols(0, k).transpose() * w.subcols(0, k);
    inner.determinant().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lip_of_the_ladle_is_found() {
        // Eigenvalues fall after the second; eigenvectors come apart after it.
        let g = combine(&[0.0, 0.05, 0.02, 0.8, 0.9], &[2.0, 1.0, 0.1, 0.08, 0.07]);
        assert_eq!(lowest(&g), 2);
        assert!((g[0] - 2.0 / 4.25).abs() < 1e-12);
        assert!((g[1] - (0.05 / 2.77 + 1.0 / 4.25)).abs() < 1e-12);
        let nothing = combine(&[0.0, 0.9, 0.9], &[0.1, 0.09, 0.08]);
        assert_eq!(lowest(&nothing), 0);
    }

    #[test]
    fn overlap_is_one_for_the_same_space_and_none_for_orthogonal_ones() {
        let identity = Mat::<f64>::identity(4, 4);
        let swapped = Mat::from_fn(4, 4, |i, j| f64::from(u8::from([1, 0, 3, 2][j] == i)));
        assert_eq!(overlap(identity.as_ref(), swapped.as_ref(), 0), 1.0);
        assert_eq!(overlap(identity.as_ref(), swapped.as_ref(), 1), 0.0);
        assert!((overlap(identity.as_ref(), swapped.as_ref(), 2) - 1.0).abs() < 1e-15);
    }
}
