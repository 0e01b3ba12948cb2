//! `smave predict`: responses of new rows, with intervals.

use std::io::Write;

use anyhow::{Context, Result};
use smave::predict::Calibration;
use smave::{Dense, Model, Prediction};

use crate::args::PredictArgs;
use crate::commands::write_csv;
use crate::read::{Table, header};

/// Reads the model's covariates from the data by name, predicts, writes.
pub fn run(args: &PredictArgs, out: &mut impl Write) -> Result<()> {
    let model = Model::load(&args.model)?;
    let predictor = model.predictor().with_context(|| args.model.display().to_string())?;
    let half = predictor.half_width(args.level)?;
    let names = model.reduction.names();
    let features = Table::read_only(&args.data, names)?;
    let (n, p) = (features.n_rows(), names.len());
    let found = model.predict(&Dense::new(features.values, n, p)?)?;
    let columns = ["prediction", "low", "high", "outside"].map(String::from);
    let row = |p: &Prediction| {
        let numbers = [p.value, p.value - half, p.value + half].map(|v| v.to_string());
        numbers.into_iter().chain([p.outside.to_string()]).collect()
    };
    write_csv(&args.out, columns, found.iter().map(row))?;
    writeln!(out, "{}: {n} predictions of '{}'", args.out.display(), target(&model))?;
    let percent = 100.0 * args.level;
    writeln!(
        out,
        "intervals are the prediction ± {half:.4} and cover {percent}% of new responses{}",
        match predictor.calibration() {
            Calibration::HeldOut => " or more (calibrated on rows set aside)",
            _ => ", a little less where rows are few per covariate (fit with --holdout for a guarantee)",
        }
    )?;
    let outside = found.iter().filter(|p| p.outside).count();
    if outside > 0 {
        writeln!(
            out,
            "{outside} rows lie farther from the training rows than these from each other: do not rely on them"
        )?;
    }
    // Where the response is known, say how well it was predicted.
    let known = model.target.as_ref().filter(|target| header(&args.data).is_ok_and(|h| h.contains(target)));
    if let Some(target) = known
        && let Ok(truth) = Table::read_only(&args.data, std::slice::from_ref(target))
    {
        print_errors(&found, &truth.values, half, out)?;
    }
    Ok(())
}

fn target(model: &Model) -> &str {
    model.target.as_deref().unwrap_or("y")
}

fn print_errors(found: &[Prediction], truth: &[f64], half: f64, out: &mut impl Write) -> Result<()> {
    let n = truth.len() as f64;
    let mean = truth.iter().sum::<f64>() / n;
    let total: f64 = truth.iter().map(|y| (y - mean) * (y - mean)).sum();
    let squares: f64 = found.iter().zip(truth).map(|(p, y)| (p.value - y) * (p.value - y)).sum();
    let inside = found.iter().zip(truth).filter(|(p, y)| (p.value - **y).abs() <= half).count();
    writeln!(
        out,
        "the file holds the responses: root mean squared error {:.4}, R^2 {:.4}, {:.1}% inside their intervals",
        (squares / n).sqrt(),
        1.0 - squares / total,
        100.0 * inside as f64 / n
    )?;
    Ok(())
}
