//! The neighborhoods of a set of anchors: for each, rows and weights that sum to one.
//!
//! Rows are kept as u32, 4 bytes a neighbor: with k = n^(2/3) and thousands of
//! anchors they are the largest thing a fit holds after X. The neighbors of an anchor
//! are listed in increasing order of rows: memory is then read in order, and those
//! within a block of rows lie together.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::linalg::Points;
use crate::local::index::{Neighbor, NeighborIndex, QUERIES_PER_TASK};
use crate::local::sweep::Sweep;
use crate::simd::Exponentials;

/// How much a neighbor counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
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
    /// Those of the first so many anchors, the next, and so on: each is what one task has found.
    segments: Vec<Segment>,
    len: usize,
    /// What each anchor counts; `None` if each counts once.
    anchor_weights: Option<Vec<f64>>,
    /// Rows are thought of in blocks of this many.
    rows_per_block: usize,
    n_blocks: usize,
}

/// The neighbors of [`QUERIES_PER_TASK`] anchors.
#[derive(Clone, Debug)]
struct Segment {
    /// Neighbors of anchor a at `offsets[a]..offsets[a + 1]`.
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// Empty when all weights of an anchor are equal.
    weights: Vec<f64>,
    /// For each anchor, where in its list each block begins, and the end.
    blocks: Vec<u32>,
}

impl Segment {
    fn new() -> Self {
        Self { offsets: vec![0], rows: Vec::new(), weights: Vec::new(), blocks: Vec::new() }
    }

    #[inline(always)]
    fn slice(&self, range: Range<usize>) -> Neighborhood<'_> {
        let weights = (!self.weights.is_empty()).then(|| &self.weights[range.clone()]);
        Neighborhood { rows: &self.rows[range], weights }
    }
}

/// The neighbors of one anchor.
#[derive(Clone, Copy, Debug)]
pub struct Neighborhood<'a> {
    /// Row numbers.
    pub rows: &'a [u32],
    /// Weights that sum to one; `None` means equal weights.
    pub weights: Option<&'a [f64]>,
}

impl Neighborhoods {
    /// The k nearest neighbors (the anchor among them) of each anchor, a row of `points`. With `counts`, a row is as
    /// many neighbors as it counts, the last one in part if need be, and anchors count likewise.
    pub fn find(
        index: &dyn NeighborIndex,
        points: &Points,
        anchors: &[usize],
        k: usize,
        weighting: Weighting,
        counts: Option<&[f64]>,
    ) -> Self {
        if let Some(counts) = counts {
            return Self::find_counted(index, points, anchors, k, weighting, counts);
        }
        let k = k.min(points.len());
        Self::from_tasks(anchors, points.len(), |anchors, sorter, segment| {
            let queries: Vec<&[f64]> = anchors.iter().map(|&anchor| points.point(anchor)).collect();
            segment.rows.resize(anchors.len() * k, 0);
            segment.offsets.extend((1..=anchors.len()).map(|a| a * k));
            if weighting == Weighting::Epanechnikov {
                segment.weights.resize(anchors.len() * k, 0.0);
            }
            let Segment { rows, weights, .. } = segment;
            index.nearest_each(&queries, k, &mut |a, found| {
                let range = a * k..(a + 1) * k;
                sorter.sort_into(found, &mut rows[range.clone()]);
                if weighting == Weighting::Epanechnikov {
                    sorter.distances_into(found, &rows[range.clone()], &mut weights[range.clone()]);
                    epanechnikov_in_place(&mut weights[range]);
                }
            });
        })
    }

    /// [`Neighborhoods::find`] with counts.
    fn find_counted(
        index: &dyn NeighborIndex,
        points: &Points,
        anchors: &[usize],
        k: usize,
        weighting: Weighting,
        counts: &[f64],
    ) -> Self {
        let nearest = NearestCounted::new(index, counts, k);
        let found = Self::from_tasks(anchors, points.len(), |anchors, _, segment| {
            let (mut found, mut weights) = (Vec::new(), Vec::new());
            for &anchor in anchors {
                nearest.find(points.point(anchor), weighting, &mut found, &mut weights);
                let mut list: Vec<(u32, f64)> =
                    found.iter().map(|neighbor| neighbor.row).zip(weights.iter().copied()).collect();
                list.sort_unstable_by_key(|(row, _)| *row);
                segment.rows.extend(list.iter().map(|(row, _)| row));
                segment.weights.extend(list.iter().map(|(_, weight)| weight));
                segment.offsets.push(segment.rows.len());
            }
        });
        found.counting(anchors, Some(counts))
    }

    /// The same with anchors counted.
    fn counting(mut self, anchors: &[usize], counts: Option<&[f64]>) -> Self {
        self.anchor_weights = counts.map(|counts| anchors.iter().map(|&anchor| counts[anchor]).collect());
        self
    }

    /// What the a-th anchor counts.
    #[inline(always)]
    pub fn anchor_weight(&self, a: usize) -> f64 {
        self.anchor_weights.as_ref().map_or(1.0, |weights| weights[a])
    }

    /// What each anchor counts; `None` if each counts once.
    pub fn anchor_weights(&self) -> Option<&[f64]> {
        self.anchor_weights.as_deref()
    }

    /// What all anchors count together.
    pub fn total_weight(&self) -> f64 {
        self.anchor_weights.as_ref().map_or(self.len as f64, |weights| weights.iter().sum())
    }

    /// Gaussian weights on all rows within a ball around each anchor; `ball(distances2, space)` finds it
    /// from the squared distances of all rows.
    pub(crate) fn gaussian(
        points: &Points,
        anchors: &[usize],
        ball: impl Fn(&[f64], &mut Vec<f64>) -> Ball + Sync,
        counts: Option<&[f64]>,
    ) -> Self {
        let sweep = Sweep::new(points);
        let found = Self::from_tasks(anchors, points.len(), |anchors, _, segment| {
            let queries: Vec<&[f64]> = anchors.iter().map(|&anchor| points.point(anchor)).collect();
            let mut space = Vec::new();
            sweep.each(&queries, &mut |distances2| {
                let Ball { radius2, bandwidth2 } = ball(distances2, &mut space);
                let begin = segment.rows.len();
                let mut end = begin;
                segment.rows.resize(begin + distances2.len(), 0);
                segment.weights.resize(begin + distances2.len(), 0.0);
                // Note every row and move on only past those inside: no branch to mispredict.
                for (row, &distance2) in distances2.iter().enumerate() {
                    segment.rows[end] = row as u32;
                    segment.weights[end] = distance2;
                    end += usize::from(distance2 <= radius2);
                }
                segment.rows.truncate(end);
                segment.weights.truncate(end);
                let Segment { rows, weights, .. } = &mut *segment;
                gaussian_in_place(&mut weights[begin..], bandwidth2);
                if let Some(counts) = counts {
                    let weights = &mut weights[begin..];
                    weights.iter_mut().zip(&rows[begin..]).for_each(|(w, row)| *w *= counts[*row as usize]);
                    normalize(weights);
                }
                segment.offsets.push(end);
                if begin == 0 {
                    // The others will have about as many.
                    let more = (anchors.len() - 1) * (end + end / 8) + distances2.len();
                    segment.rows.reserve(more);
                    segment.weights.reserve(more);
                }
            });
        });
        found.counting(anchors, counts)
    }

    /// Any neighborhoods: for each anchor, rows and nonnegative weights, which are made to sum to one.
    ///
    /// # Errors
    /// An anchor without neighbors, or weights that are negative, not finite or all zero.
    pub fn from_lists(lists: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Result<Self> {
        let mut lists: Vec<Vec<(u32, f64)>> = lists.into_iter().collect();
        for (anchor, list) in lists.iter_mut().enumerate() {
            list.sort_by_key(|(row, _)| *row);
            let total: f64 = list.iter().map(|(_, w)| w).sum();
            if !(total > 0.0 && total.is_finite() && list.iter().all(|(_, w)| *w >= 0.0)) {
                return Err(Error::InvalidParameter {
                    name: "weights",
                    value: format!("a sum of {total} for anchor {anchor}"),
                    requirement: "nonnegative and finite, with a positive sum".into(),
                });
            }
            list.iter_mut().for_each(|(_, w)| *w /= total);
        }
        let n_rows = lists.iter().flatten().map(|(row, _)| *row as usize + 1).max().unwrap_or(0);
        let anchors: Vec<usize> = (0..lists.len()).collect();
        Ok(Self::from_tasks(&anchors, n_rows, |anchors, _, segment| {
            for &anchor in anchors {
                segment.rows.extend(lists[anchor].iter().map(|(row, _)| row));
                segment.weights.extend(lists[anchor].iter().map(|(_, w)| w));
                segment.offsets.push(segment.rows.len());
            }
        }))
    }

    /// Lets `task` fill a segment for some anchors at a time, and adds the places of the blocks: enough
    /// blocks to share out among threads, and small enough to stay in the cache.
    fn from_tasks(
        anchors: &[usize],
        n_rows: usize,
        task: impl Fn(&[usize], &mut RowSorter, &mut Segment) + Sync,
    ) -> Self {
        let rows_per_block = n_rows.div_ceil(64).max(512);
        let n_blocks = n_rows.div_ceil(rows_per_block);
        let segments = anchors
            .par_chunks(QUERIES_PER_TASK)
            .map_init(
                || RowSorter::new(n_rows),
                |sorter, anchors| {
                    let mut segment = Segment::new();
                    task(anchors, sorter, &mut segment);
                    for ends in segment.offsets.windows(2) {
                        let list = &segment.rows[ends[0]..ends[1]];
                        let begins =
                            |block| list.partition_point(|&row| (row as usize) < block * rows_per_block);
                        segment.blocks.extend((0..=n_blocks).map(|block| begins(block) as u32));
                    }
                    segment
                },
            )
            .collect();
        Self { segments, len: anchors.len(), anchor_weights: None, rows_per_block, n_blocks }
    }

    /// Number of anchors.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is no anchor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The neighbors of the a-th anchor.
    #[inline(always)]
    pub fn get(&self, a: usize) -> Neighborhood<'_> {
        let (segment, a) = (&self.segments[a / QUERIES_PER_TASK], a % QUERIES_PER_TASK);
        segment.slice(segment.offsets[a]..segment.offsets[a + 1])
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
        let (segment, a) = (&self.segments[a / QUERIES_PER_TASK], a % QUERIES_PER_TASK);
        let places = &segment.blocks[a * (self.n_blocks + 1) + block..][..2];
        let begin = segment.offsets[a];
        segment.slice(begin + places[0] as usize..begin + places[1] as usize)
    }

    /// One more than the largest row mentioned.
    pub(crate) fn row_bound(&self) -> usize {
        self.segments.iter().flat_map(|s| &s.rows).max().map_or(0, |&row| row as usize + 1)
    }
}

/// The nearest rows that together count as k.
pub(crate) struct NearestCounted<'a> {
    index: &'a dyn NeighborIndex,
    counts: &'a [f64],
    k: f64,
    /// How many are likely to be enough.
    first_guess: usize,
}

impl<'a> NearestCounted<'a> {
    pub fn new(index: &'a dyn NeighborIndex, counts: &'a [f64], k: usize) -> Self {
        let (n, total) = (counts.len(), counts.iter().sum::<f64>());
        let k = (k as f64).min(total);
        // A few more than on average have to be looked at.
        let first_guess = ((1.2 * k * n as f64 / total) as usize + 8).min(n);
        Self { index, counts, k, first_guess }
    }

    /// Leaves in `found` the rows that take part, nearest first, and in `weights` their weights, which sum to one. The
    /// last takes part as far as it is needed.
    pub fn find(
        &self,
        query: &[f64],
        weighting: Weighting,
        found: &mut Vec<Neighbor>,
        weights: &mut Vec<f64>,
    ) {
        let mut asked = self.first_guess;
        loop {
            self.index.nearest(query, asked, found);
            let counted: f64 = found.iter().map(|neighbor| self.counts[neighbor.row as usize]).sum();
            if counted >= self.k || asked == self.counts.len() {
                break;
            }
            asked = (2 * asked).min(self.counts.len());
        }
        found.sort_unstable_by(|a, b| a.distance2.total_cmp(&b.distance2).then(a.row.cmp(&b.row)));
        let mut missing = self.k;
        weights.clear();
        found.retain(|neighbor| {
            let count = self.counts[neighbor.row as usize].min(missing);
            if count > 0.0 {
                weights.push(count);
                missing -= count;
            }
            count > 0.0
        });
        let h2 = bandwidth2(found.last().map_or(0.0, |farthest| farthest.distance2), self.k - missing);
        if weighting == Weighting::Epanechnikov && h2 > 0.0 {
            weights.iter_mut().zip(found).for_each(|(w, neighbor)| *w *= 1.0 - neighbor.distance2 / h2);
        }
        normalize(weights);
    }
}

/// Puts rows into increasing order.
struct RowSorter {
    /// One bit per row, all zero between calls.
    bits: Vec<u64>,
    /// Space for one number per row.
    by_row: Vec<f64>,
}

impl RowSorter {
    fn new(n_rows: usize) -> Self {
        Self { bits: vec![0; n_rows.div_ceil(64)], by_row: Vec::new() }
    }

    /// The squared distances of `neighbors` in the order of `rows`, which are the same.
    fn distances_into(&mut self, neighbors: &[Neighbor], rows: &[u32], distances2: &mut [f64]) {
        self.by_row.resize(self.bits.len() * 64, 0.0);
        for neighbor in neighbors {
            self.by_row[neighbor.row as usize] = neighbor.distance2;
        }
        for (distance2, row) in distances2.iter_mut().zip(rows) {
            *distance2 = self.by_row[*row as usize];
        }
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

/// A ball around an anchor, and how fast weights fall in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub radius2: f64,
    pub bandwidth2: f64,
}

/// Turns squared distances into weights that sum to one. The bandwidth lies a little beyond the
/// farthest neighbor, so that even that one counts; if all lie at the anchor,
/// they count the same.
pub(crate) fn epanechnikov_in_place(weights: &mut [f64]) {
    let k = weights.len() as f64;
    let farthest2 = weights.iter().copied().fold(0.0, f64::max);
    let h2 = bandwidth2(farthest2, k);
    if h2 == 0.0 {
        weights.fill(1.0 / k);
        return;
    }
    weights.iter_mut().for_each(|w| *w = 1.0 - *w / h2);
    normalize(weights);
}

/// The squared bandwidth of Epanechnikov's weights, a little beyond the farthest of k neighbors.
fn bandwidth2(farthest2: f64, k: f64) -> f64 {
    farthest2 * (1.0 + 1.0 / k)
}

/// Turns squared distances into Gaussian weights that sum to one. Without a bandwidth, what lies at the
/// anchor counts.
fn gaussian_in_place(weights: &mut [f64], bandwidth2: f64) {
    if bandwidth2 > 0.0 {
        weights.iter_mut().for_each(|w| *w *= -0.5 / bandwidth2);
        Arch::new().dispatch(Exponentials(weights));
    } else {
        weights.iter_mut().for_each(|w| *w = f64::from(u8::from(*w == 0.0)));
    }
    normalize(weights);
}

fn normalize(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
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
        let near = Neighborhoods::find(&*index, &points, &[0], 3, Weighting::Epanechnikov, None);
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
        let near = Neighborhoods::find(&*index, &points, &[3], 4, Weighting::Epanechnikov, None);
        assert_eq!(near.get(0).weights.unwrap(), [0.25; 4]);
    }

    #[test]
    fn rows_come_in_increasing_order() {
        // Few among many rows, and many among few: both ways of sorting.
        for (n, k) in [(5000usize, 4usize), (300, 40)] {
            let points = line(&(0..n).map(|i| ((i * 7919) % n) as f64).collect::<Vec<_>>());
            let index = build_index(&points, k);
            for weighting in [Weighting::Uniform, Weighting::Epanechnikov] {
                let near = Neighborhoods::find(&*index, &points, &[5, 77, 200], k, weighting, None);
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

    /// Rows as often as they count, against counts.
    #[test]
    fn a_row_that_counts_twice_is_two_neighbors() {
        let n = 60;
        let values: Vec<f64> = (0..2 * n).map(|i| ((i * i) as f64 * 0.31).sin()).collect();
        let counts: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 3.0, 1.0][i % 5]).collect();
        let points = Points::from_values(values, 2).unwrap();
        let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect();
        let repeated =
            Points::from_values(rows.iter().flat_map(|&i| points.point(i).to_vec()).collect(), 2).unwrap();
        for weighting in [Weighting::Uniform, Weighting::Epanechnikov] {
            for k in [5, 17, 40] {
                let index = build_index(&points, k);
                let counted = Neighborhoods::find(&*index, &points, &[1, 8], k, weighting, Some(&counts));
                assert_eq!((counted.anchor_weight(1), counted.total_weight()), (3.0, 5.0));
                let index = build_index(&repeated, k);
                let anchors = [1, 8].map(|anchor| rows.iter().position(|&row| row == anchor).unwrap());
                let plain = Neighborhoods::find(&*index, &repeated, &anchors, k, weighting, None);
                for a in 0..2 {
                    let mut by_row = vec![0.0; n];
                    let hood = plain.get(a);
                    for (q, &row) in hood.rows.iter().enumerate() {
                        by_row[rows[row as usize]] += hood.weights.map_or(1.0 / k as f64, |w| w[q]);
                    }
                    let hood = counted.get(a);
                    for (&row, w) in hood.rows.iter().zip(hood.weights.unwrap()) {
                        assert!((w - by_row[row as usize]).abs() < 1e-14);
                        by_row[row as usize] = 0.0;
                    }
                    assert!(by_row.iter().all(|w| *w == 0.0));
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
