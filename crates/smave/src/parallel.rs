//! Where parallel work runs.
//!
//! Work is cut into chunks whose size does not depend on the number of threads
//! and results are combined in chunk order, so every result is the same on one thread
//! and on many. The pool is rayon's current one: install another to limit a
//! computation to some number of threads.

/// Runs `work` on a thread of the pool.
///
/// A parallel call from outside the pool puts its caller to sleep and wakes a worker,
/// which costs more than many of our loops; from a worker it costs next to nothing.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
