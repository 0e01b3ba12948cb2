//! Random numbers that are the same each time: a report made twice is the same report.

/// The splitmix64 generator: one addition and three mixes.
pub struct Random(u64);

impl Random {
    /// The one sequence there is.
    pub fn new() -> Self {
        Self(0x5eed)
    }

    /// A number below `n`, which is not 0. The bias of the remainder is n in 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// The numbers below `n` in random order.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_every_number_once_and_is_not_the_first() {
        let order = Random::new().order(100);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_ne!(order, sorted);
        assert!(Random::new().order(0).is_empty());
    }
}
