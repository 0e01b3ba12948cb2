//! The race: successive halving on leave-one-out error.
//!
//! The criterion cannot rank starts: its neighborhoods move with B. The leave-one-out prediction error of the local linear
//! regression can (0.25 in the right basin against 0.35 in a wrong one, typically). Each rung refines
//! the starts that are left a little, looks at all of them with the same anchors and neighborhood size,
//! and drops the worse part, so that most of the time goes to the few best. When the three leaders have come to the same
//! subspace the race is over.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimator::reduction::Start;
use crate::estimator::smave::refine::Refiner;
use crate::estimator::smave::starts::Guess;
use crate::linalg::Mat;
use crate::local::neighborhoods::Weighting;
use crate::manifold::subspace::largest_angle;
use crate::objective::mave::MaveObjective;

/// One rung of the race.
struct Rung {
    /// Starts that come this far.
    places: usize,
    /// Renewals, and steps after each.
    rounds: usize,
    steps: usize,
    /// Anchors.
    anchors: usize,
}

const RUNGS: [Rung; 3] = [
    Rung { places: usize::MAX, rounds: 1, steps: 5, anchors: 150 },
    Rung { places: 4, rounds: 1, steps: 6, anchors: 300 },
    Rung { places: 2, rounds: 2, steps: 6, anchors: 500 },
];

/// A start underway.
struct Runner {
    name: String,
    basis: Mat<f64>,
    error: f64,
    rungs: usize,
}

/// Races the guesses; gives the winner's basis, after it that of the second if it is another subspace, and how each
/// fared. `anchors` are rows in random order.
pub(super) fn race(
    guesses: Vec<Guess>,
    objective: MaveObjective<'_>,
    anchors: &[usize],
    k: usize,
) -> Result<(Vec<Mat<f64>>, Vec<Start>)> {
    let begin =
        |guess: Guess| Runner { name: guess.name, basis: guess.basis, error: f64::INFINITY, rungs: 0 };
    let mut running: Vec<Runner> = guesses.into_iter().map(begin).collect();
    let mut finished: Vec<Runner> = Vec::new();
    for rung in &RUNGS {
        finished.splice(0..0, running.drain(rung.places.min(running.len())..));
        let mut here = anchors[..rung.anchors.min(anchors.len())].to_vec();
        here.sort_unstable();
        let moved: Result<Vec<()>> =
            running.par_iter_mut().map(|runner| advance(runner, rung, objective, &here, k)).collect();
        moved?;
        running.sort_by(|a, b| a.error.total_cmp(&b.error));
        if leaders_agree(&running)? {
            break;
        }
    }
    running.extend(finished);
    let winner = running.first().ok_or(Error::InvalidParameter {
        name: "starts",
        value: "none".into(),
        requirement: "at least one that works on these data; switch the walk or random starts on".into(),
    })?;
    let basis = winner.basis.clone();
    let starts = running
        .iter()
        .map(|runner| {
            let angle = largest_angle(basis.as_ref(), runner.basis.as_ref())?;
            Ok(Start { name: runner.name.clone(), loo_error: runner.error, rungs: runner.rungs, angle })
        })
        .collect::<Result<_>>()?;
    let mut finalists = vec![basis];
    if let Some(second) = running.get(1)
        && largest_angle(finalists[0].as_ref(), second.basis.as_ref())? > SAME
    {
        finalists.push(second.basis.clone());
    }
    Ok((finalists, starts))
}

/// Whether the leaders, were they to go on, would only repeat each other.
fn leaders_agree(running: &[Runner]) -> Result<bool> {
    for other in running.iter().take(LEADERS).skip(1) {
        if largest_angle(running[0].basis.as_ref(), other.basis.as_ref())? > SAME {
            return Ok(false);
        }
    }
    Ok(running.len() >= LEADERS)
}

/// Starts that have to agree, and how well (radians), for the race to end early.
const LEADERS: usize = 3;
const SAME: f64 = 0.15;

fn advance(
    runner: &mut Runner,
    rung: &Rung,
    objective: MaveObjective<'_>,
    anchors: &[usize],
    k: usize,
) -> Result<()> {
    let mut refiner = Refiner::new(objective, anchors, Weighting::Epanechnikov);
    for _ in 0..rung.rounds {
        let view = refiner.view(&runner.basis, k)?;
        runner.basis = refiner.ascend(&runner.basis, &view, rung.steps, 0)?.basis;
    }
    let error = refiner.loo_error(&refiner.view(&runner.basis, k)?);
    runner.error = if error.is_finite() { error } else { f64::INFINITY };
    runner.rungs += 1;
    Ok(())
}
