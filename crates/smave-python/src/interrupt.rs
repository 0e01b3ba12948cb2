//! Long work, with the interpreter released.
//!
//! The work runs on a thread of a pool. The thread that called waits without holding the interpreter and
//! wakes at once when there is a result or an iteration to report, otherwise [`WAKE`] after [`WAKE`] to see whether a signal
//! has come in. A signal, or a callback that raises, asks the work to end; when it has, the exception is
//! raised. So Python code runs only in the thread that called, as it should.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use smave::{Iteration, Observer, Progress};

use crate::errors::exception;
use crate::pools::Lent;

/// Time between two looks for signals.
const WAKE: Duration = Duration::from_millis(20);

/// What the thread that works has to say to the one that called.
enum Event<R> {
    /// An iteration, and where to send whether to stop.
    Iteration(Report, Sender<ControlFlow<()>>),
    /// The end.
    Done(smave::Result<R>),
}

/// An iteration, for a callback.
struct Report {
    iteration: Iteration,
    max_iter: usize,
}

/// Work as its observers see it.
pub struct Control<'a> {
    cancelled: &'a AtomicBool,
    report: Option<&'a (dyn Fn(Report) -> ControlFlow<()> + Sync)>,
}

impl Control<'_> {
    fn is_wanted(&self) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// For work that counts its tasks.
    pub fn watch(&self) -> impl Fn(usize, usize) -> ControlFlow<()> + Sync {
        |_, _| self.is_wanted()
    }
}

impl Observer for Control<'_> {
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        self.is_wanted()?;
        match self.report {
            Some(report) => {
                report(Report { iteration: progress.iteration.clone(), max_iter: progress.max_iter })
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Runs `work` on so many threads. `callback` is called after each iteration with a dictionary and ends the work, with
/// what it has, by returning true.
pub fn run<R: Send>(
    py: Python<'_>,
    n_threads: usize,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Control<'_>) -> smave::Result<R> + Send,
) -> PyResult<R> {
    let lent = Lent::of(n_threads)?;
    let cancelled = AtomicBool::new(false);
    let (sender, mut events) = mpsc::channel();
    let wants_reports = callback.is_some();
    let mut failure: Option<PyErr> = None;
    let fail = |error: PyErr| {
        cancelled.store(true, Ordering::Relaxed);
        error
    };
    let result = lent.pool().in_place_scope(|scope| {
        let cancelled = &cancelled;
        scope.spawn(move |_| {
            let report = |report: Report| {
                let (reply, answer) = mpsc::channel();
                match sender.send(Event::Iteration(report, reply)) {
                    Ok(()) => answer.recv().unwrap_or(ControlFlow::Break(())),
                    Err(_) => ControlFlow::Break(()),
                }
            };
            let control = Control { cancelled, report: if wants_reports { Some(&report) } else { None } };
            let result = work(control);
            // Nobody listens only if the caller panicked.
            let _ = sender.send(Event::Done(result));
        });
        loop {
            let waiting = &mut events;
            match py.detach(move || waiting.recv_timeout(WAKE)) {
                Ok(Event::Done(result)) => return Some(result),
                Ok(Event::Iteration(report, reply)) => {
                    let answer = callback.map_or(Ok(false), |callback| call(py, callback, &report));
                    let stop = answer.unwrap_or_else(|error| {
                        failure.get_or_insert(fail(error));
                        true
                    });
                    let _ = reply.send(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        failure.get_or_insert(fail(error));
                    }
                }
                // The work panicked: so will the scope.
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    });
    match (failure, result) {
        (Some(failure), _) => Err(failure),
        (None, Some(result)) => result.map_err(exception),
        (None, None) => unreachable!("a panic goes through the scope"),
    }
}

/// Tells a callback about an iteration; whether it wants no more.
fn call(py: Python<'_>, callback: &Bound<'_, PyAny>, report: &Report) -> PyResult<bool> {
    let Report { iteration, max_iter } = report;
    let told = PyDict::new(py);
    told.set_item("iteration", iteration.iteration)?;
    told.set_item("max_iter", max_iter)?;
    told.set_item("objective", iteration.objective)?;
    told.set_item("gradient_norm", iteration.gradient_norm)?;
    told.set_item("moved", iteration.moved)?;
    callback.call1((told,))?.is_truthy()
}
