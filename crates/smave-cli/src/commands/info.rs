//! `smave info`: what a model file holds.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use smave::Model;
use smave::data::SourceColumn;
use smave::predict::{Calibration, Regression};

use crate::args::InfoArgs;
use crate::commands::quoted;
use crate::output::Output;

/// The model in short, for machines.
#[derive(Serialize)]
struct Info<'a> {
    method: &'a str,
    targets: &'a [String],
    n_samples: usize,
    n_features: usize,
    n_components: usize,
    n_neighbors: Option<usize>,
    seed: Option<u64>,
    eigenvalues: &'a [f64],
    loo_error: Option<f64>,
    starts: usize,
    agreeing: usize,
    columns: Vec<SourceColumn>,
    predictions: Vec<Predicts>,
    settings: &'a serde_json::Value,
}

/// How one response is predicted.
#[derive(Serialize)]
struct Predicts {
    regression: Regression,
    n_neighbors: usize,
    rows: usize,
    calibration: Calibration,
    loo_error: f64,
}

/// Reads, prints, saves.
pub fn run(args: &InfoArgs, out: &mut Output) -> Result<()> {
    let model = Model::load(&args.model)?;
    let r = &model.reduction;
    let info = Info {
        method: r.method(),
        targets: &model.targets,
        n_samples: r.n_samples(),
        n_features: r.n_features(),
        n_components: r.n_components(),
        n_neighbors: r.n_neighbors(),
        seed: r.seed(),
        eigenvalues: r.eigenvalues(),
        loo_error: r.loo_error(),
        starts: r.starts().len(),
        agreeing: r.n_agreeing(),
        columns: model.sources(),
        predictions: (model.predictors.iter())
            .map(|predictor| Predicts {
                regression: predictor.regression(),
                n_neighbors: predictor.n_neighbors(),
                rows: predictor.responses().len(),
                calibration: predictor.calibration(),
                loo_error: predictor.loo_error(),
            })
            .collect(),
        settings: &model.settings,
    };
    print(&info, args, out)?;
    out.json(&info)
}

fn print(info: &Info<'_>, args: &InfoArgs, out: &mut impl Write) -> Result<()> {
    let targets = if info.targets.is_empty() { "an unnamed target".into() } else { quoted(info.targets) };
    writeln!(
        out,
        "{}: {} of {targets} on {} covariates, {} directions, fitted to {} rows",
        args.model.display(),
        info.method,
        info.n_features,
        info.n_components,
        info.n_samples
    )?;
    let eigenvalues: Vec<String> = info.eigenvalues.iter().map(|value| format!("{value:.4}")).collect();
    writeln!(out, "eigenvalues: {}", eigenvalues.join(", "))?;
    if info.starts > 0 {
        writeln!(out, "{} of {} starts agree", info.agreeing, info.starts)?;
    }
    if let Some(error) = info.loo_error {
        writeln!(out, "leave-one-out mean squared error of the fit: {error:.4}")?;
    }
    for (i, predicts) in info.predictions.iter().enumerate() {
        let target = info.targets.get(i).map_or("y", String::as_str);
        let regression = match predicts.regression {
            Regression::NearestNeighbors => "nearest neighbors",
            _ => "local linear regression",
        };
        let calibration = match predicts.calibration {
            Calibration::HeldOut => "rows set aside",
            _ => "leave-one-out errors",
        };
        writeln!(
            out,
            "predicts '{target}' by {regression} on {} of {} rows, intervals from {calibration}",
            predicts.n_neighbors, predicts.rows
        )?;
    }
    if info.predictions.is_empty() {
        writeln!(out, "does not predict")?;
    }
    for column in &info.columns {
        if let Some(levels) = &column.levels {
            writeln!(out, "column '{}' is a category: {}", column.name, levels.join(", "))?;
        }
    }
    if info.columns.iter().any(|column| column.fill.is_some()) {
        writeln!(out, "missing values are filled in with the means of the rows it was fitted to")?;
    }
    if let Some(command) = info.settings["command"].as_str() {
        writeln!(out, "made by: {command}")?;
    }
    Ok(())
}
