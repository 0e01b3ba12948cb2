//! Distance-weighted nearest neighbors.
//!
//! $$ \hat y(z) = \frac{\sum_i y_i / r_i}{\sum_i 1 / r_i} $$
//!
//! over the k rows nearest to z at distances $r_i$; if some lie at z itself, their mean. This is
//! the regression that the paper puts on top of every reduction.

use crate::data::design::expect_size;
use crate::error::{Error, Result};
use crate::linalg::Points;
use crate::local::index::{Neighbor, build_index};
use crate::predict::queries::answer_each;

/// Predictions at `queries` from the `k` nearest of the rows `z` with responses `y`.
///
/// # Errors
/// When sizes do not fit, or k is not between 1 and the number of rows.
pub fn knn_regression(z: &Points, y: &[f64], k: usize, queries: &Points) -> Result<Vec<f64>> {
    expect_size("length of y against rows of z", z.len(), y.len())?;
    expect_size("coordinates of the queries against those of z", z.dim(), queries.dim())?;
    if !(1..=z.len()).contains(&k) {
        return Err(Error::InvalidParameter {
            name: "k",
            value: k.to_string(),
            requirement: format!("between 1 and the number of rows, {}", z.len()),
        });
    }
    let index = build_index(z, k);
    Ok(answer_each(&*index, queries, k, || (), |(), _, found| weighted_mean(found, y)))
}

/// The mean response of neighbors, weighted by one over their distance.
pub(crate) fn weighted_mean(found: &[Neighbor], y: &[f64]) -> f64 {
    counted_mean(found.iter().map(|neighbor| (neighbor, 1.0)), y)
}

/// The same for neighbors that count as given.
pub(crate) fn counted_mean<'a>(found: impl Iterator<Item = (&'a Neighbor, f64)> + Clone, y: &[f64]) -> f64 {
    let found = found.filter(|(_, count)| *count > 0.0);
    let here = found.clone().any(|(n, _)| n.distance2 == 0.0);
    let weight = |distance2: f64| match here {
        true => f64::from(distance2 == 0.0),
        false => 1.0 / distance2.sqrt(),
    };
    let total: f64 = found.clone().map(|(n, count)| count * weight(n.distance2)).sum();
    found.map(|(n, count)| count * weight(n.distance2) * y[n.row as usize]).sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rows_count_more_and_coinciding_rows_alone() {
        let z = Points::from_values(vec![0.0, 1.0, 4.0, 4.0, 50.0], 1).unwrap();
        let y = [10.0, 20.0, 30.0, 50.0, 1e6];
        let queries = Points::from_values(vec![3.0, 4.0, 0.25], 1).unwrap();
        let found = knn_regression(&z, &y, 3, &queries).unwrap();
        // Distances 2, 1, 1.
        assert!((found[0] - (20.0 / 2.0 + 30.0 + 50.0) / 2.5).abs() < 1e-12);
        assert_eq!(found[1], 40.0);
        let (a, b, c) = (1.0 / 0.25, 1.0 / 0.75, 1.0 / 3.75);
        assert!((found[2] - (10.0 * a + 20.0 * b + 30.0 * c) / (a + b + c)).abs() < 1e-12);
    }

    #[test]
    fn sizes_are_checked() {
        let z = Points::from_values(vec![0.0, 1.0], 1).unwrap();
        assert!(knn_regression(&z, &[1.0], 1, &z).is_err());
        assert!(knn_regression(&z, &[1.0, 2.0], 3, &z).is_err());
        assert!(knn_regression(&z, &[1.0, 2.0], 0, &z).is_err());
        assert!(knn_regression(&z, &[1.0, 2.0], 1, &Points::zeros(1, 2)).is_err());
    }
}
