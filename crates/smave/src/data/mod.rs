//! Covariates and responses: where they are stored, how they are seen.

pub mod dataset;
pub mod dense;
pub mod design;
pub mod encoding;
pub mod folds;
pub(crate) mod repeats;
pub mod responses;
pub(crate) mod second_moment;
pub mod simulate;
pub mod standardize;

pub use crate::linalg::Element;
pub use dataset::{Dataset, Warning};
pub use dense::Dense;
pub use design::{Design, Moments, Rows};
pub use encoding::SourceColumn;
pub use responses::Responses;
pub use standardize::{Standardization, Standardized};
