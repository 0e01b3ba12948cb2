//! Progress bars on a terminal, silence in a pipe.

use std::ops::ControlFlow;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use smave::{Observer, Progress, Watch};

use crate::cancel;

/// A bar over `length` steps, on standard error; hidden when that is not a terminal.
pub fn bar(length: u64, label: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {bar:32} {pos}/{len} {msg} [{eta} left]")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_prefix(label)
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
    match found {
        Err(smave::Error::Cancelled) => Err(cancel::Cancelled.into()),
        found => Ok(found?),
    }
}

/// Shows the iterations of one fit, and stops it on Ctrl-C.
pub struct FitProgress(ProgressBar);

impl FitProgress {
    /// A bar that learns its length from the first iteration.
    pub fn new() -> Self {
        Self(bar(0, "fitting"))
    }

    /// Without a bar: only Ctrl-C is heard.
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }
}

impl Observer for FitProgress {
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        self.0.set_length(progress.max_iter as u64);
        self.0.set_position(progress.iteration.iteration as u64 + 1);
        if let Some(moved) = progress.iteration.moved {
            let objective = progress.iteration.objective;
            self.0.set_message(format!("objective {objective:.4}, turned {:.1} degrees", moved.to_degrees()));
        }
        if cancel::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for FitProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
