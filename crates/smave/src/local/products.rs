//! Search in many dimensions: distances to everything, by matrix products.
//!
//! Where no coordinate separates near from far, every distance has to be computed, and
//! $\lVert x \rVert^2 + \lVert q \rVert^2 - 2 x^\top q$ for many queries at once is a matrix product, several times
//! faster than differences. It is also less exact: where that could decide who is a neighbor,
//! distances are recomputed, and ties decided exactly as in
//! [`Scan`](crate::local::scan::Scan). Cost per query: n p.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

use crate::linalg::{Mat, Points, squared_distance};
use crate::local::index::{Neighbor, NeighborIndex, keep_nearest};

/// All points, centered, with their squared norms.
pub struct Products<'a> {
    points: &'a Points,
    center: Vec<f64>,
    centered: Points,
    norms2: Vec<f64>,
    /// More than the rounding of any approximate squared distance among the points.
    rounding: f64,
}

impl<'a> Products<'a> {
    /// Centers the points; `None` when their squares overflow.
    pub fn new(points: &'a Points) -> Option<Self> {
        let (n, d) = (points.len(), points.dim());
        let mut center = vec![0.0; d];
        for point in points.values().chunks_exact(d) {
            center.iter_mut().zip(point).for_each(|(c, v)| *c += v / n as f64);
        }
        let mut centered = points.clone();
        for point in centered.values_mut().chunks_exact_mut(d) {
            point.iter_mut().zip(&center).for_each(|(v, c)| *v -= c);
        }
        let norms2: Vec<f64> =
            centered.values().chunks_exact(d).map(|x| x.iter().map(|v| v * v).sum()).collect();
        let largest = norms2.iter().copied().fold(0.0, f64::max);
        let rounding = 8.0 * (d + 8) as f64 * f64::EPSILON * largest;
        (norms2.iter().all(|v| v.is_finite()) && rounding.is_finite()).then_some(Self {
            points,
            center,
            centered,
            norms2,
            rounding,
        })
    }

    /// Calls `visit(query, approximate squared distances to all points, their rounding)`.
    pub(crate) fn approximate(&self, queries: &[&[f64]], mut visit: impl FnMut(usize, &mut [f64], f64)) {
        let (n, d) = (self.points.len(), self.points.dim());
        let mut shifted = Mat::zeros(d, queries.len());
        for (j, query) in queries.iter().enumerate() {
            assert_eq!(query.len(), d, "dimension of the query");
            for (c, out) in shifted.col_as_slice_mut(j).iter_mut().enumerate() {
                *out = query[c] - self.center[c];
            }
        }
        let mut products = Mat::zeros(n, queries.len());
        matmul(products.as_mut(), Accum::Replace, self.centered.as_mat(), &shifted, -2.0, Par::Seq);
        for j in 0..queries.len() {
            let norm2: f64 = shifted.col_as_slice(j).iter().map(|v| v * v).sum();
            let distances2 = products.col_as_slice_mut(j);
            for (distance2, point) in distances2.iter_mut().zip(&self.norms2) {
                *distance2 += point + norm2;
            }
            visit(j, distances2, self.rounding + 8.0 * (d + 8) as f64 * f64::EPSILON * norm2);
        }
    }

    /// Everything that is, or may be, within the closed ball: distances that decide are recomputed.
    fn collect(
        query: &[f64],
        points: &Points,
        approximate: &[f64],
        radius2: f64,
        rounding: f64,
        found: &mut Vec<Neighbor>,
    ) {
        found.clear();
        for (row, &approximate) in approximate.iter().enumerate() {
            if approximate < radius2 - rounding {
                found.push(Neighbor { distance2: approximate.max(0.0), row: row as u32 });
            // A query from far away may bring NaN.
            } else if approximate <= radius2 + rounding || approximate.is_nan() {
                let distance2 = squared_distance(points.point(row), query);
                found.push(Neighbor { distance2, row: row as u32 });
            }
        }
    }
}

impl NeighborIndex for Products<'_> {
    fn nearest(&self, query: &[f64], k: usize, found: &mut Vec<Neighbor>) {
        found.clear();
        self.nearest_each(&[query], k, &mut |_, nearest| std::mem::swap(found, nearest));
    }

    fn nearest_each(&self, queries: &[&[f64]], k: usize, visit: &mut dyn FnMut(usize, &mut Vec<Neighbor>)) {
        let k = k.min(self.points.len());
        let (mut found, mut keys) = (Vec::new(), Vec::new());
        self.approximate(queries, |j, approximate, rounding| {
            found.clear();
            if k > 0 {
                keys.clear();
                // Bits of numbers that are not negative have their order, and are compared faster.
                keys.extend(approximate.iter().map(|v| if *v <= 0.0 { 0 } else { v.to_bits() }));
                let k_th = f64::from_bits(*keys.select_nth_unstable(k - 1).1);
                // Two roundings: of the k-th and of any other.
                Self::collect(queries[j], self.points, approximate, k_th, 2.0 * rounding, &mut found);
                keep_nearest(&mut found, k);
            }
            visit(j, &mut found);
        });
    }
}
