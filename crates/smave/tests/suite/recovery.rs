//! What SMAVE must find, and what it must survive.

use std::ops::ControlFlow;

use smave::data::Rows;
use smave::data::simulate::{Covariance, Link, Simulation};
use smave::linalg::norm;
use smave::objective::MaveObjective;
use smave::{Dataset, Dense, Estimator, Mat, Progress, PublishedSmave, Smave, StopReason, squared_distance};

fn data(link: Link, covariance: Covariance, n: usize, p: usize, seed: u64) -> (Dataset<'static>, Mat<f64>) {
    let made = Simulation::new(link, covariance, n, p).seed(seed).draw().unwrap();
    (Dataset::new(made.x, made.y).unwrap(), made.basis)
}

#[test]
fn published_smave_recovers_the_true_subspace() {
    for covariance in Covariance::ALL {
        for link in [Link::Polynomial, Link::Interaction, Link::Rational] {
            let (data, truth) = data(link, covariance, 2000, 10, 1);
            let fit = Smave::published(2).seed(5).fit(&data).unwrap();
            let error = squared_distance(fit.directions().as_ref(), truth.as_ref()).unwrap();
            // The paper's mean at (2000, 10) is 0.03 over all links.
            assert!(error < 0.08, "{link} {covariance}: {error}");
            assert_eq!((fit.trace().len(), fit.stop_reason()), (100, StopReason::MaxIterations));
        }
    }
}

#[test]
fn standardized_fit_recovers_it_from_columns_in_other_units() {
    let made = Simulation::new(Link::Interaction, Covariance::Identity, 2000, 8).seed(2).draw().unwrap();
    let units: Vec<f64> = (0..8).map(|j| 10f64.powi(j - 4)).collect();
    let values: Vec<f64> =
        made.x.values().iter().enumerate().map(|(e, v)| 100.0 * units[e % 8] + v * units[e % 8]).collect();
    let data = Dataset::new(Dense::new(values, 2000, 8).unwrap(), made.y).unwrap();
    let fit = Smave::published(2).standardize(true).seed(3).fit(&data).unwrap();
    let error = squared_distance(fit.basis(), made.basis.as_ref()).unwrap();
    assert!(error < 0.05, "{error}");
    // In the original units the directions are those of the basis divided by the units.
    let directions = fit.directions();
    let unit = |i: usize| directions[(i, 0)] * units[i] / fit.basis()[(i, 0)];
    assert!((0..8).all(|i| (unit(i) - 1.0).abs() < 0.1), "standard deviations of a thousand draws");
}

#[test]
fn single_and_double_precision_agree() {
    let simulation = Simulation::new(Link::Polynomial, Covariance::Ar1, 1500, 12).seed(4);
    let (wide, narrow) = (simulation.draw().unwrap(), simulation.draw_f32().unwrap());
    let wide = Dataset::new(wide.x, wide.y).unwrap();
    let narrow = Dataset::new(narrow.x, narrow.y).unwrap();
    // The same neighbors throughout: one period, before rounding has swapped any at the boundary.
    let smave = Smave::published(2).max_iter(20).seed(6);
    let (a, b) = (smave.fit(&wide).unwrap(), smave.fit(&narrow).unwrap());
    let apart = squared_distance(a.basis(), b.basis()).unwrap().sqrt();
    // Rounding of X is 6e-8; a hundred steps of a few percent each may amplify it.
    assert!(apart < 1e-4, "{apart}");
    assert!(apart > 0.0, "f32 data must not be silently widened from f64");
}

#[test]
fn one_covariate_all_dimensions_and_more_covariates_than_rows_work() {
    let y: Vec<f64> = (0..40).map(|i| (0.2 * f64::from(i)).sin()).collect();
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let fit = Smave::published(1).fit(&Dataset::new(Dense::new(x, 40, 1).unwrap(), y).unwrap()).unwrap();
    assert_eq!(fit.basis()[(0, 0)], 1.0);

    let (square, _) = data(Link::Polynomial, Covariance::Identity, 200, 4, 7);
    let fit = Smave::published(4).fit(&square).unwrap();
    assert_eq!((fit.n_components(), fit.eigenvalues().len()), (4, 4));
    assert!(norm((fit.basis().transpose() * fit.basis() - Mat::<f64>::identity(4, 4)).as_ref()) < 1e-12);

    for (n, p) in [(50, 100), (50, 200), (100, 200), (12, 30), (4, 9)] {
        let (wide, truth) = data(Link::Interaction, Covariance::Identity, n, p, 8);
        let fit = Smave::published(2).fit(&wide).unwrap();
        let error = squared_distance(fit.directions().as_ref(), truth.as_ref()).unwrap();
        assert!((0.0..=2.0).contains(&error));
        assert!(fit.n_neighbors().unwrap() < n);
    }
}

#[test]
fn duplicate_rows_and_constant_columns_do_no_harm() {
    let made = Simulation::new(Link::Interaction, Covariance::Identity, 500, 5).seed(9).draw().unwrap();
    let rows = made.x.values().chunks_exact(5).map(|row| [row, &[4.0]].concat());
    let values: Vec<f64> = rows.clone().chain(rows).flatten().collect();
    let y = [&made.y[..], &made.y[..]].concat();
    let data = Dataset::new(Dense::new(values, 1000, 6).unwrap(), y).unwrap();
    assert_eq!(data.warnings().len(), 1);
    let fit = Smave::published(2).standardize(true).seed(1).fit(&data).unwrap();
    let truth = Mat::from_fn(6, 2, |i, j| if i < 5 { made.basis[(i, j)] } else { 0.0 });
    let error = squared_distance(fit.directions().as_ref(), truth.as_ref()).unwrap();
    assert!(error < 0.2, "{error}");
}

#[test]
fn result_is_unique_and_transforms_as_it_says() {
    let (data, _) = data(Link::Polynomial, Covariance::Ar1, 800, 6, 10);
    let fit = Smave::published(2).standardize(true).seed(2).fit(&data).unwrap();
    assert!(fit.eigenvalues()[0] >= fit.eigenvalues()[1] && fit.eigenvalues()[1] > 0.0);
    for j in 0..2 {
        let largest = fit.basis().col(j).iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
        assert!(largest > 0.0);
    }
    let z = fit.transform(data.x()).unwrap();
    let plain = data.x().project(fit.directions().as_ref(), Rows::All).unwrap();
    let center = fit.standardization().center();
    for j in 0..2 {
        let shift: f64 = fit.directions().col(j).iter().zip(center).map(|(w, c)| w * c).sum();
        for i in 0..800 {
            assert!((z.point(i)[j] - (plain.point(i)[j] - shift)).abs() < 1e-10);
        }
    }
    // The Mahalanobis matrix measures distances after the reduction.
    let m = fit.mahalanobis();
    let (x, p) = (data.x().project(Mat::<f64>::identity(6, 6).as_ref(), Rows::All).unwrap(), 6);
    let difference = Mat::from_fn(p, 1, |c, _| x.point(3)[c] - x.point(17)[c]);
    let long = (difference.transpose() * &m * &difference)[(0, 0)];
    let short: f64 = z.point(3).iter().zip(z.point(17)).map(|(a, b)| (a - b) * (a - b)).sum();
    assert!((long - short).abs() < 1e-10 * short);
}

/// Theorem "Non-asymptotic rate": with a step of order T^(-1/2) the average squared
/// gradient over T iterations falls at least as fast as T^(-1/2).
#[test]
fn theory_regime_attains_its_rate() {
    let (data, _) = data(Link::Polynomial, Covariance::Identity, 300, 6, 12);
    let (n, ridge) = (300.0, 1e-2);
    // The objective of the fit: neighborhoods of the start, never rebuilt.
    let start = smave::manifold::stiefel::random_frame(
        6,
        2,
        &mut smave::rng::stream(1, smave::rng::Purpose::Start, 0),
    );
    let z = data.x().project(start.as_ref(), Rows::All).unwrap();
    let k = smave::local::neighborhood_size(300, 2, 20);
    let everyone: Vec<usize> = (0..300).collect();
    let index = smave::local::build_index(&z, k);
    let hoods = smave::local::Neighborhoods::find(&*index, &z, &everyone, k, smave::Weighting::Uniform, None);
    let objective = MaveObjective::new(data.x(), data.y(), ridge).unwrap();

    let average = |iterations: usize| {
        let step = 0.4 / n / (iterations as f64).sqrt();
        let mut sum = 0.0;
        let mut watch = |progress: Progress<'_>| {
            let gradient = objective.evaluate(progress.basis, &hoods, &everyone).unwrap().gradient;
            sum += gradient.squared_norm_l2() / iterations as f64;
            ControlFlow::Continue(())
        };
        let smave = Smave::theory(2).start(start.clone()).ridge(ridge).batch_size(30).step_size(step);
        smave.max_iter(iterations).fit_observed(&data, &mut watch).unwrap();
        sum
    };
    let (short, long) = (average(100), average(1600));
    let slope = (long / short).log2() / 4.0;
    assert!(slope <= -0.5, "log-log slope {slope}: {short} to {long}");
}

#[test]
fn observers_see_every_iteration_and_can_stop_it() {
    let (data, _) = data(Link::Interaction, Covariance::Identity, 300, 6, 13);
    let mut seen = Vec::new();
    let mut observer = |progress: Progress<'_>| {
        assert_eq!((progress.max_iter, progress.basis.nrows()), (100, 6));
        seen.push(progress.iteration.clone());
        if seen.len() == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fit = Smave::published(2).fit_observed(&data, &mut observer).unwrap();
    assert_eq!((fit.stop_reason(), fit.trace().len()), (StopReason::Cancelled, 7));
    assert_eq!(seen, fit.trace());
    assert!(seen.iter().all(|i| i.objective > 0.0 && i.gradient_norm > 0.0));
}

/// Algorithm 1 rebuilds after iterations τ, 2τ, ...: those are where movement is reported.
#[test]
fn neighborhoods_are_rebuilt_where_the_algorithm_says() {
    let (data, _) = data(Link::Interaction, Covariance::Identity, 200, 4, 14);
    let rebuilt = |smave: PublishedSmave| -> Vec<usize> {
        let fit = smave.fit(&data).unwrap();
        fit.trace().iter().filter(|i| i.moved.is_some()).map(|i| i.iteration).collect()
    };
    assert_eq!(rebuilt(Smave::published(2)), [25, 50, 75, 99]);
    assert_eq!(rebuilt(Smave::published(2).max_iter(5).refresh_every(1)), [1, 2, 3, 4]);
    assert_eq!(rebuilt(Smave::theory(2)), [99]);
}

#[test]
fn a_settled_subspace_ends_the_fit() {
    let (data, _) = data(Link::Polynomial, Covariance::Identity, 1000, 5, 15);
    let fit = Smave::published(2).max_iter(5000).tolerance(0.02).seed(1).fit(&data).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::Settled);
    assert!(fit.trace().len() < 5000 && fit.trace().last().unwrap().moved.unwrap() < 0.02);
}

/// The parts of the default estimator together, with a link whose second direction one random start in two misses.
#[test]
fn smave_finds_even_links_and_reports_its_race() {
    let made = Simulation::new(Link::Sinusoidal, Covariance::Ar1, 1000, 20).seed(3).draw().unwrap();
    let truth = made.basis.clone();
    let data = Dataset::new(made.x, made.y).unwrap();
    let fit = Smave::new(2).seed(1).fit(&data).unwrap();
    let error = |fit: &smave::Reduction| squared_distance(fit.directions().as_ref(), truth.as_ref()).unwrap();
    assert!(error(&fit) < 0.03, "{}", error(&fit));
    assert_eq!((fit.method(), fit.stop_reason()), ("smave", StopReason::Settled));
    // The noise has variance 0.25.
    let loo = fit.loo_error().unwrap();
    assert!((0.2..0.35).contains(&loo), "{loo}");
    let starts = fit.starts();
    assert_eq!(starts.len(), 7);
    assert!(starts[0].angle < 1e-7);
    assert!(starts.iter().all(|start| start.rungs >= 1 && start.loo_error > 0.2), "{starts:?}");
    assert!(fit.n_agreeing() >= 3, "{starts:?}");
    // Covariates without effect are left out, and none that matters much.
    let left_out = |i: usize| (0..2).all(|j| fit.basis()[(i, j)] == 0.0);
    let size = |i: usize| truth.row(i).norm_l2();
    assert!((0..20).filter(|&i| left_out(i)).count() >= 8);
    assert!((0..20).all(|i| !left_out(i) || size(i) < 0.15));
    // Each part can be switched off.
    for other in [
        Smave::new(2).walk(false),
        Smave::new(2).moments(false).opg(false),
        Smave::new(2).random_starts(0).overparametrized(0),
        Smave::new(2).screen(false),
        Smave::new(2).choose_neighbors(false),
    ] {
        assert!(error(&other.clone().seed(1).fit(&data).unwrap()) < 0.1, "{other:?}");
    }
    let rough = Smave::new(2).refine(false).seed(1).fit(&data).unwrap();
    assert!(rough.trace().is_empty() && error(&rough) > error(&fit));
    let nothing = Smave::new(2).walk(false).moments(false).opg(false).random_starts(0).overparametrized(0);
    let message = nothing.fit(&data).unwrap_err().to_string();
    assert!(message.contains("switch the walk or random starts on"), "{message}");
}

/// Where every covariate matters, none is left out.
#[test]
fn smave_keeps_covariates_that_all_matter() {
    let made = Simulation::new(Link::Polynomial, Covariance::Identity, 800, 8).seed(5).draw().unwrap();
    let basis = Mat::from_fn(8, 1, |i, _| if i % 2 == 0 { 1.0 } else { -1.0 });
    let response = |row: &[f64]| row.iter().enumerate().map(|(i, x)| x * basis[(i, 0)]).sum::<f64>();
    let noise = |i: usize| 0.3 * (i as f64 * 12.9898).sin();
    let y: Vec<f64> = made
        .x
        .values()
        .chunks_exact(8)
        .enumerate()
        .map(|(i, row)| (0.5 * response(row)).tanh() + noise(i))
        .collect();
    let data = Dataset::new(made.x, y).unwrap();
    let fit = Smave::new(1).fit(&data).unwrap();
    assert!(squared_distance(fit.directions().as_ref(), basis.as_ref()).unwrap() < 0.02);
    assert!((0..8).all(|i| fit.basis()[(i, 0)] != 0.0));
}

#[test]
fn smave_can_be_cancelled_and_survives_few_rows() {
    let made = Simulation::new(Link::Interaction, Covariance::Identity, 300, 6).seed(1).draw().unwrap();
    let data = Dataset::new(made.x, made.y).unwrap();
    let mut stop = |_: Progress<'_>| ControlFlow::Break(());
    let fit = Smave::new(2).fit_observed(&data, &mut stop).unwrap();
    assert_eq!((fit.stop_reason(), fit.trace().len()), (StopReason::Cancelled, 1));
    for (n, p, d) in [(4, 2, 2), (12, 30, 2), (30, 3, 3), (25, 1, 1)] {
        let made =
            Simulation::new(Link::Interaction, Covariance::Identity, n, p.max(2)).seed(1).draw().unwrap();
        let values: Vec<f64> =
            made.x.values().chunks_exact(p.max(2)).flat_map(|row| row[..p].to_vec()).collect();
        let data = Dataset::new(Dense::new(values, n, p).unwrap(), made.y).unwrap();
        let fit = Smave::new(d).fit(&data).unwrap();
        let gram = fit.basis().transpose() * fit.basis() - Mat::<f64>::identity(d, d);
        assert!(gram.norm_l2() < 1e-12, "{n} {p} {d}");
    }
}
