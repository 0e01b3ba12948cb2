//! Many queries at once: neighbors of each, found and used in parallel.

use rayon::prelude::*;

use crate::linalg::Points;
use crate::local::index::{Neighbor, NeighborIndex, QUERIES_PER_TASK};

/// Calls `answer(space, query, its k nearest rows)` for every query, and collects the answers in their order.
/// `space` is memory that the queries of a task share.
pub(super) fn answer_each<S, T: Clone + Default + Send>(
    index: &dyn NeighborIndex,
    queries: &Points,
    k: usize,
    space: impl Fn() -> S + Sync,
    answer: impl Fn(&mut S, &[f64], &mut Vec<Neighbor>) -> T + Sync,
) -> Vec<T> {
    let mut answers = vec![T::default(); queries.len()];
    answers.par_chunks_mut(QUERIES_PER_TASK).enumerate().for_each(|(task, answers)| {
        let first = task * QUERIES_PER_TASK;
        let points: Vec<&[f64]> = (first..first + answers.len()).map(|i| queries.point(i)).collect();
        let mut space = space();
        index.nearest_each(&points, k, &mut |j, found| answers[j] = answer(&mut space, points[j], found));
    });
    answers
}
