//! Gaussian kernel weights, without those that cannot matter.
//!
//! $w_{ij} \propto \exp(-r_{ij}^2 / 2 h^2)$ for all pairs would fill an n x n matrix. A weight is
//! dropped when it is less than [`CUT`] times the largest weight that any row but the anchor itself
//! has: in few dimensions that leaves what lies within 6.4 bandwidths, and in many dimensions,
//! where no row is near, the few that are nearest. All that is dropped together weighs less
//! than n [`CUT`] of what is kept.

use rayon::prelude::*;

use crate::error::Result;
use crate::linalg::Points;
use crate::local::index::{NeighborIndex, keep_nearest};
use crate::local::neighborhoods::Neighborhoods;

/// Weights below this share of the largest are dropped.
pub const CUT: f64 = 1e-9;

/// How wide the kernel is at an anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    /// h.
    pub base: f64,
    /// Widened, where rows are sparse, to the distance of the neighbor of this rank.
    pub reach: Option<usize>,
}

/// The kernel-weighted neighborhoods of some rows of `points`.
pub(crate) fn gaussian_neighborhoods(
    index: &dyn NeighborIndex,
    points: &Points,
    anchors: &[usize],
    bandwidth: Bandwidth,
) -> Result<Neighborhoods> {
    let list = |&anchor: &usize| {
        let query = points.point(anchor);
        let mut found = Vec::new();
        // The anchor is its own nearest neighbor: one more than the rank asked for.
        index.nearest(query, bandwidth.reach.unwrap_or(1) + 1, &mut found);
        let reach2 = found.iter().map(|n| n.distance2).fold(0.0, f64::max);
        let h2 = match bandwidth.reach {
            Some(_) => (bandwidth.base * bandwidth.base).max(reach2),
            None => bandwidth.base * bandwidth.base,
        };
        keep_nearest(&mut found, 2);
        let nearest2 = found.iter().map(|n| n.distance2).fold(0.0, f64::max);
        index.within(query, nearest2 - 2.0 * h2 * CUT.ln(), &mut found);
        let weight = |distance2: f64| {
            // No bandwidth, no distance: what lies at the anchor counts.
            if distance2 == 0.0 { 1.0 } else { (-0.5 * distance2 / h2).exp() }
        };
        found.iter().map(|n| (n.row, weight(n.distance2))).filter(|(_, w)| *w > 0.0).collect()
    };
    let lists: Vec<Vec<(u32, f64)>> = anchors.par_iter().map(list).collect();
    Neighborhoods::from_lists(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::index::build_index;

    #[test]
    fn weights_are_gaussian_and_only_negligible_ones_are_missing() {
        let n = 400;
        let values: Vec<f64> = (0..2 * n).map(|i| 2.0 * ((i * i) as f64).sin()).collect();
        let points = Points::from_values(values, 2).unwrap();
        let index = build_index(&points, 20);
        for (base, reach) in [(0.3, None), (0.05, Some(30))] {
            let hoods =
                gaussian_neighborhoods(&*index, &points, &[7, 100], Bandwidth { base, reach }).unwrap();
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
