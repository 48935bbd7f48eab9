//! Errors as Python exceptions, one class for each kind that a caller can act on.

use hedgerow::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(hedgerow, HedgerowError, PyException, "Why a call did not succeed: nothing was written.");
create_exception!(hedgerow, PolicyError, HedgerowError, "The policy has errors; `problems` lists all of them.");
create_exception!(
    hedgerow,
    InputError,
    HedgerowError,
    "Data, a hierarchy, a release, a query or a destination cannot be used, or cannot be read."
);
create_exception!(hedgerow, Unsatisfiable, HedgerowError, "No release satisfies the policy; `reasons` says why.");
create_exception!(
    hedgerow,
    Breach,
    HedgerowError,
    "Combined with other releases, this one discloses sensitive values; `findings` has what the audit found."
);
create_exception!(hedgerow, Canceled, HedgerowError, "The work was canceled: nothing was written.");
create_exception!(hedgerow, InternalError, HedgerowError, "A bug in Hedgerow.");

/// The exception for an error, with its parts as attributes.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    let raised = match error.kind() {
        ErrorKind::Policy => PolicyError::new_err(message),
        ErrorKind::Input | ErrorKind::Io => InputError::new_err(message),
        ErrorKind::Unsatisfiable => Unsatisfiable::new_err(message),
        ErrorKind::Breach => Breach::new_err(message),
        ErrorKind::Canceled => Canceled::new_err(message),
        _ => InternalError::new_err(message),
    };
    match describe(py, &raised, error) {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

fn describe(py: Python<'_>, raised: &PyErr, error: &Error) -> PyResult<()> {
    let value = raised.value(py);
    value.setattr("place", error.place())?;
    value.setattr("problem", error.problem())?;
    value.setattr("hint", error.hint())?;
    value.setattr("exit_code", error.exit_code())?;
    value.setattr("reasons", error.reasons().to_vec())?;
    let problems = error.problems().iter().map(|problem| (&problem.place, &problem.problem, &problem.hint));
    value.setattr("problems", problems.collect::<Vec<_>>())?;
    let findings = error.audited().map(serde_json::to_string).transpose();
    let findings = findings.map_err(|error| InternalError::new_err(error.to_string()))?;
    value.setattr("_findings", findings)
}

pub(crate) fn internal(problem: impl std::fmt::Display) -> PyErr {
    InternalError::new_err(problem.to_string())
}
