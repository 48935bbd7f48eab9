//! A table: named columns of codes over their domains.

use crate::{Codes, Domain};

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

/// Columns of equal length. `header` names every column of the source in order, also those that were not read.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
    pub header: Vec<String>,
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// A small table from texts, for examples and tests: the kinds are inferred, an empty text is missing.
    pub fn from_texts(header: &[&str], rows: &[Vec<&str>]) -> Table {
        let columns = header
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let mut distinct: Vec<&str> =
                    rows.iter().map(|row| row[index]).filter(|text| !text.is_empty()).collect();
                distinct.sort_unstable();
                distinct.dedup();
                let missing = rows.iter().any(|row| row[index].is_empty());
                let (domain, ranks) = Domain::from_texts(&distinct, missing, None).expect("an inferred kind fits");
                let code = |text: &str| match distinct.binary_search(&text) {
                    Ok(position) => ranks[position],
                    Err(_) => domain.missing_code().expect("only an empty text is not among the distinct ones"),
                };
                let codes = Codes::from_iter(domain.cardinality(), rows.iter().map(|row| code(row[index])));
                Column { name: (*name).to_owned(), domain, codes }
            })
            .collect();
        Table { columns, rows: rows.len(), header: header.iter().map(|name| (*name).to_owned()).collect() }
    }
}
