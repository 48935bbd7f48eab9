//! The parts of an answer to a query (see [`crate::Release::query`]), and the answer that the
//! source gives.

use hedgerow_policy::Role;
use hedgerow_release::Release;
use hedgerow_release::codebook::Codebook;
use hedgerow_table::Table;

use crate::{Error, Policy};

pub use hedgerow_audit::query::{Answer, AnswerCell, AnswerColumn, ColumnKind, Estimate, day_of};

/// The answer that the private rows give to the same query, exactly: to compare with, and for the
/// custodian alone.
///
/// ```
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let table = hedgerow::read_source(&policy)?;
/// let truth = hedgerow::query_source(&policy, &table, "SELECT COUNT(*) FROM data WHERE age < 40")?;
/// let hedgerow::AnswerCell::Estimate(count) = truth.lines[0][0] else { panic!() };
/// assert_eq!(count.certain, count.possible);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn query_source(policy: &Policy, table: &Table, sql: &str) -> Result<Answer, Error> {
    let of = |role: Role| {
        let attributes = policy.attributes.iter().filter(|attribute| attribute.role == role);
        attributes.map(|attribute| attribute.name.clone()).collect()
    };
    let mut released = table.clone();
    released
        .columns
        .retain(|column| policy.attribute(&column.name).is_some_and(|attribute| attribute.role != Role::Identifier));
    let source = Release::of_table("data", released, of(Role::Quasi), of(Role::Sensitive), Codebook::default())?;
    Ok(hedgerow_audit::query::answer(&source, sql)?)
}
