//! $\alpha_t = \alpha_0 / (1 + \gamma t)$.

/// A step size that decays with the iteration, or not when `decay` is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepSize {
    /// α₀, the first step.
    pub initial: f64,
    /// γ, the decay.
    pub decay: f64,
}

impl StepSize {
    /// α_t.
    pub fn at(&self, iteration: usize) -> f64 {
        self.initial / (1.0 + self.decay * iteration as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_decay_as_published() {
        let step = StepSize { initial: 0.2, decay: 0.02 };
        assert_eq!((step.at(0), step.at(50)), (0.2, 0.1));
        assert_eq!(StepSize { initial: 0.2, decay: 0.0 }.at(99), 0.2);
    }
}
