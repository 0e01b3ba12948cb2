//! One seed, one numbered stream of random numbers per use.
//!
//! ChaCha has 2^64 independent streams per key. Each use of randomness (the
//! random start, the batch of iteration t, the rows of chunk c) has a number
//! of its own, so no draw depends on how many were made elsewhere, nor on
//! which thread asked first.

use chacha20::ChaCha8Rng;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};

/// The generator used throughout.
pub type Rng = ChaCha8Rng;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The random start of a fit.
    Start = 0,
    /// The anchors of one iteration.
    Batch = 1,
    /// The anchors at which the final slopes are averaged.
    Slopes = 2,
    /// The true basis of a simulated data set.
    TrueBasis = 3,
    /// The rows of a simulated data set.
    Rows = 4,
    /// The anchors of one step of a walk through dimensions.
    Walk = 5,
    /// The folds of one repetition of cross-validation.
    Folds = 6,
    /// Rows set aside: those that starts are raced on, anchors of a refinement.
    Subset = 7,
    /// The rows of one bootstrap sample.
    Bootstrap = 8,
    /// Covariates that are nothing but noise.
    Noise = 9,
    /// The shuffles of one permutation test.
    Permutation = 10,
}

/// The stream for the `index`-th use of `purpose` under `seed`.
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Rng {
    debug_assert!(index < 1 << 48);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((purpose as u64) << 48 | index);
    rng
}

/// Some of n rows at random, all if there are no more, in increasing order.
pub(crate) fn sorted_sample(rng: &mut Rng, n: usize, most: usize) -> Vec<usize> {
    let mut rows = sample(rng, n, most.min(n)).into_vec();
    rows.sort_unstable();
    rows
}

/// n of n rows with replacement, in increasing order: the `index`-th bootstrap sample under `seed`.
pub(crate) fn bootstrap_rows(n: usize, seed: u64, index: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::Bootstrap, index);
    let mut rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
    rows.sort_unstable();
    rows
}

/// A seed for a named part of a larger experiment: mixes `parts` into `seed`,
/// so that neighboring experiments get unrelated streams.
pub fn derive_seed(seed: u64, parts: &[u64]) -> u64 {
    // The finalizer of splitmix64, absorbed part by part.
    parts.iter().fold(seed, |state, &part| {
        let mut z = state ^ part.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD134_2543_DE82_EF95);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(draw(7, Purpose::Batch, 3), draw(7, Purpose::Batch, 3));
        assert_ne!(draw(7, Purpose::Batch, 3), draw(7, Purpose::Batch, 4));
        assert_ne!(draw(7, Purpose::Batch, 3), draw(7, Purpose::Start, 3));
        assert_ne!(draw(7, Purpose::Batch, 3), draw(8, Purpose::Batch, 3));
    }

    #[test]
    fn derived_seeds_depend_on_every_part_and_its_place() {
        let seeds = [
            derive_seed(0, &[1, 2]),
            derive_seed(0, &[2, 1]),
            derive_seed(0, &[1, 3]),
            derive_seed(1, &[1, 2]),
            derive_seed(0, &[1]),
        ];
        for (i, a) in seeds.iter().enumerate() {
            for b in &seeds[i + 1..] {
                assert_ne!(a, b);
            }
        }
    }
}
