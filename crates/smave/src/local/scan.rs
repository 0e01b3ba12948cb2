//! Search by reading a slab: every distance in it, then a selection.
//!
//! Neighborhoods of local regression are large (k = n^{4/(d+4)}), so a search must
//! touch many points whatever it does, and reading memory in order is the fastest way
//! to touch them. Points are sorted along the coordinate in which they spread most and
//! stored one coordinate after another. A query
//!
//! 1. guesses the radius: among a fixed sample of about 32 n/k points some 32 lie
//!    in the ball of k neighbors, so a slightly larger order statistic of the distances
//!    to the sample is a radius that holds k points with high probability;
//! 2. reads the slab of points within that radius in the sorted coordinate, computing
//!    distances in blocks and keeping those inside the ball;
//! 3. selects k of them; or, if there were fewer, starts over with a larger radius.
//!
//! The guess decides the time only: what is returned is exact. Cost per query: d times the
//! points in the slab, which hold a fraction of about n^{-1/(d+4)} of all.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::linalg::Points;
use crate::local::index::{Neighbor, NeighborIndex, keep_nearest};

/// Points whose distances are computed together.
pub(crate) const BLOCK: usize = 64;

/// Points of the sample that should lie among the k nearest, and how many of
/// them the radius is made to hold: about one and a half standard deviations more.
const SAMPLE_INSIDE: usize = 32;
const SAMPLE_RANK: usize = 40;

/// All points, sorted along one coordinate, one coordinate after another.
pub struct Scan {
    all: Columns,
    /// Row number of the i-th point in sorted order.
    rows: Vec<u32>,
    /// The coordinate along which points are sorted.
    key: usize,
    /// Every so many-th of the sorted points.
    sample: Columns,
}

/// Points stored one coordinate after another, with room to read a block past the end.
pub(crate) struct Columns {
    values: Vec<f64>,
    len: usize,
    stride: usize,
}

impl Columns {
    pub fn new(points: &Points, rows: &[u32]) -> Self {
        let stride = rows.len() + BLOCK;
        let mut values = vec![0.0; stride * points.dim()];
        values.par_chunks_mut(stride).enumerate().for_each(|(c, column)| {
            for (value, &row) in column.iter_mut().zip(rows) {
                *value = points.point(row as usize)[c];
            }
        });
        Self { values, len: rows.len(), stride }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The values of coordinate c.
    fn column(&self, c: usize) -> &[f64] {
        &self.values[c * self.stride..][..self.len]
    }

    /// Squared distances from `query` to the block that begins at `first`; what lies past the end is junk.
    #[inline(always)]
    pub fn distances2(&self, query: &[f64], first: usize) -> [f64; BLOCK] {
        let mut distance2 = [0.0; BLOCK];
        // Coordinates in order, as in `squared_distance`, for equal rounding.
        for (column, q) in self.values.chunks_exact(self.stride).zip(query) {
            let column: &[f64; BLOCK] = column[first..].first_chunk().expect("padded");
            for (sum, v) in distance2.iter_mut().zip(column) {
                let difference = v - q;
                *sum += difference * difference;
            }
        }
        distance2
    }
}

impl Scan {
    /// Sorts and copies the points; `k` is the number of neighbors to be fast for.
    pub fn new(points: &Points, k: usize) -> Self {
        let widest = (0..points.dim()).map(|c| (c, spread(points, c))).max_by(|a, b| a.1.total_cmp(&b.1));
        let key = widest.map_or(0, |(c, _)| c);
        let mut rows: Vec<u32> = (0..points.len() as u32).collect();
        rows.par_sort_unstable_by(|&a, &b| {
            points.point(a as usize)[key].total_cmp(&points.point(b as usize)[key]).then(a.cmp(&b))
        });
        let every = (k / SAMPLE_INSIDE).max(1);
        let sample: Vec<u32> = rows.iter().copied().skip(every / 2).step_by(every).collect();
        Self { all: Columns::new(points, &rows), sample: Columns::new(points, &sample), rows, key }
    }

    /// A squared radius around `query` that should hold a little more than k points.
    #[inline(always)]
    fn guess_radius2(&self, query: &[f64], k: usize, keys: &mut Vec<u64>) -> f64 {
        // The sample was laid out for some k; this query's may differ.
        let k = k.min(self.all.len);
        let rank = (SAMPLE_RANK * k * self.sample.len).div_ceil(SAMPLE_INSIDE * self.all.len);
        if rank + 1 >= self.sample.len {
            return f64::INFINITY;
        }
        keys.clear();
        for first in (0..self.sample.len).step_by(BLOCK) {
            let valid = BLOCK.min(self.sample.len - first);
            keys.extend(self.sample.distances2(query, first)[..valid].iter().map(|d| d.to_bits()));
        }
        f64::from_bits(*keys.select_nth_unstable(rank).1)
    }

    /// Everything within the closed ball.
    #[inline(always)]
    fn collect(&self, query: &[f64], radius2: f64, found: &mut Vec<Neighbor>) {
        let (column, q) = (self.all.column(self.key), query[self.key]);
        let outside = |z: f64| (z - q) * (z - q) > radius2;
        let first = column.partition_point(|&z| z < q && outside(z));
        let last = column.partition_point(|&z| z <= q || !outside(z));
        found.clear();
        for start in (first..last).step_by(BLOCK) {
            let distance2 = self.all.distances2(query, start);
            let valid = BLOCK.min(last - start);
            // Note every place and move on only past those inside: no branch to mispredict.
            let mut places = [0u8; BLOCK];
            let mut inside = 0;
            for (place, &distance2) in distance2[..valid].iter().enumerate() {
                places[inside & (BLOCK - 1)] = place as u8;
                inside += usize::from(distance2 <= radius2);
            }
            let rows = &self.rows[start..start + valid];
            found.extend(places[..inside].iter().map(|&place| Neighbor {
                distance2: distance2[usize::from(place) & (BLOCK - 1)],
                row: rows[usize::from(place)],
            }));
        }
    }
}

/// One query, compiled for the vector instructions of the machine.
struct Search<'a> {
    scan: &'a Scan,
    query: &'a [f64],
    k: usize,
    found: &'a mut Vec<Neighbor>,
}

impl WithSimd for Search<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { scan, query, k, found } = self;
        let mut radius2 = scan.guess_radius2(query, k, &mut Vec::new());
        loop {
            scan.collect(query, radius2, found);
            if found.len() >= k || radius2 == f64::INFINITY {
                return;
            }
            // A quarter more radius holds half as many points again in the plane.
            radius2 = if radius2 > 0.0 && found.len() > k / 4 { 1.5625 * radius2 } else { f64::INFINITY };
        }
    }
}

impl NeighborIndex for Scan {
    fn nearest(&self, query: &[f64], k: usize, found: &mut Vec<Neighbor>) {
        found.clear();
        if k == 0 || self.rows.is_empty() {
            return;
        }
        assert_eq!(query.len() * self.all.stride, self.all.values.len(), "dimension of the query");
        Arch::new().dispatch(Search { scan: self, query, k, found });
        keep_nearest(found, k);
    }
}

fn spread(points: &Points, coordinate: usize) -> f64 {
    let values = points.values().iter().skip(coordinate).step_by(points.dim());
    let n = points.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    values.map(|v| (v - mean) * (v - mean)).sum()
}
