//! `smave transform`: coordinates of rows along fitted directions.

use std::io::Write;

use anyhow::Result;
use serde_json::json;
use smave::Model;

use crate::args::TransformArgs;
use crate::output::Output;
use crate::read::covariates;

/// Reads the model's covariates from the data by name, projects, writes.
pub fn run(args: &TransformArgs, out: &mut Output) -> Result<()> {
    let model = Model::load(&args.model)?;
    let z = model.reduction.transform(&covariates(&args.data, &model)?.0)?;
    let header = (1..=z.dim()).map(|j| format!("z{j}"));
    let rows = (0..z.len()).map(|i| z.point(i).iter().map(f64::to_string).collect());
    out.csv(&args.out, header, rows)?;
    writeln!(out, "{}: {} rows, z1 to z{}", args.out.display(), z.len(), z.dim())?;
    out.json(&json!({ "out": args.out, "rows": z.len(), "coordinates": z.dim() }))
}
