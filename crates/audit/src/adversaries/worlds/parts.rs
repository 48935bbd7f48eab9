//! Tables that say several things of one person apart, as one table for each of them.
//!
//! A bucketized table shows the quasi-identifiers and plain attributes of each row with its bucket,
//! and beside that how often each sensitive value is in a bucket. Where another table can link its
//! rows, it is two tables about the same people: its rows, each with the number of its bucket, and
//! its counts, with the same number. That number is one column more by which both are linked.
//!
//! The list of people is such a table too: of a column that some release describes people by, the
//! attacker knows everyone's value. Where another release shows the column beside its classes, the
//! list says whose row it can be.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::kinds::bucketized::GROUP;
use hedgerow_table::{Codes, Column, Domain, Table, Values};

use super::attacker::{BucketGroups, BucketRows, Part, Released};
use super::statements::{is_beside, is_quasi, written};

/// The list of people among the tables.
const LIST: &str = "the list of people";

/// More rows of a bucketized table are not compared with those of others.
const ROWS_MAX: usize = 20_000;

/// The parts of the tables of an attacker.
pub(super) struct Parts {
    list: Option<(Table, ReleasedClasses)>,
    /// By release, its rows by bucket.
    rows: Vec<Option<RowsPart>>,
}

struct RowsPart {
    table: Table,
    classes: ReleasedClasses,
    class_of: Vec<u32>,
    group: String,
}

impl Parts {
    pub(super) fn new(protect: &str, released: &[Released<'_>], people: Option<&Table>) -> Parts {
        let known = people.map_or_else(Vec::new, |people| known_columns(protect, released, people));
        let list = people.filter(|_| !known.is_empty()).and_then(|people| list_of(people, &known));
        let known: &[String] = if list.is_some() { &known } else { &[] };
        let rows = released.iter().enumerate().map(|(own, table)| {
            let by_bucket = table.by_bucket.filter(|rows| (1..=ROWS_MAX).contains(&rows.bucket_of_row.len()))?;
            let is_linked = |column: &&Column| links(protect, released, own, known, &column.name);
            by_bucket.rows.columns.iter().find(is_linked)?;
            RowsPart::new(table, by_bucket)
        });
        Parts { list, rows: rows.collect() }
    }

    /// The tables that an attacker compares.
    pub(super) fn tables<'a>(&'a self, released: &[Released<'a>]) -> Vec<Released<'a>> {
        let mut tables = Vec::with_capacity(released.len() + 1);
        if let Some((table, classes)) = &self.list {
            tables.push(Released { part: Part::List, rows: Some(table), ..Released::of(LIST, classes) });
        }
        for (table, rows) in released.iter().zip(&self.rows) {
            let Some(RowsPart { table: rows, classes, class_of, group }) = rows else {
                tables.push(*table);
                continue;
            };
            let numbers = table.by_bucket.map_or(&[][..], |by_bucket| by_bucket.numbers);
            let group = Some(BucketGroups { name: group, of_class: &table.classes.bucket_of, numbers });
            let own = Released { part: Part::Rows, classes, rows: Some(rows), class_of: Some(class_of), ..*table };
            tables.extend([Released { group, ..own }, Released { part: Part::Counts, group, ..*table }]);
        }
        tables
    }

    /// The columns by which rows of tables could be linked that are not divided.
    pub(super) fn undivided(&self, protect: &str, released: &[Released<'_>]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (own, table) in released.iter().enumerate().filter(|(own, _)| self.rows[*own].is_none()) {
            let columns = table.by_bucket.map_or(&[][..], |by_bucket| by_bucket.rows.columns.as_slice());
            let linking = columns.iter().filter(|column| links(protect, released, own, &[], &column.name));
            names.extend(linking.map(|column| column.name.clone()));
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Whether a column of the rows of a bucketized table says something of the rows of another one, or
/// of people.
fn links(protect: &str, released: &[Released<'_>], own: usize, known: &[String], name: &str) -> bool {
    if name == GROUP {
        return false;
    }
    let is_own_quasi = is_quasi(&released[own], name);
    if name == protect {
        return !is_own_quasi;
    }
    let others = || released.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, other)| other);
    match is_own_quasi {
        true => others().any(|other| shows(other, name)),
        false => {
            known.iter().any(|known| known == name) || others().any(|other| is_quasi(other, name) || shows(other, name))
        }
    }
}

/// Whether a table shows a column beside the labels of its classes.
pub(super) fn shows(table: &Released<'_>, name: &str) -> bool {
    let by_bucket = table.by_bucket.is_some_and(|by_bucket| by_bucket.rows.column(name).is_some());
    is_beside(table, name) || table.classes.sensitive(name).is_some() || by_bucket && !is_quasi(table, name)
}

/// The columns of the list by which some release describes people, and which another one shows
/// beside its classes.
fn known_columns(protect: &str, released: &[Released<'_>], people: &Table) -> Vec<String> {
    let names = people.columns.iter().map(|column| &column.name).filter(|name| *name != protect);
    let known = names.filter(|name| released.iter().any(|table| is_quasi(table, name)));
    known.filter(|name| released.iter().any(|table| shows(table, name))).cloned().collect()
}

fn list_of(people: &Table, known: &[String]) -> Option<(Table, ReleasedClasses)> {
    let columns: Vec<Column> = known.iter().filter_map(|name| people.column(name).cloned()).collect();
    let table = Table { columns, rows: people.rows, header: known.to_vec(), warnings: Vec::new() };
    let cover = |_: &str, text: &str| written(text);
    let classes = ReleasedClasses::of_generalized(LIST, &table, known, &[], cover, LIST).ok()?;
    Some((table, classes))
}

impl RowsPart {
    fn new(table: &Released<'_>, by_bucket: BucketRows<'_>) -> Option<RowsPart> {
        let classes = table.classes;
        let quasi: Vec<&Column> =
            classes.quasi.iter().map(|quasi| by_bucket.rows.column(&quasi.name)).collect::<Option<_>>()?;
        let key = |cells: &[u32], bucket: u32| [cells, &[bucket]].concat();
        let numbered: HashMap<Vec<u32>, u32> = (0u32..)
            .take(classes.len())
            .map(|class| (key(classes.cells(class as usize), classes.bucket_of[class as usize]), class))
            .collect();
        let class = |(row, &bucket): (usize, &u32)| {
            let cells: Vec<u32> = quasi.iter().map(|column| column.codes.get(row)).collect();
            numbered.get(&key(&cells, bucket)).copied()
        };
        let class_of = by_bucket.bucket_of_row.iter().enumerate().map(class).collect::<Option<Vec<u32>>>()?;
        let group = format!("the group of {}", table.name);
        let mut columns: Vec<Column> =
            by_bucket.rows.columns.iter().filter(|column| column.name != GROUP).cloned().collect();
        let codes = Codes::from_iter(by_bucket.numbers.len(), by_bucket.bucket_of_row.iter().copied());
        let domain = Domain::new(Values::Integer(by_bucket.numbers.to_vec()), false);
        columns.push(Column { name: group.clone(), domain, codes });
        let header = columns.iter().map(|column| column.name.clone()).collect();
        let table = Table { columns, rows: class_of.len(), header, warnings: Vec::new() };
        let mut classes = classes.clone();
        classes.bucket_of = (0..classes.len() as u32).collect();
        classes.bucket_sizes.clone_from(&classes.sizes);
        classes.sensitive.clear();
        Some(RowsPart { table, classes, class_of, group })
    }
}
