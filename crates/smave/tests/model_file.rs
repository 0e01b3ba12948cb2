//! Models written and read back, and files that are not models.

use std::fs;

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Estimator, Model, Smave};

fn model() -> Model {
    let made = Simulation::new(Link::Polynomial, Covariance::Ar1, 200, 6).seed(1).draw().unwrap();
    let names = ["a", "b", "c", "d", "quoted \"e\"", "ü"].map(String::from).to_vec();
    let data = Dataset::with_names(made.x, made.y, names).unwrap();
    let reduction = Smave::published(2).standardize(true).max_iter(30).seed(u64::MAX).fit(&data).unwrap();
    Model { reduction, target: Some("y".into()) }
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
    assert_eq!(read.target.as_deref(), Some("y"));
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
    let newer = message(&good.replace("\"version\": 1", "\"version\": 2"));
    assert!(newer.contains("format version 2") && newer.contains("update smave"), "{newer}");
    let altered = message(&good.replacen("\"loadings\": [\n        ", "\"loadings\": [\n        1", 1));
    assert!(altered.contains("altered") || altered.contains("wrong"), "{altered}");
    assert!(message(&good.replacen("\"scale\": ", "\"scale\": -", 1)).contains("positive scale"));
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
