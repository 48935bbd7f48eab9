//! The set union of TR-2008-013 (algorithm 5): a leader that no other knows hides its items among
//! random ones, and takes these out at the end.
//!
//! Every custodian draws a number, and the ring finds the largest: its owner is the leader. It
//! sends its items and `|r|` dummy items to its successor, each adds its own, and when the
//! items come back, the leader takes the dummy items out and sends the result round. Dummy items
//! are drawn without repetition from the domain of the real ones; from anywhere else they would
//! stand out. Repeated real items stay repeated. Each shuffles what it passes on.
//!
//! **What a party sees**: all items that its predecessors around the ring and the leader have put
//! in, and the result. This is *not* simulatable from the result: the successor of the leader knows
//! the leader's items but for the dummy items that happen to be in the result. How much that is
//! worth in probability is the loss of privacy (`lop.rs`).
//!
//! At the end all confirm the result to each other.
//!
//! **What it does not protect against**: two neighbors of a custodian together see exactly what it
//! added.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::ring::{Neighbors, neighbors};
use super::run::{self, Chances, Run};
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::inbox::{Inbox, RunPlace};
use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::{Ledger, OpenedKind};
use crate::machine::{self, Concluded, Effects, Engine, Failure, Machine, Outgoing, To, Transition};
use crate::message::{Body, Digest, ITEMS_MAX, Item, Message};

/// The input of one custodian to a union.
#[derive(Clone)]
pub struct UnionInput {
    pub items: Vec<Item>,
    /// Every item there can be, from which dummy items are drawn; the same for all.
    pub domain: Arc<[Item]>,
    /// How many dummy items a leader adds.
    pub dummy_items: usize,
}

impl fmt::Debug for UnionInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnionInput").field("dummy_items", &self.dummy_items).finish_non_exhaustive()
    }
}

/// One custodian's side of a union.
pub struct Union {
    place: RunPlace,
    ring: Neighbors,
    coins: Coins,
    input: UnionInput,
    /// The draw of a leader, until it is over.
    draw: Option<Run<Draw>>,
    ticket: u64,
    /// The dummy items, if we lead.
    dummy_items: Option<Vec<Item>>,
    /// Whether the items have passed through our hands.
    added: bool,
    round: u32,
    inbox: Inbox,
    /// The messages received in the draw, by round and sender.
    drawn: BTreeMap<(u32, u16), Digest>,
    concluded: Option<(Vec<Item>, Digest)>,
    ledger: Ledger,
    journaled: usize,
    send: Vec<Outgoing>,
}

/// Starts one custodian's side.
pub fn start(
    permit: Permit,
    me: u16,
    input: UnionInput,
    chances: Chances,
    mut coins: Coins,
) -> Result<Transition<Union>, Fault> {
    let most = input.dummy_items.saturating_add(input.items.len());
    if most > ITEMS_MAX {
        return Err(Fault::Limit { what: "items in one message", found: most as u64, max: ITEMS_MAX as u64 });
    }
    let place = permit.place(me)?;
    let ring = neighbors(&permit.session, me, place.count);
    let (ticket, seed) = (coins.word(), coins.secret());
    let drawn = run::begin(permit, me, Draw(Some(ticket)), chances, Coins::from_public(*seed.bytes()), false)?;
    let Transition::Continue(draw, effects) = drawn else {
        return Err(Fault::Internal("a draw without a message"));
    };
    let round = chances.passes.max(1) + 1;
    let union = Union {
        place,
        ring,
        coins,
        input,
        draw: Some(draw),
        ticket,
        dummy_items: None,
        added: false,
        round,
        inbox: Inbox::new(place),
        drawn: BTreeMap::new(),
        concluded: None,
        ledger: Ledger::default(),
        journaled: 0,
        send: Vec::new(),
    };
    Ok(Transition::Continue(union, effects))
}

impl Machine for Union {
    /// All items, sorted, repetitions kept.
    type Output = Concluded<Vec<Item>>;

    fn taken_in(&self) -> usize {
        self.inbox.taken_in()
    }

    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure> {
        machine::step(self, from, message)
    }

    fn abort(self, blamed: Option<u16>) -> Outgoing {
        machine::farewell(&self, Reason::GaveUp, blamed)
    }
}

impl Engine for Union {
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
        if matches!(message.body, Body::UnionItems(_) | Body::UnionResult(_) | Body::Confirm { .. }) {
            // They may come before the draw is over: messages up to two rounds ahead are accepted.
            let round = message.round.clamp(self.round, self.round + 2);
            self.inbox.accept(from, message, round)?;
            return self.after_message();
        }
        // What belongs to the draw may be repeated after it.
        let (key, digest) = ((message.round, from), message.digest());
        match self.drawn.get(&key) {
            Some(earlier) if *earlier == digest => return Ok(None),
            Some(_) => return Err(Fault::Equivocated { sender: from, round: message.round }),
            None => {}
        }
        let round = message.round;
        if let Some(draw) = self.draw.take() {
            match machine::step(draw, from, message).map_err(|failure| failure.fault)? {
                Transition::Continue(draw, effects) => {
                    self.draw = Some(draw);
                    self.draw_effects(effects);
                }
                Transition::Finish(concluded, effects) => {
                    self.draw_effects(effects);
                    if concluded.output == self.ticket {
                        self.begin_as_leader();
                    }
                }
            }
            self.drawn.insert(key, digest);
            return self.after_message();
        }
        // A stray message is ignored; any other is unexpected now.
        self.inbox.accept(from, message, self.round)?;
        if self.inbox.digest(round, from) == Some(digest) {
            return Err(Fault::OutOfPlace { sender: from, round });
        }
        Ok(None)
    }
}

impl Union {
    fn after_message(&mut self) -> Result<Option<Concluded<Vec<Item>>>, Fault> {
        if self.draw.is_some() { Ok(None) } else { self.advance_union() }
    }

    /// Adds the opened values and messages of the draw to those of the union.
    fn draw_effects(&mut self, effects: Effects) {
        self.ledger.extend(effects.opened);
        self.send.extend(effects.send);
    }

    fn send_to_successor(&mut self, round: u32, body: Body) {
        self.send.push(Outgoing { to: To::One(self.ring.after), message: self.place.message(round, body) });
    }

    /// The one message of a round from our predecessor.
    fn next_of_predecessor(&mut self, round: u32) -> Result<Option<Body>, Fault> {
        let Some(bodies) = self.inbox.only(round, self.ring.before)? else { return Ok(None) };
        let sender = self.ring.before;
        let [body] = <[Body; 1]>::try_from(bodies).map_err(|_| Fault::OutOfPlace { sender, round })?;
        Ok(Some(body))
    }

    /// Everything that can be done with what is there.
    fn advance_union(&mut self) -> Result<Option<Concluded<Vec<Item>>>, Fault> {
        let (before, round) = (self.ring.before, self.round);
        if !self.added {
            match self.next_of_predecessor(round)? {
                Some(Body::UnionItems(items)) => self.received(items)?,
                Some(_) => return Err(Fault::OutOfPlace { sender: before, round }),
                None => return Ok(None),
            }
        }
        if self.concluded.is_none() {
            match self.next_of_predecessor(round + 1)? {
                Some(Body::UnionResult(result)) => self.conclude(result)?,
                Some(_) => return Err(Fault::OutOfPlace { sender: before, round: round + 1 }),
                None => return Ok(None),
            }
        }
        let Some(bodies) = self.inbox.all_single(round + 2)? else { return Ok(None) };
        let Some((items, digest)) = self.concluded.take() else { return Err(Fault::Internal("no result")) };
        let own = self.ledger.digest();
        for (sender, body) in bodies {
            match body {
                Body::Confirm { output, .. } if output != digest => {
                    return Err(Fault::Disagrees { sender, what: "output" });
                }
                Body::Confirm { ledger, .. } if ledger != own => {
                    return Err(Fault::Disagrees { sender, what: "ledger" });
                }
                Body::Confirm { .. } => {}
                _ => return Err(Fault::OutOfPlace { sender, round: round + 2 }),
            }
        }
        Ok(Some(Concluded { output: items, ledger: self.ledger.clone() }))
    }

    /// We drew the largest number: begin.
    fn begin_as_leader(&mut self) {
        let domain = Arc::clone(&self.input.domain);
        let wanted = self.input.dummy_items.min(domain.len());
        // In an order that follows from the coins alone.
        let mut chosen = BTreeSet::new();
        while chosen.len() < wanted {
            chosen.insert(self.coins.below(domain.len() as u64) as usize);
        }
        let dummy_items: Vec<Item> = chosen.into_iter().map(|index| domain[index].clone()).collect();
        let mut items = [self.input.items.as_slice(), &dummy_items].concat();
        self.coins.shuffle(&mut items);
        self.dummy_items = Some(dummy_items);
        self.send_to_successor(self.round, Body::UnionItems(items));
    }

    /// The items have come to us: add ours, or as the leader take the dummy items out.
    fn received(&mut self, mut items: Vec<Item>) -> Result<(), Fault> {
        self.added = true;
        let seen = vec![items.len() as u64];
        self.ledger.record(self.round, OpenedKind::PassedOn, "items that our predecessor passed on", seen);
        let Some(dummy_items) = self.dummy_items.take() else {
            items.extend(self.input.items.iter().cloned());
            if items.len() > ITEMS_MAX {
                let (found, max) = (items.len() as u64, ITEMS_MAX as u64);
                return Err(Fault::Limit { what: "items in one message", found, max });
            }
            self.coins.shuffle(&mut items);
            self.send_to_successor(self.round, Body::UnionItems(items));
            return Ok(());
        };
        let mut counts: BTreeMap<Item, usize> = BTreeMap::new();
        for item in items {
            *counts.entry(item).or_default() += 1;
        }
        for item in &dummy_items {
            match counts.get_mut(item) {
                Some(count) if *count > 0 => *count -= 1,
                _ => return Err(Fault::Tampered { sender: self.ring.before }),
            }
        }
        let result = counts.into_iter().flat_map(|(item, count)| std::iter::repeat_n(item, count)).collect();
        self.dummy_items = Some(dummy_items);
        self.send_to_successor(self.round + 1, Body::UnionResult(result));
        Ok(())
    }

    /// The result has come to us, with everything that we put in.
    fn conclude(&mut self, result: Vec<Item>) -> Result<(), Fault> {
        let mut counts: BTreeMap<&Item, usize> = BTreeMap::new();
        result.iter().for_each(|item| *counts.entry(item).or_default() += 1);
        for item in &self.input.items {
            match counts.get_mut(item) {
                Some(count) if *count > 0 => *count -= 1,
                _ => return Err(Fault::Lost { sender: self.ring.before }),
            }
        }
        self.ledger.record(self.round + 1, OpenedKind::Rows, "items of the union", vec![result.len() as u64]);
        let mut hash = Sha256::new();
        for item in &result {
            hash.update((item.len() as u64).to_le_bytes());
            hash.update(item);
        }
        let output: Digest = hash.finalize().into();
        // The leader gets its own result back, and so cannot be recognized by being the one who
        // does not pass it on.
        if self.dummy_items.is_none() {
            self.send_to_successor(self.round + 1, Body::UnionResult(result.clone()));
        }
        let body = Body::Confirm { ledger: self.ledger.digest(), output, seen: Vec::new() };
        self.send.push(Outgoing { to: To::Others, message: self.place.message(self.round + 2, body) });
        self.concluded = Some((result, output));
        Ok(())
    }
}

impl fmt::Debug for Union {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Union").field("me", &self.place.me).finish_non_exhaustive()
    }
}

/// Finds the largest ticket.
struct Draw(Option<u64>);

impl Inquiry for Draw {
    type Output = u64;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Largest]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.0.take() {
            Some(ticket) => {
                let operation = Operation::Max { bits: 64 };
                Turn::Ask(self, Ask::one(operation, vec![ticket], OpenedKind::Largest, "the leader's ticket"))
            }
            None => Turn::Done(answer.first().copied().unwrap_or_default()),
        }
    }

    fn shared(largest: &u64) -> Vec<u8> {
        largest.to_le_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BurnBook, Question, Roster, simulate};

    #[test]
    fn the_union_keeps_repetitions_and_loses_what_was_dummy_items() {
        let domain: Arc<[Item]> = (0..40u8).map(|value| vec![value]).collect();
        for seed in 0..40 {
            let mut coins = Coins::danger_from_seed(seed);
            let count = 3 + coins.below(5) as usize;
            let inputs: Vec<Vec<Item>> =
                (0..count).map(|_| (0..coins.below(6)).map(|_| vec![coins.below(40) as u8]).collect()).collect();
            let mut expected = inputs.concat();
            expected.sort();
            let roster = Roster::numbered(count).unwrap();
            let dummy_items = coins.below(50) as usize;
            let start = |(me, items): (usize, &Vec<Item>)| {
                let permit =
                    BurnBook::default().permit([seed as u8; 16], Question::new("union", b""), &roster).unwrap();
                let input = UnionInput { items: items.clone(), domain: Arc::clone(&domain), dummy_items };
                start(permit, me as u16, input, Chances::default(), Coins::danger_from_seed(seed * 100 + me as u64))
                    .unwrap()
            };
            let starts = inputs.iter().enumerate().map(start).collect();
            let (outputs, _) = simulate::run(starts, seed).unwrap();
            assert!(outputs.iter().all(|concluded| concluded.output == expected), "seed {seed}");
        }
    }
}
