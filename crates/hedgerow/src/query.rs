//! SQL over a release: estimates, each with what is certain and what is possible.

use hedgerow_release::Release;

use crate::Error;

pub use hedgerow_audit::query::{Answer, Cell, Column, ColumnKind, Estimate};

/// Answers one SELECT. Counts, sums and means are estimated within generalized cells and buckets;
/// `certain` and `possible` bound the answer that the source would give.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml".as_ref())?;
/// let published = hedgerow::publish(&policy, folder.path().join("release"))?;
/// let release = hedgerow::open(&published.release)?;
/// let sql = "SELECT sex, COUNT(*) FROM data WHERE age >= 25 GROUP BY sex";
/// let answer = hedgerow::query(&release, sql)?;
/// assert_eq!(answer.columns.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn query(release: &Release, sql: &str) -> Result<Answer, Error> {
    Ok(hedgerow_audit::query::answer(release, sql)?)
}
