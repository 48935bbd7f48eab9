//! What other methods would keep of the same table under the same rules.

use hedgerow_policy::{Method, Policy};
use serde::Serialize;

use crate::folder::Folder;
use crate::{Error, Losses, MeasureOptions, Monitor, Publish, QueryError, Source, measure};

/// The methods that generalize cells, so that their losses compare.
const COMPARED: [Method; 4] = [Method::FullDomain, Method::Mondrian, Method::BestCut, Method::Cluster];

/// What one method keeps of a table.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The method, as a policy names it.
    pub method: &'static str,
    /// The rows that it suppresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<u64>,
    /// What it loses.
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
/// use hedgerow::{MeasureOptions, Monitor, Policy, Source};
///
/// let policy = Policy::load("../../examples/hospital/policy.toml".as_ref())?;
/// let (options, monitor) = (MeasureOptions::default(), Monitor::default());
/// for compared in hedgerow::compare(&policy, Source::Policy, &options, &monitor)? {
///     println!("{} loses {:?}", compared.method, compared.loss.map(|loss| loss.ncp));
/// }
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn compare(
    policy: &Policy,
    source: Source<'_>,
    options: &MeasureOptions,
    monitor: &Monitor<'_>,
) -> Result<Vec<Compared>, Error> {
    let table = source.read(policy, monitor)?;
    let folder = Folder::new()?;
    let mut all = Vec::with_capacity(COMPARED.len());
    for method in COMPARED {
        let mut other = policy.clone();
        other.publish.method = method;
        if method == Method::FullDomain && !other.publish.loss.is_of_cells() {
            other.publish.weights.clear();
        }
        let mut compared = Compared {
            method: method.name(),
            suppressed: None,
            loss: None,
            queries: None,
            seconds: None,
            problem: None,
        };
        let published = Publish::new(&other, folder.path().join(method.name())).source(&*table).run_with(monitor);
        match published {
            Ok(published) => {
                let release = crate::open_with(&published.release, monitor)?;
                let measures = measure(&release, &other, Source::Table(&table), options, monitor)?;
                let measures = measures.table().cloned();
                compared.suppressed = Some(published.rows.suppressed);
                compared.seconds = Some(published.seconds.search);
                compared.queries = measures.as_ref().and_then(|measures| measures.queries.clone());
                compared.loss = measures.map(|measures| measures.losses);
            }
            Err(error @ (Error::Input(_) | Error::Unsatisfiable(_))) => compared.problem = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        all.push(compared);
    }
    Ok(all)
}
