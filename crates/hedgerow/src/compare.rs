//! The losses of other methods for the same table under the same rules.

use hedgerow_policy::Method;
use hedgerow_table::Table;
use serde::Serialize;

use crate::folder::Folder;
use crate::{
    ClassSizes, Error, ErrorKind, Losses, Measure, MeasureOptions, Monitor, Policy, Publish, QueryError, Release,
    Source,
};

/// The methods that generalize cells, so that their losses compare.
const COMPARED: [Method; 4] = [Method::FullDomain, Method::Mondrian, Method::BestCut, Method::Cluster];

/// The result of one method for a table.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The method, as a policy names it.
    pub method: &'static str,
    /// The rows that it suppresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<u64>,
    /// The number of equivalence classes, and their sizes.
    #[serde(skip)]
    pub classes: Option<ClassSizes>,
    /// The losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Losses>,
    /// How far off random count queries are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<QueryError>,
    /// The seconds that its search took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Why it has no release, where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Publishes a policy's source by every method that generalizes cells, each with what the policy
/// says besides the method, and measures what each keeps. The releases are made in a folder of
/// their own for temporary files, and removed.
///
/// ```
/// use hedgerow::{Compare, Policy};
///
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// for compared in Compare::new(&policy).run()? {
///     println!("{} loses {:?}", compared.method, compared.loss.map(|loss| loss.ncp));
/// }
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is compared before `run`"]
pub struct Compare<'a> {
    policy: &'a Policy,
    source: Source<'a>,
    queries: MeasureOptions,
    methods: &'static [Method],
    part: Option<(u64, u64)>,
}

impl<'a> Compare<'a> {
    /// Compares methods by what `policy` says besides the method, over its source.
    pub fn new(policy: &'a Policy) -> Compare<'a> {
        Compare {
            policy,
            source: Source::of_policy(),
            queries: MeasureOptions::default(),
            methods: &COMPARED,
            part: None,
        }
    }

    /// Takes the rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// The random queries by which the releases are measured.
    pub fn queries(mut self, queries: MeasureOptions) -> Self {
        self.queries = queries;
        self
    }

    /// Tries some of the methods only.
    pub(crate) fn methods(mut self, methods: &'static [Method]) -> Self {
        self.methods = methods;
        self
    }

    /// The rows are a part of a table: the number of them, and of all.
    pub(crate) fn part(mut self, part: (u64, u64)) -> Self {
        self.part = Some(part);
        self
    }

    /// Compares.
    pub fn run(self) -> Result<Vec<Compared>, Error> {
        self.run_with(&Monitor::default())
    }

    /// Compares, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Vec<Compared>, Error> {
        let table = self.source.read_as_it_is(self.policy, monitor)?;
        let folder = Folder::new()?;
        self.methods.iter().map(|&method| self.by(method, &table, &folder, monitor)).collect()
    }

    fn by(&self, method: Method, table: &Table, folder: &Folder, monitor: &Monitor<'_>) -> Result<Compared, Error> {
        let mut other = self.policy.inner().clone();
        other.publish.method = method;
        if method == Method::FullDomain && !other.publish.loss.is_of_cells() {
            other.publish.weights.clear();
        }
        let other = Policy::from(other);
        let mut compared = Compared {
            method: method.name(),
            suppressed: None,
            classes: None,
            loss: None,
            queries: None,
            seconds: None,
            problem: None,
        };
        let publish = Publish::new(&other, folder.path().join(method.name())).part(self.part);
        match publish.source(table).run_with(monitor) {
            Ok(published) => {
                let release = Release::open_with(&published.release, monitor)?;
                let measure = Measure::new(&release, &other).source(table).queries(self.queries.clone());
                let measures = measure.run_with(monitor)?.table().cloned();
                compared.suppressed = Some(published.rows.suppressed);
                compared.classes = Some(published.classes);
                compared.seconds = Some(published.seconds.search);
                compared.queries = measures.as_ref().and_then(|measures| measures.queries.clone());
                compared.loss = measures.map(|measures| measures.losses);
            }
            Err(error) if matches!(error.kind(), ErrorKind::Input | ErrorKind::Unsatisfiable) => {
                compared.problem = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(compared)
    }
}
