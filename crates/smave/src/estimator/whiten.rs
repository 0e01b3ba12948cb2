//! Whitening: coordinates in which X has mean zero and covariance I.
//!
//! With $R^\top \Sigma R = I$ for $\Sigma = \mathrm{Cov}(X)$ the moment methods work on
//! $Z = R^\top (X - \bar X)$ and map a direction η of Z back to $\beta = R \eta$. When n is not much larger than p the
//! sample covariance is a bad estimate and its inverse a worse one, so it is shrunk towards a
//! multiple of the identity:
//!
//! $$ \Sigma_\rho = \Sigma + \rho \frac{\mathrm{tr} \Sigma}{p} I, \qquad \rho = \tfrac12 \max(0, p/n - \tfrac15). $$
//!
//! Nothing is changed when n is at least 5 p. Directions in which X does not vary at all
//! are left out. Cost: n p^2 + p^3.

use crate::data::dataset::count_rows;
use crate::data::design::Design;
use crate::data::second_moment::{AffineMap, principal_axes};
use crate::error::Result;
use crate::linalg::{Mat, MatRef, orthonormalize};

/// The whitening map of a design.
pub(crate) struct Whitening {
    /// R, p x q, with $R^\top \Sigma_\rho R = I$; q is the number of directions in which X varies.
    pub root: Mat<f64>,
    /// The other p - q directions, orthonormal.
    pub null: Mat<f64>,
    /// The mean of X after the map.
    shift: Vec<f64>,
    /// The rows it was computed from: all.
    pub rows: Vec<usize>,
}

impl Whitening {
    /// Of `x`, rows counted by weight if there are weights.
    pub fn new(x: &dyn Design, weights: Option<&[f64]>) -> Result<Self> {
        let (n, p) = (x.n_rows(), x.n_cols());
        let rows: Vec<usize> = (0..n).collect();
        let (mean, values, vectors) = principal_axes(x, weights)?;
        let average = values.iter().sum::<f64>() / p as f64;
        let ridge = shrinkage(count_rows(weights, n), p) * average;
        // Rounding leaves a zero variance at about this much of the largest.
        let floor = 1e-12 * values[0];
        let rank = values.iter().take_while(|&&v| v > floor).count();
        let root = Mat::from_fn(p, rank, |i, j| vectors[(i, j)] / (values[j] + ridge).sqrt());
        let null = vectors.as_ref().subcols(rank, p - rank).to_owned();
        let shift = (0..rank).map(|j| root.col(j).iter().zip(&mean).map(|(r, m)| r * m).sum()).collect();
        Ok(Self { root, null, shift, rows })
    }

    /// An orthonormal basis of d directions of X, the first of which span those of Z in `leading`
    /// (q x at most d). If there are fewer, directions in which X does not vary fill up: they
    /// cannot matter. `None` if numbers are not finite.
    pub fn directions(&self, leading: MatRef<'_, f64>, d: usize) -> Option<Mat<f64>> {
        let mapped = &self.root * leading;
        let found = leading.ncols();
        let all = Mat::from_fn(self.root.nrows(), d, |i, j| {
            if j < found { mapped[(i, j)] } else { self.null[(i, j - found)] }
        });
        orthonormalize(all.as_ref())
    }

    /// x to z.
    pub fn map(&self) -> AffineMap<'_> {
        AffineMap { w: self.root.as_ref(), shift: &self.shift }
    }
}

/// ρ: how much of the average variance is added to every direction.
pub(crate) fn shrinkage(n: usize, p: usize) -> f64 {
    0.5 * (p as f64 / n as f64 - 0.2).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;
    use crate::data::second_moment::second_moment;
    use crate::linalg::norm;

    #[test]
    fn whitened_data_have_mean_zero_and_unit_covariance() {
        let (n, p) = (200, 5);
        let mut values: Vec<f64> = (0..n * p).map(|i| 3.0 + ((i * i) as f64 * 0.7).sin()).collect();
        values.chunks_exact_mut(p).for_each(|row| row[2] = row[0] + 2.0 * row[1] + 0.3 * row[2]);
        let x = Dense::new(values, n, p).unwrap();
        let white = Whitening::new(&x, None).unwrap();
        let mut covariance = second_moment(&x, white.map(), &white.rows, None);
        covariance *= 1.0 / n as f64;
        assert!(norm((covariance - Mat::<f64>::identity(p, p)).as_ref()) < 1e-10);
    }

    #[test]
    fn constant_columns_and_few_rows_are_survived() {
        let x = Dense::new(vec![1.0, 5.0, 2.0, 5.0, 4.0, 5.0], 3, 2).unwrap();
        let white = Whitening::new(&x, None).unwrap();
        assert_eq!((white.root.ncols(), white.null.ncols()), (1, 1));
        assert!(white.root[(1, 0)].abs() < 1e-14 && white.null[(1, 0)].abs() == 1.0);
        assert_eq!(shrinkage(500, 100), 0.0);
        assert!((shrinkage(100, 100) - 0.4).abs() < 1e-15);
    }
}
