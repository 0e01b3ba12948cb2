//! Gaussian kernel weights, without those that cannot matter.
//!
//! $w_{ij} \propto \exp(-r_{ij}^2 / 2 h^2)$ for all pairs would fill an n x n matrix. A weight is
//! dropped when it is less than [`CUT`] times the largest weight that any row but the anchor itself
//! has: in few dimensions that leaves what lies within 6.4 bandwidths, and in many dimensions,
//! where no row is near, the few that are nearest. All that is dropped together weighs less
//! than n [`CUT`] of what is kept.

use crate::data::dataset::count_rows;
use crate::linalg::Points;
use crate::local::neighborhoods::{Ball, Neighborhoods};

/// Weights below this share of the largest are dropped.
pub const CUT: f64 = 1e-9;

/// How wide the kernel is at an anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    /// h.
    pub base: f64,
    /// Widened, where rows are sparse, to the distance of the neighbor of this rank.
    pub reach: Option<usize>,
    /// Weights below this share of the largest are dropped: [`CUT`], more for a first guess, 0 for an exact test.
    pub cut: f64,
}

/// The kernel-weighted neighborhoods of some rows of `points`.
pub(crate) fn gaussian_neighborhoods(
    points: &Points,
    anchors: &[usize],
    bandwidth: Bandwidth,
    counts: Option<&[f64]>,
) -> Neighborhoods {
    // An anchor is its own nearest neighbor: one more than the rank asked for.
    let rank = bandwidth.reach.unwrap_or(1).min(count_rows(counts, points.len()).max(2) - 1);
    let ball = |distances2: &[f64], space: &mut Vec<f64>| {
        let (nearest2, reach2) = match counts {
            Some(counts) => (ranked(distances2, counts, 1), ranked(distances2, counts, rank)),
            None => nearest_and_ranked(distances2, rank, space),
        };
        let bandwidth2 = match bandwidth.reach {
            Some(_) => (bandwidth.base * bandwidth.base).max(reach2),
            None => bandwidth.base * bandwidth.base,
        };
        Ball { radius2: nearest2 - 2.0 * bandwidth2 * bandwidth.cut.ln(), bandwidth2 }
    };
    Neighborhoods::gaussian(points, anchors, ball, counts)
}

/// The smallest value with so many before it, each counted as it should be.
fn ranked(values: &[f64], counts: &[f64], rank: usize) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| counts[i] > 0.0).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut before = 0.0;
    for &i in &order {
        before += counts[i];
        if before > rank as f64 {
            return values[i];
        }
    }
    order.last().map_or(0.0, |&i| values[i])
}

/// As `f64::min`, without its care for NaN, which would cost more than the comparison.
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// As `f64::max`, likewise.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The second smallest value, and the one with so many before it.
fn nearest_and_ranked(values: &[f64], rank: usize, space: &mut Vec<f64>) -> (f64, f64) {
    if rank <= 1 {
        // Several chains of comparisons at a time, which would otherwise wait for each other.
        let (mut smallest, mut second) = ([f64::INFINITY; 8], [f64::INFINITY; 8]);
        let (chunks, rest) = values.as_chunks::<8>();
        for chunk in chunks {
            for lane in 0..8 {
                second[lane] = smaller(second[lane], larger(smallest[lane], chunk[lane]));
                smallest[lane] = smaller(smallest[lane], chunk[lane]);
            }
        }
        let mut two = [f64::INFINITY; 2];
        for &v in smallest.iter().chain(&second).chain(rest) {
            two = [smaller(two[0], v), smaller(two[1], larger(two[0], v))];
        }
        let second = if two[1].is_finite() { two[1] } else { two[0] };
        return (second, second);
    }
    space.clear();
    space.extend_from_slice(values);
    let (nearer, ranked, _) = space.select_nth_unstable_by(rank, f64::total_cmp);
    let ranked = *ranked;
    (nearest_and_ranked(nearer, 1, &mut Vec::new()).0, ranked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_gaussian_and_only_negligible_ones_are_missing() {
        let n = 400;
        let values: Vec<f64> = (0..2 * n).map(|i| 2.0 * ((i * i) as f64).sin()).collect();
        let points = Points::from_values(values, 2).unwrap();
        for (base, reach) in [(0.3, None), (0.05, Some(30))] {
            let hoods = gaussian_neighborhoods(&points, &[7, 100], Bandwidth { base, reach, cut: CUT }, None);
            for (a, anchor) in [7usize, 100].into_iter().enumerate() {
                let d2 = |i: usize| crate::linalg::squared_distance(points.point(i), points.point(anchor));
                let mut sorted: Vec<f64> = (0..n).map(d2).collect();
                sorted.sort_by(f64::total_cmp);
                let h2 = reach.map_or(base * base, |r| sorted[r].max(base * base));
                let total: f64 = (0..n).map(|i| (-0.5 * d2(i) / h2).exp()).sum();
                let hood = hoods.get(a);
                let mut kept = 0.0;
                for (&row, w) in hood.rows.iter().zip(hood.weights.unwrap()) {
                    let exact = (-0.5 * d2(row as usize) / h2).exp() / total;
                    assert!((w - exact).abs() < 1e-6 * exact);
                    kept += exact;
                }
                assert!(1.0 - kept < n as f64 * CUT);
                assert!(hood.rows.len() < n || reach.is_some());
            }
        }
    }
}
