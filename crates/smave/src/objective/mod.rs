//! The MAVE criterion: local linear regressions, added up over anchors.

pub mod mave;
mod regression;
#[cfg(test)]
mod tests;

pub use mave::{Evaluation, MaveObjective, Scratch};
