//! `smave demo`: the main job on built-in data, watched from the side of the truth.

use std::io::Write;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;
use smave::data::simulate::{Covariance, Link, Simulation};
use smave::estimator::Settings;
use smave::linalg::orthonormalize;
use smave::{Dataset, Model, Regression, Smave};
use smave_report::Provenance;

use crate::args::DemoArgs;
use crate::commands::report::{self, Evidence};
use crate::commands::{command_line, error_of, fit_or_cancel, table};
use crate::figure;
use crate::output::Output;
use crate::progress::FitProgress;

const ROWS: usize = 2000;
const COVARIATES: usize = 20;

/// Simulates, fits, shows the race and both bases.
pub fn run(args: &DemoArgs, out: &mut Output) -> Result<()> {
    if let Some(path) = &args.figure {
        figure::check_name(path)?;
    }
    let made =
        Simulation::new(Link::Interaction, Covariance::Ar1, ROWS, COVARIATES).seed(args.seed).draw()?;
    let truth = made.basis;
    let data = Dataset::new(made.x, made.y)?;
    writeln!(
        out,
        "{ROWS} rows of {COVARIATES} correlated covariates. The response is\n\
         y = z1 z2 + sin(z1) + exp(-z2^2 / 2) + noise, and depends on x through two\n\
         combinations z1, z2 of them only. SMAVE is given x and y, and looks for the two.\n"
    )?;
    let started = Instant::now();
    let smave = Smave::new(2).seed(args.seed);
    let fit = fit_or_cancel(&smave, &data, FitProgress::new(None))?;
    let seconds = started.elapsed().as_secs_f64();
    let mut race = table(["start", "leave-one-out error", "angle to the result", "rungs"]);
    for start in fit.starts() {
        race.add_row([
            start.name.clone(),
            format!("{:.4}", start.loo_error),
            format!("{:.1}\u{b0}", start.angle.to_degrees()),
            start.rungs.to_string(),
        ]);
    }
    writeln!(out, "The race of the starts, best first:\n{race}")?;
    writeln!(out, "{} of {} agree.", fit.n_agreeing(), fit.starts().len())?;

    // The truth in the basis that the estimate has chosen within its span, so that columns compare.
    let basis = orthonormalize(fit.directions().as_ref()).context("the basis is not finite")?;
    let overlap = truth.transpose() * &basis;
    let aligned = &truth * overlap;
    let mut loadings = table(["covariate", "direction 1", "truth", "direction 2", "truth"]);
    let weight = |i: usize| aligned.row(i).squared_norm_l2();
    let mut order: Vec<usize> = (0..COVARIATES).collect();
    order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
    for &i in order.iter().take(10) {
        loadings.add_row([
            data.names()[i].clone(),
            format!("{:.3}", basis[(i, 0)]),
            format!("{:.3}", aligned[(i, 0)]),
            format!("{:.3}", basis[(i, 1)]),
            format!("{:.3}", aligned[(i, 1)]),
        ]);
    }
    writeln!(out, "\n{loadings}")?;
    let error = error_of(&fit, &truth)?;
    writeln!(out, "found in {seconds:.2} s, m^2 = {error:.4}")?;
    let results = json!({
        "n": ROWS,
        "p": COVARIATES,
        "seed": args.seed,
        "seconds": seconds,
        "m2": error,
        "loo_error": fit.loo_error(),
        "starts": fit.starts(),
        "agreeing": fit.n_agreeing(),
        "report": args.out,
    });
    let model =
        Model::with_predictor(fit, &data, Regression::LocalLinear)?.target("y").settings(smave.settings());
    if let Some(path) = &args.figure {
        figure::summary_plot(path, &model, &data)?;
        writeln!(out, "summary plot: {}", path.display())?;
    }
    let provenance =
        Provenance { data: Some("built-in".into()), command: Some(command_line()), ..Provenance::default() };
    report::write(&model, &data, &Evidence::default(), provenance, &args.out, None, out)?;
    writeln!(out, "open it in a browser, or try `smave fit --help` on your data")?;
    out.json(&results)
}
