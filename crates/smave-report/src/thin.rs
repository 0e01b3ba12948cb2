//! Fewer points without hiding what stands out.
//!
//! Beyond some thousands, points hide each other and a page grows slow. Of the rows, those that are extreme in any of
//! the quantities given are kept, and of the rest a random part, the same each time. Cost: n log n per quantity.

use std::cmp::Ordering;

use smave::rng::derive_seed;

/// A report made twice is the same report.
const SEED: u64 = 0;

/// Extreme rows kept at each end of each quantity.
const EXTREMES: usize = 50;

/// At most `limit` of n rows, in increasing order, with the most extreme of each quantity among them.
pub fn thin(n: usize, quantities: &[&[f64]], limit: usize) -> Vec<usize> {
    if n <= limit {
        return (0..n).collect();
    }
    // The extremes must leave room for the others, from which the shape of the cloud is seen.
    let each = (limit / (4 * quantities.len().max(1))).clamp(1, EXTREMES);
    let mut kept = vec![false; n];
    let mut order: Vec<usize> = (0..n).collect();
    for values in quantities {
        let by_value = |&a: &usize, &b: &usize| -> Ordering { values[a].total_cmp(&values[b]) };
        order.sort_unstable_by(by_value);
        order[..each].iter().chain(&order[n - each..]).for_each(|&row| kept[row] = true);
    }
    let n_kept = kept.iter().filter(|kept| **kept).count();
    let rest: Vec<usize> = (0..n).filter(|&row| !kept[row]).collect();
    for place in sample(rest.len(), limit.saturating_sub(n_kept)) {
        kept[rest[place]] = true;
    }
    (0..n).filter(|&row| kept[row]).collect()
}

/// `count` of n places at random: each run of places as long as the next gives one, so that the sample is even over
/// the order of the rows and yet cannot fall in step with it.
fn sample(n: usize, count: usize) -> Vec<usize> {
    let count = count.min(n);
    (0..count)
        .map(|i| {
            let (from, to) = (i * n / count, (i + 1) * n / count);
            // The bias of the remainder is the length of a run in 2^64.
            from + (derive_seed(SEED, &[i as u64]) % (to - from).max(1) as u64) as usize
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_stay_and_the_count_is_kept() {
        let n = 5000;
        let mut a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.3).cos()).collect();
        (a[1234], a[77]) = (50.0, -50.0);
        let rows = thin(n, &[&a, &b], 400);
        assert_eq!(rows.len(), 400);
        assert!(rows.windows(2).all(|w| w[0] < w[1]));
        assert!(rows.contains(&1234) && rows.contains(&77));
        let largest = (0..n).max_by(|&i, &j| b[i].total_cmp(&b[j])).unwrap();
        assert!(rows.contains(&largest));
        assert_eq!(rows, thin(n, &[&a, &b], 400));
    }

    #[test]
    fn few_rows_are_all_shown_and_the_rest_is_spread_evenly() {
        assert_eq!(thin(5, &[&[1.0; 5]], 10), [0, 1, 2, 3, 4]);
        let rows = thin(10_000, &[], 100);
        assert_eq!(rows.len(), 100);
        assert!(rows.windows(2).all(|w| w[1] - w[0] < 200));
        assert_eq!(thin(10, &[&[0.0; 10], &[0.0; 10]], 3).len(), 3);
    }
}
