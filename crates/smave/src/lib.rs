//! Sufficient dimension reduction: the few linear combinations $B^\top X$ of many
//! covariates that carry everything a regression of $y$ needs.
//!
//! The model is $E[Y \mid X] = E[Y \mid B_\ast^\top X]$ with an unknown p x d matrix $B_\ast$ and an unknown
//! regression function; only the span of $B_\ast$ (the central mean subspace) can be
//! known, and that is what is estimated. Once it is found, d coordinates can be plotted,
//! predicted from and explained where p could not.
//!
//! ```
//! use smave::data::simulate::{Covariance, Link, Simulation};
//! use smave::{Dataset, Estimator, Smave, squared_distance};
//!
//! // 1000 samples of 10 covariates, of which y depends on two combinations.
//! let made = Simulation::new(Link::Interaction, Covariance::Ar1, 1000, 10).seed(1).draw()?;
//! let data = Dataset::new(made.x, made.y)?;
//!
//! let fit = Smave::new(2).standardize(false).seed(7).fit(&data)?;
//! let z = fit.transform(data.x())?;
//! assert_eq!((z.len(), z.dim()), (1000, 2));
//!
//! let error = squared_distance(fit.directions().as_ref(), made.basis.as_ref())?;
//! assert!(error < 0.1, "from 0 (same subspace) to 2 (orthogonal), got {error}");
//! # Ok::<(), smave::Error>(())
//! ```
//!
//! # How it is built
//!
//! X is seen through two products only, Z = X B and X'C ([`Design`]); everything
//! between them works on n x d projections. Data flows one way, and a module uses
//! only those before it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | X and y, standardization, the paper's synthetic design |
//! | [`local`] | neighbors in the projected space and their weights |
//! | [`objective`] | local linear regressions, the MAVE criterion and its gradient |
//! | [`manifold`] | orthonormal frames, retraction, distances of subspaces |
//! | [`optim`] | step sizes, stochastic ascent, observers |
//! | [`estimator`] | [`Smave`] and its rivals behind one trait, and the [`Reduction`] they give |
//! | [`predict`] | regression on the reduced coordinates |
//! | [`select`] | how many directions |
//! | [`uncertainty`] | how sure they are, and which covariates matter |
//! | [`model_file`] | a fitted model as a JSON file |
//! | [`checkpoint`] | long work that can be taken up again |
//!
//! Parallel work runs on rayon's current thread pool, and the same seed gives the same
//! bits on any number of threads. Nothing here prints, exits or panics on bad input:
//! every failure is an [`Error`] that says what to do.

pub mod checkpoint;
pub mod data;
pub mod error;
pub mod estimator;
pub mod file;
pub mod linalg;
pub mod local;
pub mod manifold;
pub mod model_file;
pub mod objective;
pub mod optim;
mod parallel;
pub mod predict;
pub mod rng;
pub mod select;
mod simd;
mod tally;
pub mod uncertainty;

pub use checkpoint::Checkpoint;
pub use data::{Dataset, Dense, Design, Warning};
pub use error::{Error, Result};
pub use estimator::{
    Ade, Estimator, InverseRegression, Opg, OpgAdaptive, OpgWalk, Pca, PublishedSmave, Reduction, Rmave,
    Smave,
};
pub use linalg::{Mat, MatRef, Points};
pub use local::Weighting;
pub use manifold::subspace::{principal_angles, squared_distance};
pub use model_file::Model;
pub use optim::{Iteration, Observer, Progress, StopReason};
pub use predict::{Prediction, Predictor, Regression};
pub use select::{DimensionChoice, SelectDimension};
pub use tally::Watch;
pub use uncertainty::{Explanation, Uncertainty};
