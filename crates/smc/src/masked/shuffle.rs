//! Rows that must travel, without their owners: a chain of custodians, each of whom strips one
//! layer of encryption and shuffles.
//!
//! Round 0: keys. Round 1: everybody wraps its rows in one layer for each custodian (`onion.rs`)
//! and hands them to the first. Each custodian in turn strips its layer off all of them, shuffles,
//! and hands on. After the last layer the rows are plain, and the last one tells all. Everybody
//! hands in the same number of rows of the same length: rows are padded, and dummy rows, which
//! vanish at the end, fill up the batch.
//!
//! **What a party sees**: onions before its layer and after it, in an order of its own making, and
//! the rows at the end, sorted.
//!
//! **Why that can be simulated** from its own rows and the result: an onion with a layer of
//! somebody outside a coalition is a ciphertext that cannot be distinguished from one of anything
//! else of that length; after an outsider's shuffle, the order of the rows from outside is uniform
//! and unknown. With at least two custodians outside, whichever of them comes last in the chain has
//! mixed the rows of both. The size of a batch is agreed beforehand, so it tells nothing about how
//! many rows somebody has.
//!
//! **What it does not protect against**: contents that name their owner; n − 1 custodians together;
//! a custodian that drops or repeats rows. What is *changed* on the way does not open and ends the
//! run, and so do two equal onions, but a custodian that replaces the rows of one batch by wraps of
//! its own goes unnoticed.

use std::collections::HashSet;
use std::fmt;

use super::keys::KeyPair;
use super::onion;
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::{Inbox, Place};
use crate::ledger::{Kind, Ledger};
use crate::machine::{Concluded, Machine, Outgoing, To, Transition};
use crate::message::{Body, Digest, ITEM_BYTES_MAX, ITEMS_MAX, Item, Message};

/// One custodian's side of a shuffle.
pub struct Shuffle {
    place: Place,
    roster: Digest,
    keys: KeyPair,
    coins: Coins,
    inbox: Inbox,
    round: u32,
    rows: Vec<Item>,
    batch: usize,
    row_bytes: usize,
}

impl Shuffle {
    /// The kinds of values that a shuffle opens.
    pub const MAY_OPEN: [Kind; 2] = [Kind::BatchSize, Kind::Rows];
}

/// Starts one custodian's side. `batch` is the number of rows that everybody hands in, `row_bytes`
/// the length that every row is padded to: both agreed on by all.
pub fn start(
    permit: Permit,
    me: u16,
    rows: Vec<Item>,
    batch: usize,
    row_bytes: usize,
    mut coins: Coins,
) -> Result<Transition<Shuffle>, Fault> {
    let count = permit.roster.count();
    if usize::from(me) >= count {
        return Err(Fault::Stranger { sender: me });
    }
    let too_large = |found: usize, max: usize| if found > max { Err(Fault::TooLarge { found, max }) } else { Ok(()) };
    too_large(rows.len(), batch)?;
    too_large(batch * count, ITEMS_MAX)?;
    too_large(3 + row_bytes + count * onion::LAYER_BYTES, ITEM_BYTES_MAX)?;
    for row in &rows {
        too_large(row.len(), row_bytes)?;
    }
    let place = Place { session: permit.session, question: permit.question.digest(), me, count: count as u16 };
    let keys = KeyPair::draw(&mut coins);
    let hello = place.message(0, Body::Key(keys.public()));
    let roster = permit.roster.digest();
    let shuffle = Shuffle { place, roster, keys, coins, inbox: Inbox::new(place), round: 0, rows, batch, row_bytes };
    Ok(Transition::Continue(shuffle, vec![Outgoing { to: To::Others, message: hello }]))
}

impl Machine for Shuffle {
    /// All rows, sorted.
    type Output = Concluded<Vec<Item>>;

    fn step(mut self, message: Message) -> Result<Transition<Self>, Fault> {
        self.inbox.accept(message, self.round)?;
        let mut outgoing = Vec::new();
        loop {
            let (me, last) = (self.place.me, self.place.count - 1);
            let my_turn = 1 + u32::from(me);
            if self.round == 0 {
                let Some(bodies) = self.inbox.all(0) else { break };
                let batch = self.wrap(bodies)?;
                self.round = my_turn;
                if me == 0 {
                    self.rows = batch;
                } else {
                    outgoing.push(self.place_outgoing(To::One(0), 1, Body::Layered(batch)));
                }
            } else if self.round == my_turn {
                let Some(layered) = self.layered()? else { break };
                let stripped = self.strip(layered)?;
                self.round = u32::from(last) + 2;
                if me == last {
                    let rows = plain(me, stripped)?;
                    outgoing.push(self.place_outgoing(To::Others, self.round, Body::Rows(rows.clone())));
                    return Ok(Transition::Finish(self.conclude(rows), outgoing));
                }
                outgoing.push(self.place_outgoing(To::One(me + 1), my_turn + 1, Body::Layered(stripped)));
            } else {
                return match self.inbox.only(self.round, last)? {
                    Some(Body::Rows(rows)) => Ok(Transition::Finish(self.conclude(rows), outgoing)),
                    Some(_) => Err(Fault::OutOfPlace { sender: last, round: self.round }),
                    None => Ok(Transition::Continue(self, outgoing)),
                };
            }
        }
        Ok(Transition::Continue(self, outgoing))
    }
}

impl Shuffle {
    fn place_outgoing(&self, to: To, round: u32, body: Body) -> Outgoing {
        Outgoing { to, message: self.place.message(round, body) }
    }

    fn wrap(&mut self, bodies: Vec<(u16, Body)>) -> Result<Vec<Item>, Fault> {
        let mut publics = vec![self.keys.public(); usize::from(self.place.count)];
        for (sender, body) in bodies {
            let Body::Key(public) = body else { return Err(Fault::OutOfPlace { sender, round: 0 }) };
            publics[usize::from(sender)] = public;
        }
        let rows = std::mem::take(&mut self.rows);
        let padded = rows.iter().map(|row| Some(row.as_slice())).chain(std::iter::repeat(None)).take(self.batch);
        let row_bytes = self.row_bytes;
        let coins = &mut self.coins;
        let (place, roster) = (&self.place, &self.roster);
        padded.map(|row| onion::wrap(onion::pad(row, row_bytes), &publics, place, roster, coins)).collect()
    }

    /// What is to be stripped in our turn, once it is there.
    fn layered(&mut self) -> Result<Option<Vec<Item>>, Fault> {
        let (me, round) = (self.place.me, self.round);
        let mut all = Vec::new();
        if me == 0 {
            let Some(bodies) = self.inbox.all(round) else { return Ok(None) };
            all.append(&mut self.rows);
            for (sender, body) in bodies {
                match body {
                    Body::Layered(items) if items.len() == self.batch => all.extend(items),
                    _ => return Err(Fault::OutOfPlace { sender, round }),
                }
            }
        } else {
            match self.inbox.only(round, me - 1)? {
                Some(Body::Layered(items)) if items.len() == self.batch * usize::from(self.place.count) => all = items,
                Some(_) => return Err(Fault::OutOfPlace { sender: me - 1, round }),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    fn strip(&mut self, layered: Vec<Item>) -> Result<Vec<Item>, Fault> {
        let sender = self.place.me.saturating_sub(1);
        let distinct: HashSet<&Item> = layered.iter().collect();
        if distinct.len() != layered.len() {
            return Err(Fault::Tampered { sender });
        }
        let me = self.place.me;
        let strip = |item: &Item| onion::strip(item, &self.keys, me, &self.place, &self.roster);
        let stripped: Option<Vec<Item>> = layered.iter().map(strip).collect();
        let mut stripped = stripped.ok_or(Fault::Tampered { sender })?;
        self.coins.shuffle(&mut stripped);
        Ok(stripped)
    }

    fn conclude(self, rows: Vec<Item>) -> Concluded<Vec<Item>> {
        let mut ledger = Ledger::default();
        ledger.record(1, Kind::BatchSize, "rows handed in by each", vec![self.batch as u64]);
        ledger.record(self.round, Kind::Rows, "rows", vec![rows.len() as u64]);
        Concluded { output: rows, ledger }
    }
}

/// The rows without their padding, in an order that tells nothing.
fn plain(me: u16, padded: Vec<Item>) -> Result<Vec<Item>, Fault> {
    let rows: Option<Vec<Option<Item>>> = padded.iter().map(|row| onion::unpad(row)).collect();
    let mut rows: Vec<Item> = rows.ok_or(Fault::Tampered { sender: me })?.into_iter().flatten().collect();
    rows.sort_unstable();
    Ok(rows)
}

impl fmt::Debug for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shuffle").field("me", &self.place.me).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BurnBook, Question, Roster, simulate};

    fn starts(inputs: &[Vec<Item>], batch: usize, seed: u64) -> Vec<Transition<Shuffle>> {
        let roster = Roster::numbered(inputs.len()).unwrap();
        let start = |(me, rows): (usize, &Vec<Item>)| {
            let permit = BurnBook::default().permit([9; 16], Question::new("rows", b""), &roster).unwrap();
            start(permit, me as u16, rows.clone(), batch, 8, Coins::danger_from_seed(seed + me as u64)).unwrap()
        };
        inputs.iter().enumerate().map(start).collect()
    }

    #[test]
    fn all_rows_arrive_with_their_repetitions_and_nothing_else() {
        for (count, seed) in [(3, 1), (4, 2), (6, 3)] {
            let inputs: Vec<Vec<Item>> =
                (0..count).map(|me| (0..me).map(|row| format!("{}", row % 2).into_bytes()).collect()).collect();
            let mut expected: Vec<Item> = inputs.concat();
            expected.sort();
            let (outputs, traffic) = simulate::run(starts(&inputs, count, seed), seed).unwrap();
            assert!(outputs.iter().all(|concluded| concluded.output == expected));
            assert_eq!(traffic.rounds, count as u64 + 2);
        }
    }

    #[test]
    fn everybody_hands_in_the_same_number_of_onions_of_the_same_length() {
        let inputs = [vec![b"a".to_vec(), b"bb".to_vec()], vec![], vec![b"12345678".to_vec()]];
        let mut seen = HashSet::new();
        let watcher = |delivery: &simulate::Delivery| {
            if let (1, Body::Layered(items)) = (delivery.message.round, &delivery.message.body) {
                seen.insert((items.len(), items[0].len(), items[1].len()));
            }
        };
        simulate::watch(starts(&inputs, 2, 4), 4, watcher).unwrap();
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn whoever_strips_a_layer_changes_the_order() {
        let mut coins = Coins::danger_from_seed(6);
        let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::draw(&mut coins)).collect();
        let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
        let (place, roster) = (Place { session: [1; 16], question: [2; 32], me: 0, count: 3 }, [3; 32]);
        let mut rows: Vec<Item> = (0..40u8).map(|row| onion::pad(Some(&[row]), 4)).collect();
        let wrap = |row: &Item| onion::wrap(row.clone(), &publics, &place, &roster, &mut coins).unwrap();
        let mut layered: Vec<Item> = rows.iter().map(wrap).collect();
        let mut order: Vec<usize> = (0..40).collect();
        for (me, own) in (0u16..).zip(keys) {
            let place = Place { me, ..place };
            // What the order would be if nobody shuffled.
            let kept: Vec<Item> =
                layered.iter().map(|item| onion::strip(item, &own, me, &place, &roster).unwrap()).collect();
            let coins = Coins::danger_from_seed(7 + u64::from(me));
            let (inbox, none) = (Inbox::new(place), Vec::new());
            let mut shuffle =
                Shuffle { place, roster, keys: own, coins, inbox, round: 0, rows: none, batch: 40, row_bytes: 4 };
            layered = shuffle.strip(layered).unwrap();
            let moved: Vec<usize> =
                layered.iter().map(|item| kept.iter().position(|other| other == item).unwrap()).collect();
            let still = moved.iter().enumerate().filter(|(place, from)| place == *from).count();
            assert!(still < 8, "{still} of 40 stay where they were");
            order = moved.iter().map(|from| order[*from]).collect();
        }
        assert_eq!(layered, order.iter().map(|row| rows[*row].clone()).collect::<Vec<_>>());
        layered.sort();
        rows.sort();
        assert_eq!(layered, rows);
    }

    #[test]
    fn a_changed_and_a_repeated_onion_end_the_run() {
        let inputs = vec![vec![b"a".to_vec()], vec![b"b".to_vec()], vec![b"c".to_vec()]];
        for repeat in [false, true] {
            let mut machines: Vec<Option<Shuffle>> = Vec::new();
            let mut keys = Vec::new();
            for start in starts(&inputs, 1, 5) {
                let Transition::Continue(machine, outgoing) = start else { panic!("over at once") };
                machines.push(Some(machine));
                keys.extend(outgoing.into_iter().map(|one| one.message));
            }
            let mut batches = Vec::new();
            for key in &keys {
                for me in (0..3u16).filter(|me| *me != key.sender) {
                    let machine = machines[usize::from(me)].take().unwrap();
                    let Transition::Continue(machine, outgoing) = machine.step(key.clone()).unwrap() else { panic!() };
                    machines[usize::from(me)] = Some(machine);
                    batches.extend(outgoing.into_iter().map(|one| one.message));
                }
            }
            let Body::Layered(first) = batches[0].body.clone() else { panic!() };
            if let Body::Layered(second) = &mut batches[1].body {
                if repeat { *second = first } else { second[0][50] ^= 1 }
            }
            let machine = machines[0].take().unwrap();
            let Ok(Transition::Continue(machine, _)) = machine.step(batches.remove(0)) else { panic!() };
            assert_eq!(machine.step(batches.remove(0)).unwrap_err(), Fault::Tampered { sender: 0 }, "{repeat}");
        }
    }
}
