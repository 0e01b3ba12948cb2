//! Exact nearest neighbors behind one interface.
//!
//! Neighbors of a query are ordered by (squared distance, row): ties go to the
//! smaller row number, so the answer is unique and every index gives the same
//! set: it is always one plain sum in coordinate order that decides, whatever the index uses inside.

use crate::linalg::Points;
use crate::local::kdtree;
use crate::local::products::Products;
use crate::local::scan::Scan;

/// A row and its squared distance from the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Squared Euclidean distance.
    pub distance2: f64,
    /// Row number.
    pub row: u32,
}

impl Neighbor {
    /// Nonnegative floats compare like their bit patterns: one integer comparison decides.
    #[inline(always)]
    fn key(&self) -> (u64, u32) {
        (self.distance2.to_bits(), self.row)
    }
}

/// Finds the nearest rows of a fixed set of points.
pub trait NeighborIndex: Send + Sync {
    /// Replaces the contents of `found` by the `k` nearest rows to `query`, in
    /// no particular order but always the same one (all rows if there are fewer).
    fn nearest(&self, query: &[f64], k: usize, found: &mut Vec<Neighbor>);

    /// [`NeighborIndex::nearest`] for several queries: calls `visit(query, found)` for each in order.
    fn nearest_each(&self, queries: &[&[f64]], k: usize, visit: &mut dyn FnMut(usize, &mut Vec<Neighbor>)) {
        let mut found = Vec::new();
        for (j, query) in queries.iter().enumerate() {
            self.nearest(query, k, &mut found);
            visit(j, &mut found);
        }
    }
}

/// So few neighbors that a tree finds them before a slab is read.
const FEW: usize = 16;

/// Queries worth asking together.
pub(crate) const QUERIES_PER_TASK: usize = 32;

/// The index that answers fastest for these points and queries of `k` neighbors.
///
/// In one and two dimensions a slab holds little more than the ball, and a few thousand points are read
/// faster than a tree is descended, unless very few neighbors are asked for; above a dozen dimensions slab and tree read
/// everything anyway, and matrix products read faster (`benches/neighbors`).
pub fn build_index(points: &Points, k: usize) -> Box<dyn NeighborIndex + '_> {
    let worth_a_tree = match points.dim() {
        1..=12 if k <= FEW => points.len() > 1000,
        3..=12 => points.len() > 6000,
        _ => false,
    };
    match points.dim() {
        _ if worth_a_tree && let Some(tree) = kdtree::build(points) => tree,
        13.. if let Some(products) = Products::new(points) => Box::new(products),
        _ => Box::new(Scan::new(points, k)),
    }
}

/// Keeps the `k` nearest of `candidates`.
pub(crate) fn keep_nearest(candidates: &mut Vec<Neighbor>, k: usize) {
    if candidates.len() > k && k > 0 {
        candidates.select_nth_unstable_by_key(k - 1, Neighbor::key);
    }
    candidates.truncate(k);
}
