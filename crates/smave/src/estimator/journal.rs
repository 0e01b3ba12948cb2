//! The rounds of a refinement: told to an observer, and kept in its checkpoint.
//!
//! A round is an ascent on neighborhoods of its own. It depends on the basis before it and on what L-BFGS remembers, and takes
//! nearly all of the time; so rounds are what is kept. A fit that is taken up again goes through
//! the same motions, with rounds that were made before read back instead of made again, and ends with the
//! same bits.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Stored;
use crate::error::Result;
use crate::estimator::ascent::Ascended;
use crate::linalg::Mat;
use crate::optim::lbfgs::Lbfgs;
use crate::optim::trace::{Iteration, Observer, Progress};

/// The name of the rounds among the pieces of a checkpoint.
const PIECE: &str = "rounds";

/// The trace of a refinement, and where it goes.
pub(crate) struct Journal<'a> {
    pub trace: Vec<Iteration>,
    observer: &'a mut dyn Observer,
    /// Rounds there will be at the most.
    max_iter: usize,
    kept: Kept,
}

/// Rounds made so far, and what the optimizer remembers after the last.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    rounds: Vec<Round>,
    memory: Vec<(Stored, Stored)>,
}

#[derive(Serialize, Deserialize)]
struct Round {
    basis: Stored,
    value: f64,
    gradient_norm: f64,
    turned: f64,
}

/// A round, and whether the observer wants more.
pub(crate) struct Told {
    pub basis: Mat<f64>,
    pub turned: f64,
    pub cancelled: bool,
}

impl<'a> Journal<'a> {
    pub fn new(observer: &'a mut dyn Observer, max_iter: usize) -> Self {
        let kept = observer.checkpoint().and_then(|checkpoint| checkpoint.recall(PIECE)).unwrap_or_default();
        Self { trace: Vec::new(), observer, max_iter, kept }
    }

    /// The next round from basis `b`: the one made before, or what `make` makes.
    pub fn round(
        &mut self,
        b: &Mat<f64>,
        lbfgs: &mut Lbfgs,
        make: impl FnOnce(&mut Lbfgs, usize) -> Result<Ascended>,
    ) -> Result<Told> {
        let iteration = self.trace.len();
        let ascended = match self.recall(iteration, b, lbfgs) {
            Some(ascended) => ascended,
            None => {
                self.observer.check()?;
                let ascended = make(lbfgs, iteration)?;
                self.keep(iteration, &ascended, lbfgs)?;
                ascended
            }
        };
        let Ascended { basis, value, gradient_norm, turned } = ascended;
        self.trace.push(Iteration { iteration, objective: value, gradient_norm, moved: Some(turned) });
        let iteration = &self.trace[iteration];
        let progress = Progress { iteration, max_iter: self.max_iter, basis: basis.as_ref() };
        let cancelled = self.observer.on_iteration(progress).is_break();
        Ok(Told { basis, turned, cancelled })
    }

    fn recall(&self, iteration: usize, b: &Mat<f64>, lbfgs: &mut Lbfgs) -> Option<Ascended> {
        let (p, d) = (b.nrows(), b.ncols());
        let round = self.kept.rounds.get(iteration)?;
        let basis = round.basis.matrix(p, d)?;
        if iteration + 1 == self.kept.rounds.len() {
            // The next will be made, with what was known after this one.
            let pairs = self.kept.memory.iter().map(|(s, t)| Some((s.matrix(p, d)?, t.matrix(p, d)?)));
            *lbfgs = Lbfgs::remembering(pairs.collect::<Option<_>>()?);
        }
        let Round { value, gradient_norm, turned, .. } = *round;
        Some(Ascended { basis, value, gradient_norm, turned })
    }

    fn keep(&mut self, iteration: usize, ascended: &Ascended, lbfgs: &Lbfgs) -> Result<()> {
        let Some(checkpoint) = self.observer.checkpoint() else { return Ok(()) };
        let Ascended { ref basis, value, gradient_norm, turned } = *ascended;
        // What could not be read back is not to be followed by what can.
        self.kept.rounds.truncate(iteration);
        self.kept.rounds.push(Round { basis: basis.as_ref().into(), value, gradient_norm, turned });
        self.kept.memory = lbfgs.pairs().map(|(s, t)| (s.as_ref().into(), t.as_ref().into())).collect();
        checkpoint.keep(PIECE, &self.kept)
    }
}
