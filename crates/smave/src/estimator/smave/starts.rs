//! The portfolio: first guesses that fail in different ways.
//!
//! | start | finds | misses |
//! |---|---|---|
//! | walk | nearly everything, where n is some ten times p | what is lost in the first, almost linear steps |
//! | SIR and pHd, DR | trends and curvature of nearly normal X, in one pass | what moments do not show |
//! | random | any link, now and then | with even links a direction half of the time |
//! | over-parametrized | as random, with room to turn | |
//! | OPG | anything, where p is small | everything, where it is not |
//!
//! All see the same rows, a random part of them where there are very many: a start has to lie in the
//! right basin, no more.

use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::error::Result;
use crate::estimator::Estimator;
use crate::estimator::inverse::InverseRegression;
use crate::estimator::opg::Opg;
use crate::estimator::opg_walk::OpgWalk;
use crate::estimator::published::PublishedSmave;
use crate::estimator::smave::Smave;
use crate::linalg::{Mat, orthonormalize};
use crate::optim::trace::{Observer, Within};
use crate::rng::derive_seed;

/// Iterations of a short run of published SMAVE.
const SHORT_RUN: usize = 50;

/// OPG is a start where there are at most so many covariates.
const MAX_OPG: usize = 20;

/// Finds directions with a method that the observer of the whole fit can end.
type Maker<'a> = Box<dyn Fn(&mut dyn Observer) -> Result<Mat<f64>> + Send + Sync + 'a>;

/// A basis to begin with.
pub(super) struct Guess {
    pub name: String,
    pub basis: Mat<f64>,
}

/// All guesses that `settings` ask for. A method that fails on these data is left out, and what is not finite.
pub(super) fn guesses(settings: &Smave, data: &Dataset<'_>, observer: &dyn Observer) -> Result<Vec<Guess>> {
    let d = settings.n_components;
    let p = data.n_features();
    let seed = |part: u64| derive_seed(settings.seed, &[part]);
    let mut makers: Vec<(String, Maker<'_>)> = Vec::new();
    if settings.walk {
        let walk = OpgWalk::new(d).n_anchors(60).brisk(true).rounds(3).seed(seed(0));
        makers.push(("walk".into(), leading(walk, data, d)));
    }
    if settings.moments {
        makers.push(("trend and curvature".into(), Box::new(move |_| trend_and_curvature(data, d))));
        makers.push(("dr".into(), leading(InverseRegression::dr(d), data, d)));
    }
    if settings.opg && p <= MAX_OPG {
        let opg = Opg::knn(d).n_neighbors(data.n_samples() / 5).ridge(1e-5);
        makers.push(("opg".into(), leading(opg, data, d)));
    }
    for run in 0..settings.overparametrized {
        let wide = PublishedSmave::new((d + 2).min(p)).max_iter(SHORT_RUN).seed(seed(100 + run as u64));
        makers.push(("over-parametrized".into(), leading(wide, data, d)));
    }
    for run in 0..settings.random_starts {
        let short = PublishedSmave::new(d).max_iter(SHORT_RUN).seed(seed(200 + run as u64));
        makers.push(("random".into(), leading(short, data, d)));
    }
    let guesses = makers
        .into_par_iter()
        .filter_map(|(name, make)| {
            let found = make(&mut Within(observer)).ok()?;
            // Orthonormal in the coordinates of the race, whatever the method worked in.
            Some(Guess { name, basis: orthonormalize(found.as_ref())? })
        })
        .collect();
    observer.check()?;
    Ok(guesses)
}

/// The first d directions that a method finds.
fn leading<'a>(method: impl Estimator + 'a, data: &'a Dataset<'a>, d: usize) -> Maker<'a> {
    Box::new(move |observer| {
        let found = method.fit_observed(data, observer)?;
        Ok(found.directions().as_ref().subcols(0, d).to_owned())
    })
}

/// The direction of the trend, then those of the curvature that is left without it.
fn trend_and_curvature(data: &Dataset<'_>, d: usize) -> Result<Mat<f64>> {
    let trend = InverseRegression::sir(1).fit(data)?.directions();
    if d == 1 {
        return Ok(trend);
    }
    let curvature = InverseRegression::phd_residual(d - 1).fit(data)?.directions();
    Ok(Mat::from_fn(trend.nrows(), d, |i, j| if j == 0 { trend[(i, 0)] } else { curvature[(i, j - 1)] }))
}
