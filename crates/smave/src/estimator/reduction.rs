//! The fitted result that all estimators share.
//!
//! A subspace has no preferred basis, so one is chosen: columns are the
//! principal axes of the average outer product $\frac1m \sum_j u_j u_j^\top$ of local
//! slopes, in decreasing order of its eigenvalues, each with its largest loading
//! positive. The first column is then the direction along which y changes most, and the
//! eigenvalues say how much each adds.

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::data::design::{Design, Rows, expect_size};
use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatRef, Points, symmetric_eigen};
use crate::optim::trace::{Iteration, StopReason};

/// A subspace found, with everything needed to use it.
#[derive(Clone, Debug)]
pub struct Reduction {
    pub(crate) method: String,
    pub(crate) basis: Mat<f64>,
    pub(crate) eigenvalues: Vec<f64>,
    pub(crate) standardization: Standardization,
    pub(crate) names: Vec<String>,
    pub(crate) n_samples: usize,
    pub(crate) n_neighbors: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) trace: Vec<Iteration>,
    pub(crate) stop_reason: StopReason,
    pub(crate) starts: Vec<Start>,
    pub(crate) loo_error: Option<f64>,
}

/// How one start of a race fared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Where it came from.
    pub name: String,
    /// Mean squared leave-one-out prediction error when it was last looked at, in the units of y squared.
    pub loo_error: f64,
    /// Times it was refined before it dropped out, or won.
    pub rungs: usize,
    /// Largest principal angle, in radians, between where it ended and the subspace found.
    pub angle: f64,
}

/// Starts that end within this angle (radians) of the subspace found agree with it.
pub const AGREEMENT: f64 = 0.5;

impl Reduction {
    /// The name of the method that made it, as on the command line.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Number of directions d.
    pub fn n_components(&self) -> usize {
        self.basis.ncols()
    }

    /// Number of covariates p.
    pub fn n_features(&self) -> usize {
        self.basis.nrows()
    }

    /// Number of samples it was fitted on.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Neighbors k in each local regression, for methods that have them.
    pub fn n_neighbors(&self) -> Option<usize> {
        self.n_neighbors
    }

    /// The seed it was fitted with, for methods that draw random numbers.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The starts that were raced, best first; empty for methods with one start or none.
    pub fn starts(&self) -> &[Start] {
        &self.starts
    }

    /// How many of the starts ended at the subspace found, to within [`AGREEMENT`].
    pub fn n_agreeing(&self) -> usize {
        self.starts.iter().filter(|start| start.angle < AGREEMENT).count()
    }

    /// Mean squared leave-one-out error of the local linear regression on the directions found, in
    /// the units of y squared, for methods that compute it.
    pub fn loo_error(&self) -> Option<f64> {
        self.loo_error
    }

    /// The names of the covariates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The orthonormal basis B, p x d, for the columns as the method saw them:
    /// standardized if it was told to standardize, otherwise as they are.
    pub fn basis(&self) -> MatRef<'_, f64> {
        self.basis.as_ref()
    }

    /// One eigenvalue per direction, in the order of the directions. For SMAVE those of the average slope
    /// outer product; other methods say in their module what theirs are.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// What was subtracted from and divided into each column before the fit.
    pub fn standardization(&self) -> &Standardization {
        &self.standardization
    }

    /// Directions in the original units of X, p x d: coordinate j of a sample is
    /// $(x - c)^\top$ times column j, c being the center of the standardization.
    pub fn directions(&self) -> Mat<f64> {
        self.standardization.unscale(self.basis())
    }

    /// The matrix M = W W' (p x p, W the directions) under which
    /// $(x - x')^\top M (x - x')$ is the squared distance after the reduction: the
    /// reading of SDR as metric learning. B B' when nothing was standardized.
    pub fn mahalanobis(&self) -> Mat<f64> {
        let directions = self.directions();
        &directions * directions.transpose()
    }

    /// Every iteration, in order; empty for methods that do not iterate.
    pub fn trace(&self) -> &[Iteration] {
        &self.trace
    }

    /// Why the fit ended.
    pub fn stop_reason(&self) -> StopReason {
        self.stop_reason
    }

    /// Refuses data with other covariates than it was fitted to.
    ///
    /// # Errors
    /// When their number, or a name, is another.
    pub fn expect_covariates(&self, data: &Dataset<'_>) -> Result<()> {
        let what = "covariates of the data against those of the model";
        expect_size(what, self.n_features(), data.n_features())?;
        let names = || self.names().iter().zip(data.names()).enumerate();
        match names().find(|(_, (own, other))| own != other) {
            Some((i, (own, other))) => Err(Error::InvalidParameter {
                name: "covariate",
                value: format!("'{other}' in place {i}"),
                requirement: format!("'{own}', as in the model"),
            }),
            None => Ok(()),
        }
    }

    /// The coordinates of the rows of `x` along the directions, n x d.
    ///
    /// # Errors
    /// When `x` has another number of columns or a value that is not finite.
    pub fn transform(&self, x: &dyn Design) -> Result<Points> {
        expect_size("columns of X against covariates of the model", self.n_features(), x.n_cols())?;
        if let Some((row, column, value)) = x.inspect().first_non_finite {
            return Err(Error::NonFinite { row, column, name: self.names[column].clone(), value });
        }
        self.standardization.apply(x)?.project(self.basis(), Rows::All)
    }
}

/// The unique basis of span(b): rotated to the principal axes of `slope_outer`
/// (d x d, in the coordinates of `b`), with its eigenvalues.
pub(crate) fn principal_basis(
    b: MatRef<'_, f64>,
    slope_outer: MatRef<'_, f64>,
) -> Option<(Mat<f64>, Vec<f64>)> {
    let (values, rotation) = symmetric_eigen(slope_outer)?;
    // Rounding can leave a zero eigenvalue of a sum of squares slightly negative.
    let values = values.into_iter().map(|v| v.max(0.0)).collect();
    Some((with_positive_leaders(b * rotation), values))
}

/// Flips columns so that the largest loading of each is positive.
pub(crate) fn with_positive_leaders(mut basis: Mat<f64>) -> Mat<f64> {
    for j in 0..basis.ncols() {
        let column = basis.col(j);
        let largest = column.iter().copied().fold(0.0, |a: f64, v| if v.abs() > a.abs() { v } else { a });
        if largest < 0.0 {
            // Not the negative: a covariate left out has a loading of 0, not of -0.
            basis.col_mut(j).iter_mut().for_each(|v| *v = 0.0 - *v);
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{norm, orthonormalize};
    use crate::manifold::check::random_matrix;
    use crate::rng::{Purpose, stream};

    #[test]
    fn principal_basis_does_not_depend_on_the_basis_given() {
        let mut rng = stream(4, Purpose::Start, 0);
        let b = orthonormalize(random_matrix(7, 3, &mut rng).as_ref()).unwrap();
        let q = orthonormalize(random_matrix(3, 3, &mut rng).as_ref()).unwrap();
        let slopes = random_matrix(3, 10, &mut rng);
        let outer = &slopes * slopes.transpose();
        let (first, values) = principal_basis(b.as_ref(), outer.as_ref()).unwrap();
        // In the basis B Q the slopes are Q'u.
        let turned = q.transpose() * &outer * &q;
        let (second, same) = principal_basis((&b * &q).as_ref(), turned.as_ref()).unwrap();
        assert!(norm((&first - &second).as_ref()) < 1e-12);
        for j in 0..3 {
            assert!((values[j] - same[j]).abs() < 1e-12 && (j == 0 || values[j] <= values[j - 1]));
            let largest = first.col(j).iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
            assert!(largest > 0.0);
        }
    }
}
