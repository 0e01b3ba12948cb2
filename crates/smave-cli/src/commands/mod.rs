//! One file per command.

pub mod bench;
pub mod compare;
pub mod demo;
pub mod dim;
pub mod explain;
pub mod fit;
pub mod predict;
pub mod simulate;
pub mod transform;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::CellAlignment;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use serde::Serialize;
use smave::model_file::write_atomically;
use smave::{Dataset, Dense, Mat, Reduction, StopReason, squared_distance};

use crate::args::Precision;
use crate::cancel::Cancelled;
use crate::read::Table;

/// A cancelled fit is not a result on the command line: whoever pressed Ctrl-C wants it gone.
fn refuse_cancelled(reduction: Reduction) -> Result<Reduction> {
    if reduction.stop_reason() == StopReason::Cancelled { Err(Cancelled.into()) } else { Ok(reduction) }
}

/// The squared distance of the subspace found from the true one.
fn error_of(reduction: &Reduction, truth: &Mat<f64>) -> smave::Result<f64> {
    squared_distance(reduction.directions().as_ref(), truth.as_ref())
}

/// A table with its numbers aligned to the right of the first column.
fn table<const N: usize>(header: [&str; N]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A table as a data set: some columns are responses, another may be the weights, the others are covariates. Warnings go to
/// standard error.
fn dataset(
    table: Table,
    targets: &[String],
    weights: Option<&str>,
    precision: Precision,
) -> Result<Dataset<'static>> {
    let mut features = table;
    let mut responses = Vec::new();
    for target in targets {
        let (rest, values) = features.split_off(target)?;
        features = rest;
        responses.push(values);
    }
    let mut responses = responses.into_iter();
    let y = responses.next().context("no target: name a column with --target")?;
    let mut counts = None;
    if let Some(name) = weights {
        let (rest, values) = features.split_off(name)?;
        (features, counts) = (rest, Some(values));
    }
    let (n, p) = (features.n_rows(), features.names.len());
    let Table { names, values, .. } = features;
    let mut data = match precision {
        Precision::F64 => Dataset::with_names(Dense::new(values, n, p)?, y, names),
        Precision::F32 => {
            let narrow: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            Dataset::with_names(Dense::new(narrow, n, p)?, y, names)
        }
    }?;
    for y in responses {
        data = data.with_response(&y)?;
    }
    if let Some(counts) = counts {
        data = data.with_weights(counts)?;
    }
    for warning in data.warnings() {
        eprintln!("warning: {warning}");
    }
    Ok(data)
}

/// Names for a sentence: 'a', 'b'.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Writes anything as JSON, all of it or nothing, and says so.
fn write_json(path: &Path, value: &impl Serialize, out: &mut impl Write) -> Result<()> {
    let text = serde_json::to_string_pretty(value).context("cannot write the results as JSON")?;
    write_atomically(path, |file| writeln!(file, "{text}"))?;
    writeln!(out, "results: {}", path.display())?;
    Ok(())
}

/// Writes a CSV file, all of it or nothing.
fn write_csv(
    path: &Path,
    header: impl IntoIterator<Item = String>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<()> {
    write_atomically(path, |out| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header)?;
        for row in rows {
            writer.write_record(row)?;
        }
        writer.flush()
    })
    .with_context(|| "the results are lost".to_string())
}
