//! Whatever the bytes of a model file, it is read or refused; and what is read can be used, and written again.

use std::path::Path;

use smave::{Dense, Model};

/// Fails if the reader does, or if what it gives cannot be used.
pub fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    check_file(bytes, folder.path());
    // A checksum keeps alterations from what lies behind it. Files of the first version have none.
    for version in [&b"\"version\": 2"[..], b"\"version\": 3"] {
        if let Some(at) = bytes.windows(version.len()).position(|window| window == version) {
            let mut first = bytes.to_vec();
            first[at + version.len() - 1] = b'1';
            check_file(&first, folder.path());
        }
    }
}

fn check_file(bytes: &[u8], folder: &Path) {
    let (given, written, again) = (folder.join("given"), folder.join("written"), folder.join("again"));
    std::fs::write(&given, bytes).unwrap();
    let Ok(model) = Model::load(&given) else { return };
    let covariates: Vec<String> = model.sources().iter().flat_map(|source| source.covariates()).collect();
    assert_eq!(covariates, model.reduction.names());
    assert!(model.sources().iter().all(|source| source.levels.as_ref().is_none_or(|l| !l.is_empty())));
    let found = use_it(&model);
    model.save(&written).unwrap();
    let read = Model::load(&written).unwrap();
    assert_eq!(use_it(&read), found);
    read.save(&again).unwrap();
    assert_eq!(std::fs::read(&again).unwrap(), std::fs::read(&written).unwrap());
}

/// What the model makes of a few rows; as text, in which NaN is NaN.
fn use_it(model: &Model) -> String {
    let p = model.reduction.n_features();
    let rows = [0.0, 0.25, -1e3].map(|step| (0..p).map(|i| step * i as f64).collect::<Vec<_>>());
    let x = Dense::new(rows.concat(), rows.len(), p).unwrap();
    let z = model.reduction.transform(&x);
    if let Ok(z) = &z {
        assert_eq!((z.len(), z.dim()), (rows.len(), model.reduction.n_components()));
    }
    assert_eq!(model.reduction.directions().ncols(), model.reduction.n_components());
    let found = model.predict_each(&x);
    for found in found.iter().flatten() {
        assert_eq!(found.len(), rows.len());
    }
    let widths: Vec<_> = model.predictors.iter().map(|predictor| predictor.half_width(0.5)).collect();
    assert!(widths.iter().flatten().all(|width| *width >= 0.0), "{widths:?}");
    format!("{z:?} {found:?} {:?} {widths:?}", model.predict(&x))
}
