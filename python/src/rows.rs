//! Rows that come from Python: an Arrow stream, or the path of a file.

use std::path::PathBuf;

use hedgerow::Source;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::error::exception;

/// Where rows come from.
#[derive(Debug)]
pub(crate) enum PythonRows {
    /// Anything with `__arrow_c_stream__`.
    Arrow(PyTable),
    Path(PathBuf),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PythonRows {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<PythonRows> {
        if object.hasattr("__arrow_c_stream__")? {
            return object.extract::<PyTable>().map(PythonRows::Arrow);
        }
        object.extract::<PathBuf>().map(PythonRows::Path)
    }
}

impl PythonRows {
    pub(crate) fn source(self, py: Python<'_>) -> PyResult<Source<'static>> {
        match self {
            PythonRows::Path(path) => Ok(Source::of_path(path)),
            PythonRows::Arrow(table) => {
                let (batches, schema) = table.into_inner();
                let reader = arrow_array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
                Source::from_arrow(reader).map_err(|error| exception(py, &error))
            }
        }
    }
}

/// The rows that were handed over, or those that the policy names.
pub(crate) fn source(py: Python<'_>, rows: Option<PythonRows>) -> PyResult<Source<'static>> {
    rows.map_or_else(|| Ok(Source::of_policy()), |rows| rows.source(py))
}
