//! `smave._core`: the library as an extension module of Python.
//!
//! Nothing is computed here. Arrays are borrowed, settings are put into the estimators of the library, work runs with
//! the interpreter released, and results become arrays or JSON. What a user sees is written in Python, in `python/smave`,
//! on top of this.
//!
//! | module | what it does |
//! |---|---|
//! | `arrays` | borrows NumPy arrays as data sets, makes arrays of results |
//! | `errors` | turns errors into exceptions |
//! | `pools` | lends thread pools of a given size |
//! | `interrupt` | runs long work that callbacks and Ctrl-C can end |
//! | `settings` | from parameters to an estimator |
//! | `model` | the class `Model`: fit, transform, predict, save, report |
//! | `functions` | the dimension, intervals, distances of subspaces, synthetic data |

mod arrays;
mod errors;
mod functions;
mod interrupt;
mod model;
mod pools;
mod settings;

use pyo3::prelude::*;

/// The Rust core of smave.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::functions::{bootstrap, make_sdr, principal_angles, select_dimension, subspace_distance};
    #[pymodule_export]
    use crate::model::{Model, fit, load};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
