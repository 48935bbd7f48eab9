//! Parts of the report, as notebooks show them.

use pyo3::prelude::*;
use serde_json::Value;

use crate::error::{exception, internal};

fn parsed(json: &str) -> PyResult<Value> {
    serde_json::from_str(json).map_err(internal)
}

/// The result of a check, as HTML. `json` is what `hedgerow check --json` prints.
#[pyfunction]
pub(crate) fn check_html(py: Python<'_>, json: &str) -> PyResult<String> {
    hedgerow::part::of_check(&parsed(json)?).map_err(|error| exception(py, &error))
}

/// Guarantees as a manifest claims them, as HTML.
#[pyfunction]
pub(crate) fn claims_html(py: Python<'_>, json: &str) -> PyResult<String> {
    hedgerow::part::of_claims(&parsed(json)?).map_err(|error| exception(py, &error))
}

/// The findings about adversaries, as HTML. `json` is what `hedgerow audit --json` prints.
#[pyfunction]
pub(crate) fn audit_html(py: Python<'_>, json: &str) -> PyResult<String> {
    hedgerow::part::of_audit(&parsed(json)?).map_err(|error| exception(py, &error))
}
