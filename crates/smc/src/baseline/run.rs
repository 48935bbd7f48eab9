//! Answers an inquiry by passes around the ring, as in TR-2008-013.
//!
//! *Sum*: the first custodian adds a random mask to its words, every other adds its own words, and the first takes the mask off again and tells all.
//! The paper's modulus m, which must exceed the sum, is 2⁶⁴ here.
//! *Largest*: several passes; in pass r, whoever has more than what came in passes on, with probability p₀·dʳ⁻¹, a random value between the two, else its own.
//! The last pass leaves out the chance, which makes the answer exact: the paper does not say so, but without it the answer may be too small.
//! *Objection*, or any other flag: a sum of 0s and 1s, so it opens how many raise it, which the masked profile does not.
//!
//! **What a party sees**: what its predecessor passes on, and the results. In a sum that is a uniform word, so one party alone sees nothing that it could
//! not make up from the total; the first sees the total alone. For a largest value it sees values between others' and its own: *not* simulatable from the
//! result; the loss is bounded in probability only (Xiong, Chitti, Liu 2005).
//!
//! **What it does not protect against**: the two neighbours of a party subtract what went in from what came out and have its words (`coalition.rs` shows it);
//! and everything that `masked` does not protect against either.

use std::fmt;

use super::ring::{Neighbours, neighbours};
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::{Inbox, Place};
use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::{Kind, Ledger, Opens};
use crate::machine::{Concluded, Machine, Outgoing, To, Transition};
use crate::message::{Body, Message};
use crate::secret::Private;

/// How often a custodian hides what it has when a largest value is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    /// The probability of hiding in the first pass, from 0 to 1.
    pub p0: f64,
    /// What it is multiplied by from pass to pass, from 0 to 1.
    pub d: f64,
    /// How many passes there are; nobody hides in the last. At least 1.
    pub passes: u32,
}

impl Default for Chances {
    fn default() -> Self {
        Chances { p0: 1.0, d: 0.5, passes: 6 }
    }
}

/// One custodian's side of a run in the ring.
pub struct Run<I: Inquiry> {
    place: Place,
    ring: Neighbours,
    chances: Chances,
    coins: Coins,
    inbox: Inbox,
    round: u32,
    announced: Vec<Kind>,
    inquiry: Option<I>,
    pending: Pending,
    ledger: Ledger,
}

#[derive(Debug)]
struct Pending {
    operation: Operation,
    opens: Vec<Opens>,
    own: Private,
    /// The first one's masks of a sum.
    masks: Private,
    /// The pass of a largest value, from 0; sums have one.
    pass: u32,
    /// Whether the passes are over and only the result is missing.
    passed: bool,
}

/// The kinds of values that such a run can open: to be agreed on before it starts.
pub fn may_open<I: Inquiry>(inquiry: &I) -> Vec<Kind> {
    inquiry.may_open().into_iter().chain([Kind::PassedOn]).collect()
}

/// Starts one custodian's side of a run. `me` is its place in the roster's order of names.
pub fn start<I: Inquiry>(
    permit: Permit,
    me: u16,
    inquiry: I,
    chances: Chances,
    coins: Coins,
) -> Result<Transition<Run<I>>, Fault> {
    let count = permit.roster.count() as u16;
    if me >= count {
        return Err(Fault::Stranger { sender: me });
    }
    let place = Place { session: permit.session, question: permit.question.digest(), me, count };
    let pending = Pending {
        operation: Operation::Sum,
        opens: Vec::new(),
        own: Private(Vec::new()),
        masks: Private(Vec::new()),
        pass: 0,
        passed: false,
    };
    let mut run = Run {
        place,
        ring: neighbours(&permit.session, me, count),
        chances: Chances { passes: chances.passes.max(1), ..chances },
        coins,
        inbox: Inbox::new(place),
        round: 0,
        announced: inquiry.may_open(),
        inquiry: Some(inquiry),
        pending,
        ledger: Ledger::default(),
    };
    let mut outgoing = Vec::new();
    match run.turn(&[], &mut outgoing)? {
        Some(output) => Ok(Transition::Finish(Concluded { output, ledger: run.ledger }, outgoing)),
        None => Ok(Transition::Continue(run, outgoing)),
    }
}

impl<I: Inquiry> Machine for Run<I> {
    type Output = Concluded<I::Output>;

    fn step(mut self, message: Message) -> Result<Transition<Self>, Fault> {
        self.inbox.accept(message, self.round)?;
        let mut outgoing = Vec::new();
        loop {
            let awaited = if self.pending.passed { self.ring.first } else { self.ring.before };
            let Some(body) = self.inbox.only(self.round, awaited)? else {
                return Ok(Transition::Continue(self, outgoing));
            };
            let Some(words) = self.words(body) else {
                return Err(Fault::OutOfPlace { sender: awaited, round: self.round });
            };
            let result = if self.pending.passed { Some(words) } else { self.passing(words, &mut outgoing) };
            self.round += 1;
            let Some(result) = result else { continue };
            let answer = self.opened(result);
            if let Some(output) = self.turn(&answer, &mut outgoing)? {
                return Ok(Transition::Finish(Concluded { output, ledger: self.ledger }, outgoing));
            }
        }
    }
}

impl<I: Inquiry> Run<I> {
    /// Where the words begin of which only opens whether somebody's is not 0.
    fn flags_from(&self) -> usize {
        let words = self.pending.own.0.len();
        match self.pending.operation {
            Operation::Any => 0,
            Operation::Tally { flags, .. } => words - flags.min(words),
            Operation::Sum | Operation::Count { .. } | Operation::Max { .. } => words,
        }
    }

    fn is_first(&self) -> bool {
        self.ring.first == self.place.me
    }

    /// The words of a message, when it is of the kind and length that the pending ask has.
    fn words(&self, body: Body) -> Option<Vec<u64>> {
        let largest = matches!(self.pending.operation, Operation::Max { .. });
        let words = match (body, largest, self.pending.passed) {
            (Body::RingSum(words), false, false)
            | (Body::RingTotal(words), false, true)
            | (Body::RingLargest(words), true, false)
            | (Body::RingLargestFound(words), true, true) => words,
            _ => return None,
        };
        (words.len() == self.pending.own.0.len()).then_some(words)
    }

    /// What came in during a pass: handed on, or for the first custodian the end of the pass, which may be the result.
    fn passing(&mut self, mut words: Vec<u64>, outgoing: &mut Vec<Outgoing>) -> Option<Vec<u64>> {
        let largest = matches!(self.pending.operation, Operation::Max { .. });
        let last = !largest || self.pending.pass + 1 == self.chances.passes;
        if !self.is_first() {
            self.contribute(&mut words);
            outgoing.push(self.pass_on(self.round, words));
            self.pending.pass += 1;
            self.pending.passed = last;
            return None;
        }
        if !last {
            self.pending.pass += 1;
            self.contribute(&mut words);
            outgoing.push(self.pass_on(self.round + 1, words));
            return None;
        }
        words.iter_mut().zip(&self.pending.masks.0).for_each(|(word, mask)| *word = word.wrapping_sub(*mask));
        let body = if largest { Body::RingLargestFound(words.clone()) } else { Body::RingTotal(words.clone()) };
        // The round of the result: one after the last pass. The first does not wait for it.
        self.round += 1;
        outgoing.push(Outgoing { to: To::Others, message: self.place.message(self.round, body) });
        Some(words)
    }

    /// Our part of a pass.
    fn contribute(&mut self, words: &mut [u64]) {
        let (pass, Chances { p0, d, passes }) = (self.pending.pass, self.chances);
        let hiding = if pass + 1 >= passes { 0.0 } else { p0 * d.powi(pass as i32) };
        let flags_from = self.flags_from();
        for (place, (word, own)) in words.iter_mut().zip(&self.pending.own.0).enumerate() {
            match self.pending.operation {
                Operation::Any | Operation::Tally { .. } if place >= flags_from => {
                    *word = word.wrapping_add(u64::from(*own != 0));
                }
                Operation::Sum | Operation::Count { .. } | Operation::Tally { .. } | Operation::Any => {
                    *word = word.wrapping_add(*own);
                }
                Operation::Max { .. } if *word < *own => {
                    let between =
                        if self.coins.chance(hiding) { self.coins.below(own - *word + 1) } else { own - *word };
                    *word += between;
                }
                Operation::Max { .. } => {}
            }
        }
    }

    fn pass_on(&self, round: u32, words: Vec<u64>) -> Outgoing {
        let body = match self.pending.operation {
            Operation::Max { .. } => Body::RingLargest(words),
            Operation::Sum | Operation::Count { .. } | Operation::Any | Operation::Tally { .. } => Body::RingSum(words),
        };
        Outgoing { to: To::One(self.ring.after), message: self.place.message(round, body) }
    }

    /// Writes an answer into the ledger, as it was opened, and gives it in the form that was asked for.
    fn opened(&mut self, result: Vec<u64>) -> Vec<u64> {
        let opens = std::mem::take(&mut self.pending.opens);
        self.ledger.record_all(self.round - 1, opens, &result);
        let flags_from = self.flags_from();
        let mut result = result;
        result.iter_mut().skip(flags_from).for_each(|raised| *raised = (*raised).min(1));
        result
    }

    /// Lets the inquiry go on; the first custodian begins the pass of what it asks.
    fn turn(&mut self, answer: &[u64], outgoing: &mut Vec<Outgoing>) -> Result<Option<I::Output>, Fault> {
        let inquiry = self.inquiry.take().ok_or(Fault::Internal("no inquiry"))?;
        let (inquiry, ask) = match inquiry.next(answer) {
            Turn::Done(output) => return Ok(Some(output)),
            Turn::Ask(inquiry, ask) => (inquiry, ask),
        };
        self.inquiry = Some(inquiry);
        ask.check(&self.announced)?;
        let Ask { operation, words, opens } = ask;
        let mut masks = vec![0; words.len()];
        self.pending =
            Pending { operation, opens, own: Private(words), masks: Private(Vec::new()), pass: 0, passed: false };
        if self.is_first() {
            if !matches!(operation, Operation::Max { .. }) {
                masks.iter_mut().for_each(|mask| *mask = self.coins.word());
            }
            let mut words = masks.clone();
            self.pending.masks = Private(masks);
            self.contribute(&mut words);
            outgoing.push(self.pass_on(self.round, words));
        }
        Ok(None)
    }
}

impl<I: Inquiry> fmt::Debug for Run<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("me", &self.place.me).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BurnBook, Extremes, Medians, Question, Roster, Sums, simulate};

    fn run<I: Inquiry>(inquiries: Vec<I>, chances: Chances, seed: u64) -> Vec<Concluded<I::Output>> {
        let roster = Roster::numbered(inquiries.len()).unwrap();
        let start = |(me, inquiry)| {
            let permit = BurnBook::default().permit([seed as u8; 16], Question::new("test", b""), &roster).unwrap();
            start(permit, me as u16, inquiry, chances, Coins::danger_from_seed(seed * 1000 + me as u64)).unwrap()
        };
        simulate::run(inquiries.into_iter().enumerate().map(start).collect(), seed).unwrap().0
    }

    #[test]
    fn the_ring_sums() {
        for count in 3..9u64 {
            let inquiries = (0..count).map(|me| Sums::new(vec![me, u64::MAX])).collect();
            for concluded in run(inquiries, Chances::default(), count) {
                assert_eq!(concluded.output, vec![count * (count - 1) / 2, count.wrapping_neg()]);
            }
        }
    }

    #[test]
    fn the_last_pass_makes_smallest_and_largest_exact_whatever_the_chances() {
        let mut coins = Coins::danger_from_seed(3);
        for case in 0..60 {
            let (count, domain) = (3 + coins.below(5), 1 + coins.below(1000));
            let chances = Chances {
                p0: [0.0, 0.5, 1.0][coins.below(3) as usize],
                d: [0.0, 0.5, 1.0][coins.below(3) as usize],
                passes: 1 + coins.below(4) as u32,
            };
            let inputs: Vec<Option<(u64, u64)>> = (0..count)
                .map(|_| {
                    let (one, other) = (coins.below(domain), coins.below(domain));
                    (coins.below(4) > 0).then(|| (one.min(other), one.max(other)))
                })
                .collect();
            let low = inputs.iter().flatten().map(|value| value.0).min();
            let high = inputs.iter().flatten().map(|value| value.1).max();
            let inquiries = inputs.iter().map(|input| Extremes::new(vec![*input], domain)).collect();
            for concluded in run(inquiries, chances, case) {
                assert_eq!(concluded.output, vec![low.zip(high)], "case {case}: {chances:?}");
            }
        }
    }

    #[test]
    fn medians_with_many_ties_end() {
        let inquiries = (0..5).map(|me| Medians::new(vec![(vec![3; me], 8), (vec![], 4), (vec![7, 7], 8)])).collect();
        for concluded in run(inquiries, Chances::default(), 9) {
            assert_eq!(concluded.output, vec![Some(3), None, Some(7)]);
        }
    }
}
