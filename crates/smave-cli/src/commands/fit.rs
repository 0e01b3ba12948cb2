//! `smave fit`: find directions, print them, save them.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use smave::data::folds::k_folds;
use smave::{Dataset, Model, Reduction, Regression, SelectDimension};

use crate::args::{Dim, FitArgs};
use crate::commands::{command_line, error_of, quoted, refuse_cancelled, table};
use crate::figure;
use crate::methods::{Settings, estimator};
use crate::progress::{FitProgress, watched};
use crate::read::{Loaded, read_basis};

/// Covariates listed before the rest is summed up in a line.
const LISTED: usize = 20;

/// Reads, fits, prints, saves.
pub fn run(args: &FitArgs, out: &mut impl Write) -> Result<()> {
    if let Some(path) = &args.figure {
        figure::check_name(path)?;
    }
    let Loaded { data: whole, encoding } = args.table.load(args.precision)?;
    let targets = &args.table.target;
    let truth = args.truth.as_deref().map(|path| read_basis(path, whole.names())).transpose()?;
    let (data, held_out) = hold_out(whole, args.holdout, args.seed)?;
    let settings = Settings {
        dim: dimension(args, &data, out)?,
        seed: args.seed,
        standardize: !args.no_standardize,
        max_iter: args.max_iter,
        neighbors: args.neighbors,
        tolerance: args.tolerance,
        without: None,
    };
    let started = Instant::now();
    let estimator = estimator(args.method, settings);
    let mut model = Model::fit(&*estimator, &data, Regression::LocalLinear, &mut FitProgress::new())?;
    model.reduction = refuse_cancelled(model.reduction)?;
    let reduction = &model.reduction;
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
    if let Some(truth) = truth {
        let error = error_of(reduction, &truth).context("cannot compare with the true basis")?;
        writeln!(
            out,
            "m^2 = {error:.4} (squared distance to the true subspace, from 0 to {})",
            truth.ncols()
        )?;
    }
    if let Some(path) = &args.figure {
        figure::summary_plot(path, &reduction.transform(data.x())?, data.raw_responses(), targets)?;
        writeln!(out, "summary plot: {}", path.display())?;
    }
    if let Some(path) = &args.out {
        model.settings["command"] = command_line().into();
        model.targets.clone_from(targets);
        model.encoding = encoding;
        if let Some(held_out) = held_out {
            model.calibrate(&held_out)?;
        }
        model.save(path)?;
        writeln!(out, "model: {}", path.display())?;
    }
    Ok(())
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

/// The dimension asked for, or the one that cross-validation chooses.
fn dimension(args: &FitArgs, data: &Dataset<'_>, out: &mut impl Write) -> Result<usize> {
    if let Dim::Count(count) = args.dim {
        return Ok(count);
    }
    let select = SelectDimension::new(MAX_AUTO.min(data.n_features()))
        .standardize(!args.no_standardize)
        .seed(args.seed);
    let choice = watched("choosing the dimension", |watch| select.run_watched(data, watch))?;
    crate::commands::dim::print(&choice, out)?;
    if choice.chosen == 0 {
        writeln!(out, "fitting 1 direction all the same")?;
    }
    Ok(choice.chosen.max(1))
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
    let unit = if standardized { "a standard deviation" } else { "a unit" };
    writeln!(out, "loadings are per {unit} of each covariate")?;
    Ok(())
}
