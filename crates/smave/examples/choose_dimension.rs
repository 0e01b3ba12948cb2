//! How often is the right number of directions chosen? The paper's ten scenarios, three data sets each, and ten of
//! pure noise. Some minutes:
//!
//!     cargo run --release --example choose_dimension

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, DimensionChoice, SelectDimension};

const ROWS: usize = 2000;
const COVARIATES: usize = 20;
const MAX_DIM: usize = 6;

fn main() -> smave::Result<()> {
    println!("{:<14} {:<9} {:>4}  by cross-validation, ladle, augmentation", "link", "cov", "seed");
    let mut right = [0; 3];
    let mut total = 0;
    for link in Link::ALL {
        for covariance in Covariance::ALL {
            for seed in 0..3 {
                let made = Simulation::new(link, covariance, ROWS, COVARIATES).seed(seed).draw()?;
                let chosen = choose(&Dataset::new(made.x, made.y)?, seed)?;
                println!("{link:<14} {covariance:<9} {seed:>4}  {chosen:?}");
                right.iter_mut().zip(chosen).for_each(|(right, chosen)| *right += i32::from(chosen == 2));
                total += 1;
            }
        }
    }
    println!("2 directions, rightly, of {total}: {right:?}");
    let mut none = [0; 3];
    for seed in 0..10 {
        let made = Simulation::new(Link::Polynomial, Covariance::Ar1, ROWS, COVARIATES).seed(seed).draw()?;
        // The response of other rows has nothing to do with these.
        let other =
            Simulation::new(Link::Rational, Covariance::Ar1, ROWS, COVARIATES).seed(seed + 100).draw()?;
        let chosen = choose(&Dataset::new(made.x, other.y)?, seed)?;
        println!("{:<14} {:<9} {seed:>4}  {chosen:?}", "none", "ar1");
        none.iter_mut().zip(chosen).for_each(|(none, chosen)| *none += i32::from(chosen == 0));
    }
    println!("none, rightly, of 10: {none:?}");
    Ok(())
}

/// The choices by cross-validation, the ladle and predictor augmentation.
fn choose(data: &Dataset<'_>, seed: u64) -> smave::Result<[usize; 3]> {
    let DimensionChoice { chosen, ladle, augmentation, .. } =
        SelectDimension::new(MAX_DIM).seed(seed).run(data)?;
    Ok([chosen, ladle.map_or(0, |ladle| ladle.chosen), augmentation.map_or(0, |found| found.chosen)])
}
