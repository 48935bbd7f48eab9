//! Rows that come from Python: an Arrow stream, or the path of a file.

use std::path::PathBuf;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use hedgerow::Source;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::{PySchema, PyTable};

use crate::error::exception;

/// Where rows come from.
#[derive(Debug)]
pub(crate) enum PythonRows {
    /// Anything with `__arrow_c_stream__`.
    Arrow(Vec<RecordBatch>, SchemaRef),
    Path(PathBuf),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PythonRows {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<PythonRows> {
        if object.hasattr("__arrow_c_stream__")? {
            let (batches, schema) = object.extract::<PyTable>()?.into_inner();
            return Ok(PythonRows::Arrow(batches, schema));
        }
        object.extract::<PathBuf>().map(PythonRows::Path).map_err(|_| {
            let kind = object.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
            let hint = if kind == "LazyFrame" { ": collect it first" } else { "" };
            PyTypeError::new_err(format!(
                "rows are a table with __arrow_c_stream__ (pandas, polars, pyarrow, DuckDB) or the path of a file, not {kind}{hint}"
            ))
        })
    }
}

impl PythonRows {
    /// The types of the columns; a file has none before it is read.
    pub(crate) fn schema(&self) -> Option<PySchema> {
        match self {
            PythonRows::Arrow(_, schema) => Some(PySchema::new(SchemaRef::clone(schema))),
            PythonRows::Path(_) => None,
        }
    }

    pub(crate) fn source(self, py: Python<'_>) -> PyResult<Source<'static>> {
        match self {
            PythonRows::Path(path) => Ok(Source::of_path(path)),
            PythonRows::Arrow(batches, schema) => {
                let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
                Source::from_arrow(reader).map_err(|error| exception(py, &error))
            }
        }
    }
}

/// The rows that were handed over, or those that the policy names.
pub(crate) fn source(py: Python<'_>, rows: Option<PythonRows>) -> PyResult<Source<'static>> {
    rows.map_or_else(|| Ok(Source::of_policy()), |rows| rows.source(py))
}
