//! Changes of the data that must not change the answer.

use proptest::prelude::*;
use smave::data::simulate::{Covariance, Link, Simulation};
use smave::linalg::{Mat, norm, orthonormalize};
use smave::{Dataset, Dense, Estimator, PublishedSmave, Reduction, Smave, squared_distance};

const N: usize = 250;
const P: usize = 5;

/// Ten iterations from a given start: short enough that rounding cannot grow into a different path.
fn fit_with(smave: PublishedSmave, values: &[f64], y: &[f64], start: &Mat<f64>) -> Reduction {
    let data = Dataset::new(Dense::new(values, N, P).unwrap(), y).unwrap();
    smave.start(start.clone()).max_iter(10).ridge(0.0).seed(3).fit(&data).unwrap()
}

fn fit(values: &[f64], y: &[f64], start: &Mat<f64>) -> Reduction {
    fit_with(Smave::published(2), values, y, start)
}

fn drawn(seed: u64) -> (Vec<f64>, Vec<f64>, Mat<f64>) {
    let made = Simulation::new(Link::Interaction, Covariance::Ar1, N, P).seed(seed).draw().unwrap();
    let start = Mat::from_fn(P, 2, |i, j| ((seed % 100) as f64 + 2.3 * i as f64 - j as f64).sin());
    (made.x.values().to_vec(), made.y, orthonormalize(start.as_ref()).unwrap())
}

fn times(values: &[f64], a: &Mat<f64>) -> Vec<f64> {
    values
        .chunks_exact(P)
        .flat_map(|row| (0..P).map(move |j| (0..P).map(|l| row[l] * a[(l, j)]).sum::<f64>()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn rotating_x_rotates_the_basis(seed in 0u64..1000) {
        let (values, y, start) = drawn(seed);
        let q = Mat::from_fn(P, P, |i, j| ((seed + 1) as f64 * (1.7 * i as f64 + 0.9 * j as f64 + 1.0)).cos());
        let Some(q) = orthonormalize(q.as_ref()) else { return Ok(()) };
        let before = fit(&values, &y, &start);
        let after = fit(&times(&values, &q), &y, &(q.transpose() * &start));
        let expected = q.transpose() * before.basis();
        prop_assert!(squared_distance(after.basis(), expected.as_ref()).unwrap() < 1e-10);
    }

    #[test]
    fn permuting_columns_permutes_the_rows_of_the_basis(
        seed in 0u64..1000,
        order in Just((0..P).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (values, y, start) = drawn(seed);
        let shuffled: Vec<f64> =
            values.chunks_exact(P).flat_map(|row| order.iter().map(|&j| row[j])).collect();
        let permute = |b: &Mat<f64>| Mat::from_fn(P, 2, |i, j| b[(order[i], j)]);
        let before = fit(&values, &y, &start);
        let after = fit(&shuffled, &y, &permute(&start));
        let expected = permute(&before.basis().to_owned());
        prop_assert!(squared_distance(after.basis(), expected.as_ref()).unwrap() < 1e-10);
    }

    #[test]
    fn shifting_x_and_scaling_y_change_nothing(
        seed in 0u64..1000,
        shift in -50.0f64..50.0,
        scale in prop::sample::select(vec![-3.0, 1e-6, 0.1, 1e7]),
    ) {
        let (values, y, start) = drawn(seed);
        let before = fit(&values, &y, &start);
        let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
        let scaled: Vec<f64> = y.iter().map(|v| scale * v + shift).collect();
        let after = fit(&moved, &scaled, &start);
        prop_assert!(squared_distance(after.basis(), before.basis()).unwrap() < 1e-10);
        // Slopes scale with y, their outer product with its square.
        for (a, b) in after.eigenvalues().iter().zip(before.eigenvalues()) {
            prop_assert!((a / (b * scale * scale) - 1.0).abs() < 1e-4);
        }
    }

    /// Without momentum, which the algorithm keeps in ambient coordinates: those of the old
    /// basis, while each retraction turns the basis within its span.
    #[test]
    fn turning_the_start_within_its_span_changes_nothing(seed in 0u64..1000, angle in 0.0f64..6.3) {
        let (values, y, start) = drawn(seed);
        let turn = Mat::from_fn(2, 2, |i, j| [[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]][i][j]);
        let smave = Smave::published(2).momentum(0.0);
        let before = fit_with(smave.clone(), &values, &y, &start);
        let after = fit_with(smave, &values, &y, &(&start * turn));
        prop_assert!(squared_distance(after.basis(), before.basis()).unwrap() < 1e-10);
        // And not only the span: the chosen basis is unique.
        prop_assert!(norm((after.basis() - before.basis()).as_ref()) < 1e-3);
    }
}
