//! Medians of many groups at once, by halving.
//!
//! The median is the smallest value v with count(≤ v) ≥ ⌈N/2⌉. Jurczyk and Xiong (TR-2008-013,
//! algorithm 4) stop when as many values lie below as above, which need not happen when values
//! repeat; this rule always ends, after ⌈log₂ domain⌉ probes, and gives a value that some row has.
//!
//! *What opens*: for every group its size, and the number of rows at or below each probe: all
//! groups are probed in the same round, so rounds grow with the logarithm of the domain and not
//! with the number of groups. The probes of a group follow from its counts, so a reader of the
//! result who knew these counts learns nothing more; but the counts themselves are more than the
//! median, and the ledger lists them.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::OpenedKind;
use crate::secret::Private;

#[derive(Debug)]
pub struct Medians {
    groups: Vec<MedianGroup>,
    sized: bool,
    /// No count exceeds it, once sizes are known.
    largest: u64,
}

#[derive(Debug)]
struct MedianGroup {
    sorted: Private,
    /// The median lies in `low..=high`.
    low: u64,
    high: u64,
    rank: u64,
}

impl MedianGroup {
    fn probe(&self) -> Option<u64> {
        (self.rank > 0 && self.low < self.high).then(|| self.low + (self.high - self.low) / 2)
    }
}

impl Medians {
    /// One group for each list of values; all values of a group lie below the `domain` beside it,
    /// which is at least 1.
    pub fn new(groups: Vec<(Vec<u64>, u64)>) -> Medians {
        let group = |(mut values, domain): (Vec<u64>, u64)| {
            values.sort_unstable();
            MedianGroup { sorted: Private(values), low: 0, high: domain.max(1) - 1, rank: 0 }
        };
        Medians { groups: groups.into_iter().map(group).collect(), sized: false, largest: 0 }
    }

    fn ask(self) -> Turn<Self> {
        let count = |group: &MedianGroup| {
            let probe = group.probe()?;
            Some(group.sorted.0.partition_point(|value| *value <= probe) as u64)
        };
        let words: Vec<u64> = self.groups.iter().filter_map(count).collect();
        if words.is_empty() {
            let median = |group: &MedianGroup| (group.rank > 0).then_some(group.low);
            return Turn::Done(self.groups.iter().map(median).collect());
        }
        let about = "rows at or below the probe, for each group that is still open";
        let bits = (u64::BITS - self.largest.leading_zeros()) as u8;
        Turn::Ask(self, Ask::one(Operation::Count { bits }, words, OpenedKind::CountsAtProbe, about))
    }
}

impl Inquiry for Medians {
    /// The median of each group; none for a group without rows.
    type Output = Vec<Option<u64>>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Sizes, OpenedKind::CountsAtProbe]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        if !self.sized && answer.is_empty() && !self.groups.is_empty() {
            let words = self.groups.iter().map(|group| group.sorted.0.len() as u64).collect();
            return Turn::Ask(self, Ask::one(Operation::Sum, words, OpenedKind::Sizes, "groups"));
        }
        if !self.sized {
            self.sized = true;
            self.largest = answer.iter().copied().max().unwrap_or(0);
            for (group, size) in self.groups.iter_mut().zip(answer) {
                group.rank = size.div_ceil(2);
            }
            return self.ask();
        }
        let open = self.groups.iter_mut().filter(|group| group.probe().is_some());
        for (group, count) in open.zip(answer) {
            let Some(probe) = group.probe() else { continue };
            if *count >= group.rank { group.high = probe } else { group.low = probe + 1 }
        }
        self.ask()
    }

    fn shared(output: &Vec<Option<u64>>) -> Vec<u8> {
        let words: Vec<u64> =
            output.iter().flat_map(|median| [u64::from(median.is_some()), median.unwrap_or(0)]).collect();
        crate::wire::words_as_bytes(&words)
    }
}
