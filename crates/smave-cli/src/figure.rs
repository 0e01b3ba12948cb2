//! The sufficient summary plot as a file of its own.

use std::path::Path;

use anyhow::{Result, bail};
use smave::file::write_atomically;
use smave::{Dataset, Model};
use smave_report::Report;

/// What a file name promises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

fn format(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    [("svg", Format::Svg), ("png", Format::Png)]
        .into_iter()
        .find(|(name, _)| *name == extension)
        .map(|(_, f)| f)
}

/// Refuses a file name that promises another format, before any work is done for it.
pub fn check_name(path: &Path) -> Result<()> {
    if format(path).is_none() {
        bail!("{}: figures are written as SVG or PNG; give a name that ends in .svg or .png", path.display());
    }
    Ok(())
}

/// Writes the plot of `model`, which was fitted to `data`.
pub fn summary_plot(path: &Path, model: &Model, data: &Dataset<'_>) -> Result<()> {
    let figure = Report::new(model, data).summary()?;
    let bytes = if format(path) == Some(Format::Png) { figure.png()? } else { figure.svg.into_bytes() };
    Ok(write_atomically(path, |out| out.write_all(&bytes))?)
}
