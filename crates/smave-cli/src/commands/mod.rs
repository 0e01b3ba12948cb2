//! One file per command.

pub mod bench;
pub mod compare;
pub mod demo;
pub mod fit;
pub mod simulate;
pub mod transform;

use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
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
fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
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
