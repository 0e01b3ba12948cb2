//! The Stiefel manifold St(p, d) = { B : B'B = I } with the embedded Frobenius metric.
//!
//! $T_B = \lbrace \xi : B^\top \xi + \xi^\top B = 0 \rbrace$; the orthogonal projection onto it is
//! $Z - B \mathrm{sym}(B^\top Z)$, and the QR retraction $\mathrm{qf}(B + \xi)$ agrees with the
//! exponential map to first order (paper, appendix "Riemannian Geometry Background").
//! Each costs p d^2.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::linalg::{Mat, MatRef, orthonormalize};
use crate::rng::Rng;

/// A frame drawn from the uniform distribution on St(p, d); needs d <= p.
pub fn random_frame(p: usize, d: usize, rng: &mut Rng) -> Mat<f64> {
    assert!(d <= p, "no {d} orthonormal vectors in R^{p}");
    loop {
        // Gaussian columns are dependent with probability zero, yet not never in floating point.
        let gaussian = Mat::from_fn(p, d, |_, _| rng.sample(StandardNormal));
        if let Some(frame) = orthonormalize(gaussian.as_ref()) {
            return frame;
        }
    }
}

/// The tangent vector at `b` nearest to `z`.
pub fn project_to_tangent(b: MatRef<'_, f64>, z: MatRef<'_, f64>) -> Mat<f64> {
    let product = b.transpose() * z;
    let symmetric = Mat::from_fn(b.ncols(), b.ncols(), |i, j| 0.5 * (product[(i, j)] + product[(j, i)]));
    z - b * symmetric
}

/// The QR retraction qf(B + ξ); `None` if B + ξ is not of full rank or not finite.
pub fn retract(b: MatRef<'_, f64>, xi: MatRef<'_, f64>) -> Option<Mat<f64>> {
    orthonormalize((b + xi).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::norm;
    use crate::manifold::check::{log_log_slope, random_matrix};
    use crate::rng::{Purpose, stream};

    fn setup(p: usize, d: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
        let mut rng = stream(seed, Purpose::Start, 0);
        let b = random_frame(p, d, &mut rng);
        let xi = project_to_tangent(b.as_ref(), random_matrix(p, d, &mut rng).as_ref());
        (b, xi)
    }

    fn orthonormality_error(b: &Mat<f64>) -> f64 {
        norm((b.transpose() * b - Mat::<f64>::identity(b.ncols(), b.ncols())).as_ref())
    }

    #[test]
    fn frames_and_retractions_stay_on_the_manifold() {
        for (p, d) in [(1, 1), (5, 2), (7, 7), (40, 3)] {
            let (b, xi) = setup(p, d, 11);
            assert!(orthonormality_error(&b) < 1e-13);
            assert!(orthonormality_error(&retract(b.as_ref(), xi.as_ref()).unwrap()) < 1e-13);
        }
    }

    #[test]
    fn projection_is_tangent_and_orthogonal() {
        let (b, xi) = setup(9, 3, 2);
        let skew = b.transpose() * &xi;
        assert!(norm((&skew + skew.transpose()).as_ref()) < 1e-13);
        let again = project_to_tangent(b.as_ref(), xi.as_ref());
        assert!(norm((&again - &xi).as_ref()) < 1e-13);
    }

    /// R_B(0) = B, and R_B(tξ) - (B + tξ) vanishes like t^2.
    #[test]
    fn retraction_is_first_order() {
        let (b, xi) = setup(8, 3, 5);
        let zero = Mat::zeros(8, 3);
        assert!(norm((retract(b.as_ref(), zero.as_ref()).unwrap() - &b).as_ref()) < 1e-14);
        let slope = log_log_slope(|t| {
            let step = &xi * faer::Scale(t);
            norm((retract(b.as_ref(), step.as_ref()).unwrap() - &b - &step).as_ref())
        });
        assert!((slope - 2.0).abs() < 0.05, "slope {slope}");
    }

    /// The distribution does not change under rotation: the first two moments of entries are those of the sphere.
    #[test]
    fn random_frames_are_uniform() {
        let (p, draws) = (5, 4000);
        let mut rng = stream(1, Purpose::Start, 0);
        let mut mean = 0.0;
        let mut second = 0.0;
        for _ in 0..draws {
            let b = random_frame(p, 2, &mut rng);
            mean += b[(0, 0)] / draws as f64;
            second += b[(4, 1)].powi(2) / draws as f64;
        }
        // Standard errors: 0.45 / sqrt(4000) and 0.24 / sqrt(4000).
        assert!(mean.abs() < 4.0 * 0.0071, "{mean}");
        assert!((second - 0.2).abs() < 4.0 * 0.0038, "{second}");
    }
}
