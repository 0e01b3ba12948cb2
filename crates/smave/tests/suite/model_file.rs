//! Models written and read back, and files that are not models.

use std::fs;

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::estimator::Settings;
use smave::{Dataset, Estimator, Model, Points, Regression, Smave};

fn model() -> Model {
    let made = Simulation::new(Link::Polynomial, Covariance::Ar1, 200, 6).seed(1).draw().unwrap();
    let names = ["a", "b", "c", "d", "quoted \"e\"", "ü"].map(String::from).to_vec();
    let data = Dataset::with_names(made.x, made.y, names).unwrap();
    let smave = Smave::published(2).standardize(true).max_iter(30).seed(u64::MAX);
    let reduction = smave.fit(&data).unwrap();
    let model = Model::with_predictor(reduction, &data, Regression::LocalLinear).unwrap();
    model.target("y").settings(smave.settings())
}

#[test]
fn what_is_read_is_what_was_written_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let written = model();
    written.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    let (a, b) = (&written.reduction, &read.reduction);
    assert_eq!(a.basis(), b.basis());
    assert_eq!(a.eigenvalues(), b.eigenvalues());
    assert_eq!(a.standardization(), b.standardization());
    assert_eq!((a.names(), a.trace(), a.stop_reason()), (b.names(), b.trace(), b.stop_reason()));
    assert_eq!(
        (a.method(), a.seed(), a.n_samples(), a.n_neighbors()),
        (b.method(), b.seed(), b.n_samples(), b.n_neighbors())
    );
    assert_eq!(read.targets, ["y"]);
    assert_eq!(read.predictors, written.predictors);
    assert_eq!((&read.settings, &read.settings["max_iter"]), (&written.settings, &30.into()));
    // Nothing but the model is left behind.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn files_that_are_not_models_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    model().save(&path).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let message = |text: &str| {
        fs::write(&path, text).unwrap();
        Model::load(&path).unwrap_err().to_string()
    };
    assert!(message("").contains("it is empty"));
    assert!(message("x1,x2,y\n1,2,3\n").contains("not complete JSON"));
    assert!(message(&good[..good.len() / 2]).contains("may be cut off"));
    assert!(message("{\"a\": 1}").contains("not a model"));
    assert!(message("[1, 2]").contains("not a model"));
    assert!(message(&good.replace("\"smave-model\"", "\"other\"")).contains("its format is 'other'"));
    let newer = message(&good.replace("\"version\": 3", "\"version\": 4"));
    assert!(newer.contains("format version 4") && newer.contains("update smave"), "{newer}");
    for (from, to) in
        [("\"loadings\": [", "\"loadings\": [1"), ("\"scale\": ", "\"scale\": -"), ("\"a\"", "\"b2\"")]
    {
        let altered = message(&good.replacen(from, to, 1));
        assert!(altered.contains("altered"), "{altered}");
    }
    // Other white space is the same file.
    fs::write(&path, good.replace(", ", ",\n  ")).unwrap();
    assert_eq!(Model::load(&path).unwrap().predictors, model().predictors);
    assert!(message(&good.replace("\"seed\"", "\"sead\"")).contains("seed"));
}

#[test]
fn a_missing_file_or_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("nowhere").join("model.json");
    let read = Model::load(&missing).unwrap_err().to_string();
    assert!(read.starts_with("cannot read ") && read.contains("nowhere"), "{read}");
    let written = model().save(&missing).unwrap_err().to_string();
    assert!(written.starts_with("cannot write ") && written.contains("nowhere"), "{written}");
}

#[test]
fn a_file_of_the_first_version_reduces_and_says_that_it_cannot_predict() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model_version_1.json");
    let model = Model::load(path).unwrap();
    assert_eq!((model.reduction.n_components(), &model.targets[..]), (2, &["y".to_string()][..]));
    let x = smave::Dense::new(vec![0.1, 0.2, 0.3, 0.4], 1, 4).unwrap();
    let z = model.reduction.transform(&x).unwrap();
    assert!(z.values().iter().all(|v| v.is_finite()) && model.reduction.loo_error().is_some());
    assert!(model.predict(&x).unwrap_err().to_string().contains("fit it again"));
    // First versions had no checksum, but contradictions were found all the same.
    let folder = tempfile::tempdir().unwrap();
    let altered = fs::read_to_string(path).unwrap().replacen("\"scale\": ", "\"scale\": -", 1);
    fs::write(folder.path().join("m.json"), altered).unwrap();
    let message = Model::load(folder.path().join("m.json")).unwrap_err().to_string();
    assert!(message.contains("positive scale"), "{message}");
}

#[test]
fn a_file_of_the_second_version_predicts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model_version_2.json");
    let model = Model::load(path).unwrap();
    assert_eq!((&model.targets[..], model.predictors.len()), (&["y".to_string()][..], 1));
    let x = smave::Dense::new(vec![0.1, 0.2, 0.3, 0.4], 1, 4).unwrap();
    let found = model.predict(&x).unwrap()[0];
    assert!(found.value.is_finite() && !found.outside);
    assert_eq!(model.predict_each(&x).unwrap(), [[found]]);
}

#[test]
fn predictions_survive_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let mut written = model();
    let made = Simulation::new(Link::Polynomial, Covariance::Ar1, 50, 6).seed(2).draw().unwrap();
    let names = written.reduction.names().to_vec();
    let held_out = Dataset::with_names(made.x.clone(), made.y, names).unwrap();
    written.calibrate(&held_out).unwrap();
    written.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    assert_eq!(read.predict(&made.x).unwrap(), written.predict(&made.x).unwrap());
    let half = |model: &Model| model.predictor().unwrap().half_width(0.9).unwrap();
    assert_eq!(half(&read), half(&written));
    assert_eq!(read.predictor().unwrap().predict(&Points::zeros(1, 2)).unwrap().len(), 1);
}

/// Of a version without a checksum, so that alterations come through to what reads them.
#[test]
fn altered_files_are_read_or_refused_but_never_a_panic() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model_version_1.json");
    let good = fs::read(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let altered = folder.path().join("m.json");
    let x = smave::Dense::new(vec![0.1, 0.2, 0.3, 0.4], 1, 4).unwrap();
    let mut read = 0;
    for i in 0..2000usize {
        let mut text = good.clone();
        // Places and bytes that wander over the whole file.
        let place = i.wrapping_mul(7919) % text.len();
        match i % 4 {
            0 => text[place] = b"0123456789eE-+.,[]{}\"n"[i / 4 % 22],
            1 => drop(text.remove(place)),
            2 => text.insert(place, b'9'),
            _ => text.truncate(place),
        }
        fs::write(&altered, text).unwrap();
        if let Ok(model) = Model::load(&altered) {
            read += 1;
            let _ = model.reduction.transform(&x);
        }
    }
    // Some alterations are harmless, most are not.
    assert!((1..1500).contains(&read), "{read}");
}
