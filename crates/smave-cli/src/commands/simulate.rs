//! `smave simulate`: a data set from the paper's synthetic design.

use std::io::Write;

use anyhow::Result;
use serde_json::json;
use smave::data::dataset::default_names;
use smave::data::simulate::{Covariance, Link, Simulation};

use crate::args::SimulateArgs;
use crate::output::Output;

/// Draws and writes the data, and the true basis if asked.
pub fn run(args: &SimulateArgs, out: &mut Output) -> Result<()> {
    let (link, covariance) = (Link::from(args.link), Covariance::from(args.cov));
    let simulation = Simulation::new(link, covariance, args.n, args.p)
        .noise(args.noise)
        .density(args.density)
        .seed(args.seed);
    let made = simulation.draw()?;
    let names = default_names(args.p);
    let header = names.iter().cloned().chain(["y".to_string()]);
    let rows = made
        .x
        .values()
        .chunks_exact(args.p)
        .zip(&made.y)
        .map(|(row, y)| row.iter().chain([y]).map(f64::to_string).collect());
    out.csv(&args.out, header, rows)?;
    writeln!(
        out,
        "{}: {} rows, x1 to x{} and y ({} link, {} covariance)",
        args.out.display(),
        args.n,
        args.p,
        link,
        covariance
    )?;
    if let Some(path) = &args.truth {
        let d = made.basis.ncols();
        let header = ["name".to_string()].into_iter().chain((1..=d).map(|j| format!("b{j}")));
        let rows = names.iter().enumerate().map(|(i, name)| {
            let loadings = (0..d).map(|j| made.basis[(i, j)].to_string());
            [name.clone()].into_iter().chain(loadings).collect()
        });
        out.csv(path, header, rows)?;
        writeln!(out, "{}: the true basis, {} x {d}", path.display(), args.p)?;
    }
    out.json(&json!({
        "out": args.out,
        "truth": args.truth,
        "link": link.name(),
        "covariance": covariance.name(),
        "n": args.n,
        "p": args.p,
        "noise": args.noise,
        "density": args.density,
        "seed": args.seed,
    }))
}
