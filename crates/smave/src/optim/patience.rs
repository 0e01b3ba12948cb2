//! When to stop renewing neighborhoods that the subspace only chases in a circle.

/// Counts renewals that turn the subspace hardly less than an earlier one did.
pub(crate) struct Patience {
    least: f64,
    waited: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { least: f64::INFINITY, waited: 0 }
    }
}

impl Patience {
    /// How many there have been in a row, after one by this angle.
    pub fn after(&mut self, angle: f64) -> usize {
        if angle < 0.9 * self.least {
            *self = Self { least: angle, waited: 0 };
        } else {
            self.waited += 1;
        }
        self.waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_counts_what_does_not_shrink() {
        let mut patience = Patience::default();
        assert_eq!([1.0, 0.5, 0.48, 0.6, 0.4].map(|angle| patience.after(angle)), [0, 0, 1, 2, 0]);
    }
}
