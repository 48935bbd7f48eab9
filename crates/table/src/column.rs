//! A table: named columns of codes over their domains.

use crate::read::ReadOptions;
use crate::{Codes, Domain, InputError};

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub domain: Domain,
    pub codes: Codes,
}

impl Column {
    /// The text of a cell; a missing one is empty.
    pub fn text(&self, row: usize) -> String {
        self.domain.text(self.codes.get(row))
    }

    /// How many rows carry each code of the domain.
    pub fn counts(&self) -> Vec<u64> {
        self.codes.counts(self.domain.cardinality())
    }
}

/// Columns of equal length. `header` names every column of the source in order, also those that
/// were not read.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The columns that were read.
    pub columns: Vec<Column>,
    /// Its number of rows.
    pub rows: usize,
    /// The name of every column of the source.
    pub header: Vec<String>,
    /// Warnings about the way the source was read, with hints.
    pub warnings: Vec<InputError>,
}

impl Table {
    /// The column with a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// These rows, in their order, over the same domains.
    pub fn of_rows(&self, rows: &[u32]) -> Table {
        let of_column = |column: &Column| Column {
            name: column.name.clone(),
            domain: column.domain.clone(),
            // A column that was not read has no codes.
            codes: if column.codes.is_empty() { column.codes.clone() } else { column.codes.of_rows(rows) },
        };
        Table {
            columns: self.columns.iter().map(of_column).collect(),
            rows: rows.len(),
            header: self.header.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// A small table from texts, for examples and tests: the kinds are inferred, an empty text is
    /// missing.
    ///
    /// # Panics
    ///
    /// When the texts do not form a table: uneven rows, no rows, a name twice.
    pub fn from_texts(header: &[&str], rows: &[Vec<&str>]) -> Table {
        let records = rows.iter().map(|row| row.iter().copied().map(Some));
        Table::from_records(header.iter().copied(), records, &ReadOptions::default()).expect("texts that form a table")
    }
}
