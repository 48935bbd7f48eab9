//! Counts and flags of one vector in one round: what rows there are, beside whether any custodian
//! objects.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::{OpenedKind, Opens};
use crate::secret::Private;
use crate::wire::words_as_bytes;

/// The sums of the custodians' counts, and behind them for every flag whether any is raised.
#[derive(Debug)]
pub struct CountTally {
    words: Option<Private>,
    bits: u8,
    flags: usize,
}

impl CountTally {
    /// Every total of a count is known to lie below 2^`bits`.
    pub fn new(counts: &[u64], bits: u8, flags: &[bool]) -> CountTally {
        let raised = flags.iter().map(|flag| u64::from(*flag));
        CountTally { words: Some(Private(counts.iter().copied().chain(raised).collect())), bits, flags: flags.len() }
    }
}

impl Inquiry for CountTally {
    /// The totals, and behind them 1 for each flag that is raised and 0 for the others.
    type Output = Vec<u64>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Totals, OpenedKind::Objections]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        let Some(words) = self.words.take() else { return Turn::Done(answer.to_vec()) };
        let opens = |kind, words| Opens { kind, about: "counts and flags".into(), words };
        let opens =
            vec![opens(OpenedKind::Totals, words.0.len() - self.flags), opens(OpenedKind::Objections, self.flags)];
        let operation = Operation::Tally { bits: self.bits, compared: 0, flags: self.flags };
        Turn::Ask(self, Ask { operation, words: words.0.clone(), opens, thresholds: Vec::new() })
    }

    fn shared(output: &Vec<u64>) -> Vec<u8> {
        words_as_bytes(output)
    }
}
