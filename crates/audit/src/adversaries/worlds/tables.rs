//! The tables that say something of one sensitive attribute: their rows as records that can be
//! compared, and what each table says of a record.

use std::cell::RefCell;

use hashbrown::HashMap;
use hedgerow_table::{Column, Table};

use super::attacker::{Part, Released};
use super::records::Records;
use super::statements::{ANY, AllContents, Linking, is_beside};
use crate::finding::shown_in_list;
use crate::people::is_known;
use crate::solver::{Side, Statements, UNSAID};

/// The tables that say something of one sensitive attribute, and what they say together.
pub(crate) struct AttributeTables<'a> {
    pub(crate) tables: Vec<Released<'a>>,
    /// These, and all others.
    pub(super) all: Vec<Released<'a>>,
    /// The columns by which rows are compared; the first is the protected one.
    pub(super) columns: Vec<String>,
    pub(super) records: Records,
    pub(super) contents: RefCell<AllContents>,
    /// Every table says the protected value itself, and nothing more.
    pub(super) says_values: bool,
    /// Some table lacks the attribute and has another number of rows than those that have it.
    pub(super) is_of_other_sizes: bool,
    /// Tables of which the same is so, and that are omitted.
    pub(super) omitted: Vec<&'a str>,
}

/// The labels that a list of people has of each of them.
pub(super) struct KnownLabels {
    /// By number, a label of each column by which rows are compared; [`ANY`] where it is not known.
    pub(super) labels: Vec<Vec<u32>>,
    /// By row of the list, the number.
    pub(super) of_row: Vec<u32>,
}

impl<'a> AttributeTables<'a> {
    /// Tables of other sizes are omitted, unless they describe the people by what is known of
    /// them. `None` where what all say together is too much to be listed.
    pub(super) fn new(
        protect: &'a str,
        released: &[Released<'a>],
        linking: Linking,
        people: Option<&Table>,
    ) -> Option<AttributeTables<'a>> {
        let all = AllContents::new(protect, released, linking);
        let says = |table: &Released<'a>| table.classes.sensitive(protect).is_some() || is_beside(table, protect);
        // A table that lacks the attribute says something of it where its rows can be linked.
        let source = |table: &Released<'a>| table.classes.rows + table.suppressed;
        let sources: Vec<u64> = released.iter().filter(|table| says(table)).map(source).collect();
        let is_of_source = |table: &Released<'a>| table.part == Part::List || sources.contains(&source(table));
        let is_known = |table: &Released<'a>| people.is_some_and(|people| is_known(table.classes, people));
        let (mut tables, mut omitted): (Vec<Released<'a>>, Vec<&'a str>) = (Vec::new(), Vec::new());
        let mut is_of_other_sizes = false;
        for (table, contents) in released.iter().zip(&all.of_table) {
            let is_linked = linking == Linking::Columns && !contents.columns.is_empty();
            if says(table) || is_linked && (is_of_source(table) || is_known(table)) {
                is_of_other_sizes |= !says(table) && !is_of_source(table);
                tables.push(*table);
            } else if is_linked {
                omitted.push(table.name);
            }
        }
        omitted.dedup();
        let mut all = match tables.len() == released.len() {
            true => all,
            false => AllContents::new(protect, &tables, linking),
        };
        let records = Records::new(&mut all)?;
        let says_values = all.says_values();
        let (columns, contents) = (all.names.clone(), RefCell::new(all));
        let every = released.to_vec();
        Some(AttributeTables {
            tables,
            all: every,
            columns,
            records,
            contents,
            says_values,
            is_of_other_sizes,
            omitted,
        })
    }

    /// The number of records, which are the values of worlds.
    pub(super) fn values(&self) -> u32 {
        self.records.len() as u32
    }

    /// A table as a side: its classes and counts.
    pub(super) fn side(&self, table: usize) -> Side {
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

    /// Values that are known of people beside their classes, where their list has the protected
    /// column; `bucket` is that of a row of the list in a table, where it can be in no other.
    pub(super) fn known(&self, people: &Table, bucket: impl Fn(usize, usize) -> Option<u32>) -> Option<KnownLabels> {
        people.column(&self.columns[0])?;
        let table_of =
            |name: &String| self.tables.iter().position(|table| table.group.is_some_and(|group| group.name == name));
        let columns: Vec<Result<&Column, Option<usize>>> =
            self.columns.iter().map(|name| people.column(name).ok_or_else(|| table_of(name))).collect();
        let mut contents = self.contents.borrow_mut();
        let mut labels: Vec<Vec<u32>> = Vec::with_capacity(columns.len());
        for (column, labels_of) in columns.iter().zip(&mut contents.labels) {
            labels.push(match column {
                Ok(column) => {
                    let codes = 0..column.domain.cardinality() as u32;
                    codes.map(|code| labels_of.known(&column.domain.text(code))).collect()
                }
                Err(table) => {
                    let numbers =
                        table.and_then(|table| self.tables[table].group).map_or(&[][..], |group| group.numbers);
                    numbers.iter().map(|number| labels_of.value(&number.to_string())).collect()
                }
            });
        }
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut known = KnownLabels { labels: Vec::new(), of_row: Vec::with_capacity(people.rows) };
        for row in 0..people.rows {
            let label = |(column, labels): (&Result<&Column, Option<usize>>, &Vec<u32>)| match column {
                Ok(column) => labels[column.codes.get(row) as usize],
                Err(table) => {
                    let own = table.and_then(|table| bucket(table, row));
                    own.and_then(|own| labels.get(own as usize).copied()).unwrap_or(ANY)
                }
            };
            let own: Vec<u32> = columns.iter().zip(&labels).map(label).collect();
            let number = *numbers.entry(own).or_insert_with_key(|own| {
                known.labels.push(own.clone());
                known.labels.len() as u32 - 1
            });
            known.of_row.push(number);
        }
        Some(known)
    }

    /// The protected value of a record, as far as the tables that `is_in` say it: a label.
    pub(super) fn value(&self, record: u32, is_in: impl Fn(usize) -> bool) -> u32 {
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

    /// Whether two labels can be of one protected value.
    pub(super) fn is_compatible(&self, one: u32, two: u32) -> bool {
        self.contents.borrow_mut().labels[0].meet(one, two).is_some()
    }

    /// Whether a label of the protected attribute covers every value.
    pub(super) fn is_any(&self, label: u32) -> bool {
        self.contents.borrow().labels[0].is_any(label)
    }

    pub(super) fn text(&self, label: u32) -> String {
        self.contents.borrow().labels[0].text(label).to_owned()
    }

    /// A statement of a table in words.
    pub(super) fn said(&self, table: usize, statement: u32) -> String {
        let contents = self.contents.borrow();
        let statement = match self.says_values {
            true => self.records.statements[table][statement as usize],
            false => statement,
        };
        let own = &contents.of_table[table];
        let parts = own.columns.iter().zip(&own.statements[statement as usize]).map(|(&column, &label)| {
            let text = shown_in_list(contents.labels[column].text(label));
            if column == 0 { text } else { format!("{} {text}", contents.names[column]) }
        });
        parts.collect::<Vec<String>>().join(" with ")
    }

    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.released().map(|(_, table)| table.name.to_owned()).collect();
        names.dedup();
        names
    }

    /// The tables of releases, with their numbers.
    pub(super) fn released(&self) -> impl Iterator<Item = (usize, &Released<'a>)> {
        self.tables.iter().enumerate().filter(|(_, table)| table.part != Part::List)
    }

    /// One table of each release.
    pub(super) fn shown(&self) -> impl Iterator<Item = (usize, &Released<'a>)> {
        let is_first = |number: usize, table: &Released<'_>| {
            table.part != Part::Counts || number == 0 || self.tables[number - 1].name != table.name
        };
        self.released().filter(move |(number, table)| is_first(*number, table))
    }

    /// The tables that are the rows of a bucketized one.
    pub(super) fn is_rows(&self, table: usize) -> bool {
        self.tables[table].part == Part::Rows
    }
}
