//! The tables that say something of one sensitive attribute: their rows as records that can be
//! compared, and what each table says of a record.

use std::cell::RefCell;

use hashbrown::HashMap;
use hedgerow_table::{Column, Table};

use super::attacker::{Part, Released};
use super::records::Records;
use super::statements::{AllContents, Linking, is_beside};
use crate::finding::shown_in_list;
use crate::solver::{Side, Statements, UNSAID};

/// The tables that say something of one sensitive attribute, and what they say together.
pub(crate) struct AttributeTables<'a> {
    pub(crate) tables: Vec<Released<'a>>,
    /// The columns by which rows are compared; the first is the protected one.
    pub(super) columns: Vec<String>,
    pub(super) records: Records,
    pub(super) contents: RefCell<AllContents>,
    /// Every table says the protected value itself, and nothing more.
    pub(super) says_values: bool,
}

impl<'a> AttributeTables<'a> {
    /// `None` where what they say together is too much to be listed.
    pub(super) fn new(protect: &'a str, released: &[Released<'a>], linking: Linking) -> Option<AttributeTables<'a>> {
        let all = AllContents::new(protect, released, linking);
        let says = |table: &Released<'a>| table.classes.sensitive(protect).is_some() || is_beside(table, protect);
        let says_it = |(table, _): &(&Released<'a>, usize)| says(table);
        // A table that lacks the attribute says something of it where its rows can be linked.
        let source = |table: &Released<'a>| table.classes.rows + table.suppressed;
        let sources: Vec<u64> = released.iter().filter(|table| says(table)).map(source).collect();
        let linked = |(table, at): &(&Released<'a>, usize)| {
            let is_of_source = table.part == Part::List || sources.contains(&source(table));
            linking == Linking::Columns && !all.of_table[*at].columns.is_empty() && is_of_source
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

    /// The records of people, where their list has every column by which rows are compared;
    /// `bucket` is that of a row of the list in a table, where it can be in no other.
    pub(super) fn records_of(&self, people: &Table, bucket: impl Fn(usize, usize) -> Option<u32>) -> Option<Vec<u32>> {
        let table_of =
            |name: &String| self.tables.iter().position(|table| table.group.is_some_and(|group| group.name == name));
        let mut columns = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            columns.push(match people.column(name) {
                Some(column) => Ok(column),
                None => Err(table_of(name)?),
            });
        }
        let mut contents = self.contents.borrow_mut();
        let mut labels: Vec<Vec<u32>> = Vec::with_capacity(columns.len());
        for (column, labels_of) in columns.iter().zip(&mut contents.labels) {
            labels.push(match column {
                Ok(column) => {
                    let codes = 0..column.domain.cardinality() as u32;
                    codes.map(|code| labels_of.known(&column.domain.text(code))).collect()
                }
                Err(table) => {
                    let numbers = self.tables[*table].group.map_or(&[][..], |group| group.numbers);
                    numbers.iter().map(|number| labels_of.value(&number.to_string())).collect()
                }
            });
        }
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut known: Vec<Vec<u32>> = Vec::new();
        let mut of_row = Vec::with_capacity(people.rows);
        for row in 0..people.rows {
            let label = |(column, labels): (&Result<&Column, usize>, &Vec<u32>)| match column {
                Ok(column) => Some(labels[column.codes.get(row) as usize]),
                Err(table) => labels.get(bucket(*table, row)? as usize).copied(),
            };
            let own: Vec<u32> = columns.iter().zip(&labels).map(label).collect::<Option<_>>()?;
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

    /// Whether a label can be of a person whose true value is known.
    pub(super) fn can_be(&self, label: u32, truth: &str) -> bool {
        let labels = &mut self.contents.borrow_mut().labels[0];
        let truth = labels.known(truth);
        labels.meet(label, truth).is_some()
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
