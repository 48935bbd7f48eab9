//! The leak ledger: every value that a run opens, as a typed entry; and before it starts, the kinds
//! of values that it can open.
//!
//! An inquiry announces its kinds ([`crate::Inquiry::may_open`]); a run refuses to open a value of
//! any other kind. So the list that custodians agree on beforehand is a promise that the code
//! keeps, not a description that may age.
//!
//! An entry names what it is about: the parts of the rows, the attribute, and where only a
//! comparison was asked for, the thresholds. Both profiles answer a comparison by opening the
//! total; the entry says so. What opens of many parts in the same way is one entry: a large run
//! opens tens of millions of values, and would write more about them than they are.

use std::collections::HashMap;
use std::fmt;

use crate::inquiry::Thresholds;
use crate::long;
use crate::message::Digest;

/// A kind of value that becomes known to all custodians.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OpenedKind {
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
    /// The rows of a group, with at most a stated number counted of each custodian's.
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

impl OpenedKind {
    /// All of them.
    pub const ALL: [OpenedKind; 14] = [
        OpenedKind::Totals,
        OpenedKind::Largest,
        OpenedKind::Digits,
        OpenedKind::CountsAtProbe,
        OpenedKind::Sizes,
        OpenedKind::Histograms,
        OpenedKind::Presence,
        OpenedKind::Sites,
        OpenedKind::Holders,
        OpenedKind::ClippedSizes,
        OpenedKind::Objections,
        OpenedKind::BatchSize,
        OpenedKind::Rows,
        OpenedKind::PassedOn,
    ];

    /// The kind in words, as a ledger file names it.
    pub fn describe(self) -> &'static str {
        match self {
            OpenedKind::Totals => "totals over all custodians",
            OpenedKind::Largest => "the largest value that any custodian has",
            OpenedKind::Digits => "digits of a largest value, as they are found",
            OpenedKind::CountsAtProbe => "how many rows of a group lie at or below a value that was probed",
            OpenedKind::Sizes => "how many rows a group has over all custodians",
            OpenedKind::Histograms => "how many rows of a group have each value, over all custodians",
            OpenedKind::Presence => "whether any custodian has each value in a group",
            OpenedKind::Sites => "how many custodians have rows in a group",
            OpenedKind::Holders => "how many custodians have each value in a group",
            OpenedKind::ClippedSizes => "how many rows a group has when of each custodian's only so many are counted",
            OpenedKind::Objections => "whether any custodian objects",
            OpenedKind::BatchSize => "the common number of rows handed in for shuffling, padding included",
            OpenedKind::Rows => "rows, without their owners",
            OpenedKind::PassedOn => "running values that neighbors pass on in the ring",
        }
    }
}

impl fmt::Display for OpenedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// The subject of values, in the numbers of the inquiry: nothing private.
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

/// The kind and the subject of some words of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opens {
    pub kind: OpenedKind,
    pub about: About,
    pub words: usize,
}

/// The values opened in one round, of one kind, about one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedValues {
    /// The round, from 0.
    pub round: u32,
    /// The kind of the values.
    pub kind: OpenedKind,
    /// The subject of the values, in words.
    pub what: &'static str,
    /// The attribute that they are about, by its place in the policy.
    pub attribute: Option<u32>,
    /// The parts of the rows, the whole being 0. Of each there are as many values. Empty where
    /// values are about no part.
    pub parts: Vec<u64>,
    /// Where it was only asked whether totals reach thresholds: those of each value of a part, the
    /// same for all parts. Empty where the values themselves were asked for.
    pub at_least: Vec<Vec<u64>>,
    /// The opened values, part after part: the totals, also where only a comparison was requested.
    pub values: Vec<u64>,
}

impl OpenedValues {
    /// The values of each part.
    pub fn by_part(&self) -> impl Iterator<Item = (Option<u64>, &[u64])> {
        let each = (self.values.len() / self.parts.len().max(1)).max(1);
        let parts = self.parts.iter().copied().map(Some).chain(std::iter::repeat(None));
        parts.zip(self.values.chunks(each))
    }

    /// Whether the values of one more part belong here.
    fn takes(&self, kind: OpenedKind, about: &About, words: usize, thresholds: &[Thresholds]) -> bool {
        (self.kind, self.what, self.attribute) == (kind, about.what, about.attribute)
            && self.values.len() == self.parts.len() * words
            && self.at_least.len() == thresholds.len()
            && self.at_least.iter().zip(thresholds).all(|(one, other)| one[..] == other[..])
    }
}

impl fmt::Display for OpenedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}: {} ({}", self.round, self.kind, self.what)?;
        self.attribute.map_or(Ok(()), |attribute| write!(f, ", attribute {attribute}"))?;
        match self.parts.as_slice() {
            [] => {}
            [part] => write!(f, ", part {part}")?,
            parts => write!(f, ", parts {parts:?}")?,
        }
        f.write_str(")")?;
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
    entries: Vec<OpenedValues>,
}

impl Ledger {
    /// Every entry, in the order in which values were opened.
    pub fn entries(&self) -> &[OpenedValues] {
        &self.entries
    }

    /// The digest of what all custodians have seen.
    pub fn shared(&self) -> impl Iterator<Item = &OpenedValues> {
        self.entries.iter().filter(|entry| entry.kind != OpenedKind::PassedOn)
    }

    /// Over what all custodians have seen: equal for all of a run.
    pub fn digest(&self) -> Digest {
        let mut hash = long::hasher();
        hash.bytes(b"hedgerow ledger 2");
        for entry in self.shared() {
            hash.u8(entry.kind as u8);
            hash.u64(entry.what.len() as u64);
            hash.bytes(entry.what.as_bytes());
            // 0 is nothing, so that every number has a place of its own.
            hash.u64(entry.attribute.map_or(0, |attribute| u64::from(attribute) + 1));
            hash.u64(entry.parts.len() as u64);
            hash.plain_words(&entry.parts);
            hash.u64(entry.at_least.len() as u64);
            for thresholds in &entry.at_least {
                hash.u64(thresholds.len() as u64);
                hash.plain_words(thresholds);
            }
            hash.u64(entry.values.len() as u64);
            hash.plain_words(&entry.values);
        }
        hash.digest()
    }

    pub(crate) fn record(&mut self, round: u32, kind: OpenedKind, what: &'static str, values: Vec<u64>) {
        let (parts, at_least) = (Vec::new(), Vec::new());
        self.entries.push(OpenedValues { round, kind, what, attribute: None, parts, at_least, values });
    }

    /// The totals of an ask; `compared` says which words have thresholds. Parts of which the same
    /// opened share an entry, in the order in which they asked.
    pub(crate) fn record_all(
        &mut self,
        round: u32,
        opens: &[Opens],
        values: &[u64],
        compared: std::ops::Range<usize>,
        thresholds: &[Thresholds],
    ) {
        // Entries that a part may share, by what is fast to look up; mostly one.
        let mut shared: HashMap<(OpenedKind, Option<u32>, usize), Vec<usize>> = HashMap::new();
        let mut begin = 0;
        for Opens { kind, about, words } in opens {
            let end = (begin + words).min(values.len());
            let thresholds = match compared.contains(&begin) {
                true => &thresholds[begin - compared.start..(end - compared.start).min(thresholds.len())],
                false => &[],
            };
            let opened = &values[begin..end];
            begin = end;
            if let Some(part) = about.part {
                let candidates = shared.entry((*kind, about.attribute, opened.len())).or_default();
                let takes = |place: &&usize| self.entries[**place].takes(*kind, about, opened.len(), thresholds);
                if let Some(place) = candidates.iter().find(takes) {
                    let entry = &mut self.entries[*place];
                    entry.parts.push(part);
                    entry.values.extend_from_slice(opened);
                    continue;
                }
                candidates.push(self.entries.len());
            }
            self.entries.push(OpenedValues {
                round,
                kind: *kind,
                what: about.what,
                attribute: about.attribute,
                parts: about.part.into_iter().collect(),
                at_least: thresholds.iter().map(|thresholds| thresholds.to_vec()).collect(),
                values: opened.to_vec(),
            });
        }
    }

    /// Adds the values that another machine opened as a part of this run.
    pub(crate) fn extend(&mut self, entries: Vec<OpenedValues>) {
        self.entries.extend(entries);
    }

    /// Adds the values that a later step of the same run opened.
    pub fn append(&mut self, later: Ledger) {
        self.entries.extend(later.entries);
    }

    /// How many values of each kind were opened.
    pub fn counts(&self) -> Vec<(OpenedKind, u64)> {
        let count = |kind| {
            let entries = self.entries.iter().filter(|entry: &&OpenedValues| entry.kind == kind);
            entries.map(|entry| entry.values.len() as u64).sum::<u64>()
        };
        OpenedKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_which_the_same_opens_share_an_entry() {
        let opens = |kind, what, part, attribute, words| Opens { kind, about: About { what, part, attribute }, words };
        let sizes = |part, words| opens(OpenedKind::Sizes, "a side", Some(part), Some(3), words);
        let all = [
            opens(OpenedKind::Totals, "alone", None, None, 1),
            opens(OpenedKind::Totals, "alone", None, None, 1),
            sizes(7, 2),
            sizes(9, 1),
            sizes(8, 2),
            opens(OpenedKind::Sizes, "another", Some(8), Some(3), 2),
            sizes(4, 2),
        ];
        let thresholds: Vec<Thresholds> =
            [5, 6, 5, 5, 6, 5, 6, 5, 7].iter().map(|threshold| Thresholds::from([*threshold])).collect();
        let mut ledger = Ledger::default();
        ledger.record_all(2, &all, &(10..21).collect::<Vec<u64>>(), 2..11, &thresholds);
        let found: Vec<(&[u64], &[u64])> =
            ledger.entries().iter().map(|entry| (entry.parts.as_slice(), entry.values.as_slice())).collect();
        let expected: [(&[u64], &[u64]); 6] = [
            (&[], &[10]),
            (&[], &[11]),
            (&[7, 8], &[12, 13, 15, 16]),
            (&[9], &[14]),
            (&[8], &[17, 18]),
            (&[4], &[19, 20]),
        ];
        assert_eq!(found, expected, "words, texts and thresholds differ");
        assert_eq!(ledger.entries()[2].at_least, [[5], [6]]);
        let by_part: Vec<_> = ledger.entries()[2].by_part().collect();
        assert_eq!(by_part, [(Some(7), &[12, 13][..]), (Some(8), &[15, 16])]);
        assert_eq!(ledger.entries()[0].by_part().collect::<Vec<_>>(), [(None, &[10][..])]);
        assert_eq!(ledger.counts(), [(OpenedKind::Totals, 2), (OpenedKind::Sizes, 9)]);
        assert!(ledger.entries()[2].to_string().contains("attribute 3, parts [7, 8]"));
    }
}
