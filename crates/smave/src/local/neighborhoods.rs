//! The neighborhoods of a set of anchors: for each, rows and weights that sum to one.
//!
//! Rows are kept as u32, 4 bytes a neighbor: with k = n^(2/3) and thousands of
//! anchors they are the largest thing a fit holds after X. The neighbors of an anchor
//! are listed in increasing order of rows: memory is then read in order, and those
//! within a block of rows lie together.

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
    /// Rows are thought of in blocks of this many.
    rows_per_block: usize,
    /// For each anchor, where in its list each block begins, and the end.
    blocks: Vec<u32>,
    n_blocks: usize,
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
            let mut sorter = RowSorter::new(points.len());
            for (a, &anchor) in anchors.iter().enumerate() {
                index.nearest(points.point(anchor), k, &mut found);
                let range = a * k..(a + 1) * k;
                if weights.is_empty() {
                    sorter.sort_into(&found, &mut rows[range]);
                } else {
                    found.sort_unstable_by_key(|neighbor| neighbor.row);
                    for (row, neighbor) in rows[range.clone()].iter_mut().zip(&found) {
                        *row = neighbor.row;
                    }
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
        Self::assemble((0..=anchors.len()).map(|a| a * k).collect(), rows, weights, points.len())
    }

    /// Any neighborhoods: for each anchor, rows and nonnegative weights, which are made to sum to one.
    ///
    /// # Errors
    /// An anchor without neighbors, or weights that are negative, not finite or all zero.
    pub fn from_lists(lists: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Result<Self> {
        let (mut offsets, mut rows, mut weights) = (vec![0], Vec::new(), Vec::new());
        for (anchor, mut list) in lists.into_iter().enumerate() {
            list.sort_by_key(|(row, _)| *row);
            let total: f64 = list.iter().map(|(_, w)| w).sum();
            if !(total > 0.0 && total.is_finite() && list.iter().all(|(_, w)| *w >= 0.0)) {
                return Err(Error::InvalidParameter {
                    name: "weights",
                    value: format!("a sum of {total} for anchor {anchor}"),
                    requirement: "nonnegative and finite, with a positive sum".into(),
                });
            }
            rows.extend(list.iter().map(|(row, _)| row));
            weights.extend(list.iter().map(|(_, w)| w / total));
            offsets.push(rows.len());
        }
        let n_rows = rows.iter().max().map_or(0, |&row| row as usize + 1);
        Ok(Self::assemble(offsets, rows, weights, n_rows))
    }

    /// Adds the places of the blocks. Enough blocks to share out among threads, and small enough
    /// to stay in the cache.
    fn assemble(offsets: Vec<usize>, rows: Vec<u32>, weights: Vec<f64>, n_rows: usize) -> Self {
        let rows_per_block = n_rows.div_ceil(64).max(512);
        let n_blocks = n_rows.div_ceil(rows_per_block);
        let begins =
            |list: &[u32], block: usize| list.partition_point(|&row| (row as usize) < block * rows_per_block);
        let blocks = offsets
            .par_windows(2)
            .flat_map_iter(|ends| {
                let list = &rows[ends[0]..ends[1]];
                (0..=n_blocks).map(move |block| begins(list, block) as u32)
            })
            .collect();
        Self { offsets, rows, weights, rows_per_block, blocks, n_blocks }
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

    /// The size of the blocks in which [`Neighborhoods::in_block`] finds rows.
    pub(crate) fn rows_per_block(&self) -> usize {
        self.rows_per_block
    }

    /// The neighbors of the a-th anchor among the rows of a block. Weights are those of the whole list.
    #[inline(always)]
    pub(crate) fn in_block(&self, a: usize, block: usize) -> Neighborhood<'_> {
        if block >= self.n_blocks {
            return Neighborhood { rows: &[], weights: None };
        }
        let places = &self.blocks[a * (self.n_blocks + 1) + block..][..2];
        let begin = self.offsets[a];
        let range = begin + places[0] as usize..begin + places[1] as usize;
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

/// Puts rows into increasing order.
struct RowSorter {
    /// One bit per row, all zero between calls.
    bits: Vec<u64>,
}

impl RowSorter {
    fn new(n_rows: usize) -> Self {
        Self { bits: vec![0; n_rows.div_ceil(64)] }
    }

    /// Writes the rows of distinct `neighbors` in increasing order. Setting bits and reading them off
    /// is several times faster than sorting, unless there are few neighbors among very many rows.
    fn sort_into(&mut self, neighbors: &[Neighbor], rows: &mut [u32]) {
        if neighbors.len() < self.bits.len() / 16 {
            for (row, neighbor) in rows.iter_mut().zip(neighbors) {
                *row = neighbor.row;
            }
            rows.sort_unstable();
            return;
        }
        for neighbor in neighbors {
            self.bits[neighbor.row as usize / 64] |= 1 << (neighbor.row % 64);
        }
        let mut rows = rows.iter_mut();
        for (word, bits) in self.bits.iter_mut().enumerate() {
            while *bits != 0 {
                let bit = bits.trailing_zeros();
                if let Some(row) = rows.next() {
                    *row = word as u32 * 64 + bit;
                }
                *bits &= *bits - 1;
            }
        }
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
    fn rows_come_in_increasing_order() {
        // Few among many rows, and many among few: both ways of sorting.
        for (n, k) in [(5000usize, 4usize), (300, 40)] {
            let points = line(&(0..n).map(|i| ((i * 7919) % n) as f64).collect::<Vec<_>>());
            let index = build_index(&points, k);
            for weighting in [Weighting::Uniform, Weighting::Epanechnikov] {
                let near = Neighborhoods::find(&*index, &points, &[5, 77, 200], k, weighting);
                for a in 0..3 {
                    assert_eq!(near.get(a).rows.len(), k);
                    assert!(near.get(a).rows.is_sorted() && near.get(a).rows[0] != near.get(a).rows[1]);
                    let blocks = n.div_ceil(near.rows_per_block());
                    let in_blocks = (0..=blocks).flat_map(|block| near.in_block(a, block).rows.to_vec());
                    assert_eq!(in_blocks.collect::<Vec<_>>(), near.get(a).rows);
                }
            }
        }
    }

    #[test]
    fn given_weights_are_normalized_or_refused() {
        let near = Neighborhoods::from_lists([vec![(2, 1.0), (0, 3.0)], vec![(1, 2.0)]]).unwrap();
        assert_eq!((near.len(), near.row_bound()), (2, 3));
        assert_eq!((near.get(0).rows, near.get(0).weights.unwrap()), (&[0, 2][..], &[0.75, 0.25][..]));
        for bad in [vec![], vec![(0, -1.0), (1, 2.0)], vec![(0, 0.0)], vec![(0, f64::NAN)]] {
            assert!(Neighborhoods::from_lists([bad]).is_err());
        }
    }
}
