//! The profile of a column: the number of values, of missing ones, and how evenly they are spread.
//! No value of the data itself is kept, so that a profile may be printed.

use hedgerow_table::{Column, Domain, Kind, Values};

use super::described::Described;
use crate::Role;

/// One line of the table that `init` prints.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    /// The column.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// All rows.
    pub rows: u64,
    /// Rows without a value.
    pub missing: u64,
    /// Different values, the missing one not counted.
    pub distinct: u64,
    /// The share of rows whose value no other row has.
    pub unique_share: f64,
    /// The share of rows with the most frequent value.
    pub most_frequent_share: f64,
    /// In bits, over the values present.
    pub entropy: f64,
    /// In characters, over the values present.
    pub length_min: usize,
    /// In characters, over the values present.
    pub length_max: usize,
    /// The proposed role; `None` for a column that the proposal omits.
    pub role: Option<Role>,
    /// Why, in one sentence.
    pub reason: String,
    /// How it would be generalized, in a few words; empty when it would not.
    pub hierarchy: String,
}

/// A column and what was counted in it once.
pub(super) struct Facts<'t> {
    pub(super) column: &'t Column,
    /// Rows per code; the missing one, when there is one, is last.
    pub(super) counts: Vec<u64>,
    pub(super) rows: u64,
    pub(super) missing: u64,
    /// Different values, the missing one not counted.
    pub(super) distinct: u64,
    /// Values that occur once.
    pub(super) once: u64,
    /// Rows with the most frequent value present.
    pub(super) most: u64,
    pub(super) length_min: usize,
    pub(super) length_max: usize,
    /// Mean length of the different values, in characters.
    pub(super) length_mean: f64,
    /// Its description in a data dictionary.
    pub(super) described: Option<&'t Described>,
}

impl<'t> Facts<'t> {
    pub(super) fn described(mut self, described: Option<&'t Described>) -> Facts<'t> {
        self.described = described;
        self
    }

    /// Whether whole numbers stand for what a dictionary names.
    pub(super) fn has_codes(&self) -> bool {
        self.kind() == Kind::Integer && self.described.is_some_and(|described| !described.values.is_empty())
    }

    pub(super) fn of(column: &'t Column) -> Facts<'t> {
        let counts = column.counts();
        let domain = &column.domain;
        let present = &counts[..domain.present()];
        let missing = domain.missing_code().map_or(0, |code| counts[code as usize]);
        let (mut length_min, mut length_max, mut length_sum) = (usize::MAX, 0, 0);
        for code in 0..domain.present() as u32 {
            let length = domain.text(code).chars().count();
            length_min = length_min.min(length);
            length_max = length_max.max(length);
            length_sum += length;
        }
        Facts {
            column,
            rows: column.codes.len() as u64,
            missing,
            distinct: domain.present() as u64,
            once: present.iter().filter(|count| **count == 1).count() as u64,
            most: present.iter().copied().max().unwrap_or(0),
            length_min: if present.is_empty() { 0 } else { length_min },
            length_max,
            length_mean: if present.is_empty() { 0.0 } else { length_sum as f64 / present.len() as f64 },
            counts,
            described: None,
        }
    }

    pub(super) fn domain(&self) -> &'t Domain {
        &self.column.domain
    }

    pub(super) fn kind(&self) -> Kind {
        self.column.domain.kind()
    }

    /// Rows with a value.
    pub(super) fn present_rows(&self) -> u64 {
        self.rows - self.missing
    }

    /// Rows per value present, in the order of the values.
    pub(super) fn present_counts(&self) -> &[u64] {
        &self.counts[..self.domain().present()]
    }

    /// Different values per row that has one: 1 when no two rows agree.
    pub(super) fn distinct_share(&self) -> f64 {
        share(self.distinct, self.present_rows())
    }

    /// The share of all rows with the most frequent value, the missing one included.
    pub(super) fn most_share(&self) -> f64 {
        share(self.most.max(self.missing), self.rows)
    }

    /// Values that a model distinguishes: the missing one is one of them.
    pub(super) fn cardinality(&self) -> u64 {
        self.counts.iter().filter(|count| **count > 0).count() as u64
    }

    fn entropy(&self) -> f64 {
        let total = self.present_rows() as f64;
        let bits = |count: &u64| match *count {
            0 => 0.0,
            count => -(count as f64 / total) * (count as f64 / total).log2(),
        };
        self.present_counts().iter().map(bits).sum::<f64>().max(0.0)
    }

    pub(super) fn profile(&self, role: Option<Role>, reason: &str, hierarchy: &str) -> ColumnProfile {
        ColumnProfile {
            name: self.column.name.clone(),
            kind: self.kind(),
            rows: self.rows,
            missing: self.missing,
            distinct: self.distinct,
            unique_share: share(self.once, self.rows),
            most_frequent_share: self.most_share(),
            entropy: self.entropy(),
            length_min: self.length_min,
            length_max: self.length_max,
            role,
            reason: reason.to_owned(),
            hierarchy: hierarchy.to_owned(),
        }
    }
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The values present, as texts, in the order of the domain.
pub(super) fn texts_of(domain: &Domain) -> Vec<String> {
    match domain.values() {
        Values::Category(values) => values.iter().map(|value| value.to_string()).collect(),
        _ => (0..domain.present() as u32).map(|code| domain.text(code)).collect(),
    }
}
