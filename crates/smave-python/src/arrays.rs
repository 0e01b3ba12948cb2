//! NumPy arrays in and out.
//!
//! A C-contiguous array of float64 or float32 is borrowed as it is; Python makes sure that it comes as one of these. An
//! array that is borrowed here cannot be borrowed for writing by other Rust code, and must not be written to from
//! Python while a call runs.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use smave::data::Element;
use smave::{Dataset, Dense, Design, Mat, MatRef, Points};

/// Covariates as they come from Python, n x p.
#[derive(FromPyObject)]
pub enum Table<'py> {
    /// Double precision.
    #[pyo3(transparent)]
    Double(PyReadonlyArray2<'py, f64>),
    /// Single precision.
    #[pyo3(transparent)]
    Single(PyReadonlyArray2<'py, f32>),
}

impl Table<'_> {
    /// The values, without a copy.
    pub fn view(&self) -> PyResult<View<'_>> {
        let (values, shape) = match self {
            Table::Double(x) => (Values::Double(x.as_slice()?), x.shape()),
            Table::Single(x) => (Values::Single(x.as_slice()?), x.shape()),
        };
        Ok(View { values, n_rows: shape[0], n_cols: shape[1] })
    }
}

/// Values row after row.
#[derive(Clone, Copy)]
enum Values<'a> {
    Double(&'a [f64]),
    Single(&'a [f32]),
}

/// Covariates that any thread can read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    values: Values<'a>,
    n_rows: usize,
    n_cols: usize,
}

impl<'a> View<'a> {
    /// As the library sees covariates.
    pub fn design(self) -> smave::Result<Box<dyn Design + 'a>> {
        Ok(match self.values {
            Values::Double(values) => Box::new(Dense::new(values, self.n_rows, self.n_cols)?),
            Values::Single(values) => Box::new(Dense::new(values, self.n_rows, self.n_cols)?),
        })
    }
}

/// Rows that something is fitted to.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rows<'py> {
    x: Table<'py>,
    /// One row of the array for each response.
    y: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    names: Option<Vec<String>>,
}

impl Rows<'_> {
    /// The values, without a copy.
    pub fn view(&self) -> PyResult<RowsView<'_>> {
        let weights = self.weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let (x, y) = (self.x.view()?, self.y.as_slice()?);
        Ok(RowsView { x, y, weights, names: self.names.as_deref() })
    }
}

/// Rows that any thread can read.
#[derive(Clone, Copy)]
pub struct RowsView<'a> {
    x: View<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    names: Option<&'a [String]>,
}

impl<'a> RowsView<'a> {
    /// Checks the values and makes a data set of them.
    pub fn dataset(self) -> smave::Result<Dataset<'a>> {
        match self.x.values {
            Values::Double(values) => self.dataset_of(values),
            Values::Single(values) => self.dataset_of(values),
        }
    }

    fn dataset_of<T: Element>(self, values: &'a [T]) -> smave::Result<Dataset<'a>> {
        let x = Dense::new(values, self.x.n_rows, self.x.n_cols)?;
        let (first, others) = self.y.split_at(self.x.n_rows.min(self.y.len()));
        let mut data = match self.names {
            Some(names) => Dataset::with_names(x, first, names.to_vec())?,
            None => Dataset::new(x, first)?,
        };
        for y in others.chunks_exact(self.x.n_rows) {
            data = data.with_response(y)?;
        }
        match self.weights {
            Some(weights) => data.with_weights(weights),
            None => Ok(data),
        }
    }
}

/// The columns of a p x d matrix as the rows of an array: one direction after another.
pub fn directions<'py>(py: Python<'py>, columns: MatRef<'_, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (p, d) = (columns.nrows(), columns.ncols());
    let values: Vec<f64> = (0..d).flat_map(|j| (0..p).map(move |i| columns[(i, j)])).collect();
    shaped(py, values, d, p)
}

/// The rows of an array as the columns of a matrix.
pub fn columns(directions: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    let rows = directions.as_array();
    Mat::from_fn(rows.ncols(), rows.nrows(), |i, j| rows[(j, i)])
}

/// Points as the rows of an array.
pub fn points<'py>(py: Python<'py>, points: Points) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, d) = (points.len(), points.dim());
    shaped(py, points.into_values(), n, d)
}

/// Values row after row as an array.
pub fn shaped<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    use numpy::PyArrayMethods;
    PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}
