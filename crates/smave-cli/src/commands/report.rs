//! `smave report`: one page that shows what a model found.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use smave::model_file::write_atomically;
use smave::{Dataset, DimensionChoice, Explanation, Model, SelectDimension, Uncertainty};
use smave_report::{Provenance, Report};

use crate::args::ReportArgs;
use crate::progress::watched;
use crate::read::for_model;

/// Reads, resamples, cross-validates, writes.
pub fn run(args: &ReportArgs, out: &mut impl Write) -> Result<()> {
    let model = Model::load(&args.model)?;
    let data = for_model(&args.data, &model, &args.target, args.weights.as_ref())?;
    let command = [model.settings["command"].as_str(), Some(&crate::commands::command_line())];
    let provenance = Provenance {
        data: Some(args.data.display().to_string()),
        command: Some(command.into_iter().flatten().collect::<Vec<_>>().join("\n")),
        ..Provenance::default()
    };
    let evidence = Evidence::gather(&model, &data, args)?;
    write(&model, &data, &evidence, provenance, &args.out, args.figures.as_deref(), out)
}

/// What takes time to find out.
#[derive(Default)]
pub struct Evidence {
    explanation: Option<Explanation>,
    choice: Option<DimensionChoice>,
}

impl Evidence {
    fn gather(model: &Model, data: &Dataset<'_>, args: &ReportArgs) -> Result<Self> {
        if args.quick {
            return Ok(Self::default());
        }
        let explain = Uncertainty::new().replicates(args.replicates).seed(args.seed);
        let explanation = watched("resampling", |watch| explain.run_watched(&model.reduction, data, watch))?;
        let max_dim = args.max_dim.min(data.n_features());
        // Columns scaled as in the fit, so that the curve is about the same directions.
        let standardized = model.reduction.standardization().scale().iter().any(|&scale| scale != 1.0);
        let select = SelectDimension::new(max_dim).repeats(1).standardize(standardized).seed(args.seed);
        let choice = watched("choosing the dimension", |watch| select.run_watched(data, watch))?;
        Ok(Self { explanation: Some(explanation), choice: Some(choice) })
    }
}

/// Writes the page, and the figures if there is a folder for them.
pub fn write(
    model: &Model,
    data: &Dataset<'_>,
    evidence: &Evidence,
    provenance: Provenance,
    path: &Path,
    figures: Option<&Path>,
    out: &mut impl Write,
) -> Result<()> {
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
    if let Some(folder) = figures {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let figures = report.figures()?;
        for figure in &figures {
            let png = figure.png()?;
            let name = |extension: &str| folder.join(format!("{}.{extension}", figure.name));
            write_atomically(&name("svg"), |file| file.write_all(figure.svg.as_bytes()))?;
            write_atomically(&name("png"), |file| file.write_all(&png))?;
        }
        writeln!(out, "figures: {} as SVG and PNG in {}", figures.len(), folder.display())?;
    }
    Ok(())
}
