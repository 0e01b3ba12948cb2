//! Progress bars on a terminal, silence in a pipe.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use smave::{Checkpoint, Observer, Progress, Watch};

use crate::cancel;

static SHOWN: AtomicBool = AtomicBool::new(true);

/// Whether there are bars at all.
pub fn show(shown: bool) {
    SHOWN.store(shown, Ordering::Relaxed);
}

/// A bar over `length` steps, on standard error; hidden when that is not a terminal.
pub fn bar(length: u64, label: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {bar:32} {pos}/{len} {msg} [{eta} left]")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = if SHOWN.load(Ordering::Relaxed) { ProgressBar::new(length) } else { ProgressBar::hidden() };
    bar.with_style(style).with_prefix(label)
}

/// Runs work that counts its tasks, with a bar, and stops it on Ctrl-C.
pub fn watched<T>(label: &'static str, work: impl FnOnce(&Watch<'_>) -> smave::Result<T>) -> Result<T> {
    let progress = bar(0, label);
    let found = work(&|done, total| {
        progress.set_length(total as u64);
        progress.set_position(done as u64);
        if cancel::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.finish_and_clear();
    uncancelled(found)
}

/// Work that Ctrl-C has ended is not an error of the work.
pub fn uncancelled<T>(found: smave::Result<T>) -> Result<T> {
    match found {
        Err(smave::Error::Cancelled) => Err(cancel::Cancelled.into()),
        found => Ok(found?),
    }
}

/// Shows the iterations of one fit, keeps them if there is a checkpoint, and stops it on Ctrl-C.
pub struct FitProgress<'a> {
    bar: ProgressBar,
    checkpoint: Option<&'a Checkpoint>,
}

impl<'a> FitProgress<'a> {
    /// A bar that learns its length from the first iteration.
    pub fn new(checkpoint: Option<&'a Checkpoint>) -> Self {
        let bar = bar(0, "fitting").with_message("looking for a start");
        // Starts and their race are not counted: show at least that time passes.
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, checkpoint }
    }

    /// Without a bar: only Ctrl-C is heard.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), checkpoint: None }
    }
}

impl Observer for FitProgress<'_> {
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        self.bar.set_length(progress.max_iter as u64);
        self.bar.set_position(progress.iteration.iteration as u64 + 1);
        if let Some(moved) = progress.iteration.moved {
            let objective = progress.iteration.objective;
            self.bar
                .set_message(format!("objective {objective:.4}, turned {:.1} degrees", moved.to_degrees()));
        }
        if cancel::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        cancel::requested()
    }

    fn checkpoint(&self) -> Option<&Checkpoint> {
        self.checkpoint
    }
}

impl Drop for FitProgress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
