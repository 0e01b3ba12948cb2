//! `smave bench`: accuracy and time on the paper's synthetic design.
//!
//! Fits run one after the other, each on all threads allowed, and only the fit is
//! timed. Columns are used as they are, as in the paper.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;
use smave::data::simulate::{Covariance, Link, Simulation, TRUE_DIMENSION};
use smave::rng::derive_seed;
use smave::{Dataset, Mat};

use crate::args::{BenchArgs, Method, Precision, Scenario};
use crate::cancel;
use crate::commands::{error_of, fit_or_cancel, table};
use crate::methods::{Part, Settings, estimator};
use crate::output::Output;
use crate::progress::{FitProgress, bar};

/// One method at one (n, p).
#[derive(Serialize)]
struct Cell {
    method: String,
    n: usize,
    p: usize,
    mean_m2: f64,
    /// `None` for a single run.
    se_m2: Option<f64>,
    mean_seconds: f64,
    runs: usize,
    /// The largest of the runs, and how many missed a direction (m^2 above one half).
    #[serde(skip)]
    max_m2: f64,
    #[serde(skip)]
    missed: usize,
}

/// Runs every method in every scenario at every (n, p); prints and saves the means.
pub fn run(args: &BenchArgs, out: &mut Output) -> Result<()> {
    let scenarios = if args.scenarios.is_empty() { Scenario::all() } else { args.scenarios.clone() };
    let runs_per_cell = args.reps * scenarios.len() as u64;
    let entries = entries(args);
    let cells = (entries.len() * args.n.len() * args.p.len()) as u64;
    let progress = bar(cells * runs_per_cell, "bench");
    let mut results = Vec::new();
    for &n in &args.n {
        for &p in &args.p {
            let mut errors = vec![Vec::new(); entries.len()];
            let mut seconds = vec![0.0; entries.len()];
            for rep in 0..args.reps {
                for scenario in &scenarios {
                    let (link, covariance) =
                        (Link::from(scenario.link), Covariance::from(scenario.covariance));
                    progress.set_message(format!("n = {n}, p = {p}, {link} {covariance}"));
                    let seed = run_seed(args.seed, n, p, link, covariance, rep);
                    // All methods see the same data.
                    let simulation = Simulation::new(link, covariance, n, p).density(args.density).seed(seed);
                    let (data, truth) = draw(&simulation, args.precision)?;
                    for (m, &(method, without)) in entries.iter().enumerate() {
                        let fit_seed = derive_seed(seed, &[1]);
                        let settings =
                            Settings { dim: TRUE_DIMENSION, seed: fit_seed, without, ..Settings::default() };
                        let estimator = estimator(method, settings);
                        let started = Instant::now();
                        let fit = fit_or_cancel(&*estimator, &data, FitProgress::hidden())?;
                        seconds[m] += started.elapsed().as_secs_f64();
                        errors[m].push(error_of(&fit, &truth)?);
                        progress.inc(1);
                        cancel::check()?;
                    }
                }
            }
            for (m, &(method, without)) in entries.iter().enumerate() {
                let (mean_m2, se_m2) = mean_and_error(&errors[m]);
                let mean_seconds = seconds[m] / errors[m].len() as f64;
                let runs = errors[m].len();
                let settings = Settings { dim: TRUE_DIMENSION, ..Settings::default() };
                let method = without.map_or_else(|| estimator(method, settings).name(), Part::label).into();
                let max_m2 = errors[m].iter().copied().fold(0.0, f64::max);
                let missed = errors[m].iter().filter(|m2| **m2 > 0.5).count();
                results.push(Cell { method, n, p, mean_m2, se_m2, mean_seconds, runs, max_m2, missed });
            }
        }
    }
    progress.finish_and_clear();

    let mut summary =
        table(["method", "n", "p", "mean m^2", "s.e.", "max m^2", "above 0.5", "mean seconds", "runs"]);
    for cell in &results {
        summary.add_row([
            cell.method.clone(),
            cell.n.to_string(),
            cell.p.to_string(),
            format!("{:.4}", cell.mean_m2),
            cell.se_m2.map_or("".into(), |se| format!("{se:.4}")),
            format!("{:.4}", cell.max_m2),
            cell.missed.to_string(),
            format!("{:.4}", cell.mean_seconds),
            cell.runs.to_string(),
        ]);
    }
    writeln!(out, "{summary}")?;
    out.json(&results)
}

/// What is run: each method, and after SMAVE the same with one part off at a time, if asked for.
fn entries(args: &BenchArgs) -> Vec<(Method, Option<Part>)> {
    let parts = |method: Method| {
        let ablated = args.ablate && method == Method::Smave;
        Part::ALL.into_iter().filter(move |_| ablated).map(move |part| (method, Some(part)))
    };
    args.methods.iter().flat_map(|&method| std::iter::once((method, None)).chain(parts(method))).collect()
}

fn run_seed(seed: u64, n: usize, p: usize, link: Link, covariance: Covariance, rep: u64) -> u64 {
    let link = Link::ALL.iter().position(|of| *of == link).unwrap_or(0) as u64;
    let covariance = Covariance::ALL.iter().position(|of| *of == covariance).unwrap_or(0) as u64;
    derive_seed(seed, &[n as u64, p as u64, link, covariance, rep])
}

fn draw(simulation: &Simulation, precision: Precision) -> smave::Result<(Dataset<'static>, Mat<f64>)> {
    match precision {
        Precision::F64 => simulation.draw().and_then(|made| Ok((Dataset::new(made.x, made.y)?, made.basis))),
        Precision::F32 => {
            simulation.draw_f32().and_then(|made| Ok((Dataset::new(made.x, made.y)?, made.basis)))
        }
    }
}

/// Mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_is_that_of_a_mean() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(mean, 3.0);
        // Variance 14/3, over 4 values.
        assert!((error.unwrap() - (14.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(mean_and_error(&[5.0]), (5.0, None));
    }
}
