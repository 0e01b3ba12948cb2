//! Both indexes over numbers of points and dimensions, at the k that a fit would use.
//!
//! The crossovers in `local/index.rs` come from here.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::RngExt;
use rand_distr::StandardNormal;
use smave::Points;
use smave::local::{NeighborIndex, kdtree, neighborhood_size, scan::Scan};
use smave::rng::{Purpose, stream};

fn gaussian(n: usize, d: usize) -> Points {
    let mut rng = stream(1, Purpose::Rows, 0);
    Points::from_values((0..n * d).map(|_| rng.sample(StandardNormal)).collect(), d).expect("n points")
}

fn queries(c: &mut Criterion) {
    let mut group = c.benchmark_group("query");
    for n in [1000, 5000, 50_000] {
        for d in [1, 2, 3, 4, 8, 12, 20] {
            let points = gaussian(n, d);
            let k = neighborhood_size(n, d, 20);
            let scan = Scan::new(&points, k);
            let tree = kdtree::build(&points);
            let indexes = [("scan", Some(&scan as &dyn NeighborIndex)), ("tree", tree.as_deref())];
            for (name, index) in indexes {
                let Some(index) = index else { continue };
                let (mut found, mut row) = (Vec::new(), 0);
                group.bench_function(BenchmarkId::new(name, format!("n={n} d={d} k={k}")), |b| {
                    b.iter(|| {
                        row = (row + 7919) % n;
                        index.nearest(points.point(row), k, &mut found);
                        found.len()
                    });
                });
            }
        }
    }
    group.finish();
}

fn builds(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    group.sample_size(20);
    for n in [5000, 50_000] {
        let points = gaussian(n, 2);
        group.bench_function(BenchmarkId::new("scan", n), |b| b.iter(|| Scan::new(&points, 300)));
        group.bench_function(BenchmarkId::new("tree", n), |b| b.iter(|| kdtree::build(&points).is_some()));
    }
    group.finish();
}

criterion_group!(benches, queries, builds);
criterion_main!(benches);
