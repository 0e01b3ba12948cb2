//! Many independent tasks: how many are done, and whether to go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result};
use crate::optim::trace::{Observer, Progress};

/// Told `(done, total)` after each of many independent tasks, from any thread, and now and then in between; `Break`
/// ends the work with [`Error::Cancelled`].
pub type Watch<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

/// Counts tasks on behalf of a [`Watch`].
pub(crate) struct Tally<'a> {
    watch: &'a Watch<'a>,
    done: AtomicUsize,
    total: usize,
    cancelled: AtomicBool,
    checkpoint: Option<&'a Checkpoint>,
}

impl<'a> Tally<'a> {
    pub fn new(watch: &'a Watch<'a>, total: usize) -> Self {
        Self { watch, done: AtomicUsize::new(0), total, cancelled: AtomicBool::new(false), checkpoint: None }
    }

    /// With a place for what tasks give.
    pub fn keeping(self, checkpoint: Option<&'a Checkpoint>) -> Self {
        Self { checkpoint, ..self }
    }

    /// One task: what it gave before, or what it gives now. `name` is its own.
    pub fn task<T: Serialize + DeserializeOwned>(
        &self,
        name: impl FnOnce() -> String,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.check()?;
        let found = match self.checkpoint {
            None => work()?,
            Some(checkpoint) => {
                let name = name();
                match checkpoint.recall(&name) {
                    Some(found) => found,
                    None => {
                        let found = work()?;
                        checkpoint.keep(&name, &found)?;
                        found
                    }
                }
            }
        };
        self.step()?;
        Ok(found)
    }

    /// One more task is done; an error if no more are wanted.
    pub fn step(&self) -> Result<()> {
        self.report(self.done.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// An error if no more work is wanted.
    pub fn check(&self) -> Result<()> {
        self.report(self.done.load(Ordering::Relaxed))
    }

    /// An observer for fits within a task, which ends them when no more work is wanted.
    pub fn observer(&self) -> impl Observer {
        TaskObserver(self)
    }

    fn report(&self, done: usize) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        if (self.watch)(done, self.total).is_break() {
            self.cancelled.store(true, Ordering::Relaxed);
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

struct TaskObserver<'a>(&'a Tally<'a>);

impl Observer for TaskObserver<'_> {
    fn on_iteration(&mut self, _: Progress<'_>) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.0.check().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_until_someone_has_enough() {
        let watch = |done: usize, total: usize| {
            assert_eq!(total, 5);
            if done < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let tally = Tally::new(&watch, 5);
        assert!(tally.step().is_ok() && tally.check().is_ok() && tally.step().is_ok());
        assert!(matches!(tally.step(), Err(Error::Cancelled)));
        assert!(tally.check().is_err());
    }
}
