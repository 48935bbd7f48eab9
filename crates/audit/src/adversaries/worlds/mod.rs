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
    let parts = Parts::new(protect, released, attacker.people);
    let undivided = parts.undivided(protect, released);
    let divided = parts.tables(released);
    let released = divided.as_slice();
    let mut columns = linking_columns(protect, released);
    columns.extend(groups(released));
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
    let names = || {
        let tables = released.iter().filter(|table| ![Part::List, Part::Rows].contains(&table.part));
        tables.map(|table| table.name.to_owned()).collect()
    };
    let found = found.map(|(_, finding)| finding);
    let mut finding = found.unwrap_or_else(|| Finding::new(Adversary::Worlds, names(), Some(protect)));
    let mut apart = counted_apart(protect, released);
    apart.extend(undivided.into_iter().filter(|name| !apart.contains(name)).collect::<Vec<_>>());
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

#[cfg(test)]
mod tests;
