//! All indexes against a full sort, on points that are meant to be hard.

use proptest::prelude::*;
use smave::Points;
use smave::local::index::{Neighbor, NeighborIndex, build_index};
use smave::local::products::Products;
use smave::local::{kdtree, scan::Scan};

/// All rows sorted by (squared distance, row).
fn by_full_sort(points: &Points, query: &[f64], k: usize) -> Vec<(f64, u32)> {
    let distance2 = |i: usize| {
        let mut sum = 0.0;
        for (a, b) in points.point(i).iter().zip(query) {
            sum += (a - b) * (a - b);
        }
        sum
    };
    let mut all: Vec<(f64, u32)> = (0..points.len()).map(|i| (distance2(i), i as u32)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.truncate(k);
    all
}

fn sorted(found: &[Neighbor]) -> Vec<(f64, u32)> {
    let mut all: Vec<_> = found.iter().map(|n| (n.distance2, n.row)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all
}

/// The same rows, and distances but for rounding.
fn assert_same(found: &[(f64, u32)], expected: &[(f64, u32)], points: &Points) {
    let rows = |list: &[(f64, u32)]| {
        let mut rows: Vec<u32> = list.iter().map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(rows(found), rows(expected), "n {} d {}", points.len(), points.dim());
    let largest = points.values().iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    let rounding = 1e-13 * largest * largest * points.dim() as f64;
    for (found, expected) in found.iter().zip(expected) {
        assert!((found.0 - expected.0).abs() <= rounding, "{} {}", found.0, expected.0);
    }
}

fn check(points: &Points, tuned_for: usize, ks: &[usize], queries: &[Vec<f64>]) {
    let scan = Scan::new(points, tuned_for);
    let tree = kdtree::build(points);
    let products = Products::new(points).unwrap();
    let chosen = build_index(points, tuned_for);
    let mut found = Vec::new();
    for query in queries {
        for &k in ks {
            let expected = by_full_sort(points, query, k);
            for index in [&scan as &dyn NeighborIndex, &products, &*chosen].into_iter().chain(tree.as_deref())
            {
                index.nearest(query, k, &mut found);
                assert_same(&sorted(&found), &expected, points);
            }
        }
    }
}

/// Reproducible numbers in (-1, 1).
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

#[test]
fn random_points_in_every_kind_of_dimension() {
    for d in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 40, 200] {
        let n = 700;
        // Cubing concentrates points at the center and leaves a thin tail.
        let points = Points::from_values(noise(n * d, 5).iter().map(|v| v * v * v).collect(), d).unwrap();
        let mut queries: Vec<Vec<f64>> = (0..n).step_by(97).map(|i| points.point(i).to_vec()).collect();
        queries.push(vec![3.0; d]);
        check(&points, 50, &[0, 1, 2, 31, 32, 33, 50, 233, 699, 700, 900], &queries);
    }
}

#[test]
fn lattices_are_all_ties() {
    for (side, d) in [(12usize, 2usize), (6, 3), (4, 4)] {
        let n = side.pow(d as u32);
        let values =
            (0..n).flat_map(|i| (0..d).map(move |c| (i / side.pow(c as u32) % side) as f64)).collect();
        let points = Points::from_values(values, d).unwrap();
        let queries: Vec<Vec<f64>> = (0..n).step_by(17).map(|i| points.point(i).to_vec()).collect();
        check(&points, 20, &[1, 4, 5, 9, 40, 100], &queries);
    }
}

#[test]
fn duplicates_go_to_the_smallest_rows() {
    let points = Points::from_values(vec![1.5; 2 * 500], 2).unwrap();
    check(&points, 20, &[1, 20, 100], &[vec![1.5, 1.5], vec![0.0, 9.0]]);
    // Few distinct places, in an order that does not sort them.
    let values = noise(600, 3).iter().map(|v| (v * 3.0).round()).flat_map(|v| [v, -v]).collect();
    let points = Points::from_values(values, 2).unwrap();
    let queries: Vec<Vec<f64>> = (0..600).step_by(61).map(|i| points.point(i).to_vec()).collect();
    check(&points, 30, &[1, 30, 150, 599], &queries);
    // Many equal points and one far away.
    let mut values = vec![0.0; 3 * 400];
    values[3 * 77] = 1e6;
    let points = Points::from_values(values, 3).unwrap();
    check(&points, 30, &[1, 50, 399, 400], &[vec![0.0; 3], vec![1e6, 0.0, 0.0]]);
}

#[test]
fn large_sets_use_the_tree_and_agree() {
    for d in [2, 3, 6] {
        let points = Points::from_values(noise(8000 * d, 9), d).unwrap();
        let queries: Vec<Vec<f64>> = (0..8000).step_by(1601).map(|i| points.point(i).to_vec()).collect();
        check(&points, 400, &[20, 400, 3000], &queries);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_points_any_k(
        d in 1usize..5,
        coordinates in prop::collection::vec(-4i8..4, 1..400),
        scale in prop::sample::select(vec![1.0, 0.1, 1e-8, 1e9]),
        k in 1usize..60,
        row in 0usize..400,
    ) {
        let n = coordinates.len() / d;
        prop_assume!(n > 0);
        let values = coordinates[..n * d].iter().map(|&v| f64::from(v) * scale).collect();
        let points = Points::from_values(values, d).unwrap();
        check(&points, k, &[k], &[points.point(row % n).to_vec()]);
    }
}
