//! Releases with suppressed rows beside others that may tell, by columns which are not used, who is
//! not in them.
//!
//! Of a table that says that rows were suppressed, the person looked for is taken to be in it. That
//! is assumed, and it can be wrong: another release may give them, or someone whose row they would
//! need, a value of a column that no row of the table has. Where the comparison uses the column,
//! no world is of that kind. Where it does not, a conclusion that needs them to be in the table is
//! not said: else one released row would be of two people.

use hedgerow_table::{Cover, Table};

use super::attacker::{Part, Released};
use super::group::TableGroup;
use super::hypothesis::Assumption;
use super::setting::Setting;
use super::statements::{is_beside, is_quasi};
use super::tables::AttributeTables;
use crate::overlap::overlap;
use crate::solver::Presence;

/// More pairs of labels are not compared, and are taken to differ.
const COMPARED_MAX: usize = 1_000_000;

/// By table with suppressed rows, the columns that another release has too, in which it says
/// something else, and which are not used. It does not matter whether the list has true values: a
/// value that happens to be theirs can follow from a row that cannot be.
pub(super) fn denying_columns(tables: &AttributeTables<'_>, people: &Table) -> Vec<Vec<String>> {
    let of_table = |table: &Released<'_>| -> Vec<String> {
        if table.suppressed == 0 {
            return Vec::new();
        }
        let others = || tables.all.iter().filter(|other| other.part != Part::List && other.name != table.name);
        let denies = |name: &str, other: &Released<'_>| {
            let is_used = says(tables, table, name, people) && says(tables, other, name, people);
            has(other, name) && !is_used && differs(table, other, name)
        };
        let mut names = columns_of(table);
        names.retain(|name| others().any(|other| denies(name, other)));
        names
    };
    tables.tables.iter().map(of_table).collect()
}

fn columns_of(table: &Released<'_>) -> Vec<String> {
    let quasi = table.classes.quasi.iter().map(|quasi| &quasi.name);
    let rows = table.rows.into_iter().flat_map(|rows| &rows.columns).map(|column| &column.name);
    let counted = table.classes.sensitive.iter().map(|counts| &counts.name);
    let mut names: Vec<String> = quasi.chain(rows).chain(counted).cloned().collect();
    names.retain(|name| table.group.is_none_or(|group| group.name != name));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| has(table, name));
    names
}

fn has(table: &Released<'_>, name: &str) -> bool {
    is_quasi(table, name) || is_beside(table, name) || table.classes.sensitive(name).is_some()
}

/// Whether the comparison uses what a table says of a column: as a part of its statements, or since
/// it is known of everyone.
fn says(tables: &AttributeTables<'_>, table: &Released<'_>, name: &str, people: &Table) -> bool {
    let is_own = |other: &Released<'_>| other.name == table.name && other.part == table.part;
    let at = tables.tables.iter().position(is_own);
    let column = tables.columns.iter().position(|column| column == name);
    let is_known = is_quasi(table, name) && name != tables.columns[0] && people.column(name).is_some();
    let contents = tables.contents.borrow();
    is_known || at.zip(column).is_some_and(|(at, column)| contents.of_table[at].columns.contains(&column))
}

/// Whether some row of one table and some row of the other differ in a column.
fn differs(one: &Released<'_>, two: &Released<'_>, name: &str) -> bool {
    let covers = |table: &Released<'_>| {
        let quasi = table.classes.quasi.iter().find(|quasi| quasi.name == *name);
        quasi.map(|quasi| quasi.covers.clone())
    };
    match (covers(one), covers(two)) {
        (Some(a), Some(b)) => a.len() * b.len() > COMPARED_MAX || a.iter().any(|a| b.iter().any(|b| !overlap(a, b))),
        (Some(own), None) | (None, Some(own)) => own.iter().any(|cover| *cover != Cover::Everything),
        (None, None) => true,
    }
}

impl Setting<'_> {
    /// Whether a person of a case may be among the suppressed rows of a table of a group, as other
    /// releases may tell.
    pub(super) fn is_doubtful(&self, (case, person): (usize, u32), group: &TableGroup<'_>) -> bool {
        let may_be_away = |table: usize| group.presence(case, person, table) == Some(Presence::Either);
        group.tables.iter().any(|&table| !self.denying[table].is_empty() && may_be_away(table))
    }

    /// The same of all people, in words: why more may follow.
    pub(super) fn may_be_denied(&self, standings: &[Assumption]) -> Option<String> {
        let may_be_away = |table: &usize| matches!(standings[*table], Assumption::Everyone { absent: 1.., .. });
        let tables = (0..self.denying.len()).filter(|&table| !self.denying[table].is_empty());
        let tables: Vec<usize> = tables.filter(may_be_away).collect();
        let mut names: Vec<&str> = tables.iter().map(|&table| self.tables.tables[table].name).collect();
        names.dedup();
        let mut columns: Vec<&str> =
            tables.iter().flat_map(|&table| &self.denying[table]).map(String::as_str).collect();
        columns.sort_unstable();
        columns.dedup();
        let (names, columns) = (names.join(" and "), columns.join("`, `"));
        let why = || {
            format!(
                "rows of {names} were suppressed, and another release may tell by `{columns}` which individuals these are \
                 about: conclusions that need someone to be in {names} are omitted"
            )
        };
        (!tables.is_empty()).then(why)
    }
}
