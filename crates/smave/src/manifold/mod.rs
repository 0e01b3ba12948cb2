//! Orthonormal frames, the subspaces they span, and how to move between them.

#[cfg(test)]
pub(crate) mod check;
pub mod stiefel;
pub mod subspace;
