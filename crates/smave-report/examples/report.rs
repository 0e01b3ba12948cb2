//! Simulates rows, fits, explains, chooses the dimension, and writes `report.html` and the figures to a folder.
//!
//! `cargo run --release -p smave-report --example report -- FOLDER [ROWS]`

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::estimator::Settings;
use smave::{Dataset, Estimator, Model, Regression, SelectDimension, Smave, Uncertainty};
use smave_report::{Provenance, Report};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "report".into()));
    let n = env::args().nth(2).map_or(Ok(1000), |n| n.parse())?;
    fs::create_dir_all(&folder)?;

    let made = Simulation::new(Link::Interaction, Covariance::Ar1, n, 10).density(0.3).seed(1).draw()?;
    let data = Dataset::new(made.x, made.y)?;
    let estimator = Smave::new(2).seed(7);
    let model = Model::with_predictor(estimator.fit(&data)?, &data, Regression::LocalLinear)?
        .target("yield")
        .settings(estimator.settings());
    let few = data.subset(&(0..n.min(1000)).collect::<Vec<_>>())?;
    let explanation = Uncertainty::new().replicates(40).permutations(99).run(&model.reduction, &few)?;
    let choice = SelectDimension::new(4).repeats(1).run(&few)?;

    let report = Report::new(&model, &data)
        .explanation(&explanation)
        .dimension(&choice)
        .provenance(Provenance {
            data: Some(format!("simulated, {n} rows, seed 1")),
            command: Some(format!("cargo run --release -p smave-report --example report -- FOLDER {n}")),
            ..Provenance::default()
        })
        .title("Two directions behind a simulated yield");
    fs::write(folder.join("report.html"), report.html()?)?;
    for figure in report.figures()? {
        fs::write(folder.join(format!("{}.svg", figure.name)), &figure.svg)?;
        fs::write(folder.join(format!("{}.png", figure.name)), figure.png()?)?;
    }
    println!("wrote {}", folder.join("report.html").display());
    Ok(())
}
