//! Whole fits of published SMAVE, on one thread and on two.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Estimator, Smave};

fn fits(c: &mut Criterion) {
    let mut group = c.benchmark_group("fit");
    group.sample_size(20);
    for (n, p) in [(1000, 50), (5000, 50), (5000, 200)] {
        let made = Simulation::new(Link::Interaction, Covariance::Identity, n, p).draw().expect("valid");
        let data = Dataset::new(made.x, made.y).expect("finite");
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            group.bench_function(
                BenchmarkId::new(format!("{threads} threads"), format!("n={n} p={p}")),
                |b| {
                    b.iter(|| pool.install(|| Smave::published(2).fit(&data)));
                },
            );
        }
    }
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
