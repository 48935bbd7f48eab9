//! The request of one part to all custodians in one round: counts, comparisons with thresholds, and
//! flags; and the answers, part by part.

use hedgerow_smc::{About, Ask, OpenedKind, Opens, Operation, Thresholds};

/// Our words of one round, in the order of the parts' requests.
#[derive(Default)]
pub(super) struct Request {
    counts: Words,
    compared: Words,
    thresholds: Vec<Thresholds>,
    flags: Words,
}

#[derive(Default)]
struct Words {
    opens: Vec<Opens>,
    words: Vec<u64>,
}

impl Words {
    fn push(&mut self, kind: OpenedKind, about: About, words: impl IntoIterator<Item = u64>) {
        let before = self.words.len();
        self.words.extend(words);
        let added = self.words.len() - before;
        match self.opens.last_mut() {
            Some(last) if last.kind == kind && last.about == about => last.words += added,
            _ if added > 0 => self.opens.push(Opens { kind, about, words: added }),
            _ => {}
        }
    }
}

/// The number of words of each sort that are expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RequestedWords {
    pub(super) counts: usize,
    pub(super) compared: usize,
    pub(super) flags: usize,
}

impl RequestedWords {
    /// The words requested since.
    pub(super) fn since(self, before: RequestedWords) -> RequestedWords {
        RequestedWords {
            counts: self.counts - before.counts,
            compared: self.compared - before.compared,
            flags: self.flags - before.flags,
        }
    }

    pub(super) fn words(self) -> usize {
        self.counts + self.compared + self.flags
    }
}

impl Request {
    /// Totals that open as they are.
    pub(super) fn count(&mut self, kind: OpenedKind, about: About, words: impl IntoIterator<Item = u64>) {
        self.counts.push(kind, about, words);
    }

    /// The number of thresholds that the total of a word reaches.
    pub(super) fn compare(&mut self, kind: OpenedKind, about: About, word: u64, thresholds: &Thresholds) {
        self.compared.push(kind, about, [word]);
        self.thresholds.push(Thresholds::clone(thresholds));
    }

    /// Whether any flag is raised.
    pub(super) fn any(&mut self, kind: OpenedKind, about: About, flags: impl IntoIterator<Item = bool>) {
        self.flags.push(kind, about, flags.into_iter().map(u64::from));
    }

    pub(super) fn requested(&self) -> RequestedWords {
        RequestedWords {
            counts: self.counts.words.len(),
            compared: self.compared.words.len(),
            flags: self.flags.words.len(),
        }
    }

    /// All of it in one vector. Every total lies below 2^`bits`.
    pub(super) fn ask(self, bits: u8) -> Ask {
        let RequestedWords { compared, flags, .. } = self.requested();
        let opens = [self.counts.opens, self.compared.opens, self.flags.opens].concat();
        let words = [self.counts.words, self.compared.words, self.flags.words].concat();
        Ask { operation: Operation::Tally { bits, compared, flags }, words, opens, thresholds: self.thresholds }
    }
}

/// The answer to a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestAnswer<'a> {
    counts: &'a [u64],
    /// The number of thresholds reached.
    compared: &'a [u64],
    flags: &'a [u64],
}

impl<'a> RequestAnswer<'a> {
    pub(super) fn new(answer: &'a [u64], requested: RequestedWords) -> RequestAnswer<'a> {
        let (counts, rest) = answer.split_at(requested.counts.min(answer.len()));
        let (compared, flags) = rest.split_at(requested.compared.min(rest.len()));
        RequestAnswer { counts, compared, flags }
    }

    /// The answer to the next part.
    pub(super) fn take(&mut self, requested: RequestedWords) -> RequestAnswer<'a> {
        let split = |words: &mut &'a [u64], count: usize| {
            let (taken, rest) = words.split_at(count.min(words.len()));
            *words = rest;
            taken
        };
        RequestAnswer {
            counts: split(&mut self.counts, requested.counts),
            compared: split(&mut self.compared, requested.compared),
            flags: split(&mut self.flags, requested.flags),
        }
    }

    pub(super) fn counts(&mut self, count: usize) -> &'a [u64] {
        self.take(RequestedWords { counts: count, ..RequestedWords::default() }).counts
    }

    /// The number of thresholds that the next total reaches.
    pub(super) fn reached(&mut self) -> u64 {
        self.take(RequestedWords { compared: 1, ..RequestedWords::default() }).compared.first().copied().unwrap_or(0)
    }

    /// Whether the next flag is raised.
    pub(super) fn raised(&mut self) -> bool {
        self.take(RequestedWords { flags: 1, ..RequestedWords::default() }).flags.first().is_some_and(|flag| *flag != 0)
    }

    pub(super) fn flags(self) -> &'a [u64] {
        self.flags
    }
}
