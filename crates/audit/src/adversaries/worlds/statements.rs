//! Statements: the values that rows show beside the labels of their classes, in words that all
//! tables share.
//!
//! A column that two tables have links their rows: whoever is in both has one value of it. So a row
//! says its protected value together with every such column, however each table writes it: exactly,
//! rounded, as a label of a quasi-identifier, or not at all.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Bound, Column, Cover, Table};

use super::attacker::{Part, Released};
use crate::overlap;

/// A label of which nothing is known.
pub(super) const ANY: u32 = u32::MAX;

/// The columns that link the rows of several tables, and the meaning of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linking {
    /// All columns that several tables have.
    Columns,
    /// The protected attribute alone.
    Protected,
    /// The same, and a missing value may be any.
    MissingIsUnknown,
}

/// The labels of one column in all tables.
#[derive(Debug, Default)]
pub(super) struct Labels {
    texts: Vec<String>,
    /// The values that a label covers; `None` where it is the value itself.
    covers: Vec<Option<Cover>>,
    exact: HashMap<String, u32>,
    /// By text, the labels that cover more than one value.
    covering: HashMap<String, Vec<u32>>,
    /// Two labels with the label of what both cover.
    meets: HashMap<(u32, u32), Option<u32>>,
    missing_is_unknown: bool,
    /// Some label covers several values, or may.
    has_covers: bool,
}

impl Labels {
    pub(super) fn text(&self, label: u32) -> &str {
        self.texts.get(label as usize).map_or("another value", String::as_str)
    }

    /// The label that is a value itself.
    pub(super) fn value(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.exact.get(text) {
            return known;
        }
        self.has_covers |= self.missing_is_unknown && text.is_empty();
        let next = self.add(text.to_owned(), None);
        self.exact.insert(text.to_owned(), next);
        next
    }

    /// The label of a value that a list of people has: one that is coarser already is what a table
    /// writes so.
    pub(super) fn known(&mut self, text: &str) -> u32 {
        match self.covering.get(text).map(Vec::as_slice) {
            Some(&[label]) if !self.exact.contains_key(text) && Bound::parse(text).is_none() => label,
            _ => self.value(text),
        }
    }

    /// The label of what a table says to cover several values.
    fn covering(&mut self, text: &str, cover: &Cover) -> u32 {
        if let Cover::Leaves(leaves) = cover
            && let [leaf] = leaves.as_slice()
            && !leaf.contains('*')
        {
            return self.value(leaf);
        }
        match cover {
            Cover::Missing => return self.value(""),
            Cover::Point(_) => return self.value(text),
            _ => self.has_covers = true,
        }
        let alike = self.covering.get(text).map_or(&[][..], Vec::as_slice);
        if let Some(&known) = alike.iter().find(|&&label| self.covers[label as usize].as_ref() == Some(cover)) {
            return known;
        }
        let next = self.add(text.to_owned(), Some(cover.clone()));
        self.covering.entry(text.to_owned()).or_default().push(next);
        next
    }

    fn add(&mut self, text: String, cover: Option<Cover>) -> u32 {
        self.texts.push(text);
        self.covers.push(cover);
        self.texts.len() as u32 - 1
    }

    /// Whether equal labels, and no others, can be of one person.
    pub(super) fn are_values(&self) -> bool {
        !self.has_covers
    }

    fn is_wild(&self, label: u32) -> bool {
        self.missing_is_unknown && self.covers[label as usize].is_none() && self.texts[label as usize].is_empty()
    }

    /// Whether a label leaves one value.
    pub(super) fn is_point(&self, label: u32) -> bool {
        label != ANY && !self.is_wild(label) && self.covers[label as usize].is_none()
    }

    /// Whether a label covers every value.
    pub(super) fn is_any(&self, label: u32) -> bool {
        self.covers.get(label as usize).is_some_and(|cover| *cover == Some(Cover::Everything))
    }

    /// The label of the values under both; `None` where there is none.
    pub(super) fn meet(&mut self, one: u32, two: u32) -> Option<u32> {
        if one == two || two == ANY {
            return Some(one);
        }
        if one == ANY || self.is_wild(one) {
            return Some(two);
        }
        if self.is_wild(two) {
            return Some(one);
        }
        let pair = (one.min(two), one.max(two));
        if let Some(&known) = self.meets.get(&pair) {
            return known;
        }
        let found = self.covered_by_both(pair.0, pair.1);
        self.meets.insert(pair, found);
        found
    }

    fn covered_by_both(&mut self, one: u32, two: u32) -> Option<u32> {
        let [first, second] = [one, two].map(|label| self.covers[label as usize].as_ref());
        match (first, second) {
            // A number may be written in two ways.
            (None, None) => {
                let number = |label: u32| Bound::parse(&self.texts[label as usize]);
                (self.has_covers && number(one).is_some() && number(one) == number(two)).then_some(one)
            }
            (None, Some(cover)) => overlap::overlap(&written(&self.texts[one as usize]), cover).then_some(one),
            (Some(cover), None) => overlap::overlap(&written(&self.texts[two as usize]), cover).then_some(two),
            (Some(first), Some(second)) => {
                let both = overlap::meet(first, second)?;
                if both == *first {
                    return Some(one);
                }
                if both == *second {
                    return Some(two);
                }
                let text = format!("{} and {}", self.texts[one as usize], self.texts[two as usize]);
                Some(self.covering(&text, &both))
            }
        }
    }
}

/// The cover of a value as it is written.
pub(crate) fn written(text: &str) -> Cover {
    match Bound::parse(text) {
        _ if text.is_empty() => Cover::Missing,
        Some(bound) => Cover::Point(bound),
        None => Cover::Leaves(vec![text.to_owned()]),
    }
}

/// The statements of one table, each once, and their rows in each bucket.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    /// The columns, as numbers among those of all tables.
    pub(super) columns: Vec<usize>,
    /// By statement, a label for each column.
    pub(super) statements: Vec<Vec<u32>>,
    /// Where the counts of each bucket begin, and the end.
    pub(super) starts: Vec<u32>,
    /// Statements with their rows, ascending within a bucket.
    pub(super) counts: Vec<(u32, u32)>,
}

impl Contents {
    fn new(columns: Vec<usize>, buckets: usize, rows: impl Iterator<Item = (u32, Vec<u32>, u32)>) -> Contents {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut statements: Vec<Vec<u32>> = Vec::new();
        let mut counted: HashMap<(u32, u32), u32> = HashMap::new();
        for (bucket, labels, rows) in rows.filter(|(_, _, rows)| *rows > 0) {
            let statement = match numbers.get(&labels) {
                Some(&known) => known,
                None => {
                    statements.push(labels.clone());
                    numbers.insert(labels, statements.len() as u32 - 1);
                    statements.len() as u32 - 1
                }
            };
            *counted.entry((bucket, statement)).or_default() += rows;
        }
        let mut counted: Vec<((u32, u32), u32)> = counted.into_iter().collect();
        counted.sort_unstable();
        let mut starts = vec![0u32; buckets + 1];
        counted.iter().for_each(|((bucket, _), _)| starts[*bucket as usize + 1] += 1);
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let counts = counted.into_iter().map(|((_, statement), rows)| (statement, rows)).collect();
        Contents { columns, statements, starts, counts }
    }

    /// Whether a bucket has rows with a statement.
    pub(super) fn has(&self, bucket: u32, statement: u32) -> bool {
        let own = self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize;
        self.counts[own].binary_search_by_key(&statement, |&(own, _)| own).is_ok()
    }

    /// The label of a statement in a column of all tables.
    pub(super) fn label(&self, statement: u32, column: usize) -> Option<u32> {
        let at = self.columns.iter().position(|&own| own == column)?;
        Some(self.statements[statement as usize][at])
    }
}

/// The contents of some tables, over columns that are numbered for all of them; the first is the
/// protected attribute.
#[derive(Debug)]
pub(super) struct AllContents {
    pub(super) names: Vec<String>,
    pub(super) labels: Vec<Labels>,
    pub(super) of_table: Vec<Contents>,
}

impl AllContents {
    pub(super) fn new(protect: &str, tables: &[Released<'_>], linking: Linking) -> AllContents {
        let mut names = vec![protect.to_owned()];
        if linking == Linking::Columns {
            names.extend(linking_columns(protect, tables));
            names.extend(groups(tables));
        }
        let new_labels = || Labels { missing_is_unknown: linking == Linking::MissingIsUnknown, ..Labels::default() };
        let mut labels: Vec<Labels> = names.iter().map(|_| new_labels()).collect();
        let known = known_of_all(tables);
        let of_table = tables.iter().map(|table| contents(table, &names, &known, &mut labels)).collect();
        AllContents { names, labels, of_table }
    }

    /// Whether each table says the protected value itself, and nothing more.
    pub(super) fn says_values(&self) -> bool {
        self.names.len() == 1 && self.labels[0].are_values() && self.of_table.iter().all(|own| own.columns == [0])
    }
}

/// The columns beside the protected one that several tables have, and that one of them releases
/// beside its classes.
pub(super) fn linking_columns(protect: &str, tables: &[Released<'_>]) -> Vec<String> {
    shared_columns(protect, tables, |table, name| table.classes.sensitive(name).is_some())
}

/// The columns that join the parts of bucketized tables.
pub(super) fn groups(tables: &[Released<'_>]) -> Vec<String> {
    let rows = tables.iter().filter(|table| table.part == Part::Rows);
    rows.filter_map(|table| Some(table.group?.name.to_owned())).collect()
}

/// The columns beside the protected one that one table releases beside its classes, and that
/// another one has too; of buckets, `counts` says whether they have a column.
fn shared_columns(protect: &str, tables: &[Released<'_>], counts: impl Fn(&Released<'_>, &str) -> bool) -> Vec<String> {
    let beside = |table: &Released<'_>| -> Vec<String> {
        let rows = table.rows.into_iter().flat_map(|rows| &rows.columns).map(|column| column.name.clone());
        let by_bucket = table.classes.sensitive.iter().filter(|_| table.part == Part::Counts);
        let by_bucket = by_bucket.map(|counts| counts.name.clone()).filter(|name| name != protect);
        let rows = rows.filter(|name| name != protect && is_beside(table, name));
        rows.filter(|name| table.group.is_none_or(|group| group.name != name)).chain(by_bucket).collect()
    };
    let has = |table: &Released<'_>, name: &str| match table.rows {
        Some(_) => is_quasi(table, name) || is_beside(table, name),
        None => counts(table, name),
    };
    let mut names: Vec<String> = tables.iter().flat_map(beside).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| tables.iter().filter(|table| has(table, name)).count() > 1);
    names
}

/// The columns by which rows are linked elsewhere, and which a table counts apart from the
/// attribute that is used of it: a bucket says how often each occurs, and not in which row.
pub(super) fn counted_apart(protect: &str, tables: &[Released<'_>]) -> Vec<String> {
    let names =
        shared_columns(protect, tables, |table, name| is_quasi(table, name) || table.classes.sensitive(name).is_some());
    let of_table = |table: &Released<'_>| -> Vec<String> {
        let used = used_of_buckets(table, std::iter::once(protect).chain(names.iter().map(String::as_str)));
        let is_apart = |(at, name): &(usize, &String)| {
            (is_quasi(table, name) && table.part != Part::Counts)
                || (table.classes.sensitive(name).is_some() && used != Some(at + 1))
        };
        names.iter().enumerate().filter(is_apart).map(|(_, name)| name.clone()).collect()
    };
    let mut apart: Vec<String> = tables.iter().filter(|table| table.rows.is_none()).flat_map(of_table).collect();
    apart.sort_unstable();
    apart.dedup();
    apart
}

/// The first of some columns that the buckets of a table count.
fn used_of_buckets<'n>(table: &Released<'_>, mut names: impl Iterator<Item = &'n str>) -> Option<usize> {
    names.position(|name| table.classes.sensitive(name).is_some())
}

pub(super) fn is_quasi(table: &Released<'_>, name: &str) -> bool {
    table.classes.quasi.iter().any(|quasi| quasi.name == name)
}

/// Whether rows show a column beside the labels of their class; numbers of units are random.
pub(super) fn is_beside(table: &Released<'_>, name: &str) -> bool {
    let is_unit = table.units.iter().any(|unit| unit == name);
    !is_quasi(table, name) && !is_unit && table.rows.is_some_and(|rows| rows.column(name).is_some())
}

/// The labels of one column of a table, by code.
fn labels_of(table: &Released<'_>, column: &Column, labels: &mut Labels) -> Vec<u32> {
    let codes = 0..column.domain.cardinality() as u32;
    let label = |code: u32| {
        let text = column.domain.text(code);
        covering(table, &column.name, &text, labels).unwrap_or_else(|| {
            labels.value(table.spelling.map_or(&text, |spelling| spelling.ours(&column.name, &text)))
        })
    };
    codes.map(label).collect()
}

/// The label of a value that is coarser than the source's.
fn covering(table: &Released<'_>, name: &str, text: &str, labels: &mut Labels) -> Option<u32> {
    let codebook = table.codebook.filter(|codebook| codebook.is_coarse(name))?;
    Some(labels.covering(text, codebook.cover(name, text)?))
}

/// A quasi-identifier as a column of the rows.
fn labels_of_quasi(classes: &ReleasedClasses, at: usize, labels: &mut Labels) -> Vec<u32> {
    let quasi = &classes.quasi[at];
    quasi.labels.iter().zip(&quasi.covers).map(|(label, cover)| labels.covering(label, cover)).collect()
}

/// The columns of which a list of people among the tables has everyone's value.
fn known_of_all(tables: &[Released<'_>]) -> Vec<String> {
    let list = tables.iter().find(|table| table.part == Part::List).and_then(|list| list.rows);
    list.map_or_else(Vec::new, |list| list.header.clone())
}

fn contents(table: &Released<'_>, names: &[String], known: &[String], labels: &mut [Labels]) -> Contents {
    let buckets = table.classes.buckets();
    let class_of = |rows| match table.class_of {
        Some(known) => Some(known.to_vec()),
        None => class_of_rows(table.classes, rows),
    };
    if let Some(rows) = table.rows
        && let Some(class_of) = class_of(rows)
    {
        return of_rows(table, rows, &class_of, (names, known), labels);
    }
    let used = used_of_buckets(table, names.iter().map(String::as_str));
    let Some((used, counts)) = used.and_then(|used| Some((used, table.classes.sensitive(&names[used])?))) else {
        return Contents::new(Vec::new(), buckets, std::iter::empty());
    };
    let group = table.group.and_then(|group| Some((names.iter().position(|name| name == group.name)?, group.numbers)));
    let groups: Vec<u32> = match group {
        Some((at, numbers)) => numbers.iter().map(|number| labels[at].value(&number.to_string())).collect(),
        None => Vec::new(),
    };
    let columns: Vec<usize> = std::iter::once(used).chain(group.map(|(at, _)| at)).collect();
    let said = |bucket: u32, value: u32| -> Vec<u32> {
        std::iter::once(value).chain(groups.get(bucket as usize).copied()).collect()
    };
    let labels = &mut labels[used];
    let label = |value: &String| covering(table, &names[used], value, labels).unwrap_or_else(|| labels.value(value));
    let values: Vec<u32> = counts.values.iter().map(label).collect();
    let cells = (0..buckets as u32)
        .flat_map(|bucket| counts.of_bucket(bucket).iter().map(move |&(value, rows)| (bucket, value, rows)));
    let cells = cells.map(|(bucket, value, rows)| (bucket, said(bucket, values[value as usize]), rows));
    Contents::new(columns, buckets, cells)
}

/// The statements of the rows of a table. The label of a value that is known of everyone is that of
/// their class: it tells who can be in it, and nothing more of them.
fn of_rows(
    table: &Released<'_>,
    rows: &Table,
    class_of: &[u32],
    (names, known): (&[String], &[String]),
    labels: &mut [Labels],
) -> Contents {
    let is_stated = |name: &String| table.part == Part::List || !known.contains(name);
    let mut columns: Vec<usize> = Vec::new();
    let mut read: Vec<(&Column, Vec<u32>)> = Vec::new();
    for (number, (name, labels)) in names.iter().zip(labels).enumerate() {
        let Some(column) = rows.column(name) else { continue };
        if is_beside(table, name) {
            read.push((column, labels_of(table, column, labels)));
        } else if let Some(at) = table.classes.quasi.iter().position(|quasi| quasi.name == *name && is_stated(name)) {
            read.push((column, labels_of_quasi(table.classes, at, labels)));
        } else {
            continue;
        }
        columns.push(number);
    }
    let said = class_of.iter().enumerate().map(|(row, &class)| {
        let labels = read.iter().map(|(column, labels)| labels[column.codes.get(row) as usize]).collect();
        (table.classes.bucket_of[class as usize], labels, 1)
    });
    Contents::new(columns, table.classes.buckets(), said)
}

/// The class of each row; `None` where the rows are not those of the classes.
fn class_of_rows(classes: &ReleasedClasses, rows: &Table) -> Option<Vec<u32>> {
    let quasi: Vec<&Column> = classes.quasi.iter().map(|quasi| rows.column(&quasi.name)).collect::<Option<_>>()?;
    let numbered: HashMap<&[u32], u32> =
        (0u32..).take(classes.len()).map(|class| (classes.cells(class as usize), class)).collect();
    let class = |row: usize| {
        let cells: Vec<u32> = quasi.iter().map(|column| column.codes.get(row)).collect();
        numbered.get(cells.as_slice()).copied()
    };
    (0..rows.rows).map(class).collect()
}
