//! What a release lost, and what risk is left.

use hedgerow_audit::{QuasiSource, SourceTable};
use hedgerow_policy::{Policy, Role};
use hedgerow_publish::bind::Bound;
use hedgerow_release::Release;

use crate::{Error, Monitor, Source};

pub use hedgerow_audit::max_likelihood::CountQueries;
pub use hedgerow_audit::max_likelihood::MeasuredTables;
pub use hedgerow_audit::{
    AttributeLoss, Losses, MeasureOptions, Measures, NumberError, QueryError, QueryOptions, Scenario, SizeDistribution,
    TableMeasures,
};

/// Measures a release against the source and the policy that it was made from: every loss measure,
/// class sizes, re-identification risk, and the error of random count queries.
///
/// ```
/// use hedgerow::{MeasureOptions, Monitor, Policy, Source};
///
/// # let folder = tempfile::tempdir()?;
/// let policy = Policy::load("../../examples/hospital/policy.toml".as_ref())?;
/// let published = hedgerow::publish(&policy, folder.path().join("release"))?;
/// let release = hedgerow::open(&published.release)?;
/// let options = MeasureOptions::default();
/// let monitor = Monitor::default();
/// let measures = hedgerow::measure(&release, &policy, Source::Policy, &options, &monitor)?;
/// println!("{}", serde_json::to_string(&measures)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn measure(
    release: &Release,
    policy: &Policy,
    source: Source<'_>,
    options: &MeasureOptions,
    monitor: &Monitor<'_>,
) -> Result<Measures, Error> {
    let table = source.read(policy, monitor)?;
    let bound = Bound::new(policy, &table)?;
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let quasi = bound.quasi.iter();
    let source = SourceTable {
        table: &table,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
        k: bound.k(),
    };
    Ok(hedgerow_audit::measure(release, &source, options, monitor)?)
}
