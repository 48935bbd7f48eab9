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
mod description;
mod explanation;
mod fewest;
mod gone;
mod group;
mod hypothesis;
mod in_ways;
mod joint;
mod lacking;
mod listed;
mod records;
mod statements;
mod ways;

use std::cell::RefCell;

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::{Codebook, JointShare, Spelling};
use hedgerow_table::{Progress, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::combined_view::CombinationGroup;
use crate::finding::{Exposure, Finding, Worst};
use crate::worlds::{Side, Statements, UNSAID};

pub(crate) use self::hypothesis::most_absent;
use self::records::Records;
use self::statements::{AllContents, Linking, counted_apart, linking_columns};

/// People who look alike, or combinations of cells, for whom a value is explained.
const EXPLAINED_MAX: usize = 20;

/// The attacker's knowledge of the columns that the people's table lacks.
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
    /// The rows behind the classes, where they show the sensitive values beside the labels.
    pub(crate) rows: Option<&'a Table>,
    /// The columns of the rows that number units.
    pub(crate) units: &'a [String],
    /// The covers of coarser values.
    pub(crate) codebook: Option<&'a Codebook>,
    /// Our texts for those of the rows.
    pub(crate) spelling: Option<&'a Spelling>,
}

/// The attacker's knowledge beside the tables.
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

/// The tables that say something of one sensitive attribute, and what they say together.
pub(crate) struct AttributeTables<'a> {
    pub(crate) tables: Vec<Released<'a>>,
    /// The columns by which rows are compared; the first is the protected one.
    columns: Vec<String>,
    records: Records,
    contents: RefCell<AllContents>,
    /// Every table says the protected value itself, and nothing more.
    says_values: bool,
}

impl<'a> AttributeTables<'a> {
    /// `None` where what they say together is too much to be listed.
    fn new(protect: &'a str, released: &[Released<'a>], linking: Linking) -> Option<AttributeTables<'a>> {
        let all = AllContents::new(protect, released, linking);
        let says_it = |(table, _): &(&Released<'a>, usize)| table.classes.sensitive(protect).is_some();
        // A table that lacks the attribute says something of it where its rows can be linked.
        let source = |table: &Released<'a>| table.classes.rows + table.suppressed;
        let sources: Vec<u64> =
            released.iter().filter(|table| table.classes.sensitive(protect).is_some()).map(source).collect();
        let linked = |(table, at): &(&Released<'a>, usize)| {
            linking == Linking::Columns && !all.of_table[*at].columns.is_empty() && sources.contains(&source(table))
        };
        let chosen: Vec<(&Released<'a>, usize)> =
            released.iter().zip(0..).filter(|table| says_it(table) || linked(table)).collect();
        let tables: Vec<Released<'a>> = chosen.iter().map(|(table, _)| **table).collect();
        let mut all = match tables.len() == released.len() {
            true => all,
            false => AllContents::new(protect, &tables, linking),
        };
        let records = Records::new(&mut all)?;
        let says_values = all.says_values();
        Some(AttributeTables { tables, columns: all.names.clone(), records, contents: RefCell::new(all), says_values })
    }

    /// The number of records, which are the values of worlds.
    fn values(&self) -> u32 {
        self.records.len() as u32
    }

    /// A table as a side: its classes and counts.
    fn side(&self, table: usize) -> Side {
        let classes = self.tables[table].classes;
        let contents = self.contents.borrow();
        let contents = &contents.of_table[table];
        let mut side = Side {
            sizes: classes.sizes.clone(),
            bucket_of: classes.bucket_of.clone(),
            starts: contents.starts.clone(),
            counts: contents.counts.clone(),
            ..Side::default()
        };
        let of_value = &self.records.statements[table];
        if !self.says_values {
            side.statements = Statements::new(of_value.clone(), contents.statements.len());
            return side;
        }
        // A statement is one value: the side counts values.
        let mut values = vec![0u32; contents.statements.len()];
        for (value, &statement) in (0..).zip(of_value).filter(|(_, statement)| **statement != UNSAID) {
            values[statement as usize] = value;
        }
        side.counts.iter_mut().for_each(|(statement, _)| *statement = values[*statement as usize]);
        for bucket in 0..side.buckets() {
            side.counts[side.starts[bucket] as usize..side.starts[bucket + 1] as usize].sort_unstable();
        }
        side
    }

    /// The records of people, where their list has every column by which rows are compared.
    fn records_of(&self, people: &Table) -> Option<Vec<u32>> {
        let columns: Vec<_> = self.columns.iter().map(|name| people.column(name)).collect::<Option<_>>()?;
        let mut contents = self.contents.borrow_mut();
        let mut labels: Vec<Vec<u32>> = Vec::with_capacity(columns.len());
        for (column, labels_of) in columns.iter().zip(&mut contents.labels) {
            let codes = 0..column.domain.cardinality() as u32;
            labels.push(codes.map(|code| labels_of.value(&column.domain.text(code))).collect());
        }
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut known: Vec<Vec<u32>> = Vec::new();
        let mut of_row = Vec::with_capacity(people.rows);
        for row in 0..people.rows {
            let own: Vec<u32> =
                columns.iter().zip(&labels).map(|(column, labels)| labels[column.codes.get(row) as usize]).collect();
            let number = *numbers.entry(own).or_insert_with_key(|own| {
                known.push(own.clone());
                known.len() as u32 - 1
            });
            of_row.push(number);
        }
        let records = self.records.of_people(&mut contents, &known)?;
        Some(of_row.into_iter().map(|number| records[number as usize]).collect())
    }

    /// The protected value of a record, as far as the tables that `is_in` say it: a label.
    fn value(&self, record: u32, is_in: impl Fn(usize) -> bool) -> u32 {
        let Some(&whole) = self.records.values.get(record as usize) else { return u32::MAX };
        let mut contents = self.contents.borrow_mut();
        if contents.labels[0].are_values() {
            return whole;
        }
        let mut value = u32::MAX;
        for table in (0..self.tables.len()).filter(|&table| is_in(table)) {
            let statement = self.records.statements[table][record as usize];
            if statement == UNSAID {
                continue;
            }
            if let Some(label) = contents.of_table[table].label(statement, 0) {
                value = contents.labels[0].meet(value, label).unwrap_or(value);
            }
        }
        if value == u32::MAX { whole } else { value }
    }

    /// Whether a label can be of a person whose true value is known.
    fn can_be(&self, label: u32, truth: &str) -> bool {
        let labels = &mut self.contents.borrow_mut().labels[0];
        let truth = labels.value(truth);
        labels.meet(label, truth).is_some()
    }

    fn text(&self, label: u32) -> String {
        self.contents.borrow().labels[0].text(label).to_owned()
    }

    /// A statement of a table in words.
    fn said(&self, table: usize, statement: u32) -> String {
        let contents = self.contents.borrow();
        let statement = match self.says_values {
            true => self.records.statements[table][statement as usize],
            false => statement,
        };
        let own = &contents.of_table[table];
        let parts = own.columns.iter().zip(&own.statements[statement as usize]).map(|(&column, &label)| {
            let text = contents.labels[column].text(label);
            if column == 0 { format!("`{text}`") } else { format!("{} `{text}`", contents.names[column]) }
        });
        parts.collect::<Vec<String>>().join(" with ")
    }

    fn names(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.name.to_owned()).collect()
    }
}

/// The records that are left for some people.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftRecords {
    /// Each with its share of the worlds where they were counted, and whether it is known to be
    /// possible.
    pub(crate) records: Vec<(u32, Option<f64>, bool)>,
}

impl LeftRecords {
    /// The values of these records, as far as the tables say them that the people are in.
    fn grouped(self, tables: &AttributeTables<'_>, people: u64, is_in: impl Fn(usize) -> bool) -> ValuesLeft {
        let mut values: Vec<(u32, Option<f64>, bool)> = Vec::new();
        let mut at: HashMap<u32, usize> = HashMap::new();
        for &(record, share, is_possible) in &self.records {
            let value = tables.value(record, &is_in);
            match at.get(&value) {
                None => {
                    at.insert(value, values.len());
                    values.push((value, share, is_possible));
                }
                Some(&known) => {
                    let (_, before, possible) = &mut values[known];
                    *before = before.zip(share).map(|(one, two)| one + two);
                    *possible |= is_possible;
                }
            }
        }
        // Who was suppressed in every table that says the value, and is linked to no row of them.
        if let [(u32::MAX, ..)] = values[..] {
            return ValuesLeft { is_unsaid: true, ..ValuesLeft::nothing(people) };
        }
        ValuesLeft {
            people,
            is_unsaid: false,
            is_decided: values.len() <= 1 || values.iter().all(|(_, _, is_possible)| *is_possible),
            values: values.into_iter().map(|(value, share, _)| (value, share)).collect(),
            records: self.records.into_iter().map(|(record, _, _)| record).collect(),
        }
    }
}

/// The values that are left for some people.
#[derive(Debug, Clone)]
pub(crate) struct ValuesLeft {
    pub(crate) people: u64,
    /// Values that are not ruled out, each with its share of the worlds where they were counted.
    pub(crate) values: Vec<(u32, Option<f64>)>,
    /// The records behind them.
    pub(crate) records: Vec<u32>,
    pub(crate) is_decided: bool,
    /// No table that they are in says the value: it may be any.
    pub(crate) is_unsaid: bool,
}

impl ValuesLeft {
    fn nothing(people: u64) -> ValuesLeft {
        ValuesLeft { people, values: Vec::new(), records: Vec::new(), is_decided: true, is_unsaid: false }
    }

    /// Takes what other assumptions leave to the same people where it is fewer values; whether it
    /// is. Where something is open under either, still fewer values may be possible than are left.
    fn take_fewer(&mut self, other: ValuesLeft) -> bool {
        let [before, count] = [&*self, &other].map(|left| left.values.len());
        let is_decided = self.is_decided && other.is_decided;
        let is_fewer = count > 0 && (before == 0 || count < before);
        self.is_unsaid |= other.is_unsaid;
        if is_fewer {
            *self = ValuesLeft { people: self.people, ..other };
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
///
/// Columns that several tables have link their rows. Where no world has rows that are linked so,
/// or a list of people with true values lacks the columns, the protected attribute alone does; and
/// where no world fits then either, a missing value may stand for any.
pub(crate) fn run(
    protect: &str,
    released: &[Released<'_>],
    attacker: Attacker<'_>,
) -> Result<Option<Finding>, TableError> {
    if released.iter().all(|table| table.classes.sensitive(protect).is_none()) {
        return Ok(None);
    }
    let columns = linking_columns(protect, released);
    let lacks =
        |people: &Table| people.column(protect).is_some() && columns.iter().any(|name| people.column(name).is_none());
    let holding: Vec<_> = released.iter().filter_map(|table| table.classes.sensitive(protect)).collect();
    let has_missing = holding.len() > 1 && holding.iter().any(|counts| counts.values.contains(&String::new()));
    let mut found: Option<(Fits, Finding)> = None;
    let mut limit: Option<String> = None;
    for linking in [Linking::Columns, Linking::Protected, Linking::MissingIsUnknown] {
        match linking {
            Linking::Columns if columns.is_empty() => continue,
            Linking::MissingIsUnknown if !has_missing => continue,
            _ => {}
        }
        let Some(tables) = AttributeTables::new(protect, released, linking) else {
            limit = Some("the rows say too many different things to be compared in all columns".to_owned());
            continue;
        };
        let mut finding = Finding::new(Adversary::Worlds, tables.names(), Some(protect));
        let fits = match attacker.people {
            Some(people) => listed::run(&mut finding, &tables, people, attacker)?,
            None => cells::run(&mut finding, &tables, attacker)?,
        };
        // Rows that cannot be linked are not.
        let is_alone = linking == Linking::Protected && !fits.together;
        let is_better = |before: Fits| fits.is_better_than(before) || is_alone && fits == before;
        let is_better = found.as_ref().is_none_or(|(before, _)| is_better(*before));
        if linking == Linking::Protected && is_better && attacker.people.is_some_and(lacks) {
            limit = Some(format!("rows can be linked by {}, which the list of people lacks", columns.join(", ")));
        }
        if is_better {
            found = Some((fits, finding));
        }
        if fits == Fits::ALL {
            break;
        }
    }
    let names = || released.iter().map(|table| table.name.to_owned()).collect();
    let found = found.map(|(_, finding)| finding);
    let mut finding = found.unwrap_or_else(|| Finding::new(Adversary::Worlds, names(), Some(protect)));
    let apart = counted_apart(protect, released);
    if !apart.is_empty() && limit.is_none() {
        let apart = apart.join(", ");
        limit = Some(format!("rows can be linked by {apart}, which a bucketized table does not tell of each row"));
    }
    if let Some(limit) = limit {
        finding.details.insert("exact".to_owned(), json!(false));
        finding.note(format!("{limit}: fewer values may be possible than are counted here"));
    }
    Ok(Some(finding))
}

/// How well the tables fit together, as they were taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fits {
    /// Some world fits all tables that everyone is taken to be in.
    together: bool,
    /// People who are left without any value.
    lost: u64,
}

impl Fits {
    const ALL: Fits = Fits { together: true, lost: 0 };

    fn is_better_than(self, other: Fits) -> bool {
        (!self.together, self.lost) < (!other.together, other.lost)
    }
}

/// Removes the combinations of cells that are empty in every table which fits all releases.
pub(crate) fn keep_meeting(
    protect: &str,
    released: &[Released<'_>],
    names: &[String],
    group: &mut CombinationGroup,
    progress: &dyn Progress,
) -> Result<(), TableError> {
    let named = |name: &String| released.iter().find(|table| table.name == name).copied();
    let chosen: Vec<Released<'_>> = names.iter().filter_map(named).collect();
    let Some(tables) = AttributeTables::new(protect, &chosen, Linking::Protected) else { return Ok(()) };
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

/// The sums over all people.
struct PeopleTally {
    worst: Worst<(usize, f64, usize, u64), Exposure>,
    open: u64,
}

impl PeopleTally {
    fn new() -> PeopleTally {
        PeopleTally { worst: Worst::new(), open: 0 }
    }

    /// Counts people with what is left for them; `exposure` describes them.
    fn add(&mut self, finding: &mut Finding, left: &ValuesLeft, exposure: impl FnOnce() -> Exposure) {
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

    /// Of people for whom it is not known whether fewer values are left.
    fn leave_open(&mut self, people: u64) {
        self.open += people;
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
