//! Estimators: each is one file, takes a [`Dataset`] and gives a [`Reduction`].

pub mod ade;
mod ascent;
pub(crate) mod gradient_steps;
pub mod inverse;
pub(crate) mod journal;
pub mod opg;
pub mod opg_adaptive;
pub mod opg_walk;
pub mod pca;
pub mod published;
pub mod reduction;
pub mod rmave;
mod slices;
pub mod smave;
pub(crate) mod whiten;

pub use ade::Ade;
pub use inverse::InverseRegression;
pub use opg::Opg;
pub use opg_adaptive::OpgAdaptive;
pub use opg_walk::OpgWalk;
pub use pca::Pca;
pub use published::PublishedSmave;
pub use reduction::Reduction;
pub use rmave::Rmave;
pub use smave::Smave;

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::design::Design;
use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::estimator::reduction::with_positive_leaders;
use crate::linalg::Mat;
use crate::optim::trace::{Observer, Silent, StopReason};

/// Settings that a model file can keep.
pub trait Settings {
    /// Every setting by name, as JSON.
    fn settings(&self) -> serde_json::Value;
}

impl<T: Serialize> Settings for T {
    fn settings(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A method that finds directions.
pub trait Estimator: Settings + Send + Sync {
    /// The name it has on the command line and in files.
    fn name(&self) -> &'static str;

    /// Fits the reduction, telling `observer` after each iteration if there are any.
    ///
    /// # Errors
    /// When the dimension asked for, a setting or the data do not allow it, or numbers
    /// overflow. A fit cancelled after an iteration is a result; before the first, there is none yet
    /// ([`Error::Cancelled`]).
    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction>;

    /// Fits the reduction.
    ///
    /// # Errors
    /// As [`Estimator::fit_observed`].
    fn fit(&self, data: &Dataset<'_>) -> Result<Reduction> {
        self.fit_observed(data, &mut Silent)
    }
}

/// Runs `work` on the columns as they are, or centered and scaled to unit variance.
pub(crate) fn with_columns<R>(
    data: &Dataset<'_>,
    standardize: bool,
    work: impl FnOnce(&dyn Design) -> Result<R>,
) -> Result<(R, Standardization)> {
    let standardization = scaling(data, standardize)?;
    let found = if standardize { work(&standardization.apply(data.x())?)? } else { work(data.x())? };
    Ok((found, standardization))
}

/// How columns are to be seen: as they are, or centered and scaled to unit variance.
pub(crate) fn scaling(data: &Dataset<'_>, standardize: bool) -> Result<Standardization> {
    if standardize {
        Standardization::fit(data.x(), data.weights())
    } else {
        Ok(Standardization::identity(data.n_features()))
    }
}

/// An error unless d lies between 1 and p.
pub(crate) fn check_dimension(n_components: usize, data: &Dataset<'_>) -> Result<()> {
    let n_features = data.n_features();
    if (1..=n_features).contains(&n_components) {
        Ok(())
    } else {
        Err(Error::InvalidDimension { n_components, n_features })
    }
}

/// An error unless there are rows enough for local regressions in d dimensions: an intercept, d slopes, and
/// one more for them to be a fit.
pub(crate) fn check_rows(n_components: usize, data: &Dataset<'_>) -> Result<()> {
    let (needed, found) = (n_components + 2, data.n_counted().min(data.n_samples()));
    if found >= needed {
        return Ok(());
    }
    let purpose = format!("to fit local regressions in {n_components} dimensions");
    Err(Error::TooFewSamples { needed, found, purpose })
}

/// The result of a method that ends with eigenvectors: an orthonormal basis and its eigenvalues.
pub(crate) fn spectral_reduction(
    method: &str,
    found: ((Mat<f64>, Vec<f64>), Standardization),
    data: &Dataset<'_>,
) -> Result<Reduction> {
    let ((basis, eigenvalues), standardization) = found;
    Ok(Reduction {
        method: method.into(),
        basis: with_positive_leaders(basis),
        eigenvalues,
        standardization,
        names: data.names().to_vec(),
        n_samples: data.n_samples(),
        n_neighbors: None,
        seed: None,
        trace: Vec::new(),
        stop_reason: StopReason::Solved,
        starts: Vec::new(),
        loo_error: None,
    })
}
