//! The inputs that fuzz targets start from, as ordinary tests.

use std::fs;
use std::panic::{RefUnwindSafe, catch_unwind};
use std::path::Path;

/// Runs `check` on each seed of a target, and names those at which it fails.
pub fn pass(target: &str, check: impl Fn(&[u8]) + RefUnwindSafe) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds in {}", folder.display());
    paths.retain(|path| {
        let bytes = fs::read(path).unwrap();
        catch_unwind(|| check(&bytes)).is_err()
    });
    assert!(paths.is_empty(), "{paths:#?}");
}
