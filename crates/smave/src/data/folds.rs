//! Repeated K-fold splits of rows.

use rand::seq::SliceRandom;

use crate::error::{Error, Result};
use crate::rng::{Purpose, stream};

/// The fold of each row, 0 to `n_folds` - 1, shuffled anew for each `repeat`; sizes differ by one at the most.
///
/// # Errors
/// When there are fewer than 2 folds, or more than rows.
pub fn k_folds(n_rows: usize, n_folds: usize, seed: u64, repeat: u64) -> Result<Vec<usize>> {
    if !(2..=n_rows).contains(&n_folds) {
        return Err(Error::InvalidParameter {
            name: "folds",
            value: n_folds.to_string(),
            requirement: format!("between 2 and the number of rows, {n_rows}"),
        });
    }
    let mut folds: Vec<usize> = (0..n_rows).map(|row| row % n_folds).collect();
    folds.shuffle(&mut stream(seed, Purpose::Folds, repeat));
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_balanced_and_differ_between_repeats() {
        let folds = k_folds(103, 5, 1, 0).unwrap();
        let mut sizes = [0; 5];
        folds.iter().for_each(|&fold| sizes[fold] += 1);
        assert_eq!(sizes, [21, 21, 21, 20, 20]);
        assert_eq!(folds, k_folds(103, 5, 1, 0).unwrap());
        assert_ne!(folds, k_folds(103, 5, 1, 1).unwrap());
        assert!(k_folds(4, 5, 1, 0).is_err() && k_folds(4, 1, 1, 0).is_err());
    }
}
