//! Several responses: the directions that all of them need together.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{
    Ade, Dataset, Dense, Estimator, InverseRegression, Mat, Model, Opg, OpgAdaptive, OpgWalk, Pca, Reduction,
    Regression, Rmave, SelectDimension, Smave, Uncertainty, principal_angles, squared_distance,
};

const P: usize = 6;

fn methods() -> Vec<Box<dyn Estimator>> {
    vec![
        Box::new(Opg::kernel(2)),
        Box::new(Opg::knn(2)),
        Box::new(OpgAdaptive::new(2)),
        Box::new(OpgWalk::new(2)),
        Box::new(InverseRegression::sir(2)),
        Box::new(InverseRegression::save(2)),
        Box::new(InverseRegression::dr(2)),
        Box::new(Rmave::mave(2)),
        Box::new(Rmave::kernel(2)),
        Box::new(Rmave::knn(2)),
        Box::new(Smave::published(2)),
        Box::new(Smave::new(2)),
    ]
}

/// Covariates; a response that depends on the first only, and one, in far larger units, on the second and third.
fn two_responses(n: usize) -> (Dense<'static, f64>, Vec<f64>, Vec<f64>) {
    let made = Simulation::new(Link::Polynomial, Covariance::Identity, n, P).seed(3).draw().unwrap();
    let noise = Simulation::new(Link::Polynomial, Covariance::Identity, n, P).seed(4).draw().unwrap().x;
    let row = |i: usize| &made.x.values()[i * P..(i + 1) * P];
    let noise = |i: usize, j: usize| 0.2 * noise.values()[i * P + j];
    let first = (0..n).map(|i| row(i)[0] + 0.5 * row(i)[0].powi(2) + noise(i, 0)).collect();
    let second = (0..n)
        .map(|i| {
            let z = (row(i)[1] + row(i)[2]) / 2f64.sqrt();
            1000.0 * ((1.5 * z).sin() + 0.7 * z.powi(2) + noise(i, 1))
        })
        .collect();
    (made.x, first, second)
}

fn both(n: usize) -> Dataset<'static> {
    let (x, first, second) = two_responses(n);
    Dataset::new(x, first).unwrap().with_response(&second).unwrap()
}

/// The first axis, and the middle of the second and third.
fn truth() -> Mat<f64> {
    let half = 0.5f64.sqrt();
    Mat::from_fn(P, 2, |i, j| match (i, j) {
        (0, 0) => 1.0,
        (1 | 2, 1) => half,
        _ => 0.0,
    })
}

fn error(found: &Reduction) -> f64 {
    squared_distance(found.directions().as_ref(), truth().as_ref()).unwrap()
}

#[test]
fn each_response_contributes_its_direction() {
    let (x, first, second) = two_responses(500);
    for method in methods() {
        let found = error(&method.fit(&both(500)).unwrap());
        assert!(found < 0.05, "{}: {found}", method.name());
    }
    // One response knows nothing of the other's direction.
    for y in [first, second] {
        let found = error(&Smave::new(2).fit(&Dataset::new(x.clone(), y).unwrap()).unwrap());
        assert!(found > 0.3, "{found}");
    }
    // The average derivative is one direction: that on which the responses agree most.
    let found = Ade::new(1).fit(&both(500)).unwrap();
    let within = (truth().transpose() * found.basis()).squared_norm_l2();
    assert!(within > 0.95, "{within}");
}

#[test]
fn the_units_of_a_response_do_not_matter() {
    let (x, first, second) = two_responses(200);
    for method in methods() {
        let fit = |scale: f64| {
            let y: Vec<f64> = second.iter().map(|v| scale * v).collect();
            method.fit(&Dataset::new(x.clone(), first.clone()).unwrap().with_response(&y).unwrap()).unwrap()
        };
        // Powers of two: not a bit changes.
        assert_eq!(fit(1.0).basis(), fit(1024.0).basis(), "{}", method.name());
    }
}

#[test]
fn the_same_response_twice_is_that_response() {
    let made = Simulation::new(Link::Rational, Covariance::Ar1, 200, 5).seed(6).draw().unwrap();
    let again: Vec<f64> = made.y.iter().map(|y| 5.0 - 3.0 * y).collect();
    let once = Dataset::new(made.x.clone(), made.y.clone()).unwrap();
    let twice = Dataset::new(made.x, made.y).unwrap().with_response(&again).unwrap();
    let exact: [Box<dyn Estimator>; 9] = [
        Box::new(Pca::new(2)),
        Box::new(Ade::new(1)),
        Box::new(InverseRegression::sir(2)),
        Box::new(InverseRegression::save(2)),
        Box::new(InverseRegression::dr(2)),
        Box::new(Opg::kernel(2)),
        Box::new(Opg::knn(2)),
        Box::new(OpgWalk::new(2)),
        Box::new(OpgAdaptive::new(2)),
    ];
    let angle = |a: &Reduction, b: &Reduction| {
        let angles = principal_angles(a.directions().as_ref(), b.directions().as_ref()).unwrap();
        angles.into_iter().fold(0.0, f64::max)
    };
    for method in exact {
        let apart = angle(&method.fit(&once).unwrap(), &method.fit(&twice).unwrap());
        assert!(apart < 1e-6, "{}: {apart}", method.name());
    }
    // Iterations end a little earlier or later.
    for method in [&Rmave::kernel(2) as &dyn Estimator, &Smave::new(2)] {
        let apart = angle(&method.fit(&once).unwrap(), &method.fit(&twice).unwrap());
        assert!(apart < 0.02, "{}: {apart}", method.name());
    }
}

#[test]
fn weights_count_rows_of_every_response() {
    let (x, first, second) = two_responses(120);
    let weights: Vec<f64> = (0..120).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let rows: Vec<usize> = (0..120).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    let data = Dataset::new(x, first).unwrap().with_response(&second).unwrap();
    let repeated = data.subset(&rows).unwrap();
    let weighted = data.with_weights(weights).unwrap();
    for method in [&Opg::knn(2) as &dyn Estimator, &InverseRegression::sir(2), &Rmave::mave(2)] {
        let (a, b) = (method.fit(&weighted).unwrap(), method.fit(&repeated).unwrap());
        let angles = principal_angles(a.directions().as_ref(), b.directions().as_ref()).unwrap();
        assert!(angles.iter().all(|angle| *angle < 1e-5), "{}: {angles:?}", method.name());
    }
}

#[test]
fn the_dimension_is_that_of_all_responses_together() {
    let choice = SelectDimension::new(3).repeats(1).run(&both(400)).unwrap();
    assert_eq!(choice.chosen, 2);
    // In standard deviations, added up: without directions, one for each response.
    assert!((choice.curve[0].error - 2.0).abs() < 0.1, "{}", choice.curve[0].error);
}

#[test]
fn covariates_of_any_response_are_found_relevant() {
    let data = both(300);
    let fit = Smave::new(2).fit(&data).unwrap();
    let explained = Uncertainty::new().replicates(20).permutations(99).run(&fit, &data).unwrap();
    let p_values: Vec<f64> = explained.covariates.iter().map(|c| c.p_value).collect();
    assert!(p_values[..3].iter().all(|p| *p <= 0.02), "{p_values:?}");
    assert!(p_values[3..].iter().any(|p| *p > 0.05), "{p_values:?}");
}

#[test]
fn every_response_is_predicted_and_survives_the_file() {
    let data = both(500);
    let fit = Smave::new(2).fit(&data).unwrap();
    let mut model = Model::with_predictor(fit, &data, Regression::LocalLinear).unwrap();
    model = model.target("first").target("second");
    let found = model.predict_each(data.x()).unwrap();
    for (found, y) in found.iter().zip(data.raw_responses().iter()) {
        let mean = y.iter().sum::<f64>() / 500.0;
        let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
        let squares: f64 = found.iter().zip(y).map(|(found, y)| (found.value - y).powi(2)).sum();
        assert!(squares < 0.2 * total, "{squares} {total}");
    }
    let message = model.predict(data.x()).unwrap_err().to_string();
    assert!(message.contains("2 responses") && message.contains("predict_each"), "{message}");
    model.calibrate(&both(100)).unwrap();
    let (x, first, _) = two_responses(100);
    assert!(model.calibrate(&Dataset::new(x, first).unwrap()).is_err());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    model.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    assert_eq!((&read.targets, &read.predictors), (&model.targets, &model.predictors));
    assert_eq!(read.predict_each(data.x()).unwrap(), model.predict_each(data.x()).unwrap());
    // Names are kept with and without predictions.
    model.predictors.clear();
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap().targets, ["first", "second"]);
}

#[test]
fn a_further_response_is_checked_like_the_first() {
    let data = || both(20);
    let message = |y: &[f64]| data().with_response(y).unwrap_err().to_string();
    assert!(message(&[1.0; 3]).contains("expected 20, found 3"));
    assert!(message(&[1.0; 20]).contains("the target y is 1 in every row"));
    let mut broken = vec![0.0; 20];
    broken[7] = f64::NAN;
    assert!(message(&broken).contains("row 7"));
    // The second never changes where rows count.
    let mut weights = vec![1.0; 20];
    weights[3] = 0.0;
    let mut once = vec![2.0; 20];
    once[3] = 5.0;
    let weighted = data().with_weights(weights.clone()).unwrap();
    assert!(weighted.with_response(&once).is_err());
    assert!(data().with_response(&once).unwrap().with_weights(weights).is_err());
}
