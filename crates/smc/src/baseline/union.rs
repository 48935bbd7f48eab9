//! The set union of TR-2008-013 (algorithm 5): a leader that nobody knows hides its items among
//! random ones, and takes these out at the end.
//!
//! Every custodian draws a number, and the ring finds the largest: its owner is the leader. It
//! sends its items and `|r|` dummy items to its successor, everybody adds its own, and when the
//! items come back, the leader takes the dummy items out and sends the result round. Dummy items
//! are drawn without repetition from the domain of the real ones; from anywhere else they would
//! stand out. Repeated real items stay repeated. Everybody shuffles what it passes on.
//!
//! **What a party sees**: all items that its predecessors around the ring and the leader have put
//! in, and the result. This is *not* simulatable from the result: the successor of the leader knows
//! the leader's items but for the dummy items that happen to be in the result. How much that is
//! worth in probability is the loss of privacy (`lop.rs`).
//!
//! **What it does not protect against**: two neighbors of a custodian together see exactly what it
//! added.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::ring::{Neighbors, neighbors};
use super::run::{self, Chances, Run};
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::Place;
use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::{Kind, Ledger};
use crate::machine::{Concluded, Machine, Outgoing, To, Transition};
use crate::message::{Body, ITEMS_MAX, Item, Message};

/// What one custodian brings to a union.
#[derive(Debug, Clone)]
pub struct UnionInput {
    pub items: Vec<Item>,
    /// Every item there can be, from which dummy items are drawn; the same for all.
    pub domain: Arc<[Item]>,
    /// How many dummy items a leader adds.
    pub dummy_items: usize,
}

/// One custodian's side of a union.
pub struct Union {
    place: Place,
    ring: Neighbors,
    coins: Coins,
    input: UnionInput,
    /// The draw of a leader, until it is over.
    draw: Option<Run<Draw>>,
    ticket: u64,
    /// The dummy items, if we lead.
    dummy_items: Option<Vec<Item>>,
    items: Option<Vec<Item>>,
    result: Option<Vec<Item>>,
    /// Whether the items have passed through our hands.
    added: bool,
    round: u32,
}

/// Starts one custodian's side.
pub fn start(
    permit: Permit,
    me: u16,
    input: UnionInput,
    chances: Chances,
    mut coins: Coins,
) -> Result<Transition<Union>, Fault> {
    let count = permit.roster.count() as u16;
    if me >= count {
        return Err(Fault::Stranger { sender: me });
    }
    let most = input.dummy_items + input.items.len();
    if most > ITEMS_MAX {
        return Err(Fault::TooLarge { found: most, max: ITEMS_MAX });
    }
    let place = Place { session: permit.session, question: permit.question.digest(), me, count };
    let ring = neighbors(&permit.session, me, count);
    let (ticket, seed) = (coins.word(), coins.secret());
    let drawn = run::start(permit, me, Draw(Some(ticket)), chances, Coins::from_public(*seed.bytes()))?;
    let Transition::Continue(draw, outgoing) = drawn else {
        return Err(Fault::Internal("a draw without a message"));
    };
    let round = chances.passes.max(1) + 1;
    let (draw, dummy_items, items, result, added) = (Some(draw), None, None, None, false);
    let union = Union { place, ring, coins, input, draw, ticket, dummy_items, items, result, added, round };
    Ok(Transition::Continue(union, outgoing))
}

impl Machine for Union {
    /// All items, sorted, repetitions kept.
    type Output = Concluded<Vec<Item>>;

    fn step(mut self, message: Message) -> Result<Transition<Self>, Fault> {
        self.place.check(&message)?;
        let mut outgoing = Vec::new();
        if matches!(message.body, Body::UnionItems(_) | Body::UnionResult(_)) {
            self.keep(message)?;
        } else if let Some(draw) = self.draw.take() {
            match draw.step(message)? {
                Transition::Continue(draw, messages) => {
                    self.draw = Some(draw);
                    return Ok(Transition::Continue(self, messages));
                }
                Transition::Finish(concluded, messages) => {
                    outgoing = messages;
                    if concluded.output == self.ticket {
                        outgoing.push(self.lead()?);
                    }
                }
            }
        } else {
            return Err(Fault::Replayed { sender: message.sender, round: message.round });
        }
        if self.draw.is_some() {
            return Ok(Transition::Continue(self, outgoing));
        }
        if let Some(items) = self.items.take() {
            let (round, body) = self.received(items)?;
            outgoing.push(self.hand_on(round, body));
        }
        match self.result.take() {
            None => Ok(Transition::Continue(self, outgoing)),
            Some(_) if !self.added => Err(Fault::TooEarly { sender: self.ring.before, round: self.round + 1 }),
            Some(result) => {
                // The leader gets its own result back, and so cannot be recognized by being the one
                // who does not pass it on.
                if self.dummy_items.is_none() {
                    outgoing.push(self.hand_on(self.round + 1, Body::UnionResult(result.clone())));
                }
                Ok(Transition::Finish(self.conclude(result), outgoing))
            }
        }
    }
}

impl Union {
    fn hand_on(&self, round: u32, body: Body) -> Outgoing {
        Outgoing { to: To::One(self.ring.after), message: self.place.message(round, body) }
    }

    /// Takes a message with items in; it may come before the draw is over.
    fn keep(&mut self, message: Message) -> Result<(), Fault> {
        let (sender, round) = (message.sender, message.round);
        let (expected, slot, seen, items) = match message.body {
            Body::UnionItems(items) => (self.round, &mut self.items, self.added, items),
            Body::UnionResult(items) => (self.round + 1, &mut self.result, false, items),
            _ => return Err(Fault::Internal("not a message with items")),
        };
        if sender != self.ring.before || round != expected {
            return Err(Fault::OutOfPlace { sender, round });
        }
        if seen || slot.is_some() {
            return Err(Fault::Replayed { sender, round });
        }
        *slot = Some(items);
        Ok(())
    }

    /// We drew the largest number: begin.
    fn lead(&mut self) -> Result<Outgoing, Fault> {
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
        Ok(self.hand_on(self.round, Body::UnionItems(items)))
    }

    /// The items have come to us: add ours, or as the leader take the dummy items out.
    fn received(&mut self, mut items: Vec<Item>) -> Result<(u32, Body), Fault> {
        self.added = true;
        let Some(dummy_items) = &self.dummy_items else {
            items.extend(self.input.items.iter().cloned());
            if items.len() > ITEMS_MAX {
                return Err(Fault::TooLarge { found: items.len(), max: ITEMS_MAX });
            }
            self.coins.shuffle(&mut items);
            return Ok((self.round, Body::UnionItems(items)));
        };
        let mut counts: BTreeMap<Item, usize> = BTreeMap::new();
        for item in items {
            *counts.entry(item).or_default() += 1;
        }
        for item in dummy_items {
            match counts.get_mut(item) {
                Some(count) if *count > 0 => *count -= 1,
                _ => return Err(Fault::Tampered { sender: self.ring.before }),
            }
        }
        let result = counts.into_iter().flat_map(|(item, count)| std::iter::repeat_n(item, count)).collect();
        Ok((self.round + 1, Body::UnionResult(result)))
    }

    fn conclude(self, items: Vec<Item>) -> Concluded<Vec<Item>> {
        let mut ledger = Ledger::default();
        ledger.record(self.round + 1, Kind::Rows, "items of the union", vec![items.len() as u64]);
        Concluded { output: items, ledger }
    }
}

impl fmt::Debug for Union {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Union").field("me", &self.place.me).finish_non_exhaustive()
    }
}

/// Finds the largest ticket.
#[derive(Debug)]
struct Draw(Option<u64>);

impl Inquiry for Draw {
    type Output = u64;

    fn may_open(&self) -> Vec<Kind> {
        vec![Kind::Largest]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.0.take() {
            Some(ticket) => {
                let operation = Operation::Max { bits: 64 };
                Turn::Ask(self, Ask::one(operation, vec![ticket], Kind::Largest, "the leader's ticket"))
            }
            None => Turn::Done(answer.first().copied().unwrap_or_default()),
        }
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
