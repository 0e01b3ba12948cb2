//! Predictor augmentation: what share of each eigenvector falls on covariates that are known to be noise.
//!
//! Append some standard normal covariates to the whitened ones. The leading eigenvectors of the slope matrix have nothing to do with
//! them, up to the true rank; past it an eigenvector is as much noise as they are, and a good part of it falls
//! on them. With $s_j$ that part of the j-th (its squared length, averaged over draws), the estimate is the k that minimizes
//!
//! $$ \sum_{j \le k} s_j + \frac{\lambda_{k+1}}{1 + \sum_{i \le k+1} \lambda_i} $$
//!
//! (Luo and Li, Biometrika 2021).

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::Serialize;

use crate::error::Result;
use crate::estimator::gradient_steps::Axes;
use crate::linalg::Points;
use crate::rng::{Purpose, derive_seed, stream};
use crate::select::ladle::lowest;
use crate::select::slopes::SlopeMatrix;
use crate::tally::Tally;

/// Times noise is drawn.
const DRAWS: u64 = 10;

/// What predictor augmentation says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Augmentation {
    /// Where the curve is lowest.
    pub chosen: usize,
    /// The criterion in 0, 1, ... dimensions.
    pub curve: Vec<f64>,
    /// The share of each leading eigenvector that falls on noise.
    pub noise_shares: Vec<f64>,
}

pub(super) fn augmentation(
    slopes: &SlopeMatrix,
    own: &Axes,
    max_dim: usize,
    seed: u64,
    tally: &Tally<'_>,
) -> Result<Augmentation> {
    let (n, rank) = (slopes.n_rows(), slopes.rank());
    let last = max_dim.min(rank - 1);
    let added = (rank / 2).clamp(1, 20);
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .into_par_iter()
        .map(|draw| {
            tally.check()?;
            let mut rng = stream(derive_seed(seed, &[6]), Purpose::Noise, draw);
            let mut noise = Points::zeros(n, added);
            noise.values_mut().iter_mut().for_each(|v| *v = rng.sample(StandardNormal));
            let wide = slopes.spectrum(None, Some(&noise), derive_seed(seed, &[9, draw]))?;
            let share = |j: usize| (rank..rank + added).map(|i| wide.directions[(i, j)].powi(2)).sum();
            Ok((0..last).map(share).collect())
        })
        .collect::<Result<_>>()?;
    let noise_shares: Vec<f64> =
        (0..last).map(|j| draws.iter().map(|d| d[j]).sum::<f64>() / DRAWS as f64).collect();
    let curve = combine(&noise_shares, &own.values);
    Ok(Augmentation { chosen: lowest(&curve), curve, noise_shares })
}

fn combine(shares: &[f64], values: &[f64]) -> Vec<f64> {
    let term = |k: usize| {
        let explained = 1.0 + values[..=k].iter().sum::<f64>();
        shares[..k].iter().sum::<f64>() + values[k] / explained
    };
    (0..=shares.len()).map(term).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_noise_could_have_are_not_counted() {
        let curve = combine(&[0.01, 0.02, 0.3], &[2.0, 1.0, 0.1, 0.09]);
        assert_eq!(lowest(&curve), 2);
        assert!((curve[0] - 2.0 / 3.0).abs() < 1e-12);
        assert!((curve[2] - (0.03 + 0.1 / 4.1)).abs() < 1e-12);
    }
}
