//! Rows that occur more than once, found and counted.
//!
//! Each row (covariates and responses) is reduced to a 64-bit number; rows with the same number lie together once these are sorted,
//! and only they are compared. The order of the numbers depends on the values of rows alone, which makes it an order
//! that everybody agrees on, however rows came in. Cost: one pass over X, and a sort of n numbers.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::data::design::{Design, Rows};
use crate::data::responses::Responses;
use crate::linalg::Points;

/// Some rows, and how much each counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    pub rows: Vec<usize>,
    /// `None` if each counts once.
    pub weights: Option<Vec<f64>>,
}

/// The rows that count, each value once; `None` if these are all rows as they come.
///
/// Rows that count once and occur once stay in their order. As soon as one counts otherwise or occurs again, all are put
/// in the order of their values: a row with the weight 2 and the same row twice are then the same thing.
pub(crate) fn count_repeats(x: &dyn Design, y: Responses<'_>, weights: Option<&[f64]>) -> Option<Counted> {
    let n = x.n_rows();
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let mut rows: Vec<usize> = (0..n).filter(|&row| weight(row) > 0.0).collect();
    let keys = keys(x, y);
    let mut sorted = rows.clone();
    sorted.par_sort_unstable_by_key(|&row| (keys[row], row));
    let together = |a: &usize, b: &usize| keys[*a] == keys[*b];
    // Rows whose numbers agree are nearly always the same; to be sure, look.
    let mut distinct: Vec<(usize, f64)> = Vec::with_capacity(rows.len());
    for group in sorted.chunk_by(together) {
        if let [row] = *group {
            distinct.push((row, weight(row)));
            continue;
        }
        let values = whole_rows(x, y, group);
        let mut places: Vec<usize> = (0..group.len()).collect();
        places.sort_by(|&a, &b| compare(values.point(a), values.point(b)));
        for same in places.chunk_by(|&a, &b| compare(values.point(a), values.point(b)).is_eq()) {
            distinct.push((group[same[0]], same.iter().map(|&place| weight(group[place])).sum()));
        }
    }
    if distinct.iter().all(|&(_, count)| count == 1.0) {
        return (rows.len() < n).then_some(Counted { rows, weights: None });
    }
    let counts;
    (rows, counts) = distinct.into_iter().unzip();
    Some(Counted { rows, weights: Some(counts) })
}

/// Rows that are copied at a time.
const BLOCK: usize = 512;

/// One number for each row, the same for rows that are the same.
fn keys(x: &dyn Design, y: Responses<'_>) -> Vec<u64> {
    let n = x.n_rows();
    let blocks: Vec<Vec<u64>> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let rows: Vec<usize> = (block * BLOCK..((block + 1) * BLOCK).min(n)).collect();
            let values = whole_rows(x, y, &rows);
            (0..rows.len()).map(|row| key(values.point(row))).collect()
        })
        .collect();
    blocks.concat()
}

/// Covariates and responses of some rows.
fn whole_rows(x: &dyn Design, y: Responses<'_>, rows: &[usize]) -> Points {
    let p = x.n_cols();
    let mut covariates = Points::zeros(rows.len(), p);
    x.copy_rows_into(Rows::Subset(rows), &mut covariates);
    let mut whole = Points::zeros(rows.len(), p + y.count());
    for (place, (to, &row)) in whole.values_mut().chunks_exact_mut(p + y.count()).zip(rows).enumerate() {
        to[..p].copy_from_slice(covariates.point(place));
        to[p..].iter_mut().zip(y.iter()).for_each(|(to, y)| *to = y[row]);
    }
    whole
}

/// The values mixed into one number, by multiplication with an odd constant and a rotation for each.
fn key(values: &[f64]) -> u64 {
    values.iter().fold(0x9e37_79b9_7f4a_7c15, |key: u64, value| {
        // Zero has two signs.
        (key.rotate_left(23) ^ (value + 0.0).to_bits()).wrapping_mul(0xd6e8_feb8_6659_fd93)
    })
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let orders = a.iter().zip(b).map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0)));
    orders.fold(Ordering::Equal, Ordering::then)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;

    fn counted(rows: &[[f64; 3]], weights: Option<&[f64]>) -> Option<Vec<(Vec<f64>, f64)>> {
        let x = Dense::new(rows.iter().flat_map(|row| row[..2].to_vec()).collect::<Vec<_>>(), rows.len(), 2);
        let y: Vec<f64> = rows.iter().map(|row| row[2]).collect();
        let found = count_repeats(&x.unwrap(), Responses::from(&y), weights)?;
        let weights = found.weights.unwrap_or(vec![1.0; found.rows.len()]);
        Some(found.rows.iter().zip(weights).map(|(&row, w)| (rows[row].to_vec(), w)).collect())
    }

    #[test]
    fn a_weight_is_a_repetition_in_any_order() {
        let (a, b, c) = ([1.0, 2.0, 0.5], [1.0, 2.0, 0.7], [-3.0, 0.0, 0.5]);
        let once = counted(&[a, b, c], Some(&[2.0, 1.0, 3.0])).unwrap();
        assert_eq!(once.len(), 3);
        for rows in [[a, a, b, c, c, c], [c, a, c, b, a, [-3.0, -0.0, 0.5]]] {
            assert_eq!(counted(&rows, None).unwrap(), once);
        }
        assert_eq!(counted(&[b, a, a, c], Some(&[1.0, 0.5, 1.5, 3.0])).unwrap(), once);
    }

    #[test]
    fn distinct_rows_stay_as_they_are() {
        let (a, b, c) = ([1.0, 2.0, 0.5], [1.0, 2.0, 0.7], [-3.0, 0.0, 0.5]);
        assert_eq!(counted(&[c, b, a], None), None);
        assert_eq!(counted(&[c, b, a], Some(&[1.0, 1.0, 1.0])), None);
        let without = counted(&[c, b, a], Some(&[1.0, 0.0, 1.0])).unwrap();
        assert_eq!(without, [(c.to_vec(), 1.0), (a.to_vec(), 1.0)]);
    }

    #[test]
    fn rows_with_the_same_number_are_told_apart() {
        assert!(compare(&[1.0, 2.0], &[1.0, 3.0]).is_lt() && compare(&[2.0, 0.0], &[1.0, 3.0]).is_gt());
        assert!(compare(&[0.0], &[-0.0]).is_eq());
        assert_eq!(key(&[0.0, 1.0]), key(&[-0.0, 1.0]));
        assert_ne!(key(&[0.0, 1.0]), key(&[1.0, 0.0]));
    }
}
