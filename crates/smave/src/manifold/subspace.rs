//! How far apart two subspaces are.
//!
//! The principal angles between span(A) and span(B) have cosines the singular
//! values of $A^\top B$ and sines those of $(I - A A^\top) B$. Cosines lose small
//! angles to rounding and sines lose those near a right angle, so each angle is taken
//! from the better of the two (Björck and Golub 1973).

use crate::data::design::expect_size;
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatRef, orthonormalize, singular_values};

/// The paper's $m^2(\hat B, B_\ast) = \lVert (I - B_\ast B_\ast^\top) \hat B \rVert_F^2$, from 0 (same span) to d.
///
/// Both arguments are orthonormalized first: it is a distance of spans.
///
/// # Errors
/// When the shapes differ or the columns of one are dependent.
pub fn squared_distance(estimate: MatRef<'_, f64>, truth: MatRef<'_, f64>) -> Result<f64> {
    let (estimate, truth) = (frame("estimate", estimate)?, frame("truth", truth)?);
    expect_size("rows of the truth against rows of the estimate", estimate.nrows(), truth.nrows())?;
    expect_size("columns of the truth against columns of the estimate", estimate.ncols(), truth.ncols())?;
    Ok(complement(&truth, &estimate).squared_norm_l2())
}

/// The largest principal angle in radians: by how much one subspace must turn to become the other.
///
/// # Errors
/// As [`principal_angles`].
pub(crate) fn largest_angle(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<f64> {
    Ok(principal_angles(a, b)?.last().copied().unwrap_or(0.0))
}

/// The principal angles between two subspaces in radians, smallest first;
/// as many as the smaller of the two dimensions.
///
/// # Errors
/// When the subspaces lie in different spaces or the columns of one are dependent.
pub fn principal_angles(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let (a, b) = (frame("first basis", a)?, frame("second basis", b)?);
    expect_size("rows of the second basis against rows of the first", a.nrows(), b.nrows())?;
    // The smaller subspace is measured against the larger one.
    let (large, small) = if a.ncols() >= b.ncols() { (a, b) } else { (b, a) };
    let failed = || Error::RankDeficient { what: "basis", columns: small.ncols() };
    let cosines = singular_values((large.transpose() * &small).as_ref()).ok_or_else(failed)?;
    let sines = singular_values(complement(&large, &small).as_ref()).ok_or_else(failed)?;
    Ok(cosines
        .iter()
        .zip(sines.iter().rev())
        .map(|(&cosine, &sine)| if sine < cosine { sine.min(1.0).asin() } else { cosine.min(1.0).acos() })
        .collect())
}

fn frame(what: &'static str, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
    orthonormalize(a).ok_or(Error::RankDeficient { what, columns: a.ncols() })
}

/// (I - A A') B.
fn complement(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    b - a * (a.transpose() * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifold::check::random_matrix;
    use crate::rng::{Purpose, stream};

    /// Two planes in R^5 that meet at the given angles.
    fn planes(first: f64, second: f64) -> (Mat<f64>, Mat<f64>) {
        let a = Mat::from_fn(5, 2, |i, j| f64::from(i == j));
        let mut b = Mat::zeros(5, 2);
        (b[(0, 0)], b[(2, 0)]) = (first.cos(), first.sin());
        (b[(1, 1)], b[(3, 1)]) = (second.cos(), second.sin());
        (a, b)
    }

    #[test]
    fn known_angles_come_back_large_and_small() {
        for (first, second) in [(1e-9, 0.3), (0.7, 1.5), (0.0, std::f64::consts::FRAC_PI_2)] {
            let (a, b) = planes(first, second);
            let mix = Mat::from_fn(2, 2, |i, j| [[1.0, 2.0], [-1.0, 0.5]][i][j]);
            let angles = principal_angles(a.as_ref(), (&b * mix).as_ref()).unwrap();
            assert!((angles[0] - first).abs() < 1e-14 + 1e-7 * first, "{angles:?}");
            assert!((angles[1] - second).abs() < 1e-12, "{angles:?}");
        }
    }

    #[test]
    fn distance_is_the_sum_of_squared_sines() {
        let mut rng = stream(3, Purpose::Start, 0);
        let (a, b) = (random_matrix(9, 3, &mut rng), random_matrix(9, 3, &mut rng));
        let sines: f64 =
            principal_angles(a.as_ref(), b.as_ref()).unwrap().iter().map(|t| t.sin().powi(2)).sum();
        assert!((squared_distance(a.as_ref(), b.as_ref()).unwrap() - sines).abs() < 1e-12);
        assert!(squared_distance(a.as_ref(), a.as_ref()).unwrap() < 1e-25);
    }

    #[test]
    fn subspaces_of_different_dimension_have_angles_too() {
        let (a, b) = planes(0.2, 0.4);
        let line = b.as_ref().subcols(1, 1);
        let angles = principal_angles(a.as_ref(), line).unwrap();
        assert!(angles.len() == 1 && (angles[0] - 0.4).abs() < 1e-12);
        assert_eq!(principal_angles(line, a.as_ref()).unwrap(), angles);
    }

    #[test]
    fn dependent_columns_and_other_shapes_are_refused() {
        let (a, _) = planes(0.1, 0.1);
        let flat = Mat::from_fn(5, 2, |i, _| i as f64);
        assert!(squared_distance(flat.as_ref(), a.as_ref()).is_err());
        assert!(squared_distance(a.as_ref(), Mat::<f64>::identity(4, 2).as_ref()).is_err());
        assert!(squared_distance(a.as_ref(), Mat::<f64>::identity(5, 3).as_ref()).is_err());
    }
}
