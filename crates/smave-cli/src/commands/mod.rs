//! One file per command.

pub mod bench;
pub mod compare;
pub mod demo;
pub mod dim;
pub mod explain;
pub mod fit;
pub mod info;
pub mod predict;
pub mod report;
pub mod simulate;
pub mod transform;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::CellAlignment;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use serde::Serialize;
use smave::model_file::write_atomically;
use smave::{Mat, Reduction, StopReason, squared_distance};

use crate::cancel::Cancelled;

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

/// What was typed, so that it can be typed again; but for the number of threads, which changes nothing.
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
        match &word[..] {
            "--threads" => drop(typed.next()),
            word if word.starts_with("--threads=") => {}
            _ => words.push(quote(word)),
        }
    }
    ["smave".to_string()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
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
