//! `smave predict`: responses of new rows, with intervals.

use std::io::Write;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use smave::predict::Calibration;
use smave::{Design, Model, Prediction};

use crate::args::PredictArgs;
use crate::commands::quoted;
use crate::output::Output;
use crate::read::covariates;

/// The predictions of one response.
struct Predicted {
    target: String,
    /// Half the width of an interval.
    half: f64,
    found: Vec<Prediction>,
}

/// Reads the model's covariates from the data by name, predicts, writes.
pub fn run(args: &PredictArgs, out: &mut Output) -> Result<()> {
    let model = Model::load(&args.model)?;
    let calibration = model.predictor().with_context(|| args.model.display().to_string())?.calibration();
    let (x, known) = covariates(&args.data, &model)?;
    let n = x.n_rows();
    let found = model.predict_each(&x)?;
    let mut predicted = Vec::new();
    for (i, (found, predictor)) in found.into_iter().zip(&model.predictors).enumerate() {
        let target = model.targets.get(i).cloned().unwrap_or_else(|| "y".into());
        predicted.push(Predicted { target, half: predictor.half_width(args.level)?, found });
    }
    write_predictions(args, &predicted, n, out)?;
    let targets: Vec<String> = predicted.iter().map(|of| of.target.clone()).collect();
    writeln!(out, "{}: {n} predictions of {}", args.out.display(), quoted(&targets))?;
    let percent = 100.0 * args.level;
    let halves: Vec<String> = predicted.iter().map(|of| format!("{:.4}", of.half)).collect();
    writeln!(
        out,
        "intervals are the prediction ± {} and cover {percent}% of new responses{}",
        halves.join(", "),
        match calibration {
            Calibration::HeldOut => " or more (calibrated on rows set aside)",
            _ => ", a little less where rows are few per covariate (fit with --holdout for a guarantee)",
        }
    )?;
    let outside = predicted[0].found.iter().filter(|p| p.outside).count();
    if outside > 0 {
        writeln!(
            out,
            "{outside} rows lie farther from the training rows than these from each other: do not rely on them"
        )?;
    }
    // Where a response is known, say how well it was predicted.
    let mut results = Vec::new();
    for of in &predicted {
        let known = known.iter().find(|(name, _)| *name == of.target);
        let errors = known.map(|(_, truth)| Errors::of(of, truth));
        if let Some(errors) = &errors {
            writeln!(
                out,
                "the file holds '{}': root mean squared error {:.4}, R^2 {:.4}, {:.1}% inside their intervals",
                of.target,
                errors.rmse,
                errors.r2,
                100.0 * errors.inside
            )?;
        }
        results.push(json!({ "target": of.target, "half_width": of.half, "errors": errors }));
    }
    out.json(&json!({
        "out": args.out,
        "rows": n,
        "level": args.level,
        "calibration": calibration,
        "outside": outside,
        "targets": results,
    }))
}

/// Prediction and interval of each response, and whether the row lies outside.
fn write_predictions(args: &PredictArgs, predicted: &[Predicted], n: usize, out: &mut Output) -> Result<()> {
    let columns = predicted.iter().flat_map(|of| {
        ["prediction", "low", "high"].map(|what| match predicted.len() {
            1 => what.to_string(),
            _ => format!("{what} {}", of.target),
        })
    });
    let numbers = |of: &Predicted, row: usize| {
        let value = of.found[row].value;
        [value, value - of.half, value + of.half].map(|v| v.to_string())
    };
    let row = |row: usize| {
        let outside = predicted[0].found[row].outside.to_string();
        predicted.iter().flat_map(|of| numbers(of, row)).chain([outside]).collect()
    };
    out.csv(&args.out, columns.chain(["outside".to_string()]), (0..n).map(row))
}

/// How well known responses were predicted.
#[derive(Serialize)]
struct Errors {
    /// Root mean squared error.
    rmse: f64,
    r2: f64,
    /// The share inside of their intervals.
    inside: f64,
}

impl Errors {
    fn of(of: &Predicted, truth: &[f64]) -> Self {
        let n = truth.len() as f64;
        let mean = truth.iter().sum::<f64>() / n;
        let total: f64 = truth.iter().map(|y| (y - mean) * (y - mean)).sum();
        let misses = || of.found.iter().zip(truth).map(|(p, y)| p.value - y);
        let squares: f64 = misses().map(|miss| miss * miss).sum();
        let inside = misses().filter(|miss| miss.abs() <= of.half).count();
        Self { rmse: (squares / n).sqrt(), r2: 1.0 - squares / total, inside: inside as f64 / n }
    }
}
