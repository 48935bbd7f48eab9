//! The intersection attack on the sub-tables of one custodian (Jin, Zhang, Zhang, Das: *Versatile
//! publishing for privacy preservation*, 2010, section 1.3): every person is in every sub-table, so
//! only what all of them allow together can be true.
//!
//! Every sub-table is two *views* of the same people: its rows, with their quasi-identifiers, and
//! its slots, with their sensitive values; a bucket ties the two together. A table that lists all
//! its attributes by row is one view: it hides nothing, and what it shows together narrows the
//! other tables. A member of a view is a set of possible values for every attribute. Since both are
//! lists of the same people, the members of any two views can be paired one to one so that each
//! pair agrees. So a pair that is in no such pairing is ruled out, and a member keeps only the
//! values that some partner left to it has. This is repeated until nothing changes.
//!
//! It never rules out what is possible. It does not find every last thing that is impossible (that
//! is a puzzle without a fast solution), and where the members that could be paired are too many it
//! only joins them, or, in large tables, compares the combinations that they list (`by_index`);
//! [`Joined::complete`] says so.
//!
//! Beside what is certain stands what is likely ([`likeliest`]): the beliefs by the most likely
//! table behind all sub-tables.

use hashbrown::HashMap;
use hedgerow_table::Table;
use serde_json::{Value, json};

use crate::Adversary;
use crate::finding::{Exposure, Finding, ReleaseCells, Worst};
use crate::max_likelihood::NoEstimate;
use views::{ViewMember, Views};

mod by_index;
mod likeliest;
mod pairing;
mod sub_table;
mod views;

pub(crate) use likeliest::Question;
pub(crate) use sub_table::is_exact;
pub use sub_table::{AllowedValues, SubTable, SubTableBucket};

/// Each round rules something out, so that few are needed; stopping early rules out less and is
/// still right.
const ROUNDS_MAX: usize = 100;

/// More rows and slots than this are joined by an index: what is possible for each would not fit
/// into memory.
const MEMBERS_MAX: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    pub rows: Vec<AllowedValues>,
    /// Every pair of views was small enough to be paired; else some were only joined.
    pub complete: bool,
    /// The sub-tables contradict one another: they cannot be about the same people.
    pub contradiction: bool,
}

/// The values that all sub-tables together allow for every row of each.
pub fn join(tables: &[SubTable]) -> Joined {
    let buckets = tables.iter().flat_map(|table| &table.buckets);
    let members: usize = buckets.map(|bucket| bucket.rows.len() + bucket.values.len()).sum();
    if members > MEMBERS_MAX {
        let (rows, contradiction) = by_index::join(tables);
        return Joined { rows, complete: false, contradiction };
    }
    let mut views = Views::new(tables);
    let mut complete = true;
    let mut contradiction = !views.same_people();
    for _ in 0..ROUNDS_MAX {
        let before = views.possibilities();
        if contradiction {
            break;
        }
        for first in 0..views.views.len() {
            for second in 0..views.views.len() {
                if first != second {
                    match pairing::narrow(&mut views.views, first, second) {
                        pairing::PairingOutcome::Paired => {}
                        pairing::PairingOutcome::OnlyJoined => complete = false,
                        pairing::PairingOutcome::Impossible => contradiction = true,
                    }
                }
            }
        }
        if views.possibilities() == before {
            break;
        }
    }
    Joined { rows: allowed(tables, &views), complete, contradiction }
}

fn allowed(tables: &[SubTable], views: &Views) -> Vec<AllowedValues> {
    let mut rows = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let Some(sensitive) = &table.sensitive else { continue };
        let attribute = views.attribute(sensitive);
        for member in &views.rows_of(number).members {
            let bucket = &table.buckets[member.bucket];
            if bucket.values.is_empty() {
                continue;
            }
            let is_allowed = |value: &&(String, u64)| member.allows(attribute, views.code(attribute, &value.0));
            rows.push(AllowedValues {
                table: number,
                bucket: member.bucket,
                quasi: bucket.rows[member.position].0.clone(),
                rows: member.people,
                values: bucket.values.iter().filter(is_allowed).map(|(value, _)| value.clone()).collect(),
                of: bucket.values.len(),
            });
        }
    }
    rows
}

/// `questions` are the rules whose likeliest values are estimated, for the given people or, without
/// a list, for the released combinations.
pub(crate) fn run(names: Vec<String>, tables: &[SubTable], questions: &[Question], people: Option<&Table>) -> Finding {
    let mut finding = Finding::new(Adversary::Intersection, names, None);
    let joined = join(tables);
    let mut worst = Worst::new();
    let rows_of = |table: &SubTable| table.buckets.iter().flat_map(|bucket| &bucket.rows).map(|(_, n)| n).sum();
    finding.people = tables.iter().map(rows_of).max().unwrap_or_default();
    for row in &joined.rows {
        let table = &tables[row.table];
        if row.values.is_empty() {
            continue;
        }
        finding.leave(row.values.len() as u64, row.rows);
        finding.max_confidence = finding.max_confidence.max(1.0 / row.values.len() as f64);
        finding.at_risk += if row.values.len() == 1 { row.rows } else { 0 };
        worst.offer((row.values.len(), u64::MAX - row.of as u64, row.table, row.bucket), || Exposure {
            cells: vec![ReleaseCells {
                release: table.name.clone(),
                cells: table.quasi.iter().cloned().zip(row.quasi.iter().cloned()).collect(),
            }],
            values: row.values.iter().map(|value| (value.clone(), 1.0 / row.values.len() as f64)).collect(),
            people: row.rows,
            why: format!(
                "of {} values of `{}` in the bucket, the other tables rule out the rest",
                row.of,
                table.sensitive.as_deref().unwrap_or_default()
            ),
        });
    }
    // One person may be exposed in several tables.
    finding.at_risk = finding.at_risk.min(finding.people);
    let exposed: HashMap<usize, u64> =
        joined.rows.iter().filter(|row| row.values.len() == 1).fold(HashMap::new(), |mut exposed, row| {
            *exposed.entry(row.table).or_default() += row.rows;
            exposed
        });
    let by_table: Vec<_> = tables
        .iter()
        .enumerate()
        .filter(|(_, table)| table.sensitive.is_some())
        .map(|(number, table)| json!({ "table": table.name, "exposed": exposed.get(&number).unwrap_or(&0) }))
        .collect();
    finding.details.insert("exposed".to_owned(), json!(by_table));
    if !joined.complete {
        finding.note("the tables are too large to pair person by person: more may be ruled out than is reported");
    }
    if joined.contradiction {
        finding.note("the tables contradict one another: they cannot be about the same people");
    }
    finding.worst = worst.into_vec();
    if !joined.contradiction && !questions.is_empty() {
        believe(&mut finding, tables, questions, people);
    }
    finding
}

/// Adds the beliefs by the most likely table.
fn believe(finding: &mut Finding, tables: &[SubTable], questions: &[Question], people: Option<&Table>) {
    match likeliest::beliefs(tables, questions, people) {
        Ok((beliefs, fits)) => {
            let listed: Vec<Value> = beliefs.iter().map(likeliest::Belief::to_json).collect();
            finding.details.insert("likeliest".to_owned(), json!(listed));
            finding.believed = beliefs.iter().map(|belief| belief.confidence).fold(0.0, f64::max);
            if let Some(fit) = fits.iter().find(|fit| !fit.converged) {
                finding.note(format!(
                    "fitting a ring of tables stopped after {} passes: the most likely table misses a released count by {:.1e} rows",
                    fit.passes, fit.deviation
                ));
            }
            if !fits.is_empty() {
                finding.details.insert("rings".to_owned(), json!(fits));
            }
        }
        Err(NoEstimate::Nothing) => {}
        Err(problem) => finding.note(format!("no belief by the most likely table: {problem}")),
    }
}

impl ViewMember {
    fn allows(&self, attribute: usize, value: usize) -> bool {
        self.possible[attribute].as_ref().is_none_or(|possible| possible.has(value))
    }
}

#[cfg(test)]
mod tests;
