//! The union of rows that have few possible contents: for every class and every sensitive value,
//! how many rows there are over all custodians.
//!
//! Rows of one class differ in nothing but the sensitive value once they are generalized, so their
//! union *is* these counts: the vector of (class × value) is summed, and no row travels. *What
//! opens* is the union and nothing else; who brought which row cannot be distinguished from it.
//! Rows with attributes that have too many contents to count go through the shuffle instead.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::OpenedKind;
use crate::secret::Private;

#[derive(Debug)]
pub struct UnionCounts {
    counts: Option<Private>,
    values: usize,
    operation: Operation,
}

impl UnionCounts {
    /// From (class, value) of each of this custodian's rows. Rows outside of `classes` × `values`
    /// are not counted: the caller's classes and values are those that all custodians agreed on.
    pub fn new(rows: impl IntoIterator<Item = (usize, usize)>, classes: usize, values: usize) -> UnionCounts {
        let mut counts = vec![0; classes * values];
        for (class, value) in rows {
            if class < classes && value < values {
                counts[class * values + value] += 1;
            }
        }
        UnionCounts { counts: Some(Private(counts)), values, operation: Operation::Sum }
    }

    /// The same where fewer than 2^`bits` rows exist, so that no count can reach it: several counts
    /// share a masked word.
    pub fn below(self, bits: u8) -> UnionCounts {
        UnionCounts { operation: Operation::Count { bits }, ..self }
    }
}

impl Inquiry for UnionCounts {
    /// (class, value, count) where there are rows, in order.
    type Output = Vec<(usize, usize, u64)>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Histograms]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        if let Some(words) = self.counts.take() {
            let about = "rows by class and sensitive value";
            let operation = self.operation;
            return Turn::Ask(self, Ask::one(operation, words.0.clone(), OpenedKind::Histograms, about));
        }
        let cell =
            |(place, count): (usize, &u64)| (*count > 0).then(|| (place / self.values, place % self.values, *count));
        Turn::Done(answer.iter().enumerate().filter_map(cell).collect())
    }

    fn shared(output: &Self::Output) -> Vec<u8> {
        let words: Vec<u64> =
            output.iter().flat_map(|(class, value, count)| [*class as u64, *value as u64, *count]).collect();
        crate::wire::words_as_bytes(&words)
    }
}
