//! Riemannian stochastic ascent with heavy-ball momentum.
//!
//! $$ v_{t+1} = \beta v_t + g_t, \qquad B_{t+1} = \mathrm{qf}(B_t + \alpha_t v_{t+1}) $$
//!
//! with $g_t$ normalized to unit Frobenius norm if asked. Momentum accumulates in
//! the ambient space, without transport between tangent spaces (paper, Remark
//! "Momentum implementation"). Cost: p d^2 for the retraction.

use crate::linalg::{Mat, norm, orthonormalize};
use crate::optim::step_size::StepSize;

/// The state of a stochastic ascent.
#[derive(Clone, Debug)]
pub struct HeavyBall {
    velocity: Mat<f64>,
    step: StepSize,
    momentum: f64,
    normalize: bool,
}

impl HeavyBall {
    /// At rest, for p x d bases.
    pub fn new(p: usize, d: usize, step: StepSize, momentum: f64, normalize: bool) -> Self {
        Self { velocity: Mat::zeros(p, d), step, momentum, normalize }
    }

    /// The velocity now.
    pub fn velocity(&self) -> &Mat<f64> {
        &self.velocity
    }

    /// Goes on with this velocity.
    pub fn resume(&mut self, velocity: Mat<f64>) {
        self.velocity = velocity;
    }

    /// The basis after step `t` from `b` along `gradient`; `None` if numbers overflowed.
    pub fn advance(&mut self, b: &Mat<f64>, gradient: &Mat<f64>, t: usize) -> Option<Mat<f64>> {
        let length = norm(gradient.as_ref());
        if !length.is_finite() {
            return None;
        }
        // A zero gradient has no direction: momentum alone moves on.
        let scale = if self.normalize && length > 0.0 { 1.0 / length } else { 1.0 };
        let step = self.step.at(t);
        let mut moved = b.clone();
        for j in 0..b.ncols() {
            let velocity = self.velocity.col_as_slice_mut(j).iter_mut();
            for ((v, g), b) in velocity.zip(gradient.col_as_slice(j)).zip(moved.col_as_slice_mut(j)) {
                *v = self.momentum * *v + scale * g;
                *b += step * *v;
            }
        }
        orthonormalize(moved.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps written out by hand.
    #[test]
    fn steps_are_those_of_the_formula() {
        let b = Mat::from_fn(3, 1, |i, _| f64::from(i == 0));
        let g = |v: [f64; 3]| Mat::from_fn(3, 1, |i, _| v[i]);
        let (g0, g1) = (g([0.0, 3.0, 4.0]), g([0.0, 0.0, 2.0]));
        let step = StepSize { initial: 0.5, decay: 1.0 };
        let mut ascent = HeavyBall::new(3, 1, step, 0.9, true);
        let b1 = ascent.advance(&b, &g0, 0).unwrap();
        let expected = orthonormalize(g([1.0, 0.5 * 0.6, 0.5 * 0.8]).as_ref()).unwrap();
        assert!(norm((&b1 - &expected).as_ref()) < 1e-15);
        let b2 = ascent.advance(&b1, &g1, 1).unwrap();
        let v = [0.0, 0.9 * 0.6, 0.9 * 0.8 + 1.0];
        let moved = Mat::from_fn(3, 1, |i, _| b1[(i, 0)] + 0.25 * v[i]);
        assert!(norm((b2 - orthonormalize(moved.as_ref()).unwrap()).as_ref()) < 1e-15);
    }

    #[test]
    fn a_zero_gradient_at_rest_stays() {
        let b = Mat::from_fn(3, 2, |i, j| f64::from(i == j));
        let step = StepSize { initial: 0.5, decay: 0.0 };
        let stayed = HeavyBall::new(3, 2, step, 0.9, true).advance(&b, &Mat::zeros(3, 2), 0).unwrap();
        assert_eq!(stayed, b);
    }

    #[test]
    fn overflow_is_reported() {
        let b = Mat::from_fn(2, 1, |i, _| f64::from(i == 0));
        let step = StepSize { initial: 0.5, decay: 0.0 };
        let mut ascent = HeavyBall::new(2, 1, step, 0.0, true);
        assert!(ascent.advance(&b, &Mat::from_fn(2, 1, |_, _| f64::NAN), 0).is_none());
    }
}
