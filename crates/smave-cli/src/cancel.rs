//! Ctrl-C: noted once, asked about often.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use smave::file::hold_writes;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The file from which the same command goes on.
static RESUMABLE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Time for work to end by itself.
const GRACE: Duration = Duration::from_millis(600);

/// The exit code: 128 and the number of the signal.
pub const EXIT_CODE: u8 = 130;

/// The user pressed Ctrl-C.
#[derive(Debug)]
pub struct Cancelled;

impl std::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// Starts listening. Most work looks up often and ends by itself; what does not is ended, but never while a file is
/// being written.
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        REQUESTED.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        let _held = hold_writes();
        say_goodbye();
        std::process::exit(EXIT_CODE.into());
    })
    .context("cannot listen for Ctrl-C")
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// An error once Ctrl-C was pressed.
pub fn check() -> Result<()> {
    if requested() { Err(Cancelled.into()) } else { Ok(()) }
}

/// From now on what is done is kept in this file.
pub fn kept_in(path: Option<PathBuf>) {
    if let Ok(mut resumable) = RESUMABLE.lock() {
        *resumable = path;
    }
}

/// What a user who pressed Ctrl-C wants to know; once, whoever comes first.
pub fn say_goodbye() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    match RESUMABLE.lock().ok().and_then(|path| path.clone()) {
        Some(path) => eprintln!("cancelled; the same command goes on from {}", path.display()),
        None => eprintln!("cancelled"),
    }
}
