//! Thread pools, lent for one call each.
//!
//! Results do not depend on the number of threads, so a call may use any pool of the size asked for. Calls that run at the
//! same time (threads of joblib, say) get pools of their own; a pool given back is kept for the next call of its size. A process
//! that was forked has the memory of its parent's pools and not their threads: it begins with none.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools that nobody uses now.
static IDLE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Idle pools kept at the most.
const KEPT: usize = 16;

struct Entry {
    process: u32,
    pool: ThreadPool,
}

/// A pool on loan.
pub struct Lent(Option<Entry>);

impl Lent {
    /// A pool of so many threads, at least one.
    pub fn of(n_threads: usize) -> PyResult<Self> {
        let (process, size) = (std::process::id(), n_threads.max(1));
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(foreign) = idle.iter().position(|entry| entry.process != process) {
            // Its threads are gone: there is nobody to tell that it ends.
            std::mem::forget(idle.swap_remove(foreign));
        }
        if let Some(found) = idle.iter().position(|entry| entry.pool.current_num_threads() == size) {
            return Ok(Self(Some(idle.swap_remove(found))));
        }
        drop(idle);
        let pool =
            ThreadPoolBuilder::new()
                .num_threads(size)
                .thread_name(|i| format!("smave-{i}"))
                .build()
                .map_err(|error| PyRuntimeError::new_err(format!("cannot start {size} threads: {error}")))?;
        Ok(Self(Some(Entry { process, pool })))
    }

    /// The pool.
    pub fn pool(&self) -> &ThreadPool {
        &self.0.as_ref().expect("given back on drop only").pool
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.extend(self.0.take());
        }
    }
}
