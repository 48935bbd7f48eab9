//! The conversation of all custodians: which parts ask for what, together.
//!
//! First the whole: its size and, where rules look at them, the distributions of protected values.
//! Then every round asks for the next thing that each part needs, all in one vector: digits of
//! ranges, children's sizes, counts at probes, distributions, objections. No part waits for
//! another, so rounds grow with the longest way to a class and not with the number of parts.

use std::fmt;

use hedgerow_privacy::Distribution;
use hedgerow_smc::{Ask, Inquiry, Kind, Opens, Operation, Turn};
use rand::rngs::StdRng;

use super::part::Part;
use super::rules::Counts;
use super::trial::{Requested, View};
use crate::{AgreedRef, Joined, JointClass, Share};
use hedgerow_cuts::Axis;

/// The most words in one ask, but for those of the last part that it has room for; other parts wait
/// for the next.
const WORDS_AT_ONCE: usize = 1 << 20;

/// One custodian's side of a joint Mondrian.
pub struct Joint {
    agreed: AgreedRef,
    share: Share,
    random: StdRng,
    wholes: Vec<Distribution>,
    parts: Vec<Part>,
    classes: Vec<(JointClass, Vec<u32>)>,
    depth: u32,
    /// How many rows there are in all: no count exceeds it.
    rows: u64,
    waiting: Waiting,
}

#[derive(Debug)]
enum Waiting {
    Start,
    Distribution,
    WholeObjections(Counts),
    /// The first so many parts.
    Parts(usize),
}

impl Joint {
    /// `random` decides by lot who of several people that agree in everything goes where.
    pub fn new(agreed: AgreedRef, share: Share, random: StdRng) -> Joint {
        let waiting = Waiting::Start;
        Joint {
            agreed,
            share,
            random,
            wholes: Vec::new(),
            parts: Vec::new(),
            classes: Vec::new(),
            depth: 0,
            rows: 0,
            waiting,
        }
    }

    fn whole_ask(&self) -> Ask {
        let own = self.own_counts();
        let mut pieces = vec![(Kind::Sizes, vec![own.rows])];
        pieces.extend(self.agreed.summed(&own));
        ask(Operation::Sum, pieces, "all rows")
    }

    /// The counts of all our rows.
    fn own_counts(&self) -> Counts {
        let rows: Vec<u32> = (0..self.share.rows() as u32).collect();
        self.agreed.own_counts(&self.share, &rows)
    }

    fn take_whole(&self, answer: &[u64]) -> Option<Counts> {
        let (rows, rest) = answer.split_first()?;
        Some(self.agreed.read(*rows, rest).0)
    }

    /// The whole may stand: it is the first part.
    fn begin(&mut self, size: u64) {
        self.rows = size;
        let view = View { agreed: &self.agreed, share: &self.share, wholes: &self.wholes };
        let region = self.agreed.axes.iter().map(Axis::whole).collect();
        let rows = (0..self.share.rows() as u32).collect();
        let whole = Part::new(view, rows, size, region, 0);
        self.settle(vec![whole]);
    }

    /// Puts what an answer says into the parts that requested it: first all counts, then all flags.
    /// Parts that had to wait come first the next time, so that none waits for ever; children take
    /// the place of what was divided. The order is the same for all custodians.
    fn absorb(&mut self, requested: usize, answer: &[u64]) {
        let view = View { agreed: &self.agreed, share: &self.share, wholes: &self.wholes };
        let requested: Vec<Part> = self.parts.drain(..requested).collect();
        let (mut counts, mut flags) = answer.split_at(requested.iter().map(|part| part.requested().counts).sum());
        let mut next = Vec::with_capacity(requested.len());
        for mut part in requested {
            let Requested { counts: own_counts, flags: own_flags } = part.requested();
            let (own, raised);
            (own, counts) = counts.split_at(own_counts);
            (raised, flags) = flags.split_at(own_flags);
            match part.absorb(view, own, raised, &mut self.random) {
                Some(children) => next.extend(children),
                None => next.push(part),
            }
        }
        self.settle(next);
    }

    /// Parts that stay whole become classes; the others ask on.
    fn settle(&mut self, parts: Vec<Part>) {
        for part in parts {
            if part.is_class() {
                self.depth = self.depth.max(part.depth);
                let class = JointClass { region: part.released_region(&self.agreed), rows: part.ground.size };
                self.classes.push((class, part.ground.rows));
            } else {
                self.parts.push(part);
            }
        }
    }

    /// What to ask next; nothing when no part is left.
    fn next_ask(&mut self) -> Option<Ask> {
        let view = View { agreed: &self.agreed, share: &self.share, wholes: &self.wholes };
        let (mut counts, mut flags) = (Pieces::default(), Pieces::default());
        let mut requested = 0;
        for part in &mut self.parts {
            part.words(view).into_iter().for_each(|(kind, words)| counts.push(kind, words));
            let (kind, raised) = part.flags(view);
            flags.push(kind, raised);
            requested += 1;
            if counts.words + flags.words > WORDS_AT_ONCE {
                break;
            }
        }
        (requested > 0).then(|| {
            self.waiting = Waiting::Parts(requested);
            let bits = (u64::BITS - self.rows.leading_zeros()) as u8;
            let operation = Operation::Tally { bits, flags: flags.words };
            counts.pieces.append(&mut flags.pieces);
            ask(operation, counts.pieces, "parts")
        })
    }

    fn joined(self) -> Joined {
        let mut of_row = vec![0; self.share.rows()];
        let mut classes = Vec::with_capacity(self.classes.len());
        for (number, (class, rows)) in (0u32..).zip(self.classes) {
            rows.into_iter().for_each(|row| of_row[row as usize] = number);
            classes.push(class);
        }
        Joined { classes, of_row, depth: self.depth }
    }
}

impl Inquiry for Joint {
    /// `None` when even the whole, as one class, breaks a rule.
    type Output = Option<Joined>;

    fn may_open(&self) -> Vec<Kind> {
        self.agreed.may_open()
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match std::mem::replace(&mut self.waiting, Waiting::Start) {
            Waiting::Start => {
                self.waiting = Waiting::Distribution;
                let ask = self.whole_ask();
                return Turn::Ask(self, ask);
            }
            Waiting::Distribution => {
                let Some(all) = self.take_whole(answer) else { return Turn::Done(None) };
                self.wholes = self.agreed.wholes(&all);
                if all.rows == 0 || !self.agreed.holds(&all, &self.wholes) {
                    return Turn::Done(None);
                }
                if self.agreed.asks_for_objections() {
                    let fine = self.agreed.agrees(&all, &self.own_counts(), &self.wholes);
                    self.waiting = Waiting::WholeObjections(all);
                    let words = vec![(Kind::Objections, vec![u64::from(!fine)])];
                    return Turn::Ask(self, ask(Operation::Any, words, "all rows"));
                }
                self.begin(all.rows);
            }
            Waiting::WholeObjections(all) => {
                if answer.iter().any(|any| *any != 0) {
                    return Turn::Done(None);
                }
                self.begin(all.rows);
            }
            Waiting::Parts(requested) => self.absorb(requested, answer),
        }
        match self.next_ask() {
            Some(ask) => Turn::Ask(self, ask),
            None => Turn::Done(Some(self.joined())),
        }
    }
}

/// Words by kind, in the order in which parts ask for them.
#[derive(Debug, Default)]
struct Pieces {
    pieces: Vec<(Kind, Vec<u64>)>,
    words: usize,
}

impl Pieces {
    fn push(&mut self, kind: Kind, words: Vec<u64>) {
        if words.is_empty() {
            return;
        }
        self.words += words.len();
        match self.pieces.last_mut() {
            Some((last, before)) if *last == kind => before.extend(words),
            _ => self.pieces.push((kind, words)),
        }
    }
}

fn ask(operation: Operation, pieces: Vec<(Kind, Vec<u64>)>, about: &str) -> Ask {
    let opens = |(kind, words): &(Kind, Vec<u64>)| Opens { kind: *kind, about: about.to_owned(), words: words.len() };
    let opens = pieces.iter().map(opens).collect();
    Ask { operation, words: pieces.into_iter().flat_map(|(_, words)| words).collect(), opens }
}

impl fmt::Debug for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joint")
            .field("parts", &self.parts.len())
            .field("classes", &self.classes.len())
            .finish_non_exhaustive()
    }
}
