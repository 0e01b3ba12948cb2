//! The neighborhoods of a set of anchors: for each, rows and weights that sum to one.
//!
//! Rows are kept as u32, 4 bytes a neighbor: with k = n^(2/3) and thousands of
//! anchors they are the largest thing a fit holds after X.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::linalg::Points;
use crate::local::index::{Neighbor, NeighborIndex};

/// How much a neighbor counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Weighting {
    /// 1/k for each of the k nearest (the paper).
    #[default]
    Uniform,
    /// Proportional to $1 - (r / h)^2$, h just beyond the k-th neighbor.
    Epanechnikov,
}

/// Rows and weights of the neighbors of each anchor.
#[derive(Clone, Debug)]
pub struct Neighborhoods {
    /// Neighbors of anchor a at `offsets[a]..offsets[a + 1]`.
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// Empty when all weights of an anchor are equal.
    weights: Vec<f64>,
}

/// The neighbors of one anchor.
#[derive(Clone, Copy, Debug)]
pub struct Neighborhood<'a> {
    /// Row numbers.
    pub rows: &'a [u32],
    /// Weights that sum to one; `None` means equal weights.
    pub weights: Option<&'a [f64]>,
}

/// Anchors looked up by one task.
const ANCHORS_PER_TASK: usize = 16;

impl Neighborhoods {
    /// The k nearest neighbors (the anchor among them) of each anchor, a row of `points`.
    pub fn find(
        index: &dyn NeighborIndex,
        points: &Points,
        anchors: &[usize],
        k: usize,
        weighting: Weighting,
    ) -> Self {
        let k = k.min(points.len());
        let mut rows = vec![0u32; anchors.len() * k];
        let mut weights = match weighting {
            Weighting::Uniform => Vec::new(),
            Weighting::Epanechnikov => vec![0.0; anchors.len() * k],
        };
        let search = |anchors: &[usize], rows: &mut [u32], weights: &mut [f64]| {
            let mut found = Vec::new();
            for (a, &anchor) in anchors.iter().enumerate() {
                index.nearest(points.point(anchor), k, &mut found);
                let range = a * k..(a + 1) * k;
                for (row, neighbor) in rows[range.clone()].iter_mut().zip(&found) {
                    *row = neighbor.row;
                }
                if !weights.is_empty() {
                    epanechnikov_into(&found, &mut weights[range]);
                }
            }
        };
        let tasks =
            anchors.par_chunks(ANCHORS_PER_TASK).zip(rows.par_chunks_mut(ANCHORS_PER_TASK * k.max(1)));
        if weights.is_empty() {
            tasks.for_each(|(anchors, rows)| search(anchors, rows, &mut []));
        } else {
            tasks
                .zip(weights.par_chunks_mut(ANCHORS_PER_TASK * k.max(1)))
                .for_each(|((anchors, rows), weights)| search(anchors, rows, weights));
        }
        Self { offsets: (0..=anchors.len()).map(|a| a * k).collect(), rows, weights }
    }

    /// Any neighborhoods: for each anchor, rows and nonnegative weights, which are made to sum to one.
    ///
    /// # Errors
    /// An anchor without neighbors, or weights that are negative, not finite or all zero.
    pub fn from_lists(lists: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Result<Self> {
        let mut all = Self { offsets: vec![0], rows: Vec::new(), weights: Vec::new() };
        for (anchor, list) in lists.into_iter().enumerate() {
            let total: f64 = list.iter().map(|(_, w)| w).sum();
            if !(total > 0.0 && total.is_finite() && list.iter().all(|(_, w)| *w >= 0.0)) {
                return Err(Error::InvalidParameter {
                    name: "weights",
                    value: format!("a sum of {total} for anchor {anchor}"),
                    requirement: "nonnegative and finite, with a positive sum".into(),
                });
            }
            all.rows.extend(list.iter().map(|(row, _)| row));
            all.weights.extend(list.iter().map(|(_, w)| w / total));
            all.offsets.push(all.rows.len());
        }
        Ok(all)
    }

    /// Number of anchors.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no anchor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The neighbors of the a-th anchor.
    #[inline(always)]
    pub fn get(&self, a: usize) -> Neighborhood<'_> {
        let range = self.offsets[a]..self.offsets[a + 1];
        Neighborhood {
            rows: &self.rows[range.clone()],
            weights: (!self.weights.is_empty()).then(|| &self.weights[range]),
        }
    }

    /// One more than the largest row mentioned.
    pub(crate) fn row_bound(&self) -> usize {
        self.rows.iter().max().map_or(0, |&row| row as usize + 1)
    }
}

/// Writes weights that sum to one. The bandwidth lies a little beyond the
/// farthest neighbor, so that even that one counts; if all lie at the anchor,
/// they count the same.
fn epanechnikov_into(neighbors: &[Neighbor], weights: &mut [f64]) {
    let k = neighbors.len() as f64;
    let farthest2 = neighbors.iter().map(|n| n.distance2).fold(0.0, f64::max);
    let h2 = farthest2 * (1.0 + 1.0 / k);
    if h2 == 0.0 {
        weights.fill(1.0 / k);
        return;
    }
    let mut total = 0.0;
    for (w, neighbor) in weights.iter_mut().zip(neighbors) {
        *w = 1.0 - neighbor.distance2 / h2;
        total += *w;
    }
    weights.iter_mut().for_each(|w| *w /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::index::build_index;

    fn line(values: &[f64]) -> Points {
        Points::from_values(values.to_vec(), 1).unwrap()
    }

    #[test]
    fn epanechnikov_weights_follow_the_parabola() {
        let points = line(&[0.0, 1.0, 2.0, 10.0]);
        let index = build_index(&points, 3);
        let near = Neighborhoods::find(&*index, &points, &[0], 3, Weighting::Epanechnikov);
        let hood = near.get(0);
        let h2 = 4.0 * (1.0 + 1.0 / 3.0);
        let raw = |r2: f64| 1.0 - r2 / h2;
        let total = raw(0.0) + raw(1.0) + raw(4.0);
        for (row, w) in hood.rows.iter().zip(hood.weights.unwrap()) {
            let r = points.point(*row as usize)[0];
            assert!((w - raw(r * r) / total).abs() < 1e-15);
        }
    }

    #[test]
    fn coinciding_neighbors_count_the_same() {
        let points = line(&[5.0; 6]);
        let index = build_index(&points, 3);
        let near = Neighborhoods::find(&*index, &points, &[3], 4, Weighting::Epanechnikov);
        assert_eq!(near.get(0).weights.unwrap(), [0.25; 4]);
    }

    #[test]
    fn given_weights_are_normalized_or_refused() {
        let near = Neighborhoods::from_lists([vec![(2, 1.0), (0, 3.0)], vec![(1, 2.0)]]).unwrap();
        assert_eq!((near.len(), near.row_bound()), (2, 3));
        assert_eq!(near.get(0).weights.unwrap(), [0.25, 0.75]);
        for bad in [vec![], vec![(0, -1.0), (1, 2.0)], vec![(0, 0.0)], vec![(0, f64::NAN)]] {
            assert!(Neighborhoods::from_lists([bad]).is_err());
        }
    }
}
