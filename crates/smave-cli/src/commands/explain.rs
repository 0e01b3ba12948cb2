//! `smave explain`: which covariates matter, how much, and how surely.

use std::io::Write;

use anyhow::Result;
use smave::uncertainty::Interval;
use smave::{Explanation, Model, Reduction, Uncertainty};

use crate::args::ExplainArgs;
use crate::commands::{close_checkpoint, open_checkpoint, table};
use crate::output::Output;
use crate::progress::watched;
use crate::read::for_model;

/// Directions whose loadings fit on a line.
const SHOWN: usize = 3;

/// Reads model and data, resamples, prints, saves.
pub fn run(args: &ExplainArgs, out: &mut Output) -> Result<()> {
    let model = Model::load(&args.model)?;
    let reduction = &model.reduction;
    let data = for_model(&args.data, &model, &args.target, args.weights.as_ref())?.data;
    let explain = Uncertainty::new()
        .replicates(args.replicates)
        .permutations(args.permutations)
        .level(args.level)
        .seed(args.seed);
    let checkpoint = open_checkpoint(args.checkpoint.as_ref(), &(&explain, loadings(reduction)), &data)?;
    let explained =
        watched("resampling", |watch| explain.run_watched(reduction, &data, watch, checkpoint.as_ref()))?;
    if data.n_samples() != reduction.n_samples() {
        eprintln!(
            "warning: the model was fitted to {} rows and {} has {}: give the rows it was fitted to",
            reduction.n_samples(),
            args.data.display(),
            data.n_samples()
        );
    }
    print(&explained, args, out)?;
    out.json(&explained)?;
    close_checkpoint(checkpoint)
}

/// All loadings of a model: what an explanation depends on besides data and settings.
pub fn loadings(reduction: &Reduction) -> Vec<Vec<f64>> {
    reduction.basis().col_iter().map(|column| column.iter().copied().collect()).collect()
}

fn print(explained: &Explanation, args: &ExplainArgs, out: &mut impl Write) -> Result<()> {
    let d = explained.angles.len();
    let percent = 100.0 * explained.level;
    writeln!(
        out,
        "covariates by relevance, with {percent}% intervals from {} resamples:",
        explained.replicates
    )?;
    let mut listing = table([]);
    let header = ["covariate".to_string(), "relevance".into(), "interval".into(), "p-value".into()];
    let directions = (1..=d.min(SHOWN)).map(|j| format!("direction {j}"));
    listing.set_header(header.into_iter().chain(directions));
    let order = explained.ranking();
    for &i in order.iter().take(args.top) {
        let covariate = &explained.covariates[i];
        let Interval { estimate, low, high } = covariate.relevance;
        let row = [
            covariate.name.clone(),
            format!("{estimate:.3}"),
            format!("{low:.3} to {high:.3}"),
            format!("{:.3}", covariate.p_value),
        ];
        let loadings = covariate.loadings.iter().take(SHOWN).map(loading);
        listing.add_row(row.into_iter().chain(loadings));
    }
    for column in listing.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    writeln!(out, "{listing}")?;
    if order.len() > args.top {
        writeln!(out, "{} more are less relevant (--top shows more)", order.len() - args.top)?;
    }
    let clear = explained.covariates.iter().filter(|c| c.p_value <= 0.05).count();
    writeln!(
        out,
        "{clear} of {} covariates have an effect beyond chance (p at most 0.05; of covariates without effect, one in twenty has)",
        explained.covariates.len()
    )?;
    let angles = explained.angles.iter().map(|a| format!("{:.1}\u{b0}", a.to_degrees()));
    writeln!(
        out,
        "principal angles to the true subspace: within {} ({percent}%)",
        angles.collect::<Vec<_>>().join(" and ")
    )?;
    writeln!(
        out,
        "relevance: 0 takes no part, 1 is a direction by itself; loadings are per unit of each covariate"
    )?;
    Ok(())
}

fn loading(interval: &Interval) -> String {
    let half = 0.5 * (interval.high - interval.low);
    format!("{:.4} ± {half:.4}", interval.estimate)
}
