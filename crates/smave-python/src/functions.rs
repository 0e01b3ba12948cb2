//! What does not belong to one model.

use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use smave::data::simulate::Simulation;
use smave::{SelectDimension, Uncertainty};

use crate::arrays::{Rows, columns, directions, shaped};
use crate::errors::exception;
use crate::interrupt::run;
use crate::model::Model;

/// How many directions the data support, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, *, max_dim, folds, repeats, nested, second_opinions, standardize, seed, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn select_dimension(
    py: Python<'_>,
    rows: Rows<'_>,
    max_dim: usize,
    folds: usize,
    repeats: usize,
    nested: bool,
    second_opinions: bool,
    standardize: bool,
    seed: u64,
    n_threads: usize,
) -> PyResult<String> {
    let select = SelectDimension::new(max_dim)
        .folds(folds)
        .repeats(repeats)
        .nested(nested)
        .second_opinions(second_opinions)
        .standardize(standardize)
        .seed(seed);
    let view = rows.view()?;
    let choice =
        run(py, n_threads, None, |control| select.run_watched(&view.dataset()?, &control.watch(), None))?;
    json(&choice)
}

/// Intervals for loadings and relevance, and p-values, as JSON.
#[pyfunction]
#[pyo3(signature = (model, rows, *, n_replicates, n_permutations, level, max_rows, seed, n_threads))]
#[allow(clippy::too_many_arguments)]
pub fn bootstrap(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    rows: Rows<'_>,
    n_replicates: usize,
    n_permutations: usize,
    level: f64,
    max_rows: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<String> {
    let explain = Uncertainty::new()
        .replicates(n_replicates)
        .permutations(n_permutations)
        .level(level)
        .max_rows(max_rows)
        .seed(seed);
    let (view, model) = (rows.view()?, model.get());
    let found = run(py, n_threads, None, |control| {
        explain.run_watched(model.reduction(), &view.dataset()?, &control.watch(), None)
    })?;
    json(&found)
}

/// The squared distance of two subspaces, each given by directions in rows.
#[pyfunction]
pub fn subspace_distance(a: PyReadonlyArray2<'_, f64>, b: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    smave::squared_distance(columns(&a).as_ref(), columns(&b).as_ref()).map_err(exception)
}

/// The principal angles between two subspaces, each given by directions in rows.
#[pyfunction]
pub fn principal_angles<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let angles = smave::principal_angles(columns(&a).as_ref(), columns(&b).as_ref()).map_err(exception)?;
    Ok(PyArray1::from_vec(py, angles))
}

/// X, y and the true directions, of the paper's synthetic design.
#[pyfunction]
#[pyo3(signature = (n_samples, n_features, *, link, covariance, noise, density, seed))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn make_sdr<'py>(
    py: Python<'py>,
    n_samples: usize,
    n_features: usize,
    link: &str,
    covariance: &str,
    noise: f64,
    density: f64,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
    let link = link.parse().map_err(exception)?;
    let covariance = covariance.parse().map_err(exception)?;
    let simulation =
        Simulation::new(link, covariance, n_samples, n_features).noise(noise).density(density).seed(seed);
    let made = run(py, 1, None, |_| simulation.draw())?;
    let x = shaped(py, made.x.values().to_vec(), n_samples, n_features)?;
    Ok((x, PyArray1::from_vec(py, made.y), directions(py, made.basis.as_ref())?))
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
