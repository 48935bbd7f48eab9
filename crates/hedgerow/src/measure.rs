//! The losses of a release, and the remaining risk.

use hedgerow_audit::{QuasiSource, SourceTable};
use hedgerow_policy::Role;
use hedgerow_publish::bind::Bound;

use crate::{Error, Monitor, Policy, Release, Source};

pub use hedgerow_audit::max_likelihood::CountQueries;
pub use hedgerow_audit::max_likelihood::MeasuredTables;
pub use hedgerow_audit::{
    AttributeLoss, CountedAlone, Losses, MeasureOptions, Measures, NumberError, QueryError, QueryOptions, Scenario,
    SingledOut, SizeDistribution, TableMeasures,
};

/// Measures a release against the source and the policy that it was made from: every loss measure,
/// class sizes, re-identification risk, and the error of random count queries.
///
/// ```
/// use hedgerow::{Measure, Policy};
///
/// # let folder = tempfile::tempdir()?;
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// let release = hedgerow::publish(&policy, folder.path().join("release"))?.open()?;
/// let measures = Measure::new(&release, &policy).source("../../examples/hospital/patients.csv").run()?;
/// println!("{}", serde_json::to_string(&measures)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is measured before `run`"]
pub struct Measure<'a> {
    release: &'a Release,
    policy: &'a Policy,
    source: Source<'a>,
    queries: MeasureOptions,
}

impl<'a> Measure<'a> {
    /// Measures `release` against the source that `policy` names.
    pub fn new(release: &'a Release, policy: &'a Policy) -> Measure<'a> {
        Measure { release, policy, source: Source::of_policy(), queries: MeasureOptions::default() }
    }

    /// Takes the rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// The random queries by which the release is measured.
    pub fn queries(mut self, queries: MeasureOptions) -> Self {
        self.queries = queries;
        self
    }

    /// Measures.
    pub fn run(self) -> Result<Measures, Error> {
        self.run_with(&Monitor::default())
    }

    /// Measures, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Measures, Error> {
        let policy = self.policy.inner();
        let table = self.source.read(policy, monitor)?;
        let bound = Bound::new(policy, &table)?;
        let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
        let quasi = bound.quasi.iter();
        let quasi = quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy });
        let source = SourceTable {
            table: &table,
            quasi: quasi.collect(),
            sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
            k: bound.k(),
        };
        let mut measures = hedgerow_audit::measure(self.release.inner(), &source, &self.queries, monitor)?;
        count_units_alone(self.release.inner(), policy, &table, &mut measures);
        Ok(measures)
    }
}

/// Counts who is singled out by unit where the release does not say which rows are of one: the
/// policy makes the same rows of the source again. Left as it is where it makes others.
pub(crate) fn count_units_alone(
    release: &hedgerow_release::Release,
    policy: &hedgerow_policy::Policy,
    source: &hedgerow_table::Table,
    measures: &mut Measures,
) {
    let unlinked = release.manifest().and_then(|manifest| manifest.hedgerow.units).is_some_and(|units| !units.linked);
    let Measures::Table(measures) = measures else { return };
    if !unlinked || !policy.has_units() {
        return;
    }
    if let Ok(units) = hedgerow_publish::recount::of_released_rows(policy, source, release) {
        measures.singled_out = hedgerow_audit::singled_out_among(release, Some(&units));
    }
}
