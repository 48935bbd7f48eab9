//! A computation as a conversation: an inquiry asks for sums, largest values or objections over all
//! custodians, one vector at a time, and decides from what was opened what to ask next.
//!
//! An inquiry knows nothing of keys, rings or messages; a profile answers it. All custodians run
//! the same inquiry over their own data, and since the next ask depends on nothing but opened
//! values, they stay in step.

use crate::fault::Fault;
use crate::ledger::{Kind, Opens};
use crate::message::WORDS_MAX;

pub trait Inquiry: Sized {
    type Output;

    /// The kinds of values this inquiry can open: what custodians agree to before it starts.
    fn may_open(&self) -> Vec<Kind>;

    /// The first ask (`answer` is empty), or the one that follows from the answer to the last.
    fn next(self, answer: &[u64]) -> Turn<Self>;
}

#[derive(Debug)]
pub enum Turn<I: Inquiry> {
    Ask(I, Ask),
    Done(I::Output),
}

/// One vector, requested of all custodians. `words` is this custodian's own part; `opens` says of
/// every word what it opens.
#[derive(Debug)]
pub struct Ask {
    pub operation: Operation,
    pub words: Vec<u64>,
    pub opens: Vec<Opens>,
}

impl Ask {
    /// A vector that opens values of one kind.
    pub fn one(operation: Operation, words: Vec<u64>, kind: Kind, about: &str) -> Ask {
        let opens = vec![Opens { kind, about: about.to_owned(), words: words.len() }];
        Ask { operation, words, opens }
    }

    /// Refuses what was not announced, does not fit into a message, or is not described word for
    /// word.
    pub(crate) fn check(&self, announced: &[Kind]) -> Result<(), Fault> {
        if let Some(opens) = self.opens.iter().find(|opens| !announced.contains(&opens.kind)) {
            return Err(Fault::NotAnnounced(opens.kind));
        }
        if self.words.len() > WORDS_MAX {
            return Err(Fault::TooLarge { found: self.words.len(), max: WORDS_MAX });
        }
        let beyond = |bits: u8, counts: usize| {
            !(1..=64).contains(&bits)
                || self.words[..counts].iter().any(|word| u64::BITS - word.leading_zeros() > u32::from(bits))
        };
        let counts = match self.operation {
            Operation::Count { bits } => Some((bits, self.words.len())),
            Operation::Tally { bits, flags } => Some((bits, self.words.len().saturating_sub(flags))),
            Operation::Sum | Operation::Max { .. } | Operation::Any => None,
        };
        if let Some((bits, counts)) = counts
            && beyond(bits, counts)
        {
            return Err(Fault::Internal("a count beyond what was said to be its largest"));
        }
        let described: usize = self.opens.iter().map(|opens| opens.words).sum();
        if described == self.words.len() { Ok(()) } else { Err(Fault::Internal("words that open nothing")) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Word by word, the sum over all custodians, modulo 2⁶⁴.
    Sum,
    /// The same where every sum is known to lie below 2^`bits`, as counts of rows do: several then
    /// share a masked word.
    Count { bits: u8 },
    /// Word by word, the largest over all custodians; every word is below 2^`bits`.
    Max { bits: u8 },
    /// Word by word, 1 when any custodian's word is not 0, else 0.
    Any,
    /// Counts as by `Count`, and behind them `flags` words as by `Any`: in one round.
    Tally { bits: u8, flags: usize },
}
