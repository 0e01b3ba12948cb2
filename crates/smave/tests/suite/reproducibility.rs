//! Same seed, same bits: again, and on any number of threads.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Estimator, Reduction, Smave, Weighting};

fn fit_on(threads: usize, fit: impl Fn() -> Reduction + Send) -> Reduction {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(fit)
}

fn assert_same_bits(a: &Reduction, b: &Reduction) {
    assert_eq!(a.basis(), b.basis());
    assert_eq!(a.eigenvalues(), b.eigenvalues());
    assert_eq!(a.trace(), b.trace());
}

#[test]
fn threads_leave_no_trace() {
    // Large enough for every parallel part to be cut into several chunks.
    let made = Simulation::new(Link::Sinusoidal, Covariance::Ar1, 4000, 60).seed(3).draw().unwrap();
    let data = Dataset::new(made.x, made.y).unwrap();
    for (dimension, standardize, weighting) in
        [(2, false, Weighting::Uniform), (2, true, Weighting::Epanechnikov), (5, false, Weighting::Uniform)]
    {
        let fit = || {
            let smave = Smave::published(dimension).max_iter(30).batch_size(150).weighting(weighting);
            smave.standardize(standardize).seed(11).fit(&data).unwrap()
        };
        let one = fit_on(1, fit);
        assert_same_bits(&one, &fit_on(4, fit));
        assert_same_bits(&one, &fit_on(3, fit));
        assert_same_bits(&one, &fit());
    }
}

#[test]
fn simulated_data_do_not_depend_on_threads_either() {
    let draw = || Simulation::new(Link::Rational, Covariance::Identity, 5000, 7).seed(2).draw().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (one, many) = (pool.install(draw), draw());
    assert_eq!(one.x.values(), many.x.values());
    assert_eq!(one.y, many.y);
}

#[test]
fn another_seed_gives_another_path() {
    let made = Simulation::new(Link::Polynomial, Covariance::Identity, 300, 8).draw().unwrap();
    let data = Dataset::new(made.x, made.y).unwrap();
    let fit = |seed| Smave::published(2).max_iter(5).seed(seed).fit(&data).unwrap();
    assert_ne!(fit(1).basis(), fit(2).basis());
}
