//! `smave fit`: find directions, print them, save them.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::json;
use smave::data::folds::k_folds;
use smave::{Checkpoint, Dataset, DimensionChoice, Model, Reduction, Regression, SelectDimension};

use crate::args::{Dim, FitArgs};
use crate::commands::explain::loadings;
use crate::commands::{
    close_checkpoint, command_line, error_of, open_checkpoint, quoted, refuse_cancelled, table,
};
use crate::figure;
use crate::methods::{Settings, estimator};
use crate::output::Output;
use crate::progress::{FitProgress, uncancelled, watched};
use crate::read::{Loaded, MISSING, read_basis};

/// Covariates listed before the rest is summed up in a line.
const LISTED: usize = 20;

/// Reads, fits, prints, saves.
pub fn run(args: &FitArgs, out: &mut Output) -> Result<()> {
    if let Some(path) = &args.figure {
        figure::check_name(path)?;
    }
    let Loaded { data: whole, encoding, n_missing, n_dropped } = args.table.load(args.precision)?;
    let targets = &args.table.target;
    let truth = args.truth.as_deref().map(|path| read_basis(path, whole.names())).transpose()?;
    let (data, held_out) = hold_out(whole, args.holdout, args.seed)?;
    let mut settings = Settings {
        // Until it is chosen.
        dim: if let Dim::Count(count) = args.dim { count } else { 1 },
        seed: args.seed,
        standardize: !args.no_standardize,
        max_iter: args.max_iter,
        neighbors: args.neighbors,
        tolerance: args.tolerance,
        without: None,
    };
    let select = selection(args, &data);
    // The dimension is among the settings, or how it is chosen.
    let work = (&select, format!("{:?}", args.method), estimator(args.method, settings).settings());
    let checkpoint = open_checkpoint(args.checkpoint.as_ref(), &work, &data)?;
    let choice = match &select {
        None => None,
        Some(select) => Some(choose_dimension(select, &data, checkpoint.as_ref(), out)?),
    };
    if let Some(choice) = &choice {
        settings.dim = choice.chosen.max(1);
    }
    let started = Instant::now();
    let estimator = estimator(args.method, settings);
    let reduced = Model::reduce(&*estimator, &data, &mut FitProgress::new(checkpoint.as_ref()));
    let (mut model, rows) = uncancelled(reduced)?;
    let reduction = refuse_cancelled(&model.reduction)?;
    let seconds = started.elapsed().as_secs_f64();

    writeln!(
        out,
        "{}: {} rows, {} covariates, target {}",
        args.table.data.display(),
        data.n_samples(),
        data.n_features(),
        quoted(targets)
    )?;
    print_directions(reduction, out)?;
    let iterations = match reduction.trace().len() {
        0 => String::new(),
        count => format!(" after {count} iterations"),
    };
    write!(out, "{} in {seconds:.2} s{iterations}: {}", reduction.method(), reduction.stop_reason())?;
    if let Some(neighbors) = reduction.n_neighbors() {
        write!(out, "; {neighbors} neighbors per local regression")?;
    }
    if let Some(seed) = reduction.seed() {
        write!(out, ", seed {seed}")?;
    }
    writeln!(out)?;
    if let Some(error) = reduction.loo_error() {
        let basis = reduction.basis();
        let idle = (0..basis.nrows()).filter(|&i| basis.row(i).squared_norm_l2() == 0.0).count();
        writeln!(
            out,
            "{} of {} starts agree; leave-one-out mean squared error {error:.4}{}; {idle} covariates left out",
            reduction.n_agreeing(),
            reduction.starts().len(),
            if targets.len() > 1 { " in standard deviations, added up over targets" } else { "" }
        )?;
    }
    let mut m2 = None;
    if let Some(truth) = truth {
        let error = error_of(reduction, &truth).context("cannot compare with the true basis")?;
        let most = truth.ncols();
        writeln!(out, "m^2 = {error:.4} (squared distance to the true subspace, from 0 to {most})")?;
        m2 = Some(error);
    }
    let results = json!({
        "data": args.table.data,
        "targets": targets,
        "n_samples": data.n_samples(),
        "n_features": data.n_features(),
        "n_missing": n_missing,
        "n_dropped": n_dropped,
        "method": reduction.method(),
        "n_components": reduction.n_components(),
        "n_neighbors": reduction.n_neighbors(),
        "seed": reduction.seed(),
        "seconds": seconds,
        "iterations": reduction.trace().len(),
        "stop_reason": reduction.stop_reason(),
        "loo_error": reduction.loo_error(),
        "starts": reduction.starts(),
        "agreeing": reduction.n_agreeing(),
        "eigenvalues": reduction.eigenvalues(),
        "covariates": reduction.names(),
        "loadings": loadings(reduction),
        "m2": m2,
        "dimension": choice,
        "model": args.out,
        "figure": args.figure,
    });
    model.targets.clone_from(targets);
    if args.figure.is_some() || args.out.is_some() {
        model = model.predicting(rows, Regression::LocalLinear)?;
    }
    if let Some(path) = &args.figure {
        figure::summary_plot(path, &model, &data)?;
        writeln!(out, "summary plot: {}", path.display())?;
    }
    if let Some(path) = &args.out {
        model.settings["command"] = command_line().into();
        model.settings[MISSING] = args.table.missing.name().into();
        model.encoding = encoding;
        if let Some(held_out) = held_out {
            model.calibrate(&held_out)?;
        }
        model.save(path)?;
        writeln!(out, "model: {}", path.display())?;
    }
    out.json(&results)?;
    close_checkpoint(checkpoint)
}

/// The rows to fit to, and those set aside if any are.
fn hold_out(
    whole: Dataset<'static>,
    share: Option<f64>,
    seed: u64,
) -> Result<(Dataset<'static>, Option<Dataset<'static>>)> {
    let Some(share) = share else { return Ok((whole, None)) };
    let n = whole.n_samples();
    let folds = (1.0 / share).round() as usize;
    if !(share > 0.0 && share <= 0.5 && folds <= n / 2) {
        bail!(
            "--holdout {share} is not allowed: give a share up to 0.5 that leaves rows on both sides, for example 0.2"
        );
    }
    // A fold of so many that one of them is about the share asked for.
    let fold = k_folds(n, folds, seed, 0)?;
    let (held_out, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|&row| fold[row] == 0);
    Ok((whole.subset(&rest)?, Some(whole.subset(&held_out)?)))
}

/// Candidates when the dimension is chosen automatically, at the most.
const MAX_AUTO: usize = 6;

/// How the dimension is chosen, unless it is given.
fn selection(args: &FitArgs, data: &Dataset<'_>) -> Option<SelectDimension> {
    let select = SelectDimension::new(MAX_AUTO.min(data.n_features()));
    (args.dim == Dim::Auto).then(|| select.standardize(!args.no_standardize).seed(args.seed))
}

/// The dimension that cross-validation chooses.
fn choose_dimension(
    select: &SelectDimension,
    data: &Dataset<'_>,
    checkpoint: Option<&Checkpoint>,
    out: &mut impl Write,
) -> Result<DimensionChoice> {
    let choice = watched("choosing the dimension", |watch| select.run_watched(data, watch, checkpoint))?;
    crate::commands::dim::print(&choice, out)?;
    if choice.chosen == 0 {
        writeln!(out, "fitting 1 direction all the same")?;
    }
    Ok(choice)
}

/// Loadings by covariate, those that matter most first.
fn print_directions(reduction: &Reduction, out: &mut impl Write) -> Result<()> {
    let (basis, d) = (reduction.basis(), reduction.n_components());
    let weight = |i: usize| basis.row(i).squared_norm_l2();
    let mut order: Vec<usize> = (0..reduction.n_features()).collect();
    order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
    let shown = d.min(6);
    let mut loadings = table(["covariate"]);
    let header = (1..=shown).map(|j| format!("direction {j}"));
    loadings.set_header(["covariate".to_string()].into_iter().chain(header));
    for &i in order.iter().take(LISTED) {
        let row = (0..shown).map(|j| format!("{:.4}", basis[(i, j)]));
        loadings.add_row([reduction.names()[i].clone()].into_iter().chain(row));
    }
    let eigenvalues = reduction.eigenvalues().iter().take(shown).map(|v| format!("{v:.4}"));
    loadings.add_row(["eigenvalue".to_string()].into_iter().chain(eigenvalues));
    for column in loadings.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    writeln!(out, "{loadings}")?;
    if order.len() > LISTED {
        let rest: f64 = order[LISTED..].iter().map(|&i| weight(i)).sum();
        let share = 100.0 * rest / d as f64;
        writeln!(out, "{} more covariates carry {share:.1}% of the squared loadings", order.len() - LISTED)?;
    }
    if d > shown {
        writeln!(out, "{} more directions are in the model file", d - shown)?;
    }
    // A method may scale on its own account: ask the result, not the flags.
    let standardized = reduction.standardization().scale().iter().any(|&scale| scale != 1.0);
    let unit = if standardized { "standard deviation" } else { "unit" };
    writeln!(out, "loadings are per {unit} of each covariate")?;
    Ok(())
}
