//! Errors become exceptions: one match.

use std::io::ErrorKind;

use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::prelude::*;
use smave::Error;

/// The exception for an error of the library: what cannot be done with the values given is a `ValueError`, a file that
/// cannot be read or written an `OSError`.
pub fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Cancelled => PyKeyboardInterrupt::new_err(()),
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        _ => PyValueError::new_err(message),
    }
}
