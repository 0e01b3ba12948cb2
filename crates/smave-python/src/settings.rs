//! From parameters to an estimator.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use smave::{Ade, Estimator, InverseRegression, Opg, OpgAdaptive, OpgWalk, Pca, Rmave, Smave, Weighting};

/// What Python sets: the method by its name on the command line, and what it takes. What is `None` stays at the
/// default of the method.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    method: String,
    n_components: usize,
    #[pyo3(default)]
    seed: u64,
    #[pyo3(default)]
    standardize: bool,
    #[pyo3(default)]
    n_neighbors: Option<usize>,
    #[pyo3(default)]
    weights: Option<String>,
    #[pyo3(default)]
    n_starts: Option<usize>,
    #[pyo3(default)]
    refine: Option<bool>,
    #[pyo3(default)]
    screen: Option<bool>,
    #[pyo3(default)]
    max_iter: Option<usize>,
    #[pyo3(default)]
    tol: Option<f64>,
    #[pyo3(default)]
    batch_size: Option<usize>,
    /// Zero: never.
    #[pyo3(default)]
    refresh_every: Option<usize>,
    #[pyo3(default)]
    step_size: Option<f64>,
    #[pyo3(default)]
    step_decay: Option<f64>,
    #[pyo3(default)]
    momentum: Option<f64>,
    #[pyo3(default)]
    n_slices: Option<usize>,
}

/// `setter(to, value)` if there is a value.
fn set<T, V>(to: T, value: Option<V>, setter: impl FnOnce(T, V) -> T) -> T {
    match value {
        Some(value) => setter(to, value),
        None => to,
    }
}

impl Settings {
    /// The estimator.
    pub fn estimator(&self) -> PyResult<Box<dyn Estimator>> {
        let (d, standardize) = (self.n_components, self.standardize);
        Ok(match self.method.as_str() {
            "smave" => Box::new(self.smave()?),
            "smave-published" => {
                let smave = Smave::published(d)
                    .standardize(standardize)
                    .seed(self.seed)
                    .n_neighbors(self.n_neighbors)
                    .tolerance(self.tol)
                    .batch_size(self.batch_size)
                    .step_size(self.step_size);
                let smave = set(smave, self.max_iter, |smave, v| smave.max_iter(v));
                let smave =
                    set(smave, self.refresh_every, |smave, v| smave.refresh_every((v > 0).then_some(v)));
                let smave = set(smave, self.step_decay, |smave, v| smave.step_decay(v));
                let smave = set(smave, self.momentum, |smave, v| smave.momentum(v));
                Box::new(set(smave, self.weighting()?, |smave, v| smave.weighting(v)))
            }
            "mave" => Box::new(Rmave::mave(d).standardize(standardize)),
            "rmave" => Box::new(self.rmave(Rmave::kernel(d))),
            "rmave-knn" => Box::new(self.rmave(Rmave::knn(d))),
            "opg" => Box::new(Opg::kernel(d).standardize(standardize)),
            "opg-knn" => Box::new(Opg::knn(d).standardize(standardize).n_neighbors(self.n_neighbors)),
            "opg-adaptive" => Box::new(OpgAdaptive::new(d).seed(self.seed)),
            "opg-walk" => Box::new(OpgWalk::new(d).seed(self.seed)),
            "ade" => Box::new(Ade::new(d).standardize(standardize)),
            "sir" => Box::new(self.inverse(InverseRegression::sir(d))),
            "save" => Box::new(self.inverse(InverseRegression::save(d))),
            "dr" => Box::new(self.inverse(InverseRegression::dr(d))),
            "phd" => Box::new(InverseRegression::phd(d)),
            "phd-residual" => Box::new(InverseRegression::phd_residual(d)),
            "pca" => Box::new(Pca::new(d).standardize(standardize)),
            other => return Err(PyValueError::new_err(format!("there is no method '{other}'"))),
        })
    }

    fn smave(&self) -> PyResult<Smave> {
        let smave = Smave::new(self.n_components)
            .standardize(self.standardize)
            .seed(self.seed)
            .n_neighbors(self.n_neighbors);
        let smave = set(smave, self.n_starts, |smave, v| smave.random_starts(v));
        let smave = set(smave, self.refine, |smave, v| smave.refine(v));
        let smave = set(smave, self.screen, |smave, v| smave.screen(v));
        let smave = set(smave, self.max_iter, |smave, v| smave.max_iter(v));
        let smave = set(smave, self.tol, |smave, v| smave.tolerance(v));
        Ok(set(smave, self.weighting()?, |smave, v| smave.weighting(v)))
    }

    fn rmave(&self, rmave: Rmave) -> Rmave {
        let rmave = set(rmave.standardize(self.standardize), self.max_iter, |rmave, v| rmave.max_iter(v));
        set(rmave, self.tol, |rmave, v| rmave.tolerance(v))
    }

    fn inverse(&self, method: InverseRegression) -> InverseRegression {
        set(method, self.n_slices, |method, v| method.n_slices(v))
    }

    fn weighting(&self) -> PyResult<Option<Weighting>> {
        match self.weights.as_deref() {
            None => Ok(None),
            Some("uniform") => Ok(Some(Weighting::Uniform)),
            Some("epanechnikov") => Ok(Some(Weighting::Epanechnikov)),
            Some(other) => Err(PyValueError::new_err(format!("there are no weights '{other}'"))),
        }
    }
}
