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

mod apart;
mod attacker;
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
mod left;
mod listed;
mod parts;
mod records;
mod setting;
mod statements;
mod tables;
mod tally;
mod ways;

use hedgerow_table::{Progress, Table, TableError};
use serde_json::json;

pub use self::attacker::Columns;
pub(crate) use self::attacker::{Attacker, BucketRows, Part, Released};
use self::parts::Parts;
pub(crate) use self::statements::written;
use self::statements::{Linking, counted_apart, groups, linking_columns};
use self::tables::AttributeTables;
use self::tally::Fits;
use crate::Adversary;
use crate::combined_view::CombinationGroup;
use crate::finding::Finding;

const TOO_MANY: &str = "the rows say too many different things to be compared in all columns";

/// One way to compare the rows of tables, and what it leads to.
struct Compared {
    fits: Fits,
    finding: Finding,
    /// Why more may follow.
    limit: Option<String>,
}

/// Runs the attacker against the tables that have `protect`; no finding when none has it.
///
/// Where true values are listed, what any way to compare rows is certain of is true: the finding of
/// the one that fits best is the first.
pub(crate) fn run(
    protect: &str,
    released: &[Released<'_>],
    attacker: Attacker<'_>,
) -> Result<Vec<Finding>, TableError> {
    if released.iter().all(|table| table.classes.sensitive(protect).is_none()) {
        return Ok(Vec::new());
    }
    let parts = Parts::new(protect, released, attacker.people);
    let undivided = parts.undivided(protect, released);
    let divided = parts.tables(released);
    let released = divided.as_slice();
    let mut all = compared(protect, released, attacker)?.into_iter();
    let Compared { mut finding, mut limit, .. } = all.next().unwrap_or_else(|| {
        let tables = released.iter().filter(|table| ![Part::List, Part::Rows].contains(&table.part));
        let names = tables.map(|table| table.name.to_owned()).collect();
        let finding = Finding::new(Adversary::Worlds, names, Some(protect));
        Compared { fits: Fits::ALL, finding, limit: Some(TOO_MANY.to_owned()) }
    });
    let mut apart = counted_apart(protect, released);
    apart.extend(undivided.into_iter().filter(|name| !apart.contains(name)).collect::<Vec<_>>());
    if !apart.is_empty() && limit.is_none() {
        let apart = apart.join(", ");
        limit = Some(format!("rows can be linked by {apart}, which a bucketized table does not tell of each row"));
    }
    if let Some(limit) = limit {
        leave_open(&mut finding, &limit);
    }
    let mut findings = vec![finding];
    let is_true = attacker.people.is_some_and(|people| people.column(protect).is_some());
    for Compared { mut finding, .. } in all.filter(|_| is_true) {
        let is_new = |person: &u32| findings.iter().all(|other| other.people_at_risk.binary_search(person).is_err());
        if finding.people_at_risk.iter().any(is_new) || finding.at_risk > findings[0].at_risk {
            leave_open(&mut finding, "another way to link the rows fits the releases better");
            findings.push(finding);
        }
    }
    Ok(findings)
}

/// Every way to compare rows that had to be tried, the one that fits best first.
///
/// Columns that several tables have link their rows. Where no world has rows that are linked so,
/// those that lack the protected attribute and have another number of rows are omitted; then the
/// protected attribute alone links them; and where no world fits then either, a missing value may
/// stand for any.
fn compared(protect: &str, released: &[Released<'_>], attacker: Attacker<'_>) -> Result<Vec<Compared>, TableError> {
    let mut columns = linking_columns(protect, released);
    columns.extend(groups(released));
    let holding: Vec<_> = released.iter().filter_map(|table| table.classes.sensitive(protect)).collect();
    let has_missing = holding.len() > 1 && holding.iter().any(|counts| counts.values.contains(&String::new()));
    let mut all: Vec<Compared> = Vec::new();
    let mut best = 0;
    let mut is_of_one_size = attacker.people.is_none();
    let mut is_too_much = false;
    let ways = [
        (Linking::Columns, attacker.people),
        (Linking::Columns, None),
        (Linking::Protected, None),
        (Linking::MissingIsUnknown, None),
    ];
    for (way, (linking, of_any_size)) in ways.into_iter().enumerate() {
        match linking {
            Linking::Columns if columns.is_empty() || way == 1 && is_of_one_size => continue,
            Linking::MissingIsUnknown if !has_missing => continue,
            _ => {}
        }
        let Some(tables) = AttributeTables::new(protect, released, linking, of_any_size) else {
            is_too_much = true;
            continue;
        };
        is_of_one_size |= !tables.is_of_other_sizes;
        let mut finding = Finding::new(Adversary::Worlds, tables.names(), Some(protect));
        let fits = match attacker.people {
            Some(people) => listed::run(&mut finding, &tables, people, attacker)?,
            None => cells::run(&mut finding, &tables, attacker)?,
        };
        let limit = match is_too_much {
            true => Some(TOO_MANY.to_owned()),
            false => not_linked(&tables, &columns, linking, attacker.people),
        };
        // Rows that cannot be linked are not.
        let is_alone = linking == Linking::Protected && !fits.together;
        let is_better = |before: &Compared| fits.is_better_than(before.fits) || is_alone && fits == before.fits;
        if all.get(best).is_some_and(is_better) {
            best = all.len();
        }
        all.push(Compared { fits, finding, limit });
        if fits == Fits::ALL {
            break;
        }
    }
    if best > 0 {
        all.swap(0, best);
    }
    Ok(all)
}

/// The tables and columns omitted where rows were compared in one way.
fn not_linked(
    tables: &AttributeTables<'_>,
    columns: &[String],
    linking: Linking,
    people: Option<&Table>,
) -> Option<String> {
    let by = columns.join(", ");
    if linking == Linking::Columns {
        let others = tables.omitted.join(" and ");
        let why = || format!("the rows of {others} were not linked by {by}: there is another number of them");
        return (!others.is_empty()).then(why);
    }
    let lacks = |people: &Table| {
        people.column(&tables.columns[0]).is_some() && columns.iter().any(|name| people.column(name).is_none())
    };
    (!columns.is_empty()).then(|| match people.is_some_and(lacks) {
        true => format!("rows can be linked by {by}, which the list of people lacks"),
        false => format!("no table fits all releases when rows are linked by {by}, so they were not linked"),
    })
}

fn leave_open(finding: &mut Finding, why: &str) {
    finding.details.insert("exact".to_owned(), json!(false));
    finding.note(format!("{why}: fewer values may be possible than are counted here"));
}

/// Removes the combinations of cells that are empty in every table which fits all releases.
pub(crate) fn keep_meeting(
    protect: &str,
    released: &[Released<'_>],
    group: &mut CombinationGroup,
    progress: &dyn Progress,
) -> Result<(), TableError> {
    let Some(tables) = AttributeTables::new(protect, released, Linking::Protected, None) else { return Ok(()) };
    if group.cut || tables.tables.len() != released.len() {
        return Ok(());
    }
    let attacker = Attacker { people: None, columns: Columns::Listed, prior: &[], joint: &[], progress };
    if let Some(meeting) = cells::meeting(&tables, &group.combinations, attacker)? {
        let mut meeting = meeting.into_iter();
        group.combinations.retain(|_| meeting.next().unwrap_or(true));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
