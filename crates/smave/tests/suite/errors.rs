//! Bad requests get their own message. Bad values are covered where data sets are made.

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Dense, Estimator, Mat, PublishedSmave, Smave};

fn data(n: usize, p: usize) -> Dataset<'static> {
    let made = Simulation::new(Link::Interaction, Covariance::Identity, n, p).draw().unwrap();
    Dataset::new(made.x, made.y).unwrap()
}

fn message(smave: PublishedSmave, n: usize, p: usize) -> String {
    smave.fit(&data(n, p)).unwrap_err().to_string()
}

#[test]
fn impossible_dimensions() {
    let expected = |d: usize| format!("cannot reduce 5 covariates to {d} dimensions: choose between 1 and 5");
    assert_eq!(message(Smave::published(0), 50, 5), expected(0));
    assert_eq!(message(Smave::published(6), 50, 5), expected(6));
}

#[test]
fn too_few_rows() {
    assert_eq!(
        message(Smave::published(4), 5, 6),
        "too few rows to fit local regressions in 4 dimensions: 5, where at least 6 are needed; \
         add rows or lower the dimension"
    );
}

#[test]
fn settings_out_of_range() {
    let p = || Smave::published(2);
    for (smave, expected) in [
        (p().batch_size(0), "batch_size = 0 is not allowed: it must be between 1 and the number of rows, 50"),
        (
            p().batch_size(51),
            "batch_size = 51 is not allowed: it must be between 1 and the number of rows, 50",
        ),
        (
            p().n_neighbors(1),
            "n_neighbors = 1 is not allowed: it must be between 2 and the number of rows, 50",
        ),
        (p().step_size(0.0), "step_size = 0 is not allowed: it must be positive and finite"),
        (p().step_decay(f64::NAN), "step_decay = NaN is not allowed: it must be finite, zero or more"),
        (p().momentum(1.0), "momentum = 1 is not allowed: it must be at least 0 and less than 1"),
        (p().ridge(-1.0), "ridge = -1 is not allowed: it must be finite, zero or more"),
        (p().max_iter(0), "max_iter = 0 is not allowed: it must be at least 1"),
        (
            p().refresh_every(0),
            "refresh_every = 0 is not allowed: it must be at least 1; use None to never rebuild",
        ),
        (
            p().tolerance(-0.1),
            "tolerance = -0.1 is not allowed: it must be a positive angle in radians; use None to turn it off",
        ),
        (p().start(Mat::identity(4, 2)), "rows of the start against columns of X: expected 5, found 4"),
        (
            p().start(Mat::identity(5, 3)),
            "columns of the start against dimensions asked for: expected 2, found 3",
        ),
        (
            p().start(Mat::from_fn(5, 2, |_, _| 1.0)),
            "the start has linearly dependent or non-finite columns: give 2 independent ones",
        ),
    ] {
        assert_eq!(message(smave, 50, 5), expected);
    }
}

#[test]
fn transforming_other_data() {
    let fit = Smave::published(2).max_iter(3).fit(&data(50, 5)).unwrap();
    let narrow = Dense::new(vec![0.0; 8], 2, 4).unwrap();
    assert_eq!(
        fit.transform(&narrow).unwrap_err().to_string(),
        "columns of X against covariates of the model: expected 5, found 4"
    );
    let bad = Dense::new(vec![0.0, 0.0, f64::NAN, 0.0, 0.0], 1, 5).unwrap();
    assert!(fit.transform(&bad).unwrap_err().to_string().starts_with("row 0, column 2 ('x3') of X is NaN"));
}

#[test]
fn numbers_that_overflow_are_an_error_not_a_panic() {
    let huge: Vec<f64> = (0..200).map(|i| 1.5e308 * f64::from(i).sin()).collect();
    let y: Vec<f64> = (0..40).map(f64::from).collect();
    for standardize in [false, true] {
        let data = Dataset::new(Dense::new(&huge[..], 40, 5).unwrap(), &y[..]).unwrap();
        let error = Smave::published(2).standardize(standardize).fit(&data).unwrap_err().to_string();
        assert!(error.contains("not a finite number") && error.contains("rescale"), "{error}");
    }
    let x: Vec<f64> = (0..200).map(|i| f64::from(i).sin()).collect();
    let huge_y: Vec<f64> = (0..40).map(|i| 1e300 * f64::from(i).cos()).collect();
    let data = Dataset::new(Dense::new(x, 40, 5).unwrap(), huge_y).unwrap();
    assert!(Smave::published(2).fit(&data).unwrap_err().to_string().contains("rescale"));
}
