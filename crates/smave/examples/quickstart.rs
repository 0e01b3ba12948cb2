//! Five lines: data in, two directions out.
//!
//!     cargo run --release --example quickstart

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Estimator, Smave, squared_distance};

fn main() -> smave::Result<()> {
    let made = Simulation::new(Link::Rational, Covariance::Ar1, 2000, 30).seed(1).draw()?;
    let data = Dataset::new(made.x, made.y)?;
    let fit = Smave::new(2).seed(7).fit(&data)?;
    let z = fit.transform(data.x())?;

    println!("first row: x is in R^{}, z = {:?}", data.n_features(), z.point(0));
    println!("y changes along each direction by (mean squared slope): {:?}", fit.eigenvalues());
    let error = squared_distance(fit.directions().as_ref(), made.basis.as_ref())?;
    println!("squared distance to the true subspace: {error:.4} (0 to 2)");
    Ok(())
}
