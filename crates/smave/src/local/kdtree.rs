//! Tree search for low dimensions, made for the large k of local regression.
//!
//! A heap of k candidates is slow once k passes a few dozen. Instead: take the
//! distance to the 32nd neighbor, extrapolate the radius that should hold k
//! points if the density stayed the same, collect everything inside unsorted,
//! select k. If fewer than k came back (the density fell), the radius grows by
//! what the count says is missing. The tree only proposes candidates, from a
//! radius inflated against its own rounding; distances are recomputed, so ties
//! are decided exactly as in [`Scan`](crate::local::scan::Scan).

use std::num::NonZero;

use kiddo::{ImmutableKdTree, SquaredEuclidean};

use crate::linalg::{Points, squared_distance};
use crate::local::index::{Neighbor, NeighborIndex, keep_nearest};

/// Neighbors that the first guess of the radius is taken from.
const PILOT: NonZero<usize> = NonZero::new(32).unwrap();

/// Radii tried before giving up on guessing.
const ATTEMPTS: usize = 6;

/// More than the relative error of any sum of squares here.
const ROUNDING: f64 = 1.0 + 1e-12;

/// A tree over points of at most K coordinates; missing ones are zero.
struct Tree<'a, const K: usize> {
    points: &'a Points,
    tree: ImmutableKdTree<f64, K>,
}

/// A tree over `points`, or `None` if there is none for their dimension.
pub fn build(points: &Points) -> Option<Box<dyn NeighborIndex + '_>> {
    match points.dim() {
        1 => Tree::<1>::boxed(points),
        2 => Tree::<2>::boxed(points),
        3 => Tree::<3>::boxed(points),
        4 => Tree::<4>::boxed(points),
        5..=6 => Tree::<6>::boxed(points),
        7..=8 => Tree::<8>::boxed(points),
        9..=12 => Tree::<12>::boxed(points),
        _ => None,
    }
}

impl<'a, const K: usize> Tree<'a, K> {
    fn boxed(points: &'a Points) -> Option<Box<dyn NeighborIndex + 'a>> {
        let padded: Vec<[f64; K]> = (0..points.len()).map(|i| pad(points.point(i))).collect();
        let tree = ImmutableKdTree::new_from_slice(&padded).ok()?;
        Some(Box::new(Self { points, tree }))
    }
}

impl<const K: usize> Tree<'_, K> {
    /// Everything within the closed ball, by recomputed distances.
    fn collect(&self, at: &[f64; K], query: &[f64], radius2: f64, found: &mut Vec<Neighbor>) {
        found.clear();
        // Rounding inside the tree must not lose a point on the boundary.
        let inflated = radius2 * ROUNDING + f64::MIN_POSITIVE;
        self.tree.query(at).within::<SquaredEuclidean<f64>>(inflated).unsorted().visit(|candidate| {
            let distance2 = squared_distance(self.points.point(candidate.item as usize), query);
            if distance2 <= radius2 {
                found.push(Neighbor { distance2, row: candidate.item });
            }
        });
    }
}

fn pad<const K: usize>(point: &[f64]) -> [f64; K] {
    let mut padded = [0.0; K];
    padded[..point.len()].copy_from_slice(point);
    padded
}

impl<const K: usize> NeighborIndex for Tree<'_, K> {
    fn nearest(&self, query: &[f64], k: usize, found: &mut Vec<Neighbor>) {
        let (n, d) = (self.points.len(), self.points.dim());
        assert_eq!(query.len(), d, "dimension of the query");
        found.clear();
        let Some(k_nonzero) = NonZero::new(k.min(n)) else {
            return;
        };
        let k = k_nonzero.get();
        let at = pad::<K>(query);
        let pilot_distance2 = self
            .tree
            .query(&at)
            .nearest_n::<SquaredEuclidean<f64>>(k_nonzero.min(PILOT))
            .execute()
            .last()
            .map_or(0.0, |n| n.distance);
        // Volume grows like radius^d, so squared radius like volume^(2/d).
        let grow = |factor: f64| factor.powf(2.0 / d as f64);
        let mut radius2 = pilot_distance2 * grow(1.25 * k as f64 / PILOT.get().min(k) as f64);
        for _ in 0..ATTEMPTS {
            self.collect(&at, query, radius2, found);
            if found.len() >= k {
                return keep_nearest(found, k);
            }
            let missing = k as f64 / found.len().max(1) as f64;
            radius2 *= grow(1.2 * missing.max(1.1));
        }
        // A lattice, many equal points or an outlier: let the tree find the k-th distance itself.
        let k_th = self
            .tree
            .query(&at)
            .nearest_n::<SquaredEuclidean<f64>>(k_nonzero)
            .execute()
            .last()
            .map_or(0.0, |n| n.distance);
        self.collect(&at, query, k_th * ROUNDING, found);
        keep_nearest(found, k);
    }
}
