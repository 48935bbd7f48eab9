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
//!
//! # What a world is, and why the records lose none of it
//!
//! A *whole world* gives each person a value of every column of every table, and to each a row of
//! every table that they are in, no row to two people, so that every label of the row covers the
//! value. What a table states is its rows: for each a class (the labels of its quasi-identifiers),
//! and a label of every column beside them. [`solver`](crate::solver) looks for worlds in which
//! people have a *record* and a class. Column by column, a whole world and such a world say the
//! same:
//!
//! 1. *Known, and a quasi-identifier of the table.* The classes that a person can be in are those
//!    whose labels cover the value: `places` of the table, exactly.
//! 2. *Known, and shown beside the classes of a table.* The list is a table too, in which everyone
//!    is, and its statement of a person is the value (`parts`). Known is what some table describes
//!    people by. Other columns of the list are not: a list also has true values.
//! 3. *Not known, and shown by several tables, by one of them beside its classes.* It is a column
//!    of the statements. A record is one statement of each table, or none, that have a value of
//!    each column in common, so that a person whom each table can give its statement of the record
//!    has one value of each column, and the other way round (`records`). A table can be silent only
//!    about a record that it does not determine, and no person who has that record is in it then.
//! 4. *Not known, and in one table alone.* Every row has its own value, and no other table has
//!    it: the person who gets the row gets the value. Nothing is lost without the column.
//! 5. *Not known, since the list lacks it, and described people by in several tables alone.* To an
//!    attacker who has the list and no more, which classes of two tables a person can be in at once
//!    is not used, and the finding is not exact where it says something (`tells_apart`). An
//!    attacker who knows the column is asked about each class, or each two that have a value in
//!    common ([`setting`]), and again about all people in every way (`lacking`).
//! 6. *The same, shown beside the classes of another table.* Who knows the column knows a row: that
//!    table describes people by it too, and is read so (`known_rows`). To who has the list alone it
//!    is as in 3, and the finding is not exact, for others know it.
//! 7. *The rows of classes and buckets* are the sizes and counts of the problem. Rows and counts of
//!    a bucketized table are two tables that the number of the bucket links (`parts`). Where that
//!    cannot be used, the finding is not exact (`counted_apart`, `undivided`, `not_used_of_rows`),
//!    and one value that follows of a person whom one of the two denies is not said
//!    (`rows_and_counts`).
//!
//! The people in each table are assumed, and said (`assumed`): that is not concluded. An
//! assumption that leaves no world is dropped, and what is then left is not exact. A table that
//! cannot have everyone as the list describes them is weak. Of others that contradict each other,
//! some are taken together, always with the list, and the rest is weak (`outcome`). Weak tables
//! that leave nothing to a person are not about them, or some are not: what is said of that person
//! is what the strong ones leave (`left_beside`). Tables that were omitted, and rows that were not
//! linked, say so too (`not_linked`); what the columns of a person's rows deny is not said then
//! (`by_columns`). Labels of columns that the list lacks rule out nothing but that a person is in
//! tables of which no rows meet (`possible`). Who cannot be in all tables, since rows were
//! suppressed, can still be in some: that is not asked, and the finding is not exact. Everything
//! else that is not decided comes from limits, each of which leaves the finding not exact where it
//! was reached.
//!
//! Suppressed rows are the one place where more is supposed of a person than of the world: that the
//! person looked for is in the table (`anyhow`). More worlds than there are make other conclusions
//! weaker; of this one they could hide that it cannot be. So it is not supposed where a column says
//! something of who is in the table and is not compared (`denied`). People whom no row of a table
//! fits are among the suppressed ones, as everyone who is listed is in every table; that leaves
//! fewer worlds, and is asked beside the weaker assumption that they are elsewhere, unless no world
//! is left then (`with_suppressed`).
//!
//! True values decide two things only: who can be in a table, and whether what follows is true.
//! An attacker who lacks them may take everyone to be in a table which these deny. A conclusion
//! about the protected value counts where it is the true one, whatever the list says of other
//! columns (`fewest_of_true`).

mod apart;
mod assumptions;
mod attacker;
mod by_columns;
mod cells;
mod denied;
mod description;
mod divided;
mod explanation;
mod fewest;
mod gone;
mod group;
mod hypothesis;
mod in_ways;
mod joint;
mod known_rows;
mod lacking;
mod left;
mod listed;
mod parts;
mod person;
mod records;
mod rows_and_counts;
mod setting;
mod statements;
mod tables;
mod tally;
mod ways;

use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Progress, Table, TableError};
use serde_json::json;

pub use self::attacker::Columns;
pub(crate) use self::attacker::{Attacker, BucketRows, Part, Released};
use self::by_columns::ByColumns;
use self::known_rows::{by_known_columns, lacked, tells_apart};
use self::parts::Parts;
pub(crate) use self::statements::written;
use self::statements::{Linking, counted_apart, groups, is_quasi, linking_columns};
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
    /// By row of the list of people, the value that alone is left.
    certain: Vec<Option<String>>,
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
    let lacked = attacker.people.map_or_else(Vec::new, |people| lacked(protect, released, people));
    let by_known = released.iter().map(|table| match attacker.columns {
        Columns::All => by_known_columns(table, &lacked),
        Columns::Listed => None,
    });
    let by_known: Vec<Option<ReleasedClasses>> = by_known.collect();
    let known = released.iter().zip(&by_known);
    let known =
        known.map(|(table, by_known)| Released { classes: by_known.as_ref().unwrap_or(table.classes), ..*table });
    let known: Vec<Released<'_>> = known.collect();
    let parts = Parts::new(protect, &known, attacker.people);
    let not_used = not_used(protect, &known, &parts, &lacked, attacker);
    let divided = parts.tables(&known);
    let released = divided.as_slice();
    let mut all = compared(protect, released, attacker)?.into_iter();
    let Compared { mut finding, mut limit, .. } = all.next().unwrap_or_else(|| {
        let tables = released.iter().filter(|table| ![Part::List, Part::Rows].contains(&table.part));
        let names = tables.map(|table| table.name.to_owned()).collect();
        let finding = Finding::new(Adversary::Worlds, names, Some(protect));
        Compared { fits: Fits::ALL, finding, limit: Some(TOO_MANY.to_owned()), certain: Vec::new() }
    });
    let mut limits: Vec<String> = limit.take().into_iter().collect();
    limits.extend(not_used);
    let apart = counted_apart(protect, released);
    if !apart.is_empty() {
        limits.push(not_of_each_row(&apart));
    }
    limits.dedup();
    if !limits.is_empty() {
        leave_open(&mut finding, &limits.join("; "));
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

fn not_of_each_row(columns: &[String]) -> String {
    format!("rows can be linked by {}, which a bucketized table does not tell of each row", columns.join(", "))
}

/// The facts of tables that the records do not have, in words: why the finding is not exact.
fn not_used(
    protect: &str,
    released: &[Released<'_>],
    parts: &Parts,
    lacked: &[String],
    attacker: Attacker<'_>,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let undivided = parts.undivided(protect, released);
    if !undivided.is_empty() {
        reasons.push(not_of_each_row(&undivided));
    }
    let names = |is_so: &dyn Fn(&str) -> bool| -> String {
        let names: Vec<&str> = lacked.iter().map(String::as_str).filter(|name| is_so(name)).collect();
        names.join("`, `")
    };
    let shown = names(&|name| released.iter().any(|table| parts::shows(table, name)));
    if !shown.is_empty() {
        reasons.push(format!(
            "the list of people lacks `{shown}`, by which one release describes people and which another shows: who \
             knows it may know a row"
        ));
    }
    let apart = names(&|name| attacker.columns == Columns::Listed && tells_apart(released, name));
    if !apart.is_empty() {
        reasons.push(format!("which labels of `{apart}` go together is not used, since the list of people lacks it"));
    }
    let tables = |is_so: &dyn Fn(&Released<'_>) -> bool| -> Vec<&str> {
        released.iter().filter(|table| is_so(table)).map(|table| table.name).collect()
    };
    // Of one clone alone, and no people, the values of each class are all that there is to know.
    let combines = released.len() > 1 || attacker.people.is_some();
    let counterfeit = tables(&|table| combines && table.counterfeit);
    if !counterfeit.is_empty() {
        reasons.push(format!("which sub-classes have the counterfeits of {} is not used", counterfeit.join(" and ")));
    }
    let statistics = tables(&|table| combines && table.statistics);
    if !statistics.is_empty() {
        reasons.push(format!("which classes of {} have the same sub-class is not used", statistics.join(" and ")));
    }
    let describing = tables(&|table| is_quasi(table, protect));
    if !describing.is_empty() {
        let describing = describing.join(" and ");
        reasons.push(format!("{describing} describes people by `{protect}`: who knows it has nothing to learn"));
    }
    reasons
}

/// Every way to compare rows that had to be tried, the one that fits best first.
///
/// Columns that several tables have link their rows. Where no world has rows that are linked so,
/// those that lack the protected attribute and have another number of rows are omitted; then the
/// protected attribute alone links them, and of people only what their rows do not deny one by one
/// is said. Where there are no such columns and no world fits, a missing value may stand for any.
fn compared(protect: &str, released: &[Released<'_>], attacker: Attacker<'_>) -> Result<Vec<Compared>, TableError> {
    let mut columns = linking_columns(protect, released);
    columns.extend(groups(released));
    let holding: Vec<_> = released.iter().filter_map(|table| table.classes.sensitive(protect)).collect();
    let has_missing = holding.len() > 1 && holding.iter().any(|counts| counts.values.contains(&String::new()));
    let mut all: Vec<Compared> = Vec::new();
    let mut best = 0;
    let mut is_of_one_size = attacker.people.is_none();
    // Of people whom tables contradict that some world fits, they are not all.
    let is_fitting = |all: &[Compared]| attacker.people.is_some() && all.iter().any(|way| way.fits.together);
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
            Linking::Protected | Linking::MissingIsUnknown if is_fitting(&all) => break,
            Linking::MissingIsUnknown if attacker.people.is_some() && !columns.is_empty() => continue,
            _ => {}
        }
        let Some(tables) = AttributeTables::new(protect, released, linking, of_any_size) else {
            is_too_much = true;
            continue;
        };
        is_of_one_size |= !tables.is_of_other_sizes;
        let mut finding = Finding::new(Adversary::Worlds, tables.names(), Some(protect));
        let linked = match linking {
            Linking::Protected if !columns.is_empty() => {
                AttributeTables::new(protect, released, Linking::Columns, attacker.people)
            }
            _ => None,
        };
        let certain = all.first().map_or(&[][..], |way| way.certain.as_slice());
        let by_columns = linked.as_ref().zip(attacker.people);
        let by_columns =
            by_columns.map(|(linked, people)| ByColumns::new(linked, (people, certain), attacker)).transpose()?;
        let (fits, certain) = match attacker.people {
            Some(people) => listed::run(&mut finding, &tables, (people, by_columns.as_ref()), attacker)?,
            None => (cells::run(&mut finding, &tables, attacker)?, Vec::new()),
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
        all.push(Compared { fits, finding, limit, certain });
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
    if linking == Linking::MissingIsUnknown && people.is_some() {
        return Some("a missing value may stand for any here, since no table fits all releases otherwise".to_owned());
    }
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
