//! How much memory a run takes, foreseen from what was read, before the search begins: a run either
//! ends well within its limit or is refused at once, and the same run always ends alike. What a
//! refusal asks for is enough: with more memory rows may be held that were on the disk before, so
//! it is enough for both.
//!
//! The figures are bounds on what was measured (docs/scale.md): codes as they were read and as they
//! are read back, what a method has of each row, and what a search has of each distinct row.

use hedgerow_policy::{Method, Policy};
use hedgerow_table::engine::TableProfile;
use hedgerow_table::frequency::Layout;
use hedgerow_table::{Codes, Column, InputError, Spill, Table, memory};

use crate::catalog::Gate;
use crate::row_store::{RowStore, Searchable};

const MEBIBYTE: u64 = 1 << 20;

/// The memory of reading, writing and threads, whatever the number of rows.
const BESIDE_ROWS: u64 = 20 * MEBIBYTE;
/// The same where memory is short: buffers are smaller.
const BESIDE_ROWS_OUTSIDE: u64 = 2 * MEBIBYTE;

/// For each value of a column: the value, its place in an index, and labels.
const VALUE_BYTES: u64 = 24;

/// The bytes of each row when it is also audited together with other releases.
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
    let (needed, enough) = match searchable {
        Searchable::Rows(table) => {
            let needed = in_memory(policy, &RowMemory::of(table), is_audited);
            (needed, with_margin(needed))
        }
        Searchable::Distinct(counted) => {
            let beside = memory::program_bytes() + outside(policy, &counted.table, counted.rows);
            match store.outside() {
                Some((engine, spill)) => {
                    let needed = beside.saturating_add(limit / spill.held_share());
                    let held = in_memory(policy, &RowMemory::of_profile(engine.profile()), is_audited);
                    (needed.max(memory::least_bytes()), enough_outside(beside, held, engine.profile(), spill))
                }
                None => (beside, with_margin(beside)),
            }
        }
    };
    if needed <= limit {
        return Ok(());
    }
    let problem = format!(
        "the run takes about {} MiB, more memory than is allowed: nothing was written",
        needed.div_ceil(MEBIBYTE)
    );
    Err(InputError::new("memory", problem, format!("allow at least {}, or read fewer columns", mebibytes(enough))))
}

/// With what a run may take more than is foreseen: its threads meet differently every time. Asked
/// for, it is enough every time.
fn with_margin(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 6).saturating_add(2 * MEBIBYTE)
}

/// An amount of memory as users write it.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{}MiB", bytes.div_ceil(MEBIBYTE))
}

/// The memory that is enough for rows on the disk, of which more are held the more is allowed:
/// until all of them are, and the run takes `held`.
fn enough_outside(beside: u64, held: u64, profile: &TableProfile, spill: &Spill) -> u64 {
    let (share, held) = (spill.held_share(), with_margin(held));
    let from_disk = with_margin((beside / (share - 1) + 1).saturating_mul(share)).max(memory::least_bytes());
    // No code takes less than a byte.
    let codes_min = (profile.rows as u64).saturating_mul(profile.columns.len() as u64);
    let stays_outside = codes_min > (from_disk + MEBIBYTE) / share;
    if stays_outside { from_disk } else { from_disk.max(held) }
}

/// The memory that is enough to hold all rows of a table, which are on the disk as yet, for a
/// method that needs them in memory.
pub(crate) fn enough_to_hold(policy: &Policy, gate: &Gate, profile: &TableProfile, spill: &Spill) -> u64 {
    let is_audited = gate.catalog.is_some() || !policy.community.releases.is_empty();
    // As they are read, before texts of one value are one code.
    let width = |cardinality: usize| Codes::with_capacity(2 * cardinality, 0).width() as u64;
    let codes: u64 = profile.columns.iter().map(|column| width(column.domain.cardinality())).sum();
    let as_read = (profile.rows as u64).saturating_mul(codes).saturating_mul(spill.held_share());
    with_margin(in_memory(policy, &RowMemory::of_profile(profile), is_audited)).max(as_read)
}

/// The rows of a table as far as their memory goes.
struct RowMemory {
    rows: u64,
    columns: u64,
    /// Bytes of the codes of one row.
    codes: u64,
    /// Bytes of the values of all columns.
    values: u64,
}

impl RowMemory {
    fn of(table: &Table) -> RowMemory {
        let codes = table.columns.iter().map(|column| column.codes.width() as u64).sum();
        RowMemory {
            rows: table.rows as u64,
            columns: table.columns.len() as u64,
            codes,
            values: values(&table.columns),
        }
    }

    /// Of a table that is not in memory.
    fn of_profile(profile: &TableProfile) -> RowMemory {
        let cardinalities = || profile.columns.iter().map(|column| column.domain.cardinality());
        RowMemory {
            rows: profile.rows as u64,
            columns: profile.columns.len() as u64,
            codes: cardinalities().map(|cardinality| Codes::with_capacity(cardinality, 0).width() as u64).sum(),
            values: cardinalities().map(|cardinality| cardinality as u64 * VALUE_BYTES).sum(),
        }
    }
}

/// With all rows in memory.
fn in_memory(policy: &Policy, table: &RowMemory, is_audited: bool) -> u64 {
    let RowMemory { rows, columns, codes, values } = *table;
    let by_method = match policy.publish.method {
        _ if policy.publish.improve => 18 * columns,
        Method::FullDomain | Method::Mondrian | Method::BestCut => 20,
        Method::Anatomy => 80,
        Method::Cluster => 18 * columns,
        Method::Decompose => 24 * columns,
        Method::Clone => 45 * columns,
    };
    let audited = if is_audited { AUDITED_ROW_BYTES } else { 0 };
    let of_rows = rows.saturating_mul(2 * codes + by_method + audited);
    (memory::program_bytes() + BESIDE_ROWS + values).saturating_add(of_rows)
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hedgerow_table::Domain;
    use hedgerow_table::engine::ColumnProfile;

    use super::*;

    fn profile(rows: usize, columns: usize) -> TableProfile {
        let (domain, _) = Domain::from_texts(&["a", "b"], false, None).unwrap();
        let column = ColumnProfile { name: "x".to_owned(), domain, counts: vec![0, rows as u64] };
        TableProfile { rows, header: Vec::new(), columns: vec![column; columns], warnings: Vec::new() }
    }

    /// With what is said to be enough, the run is not refused again: whether its rows stay on the
    /// disk or are all held then, which depends on what their codes take.
    #[test]
    fn what_a_refusal_names_is_enough_on_the_disk_and_in_memory() {
        let spill = |memory: u64| Spill::new(Path::new("."), memory);
        let kinds: [fn(Spill) -> Spill; 3] = [|spill| spill, Spill::holding_more, Spill::holding_less];
        for holding in kinds {
            for rows in [10, 5_000, 80_000, 400_000, 3_000_000, 50_000_000] {
                for (columns, factor) in [(1, 1), (8, 1), (8, 2), (8, 4), (30, 4)] {
                    for beside in [3, 17, 40, 90, 700, 5_000] {
                        for held in [1, 41, 60, 130, 900, 40_000] {
                            let (beside, held) = (beside * MEBIBYTE + 5, held * MEBIBYTE + 7);
                            let profile = profile(rows, columns);
                            let enough = enough_outside(beside, held, &profile, &holding(spill(MEBIBYTE)));
                            let allowed = enough.div_ceil(MEBIBYTE) * MEBIBYTE;
                            let codes = (rows * columns * factor) as u64;
                            let held_max = holding(spill(allowed)).held_max();
                            let needed = if codes <= held_max { held } else { beside + held_max };
                            assert!(needed <= allowed, "{rows} rows, {columns} columns: {needed} of {allowed}");
                        }
                    }
                }
            }
        }
    }
}
