//! How much memory a run takes, foreseen from what was read, before the search begins: a run either
//! ends well within its limit or is refused at once, and the same run always ends alike.
//!
//! The figures are bounds on what was measured (docs/scale.md): codes as they were read and as they
//! are read back, what a method has of each row, and what a search has of each distinct row.

use hedgerow_policy::{Method, Policy};
use hedgerow_table::frequency::Layout;
use hedgerow_table::{Column, InputError, Table, memory};

use crate::catalog::Gate;
use crate::row_store::{RowStore, Searchable};

const MEBIBYTE: u64 = 1 << 20;

/// What reading, writing and threads take, however many rows there are.
const BESIDE_ROWS: u64 = 20 * MEBIBYTE;
/// The same where memory is short: buffers are smaller.
const BESIDE_ROWS_OUTSIDE: u64 = 2 * MEBIBYTE;

/// For each value of a column: the value, its place in an index, and labels.
const VALUE_BYTES: u64 = 24;

/// What each row takes when it is also audited together with other releases.
const AUDITED_ROW_BYTES: u64 = 100;

/// Refuses a run that would take more than its limit.
pub(crate) fn refuse(
    policy: &Policy,
    store: &RowStore<'_>,
    searchable: &Searchable<'_>,
    gate: &Gate,
    limit: Option<u64>,
) -> Result<(), InputError> {
    let Some(limit) = limit else { return Ok(()) };
    let is_audited = gate.catalog.is_some() || !policy.community.releases.is_empty();
    let bytes = match searchable {
        Searchable::Rows(table) => in_memory(policy, table, is_audited),
        Searchable::Distinct(counted) => {
            let held = store.held_max();
            held + outside(policy, &counted.table, counted.rows)
        }
    };
    let needed = memory::program_bytes() + bytes;
    if needed <= limit {
        return Ok(());
    }
    // What is held grows with the limit.
    let enough = needed.saturating_add(needed / 15).div_ceil(MEBIBYTE);
    let problem = format!(
        "the run takes about {} MiB, more memory than is allowed ({} MiB): nothing was written",
        needed.div_ceil(MEBIBYTE),
        limit / MEBIBYTE
    );
    Err(InputError::new("memory", problem, format!("allow at least {enough} MiB, or read fewer columns")))
}

/// With all rows in memory.
fn in_memory(policy: &Policy, table: &Table, is_audited: bool) -> u64 {
    let codes: u64 = table.columns.iter().map(|column| column.codes.width() as u64).sum();
    let columns = table.columns.len() as u64;
    let by_method = match policy.publish.method {
        _ if policy.publish.improve => 18 * columns,
        Method::FullDomain | Method::Mondrian | Method::BestCut => 20,
        Method::Anatomy => 80,
        Method::Cluster => 18 * columns,
        Method::Decompose => 24 * columns,
        Method::Clone => 45 * columns,
    };
    let audited = if is_audited { AUDITED_ROW_BYTES } else { 0 };
    BESIDE_ROWS + values(&table.columns) + table.rows as u64 * (2 * codes + by_method + audited)
}

/// With the distinct rows in memory.
fn outside(policy: &Policy, distinct: &Table, rows: u64) -> u64 {
    let distinguished = distinct.columns.iter().filter(|column| column.codes.len() == distinct.rows);
    let cardinalities: Vec<usize> = distinguished.map(|column| column.domain.cardinality()).collect();
    let words = Layout::new(&cardinalities).map_or(16, |layout| layout.words()) as u64;
    let sets = distinct.rows as u64 * (8 * words + 4);
    let by_method = match policy.publish.method {
        Method::Anatomy => 2 * sets + 24 * rows,
        Method::FullDomain => 46 * sets / 10,
        _ => 56 * sets / 10,
    };
    BESIDE_ROWS_OUTSIDE + values(&distinct.columns) + by_method
}

fn values(columns: &[Column]) -> u64 {
    columns.iter().map(|column| column.domain.cardinality() as u64 * VALUE_BYTES).sum()
}
