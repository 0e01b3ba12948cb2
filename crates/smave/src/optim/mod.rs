//! Moving on the manifold, and telling others about it.

pub(crate) mod lbfgs;
pub(crate) mod patience;
pub mod sgd;
pub mod step_size;
pub mod trace;

pub use sgd::HeavyBall;
pub use step_size::StepSize;
pub use trace::{Iteration, Observer, Progress, Silent, StopReason};
