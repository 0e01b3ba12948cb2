//! Weights count rows: weight 2 is the row twice, weight 0 leaves it out.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{
    Ade, Dataset, Dense, Estimator, InverseRegression, Mat, Model, Opg, OpgAdaptive, OpgWalk, Pca, Points,
    Predictor, Reduction, Regression, Rmave, SelectDimension, Smave, Uncertainty, principal_angles,
};

const P: usize = 4;

/// Rows with weights, and the same rows as often as they count.
fn weighted_and_repeated(n: usize, seed: u64) -> [Dataset<'static>; 2] {
    let made = Simulation::new(Link::Rational, Covariance::Ar1, n, P).seed(seed).draw().unwrap();
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 1.0, 3.0][i % 5]).collect();
    let rows: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let values: Vec<f64> = rows.iter().flat_map(|&i| made.x.values()[i * P..(i + 1) * P].to_vec()).collect();
    let y: Vec<f64> = rows.iter().map(|&i| made.y[i]).collect();
    let repeated = Dataset::new(Dense::new(values, rows.len(), P).unwrap(), y).unwrap();
    [Dataset::new(made.x, made.y).unwrap().with_weights(weights).unwrap(), repeated]
}

fn largest_angle(a: &Reduction, b: &Reduction) -> f64 {
    principal_angles(a.directions().as_ref(), b.directions().as_ref())
        .unwrap()
        .into_iter()
        .fold(0.0, f64::max)
}

/// Methods without randomness see no difference at all.
#[test]
fn deterministic_methods_count_exactly() {
    let [weighted, repeated] = weighted_and_repeated(150, 1);
    let methods: Vec<Box<dyn Estimator>> = vec![
        Box::new(Pca::new(2)),
        Box::new(Pca::new(2).standardize(true)),
        Box::new(InverseRegression::sir(2)),
        Box::new(InverseRegression::save(2)),
        Box::new(InverseRegression::dr(2)),
        Box::new(InverseRegression::phd(2)),
        Box::new(InverseRegression::phd_residual(2)),
        Box::new(Ade::new(1)),
        Box::new(Opg::kernel(2)),
        Box::new(Opg::kernel(2).standardize(true)),
        Box::new(Opg::knn(2)),
        Box::new(Rmave::mave(2)),
    ];
    for method in methods {
        let (a, b) = (method.fit(&weighted).unwrap(), method.fit(&repeated).unwrap());
        let angle = largest_angle(&a, &b);
        assert!(angle < 1e-5, "{}: {angle}", method.name());
        for (v, w) in a.eigenvalues().iter().zip(b.eigenvalues()) {
            assert!((v - w).abs() <= 1e-6 * (1.0 + w.abs()), "{}: {v} {w}", method.name());
        }
        assert_eq!(a.n_neighbors(), b.n_neighbors(), "{}", method.name());
    }
}

/// With every row an anchor the walk and the adaptive method are not random either.
#[test]
fn gradient_methods_count_exactly_when_every_row_is_an_anchor() {
    let [weighted, repeated] = weighted_and_repeated(150, 2);
    let methods: [Box<dyn Estimator>; 2] =
        [Box::new(OpgWalk::new(2).n_anchors(1000)), Box::new(OpgAdaptive::new(2).n_anchors(1000))];
    for method in methods {
        let angle = largest_angle(&method.fit(&weighted).unwrap(), &method.fit(&repeated).unwrap());
        // A kernel's negligible weights are cut off at the nearest other row, which may be the row itself again.
        assert!(angle < 1e-4, "{}: {angle}", method.name());
    }
}

/// Methods that draw rows at random, or stop by a tolerance, end at the same subspace to within that.
#[test]
fn iterative_methods_end_at_the_same_place() {
    let [weighted, repeated] = weighted_and_repeated(400, 3);
    let methods: Vec<Box<dyn Estimator>> = vec![
        Box::new(Rmave::kernel(2).tolerance(1e-3)),
        Box::new(Rmave::knn(2).tolerance(1e-3)),
        Box::new(Smave::new(2).tolerance(1e-3).screen(false)),
        Box::new(Smave::new(2)),
    ];
    let unweighted = {
        let made = Simulation::new(Link::Rational, Covariance::Ar1, 400, P).seed(3).draw().unwrap();
        Dataset::new(made.x, made.y).unwrap()
    };
    for method in methods {
        let (a, b) = (method.fit(&weighted).unwrap(), method.fit(&repeated).unwrap());
        let angle = largest_angle(&a, &b);
        let without = largest_angle(&method.fit(&unweighted).unwrap(), &b);
        assert!(
            angle < 0.03 && angle < 0.5 * without,
            "{}: {angle}, without weights {without}",
            method.name()
        );
    }
}

/// From the same start, with every row in every batch, published SMAVE takes the same steps.
#[test]
fn published_smave_takes_the_same_steps() {
    let [weighted, repeated] = weighted_and_repeated(150, 4);
    let start = Mat::from_fn(P, 2, |i, j| ((1 + i + 3 * j) as f64).sin());
    let fit = |data: &Dataset<'_>| {
        let all = data.weights().map_or(data.n_samples(), |w| w.iter().filter(|w| **w > 0.0).count());
        Smave::published(2).start(start.clone()).batch_size(all).max_iter(40).fit(data).unwrap()
    };
    let (a, b) = (fit(&weighted), fit(&repeated));
    assert!(largest_angle(&a, &b) < 1e-5, "{}", largest_angle(&a, &b));
}

/// Predictions, their leave-one-out errors and the interval that follows, with both regressions.
#[test]
fn predictions_count_exactly() {
    let [weighted, repeated] = weighted_and_repeated(150, 5);
    let fit = Opg::kernel(2).fit(&weighted).unwrap();
    let queries = Points::from_values((0..40).map(|i| ((i * i) as f64).sin()).collect(), 2).unwrap();
    for regression in [Regression::LocalLinear, Regression::NearestNeighbors] {
        let predictor = |data: &Dataset<'_>| {
            let weights = data.weights().map(<[f64]>::to_vec);
            Predictor::weighted(fit.transform(data.x()).unwrap(), data.y().to_vec(), weights, regression)
                .unwrap()
        };
        let (a, b) = (predictor(&weighted), predictor(&repeated));
        assert_eq!(a.n_neighbors(), b.n_neighbors());
        assert!(
            (a.loo_error() - b.loo_error()).abs() < 1e-3 * b.loo_error(),
            "{} {}",
            a.loo_error(),
            b.loo_error()
        );
        for (a, b) in a.predict(&queries).unwrap().iter().zip(b.predict(&queries).unwrap()) {
            // The ridge is a share of the variance of rows, however they count.
            assert!((a.value - b.value).abs() < 1e-3, "{regression:?} {} {}", a.value, b.value);
        }
    }
}

#[test]
fn the_choice_of_the_dimension_and_the_model_file_know_weights() {
    let [weighted, _] = weighted_and_repeated(400, 6);
    let choice = SelectDimension::new(3).repeats(1).nested(true).run(&weighted).unwrap();
    assert!(choice.curve.iter().all(|found| found.error.is_finite()) && choice.chosen > 0, "{choice:?}");
    let fit = Smave::new(2).fit(&weighted).unwrap();
    let model = Model::with_predictor(fit, &weighted, Regression::LocalLinear).unwrap();
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("m.json")).unwrap();
    assert_eq!(Model::load(folder.path().join("m.json")).unwrap().predictors, model.predictors);
    let explain = Uncertainty::new().replicates(20).permutations(19);
    assert_eq!(explain.run(&model.reduction, &weighted).unwrap().covariates.len(), P);
}
