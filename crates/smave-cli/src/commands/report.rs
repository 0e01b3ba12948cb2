//! `smave report`: one page that shows what a model found.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use smave::file::write_atomically;
use smave::{Dataset, DimensionChoice, Explanation, Model, SelectDimension, Uncertainty};
use smave_report::{Provenance, Report};

use crate::args::ReportArgs;
use crate::commands::explain::loadings;
use crate::commands::{close_checkpoint, open_checkpoint};
use crate::output::Output;
use crate::progress::watched;
use crate::read::{Loaded, for_model};

/// Reads, resamples, cross-validates, writes.
pub fn run(args: &ReportArgs, out: &mut Output) -> Result<()> {
    let model = Model::load(&args.model)?;
    let Loaded { data, n_missing, n_dropped, .. } =
        for_model(&args.data, &model, &args.target, args.weights.as_ref())?;
    let command = [model.settings["command"].as_str(), Some(&crate::commands::command_line())];
    let provenance = Provenance {
        data: Some(args.data.display().to_string()),
        command: Some(command.into_iter().flatten().collect::<Vec<_>>().join("\n")),
        n_missing: Some(n_missing),
        n_dropped: Some(n_dropped),
        ..Provenance::default()
    };
    let (explain, select) = (resampling(args), cross_validation(&model, &data, args));
    let checkpoint =
        open_checkpoint(args.checkpoint.as_ref(), &(&explain, &select, loadings(&model.reduction)), &data)?;
    let mut evidence = Evidence::default();
    if !args.quick {
        let kept = checkpoint.as_ref();
        evidence.explanation =
            Some(watched("resampling", |watch| explain.run_watched(&model.reduction, &data, watch, kept))?);
        evidence.choice =
            Some(watched("choosing the dimension", |watch| select.run_watched(&data, watch, kept))?);
    }
    let figures = write(&model, &data, &evidence, provenance, &args.out, args.figures.as_deref(), out)?;
    out.json(&json!({ "report": args.out, "figures": figures }))?;
    close_checkpoint(checkpoint)
}

fn resampling(args: &ReportArgs) -> Uncertainty {
    Uncertainty::new().replicates(args.replicates).seed(args.seed)
}

/// Columns are scaled as in the fit, so that the curve is about the same directions.
fn cross_validation(model: &Model, data: &Dataset<'_>, args: &ReportArgs) -> SelectDimension {
    let standardized = model.reduction.standardization().scale().iter().any(|&scale| scale != 1.0);
    let max_dim = args.max_dim.min(data.n_features());
    SelectDimension::new(max_dim).repeats(1).standardize(standardized).seed(args.seed)
}

/// What takes time to find out.
#[derive(Default)]
pub struct Evidence {
    explanation: Option<Explanation>,
    choice: Option<DimensionChoice>,
}

/// Writes the page, and the figures if there is a folder for them; gives the names of these.
pub fn write(
    model: &Model,
    data: &Dataset<'_>,
    evidence: &Evidence,
    provenance: Provenance,
    path: &Path,
    figures: Option<&Path>,
    out: &mut impl Write,
) -> Result<Vec<PathBuf>> {
    let mut report = Report::new(model, data).provenance(provenance);
    if let Some(explanation) = &evidence.explanation {
        report = report.explanation(explanation);
    }
    if let Some(choice) = &evidence.choice {
        report = report.dimension(choice);
    }
    let page = report.html()?;
    write_atomically(path, |file| file.write_all(page.as_bytes()))?;
    writeln!(out, "report: {}", path.display())?;
    let mut written = Vec::new();
    if let Some(folder) = figures {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let figures = report.figures()?;
        for figure in &figures {
            let png = figure.png()?;
            let name = |extension: &str| folder.join(format!("{}.{extension}", figure.name));
            for (path, bytes) in [(name("svg"), figure.svg.as_bytes()), (name("png"), &png)] {
                write_atomically(&path, |file| file.write_all(bytes))?;
                written.push(path);
            }
        }
        writeln!(out, "figures: {} as SVG and PNG in {}", figures.len(), folder.display())?;
    }
    Ok(written)
}
