//! Riemannian L-BFGS: full-batch ascent on the Stiefel manifold.
//!
//! The two-loop recursion on tangent vectors, which are carried along by projection onto the new
//! tangent space, with Armijo backtracking along the QR retraction. Steps are capped at half a
//! unit, because neighborhoods were chosen for the basis at hand. Gradients of the MAVE criterion
//! are horizontal, and so is everything built from them. Cost per step: an evaluation or a
//! few, and memory times p d.

use std::collections::VecDeque;

use crate::linalg::{Mat, inner, norm};
use crate::manifold::stiefel::{project_to_tangent, retract};

/// Pairs of steps and gradient changes kept.
const MEMORY: usize = 6;

/// Longest step, in the Frobenius norm.
const MAX_STEP: f64 = 0.5;

/// Share of the predicted gain that a step must reach.
const ARMIJO: f64 = 1e-4;

/// Times a step is shortened before giving up, and by how much.
const BACKTRACKS: usize = 12;
const SHORTEN: f64 = 0.4;

/// What an optimizer remembers of its steps. Where the function has changed but little, as when neighborhoods are
/// renewed, the next ascent goes on with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lbfgs {
    /// Steps, and minus the changes of the gradient along them, as tangent vectors at the last basis.
    pairs: VecDeque<(Mat<f64>, Mat<f64>)>,
}

/// Where an ascent ended.
pub(crate) struct Ascent {
    pub basis: Mat<f64>,
    pub value: f64,
    pub gradient_norm: f64,
}

impl Lbfgs {
    /// With these pairs of steps and gradient changes.
    pub fn remembering(pairs: VecDeque<(Mat<f64>, Mat<f64>)>) -> Self {
        Self { pairs }
    }

    /// What it remembers.
    pub fn pairs(&self) -> impl Iterator<Item = &(Mat<f64>, Mat<f64>)> {
        self.pairs.iter()
    }

    /// Ascends from `basis` until a step gains less than `tolerance` of the value, or `max_steps` are made.
    /// `evaluate` gives value and Riemannian gradient.
    pub fn maximize(
        &mut self,
        mut evaluate: impl FnMut(&Mat<f64>) -> (f64, Mat<f64>),
        mut basis: Mat<f64>,
        max_steps: usize,
        tolerance: f64,
    ) -> Ascent {
        let pairs = &mut self.pairs;
        let (mut value, mut gradient) = evaluate(&basis);
        for _ in 0..max_steps {
            let length = norm(gradient.as_ref());
            if length == 0.0 || !length.is_finite() {
                break;
            }
            let mut step = direction(&basis, &gradient, pairs);
            if inner(step.as_ref(), gradient.as_ref()) <= 0.0 {
                // The memory points downhill: forget it.
                pairs.clear();
                step = &gradient * faer::Scale(0.1 / length);
            }
            let longest = norm(step.as_ref());
            if longest > MAX_STEP {
                step *= MAX_STEP / longest;
            }
            let slope = inner(step.as_ref(), gradient.as_ref());
            let mut size = 1.0;
            let mut accepted = None;
            for _ in 0..BACKTRACKS {
                if let Some(next) = retract(basis.as_ref(), (&step * faer::Scale(size)).as_ref()) {
                    let (next_value, next_gradient) = evaluate(&next);
                    if next_value >= value + ARMIJO * size * slope {
                        accepted = Some((next, next_value, next_gradient));
                        break;
                    }
                }
                size *= SHORTEN;
            }
            let Some((next, next_value, next_gradient)) = accepted else { break };
            let carry = |a: &Mat<f64>| project_to_tangent(next.as_ref(), a.as_ref());
            let moved = carry(&(&step * faer::Scale(size)));
            // Minus the change of the gradient: positive curvature where the function is concave.
            let bent = carry(&(&gradient - &next_gradient));
            *pairs = pairs.iter().map(|(s, t)| (carry(s), carry(t))).collect();
            if inner(moved.as_ref(), bent.as_ref()) > 1e-10 * norm(moved.as_ref()) * norm(bent.as_ref()) {
                pairs.push_back((moved, bent));
                if pairs.len() > MEMORY {
                    pairs.pop_front();
                }
            }
            let gain = next_value - value;
            (basis, value, gradient) = (next, next_value, next_gradient);
            if gain <= tolerance * value.abs() {
                break;
            }
        }
        Ascent { gradient_norm: norm(gradient.as_ref()), basis, value }
    }
}

/// The two-loop recursion: the inverse Hessian, as the pairs suggest it, times the gradient.
fn direction(basis: &Mat<f64>, gradient: &Mat<f64>, pairs: &VecDeque<(Mat<f64>, Mat<f64>)>) -> Mat<f64> {
    let mut q = gradient.clone();
    let mut factors = Vec::with_capacity(pairs.len());
    for (s, t) in pairs.iter().rev() {
        let factor = inner(s.as_ref(), q.as_ref()) / inner(s.as_ref(), t.as_ref());
        q -= t * faer::Scale(factor);
        factors.push(factor);
    }
    q *= match pairs.back() {
        Some((s, t)) => inner(s.as_ref(), t.as_ref()) / t.squared_norm_l2(),
        None => 0.1 / norm(gradient.as_ref()),
    };
    for ((s, t), factor) in pairs.iter().zip(factors.iter().rev()) {
        let other = inner(t.as_ref(), q.as_ref()) / inner(s.as_ref(), t.as_ref());
        q += s * faer::Scale(factor - other);
    }
    project_to_tangent(basis.as_ref(), q.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_eigen;
    use crate::manifold::check::random_matrix;
    use crate::manifold::stiefel::random_frame;
    use crate::manifold::subspace::squared_distance;
    use crate::rng::{Purpose, stream};

    /// tr(B'AB) is maximal at the leading eigenvectors.
    #[test]
    fn leading_eigenvectors_are_found_in_few_steps() {
        let mut rng = stream(2, Purpose::Start, 0);
        let (p, d) = (12, 3);
        let root = random_matrix(p, p, &mut rng);
        let a = &root * root.transpose();
        let mut evaluations = 0;
        let found = Lbfgs::default().maximize(
            |b| {
                evaluations += 1;
                let ab = &a * b;
                let gradient = (&ab - b * (b.transpose() * &ab)) * faer::Scale(2.0);
                (inner(b.as_ref(), ab.as_ref()), gradient)
            },
            random_frame(p, d, &mut rng),
            200,
            1e-15,
        );
        let (values, vectors) = symmetric_eigen(a.as_ref()).unwrap();
        let top = vectors.as_ref().subcols(0, d);
        assert!(squared_distance(found.basis.as_ref(), top).unwrap() < 1e-10);
        assert!((found.value - values[..d].iter().sum::<f64>()).abs() < 1e-8);
        assert!(found.gradient_norm < 1e-3 && evaluations < 120, "{evaluations}");
    }

    #[test]
    fn a_stationary_start_stays() {
        let b = Mat::<f64>::identity(4, 2);
        let found = Lbfgs::default().maximize(|_| (1.0, Mat::zeros(4, 2)), b.clone(), 10, 0.0);
        assert_eq!(found.basis, b);
    }
}
