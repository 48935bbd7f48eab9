//! The tables of a decomposition under the intersection attack, before anything of them is written: everybody is in every
//! table, so only what all of them allow together can be true. By normal form it must find nothing; if it does, nothing is
//! published.
//!
//! Tables that share no attribute, directly or by way of others, say nothing of each other, so each set of connected tables is
//! attacked by itself, and one that stands alone is not: its buckets are judged when they are read back.

use std::collections::BTreeMap;

use hedgerow_audit::adversaries::intersection::{Bucket, SubTable, join};
use hedgerow_table::Column;

use super::{Problem, Subtable};

/// The attack keeps, for every row of every table, which values and buckets are left; beyond this many 64-bit words of them it is
/// not run.
const WORDS_MAX: usize = 1 << 24;

/// What the attack came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attacked {
    /// Every row is left with as many values as its rules ask for.
    Withstood,
    /// In words.
    Breached(String),
    /// The tables are too large for it, or for all of it.
    TooLarge,
}

pub fn attack(problem: &Problem<'_>, columns: &[&Column], tables: &[Subtable]) -> Attacked {
    let mut outcome = Attacked::Withstood;
    for connected in connected(tables).into_iter().filter(|connected| connected.len() > 1) {
        let connected: Vec<&Subtable> = connected.into_iter().map(|table| &tables[table]).collect();
        match attack_connected(problem, columns, &connected) {
            Attacked::Withstood => {}
            Attacked::TooLarge => outcome = Attacked::TooLarge,
            breached @ Attacked::Breached(_) => return breached,
        }
    }
    outcome
}

fn attack_connected(problem: &Problem<'_>, columns: &[&Column], tables: &[&Subtable]) -> Attacked {
    let words: usize = columns.iter().map(|column| column.domain.cardinality().div_ceil(64)).sum::<usize>()
        + tables
            .iter()
            .filter_map(|table| table.groups.as_ref())
            .map(|groups| groups.len().div_ceil(64))
            .sum::<usize>();
    if problem.rows.saturating_mul(words).saturating_mul(2 * tables.len()) > WORDS_MAX {
        return Attacked::TooLarge;
    }
    let seen: Vec<SubTable> = tables.iter().enumerate().map(|(index, table)| as_seen(columns, index, table)).collect();
    let joined = join(&seen);
    for row in &joined.rows {
        let Some(sensitive) = tables[row.table].sensitive.iter().next() else { continue };
        let needed = problem.values_left(sensitive);
        if (row.values.len() as u64) < needed {
            let open: Vec<&str> =
                tables[row.table].open().iter().map(|attribute| columns[attribute].name.as_str()).collect();
            return Attacked::Breached(format!(
                "laid side by side, the tables leave {} of {} values of `{}` for {} rows of the table of {}, and {needed} are asked \
                 for",
                row.values.len(),
                row.of,
                columns[sensitive].name,
                row.rows,
                open.join(", "),
            ));
        }
    }
    if joined.complete { Attacked::Withstood } else { Attacked::TooLarge }
}

/// Tables that hang together by shared attributes, by position.
fn connected(tables: &[Subtable]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let meets = |set: &Vec<usize>| set.iter().any(|&other| tables[other].attributes.meets(table.attributes));
        let (mut joined, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(meets);
        joined.push(vec![index]);
        sets = apart;
        sets.push(joined.concat());
    }
    sets
}

/// Rows by what is open, and by what is told of their bucket.
type Counts = (BTreeMap<Vec<u32>, u64>, BTreeMap<u32, u64>);

/// A table as the attack takes it: what is told by row, and by bucket. One that is published as it is has a bucket for each
/// combination of all attributes but the last.
fn as_seen(columns: &[&Column], index: usize, table: &Subtable) -> SubTable {
    let last = table.attributes.iter().last().unwrap_or_default();
    let sensitive = table.sensitive.iter().next().unwrap_or(last);
    let quasi: Vec<&Column> = table.attributes.without(sensitive).iter().map(|attribute| columns[attribute]).collect();
    let told = columns[sensitive];
    let rows = told.codes.len();
    let mut buckets: BTreeMap<(u32, Vec<u32>), Counts> = BTreeMap::new();
    for row in 0..rows {
        let codes: Vec<u32> = quasi.iter().map(|column| column.codes.get(row)).collect();
        let bucket = match &table.groups {
            Some(groups) => (groups.of_row[row], Vec::new()),
            None => (0, codes.clone()),
        };
        let (rows, values) = buckets.entry(bucket).or_default();
        *rows.entry(codes).or_default() += 1;
        *values.entry(told.codes.get(row)).or_default() += 1;
    }
    let texts = |codes: Vec<u32>| quasi.iter().zip(codes).map(|(column, code)| column.domain.text(code)).collect();
    let buckets = buckets.into_values().map(|(rows, values)| Bucket {
        rows: rows.into_iter().map(|(codes, count)| (texts(codes), count)).collect(),
        values: values.into_iter().map(|(code, count)| (told.domain.text(code), count)).collect(),
    });
    SubTable {
        name: format!("table-{}", index + 1),
        quasi: quasi.iter().map(|column| column.name.clone()).collect(),
        sensitive: told.name.clone(),
        buckets: buckets.collect(),
    }
}
