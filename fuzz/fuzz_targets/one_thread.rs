//! One thread for all, so that nothing waits for another.

/// Makes of the thread that calls it the only one of the pool.
pub fn begin() {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
}
