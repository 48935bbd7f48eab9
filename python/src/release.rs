//! Releases as Python holds them, and the calls that make and judge them.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::{Monitor, Publish, Source, TableFormat};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::{PySchema, PyTable};
use serde::Serialize;

use crate::error::{exception, internal};
use crate::policy::Policy;
use crate::rows::{PythonRows, source};
use crate::run::{run, run_detached};

/// The same releases, which share their tables with these.
fn shared(releases: &[PyRef<'_, Release>]) -> Vec<hedgerow::Release> {
    releases.iter().map(|release| hedgerow::Release::clone(&release.inner)).collect()
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(internal)
}

/// A release that was opened.
#[pyclass(frozen, module = "hedgerow._hedgerow")]
#[derive(Debug)]
pub(crate) struct Release {
    inner: Arc<hedgerow::Release>,
}

#[pymethods]
impl Release {
    /// Opens a release.
    #[staticmethod]
    #[pyo3(signature = (path, name = None))]
    fn open(py: Python<'_>, path: PathBuf, name: Option<&str>) -> PyResult<Release> {
        let opened = run(py, None, None, |monitor| hedgerow::Release::open_with(&path, monitor))?;
        let opened = name.map_or_else(|| opened.clone(), |name| opened.clone().named(name));
        Ok(Release { inner: Arc::new(opened) })
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.path().to_path_buf()
    }

    #[getter]
    fn method(&self) -> &str {
        self.inner.method()
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    /// The guarantees that the manifest claims, as JSON.
    fn guarantees(&self) -> PyResult<String> {
        json(&self.inner.guarantees())
    }

    /// The text of the codebook.
    fn codebook(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.codebook().map_err(|error| exception(py, &error))
    }

    /// Every table with its name; each has `__arrow_c_stream__`. `published` has the types that
    /// columns had before.
    #[pyo3(signature = (published = None))]
    fn tables(&self, py: Python<'_>, published: Option<PySchema>) -> PyResult<Vec<(String, PyTable)>> {
        let release = Arc::clone(&self.inner);
        let tables = run_detached(py, move || match &published {
            Some(published) => release.to_arrow_as(published.as_ref()),
            None => release.to_arrow(),
        })?;
        let table = |(name, batch): (String, arrow_array::RecordBatch)| {
            let schema = batch.schema();
            Ok((name, PyTable::try_new(vec![batch], schema)?))
        };
        tables.into_iter().map(table).collect()
    }

    /// Recomputes every guarantee, as JSON.
    #[pyo3(signature = (earlier = Vec::new()))]
    fn check(&self, py: Python<'_>, earlier: Vec<PyRef<'_, Release>>) -> PyResult<String> {
        let (release, earlier) = (Arc::clone(&self.inner), shared(&earlier));
        json(&run_detached(py, move || release.check_among(&earlier))?)
    }

    /// Answers one SELECT, as JSON.
    fn query(&self, py: Python<'_>, sql: String) -> PyResult<String> {
        let release = Arc::clone(&self.inner);
        json(&run_detached(py, move || release.query(&sql))?)
    }

    /// The losses, as JSON.
    #[pyo3(signature = (policy, rows = None, queries = None, seed = None, progress = None))]
    fn measure(
        &self,
        py: Python<'_>,
        policy: &Policy,
        rows: Option<PythonRows>,
        queries: Option<usize>,
        seed: Option<u64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let source = source(py, rows)?;
        let mut options = hedgerow::MeasureOptions::default();
        if let Some(count) = queries {
            (options.queries.count, options.combined.count) = (count, count);
        }
        if let Some(seed) = seed {
            (options.queries.seed, options.combined.seed) = (seed, seed);
        }
        let policy = &policy.inner;
        let work = |monitor: &Monitor<'_>| {
            hedgerow::Measure::new(&self.inner, policy).source(source).queries(options).run_with(monitor)
        };
        json(&run(py, progress, None, work)?)
    }

    /// Its guarantees, recomputed, and its columns, as HTML.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let release = Arc::clone(&self.inner);
        run_detached(py, move || hedgerow::part::of_release(&release))
    }

    fn __repr__(&self) -> String {
        format!("Release({:?}, {:?}, {} rows)", self.inner.name(), self.inner.method(), self.inner.rows())
    }
}

/// Publishes, and gives what `hedgerow publish --json` prints, the warnings, and the types of the
/// rows that were handed over.
#[pyfunction]
#[pyo3(signature = (
    policy, destination, rows = None, *, overwrite = false, format = "csv", seed = None, levels = Vec::new(),
    catalog = None, custodian = None, memory = None, threads = None, progress = None,
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn publish(
    py: Python<'_>,
    policy: &Policy,
    destination: PathBuf,
    rows: Option<PythonRows>,
    overwrite: bool,
    format: &str,
    seed: Option<u64>,
    levels: Vec<(String, u64)>,
    catalog: Option<PathBuf>,
    custodian: Option<String>,
    memory: Option<u64>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>, Option<PySchema>)> {
    let format = match format {
        "csv" => TableFormat::Csv,
        "parquet" => TableFormat::Parquet,
        other => return Err(PyValueError::new_err(format!("format must be \"csv\" or \"parquet\", not {other:?}"))),
    };
    let schema = rows.as_ref().and_then(PythonRows::schema);
    let source = source(py, rows)?;
    let mut publish = Publish::new(&policy.inner, destination)
        .source(source)
        .overwrite(overwrite)
        .format(format)
        .danger_seed(seed)
        .levels(levels)
        .memory(memory);
    if let Some(catalog) = catalog {
        publish = publish.catalog(catalog);
    }
    if let Some(custodian) = custodian {
        publish = publish.custodian(custodian);
    }
    let published = run(py, progress, threads, |monitor| publish.run_with(monitor))?;
    let warnings = published.warnings.iter().map(ToString::to_string).collect();
    Ok((json(&published)?, warnings, schema))
}

/// Runs adversaries against releases, as JSON.
#[pyfunction]
#[pyo3(signature = (
    releases, people = None, policy = None, *, catalog = None, adversaries = Vec::new(), l = None, k = None,
    confidence = None, progress = None,
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn audit(
    py: Python<'_>,
    releases: Vec<PyRef<'_, Release>>,
    people: Option<PythonRows>,
    policy: Option<&Policy>,
    catalog: Option<PathBuf>,
    adversaries: Vec<String>,
    l: Option<u64>,
    k: Option<u64>,
    confidence: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let known = |name: &String| {
        let unknown = |error| PyValueError::new_err(format!("{name:?}: {error}"));
        name.parse::<hedgerow::Adversary>().map_err(unknown)
    };
    let adversaries = adversaries.iter().map(known).collect::<PyResult<Vec<_>>>()?;
    let releases = shared(&releases);
    let mut audit = hedgerow::Audit::new(&releases).adversaries(adversaries).l(l).k(k).confidence(confidence);
    if let Some(folder) = catalog {
        audit = audit.catalog(folder);
    }
    if let Some(policy) = policy {
        audit = audit.policy(&policy.inner);
    }
    if let Some(people) = people {
        audit = audit.people(people.source(py)?);
    }
    json(&run(py, progress, None, |monitor| audit.run_with(monitor))?)
}

/// Checks any table against the rules of a policy, as JSON.
#[pyfunction]
pub(crate) fn check_table(py: Python<'_>, policy: &Policy, rows: PythonRows) -> PyResult<String> {
    let (policy, rows) = (&policy.inner, rows.source(py)?);
    json(&run(py, None, None, |monitor| hedgerow::CheckTable::new(policy, rows).run_with(monitor))?)
}

/// Every node of the lattice at which all rules hold, as JSON.
#[pyfunction]
#[pyo3(signature = (policy, rows = None, progress = None))]
pub(crate) fn explore(
    py: Python<'_>,
    policy: &Policy,
    rows: Option<PythonRows>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (policy, rows) = (&policy.inner, source(py, rows)?);
    json(&run(py, progress, None, |monitor| hedgerow::Explore::new(policy).source(rows).run_with(monitor))?)
}

/// The implications of a policy's rules, as JSON and as SVG.
#[pyfunction]
#[pyo3(signature = (policy, rows = None))]
pub(crate) fn rules(py: Python<'_>, policy: &Policy, rows: Option<PythonRows>) -> PyResult<(String, String)> {
    let (policy, rows) = (&policy.inner, source(py, rows)?);
    let report = run(py, None, None, |monitor| hedgerow::ExamineRules::new(policy).source(rows).run_with(monitor))?;
    Ok((json(&report)?, report.svg().to_owned()))
}

/// The page about releases, and every number of it as JSON.
#[pyfunction]
#[pyo3(signature = (
    releases, policy = None, rows = None, people = None, *, publishable = false, date = None, progress = None,
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn report(
    py: Python<'_>,
    releases: Vec<PyRef<'_, Release>>,
    policy: Option<&Policy>,
    rows: Option<PythonRows>,
    people: Option<PythonRows>,
    publishable: bool,
    date: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let releases = shared(&releases);
    let mut report = hedgerow::Report::new(&releases).publishable(publishable).source(source(py, rows)?);
    if let Some(policy) = policy {
        report = report.policy(&policy.inner);
    }
    if let Some(people) = people {
        report = report.people(people.source(py)?);
    }
    if let Some(date) = date {
        report = report.date(date);
    }
    let reported = run(py, progress, None, |monitor| report.run_with(monitor))?;
    Ok((reported.html, reported.json.to_string()))
}

/// Proposes a policy for rows: its text, and hierarchy files by relative path.
#[pyfunction]
pub(crate) fn propose(py: Python<'_>, rows: PythonRows) -> PyResult<(String, Vec<(PathBuf, String)>)> {
    let source: Source<'static> = rows.source(py)?;
    let proposal = run(py, None, None, |monitor| hedgerow::Propose::new(source).run_with(monitor))?;
    let mut files = proposal.files;
    let policy = files.pop().map(|(_, text)| text).ok_or_else(|| internal("a proposal without a policy"))?;
    Ok((policy, files))
}

/// The privacy models that a table satisfies as it is, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, quasi, sensitive = None))]
pub(crate) fn anonymity(
    py: Python<'_>,
    rows: PythonRows,
    quasi: Vec<String>,
    sensitive: Option<String>,
) -> PyResult<String> {
    let rows = rows.source(py)?;
    let found = run(py, None, None, |monitor| {
        let measure = hedgerow::MeasureAnonymity::new(rows).quasi(quasi);
        let measure = match sensitive {
            Some(name) => measure.sensitive(name),
            None => measure,
        };
        measure.run_with(monitor)
    })?;
    json(&found)
}

/// A synthetic census as CSV.
#[pyfunction]
#[pyo3(signature = (rows, seed = 1))]
pub(crate) fn synthetic_census(py: Python<'_>, rows: u64, seed: u64) -> PyResult<String> {
    let mut text = Vec::new();
    py.detach(|| hedgerow::synthetic::census(rows, seed, &mut text)).map_err(internal)?;
    String::from_utf8(text).map_err(internal)
}
