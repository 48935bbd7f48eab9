//! The programs of the wheel: the command and the studio, run in the process of Python that starts
//! them, so that one library is built and shipped for all.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `hedgerow` and gives its exit code. The first argument is its own path.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| hedgerow_cli::run(&arguments))
}

/// Runs `hedgerow-studio` until the process is ended, or gives its exit code.
#[pyfunction]
pub(crate) fn studio(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| hedgerow_studio::run(&arguments))
}
