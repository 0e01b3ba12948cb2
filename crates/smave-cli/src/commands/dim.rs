//! `smave dim`: how many directions the data support.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use smave::select::DimensionError;
use smave::{DimensionChoice, SelectDimension};

use crate::args::DimArgs;
use crate::commands::{close_checkpoint, open_checkpoint, quoted, table};
use crate::output::Output;
use crate::progress::watched;

#[derive(Serialize)]
struct Report<'a> {
    data: String,
    targets: &'a [String],
    n: usize,
    p: usize,
    folds: usize,
    repeats: usize,
    seed: u64,
    #[serde(flatten)]
    choice: &'a DimensionChoice,
}

/// Reads, cross-validates, prints, saves.
pub fn run(args: &DimArgs, out: &mut Output) -> Result<()> {
    let data = args.table.load(args.precision)?.data;
    let targets = &args.table.target;
    let select = SelectDimension::new(args.max_dim.min(data.n_features()))
        .folds(args.folds)
        .repeats(args.repeats)
        .nested(args.nested)
        .second_opinions(!args.no_second_opinions)
        .standardize(!args.no_standardize)
        .seed(args.seed);
    let checkpoint = open_checkpoint(args.checkpoint.as_ref(), &select, &data)?;
    let choice = watched("cross-validating", |watch| select.run_watched(&data, watch, checkpoint.as_ref()))?;
    writeln!(
        out,
        "prediction error of {}{} on rows not fitted to, {} folds x {}:",
        quoted(targets),
        if targets.len() > 1 { " (in standard deviations, added up)" } else { "" },
        args.folds,
        args.repeats
    )?;
    print(&choice, out)?;
    out.json(&Report {
        data: args.table.data.display().to_string(),
        targets,
        n: data.n_samples(),
        p: data.n_features(),
        folds: args.folds,
        repeats: args.repeats,
        seed: args.seed,
        choice: &choice,
    })?;
    close_checkpoint(checkpoint)
}

/// The curve, the second opinions, and a sentence.
pub fn print(choice: &DimensionChoice, out: &mut impl Write) -> Result<()> {
    let mut curve = table(["d", "error", "s.e.", "explained", "ladle", "noise taken up", ""]);
    let without = choice.curve[0].error;
    for (d, found) in choice.curve.iter().enumerate() {
        let ladle = choice.ladle.as_ref().and_then(|ladle| ladle.curve.get(d));
        let share = choice.augmentation.as_ref().filter(|_| d > 0);
        let share = share.and_then(|augmentation| augmentation.noise_shares.get(d - 1));
        curve.add_row([
            d.to_string(),
            format!("{:.4}", found.error),
            format!("{:.4}", found.standard_error),
            format!("{:.1}%", 100.0 * (1.0 - found.error / without)),
            ladle.map_or(String::new(), |g| format!("{g:.3}")),
            share.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share)),
            mark(choice, d),
        ]);
    }
    writeln!(out, "{curve}")?;
    writeln!(out, "{}", sentence(choice))?;
    if let Some(opinions) = opinions(choice) {
        writeln!(out, "{opinions}")?;
    }
    match &choice.nested {
        Some(nested) => writeln!(
            out,
            "nested: choosing and fitting together have the error {:.4} ± {:.4} on rows that neither has seen (chosen: {})",
            nested.error,
            nested.standard_error,
            nested.dims.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
        )?,
        None => writeln!(
            out,
            "the error at the chosen d is a little optimistic, d being chosen by it; --nested gives an honest one"
        )?,
    }
    Ok(())
}

fn mark(choice: &DimensionChoice, d: usize) -> String {
    match (d == choice.chosen, d == choice.least) {
        (true, true) => "chosen, least error".into(),
        (true, false) => "chosen".into(),
        (false, true) => "least error".into(),
        (false, false) => String::new(),
    }
}

/// What the curve says, in words.
fn sentence(choice: &DimensionChoice) -> String {
    let DimensionError { dim, error, .. } = choice.curve[choice.chosen];
    let directions = if dim == 1 { "direction" } else { "directions" };
    if dim == 0 {
        return "no signal: no number of directions predicts better than the mean by more than chance".into();
    }
    let more = match choice.curve.last() {
        Some(last) if last.dim == dim => "it is the largest tried: try --max-dim with more".to_string(),
        _ => "more do not predict better by more than a standard error".to_string(),
    };
    let fewer = choice.curve[dim - 1].error;
    format!(
        "{dim} {directions}: {more}; with {} the error rises from {error:.4} to {fewer:.4}",
        if dim == 1 { "none".to_string() } else { (dim - 1).to_string() }
    )
}

/// What the second opinions say, in words.
fn opinions(choice: &DimensionChoice) -> Option<String> {
    let (ladle, augmentation) = (choice.ladle.as_ref()?.chosen, choice.augmentation.as_ref()?.chosen);
    Some(if (ladle, augmentation) == (choice.chosen, choice.chosen) {
        "the ladle and predictor augmentation agree".to_string()
    } else {
        format!(
            "second opinions from the slopes: the ladle says {ladle}, predictor augmentation {augmentation}; \
             where they differ, look at the plots of both"
        )
    })
}
