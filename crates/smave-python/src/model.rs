//! The class `Model`: a fitted model, as it is in a file.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyType;
use smave::file::write_atomically;
use smave::predict::TrainingRows;
use smave::{Error, Regression, SelectDimension, Uncertainty};
use smave_report::{Provenance, Report};

use crate::arrays::{Rows, Table, directions, points, shaped};
use crate::errors::exception;
use crate::interrupt::run;
use crate::settings::Settings;

/// A fitted model. The regression on the reduced coordinates is made at the first need: a transformer has none.
#[pyclass(frozen, module = "smave._core")]
pub struct Model {
    reduced: smave::Model,
    /// What it will be made from.
    rows: Mutex<Option<TrainingRows>>,
    whole: OnceLock<smave::Model>,
}

impl Model {
    /// A model as it is in a file.
    fn finished(model: smave::Model) -> Self {
        Self { reduced: model.clone(), rows: Mutex::new(None), whole: OnceLock::from(model) }
    }

    /// The directions and what belongs to them.
    pub fn reduction(&self) -> &smave::Reduction {
        &self.reduced.reduction
    }

    /// The model with its regression.
    fn whole(&self) -> smave::Result<&smave::Model> {
        // Held while the regression is made: whoever comes second waits for it.
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(whole) = self.whole.get() {
            return Ok(whole);
        }
        let made = match rows.clone() {
            Some(rows) => self.reduced.clone().predicting(rows, Regression::LocalLinear)?,
            None => self.reduced.clone(),
        };
        *rows = None;
        Ok(self.whole.get_or_init(|| made))
    }
}

/// Fits directions. `note` is JSON that the file keeps for Python.
#[pyfunction]
#[pyo3(signature = (rows, settings, *, targets, note, n_threads, callback))]
pub fn fit(
    py: Python<'_>,
    rows: Rows<'_>,
    settings: Settings,
    targets: Vec<String>,
    note: &str,
    n_threads: usize,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let estimator = settings.estimator()?;
    let view = rows.view()?;
    let (mut reduced, rows) = run(py, n_threads, callback, |mut control| {
        smave::Model::reduce(&*estimator, &view.dataset()?, &mut control)
    })?;
    reduced.targets = targets;
    reduced.settings["python"] = serde_json::from_str(note).unwrap_or_default();
    Ok(Model { reduced, rows: Mutex::new(Some(rows)), whole: OnceLock::new() })
}

/// Reads a model file.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
    py.detach(|| smave::Model::load(path)).map(Model::finished).map_err(exception)
}

#[pymethods]
impl Model {
    /// From the text of a model file.
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| smave::Model::from_json(text)).map(Self::finished).map_err(exception)
    }

    /// For pickle: how to make it again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (String,))> {
        Ok((py.get_type::<Self>(), (self.to_json(py)?,)))
    }

    /// The text of the model file.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        run(py, 1, None, |_| self.whole()?.to_json())
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        run(py, 1, None, |_| self.whole()?.save(path))
    }

    /// What is not an array, as JSON.
    fn facts(&self) -> String {
        let r = self.reduction();
        serde_json::json!({
            "method": r.method(),
            "n_samples": r.n_samples(),
            "n_neighbors": r.n_neighbors(),
            "seed": r.seed(),
            "names": r.names(),
            "targets": self.reduced.targets,
            "settings": self.reduced.settings,
            "stop_reason": r.stop_reason(),
            "trace": r.trace(),
            "starts": r.starts(),
            "n_agreeing": r.n_agreeing(),
            "loo_error": r.loo_error(),
        })
        .to_string()
    }

    /// The orthonormal basis, a direction in each row.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        directions(py, self.reduction().basis())
    }

    /// The directions in original units, one in each row.
    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        directions(py, self.reduction().directions().as_ref())
    }

    /// An eigenvalue for each direction.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.reduction().eigenvalues())
    }

    /// What is subtracted from each column.
    #[getter]
    fn center<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.reduction().standardization().center())
    }

    /// What each column is divided by.
    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.reduction().standardization().scale())
    }

    /// The coordinates of rows along the directions.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = x.view()?;
        let z = run(py, n_threads, None, |_| self.reduction().transform(&*view.design()?))?;
        points(py, z)
    }

    /// Predictions of each response, n x responses, and whether a row lies outside of the data.
    #[allow(clippy::type_complexity)]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Table<'_>,
        n_threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<bool>>)> {
        let view = x.view()?;
        let found = run(py, n_threads, None, |_| self.whole()?.predict_each(&*view.design()?))?;
        let n = found.first().map_or(0, Vec::len);
        let values = (0..n).flat_map(|row| found.iter().map(move |of| of[row].value)).collect();
        let outside = found.first().into_iter().flatten().map(|prediction| prediction.outside).collect();
        Ok((shaped(py, values, n, found.len())?, PyArray1::from_vec(py, outside)))
    }

    /// Half the width of intervals that cover this share of new responses, for each response.
    fn half_widths(&self, py: Python<'_>, level: f64) -> PyResult<Vec<f64>> {
        run(py, 1, None, |_| {
            let model = self.whole()?;
            model.predictor()?;
            model.predictors.iter().map(|predictor| predictor.half_width(level)).collect()
        })
    }

    /// Mean squared leave-one-out error: that of the fit, or of the regression where the method knows none.
    fn loo_error(&self, py: Python<'_>) -> PyResult<f64> {
        match self.reduction().loo_error() {
            Some(error) => Ok(error),
            None => run(py, 1, None, |_| Ok(self.whole()?.predictor()?.loo_error())),
        }
    }

    /// Writes the page that shows what was found, and its figures if there is a folder for them.
    #[pyo3(signature = (rows, path, *, figures, quick, n_replicates, max_dim, seed, title, command, n_threads))]
    #[allow(clippy::too_many_arguments)]
    fn report(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        path: PathBuf,
        figures: Option<PathBuf>,
        quick: bool,
        n_replicates: usize,
        max_dim: usize,
        seed: u64,
        title: Option<String>,
        command: Option<String>,
        n_threads: usize,
    ) -> PyResult<()> {
        let view = rows.view()?;
        run(py, n_threads, None, |control| {
            let model = self.whole()?;
            let data = view.dataset()?;
            let watch = control.watch();
            let (mut explanation, mut choice) = (None, None);
            if !quick {
                let explain = Uncertainty::new().replicates(n_replicates).seed(seed);
                explanation = Some(explain.run_watched(&model.reduction, &data, &watch, None)?);
                // Columns scaled as in the fit, so that the curve is about the same directions.
                let standardized =
                    model.reduction.standardization().scale().iter().any(|&scale| scale != 1.0);
                let select = SelectDimension::new(max_dim.min(data.n_features()))
                    .repeats(1)
                    .standardize(standardized)
                    .seed(seed);
                choice = Some(select.run_watched(&data, &watch, None)?);
            }
            // Python has seen to it that nothing is missing.
            let (n_missing, n_dropped) = (Some(0), Some(0));
            let provenance = Provenance { command, n_missing, n_dropped, ..Provenance::default() };
            let mut report = Report::new(model, &data).provenance(provenance);
            if let Some(title) = title {
                report = report.title(title);
            }
            if let Some(explanation) = &explanation {
                report = report.explanation(explanation);
            }
            if let Some(choice) = &choice {
                report = report.dimension(choice);
            }
            let page = report.html()?;
            write_atomically(&path, |file| file.write_all(page.as_bytes()))?;
            let Some(folder) = figures else { return Ok(()) };
            let cannot = |source| Error::Io { action: "make the folder", path: folder.clone(), source };
            std::fs::create_dir_all(&folder).map_err(cannot)?;
            for figure in report.figures()? {
                let png = figure.png()?;
                let name = |extension: &str| folder.join(format!("{}.{extension}", figure.name));
                write_atomically(&name("svg"), |file| file.write_all(figure.svg.as_bytes()))?;
                write_atomically(&name("png"), |file| file.write_all(&png))?;
            }
            Ok(())
        })
    }

    fn __repr__(&self) -> String {
        let r = self.reduction();
        format!("<{} model: {} directions of {} covariates>", r.method(), r.n_components(), r.n_features())
    }
}
