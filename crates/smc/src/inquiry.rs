//! A computation as a conversation: an inquiry asks for sums, comparisons, largest values or
//! objections over all custodians, one vector at a time, and decides from the answers what to ask
//! next.
//!
//! An inquiry knows nothing of keys, rings or messages; a profile answers it. All custodians run
//! the same inquiry over their own data, and since the next ask depends on nothing but opened
//! values, they stay in step.
//!
//! **At least.** Most decisions need no total, only whether it reaches a threshold. Then an inquiry
//! asks for just that, and learns nothing else, so that a profile that opens bits alone could
//! answer it. Both profiles of today open the total and say so in the ledger.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::fault::Fault;
use crate::ledger::{OpenedKind, Opens};
use crate::limits::RunLimits;
use crate::message::WORDS_MAX;

pub trait Inquiry: Sized {
    type Output;

    /// The kinds of values this inquiry can open: what custodians agree to before it starts.
    fn may_open(&self) -> Vec<OpenedKind>;

    /// The first ask (`answer` is empty), or the one that follows from the answer to the last.
    fn next(self, answer: &[u64]) -> Turn<Self>;

    /// The part of an output that all custodians have in common, as bytes: compared before a run
    /// concludes.
    fn shared(output: &Self::Output) -> Vec<u8>;
}

#[derive(Debug)]
pub enum Turn<I: Inquiry> {
    Ask(I, Ask),
    Done(I::Output),
    /// An answer that no rows add up to, and what is wrong with it.
    Impossible(&'static str),
    /// An agreed bound would be exceeded.
    Exceeds {
        what: &'static str,
        found: u64,
        max: u64,
    },
}

/// The thresholds of a total, ascending. Many words have the same ones.
pub type Thresholds = Arc<[u64]>;

/// One vector, requested of all custodians. `words` is this custodian's own part and never printed;
/// `opens` says of every word what it opens.
pub struct Ask {
    pub operation: Operation,
    pub words: Vec<u64>,
    pub opens: Vec<Opens>,
    /// For each compared word of a tally its thresholds.
    pub thresholds: Vec<Thresholds>,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("operation", &self.operation)
            .field("words", &self.words.len())
            .field("opens", &self.opens)
            .finish_non_exhaustive()
    }
}

impl Ask {
    /// A vector that opens values of one kind.
    pub fn one(operation: Operation, words: Vec<u64>, kind: OpenedKind, about: &'static str) -> Ask {
        let opens = vec![Opens { kind, about: about.into(), words: words.len() }];
        Ask { operation, words, opens, thresholds: Vec::new() }
    }

    /// Refuses what was not announced, exceeds a bound, or is not described word for word.
    pub(crate) fn check(&self, announced: &[OpenedKind], limits: &RunLimits) -> Result<(), Fault> {
        if let Some(opens) = self.opens.iter().find(|opens| !announced.contains(&opens.kind)) {
            return Err(Fault::NotAnnounced(opens.kind));
        }
        let max = limits.words_max.min(WORDS_MAX as u64);
        if self.words.len() as u64 > max {
            return Err(Fault::Limit { what: "words in one vector", found: self.words.len() as u64, max });
        }
        let layout = self.operation.layout(self.words.len()).ok_or(Fault::Internal("more flags than words"))?;
        if let Operation::Count { bits } | Operation::Tally { bits, .. } = self.operation {
            let beyond = |word: &u64| u64::BITS - word.leading_zeros() > u32::from(bits);
            if !(1..=64).contains(&bits) || self.words[..layout.flags.start].iter().any(beyond) {
                return Err(Fault::Internal("a count beyond what was said to be its largest"));
            }
        }
        if self.thresholds.len() != layout.compared.len() {
            return Err(Fault::Internal("a comparison without thresholds"));
        }
        let mut end = 0;
        for opens in &self.opens {
            let begin = end;
            end += opens.words;
            let crosses = |border: usize| begin < border && border < end;
            if crosses(layout.compared.start) || crosses(layout.compared.end) {
                return Err(Fault::Internal("words of two sorts described as one"));
            }
        }
        if end == self.words.len() { Ok(()) } else { Err(Fault::Internal("words that open nothing")) }
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
    /// In one round: counts as by `Count`; behind them `compared` words, of which the answer is how
    /// many of their thresholds the total reaches; behind these `flags` words as by `Any`.
    Tally { bits: u8, compared: usize, flags: usize },
}

/// Which words of a vector are what: those before `compared` are counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) compared: Range<usize>,
    pub(crate) flags: Range<usize>,
}

impl Operation {
    /// `None` where the operation needs more words.
    pub(crate) fn layout(self, words: usize) -> Option<Layout> {
        let (compared, flags) = match self {
            Operation::Any => (0, words),
            Operation::Tally { compared, flags, .. } => (compared, flags),
            Operation::Sum | Operation::Count { .. } | Operation::Max { .. } => (0, 0),
        };
        let flags_from = words.checked_sub(flags)?;
        let compared_from = flags_from.checked_sub(compared)?;
        Some(Layout { compared: compared_from..flags_from, flags: flags_from..words })
    }
}

impl Layout {
    /// The answer that the inquiry receives.
    pub(crate) fn answer(&self, mut opened: Vec<u64>, thresholds: &[Thresholds]) -> Vec<u64> {
        for (total, thresholds) in opened[self.compared.clone()].iter_mut().zip(thresholds) {
            *total = thresholds.iter().filter(|threshold| *total >= **threshold).count() as u64;
        }
        opened
    }
}
