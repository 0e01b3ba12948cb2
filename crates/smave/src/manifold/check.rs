//! Taylor-slope checks: the order at which an error vanishes, measured.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::linalg::{Mat, MatRef, inner};
use crate::manifold::stiefel::retract;
use crate::rng::Rng;

/// A p x d matrix of independent standard normal entries.
pub(crate) fn random_matrix(p: usize, d: usize, rng: &mut Rng) -> Mat<f64> {
    Mat::from_fn(p, d, |_, _| rng.sample(StandardNormal))
}

/// The slope of log error against log t, between t = 1e-2 and 1e-3.
pub(crate) fn log_log_slope(error: impl Fn(f64) -> f64) -> f64 {
    (error(1e-2) / error(1e-3)).log10()
}

/// The order at which f(R_B(tξ)) - f(B) - t <g, ξ> vanishes: 2 if g is the gradient, 1 if not.
pub(crate) fn gradient_order(
    f: impl Fn(MatRef<'_, f64>) -> f64,
    b: MatRef<'_, f64>,
    gradient: MatRef<'_, f64>,
    xi: MatRef<'_, f64>,
) -> f64 {
    let (start, rate) = (f(b), inner(gradient, xi));
    log_log_slope(|t| {
        let moved = retract(b, (xi * faer::Scale(t)).as_ref()).expect("a small step keeps the rank");
        (f(moved.as_ref()) - start - t * rate).abs()
    })
}
