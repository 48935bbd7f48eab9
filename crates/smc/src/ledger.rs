//! The leak ledger: every value that a run opens, as a typed entry; and before it starts, the kinds
//! of values that it can open.
//!
//! An inquiry announces its kinds ([`crate::Inquiry::may_open`]); a run refuses to open a value of
//! any other kind. So the list that custodians agree on beforehand is a promise that the code
//! keeps, not a description that may age.
//!
//! An entry names what it is about: the part of the rows, the attribute, and where only a
//! comparison was asked for, the thresholds. Both profiles answer a comparison by opening the
//! total; the entry says so.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::message::Digest;

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
    /// Whether any custodian has each value in a group.
    Presence,
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
    pub const ALL: [Kind; 14] = [
        Kind::Totals,
        Kind::Largest,
        Kind::Digits,
        Kind::CountsAtProbe,
        Kind::Sizes,
        Kind::Histograms,
        Kind::Presence,
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
            Kind::Presence => "whether any custodian has each value in a group",
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

/// What values are about, in the numbers of whoever asks: nothing private.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct About {
    pub what: &'static str,
    /// The part of the rows; the whole is 0.
    pub part: Option<u64>,
    pub attribute: Option<u32>,
}

impl From<&'static str> for About {
    fn from(what: &'static str) -> About {
        About { what, part: None, attribute: None }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        self.part.map_or(Ok(()), |part| write!(f, ", part {part}"))?;
        self.attribute.map_or(Ok(()), |attribute| write!(f, ", attribute {attribute}"))
    }
}

/// What some words of an ask will open: their kind, and what they are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opens {
    pub kind: Kind,
    pub about: About,
    pub words: usize,
}

/// What was opened in one round, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub round: u32,
    pub kind: Kind,
    pub about: About,
    /// Where it was only asked whether totals reach thresholds: the thresholds of each value. Empty
    /// where the values themselves were asked for.
    pub at_least: Vec<Vec<u64>>,
    /// What opened: the totals, also where only a comparison was asked for.
    pub values: Vec<u64>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}: {} ({})", self.round, self.kind, self.about)?;
        if !self.at_least.is_empty() {
            write!(f, ", asked whether at least {:?}, answered by opening the totals", self.at_least)?;
        }
        write!(f, ": {:?}", self.values)
    }
}

/// Everything a run has opened to one custodian, in order. But for what neighbors in the ring pass
/// on, it is the same for all custodians of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What all custodians have seen.
    pub fn shared(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind != Kind::PassedOn)
    }

    /// Over what all custodians have seen: equal for all of a run.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow ledger 1");
        let list = |hash: &mut Sha256, numbers: &[u64]| {
            hash.update((numbers.len() as u64).to_le_bytes());
            numbers.iter().for_each(|number| hash.update(number.to_le_bytes()));
        };
        for entry in self.shared() {
            hash.update([entry.kind as u8]);
            hash.update((entry.about.what.len() as u64).to_le_bytes());
            hash.update(entry.about.what);
            // 0 is nothing, so that every number has a place of its own.
            let number = |number: Option<u64>| number.map_or(0, |number| number.wrapping_add(1)).to_le_bytes();
            hash.update(number(entry.about.part));
            hash.update(number(entry.about.attribute.map(u64::from)));
            hash.update((entry.at_least.len() as u64).to_le_bytes());
            entry.at_least.iter().for_each(|thresholds| list(&mut hash, thresholds));
            list(&mut hash, &entry.values);
        }
        hash.finalize().into()
    }

    pub(crate) fn record(&mut self, round: u32, kind: Kind, about: impl Into<About>, values: Vec<u64>) {
        self.entries.push(Entry { round, kind, about: about.into(), at_least: Vec::new(), values });
    }

    /// The totals of an ask, part by part; `compared` says which words have thresholds.
    pub(crate) fn record_all(
        &mut self,
        round: u32,
        opens: Vec<Opens>,
        values: &[u64],
        compared: std::ops::Range<usize>,
        thresholds: &[Vec<u64>],
    ) {
        let mut begin = 0;
        for Opens { kind, about, words } in opens {
            let end = (begin + words).min(values.len());
            let at_least = if compared.contains(&begin) {
                thresholds[begin - compared.start..(end - compared.start).min(thresholds.len())].to_vec()
            } else {
                Vec::new()
            };
            self.entries.push(Entry { round, kind, about, at_least, values: values[begin..end].to_vec() });
            begin = end;
        }
    }

    /// What another machine opened as a part of this run.
    pub(crate) fn extend(&mut self, entries: Vec<Entry>) {
        self.entries.extend(entries);
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
