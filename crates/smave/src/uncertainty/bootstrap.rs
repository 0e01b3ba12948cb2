//! Refits on rows drawn with replacement.

use faer::linalg::solvers::Svd;
use rayon::prelude::*;

use crate::checkpoint::Stored;
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, Smave};
use crate::linalg::{Mat, MatRef, orthonormalize};
use crate::manifold::subspace::principal_angles;
use crate::rng::{bootstrap_rows, derive_seed};
use crate::tally::Tally;
use crate::uncertainty::Interval;

/// Renewals of a refit: it begins where the fit ended.
const MAX_ITER: usize = 3;

/// The basis found, and those of the replicates, turned towards it.
pub(super) struct Replicates {
    basis: Mat<f64>,
    aligned: Vec<Mat<f64>>,
    mean: Mat<f64>,
    /// Principal angles of each replicate from the refit to the data as they are.
    angles: Vec<Vec<f64>>,
}

impl Replicates {
    pub fn draw(
        reduction: &Reduction,
        data: &Dataset<'_>,
        count: usize,
        seed: u64,
        tally: &Tally<'_>,
    ) -> Result<Self> {
        let whole = refit(reduction, data, derive_seed(seed, &[0]), tally)?;
        let refits: Vec<Mat<f64>> = (0..count as u64)
            .into_par_iter()
            .map(|replicate| {
                let make = || {
                    let drawn = data.subset(&bootstrap_rows(data.n_samples(), seed, replicate))?;
                    let found = refit(reduction, &drawn, derive_seed(seed, &[1, replicate]), tally)?;
                    Ok(Stored::from(found.as_ref()))
                };
                let found = tally.task(|| format!("replicate {replicate}"), make)?;
                found
                    .matrix(data.n_features(), reduction.n_components())
                    .ok_or(Error::NotFinite { what: "a bootstrap replicate", iteration: 0 })
            })
            .collect::<Result<_>>()?;
        let angles = refits
            .iter()
            .map(|found| principal_angles(found.as_ref(), whole.as_ref()))
            .collect::<Result<_>>()?;
        let basis = reduction.basis().to_owned();
        let aligned: Vec<Mat<f64>> = refits
            .iter()
            .map(|found| turned_towards(found.as_ref(), basis.as_ref()))
            .collect::<Option<_>>()
            .ok_or(Error::NotFinite { what: "a bootstrap replicate", iteration: 0 })?;
        let mut mean = Mat::zeros(basis.nrows(), basis.ncols());
        for found in &aligned {
            mean += found * faer::Scale(1.0 / count as f64);
        }
        Ok(Self { basis, aligned, mean, angles })
    }

    /// The loading of covariate i in direction j, in units of one over `scale`.
    pub fn loading(&self, i: usize, j: usize, level: f64, scale: f64) -> Interval {
        let deviations = self.aligned.iter().map(|found| found[(i, j)] - self.mean[(i, j)]);
        let half = quantile(deviations.map(f64::abs).collect(), level);
        let estimate = self.basis[(i, j)];
        Interval {
            estimate: estimate / scale,
            low: (estimate - half) / scale,
            high: (estimate + half) / scale,
        }
    }

    /// The length of row i.
    pub fn relevance(&self, i: usize, level: f64) -> Interval {
        let d = self.basis.ncols();
        let estimate = self.basis.row(i).norm_l2();
        let deviation = |found: &Mat<f64>| {
            let parts = (0..d).map(|j| found[(i, j)] - self.mean[(i, j)]);
            if estimate > 0.0 {
                // Along the row itself; across it, the length does not change to first order.
                parts.enumerate().map(|(j, v)| v * self.basis[(i, j)] / estimate).sum::<f64>().abs()
            } else {
                parts.map(|v| v * v).sum::<f64>().sqrt()
            }
        };
        let half = quantile(self.aligned.iter().map(deviation).collect(), level);
        // A row of a projector is no longer than 1.
        Interval { estimate, low: (estimate - half).max(0.0), high: (estimate + half).min(1.0) }
    }

    /// For each principal angle, what this share of the replicates stays below.
    pub fn angles(&self, level: f64) -> Vec<f64> {
        (0..self.basis.ncols()).map(|j| quantile(self.angles.iter().map(|a| a[j]).collect(), level)).collect()
    }
}

/// The orthonormal basis of a refit from the directions found, for columns scaled as in the fit.
fn refit(reduction: &Reduction, data: &Dataset<'_>, seed: u64, tally: &Tally<'_>) -> Result<Mat<f64>> {
    let scaling = reduction.standardization();
    let found = Smave::new(reduction.n_components())
        .warm_start(reduction.directions())
        .standardize(scaling.scale().iter().any(|&scale| scale != 1.0))
        .n_neighbors(reduction.n_neighbors())
        .choose_neighbors(false)
        .screen(false)
        .max_iter(MAX_ITER)
        .seed(seed)
        .fit_observed(data, &mut tally.observer())?;
    tally.check()?;
    orthonormalize(scaling.rescale(found.directions().as_ref()).as_ref())
        .ok_or(Error::NotFinite { what: "a bootstrap replicate", iteration: 0 })
}

/// The basis of span(b) that is nearest to `target`: B U V' where $B^\top T = U \Sigma V^\top$.
fn turned_towards(b: MatRef<'_, f64>, target: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let inner: Mat<f64> = b.transpose() * target;
    let svd = Svd::new(inner.as_ref()).ok()?;
    Some(b * svd.U() * svd.V().transpose())
}

/// The smallest value that at least this share of the values does not exceed.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    let place = ((values.len() as f64 * level).ceil() as usize).clamp(1, values.len()) - 1;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::norm;
    use crate::manifold::check::random_matrix;
    use crate::rng::{Purpose, stream};

    #[test]
    fn a_turned_basis_is_turned_back() {
        let mut rng = stream(1, Purpose::Start, 0);
        let b = orthonormalize(random_matrix(6, 2, &mut rng).as_ref()).unwrap();
        let q = orthonormalize(random_matrix(2, 2, &mut rng).as_ref()).unwrap();
        let found = turned_towards((&b * &q).as_ref(), b.as_ref()).unwrap();
        assert!(norm((found - &b).as_ref()) < 1e-12);
    }

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.9), 9.0);
        assert_eq!(quantile(values.clone(), 0.91), 10.0);
        assert_eq!(quantile(values, 0.01), 1.0);
    }
}
