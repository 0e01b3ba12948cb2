//! One file per command.

pub mod bench;
pub mod compare;
pub mod demo;
pub mod dim;
pub mod explain;
pub mod fit;
pub mod info;
pub mod manual;
pub mod predict;
pub mod report;
pub mod simulate;
pub mod transform;

use std::path::PathBuf;

use anyhow::Result;
use comfy_table::CellAlignment;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use serde::Serialize;
use smave::{Checkpoint, Dataset, Estimator, Mat, Reduction, StopReason, squared_distance};

use crate::cancel::{self, Cancelled};
use crate::progress::{FitProgress, uncancelled};

/// A cancelled fit is not a result on the command line: whoever pressed Ctrl-C wants it gone.
fn refuse_cancelled(reduction: &Reduction) -> Result<&Reduction> {
    if reduction.stop_reason() == StopReason::Cancelled { Err(Cancelled.into()) } else { Ok(reduction) }
}

/// Fits, or refuses what was cancelled.
fn fit_or_cancel(
    estimator: &dyn Estimator,
    data: &Dataset<'_>,
    mut progress: FitProgress<'_>,
) -> Result<Reduction> {
    let reduction = uncancelled(estimator.fit_observed(data, &mut progress))?;
    refuse_cancelled(&reduction)?;
    Ok(reduction)
}

/// The checkpoint that the flags ask for, for work on `data` with `settings`.
fn open_checkpoint(
    path: Option<&PathBuf>,
    settings: &impl Serialize,
    data: &Dataset<'_>,
) -> Result<Option<Checkpoint>> {
    let Some(path) = path else { return Ok(None) };
    let checkpoint = Checkpoint::open(path, settings, data)?;
    cancel::kept_in(Some(path.clone()));
    if !checkpoint.is_empty() {
        eprintln!("going on from {}", path.display());
    }
    Ok(Some(checkpoint))
}

/// The work is done, and its results are where they belong.
fn close_checkpoint(checkpoint: Option<Checkpoint>) -> Result<()> {
    cancel::kept_in(None);
    Ok(checkpoint.map_or(Ok(()), Checkpoint::remove)?)
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

/// Flags that change nothing about a model: with a value, and without.
const IDLE: [&str; 3] = ["--threads", "--json", "--checkpoint"];
const IDLE_ALONE: [&str; 2] = ["--quiet", "-q"];

/// What was typed, so that it can be typed again; but for what changes nothing.
fn command_line() -> String {
    let quote = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:%@".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let mut words = Vec::new();
    let mut typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = typed.next() {
        let flag = word.split('=').next().unwrap_or_default();
        if IDLE.contains(&flag) {
            if flag == word {
                typed.next();
            }
        } else if !IDLE_ALONE.contains(&flag) {
            words.push(quote(word));
        }
    }
    ["smave".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// Names for a sentence: 'a', 'b'.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
