//! The leak ledger: every value that a run opens, as a typed entry; and before it starts, the kinds
//! of values that it can open.
//!
//! An inquiry announces its kinds ([`crate::Inquiry::may_open`]); a run refuses to open a value of
//! any other kind. So the list that custodians agree on beforehand is a promise that the code
//! keeps, not a description that may age.

use std::fmt;

/// A kind of value that becomes known to all custodians.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Sums that are the answer itself.
    Totals,
    /// The largest of the custodians' values, lane by lane.
    Largest,
    /// A digit of a largest value, or whether it reaches a threshold: implied by it.
    Digits,
    /// How many rows of a group lie at or below a probe.
    CountsAtProbe,
    /// How many rows a group has.
    Sizes,
    /// How many rows of a group have each value.
    Histograms,
    /// How many custodians have rows in a group.
    Sites,
    /// How many custodians have each value in a group.
    Holders,
    /// How many rows a group has when of each custodian's only so many are counted.
    ClippedSizes,
    /// Whether any custodian objects; not who, nor how many.
    Objections,
    /// How many rows each custodian hands to a shuffle, dummy rows included: the same for all.
    BatchSize,
    /// Rows, without their owners.
    Rows,
    /// Ring only: what a neighbor passes on, seen by the next one alone.
    PassedOn,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::Totals,
        Kind::Largest,
        Kind::Digits,
        Kind::CountsAtProbe,
        Kind::Sizes,
        Kind::Histograms,
        Kind::Sites,
        Kind::Holders,
        Kind::ClippedSizes,
        Kind::Objections,
        Kind::BatchSize,
        Kind::Rows,
        Kind::PassedOn,
    ];

    pub fn describe(self) -> &'static str {
        match self {
            Kind::Totals => "totals over all custodians",
            Kind::Largest => "the largest value that any custodian has",
            Kind::Digits => "digits of a largest value, as they are found",
            Kind::CountsAtProbe => "how many rows of a group lie at or below a value that was probed",
            Kind::Sizes => "how many rows a group has over all custodians",
            Kind::Histograms => "how many rows of a group have each value, over all custodians",
            Kind::Sites => "how many custodians have rows in a group",
            Kind::Holders => "how many custodians have each value in a group",
            Kind::ClippedSizes => "how many rows a group has when of each custodian's only so many are counted",
            Kind::Objections => "whether any custodian objects",
            Kind::BatchSize => "the common number of rows handed in for shuffling, padding included",
            Kind::Rows => "rows, without their owners",
            Kind::PassedOn => "running values that neighbors pass on in the ring",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// What some words of an ask will open: their kind, and what they are about in the words of whoever
/// asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opens {
    pub kind: Kind,
    pub about: String,
    pub words: usize,
}

/// What was opened in one round, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub round: u32,
    pub kind: Kind,
    pub about: String,
    pub values: Vec<u64>,
}

/// Everything a run has opened, in order. It is the same for all custodians of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn record(&mut self, round: u32, kind: Kind, about: impl Into<String>, values: Vec<u64>) {
        self.entries.push(Entry { round, kind, about: about.into(), values });
    }

    /// The answer to an ask, part by part.
    pub(crate) fn record_all(&mut self, round: u32, opens: Vec<Opens>, mut values: &[u64]) {
        for Opens { kind, about, words } in opens {
            let (opened, rest) = values.split_at(words.min(values.len()));
            self.record(round, kind, about, opened.to_vec());
            values = rest;
        }
    }

    /// What a later run of the same undertaking opened.
    pub fn append(&mut self, later: Ledger) {
        self.entries.extend(later.entries);
    }

    /// How many values of each kind were opened.
    pub fn counts(&self) -> Vec<(Kind, u64)> {
        let count = |kind| {
            let entries = self.entries.iter().filter(|entry: &&Entry| entry.kind == kind);
            entries.map(|entry| entry.values.len() as u64).sum::<u64>()
        };
        Kind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}
