//! The columns of a released table, and the order of its rows.

use std::borrow::Cow;

use hedgerow_table::{Codes, Column, Domain, Kind};
use rand::{Rng, RngExt};

/// One released column.
#[derive(Debug)]
pub struct ReleasedColumn<'a> {
    pub name: &'a str,
    pub codes: Cow<'a, Codes>,
    pub domain: Cow<'a, Domain>,
    /// A category once its values are generalized; else the column's own kind.
    pub kind: Kind,
    /// For every code the text that stands for it; empty where that is what its domain says.
    pub texts: Vec<String>,
}

impl<'a> ReleasedColumn<'a> {
    /// A column whose values are released as they are.
    pub fn as_it_is(column: &'a Column) -> ReleasedColumn<'a> {
        let Column { name, domain, codes } = column;
        let texts = (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect();
        ReleasedColumn { name, codes: Cow::Borrowed(codes), domain: Cow::Borrowed(domain), kind: domain.kind(), texts }
    }

    /// How many codes there are.
    pub fn values(&self) -> usize {
        if self.texts.is_empty() { self.domain.cardinality() } else { self.texts.len() }
    }

    pub fn text(&self, code: usize) -> Cow<'_, str> {
        match self.texts.get(code) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.domain.text(code as u32)),
        }
    }
}

/// Into an order drawn uniformly.
pub fn shuffle(rows: &mut [u32], rng: &mut impl Rng) {
    for last in (1..rows.len()).rev() {
        rows.swap(last, rng.random_range(0..=last as u32) as usize);
    }
}
