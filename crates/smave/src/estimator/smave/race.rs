//! The race: successive halving on leave-one-out error.
//!
//! The criterion cannot rank starts: its neighborhoods move with B. The leave-one-out prediction error of the local linear
//! regression can (0.25 in the right basin against 0.35 in a wrong one, typically). Each rung refines
//! the starts that are left a little, looks at all of them with the same anchors and neighborhood size,
//! and drops the worse part, so that most of the time goes to the few best. When the three leaders have come to the same
//! subspace the race is over.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpoint, Stored};
use crate::error::{Error, Result};
use crate::estimator::reduction::Start;
use crate::estimator::smave::refine::Refiner;
use crate::estimator::smave::starts::Guess;
use crate::linalg::Mat;
use crate::local::neighborhoods::Weighting;
use crate::manifold::subspace::largest_angle;
use crate::objective::mave::MaveObjective;
use crate::optim::trace::Observer;

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
pub(super) struct Runner {
    name: String,
    pub basis: Mat<f64>,
    error: f64,
    rungs: usize,
}

/// Races the guesses; gives them as they ended, best first, at least one. `anchors` are rows in random order.
pub(super) fn race(
    guesses: Vec<Guess>,
    objective: MaveObjective<'_>,
    anchors: &[usize],
    k: usize,
    weighting: Weighting,
    observer: &dyn Observer,
) -> Result<Vec<Runner>> {
    let begin =
        |guess: Guess| Runner { name: guess.name, basis: guess.basis, error: f64::INFINITY, rungs: 0 };
    let mut running: Vec<Runner> = guesses.into_iter().map(begin).collect();
    let mut finished: Vec<Runner> = Vec::new();
    for rung in &RUNGS {
        finished.splice(0..0, running.drain(rung.places.min(running.len())..));
        let mut here = anchors[..rung.anchors.min(anchors.len())].to_vec();
        here.sort_unstable();
        let moved: Result<Vec<()>> = running
            .par_iter_mut()
            .map(|runner| advance(runner, rung, Refiner::new(objective, &here, weighting), k, observer))
            .collect();
        moved?;
        running.sort_by(|a, b| a.error.total_cmp(&b.error));
        if leaders_agree(&running)? {
            break;
        }
    }
    running.extend(finished);
    // What cannot predict is no start, and an error that is no number cannot be written down.
    running.retain(|runner| runner.error.is_finite());
    if running.is_empty() {
        return Err(Error::InvalidParameter {
            name: "starts",
            value: "none".into(),
            requirement: "at least one that works on these data; switch the walk or random starts on".into(),
        });
    }
    Ok(running)
}

/// The name of a race among the pieces of a checkpoint.
const PIECE: &str = "starts";

/// A start at the end of a race, as a checkpoint keeps it.
#[derive(Serialize, Deserialize)]
struct Ended {
    name: String,
    basis: Stored,
    error: f64,
    rungs: usize,
}

/// Keeps the outcome of a race.
pub(super) fn keep(checkpoint: &Checkpoint, runners: &[Runner]) -> Result<()> {
    let ended = runners.iter().map(|Runner { name, basis, error, rungs }| Ended {
        name: name.clone(),
        basis: basis.as_ref().into(),
        error: *error,
        rungs: *rungs,
    });
    checkpoint.keep(PIECE, &ended.collect::<Vec<_>>())
}

/// The outcome of a race that was run before, among p x d bases.
pub(super) fn recall(checkpoint: &Checkpoint, p: usize, d: usize) -> Option<Vec<Runner>> {
    let ended: Vec<Ended> = checkpoint.recall(PIECE)?;
    let runner = |Ended { name, basis, error, rungs }: Ended| {
        Some(Runner { name, basis: basis.matrix(p, d)?, error, rungs })
    };
    let runners: Vec<Runner> = ended.into_iter().map(runner).collect::<Option<_>>()?;
    (!runners.is_empty()).then_some(runners)
}

/// The bases to go on with: the winner's, and the second's if it is another subspace.
pub(super) fn finalists(runners: &[Runner]) -> Result<Vec<Mat<f64>>> {
    let mut finalists = vec![runners[0].basis.clone()];
    if let Some(second) = runners.get(1)
        && largest_angle(runners[0].basis.as_ref(), second.basis.as_ref())? > SAME
    {
        finalists.push(second.basis.clone());
    }
    Ok(finalists)
}

/// How each start fared, seen from the one that went on, which comes first.
pub(super) fn report(mut runners: Vec<Runner>, chosen: usize) -> Result<Vec<Start>> {
    if runners.is_empty() {
        return Ok(Vec::new());
    }
    runners[..=chosen].rotate_right(1);
    let basis = runners[0].basis.clone();
    let start = |runner: Runner| {
        let angle = largest_angle(basis.as_ref(), runner.basis.as_ref())?;
        Ok(Start { name: runner.name, loo_error: runner.error, rungs: runner.rungs, angle })
    };
    runners.into_iter().map(start).collect()
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
    mut refiner: Refiner<'_>,
    k: usize,
    observer: &dyn Observer,
) -> Result<()> {
    for _ in 0..rung.rounds {
        observer.check()?;
        let view = refiner.view(&runner.basis, k)?;
        runner.basis = refiner.ascend(&runner.basis, &view, rung.steps)?.basis;
    }
    let error = refiner.loo_error(&refiner.view(&runner.basis, k)?);
    runner.error = if error.is_finite() { error } else { f64::INFINITY };
    runner.rungs += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_that_goes_on_comes_first_and_angles_are_from_it() {
        let runner = |name: &str, axis: usize, error: f64| Runner {
            name: name.into(),
            basis: Mat::from_fn(3, 1, |i, _| f64::from(u8::from(i == axis))),
            error,
            rungs: 1,
        };
        let runners = || vec![runner("a", 0, 1.0), runner("b", 1, 1.1), runner("c", 0, 2.0)];
        assert_eq!(finalists(&runners()).unwrap().len(), 2);
        assert_eq!(finalists(&[runner("a", 0, 1.0), runner("c", 0, 2.0)]).unwrap().len(), 1);
        let starts = report(runners(), 1).unwrap();
        let names: Vec<&str> = starts.iter().map(|start| &start.name[..]).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert!(starts[0].angle < 1e-7 && starts[1].angle > 1.5 && starts[2].angle > 1.5);
        assert!(report(runners(), 0).unwrap()[2].angle < 1e-7);
    }
}
