//! The MAVE criterion: local linear regressions, added up over anchors.

pub(crate) mod ambient;
pub(crate) mod leave_one_out;
pub mod mave;
pub(crate) mod regression;
#[cfg(test)]
mod tests;

pub use mave::{Evaluation, MaveObjective, Scratch};
