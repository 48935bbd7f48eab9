//! Answers an inquiry by passes around the ring, as in TR-2008-013.
//!
//! *Sum*: the first custodian adds a random mask to its words, every other adds its own words, and
//! the first takes the mask off again and tells all: it sends the result ahead of the next sum in
//! the same message, so that an ask takes one round, that is, one pass; only the last result is
//! sent to all at once. The paper's modulus m, which must exceed the sum, is 2⁶⁴ here. *Largest*:
//! several passes; in pass r, a custodian that has more than what came in passes on, with
//! probability p₀·dʳ⁻¹, a random value between the two, else its own. The last pass leaves out the
//! chance, which makes the answer exact: the paper does not say so, but without it the answer may
//! be too small. *Objection*, or any other flag: as under masks, a custodian that raises it adds a
//! random word and the others 0, so that the sum tells whether and not how many.
//!
//! **What a party sees**: what its predecessor passes on, and the results. In a sum that is a
//! uniform word, so one party alone sees nothing that it could not make up from the total; the
//! first sees the total alone. For a largest value it sees values between others' and its own:
//! *not* simulatable from the result; the loss is bounded in probability only (Xiong, Chitti, Liu
//! 2005).
//!
//! **What it does not protect against**: the two neighbors of a party subtract what went in from
//! what came out and have its words (`coalition.rs` shows it); and everything that `masked` does
//! not protect against either.

use std::fmt;

use super::ring::{Neighbors, neighbors};
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::inbox::{Inbox, RunPlace};
use crate::inquiry::{Ask, Inquiry, Layout, Operation, Thresholds, Turn};
use crate::ledger::{Ledger, OpenedKind, Opens};
use crate::long;
use crate::machine::{self, Concluded, Effects, Engine, Failure, Machine, Outgoing, To, Transition};
use crate::message::{Body, Digest, Message, WORDS_MAX};
use crate::secret::Private;

/// How often a custodian hides what it has when a largest value is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    /// The probability of hiding in the first pass, from 0 to 1.
    pub p0: f64,
    /// The factor from pass to pass, from 0 to 1.
    pub d: f64,
    /// How many passes there are; none hides in the last. At least 1.
    pub passes: u32,
}

impl Default for Chances {
    fn default() -> Self {
        Chances { p0: 1.0, d: 0.5, passes: 6 }
    }
}

/// One custodian's side of a run in the ring.
pub struct Run<I: Inquiry> {
    place: RunPlace,
    ring: Neighbors,
    chances: Chances,
    coins: Coins,
    inbox: Inbox,
    round: u32,
    announced: Vec<OpenedKind>,
    inquiry: Option<I>,
    pending: Pending,
    /// Whether the outcome is confirmed by all; a part of another protocol leaves that to it.
    confirms: bool,
    /// The output, while all confirm.
    concluded: Option<(I::Output, [Digest; 2])>,
    ledger: Ledger,
    journaled: usize,
    send: Vec<Outgoing>,
}

#[derive(Debug)]
struct Pending {
    operation: Operation,
    opens: Vec<Opens>,
    thresholds: Vec<Thresholds>,
    own: Private,
    /// The first one's masks of a sum.
    masks: Private,
    /// The pass of a largest value, from 0; sums have one.
    pass: u32,
    /// Whether the passes are over and only the result is missing.
    passed: bool,
}

/// The kinds of values that such a run can open: to be agreed on before it starts.
pub fn may_open<I: Inquiry>(inquiry: &I) -> Vec<OpenedKind> {
    inquiry.may_open().into_iter().chain([OpenedKind::PassedOn]).collect()
}

/// Starts one custodian's side of a run. `me` is its place in the roster's order of names.
pub fn start<I: Inquiry>(
    permit: Permit,
    me: u16,
    inquiry: I,
    chances: Chances,
    coins: Coins,
) -> Result<Transition<Run<I>>, Fault> {
    begin(permit, me, inquiry, chances, coins, true)
}

/// The same, without confirmation where another protocol confirms.
pub(super) fn begin<I: Inquiry>(
    permit: Permit,
    me: u16,
    inquiry: I,
    chances: Chances,
    coins: Coins,
    confirms: bool,
) -> Result<Transition<Run<I>>, Fault> {
    let place = permit.place(me)?;
    let pending = Pending {
        operation: Operation::Sum,
        opens: Vec::new(),
        thresholds: Vec::new(),
        own: Private(Vec::new()),
        masks: Private(Vec::new()),
        pass: 0,
        passed: false,
    };
    let mut run = Run {
        place,
        ring: neighbors(&permit.session, me, place.count),
        chances: Chances { passes: chances.passes.max(1), ..chances },
        coins,
        inbox: Inbox::new(place),
        round: 0,
        announced: inquiry.may_open(),
        inquiry: Some(inquiry),
        pending,
        confirms,
        concluded: None,
        ledger: Ledger::default(),
        journaled: 0,
        send: Vec::new(),
    };
    if let Some(output) = run.turn(&[])? {
        return Ok(Transition::Finish(Concluded { output, ledger: run.ledger }, Effects::default()));
    }
    if run.is_first() {
        run.begin(0, Vec::new())?;
    }
    let effects = run.take_effects();
    Ok(Transition::Continue(run, effects))
}

impl<I: Inquiry> Machine for Run<I> {
    type Output = Concluded<I::Output>;

    fn taken_in(&self) -> usize {
        self.inbox.taken_in()
    }

    /// Of a pass, the one before; whether that one waits as well, only it knows.
    fn waits_for(&self) -> Vec<u16> {
        if self.concluded.is_some() { self.inbox.missing(self.round) } else { vec![self.ring.before] }
    }

    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure> {
        machine::step(self, from, message)
    }

    fn abort(self, blamed: Option<u16>) -> Outgoing {
        machine::farewell(&self, Reason::GaveUp, blamed)
    }
}

impl<I: Inquiry> Engine for Run<I> {
    fn place(&self) -> RunPlace {
        self.place
    }

    fn round(&self) -> u32 {
        self.round
    }

    fn take_effects(&mut self) -> Effects {
        let opened = self.ledger.entries()[self.journaled..].to_vec();
        self.journaled += opened.len();
        Effects { opened, send: std::mem::take(&mut self.send) }
    }

    fn advance(&mut self, from: u16, message: Message) -> Result<Option<Self::Output>, Fault> {
        self.inbox.accept(from, message, self.round)?;
        loop {
            if let Some((output, digests)) = self.concluded.take() {
                let Some(bodies) = self.inbox.all_single(self.round)? else {
                    self.concluded = Some((output, digests));
                    return Ok(None);
                };
                self.confirmed(&bodies, digests)?;
                return Ok(Some(Concluded { output, ledger: self.ledger.clone() }));
            }
            let Some((sender, body)) = self.inbox.message_of_either(self.round, [self.ring.before, self.ring.first])?
            else {
                return Ok(None);
            };
            let concluded = match body {
                Body::RingTotal(words) | Body::RingLargestFound(words) if !self.is_first() => {
                    Some(self.last_result(sender, words)?)
                }
                Body::RingSum(words) => self.passing(sender, false, words)?,
                Body::RingLargest(words) => self.passing(sender, true, words)?,
                _ => return Err(self.out_of_place(sender)),
            };
            // The first one's announcement takes a round of its own.
            self.round += if concluded.is_some() && self.is_first() { 2 } else { 1 };
            let (found, max) = (u64::from(self.round), u64::from(self.place.limits.rounds_max));
            if found > max {
                return Err(Fault::Limit { what: "rounds", found, max });
            }
            match concluded {
                Some(output) if self.confirms => self.conclude(output),
                Some(output) => return Ok(Some(Concluded { output, ledger: self.ledger.clone() })),
                None => {}
            }
        }
    }
}

impl<I: Inquiry> Run<I> {
    fn layout(&self) -> Result<Layout, Fault> {
        let layout = self.pending.operation.layout(self.pending.own.0.len());
        layout.ok_or(Fault::Internal("more flags than words"))
    }

    /// The inquiry is done: each says what it concludes.
    fn conclude(&mut self, output: I::Output) {
        let (ledger, shared) = (self.ledger.digest(), long::digest(&I::shared(&output)));
        let body = Body::Confirm { ledger, output: shared, seen: Vec::new() };
        self.send.push(Outgoing { to: To::Others, message: self.place.message(self.round, body) });
        self.concluded = Some((output, [ledger, shared]));
    }

    fn confirmed(&self, bodies: &[(u16, Body)], [own_ledger, own_output]: [Digest; 2]) -> Result<(), Fault> {
        for (sender, body) in bodies {
            let Body::Confirm { ledger, output, .. } = body else { return Err(self.out_of_place(*sender)) };
            if *ledger != own_ledger {
                return Err(Fault::Disagrees { sender: *sender, what: "ledger" });
            }
            if *output != own_output {
                return Err(Fault::Disagrees { sender: *sender, what: "output" });
            }
        }
        Ok(())
    }

    fn is_first(&self) -> bool {
        self.ring.first == self.place.me
    }

    fn is_largest(&self) -> bool {
        matches!(self.pending.operation, Operation::Max { .. })
    }

    fn is_last_pass(&self) -> bool {
        !self.is_largest() || self.pending.pass + 1 >= self.chances.passes
    }

    fn out_of_place(&self, sender: u16) -> Fault {
        Fault::OutOfPlace { sender, round: self.round }
    }

    /// The messages of a pass: handed on, or for the first custodian the end of the pass, after
    /// which another pass or the next ask begins.
    fn passing(&mut self, sender: u16, largest: bool, mut words: Vec<u64>) -> Result<Option<I::Output>, Fault> {
        if sender != self.ring.before {
            return Err(self.out_of_place(sender));
        }
        if self.is_first() {
            return self.pass_ends(largest, words);
        }
        let mut announced = Vec::new();
        if self.pending.passed {
            // Ahead of the words of the next ask lies the result of this one.
            let Some((result, running)) = words.split_at_checked(self.pending.own.0.len()) else {
                return Err(self.out_of_place(sender));
            };
            (announced, words) = (result.to_vec(), running.to_vec());
            if self.opened(&announced, self.round - 1)?.is_some() {
                return Err(self.out_of_place(sender));
            }
        }
        if words.len() != self.pending.own.0.len() || largest != self.is_largest() {
            return Err(self.out_of_place(sender));
        }
        self.ledger.record(self.round, OpenedKind::PassedOn, "what our predecessor passed on", words.clone());
        self.contribute(&mut words)?;
        self.pending.passed = self.is_last_pass();
        self.pending.pass += 1;
        self.pass_on(self.round, announced, words)?;
        Ok(None)
    }

    /// The first custodian has its words back.
    fn pass_ends(&mut self, largest: bool, mut words: Vec<u64>) -> Result<Option<I::Output>, Fault> {
        if words.len() != self.pending.own.0.len() || largest != self.is_largest() {
            return Err(self.out_of_place(self.ring.before));
        }
        let round = self.round + 1;
        self.ledger.record(self.round, OpenedKind::PassedOn, "what our predecessor passed on", words.clone());
        if !self.is_last_pass() {
            self.pending.pass += 1;
            self.contribute(&mut words)?;
            self.pass_on(round, Vec::new(), words)?;
            return Ok(None);
        }
        words.iter_mut().zip(&self.pending.masks.0).for_each(|(word, mask)| *word = word.wrapping_sub(*mask));
        match self.opened(&words, self.round)? {
            Some(output) => {
                let body = if largest { Body::RingLargestFound(words) } else { Body::RingTotal(words) };
                self.send.push(Outgoing { to: To::Others, message: self.place.message(round, body) });
                Ok(Some(output))
            }
            None => {
                self.begin(round, words)?;
                Ok(None)
            }
        }
    }

    /// The result of the last ask, announced by the first custodian.
    fn last_result(&mut self, sender: u16, words: Vec<u64>) -> Result<I::Output, Fault> {
        if sender != self.ring.first || !self.pending.passed || words.len() != self.pending.own.0.len() {
            return Err(self.out_of_place(sender));
        }
        self.opened(&words, self.round - 1)?.ok_or_else(|| self.out_of_place(sender))
    }

    /// Our part of a pass.
    fn contribute(&mut self, words: &mut [u64]) -> Result<(), Fault> {
        let (pass, Chances { p0, d, passes }) = (self.pending.pass, self.chances);
        let hiding = if pass + 1 >= passes { 0.0 } else { p0 * d.powi(pass as i32) };
        let flags_from = self.layout()?.flags.start;
        for (place, (word, own)) in words.iter_mut().zip(&self.pending.own.0).enumerate() {
            match self.pending.operation {
                Operation::Any | Operation::Tally { .. } if place >= flags_from => {
                    *word = word.wrapping_add(self.coins.flag(*own != 0));
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
        Ok(())
    }

    /// A message to the next one. `announced` is the result of the ask before, which the first
    /// custodian computed itself.
    fn pass_on(&mut self, round: u32, mut announced: Vec<u64>, words: Vec<u64>) -> Result<(), Fault> {
        if self.ring.after == self.ring.first {
            announced.clear();
        }
        let found = announced.len() + words.len();
        if found > WORDS_MAX {
            return Err(Fault::Limit { what: "words in one message", found: found as u64, max: WORDS_MAX as u64 });
        }
        let words = [announced, words].concat();
        let body = if self.is_largest() { Body::RingLargest(words) } else { Body::RingSum(words) };
        self.send.push(Outgoing { to: To::One(self.ring.after), message: self.place.message(round, body) });
        Ok(())
    }

    /// Writes a result into the ledger and lets the inquiry go on; its output when it is done.
    fn opened(&mut self, result: &[u64], round: u32) -> Result<Option<I::Output>, Fault> {
        let layout = self.layout()?;
        let mut opened = result.to_vec();
        opened[layout.flags.clone()].iter_mut().for_each(|raised| *raised = u64::from(*raised != 0));
        let (opens, thresholds) =
            (std::mem::take(&mut self.pending.opens), std::mem::take(&mut self.pending.thresholds));
        self.ledger.record_all(round, &opens, &opened, layout.compared.clone(), &thresholds);
        self.turn(&layout.answer(opened, &thresholds))
    }

    fn turn(&mut self, answer: &[u64]) -> Result<Option<I::Output>, Fault> {
        let inquiry = self.inquiry.take().ok_or(Fault::Internal("no inquiry"))?;
        let (inquiry, ask) = match inquiry.next(answer) {
            Turn::Done(output) => return Ok(Some(output)),
            Turn::Impossible(what) => return Err(Fault::Impossible { what }),
            Turn::Exceeds { what, found, max } => return Err(Fault::Limit { what, found, max }),
            Turn::Ask(inquiry, ask) => (inquiry, ask),
        };
        self.inquiry = Some(inquiry);
        ask.check(&self.announced, &self.place.limits)?;
        let Ask { operation, words, opens, thresholds } = ask;
        let (own, masks) = (Private(words), Private(Vec::new()));
        self.pending = Pending { operation, opens, thresholds, own, masks, pass: 0, passed: false };
        Ok(None)
    }

    /// The first custodian sends the pending ask on its way, the result of the one before it ahead.
    fn begin(&mut self, round: u32, announced: Vec<u64>) -> Result<(), Fault> {
        let mut words = vec![0; self.pending.own.0.len()];
        if !self.is_largest() {
            words.iter_mut().for_each(|mask| *mask = self.coins.word());
        }
        self.pending.masks = Private(words.clone());
        self.contribute(&mut words)?;
        self.pass_on(round, announced, words)
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
