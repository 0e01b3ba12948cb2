//! `smave compare`: which method, and how many directions, predict best.
//!
//! The paper's protocol for real data: repeated K-fold cross-validation; covariates and response
//! standardized with the training fold's mean and standard deviation; reduce; distance-weighted
//! k-NN regression with k = min(10, n_train / 5); test error on the standardized response. The best
//! dimension of a method is chosen on the same test folds, so its error is a little optimistic,
//! as in the paper.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use smave::data::Standardization;
use smave::data::folds::k_folds;
use smave::predict::knn_regression;
use smave::{Dataset, Dense};
use statrs::distribution::{ContinuousCDF, StudentsT};

use smave_table::Prepared;

use crate::args::{CompareArgs, Method};
use crate::cancel;
use crate::commands::{fit_or_cancel, table};
use crate::methods::{Settings, estimator};
use crate::output::Output;
use crate::progress::{FitProgress, bar};

/// One method in one dimension.
#[derive(Serialize)]
struct Candidate {
    method: &'static str,
    d: usize,
    mean_mse: f64,
    /// Standard deviation over the splits, divisor their number.
    sd_mse: f64,
    mean_seconds: f64,
    /// Test error of each split.
    mse: Vec<f64>,
}

/// Two methods, each in its best dimension.
#[derive(Serialize)]
struct PairedTest {
    first: &'static str,
    second: &'static str,
    /// Mean of the first minus that of the second.
    difference: f64,
    t: f64,
    p_value: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    data: String,
    target: &'a str,
    n: usize,
    p: usize,
    folds: usize,
    repeats: u64,
    seed: u64,
    results: &'a [Candidate],
    /// Index into `results` of each method's best dimension.
    best: Vec<usize>,
    tests: Vec<PairedTest>,
}

/// One split into training and test rows, standardized.
struct Split {
    train: Dataset<'static>,
    test_x: Dense<'static, f64>,
    test_y: Vec<f64>,
}

/// Runs every method in every dimension on every split; prints and saves.
pub fn run(args: &CompareArgs, out: &mut Output) -> Result<()> {
    let target = match &args.table.target[..] {
        [target] => target,
        _ => bail!("methods are compared by how well they predict one target: give --target one column"),
    };
    if args.table.weights.is_some() {
        bail!("weights are not used in comparisons: leave --weights out");
    }
    let features = args.table.prepare()?;
    let y = &features.responses[0];
    let (n, p) = (y.len(), features.names.len());
    if let Some(d) = args.dims.iter().find(|&&d| d == 0 || d > p) {
        bail!("cannot reduce {p} covariates to {d} dimensions: choose --dims between 1 and {p}");
    }
    let mut candidates: Vec<(Method, Candidate)> = Vec::new();
    for &method in &args.methods {
        for &d in &args.dims {
            let name = estimator(method, Settings { dim: d, ..Settings::default() }).name();
            let new =
                Candidate { method: name, d, mean_mse: 0.0, sd_mse: 0.0, mean_seconds: 0.0, mse: Vec::new() };
            candidates.push((method, new));
        }
    }
    let splits = args.repeats * args.folds as u64;
    let progress = bar(splits * candidates.len() as u64, "compare");
    for repeat in 0..args.repeats {
        let folds = k_folds(n, args.folds, args.seed, repeat)?;
        for fold in 0..args.folds {
            let split = split(&features, &folds, fold).with_context(|| {
                format!("cannot train without fold {} of repeat {}", fold + 1, repeat + 1)
            })?;
            for (method, candidate) in &mut candidates {
                progress.set_message(format!("{} in {} dimensions", candidate.method, candidate.d));
                let settings = Settings { dim: candidate.d, seed: args.seed, ..Settings::default() };
                let started = Instant::now();
                let fit = fit_or_cancel(&*estimator(*method, settings), &split.train, FitProgress::hidden())?;
                candidate.mean_seconds += started.elapsed().as_secs_f64() / splits as f64;
                let z = fit.transform(split.train.x())?;
                let k = (z.len() / 5).clamp(1, 10);
                let predicted = knn_regression(&z, split.train.y(), k, &fit.transform(&split.test_x)?)?;
                let squares = predicted.iter().zip(&split.test_y).map(|(a, b)| (a - b) * (a - b));
                candidate.mse.push(squares.sum::<f64>() / split.test_y.len() as f64);
                progress.inc(1);
                cancel::check()?;
            }
        }
    }
    progress.finish_and_clear();

    let mut results: Vec<Candidate> = candidates.into_iter().map(|(_, candidate)| candidate).collect();
    for candidate in &mut results {
        (candidate.mean_mse, candidate.sd_mse) = mean_and_deviation(&candidate.mse);
    }
    let best: Vec<usize> = (0..args.methods.len())
        .map(|m| {
            let range = m * args.dims.len()..(m + 1) * args.dims.len();
            range
                .min_by(|&a, &b| results[a].mean_mse.total_cmp(&results[b].mean_mse))
                .expect("dims are not empty")
        })
        .collect();
    let tests = paired_tests(&results, &best);
    print(args, &results, &best, &tests, out)?;
    out.json(&Report {
        data: args.table.data.display().to_string(),
        target,
        n,
        p,
        folds: args.folds,
        repeats: args.repeats,
        seed: args.seed,
        results: &results,
        best,
        tests,
    })
}

/// The rows outside and inside of a fold, standardized by those outside.
fn split(features: &Prepared, folds: &[usize], fold: usize) -> Result<Split> {
    let (p, y) = (features.names.len(), &features.responses[0]);
    let take = |wanted: &dyn Fn(usize) -> bool| {
        let rows: Vec<usize> = (0..y.len()).filter(|&i| wanted(folds[i])).collect();
        let x: Vec<f64> =
            rows.iter().flat_map(|&i| features.values[i * p..(i + 1) * p].iter().copied()).collect();
        let y: Vec<f64> = rows.iter().map(|&i| y[i]).collect();
        (x, y)
    };
    let ((mut train_x, mut train_y), (mut test_x, mut test_y)) = (take(&|f| f != fold), take(&|f| f == fold));
    let scaling = Standardization::fit(&Dense::new(&train_x[..], train_y.len(), p)?, None)?;
    let y_scaling = Standardization::fit(&Dense::new(&train_y[..], train_y.len(), 1)?, None)?;
    for (values, scaling) in [
        (&mut train_x, &scaling),
        (&mut test_x, &scaling),
        (&mut train_y, &y_scaling),
        (&mut test_y, &y_scaling),
    ] {
        for row in values.chunks_exact_mut(scaling.center().len()) {
            for ((v, center), scale) in row.iter_mut().zip(scaling.center()).zip(scaling.scale()) {
                *v = (*v - center) / scale;
            }
        }
    }
    let train = Dense::new(train_x, train_y.len(), p)?;
    let test_x = Dense::new(test_x, test_y.len(), p)?;
    Ok(Split { train: Dataset::with_names(train, train_y, features.names.clone())?, test_x, test_y })
}

/// Mean, and standard deviation with divisor n.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt())
}

/// Every pair of methods in their best dimensions, over the splits they share.
fn paired_tests(results: &[Candidate], best: &[usize]) -> Vec<PairedTest> {
    let mut tests = Vec::new();
    for (i, &a) in best.iter().enumerate() {
        for &b in &best[i + 1..] {
            let differences: Vec<f64> =
                results[a].mse.iter().zip(&results[b].mse).map(|(a, b)| a - b).collect();
            let (difference, t, p_value) = paired_t_test(&differences);
            let (first, second) = (results[a].method, results[b].method);
            tests.push(PairedTest { first, second, difference, t, p_value });
        }
    }
    tests
}

/// Mean, t statistic and two-sided p-value of paired differences.
fn paired_t_test(differences: &[f64]) -> (f64, f64, f64) {
    let n = differences.len() as f64;
    let (mean, deviation) = mean_and_deviation(differences);
    if differences.len() < 2 || deviation == 0.0 {
        // Equal everywhere, or nothing to measure the spread with.
        return (mean, 0.0, 1.0);
    }
    let t = mean / (deviation / (n - 1.0).sqrt());
    let p_value = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |law| 2.0 * law.cdf(-t.abs()));
    (mean, t, p_value)
}

fn print(
    args: &CompareArgs,
    results: &[Candidate],
    best: &[usize],
    tests: &[PairedTest],
    out: &mut impl Write,
) -> Result<()> {
    let splits = args.repeats * args.folds as u64;
    writeln!(
        out,
        "test error on the standardized target '{}', mean ± s.d. over {splits} splits:",
        args.table.target[0]
    )?;
    let mut errors = table(["method", "d", "error", "seconds", ""]);
    for (index, candidate) in results.iter().enumerate() {
        errors.add_row([
            candidate.method.to_string(),
            candidate.d.to_string(),
            format!("{:.3} ± {:.3}", candidate.mean_mse, candidate.sd_mse),
            format!("{:.2}", candidate.mean_seconds),
            if best.contains(&index) { "best".into() } else { String::new() },
        ]);
    }
    writeln!(out, "{errors}")?;
    if !tests.is_empty() {
        writeln!(out, "paired t-tests between the methods in their best dimensions:")?;
        let mut table = table(["methods", "difference", "t", "p-value"]);
        for test in tests {
            table.add_row([
                format!("{} - {}", test.first, test.second),
                format!("{:.4}", test.difference),
                format!("{:.2}", test.t),
                format!("{:.2e}", test.p_value),
            ]);
        }
        writeln!(out, "{table}")?;
    }
    writeln!(out, "the best dimension was chosen on the test folds: its error is a little optimistic")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_test_takes_its_textbook_values() {
        let (mean, t, p) = paired_t_test(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(mean, 3.0);
        assert!((t - 3.0 / (2.5f64 / 5.0).sqrt()).abs() < 1e-12);
        // Two-sided, four degrees of freedom, t = 4.2426.
        assert!((p - 0.013236).abs() < 1e-5, "{p}");
        assert_eq!(paired_t_test(&[0.0, 0.0]), (0.0, 0.0, 1.0));
    }
}
