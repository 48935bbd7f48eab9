//! Sums of whole vectors: the plainest inquiry. A histogram is a vector with one word per value.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::OpenedKind;
use crate::secret::Private;
use crate::wire::words_as_bytes;

/// The word-by-word sum of the custodians' vectors, modulo 2⁶⁴.
#[derive(Debug)]
pub struct Sums {
    words: Option<Private>,
    operation: Operation,
}

impl Sums {
    pub fn new(words: Vec<u64>) -> Sums {
        Sums { words: Some(Private(words)), operation: Operation::Sum }
    }

    /// Counters whose totals are known to lie below 2^`bits`: several share a masked word.
    pub fn of_counters(words: Vec<u64>, bits: u8) -> Sums {
        Sums { words: Some(Private(words)), operation: Operation::Count { bits } }
    }
}

impl Inquiry for Sums {
    type Output = Vec<u64>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Totals]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.words.take() {
            Some(words) => {
                let operation = self.operation;
                Turn::Ask(self, Ask::one(operation, words.0.clone(), OpenedKind::Totals, "sums"))
            }
            None => Turn::Done(answer.to_vec()),
        }
    }

    fn shared(output: &Vec<u64>) -> Vec<u8> {
        words_as_bytes(output)
    }
}
