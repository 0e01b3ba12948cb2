//! Intervals cover the truth and p-values find effects, about as often as they say.

use std::ops::ControlFlow;

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::linalg::orthonormalize;
use smave::{Dataset, Error, Estimator, Mat, Smave, Uncertainty};

/// The basis of span(`truth`) nearest to `estimate`.
fn aligned(truth: &Mat<f64>, estimate: &Mat<f64>) -> Mat<f64> {
    let svd = (truth.transpose() * estimate).svd().unwrap();
    truth * svd.U() * svd.V().transpose()
}

#[test]
fn intervals_cover_and_false_alarms_are_rare() {
    let (mut covered, mut loadings) = (0, 0);
    let (mut relevant, mut rows) = (0, 0);
    let (mut alarms, mut idle) = (0, 0);
    let (mut found, mut active) = (0, 0);
    for seed in 0..24 {
        let link = Link::ALL[seed as usize % 5];
        let made = Simulation::new(link, Covariance::Ar1, 400, 8).seed(seed).draw().unwrap();
        let data = Dataset::new(made.x, made.y).unwrap();
        let fit = Smave::new(2).standardize(false).seed(seed).fit(&data).unwrap();
        let explained =
            Uncertainty::new().replicates(40).permutations(99).seed(seed).run(&fit, &data).unwrap();
        let truth = aligned(&made.basis, &fit.basis().to_owned());
        for (i, covariate) in explained.covariates.iter().enumerate() {
            for (j, interval) in covariate.loadings.iter().enumerate() {
                covered += usize::from(interval.covers(truth[(i, j)]));
                loadings += 1;
            }
            let size = truth.row(i).norm_l2();
            relevant += usize::from(covariate.relevance.covers(size));
            rows += 1;
            if size < 1e-12 {
                alarms += usize::from(covariate.p_value <= 0.05);
                idle += 1;
            } else if size > 0.5 {
                found += usize::from(covariate.p_value <= 0.05);
                active += 1;
            }
        }
    }
    let share = |count: usize, of: usize| count as f64 / of as f64;
    assert!(share(covered, loadings) >= 0.85, "{covered} of {loadings} loadings at 90%");
    assert!(share(relevant, rows) >= 0.85, "{relevant} of {rows} relevances at 90%");
    // Five in a hundred expected; four standard errors above that is nine.
    assert!(idle > 80 && share(alarms, idle) <= 0.10, "{alarms} of {idle} at 5%");
    assert!(active > 40 && share(found, active) >= 0.9, "{found} of {active}");
}

#[test]
fn the_order_is_that_of_relevance_and_units_are_the_original_ones() {
    let made = Simulation::new(Link::Interaction, Covariance::Identity, 500, 6).seed(3).draw().unwrap();
    let mut scaled = made.x.values().to_vec();
    scaled.chunks_exact_mut(6).for_each(|row| row[1] *= 1000.0);
    let data = Dataset::new(smave::Dense::new(scaled, 500, 6).unwrap(), made.y).unwrap();
    let fit = Smave::new(2).fit(&data).unwrap();
    let explained = Uncertainty::new().replicates(20).permutations(19).run(&fit, &data).unwrap();
    let order = explained.ranking();
    for pair in order.windows(2) {
        let relevance = |i: usize| explained.covariates[i].relevance.estimate;
        assert!(relevance(pair[0]) >= relevance(pair[1]));
    }
    let directions = fit.directions();
    for (i, covariate) in explained.covariates.iter().enumerate() {
        assert_eq!(covariate.name, format!("x{}", i + 1));
        for (j, loading) in covariate.loadings.iter().enumerate() {
            assert!((loading.estimate - directions[(i, j)]).abs() < 1e-12);
            assert!(loading.low <= loading.estimate && loading.estimate <= loading.high);
        }
        assert!((0.0..=1.0).contains(&covariate.relevance.low) && covariate.relevance.high <= 1.0);
        assert!((0.05..=1.0).contains(&covariate.p_value));
    }
    assert!(explained.angles.is_sorted() && explained.angles[1] < 0.5, "{:?}", explained.angles);
    assert!(orthonormalize(directions.as_ref()).is_some());
}

#[test]
fn threads_do_not_show_and_cancelling_works() {
    let made = Simulation::new(Link::Rational, Covariance::Identity, 200, 4).seed(3).draw().unwrap();
    let data = Dataset::new(made.x, made.y).unwrap();
    let fit = Smave::new(1).fit(&data).unwrap();
    let explain = Uncertainty::new().replicates(20).permutations(19);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| explain.run(&fit, &data)).unwrap();
    assert_eq!(one, pool(3).install(|| explain.run(&fit, &data)).unwrap());
    let stop_early = |done: usize, total: usize| {
        assert_eq!(total, 24);
        if done < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    assert!(matches!(explain.run_watched(&fit, &data, &stop_early, None), Err(Error::Cancelled)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let made = Simulation::new(Link::Rational, Covariance::Identity, 100, 4).seed(3).draw().unwrap();
    let data = Dataset::new(made.x.clone(), made.y.clone()).unwrap();
    let fit = Smave::new(1).fit(&data).unwrap();
    let names = ["x1", "other", "x3", "x4"].map(String::from).to_vec();
    let renamed = Dataset::with_names(made.x, made.y, names).unwrap();
    let message = |explain: Uncertainty, data: &Dataset<'_>| explain.run(&fit, data).unwrap_err().to_string();
    assert!(message(Uncertainty::new(), &renamed).contains("'x2', as in the model"));
    assert!(message(Uncertainty::new().replicates(3), &data).contains("replicates = 3"));
    assert!(message(Uncertainty::new().permutations(3), &data).contains("permutations = 3"));
    assert!(message(Uncertainty::new().level(1.0), &data).contains("level = 1"));
    assert!(message(Uncertainty::new().max_rows(3), &data).contains("max_rows = 3"));
}

/// The first covariate is where a factorization leaves traces of what was set to zero.
#[test]
fn every_place_is_tested_alike() {
    let made =
        Simulation::new(Link::Exponential, Covariance::Identity, 600, 5).seed(8).density(1.0).draw().unwrap();
    let fit_and_explain = |order: [usize; 5]| {
        let values =
            made.x.values().chunks_exact(5).flat_map(|row| order.map(|i| row[i])).collect::<Vec<_>>();
        let data = Dataset::new(smave::Dense::new(values, 600, 5).unwrap(), made.y.clone()).unwrap();
        let fit = Smave::new(2).screen(false).fit(&data).unwrap();
        let explained = Uncertainty::new().replicates(20).permutations(199).run(&fit, &data).unwrap();
        let mut found = [0.0; 5];
        (0..5).for_each(|place| found[order[place]] = explained.covariates[place].p_value);
        found
    };
    let (there, back) = (fit_and_explain([0, 1, 2, 3, 4]), fit_and_explain([4, 3, 2, 1, 0]));
    for i in 0..5 {
        let size = made.basis.row(i).norm_l2();
        assert!((there[i] <= 0.05) == (back[i] <= 0.05), "{there:?} {back:?}");
        assert!(size < 0.4 || there[i] <= 0.05, "{size} {there:?}");
    }
}
