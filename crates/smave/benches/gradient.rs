//! The three parts of one evaluation: project, localize (inside evaluate), pull back.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use smave::data::Rows;
use smave::data::simulate::{Covariance, Link, Simulation};
use smave::local::{Neighborhoods, build_index, neighborhood_size};
use smave::objective::MaveObjective;
use smave::{Design, Mat, Points, Weighting};

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("gradient");
    for (n, p) in [(1000, 50), (5000, 50), (5000, 200)] {
        let simulation = Simulation::new(Link::Interaction, Covariance::Identity, n, p);
        let (wide, narrow) = (simulation.draw().expect("valid"), simulation.draw_f32().expect("valid"));
        let b = wide.basis.clone();
        let shape = format!("n={n} p={p}");
        let mut z = Points::zeros(n, 2);
        let mut g = Mat::zeros(p, 2);
        for (precision, x) in [("f64", &wide.x as &dyn Design), ("f32", &narrow.x)] {
            group.bench_function(BenchmarkId::new(format!("project {precision}"), &shape), |bench| {
                bench.iter(|| x.project_into(b.as_ref(), Rows::All, &mut z));
            });
            group.bench_function(BenchmarkId::new(format!("pull back {precision}"), &shape), |bench| {
                bench.iter(|| x.pull_back_into(&z, Rows::All, g.as_mut()));
            });
        }
        let k = neighborhood_size(n, 2, 20);
        let anchors: Vec<usize> = (0..n).collect();
        let z = wide.x.project(b.as_ref(), Rows::All).expect("shapes fit");
        let hoods = Neighborhoods::find(&*build_index(&z, k), &z, &anchors, k, Weighting::Uniform, None);
        let objective = MaveObjective::new(&wide.x, &wide.y, 1e-5).expect("shapes fit");
        for m in [100, n] {
            group.bench_function(BenchmarkId::new(format!("evaluate m={m}"), &shape), |bench| {
                bench.iter(|| objective.evaluate(b.as_ref(), &hoods, &anchors[..m]));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, parts);
criterion_main!(benches);
