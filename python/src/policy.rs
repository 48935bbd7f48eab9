//! A policy as Python holds it.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::error::exception;

/// A policy that was read and checked.
#[pyclass(frozen, module = "hedgerow._hedgerow")]
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) inner: hedgerow::Policy,
}

#[pymethods]
impl Policy {
    /// Reads a policy file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Policy> {
        hedgerow::Policy::load(path).map(|inner| Policy { inner }).map_err(|error| exception(py, &error))
    }

    /// Reads the text of a policy; `path` names it in messages and is where relative paths start.
    #[staticmethod]
    #[pyo3(signature = (text, path = PathBuf::from("policy")))]
    fn parse(py: Python<'_>, text: &str, path: PathBuf) -> PyResult<Policy> {
        hedgerow::Policy::parse(text, path).map(|inner| Policy { inner }).map_err(|error| exception(py, &error))
    }

    /// The same policy, beside more releases of others.
    fn beside(&self, py: Python<'_>, releases: Vec<String>) -> PyResult<Policy> {
        let builder = releases.into_iter().fold(self.inner.to_builder(), hedgerow::PolicyBuilder::community);
        builder.build().map(|inner| Policy { inner }).map_err(|error| exception(py, &error))
    }

    /// The policy as TOML.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// Every attribute with its role, in order.
    #[getter]
    fn attributes(&self) -> Vec<(String, &'static str)> {
        self.inner.attributes().map(|(name, role)| (name.to_owned(), role.name())).collect()
    }

    /// How the release is made.
    #[getter]
    fn method(&self) -> &'static str {
        self.inner.method().name()
    }

    /// Warnings about what is allowed but probably unintended.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().iter().map(ToString::to_string).collect()
    }

    /// Its attributes and rules, as HTML.
    fn html(&self) -> String {
        hedgerow::part::of_policy(&self.inner)
    }

    fn __repr__(&self) -> String {
        let attributes = self.inner.attributes().count();
        format!("Policy({attributes} attributes, method {:?})", self.inner.method().name())
    }
}
