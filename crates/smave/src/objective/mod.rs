//! The MAVE criterion: local linear regressions, added up over anchors.

pub(crate) mod ambient;
pub mod mave;
mod regression;
#[cfg(test)]
mod tests;

pub use mave::{Evaluation, MaveObjective, Scratch};
