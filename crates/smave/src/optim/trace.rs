//! What each iteration reports, and to whom.
//!
//! Long work never prints. It tells an [`Observer`] after each iteration, which
//! may draw a progress bar, collect a curve, or ask it to stop.

use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::linalg::MatRef;

/// One iteration of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Number of the iteration, from 0.
    pub iteration: usize,
    /// Average over the batch of the local variance of y that the local fits explain.
    pub objective: f64,
    /// Frobenius norm of the gradient estimate, before any normalization.
    pub gradient_norm: f64,
    /// Where neighborhoods were rebuilt: the largest principal angle, in radians,
    /// between the subspace now and at the previous rebuild.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<f64>,
}

/// What an observer sees after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The iteration.
    pub iteration: &'a Iteration,
    /// Iterations there will be at the most.
    pub max_iter: usize,
    /// The basis after the iteration, p x d, in the coordinates the method works in.
    pub basis: MatRef<'a, f64>,
}

/// Watches a fit, and can end it. Called from a thread of the pool.
pub trait Observer: Send + Sync {
    /// Called after each iteration; `Break` ends the fit with what it has.
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()>;

    /// Whether to give up. Asked from many threads, and also where there are no iterations: while starts are made and
    /// raced, and in methods without. There is no result yet then, and the fit ends with
    /// [`Error::Cancelled`].
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Where the fit looks for what was done before it was interrupted, and keeps what it does.
    fn checkpoint(&self) -> Option<&Checkpoint> {
        None
    }
}

impl<F: FnMut(Progress<'_>) -> ControlFlow<()> + Send + Sync> Observer for F {
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        self(progress)
    }
}

/// The observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn on_iteration(&mut self, _: Progress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl dyn Observer + '_ {
    /// An error once the observer has had enough.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// For a fit within a fit: ends it with the one around it, and tells nobody.
pub(crate) struct Within<'a>(pub &'a dyn Observer);

impl Observer for Within<'_> {
    fn on_iteration(&mut self, _: Progress<'_>) -> ControlFlow<()> {
        if self.0.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Why a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopReason {
    /// There is a closed solution, and this is it.
    Solved,
    /// All iterations were made.
    MaxIterations,
    /// The subspace stopped moving between two rebuilds of the neighborhoods.
    Settled,
    /// Rebuilds of the neighborhoods went on turning the subspace, by no less than before.
    Unsettled,
    /// The observer asked for it.
    Cancelled,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Solved => "solved in closed form",
            StopReason::MaxIterations => "all iterations done",
            StopReason::Settled => "the subspace stopped moving",
            StopReason::Unsettled => "the subspace did not turn by less and less any more",
            StopReason::Cancelled => "cancelled",
        })
    }
}
