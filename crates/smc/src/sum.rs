//! Sums of whole vectors: the plainest inquiry. A histogram is a vector with one word per value.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::Kind;

/// The word-by-word sum of the custodians' vectors, modulo 2⁶⁴.
#[derive(Debug)]
pub struct Sums {
    words: Option<Vec<u64>>,
}

impl Sums {
    pub fn new(words: Vec<u64>) -> Sums {
        Sums { words: Some(words) }
    }
}

impl Inquiry for Sums {
    type Output = Vec<u64>;

    fn may_open() -> &'static [Kind] {
        &[Kind::Totals]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.words.take() {
            Some(words) => Turn::Ask(self, Ask::one(Operation::Sum, words, Kind::Totals, "sums")),
            None => Turn::Done(answer.to_vec()),
        }
    }
}
