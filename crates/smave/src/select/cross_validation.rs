//! Prediction error in every dimension, on rows that were not fitted to.

use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::dense::Dense;
use crate::data::folds::k_folds;
use crate::data::responses::Responses;
use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::predict::{Predictor, Regression};
use crate::rng::derive_seed;
use crate::select::{DimensionError, NestedError, SelectDimension};
use crate::tally::Tally;

/// Errors in every dimension, and the choice they lead to.
pub(super) struct Curve {
    pub chosen: usize,
    pub least: usize,
    pub errors: Vec<DimensionError>,
}

/// Repeated K-fold cross-validation on all rows. `part` tells its folds from those of others.
pub(super) fn repeated(
    settings: &SelectDimension,
    data: &Dataset<'_>,
    repeats: usize,
    tally: &Tally<'_>,
    part: &str,
) -> Result<Curve> {
    let n = data.n_samples();
    let folds: Vec<Vec<usize>> = (0..repeats)
        .map(|repeat| k_folds(n, settings.folds, settings.seed, repeat as u64))
        .collect::<Result<_>>()?;
    let found: Vec<(Vec<usize>, Vec<Vec<f64>>)> = (0..repeats * settings.folds)
        .into_par_iter()
        .map(|place| {
            let (repeat, fold) = (place / settings.folds, place % settings.folds);
            let (train, test) = split(&folds[repeat], fold);
            let work = || squared_errors(settings, data, &train, &test, repeat as u64, fold, tally);
            let squares = tally.task(|| format!("{part}fold {fold} of {repeat}"), work)?;
            Ok((test, squares))
        })
        .collect::<Result<_>>()?;
    // The squared error of each row, averaged over repetitions.
    let mut by_row = vec![vec![0.0; n]; settings.max_dim + 1];
    for (test, squares) in &found {
        for (sums, squares) in by_row.iter_mut().zip(squares) {
            for (&row, square) in test.iter().zip(squares) {
                sums[row] += square / repeats as f64;
            }
        }
    }
    Ok(one_standard_error(&by_row, data.weights()))
}

/// The error of choosing on the training rows of each fold and predicting its test rows.
pub(super) fn nested_error(
    settings: &SelectDimension,
    data: &Dataset<'_>,
    tally: &Tally<'_>,
) -> Result<NestedError> {
    // Other folds than those of the choice on all rows.
    let folds = k_folds(data.n_samples(), settings.folds, derive_seed(settings.seed, &[7]), 0)?;
    let outer: Vec<(usize, Vec<f64>)> = (0..settings.folds)
        .into_par_iter()
        .map(|fold| {
            let (train, test) = split(&folds, fold);
            let inner =
                SelectDimension { seed: derive_seed(settings.seed, &[8, fold as u64]), ..settings.clone() };
            let part = format!("without {fold} ");
            let chosen = repeated(&inner, &data.subset(&train)?, 1, tally, &part)?.chosen;
            let work = || squared_errors(settings, data, &train, &test, 0, fold, tally);
            let squares = tally.task(|| format!("outer fold {fold}"), work)?.swap_remove(chosen);
            Ok((chosen, squares))
        })
        .collect::<Result<_>>()?;
    let dims = outer.iter().map(|(chosen, _)| *chosen).collect();
    let mut all = vec![0.0; data.n_samples()];
    for (fold, (_, squares)) in outer.iter().enumerate() {
        split(&folds, fold).1.iter().zip(squares).for_each(|(&row, square)| all[row] = *square);
    }
    let (error, standard_error) = mean_and_error(&all, data.weights());
    Ok(NestedError { error, standard_error, dims })
}

fn split(folds: &[usize], fold: usize) -> (Vec<usize>, Vec<usize>) {
    (0..folds.len()).partition(|&row| folds[row] != fold)
}

/// For 0 to the largest dimension, the squared errors at the test rows of what was fitted to the training rows.
fn squared_errors(
    settings: &SelectDimension,
    data: &Dataset<'_>,
    train: &[usize],
    test: &[usize],
    repeat: u64,
    fold: usize,
    tally: &Tally<'_>,
) -> Result<Vec<Vec<f64>>> {
    let responses = data.responses();
    let train_y = responses.at(train);
    let train_y = Responses::new(&train_y, train.len());
    let (train, test_x) = (data.subset(train)?, data.covariates(test)?);
    // Added up over responses.
    let squares = |predict: &dyn Fn(&[f64]) -> Result<Vec<f64>>| {
        let mut sums = vec![0.0; test.len()];
        for (y, train_y) in responses.iter().zip(train_y.iter()) {
            for ((sum, &row), predicted) in sums.iter_mut().zip(test).zip(predict(train_y)?) {
                *sum += (y[row] - predicted).powi(2);
            }
        }
        Ok::<_, Error>(sums)
    };
    let mean = |y: &[f64]| {
        let scaling = Standardization::fit(&Dense::new(y, y.len(), 1)?, train.weights())?;
        Ok(vec![scaling.center()[0]; test.len()])
    };
    let mut by_dim = vec![squares(&mean)?];
    let seed = derive_seed(repeat, &[fold as u64]);
    let weights = train.weights().map(<[f64]>::to_vec);
    let mut wider = None;
    for dim in (1..=settings.max_dim).rev() {
        let fit = settings.smave(dim, seed).warm_start(wider).fit_observed(&train, &mut tally.observer())?;
        tally.check()?;
        let (z, queries) = (fit.transform(train.x())?, fit.transform(&test_x)?);
        let predict = |y: &[f64]| {
            let predictor =
                Predictor::weighted(z.clone(), y.to_vec(), weights.clone(), Regression::LocalLinear)?;
            Ok(predictor.predict(&queries)?.iter().map(|found| found.value).collect())
        };
        by_dim.insert(1, squares(&predict)?);
        wider = Some(fit.directions().as_ref().subcols(0, dim - 1).to_owned());
    }
    Ok(by_dim)
}

/// The smallest dimension whose error is within a standard error of the least.
fn one_standard_error(by_row: &[Vec<f64>], weights: Option<&[f64]>) -> Curve {
    let errors: Vec<DimensionError> = (by_row.iter().enumerate())
        .map(|(dim, squares)| {
            let (error, standard_error) = mean_and_error(squares, weights);
            DimensionError { dim, error, standard_error }
        })
        .collect();
    let best = errors.iter().min_by(|a, b| a.error.total_cmp(&b.error));
    let (least, bound) = best.map_or((0, f64::INFINITY), |best| (best.dim, best.error + best.standard_error));
    let chosen = errors.iter().find(|found| found.error <= bound).map_or(least, |found| found.dim);
    Curve { chosen, least, errors }
}

/// The mean of squared errors, each counted by its weight, and its standard error.
fn mean_and_error(squares: &[f64], weights: Option<&[f64]>) -> (f64, f64) {
    let n = weights.map_or(squares.len() as f64, |weights| weights.iter().sum());
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let counted = |term: &dyn Fn(f64) -> f64| -> f64 {
        squares.iter().enumerate().map(|(row, v)| weight(row) * term(*v)).sum()
    };
    let mean = counted(&|v| v) / n;
    let spread = counted(&|v| (v - mean) * (v - mean));
    (mean, (spread / (n - 1.0).max(1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_of_equally_good_dimensions_is_chosen() {
        // Means 5, 2.1, 2 and 2.05; the least has the standard error sqrt(4/3) / 2 = 0.58.
        let by_row = [vec![5.0; 4], vec![2.1; 4], vec![1.0, 3.0, 1.0, 3.0], vec![2.05; 4]];
        let curve = one_standard_error(&by_row, None);
        assert_eq!((curve.chosen, curve.least), (1, 2));
        assert!((curve.errors[2].standard_error - (4.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
        let sharp = one_standard_error(&[vec![5.0; 4], vec![2.1; 4], vec![2.0; 4]], None);
        assert_eq!((sharp.chosen, sharp.least), (2, 2));
    }
}
