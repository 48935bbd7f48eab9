//! The attacker who misses nothing: every table that fits all releases together, and what no such
//! table denies.
//!
//! Whether people are in a table decides what follows from it. A table is *strong* where all people
//! are taken to be in it (but for the rows that its manifest says were suppressed) and that is
//! possible: everything that it counts is then used. Where it is not possible, the table is *weak*:
//! it says of the person whom the attacker looks for that their value is one of those in their
//! cells, and nothing of others. Where true values are known, a table that cannot hold them is weak
//! too, so that no certainty follows from people who are not there. An attacker does not know them,
//! and may take such a table to be strong: what follows is counted as well, where it is true.
//!
//! Without a list of people the attacker knows the cells of one person, and of the others that they
//! are the rows of the tables.

mod cells;
mod explanation;
mod fewest;
mod group;
mod hypothesis;
mod joint;
mod lacking;
mod listed;
mod ways;

use hedgerow_release::JointShare;
use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Progress, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::combined_view::Group;
use crate::finding::{Exposure, Finding, Worst};
use crate::worlds::Side;

/// People who look alike, or combinations of cells, for whom a value is explained.
const EXPLAINED_MAX: usize = 20;

/// What the attacker knows of the columns that the people's table lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// Nothing: the attacker has the list and no more.
    #[default]
    Listed,
    /// All of them, of everyone: the attacker knows who is in which class, the auditor does not.
    All,
}

/// One released table among those that are audited together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Released<'a> {
    pub(crate) name: &'a str,
    pub(crate) classes: &'a ReleasedClasses,
    /// Rows of the source that are not in it, where a manifest says so.
    pub(crate) suppressed: u64,
    /// Rows may stand for no person.
    pub(crate) counterfeit: bool,
    /// Releases of one custodian have the same number.
    pub(crate) custodian: Option<usize>,
}

/// What the attacker has beside the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attacker<'a> {
    pub(crate) people: Option<&'a Table>,
    pub(crate) columns: Columns,
    /// The prior of each value, by its text; every world counts the same when empty.
    pub(crate) prior: &'a [(String, f64)],
    /// How attributes of several tables go together, for who has no list of people.
    pub(crate) joint: &'a [JointShare],
    pub(crate) progress: &'a dyn Progress,
}

/// The tables that have one sensitive attribute, in one vocabulary of values.
pub(crate) struct Tables<'a> {
    pub(crate) protect: &'a str,
    pub(crate) values: Vec<String>,
    pub(crate) tables: Vec<(Released<'a>, &'a SensitiveCounts)>,
}

impl<'a> Tables<'a> {
    fn new(protect: &'a str, released: &[Released<'a>]) -> Tables<'a> {
        let holding = released.iter().filter_map(|table| Some((*table, table.classes.sensitive(protect)?)));
        let tables: Vec<(Released<'a>, &SensitiveCounts)> = holding.collect();
        let mut values: Vec<String> = tables.iter().flat_map(|(_, counts)| counts.values.iter().cloned()).collect();
        values.sort_unstable();
        values.dedup();
        Tables { protect, values, tables }
    }

    /// A table as a side: its classes and counts, in the common vocabulary.
    fn side(&self, table: usize) -> Side {
        let (released, counts) = &self.tables[table];
        let code = |value: &String| self.values.binary_search(value).unwrap_or(self.values.len()) as u32;
        let common: Vec<u32> = counts.values.iter().map(code).collect();
        let mut side = Side {
            sizes: released.classes.sizes.clone(),
            bucket_of: released.classes.bucket_of.clone(),
            starts: vec![0],
            ..Side::default()
        };
        for bucket in 0..released.classes.buckets() as u32 {
            let first = side.counts.len();
            let own = counts.of_bucket(bucket).iter().map(|&(value, rows)| (common[value as usize], rows));
            side.counts.extend(own.filter(|&(_, rows)| rows > 0));
            side.counts[first..].sort_unstable();
            side.starts.push(side.counts.len() as u32);
        }
        side
    }

    fn text(&self, value: u32) -> &str {
        self.values.get(value as usize).map_or("another value", String::as_str)
    }

    fn names(&self) -> Vec<String> {
        self.tables.iter().map(|(table, _)| table.name.to_owned()).collect()
    }
}

/// What is left for some people, and how much of it is known.
pub(crate) struct Left {
    pub(crate) people: u64,
    /// Values that are not ruled out, each with its share of the worlds where they were counted.
    pub(crate) values: Vec<(u32, Option<f64>)>,
    pub(crate) is_decided: bool,
}

impl Left {
    /// Takes what other assumptions leave to the same people where it is fewer values; whether it
    /// is. Where something is open under either, still fewer values may be possible than are left.
    fn take_fewer(&mut self, other: Left) -> bool {
        let [before, count] = [&*self, &other].map(|left| left.values.len());
        let is_decided = self.is_decided && other.is_decided;
        let is_fewer = count > 0 && (before == 0 || count < before);
        if is_fewer {
            *self = Left { people: self.people, ..other };
        }
        self.is_decided = match self.values.len() {
            1 => self.is_decided,
            _ => is_decided,
        };
        is_fewer
    }

    /// The confidence in the likeliest value: counted, or the least that it must be.
    pub(crate) fn confidence(&self) -> f64 {
        let counted = self.values.iter().filter_map(|(_, share)| *share).fold(0.0, f64::max);
        match self.values.len() {
            0 => 0.0,
            1 => 1.0,
            several => counted.max(1.0 / several as f64),
        }
    }
}

/// Runs the attacker against the tables that have `protect`. `None` when none has it.
pub(crate) fn run(
    protect: &str,
    released: &[Released<'_>],
    attacker: Attacker<'_>,
) -> Result<Option<Finding>, TableError> {
    let tables = Tables::new(protect, released);
    if tables.tables.is_empty() {
        return Ok(None);
    }
    let mut finding = Finding::new(Adversary::Worlds, tables.names(), Some(protect));
    match attacker.people {
        Some(people) => listed::run(&mut finding, &tables, people, attacker)?,
        None => cells::run(&mut finding, &tables, attacker)?,
    }
    Ok(Some(finding))
}

/// Removes the combinations of cells that are empty in every table which fits all releases.
pub(crate) fn keep_meeting(
    protect: &str,
    released: &[Released<'_>],
    names: &[String],
    group: &mut Group,
    progress: &dyn Progress,
) -> Result<(), TableError> {
    let named = |name: &String| released.iter().find(|table| table.name == name).copied();
    let chosen: Vec<Released<'_>> = names.iter().filter_map(named).collect();
    let tables = Tables::new(protect, &chosen);
    if group.cut || tables.tables.len() != names.len() {
        return Ok(());
    }
    let attacker = Attacker { people: None, columns: Columns::Listed, prior: &[], joint: &[], progress };
    if let Some(meeting) = cells::meeting(&tables, &group.combinations, attacker)? {
        let mut meeting = meeting.into_iter();
        group.combinations.retain(|_| meeting.next().unwrap_or(true));
    }
    Ok(())
}

/// What all people together come to.
struct Tally {
    worst: Worst<(usize, f64, usize, u64), Exposure>,
    open: u64,
}

impl Tally {
    fn new() -> Tally {
        Tally { worst: Worst::new(), open: 0 }
    }

    /// Counts people with what is left for them; `exposure` describes them.
    fn add(&mut self, finding: &mut Finding, left: &Left, exposure: impl FnOnce() -> Exposure) {
        let count = left.values.len();
        if count == 0 {
            return;
        }
        finding.leave(count as u64, left.people);
        finding.at_risk += if count == 1 { left.people } else { 0 };
        let confidence = left.confidence();
        finding.max_confidence = finding.max_confidence.max(confidence);
        self.open += if left.is_decided { 0 } else { left.people };
        self.worst.offer((count.min(2), -confidence, count, u64::MAX - left.people), exposure);
    }

    fn finish(self, finding: &mut Finding, limits: &[String]) {
        finding.worst = self.worst.into_vec();
        finding.details.insert("exact".to_owned(), json!(self.open == 0));
        finding.details.insert("undecided".to_owned(), json!(self.open));
        if self.open > 0 {
            let why = match limits {
                [] => "no table was found that shows every value that is left to be possible".to_owned(),
                limits => limits.join("; "),
            };
            finding.note(format!(
                "for {} of those examined, fewer values may be possible than are counted here: {why}",
                self.open
            ));
        }
    }
}

#[cfg(test)]
mod tests;
