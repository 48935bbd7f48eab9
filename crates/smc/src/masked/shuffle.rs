//! Rows that must travel, without their owners: a chain of custodians, each of whom strips one
//! layer of encryption and shuffles.
//!
//! Round 0: keys. Round 1: everybody wraps its rows in one layer for each custodian (`onion.rs`)
//! and hands them to the first. Each custodian in turn strips its layer off all of them, shuffles,
//! and hands on. After the last layer the rows are plain, and the last one tells all, who confirm
//! to each other what they received. Everybody hands in the same number of rows of the same
//! length: rows are padded, and dummy rows, which vanish at the end, fill up the batch. A batch
//! travels in chunks that every transport takes.
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
//! a custodian that adds rows in place of padding. What is *changed* on the way does not open and
//! ends the run, and so do two equal onions; and everybody looks for its own rows in the result, so
//! that none can be replaced unless another row has the same content.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::keys::KeyPair;
use super::onion;
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::inbox::{Inbox, Place};
use crate::ledger::{Kind, Ledger};
use crate::long;
use crate::machine::{self, Concluded, Effects, Engine, Failure, Machine, Outgoing, To, Transition};
use crate::message::{Body, Chunk, Digest, ITEM_BYTES_MAX, Item, Message};

/// A chunk of a batch in bytes: far below the longest message.
const CHUNK_BYTES: usize = 1 << 22;

/// One custodian's side of a shuffle.
pub struct Shuffle {
    place: Place,
    roster: Digest,
    /// Roster and everybody's public keys, once they are known.
    agreed: Digest,
    keys: KeyPair,
    coins: Coins,
    inbox: Inbox,
    round: u32,
    /// Our own, to be looked for in the result.
    rows: Vec<Item>,
    /// Our onions, where we strip first.
    onions: Vec<Item>,
    batch: usize,
    row_bytes: usize,
    concluded: Option<(Vec<Item>, Digest)>,
    ledger: Ledger,
    journaled: usize,
    send: Vec<Outgoing>,
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
    let place = permit.place(me)?;
    let count = u64::from(place.count);
    let within = |what, found: u64, max: u64| {
        if found > max { Err(Fault::Limit { what, found, max }) } else { Ok(()) }
    };
    within("rows of one custodian", rows.len() as u64, batch as u64)?;
    let item_bytes = 3 + row_bytes as u64 + count * onion::LAYER_BYTES as u64;
    within("bytes of a row in all its layers", item_bytes, ITEM_BYTES_MAX as u64)?;
    let all = (batch as u64).saturating_mul(count);
    within("rows in a shuffle, padding included", all, place.limits.rows_max)?;
    let batch_bytes = all.saturating_mul(item_bytes + 4);
    within("bytes in a shuffle", batch_bytes, place.limits.batch_bytes_max)?;
    for row in &rows {
        within("bytes of a row", row.len() as u64, row_bytes as u64)?;
    }
    let keys = KeyPair::draw(&mut coins);
    let hello = place.message(0, Body::Key(keys.public()));
    // What waits is a batch at most, and the messages around it.
    let room = all.saturating_mul(item_bytes + 32).saturating_add(1 << 20);
    let mut ledger = Ledger::default();
    ledger.record(1, Kind::BatchSize, "rows handed in by each", vec![batch as u64]);
    let shuffle = Shuffle {
        place,
        roster: permit.roster.digest(),
        agreed: [0; 32],
        keys,
        coins,
        inbox: Inbox::with_room(place, room),
        round: 0,
        rows,
        onions: Vec::new(),
        batch,
        row_bytes,
        concluded: None,
        ledger,
        journaled: 0,
        send: Vec::new(),
    };
    let send = vec![Outgoing { to: To::Others, message: hello }];
    Ok(Transition::Continue(shuffle, Effects { opened: Vec::new(), send }))
}

impl Machine for Shuffle {
    /// All rows, sorted.
    type Output = Concluded<Vec<Item>>;

    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure> {
        machine::step(self, from, message)
    }

    fn abort(self, blamed: Option<u16>) -> Outgoing {
        machine::farewell(&self, Reason::GaveUp, blamed)
    }

    fn taken_in(&self) -> usize {
        self.inbox.taken_in()
    }

    fn waits_for(&self) -> Vec<u16> {
        let (me, last) = (self.place.me, self.place.count - 1);
        match self.round {
            // In the chain only one can send; which of those before us holds it up, nobody sees.
            round if me > 0 && round == 1 + u32::from(me) => vec![me - 1],
            round if me != last && round == u32::from(last) + 2 => vec![last],
            round => self.inbox.missing(round),
        }
    }
}

impl Engine for Shuffle {
    fn place(&self) -> Place {
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
        let (me, last) = (self.place.me, self.place.count - 1);
        let (my_turn, announced) = (1 + u32::from(me), u32::from(last) + 2);
        loop {
            if self.round == 0 {
                let Some(bodies) = self.inbox.all_single(0)? else { return Ok(None) };
                let onions = self.wrap(bodies)?;
                self.round = my_turn;
                if me == 0 {
                    self.onions = onions;
                } else {
                    self.hand(To::One(0), 1, onions, Body::Layered);
                }
            } else if self.round == my_turn {
                let Some(layered) = self.layered()? else { return Ok(None) };
                let stripped = self.strip(layered)?;
                if me == last {
                    let rows = self.plain(stripped)?;
                    self.hand(To::Others, announced, rows.clone(), Body::Rows);
                    self.conclude(rows)?;
                } else {
                    self.hand(To::One(me + 1), my_turn + 1, stripped, Body::Layered);
                    self.round = announced;
                }
            } else if self.round == announced {
                let Some(bodies) = self.inbox.only(announced, last)? else { return Ok(None) };
                let rows = self.announced(last, bodies)?;
                self.conclude(rows)?;
            } else {
                let Some(bodies) = self.inbox.all_single(self.round)? else { return Ok(None) };
                let Some((rows, digest)) = self.concluded.take() else { return Err(Fault::Internal("no rows")) };
                let ledger = self.ledger.digest();
                for (sender, body) in bodies {
                    match body {
                        Body::Confirm { output, .. } if output != digest => {
                            return Err(Fault::Disagrees { sender, what: "output" });
                        }
                        Body::Confirm { ledger: theirs, .. } if theirs != ledger => {
                            return Err(Fault::Disagrees { sender, what: "ledger" });
                        }
                        Body::Confirm { .. } => {}
                        _ => return Err(Fault::OutOfPlace { sender, round: self.round }),
                    }
                }
                return Ok(Some(Concluded { output: rows, ledger: self.ledger.clone() }));
            }
        }
    }
}

impl Shuffle {
    fn hand(&mut self, to: To, round: u32, items: Vec<Item>, body: fn(Chunk) -> Body) {
        // Whoever takes no longer vectors takes no longer chunks either.
        let vector = usize::try_from(self.place.limits.words_max.saturating_mul(8)).unwrap_or(usize::MAX);
        for chunk in Chunk::cut(items, CHUNK_BYTES.min(vector)) {
            self.send.push(Outgoing { to, message: self.place.message(round, body(chunk)) });
        }
    }

    fn wrap(&mut self, bodies: Vec<(u16, Body)>) -> Result<Vec<Item>, Fault> {
        let mut publics = vec![self.keys.public(); usize::from(self.place.count)];
        for (sender, body) in bodies {
            let Body::Key(public) = body else { return Err(Fault::OutOfPlace { sender, round: 0 }) };
            publics[usize::from(sender)] = public;
        }
        self.agreed = agreed_on(&self.roster, &publics);
        let padded = self.rows.iter().map(|row| Some(row.as_slice())).chain(std::iter::repeat(None)).take(self.batch);
        let row_bytes = self.row_bytes;
        let coins = &mut self.coins;
        let (place, agreed) = (&self.place, &self.agreed);
        padded.map(|row| onion::wrap(onion::pad(row, row_bytes), &publics, place, agreed, coins)).collect()
    }

    /// The items of what somebody handed us, of which there must be so many.
    fn items(&self, sender: u16, bodies: Vec<Body>, count: usize) -> Result<Vec<Item>, Fault> {
        let mut items = Vec::new();
        for body in bodies {
            match body {
                Body::Layered(chunk) => items.extend(chunk.items),
                _ => return Err(Fault::OutOfPlace { sender, round: self.round }),
            }
        }
        if items.len() == count { Ok(items) } else { Err(Fault::OutOfPlace { sender, round: self.round }) }
    }

    /// What is to be stripped in our turn with who handed it to us, once it is there.
    fn layered(&mut self) -> Result<Option<Vec<(u16, Item)>>, Fault> {
        let (me, round) = (self.place.me, self.round);
        let from = |sender: u16, items: Vec<Item>| items.into_iter().map(move |item| (sender, item));
        if me > 0 {
            let Some(bodies) = self.inbox.only(round, me - 1)? else { return Ok(None) };
            let items = self.items(me - 1, bodies, self.batch * usize::from(self.place.count))?;
            return Ok(Some(from(me - 1, items).collect()));
        }
        let Some(all) = self.inbox.all(round) else { return Ok(None) };
        let mut layered: Vec<(u16, Item)> = from(0, std::mem::take(&mut self.onions)).collect();
        for (sender, bodies) in all {
            layered.extend(from(sender, self.items(sender, bodies, self.batch)?));
        }
        Ok(Some(layered))
    }

    fn strip(&mut self, layered: Vec<(u16, Item)>) -> Result<Vec<Item>, Fault> {
        let mut distinct = HashSet::new();
        if let Some((sender, _)) = layered.iter().find(|(_, item)| !distinct.insert(item)) {
            return Err(Fault::Tampered { sender: *sender });
        }
        let strip = |(sender, item): &(u16, Item)| {
            let stripped = onion::strip(item, &self.keys, self.place.me, &self.place, &self.agreed);
            stripped.ok_or(Fault::Tampered { sender: *sender })
        };
        let mut stripped: Vec<Item> = layered.iter().map(strip).collect::<Result<_, Fault>>()?;
        #[cfg(test)]
        if super::mutants::on(super::mutants::Mutant::NotShuffled) {
            return Ok(stripped);
        }
        self.coins.shuffle(&mut stripped);
        Ok(stripped)
    }

    /// The rows without their padding, in an order that tells nothing.
    fn plain(&self, padded: Vec<Item>) -> Result<Vec<Item>, Fault> {
        let rows: Option<Vec<Option<Item>>> = padded.iter().map(|row| onion::unpad(row)).collect();
        let before = self.place.me.saturating_sub(1);
        let mut rows: Vec<Item> = rows.ok_or(Fault::Tampered { sender: before })?.into_iter().flatten().collect();
        rows.sort_unstable();
        self.look_for_own(&rows, before)?;
        Ok(rows)
    }

    /// The rows that the last one shows.
    fn announced(&self, last: u16, bodies: Vec<Body>) -> Result<Vec<Item>, Fault> {
        let out_of_place = || Fault::OutOfPlace { sender: last, round: self.round };
        let mut rows = Vec::new();
        for body in bodies {
            let Body::Rows(chunk) = body else { return Err(out_of_place()) };
            rows.extend(chunk.items);
        }
        let fits = |row: &Item| row.len() <= self.row_bytes;
        if rows.len() > self.batch * usize::from(self.place.count) || !rows.iter().all(fits) || !rows.is_sorted() {
            return Err(out_of_place());
        }
        self.look_for_own(&rows, last)?;
        Ok(rows)
    }

    fn look_for_own(&self, rows: &[Item], sender: u16) -> Result<(), Fault> {
        let mut own: BTreeMap<&Item, usize> = BTreeMap::new();
        self.rows.iter().for_each(|row| *own.entry(row).or_default() += 1);
        let there = |row: &Item| {
            let from = rows.partition_point(|other| other < row);
            rows[from..].iter().take_while(|other| *other == row).count()
        };
        let lost = own.into_iter().any(|(row, count)| there(row) < count);
        if lost { Err(Fault::Lost { sender }) } else { Ok(()) }
    }

    fn conclude(&mut self, rows: Vec<Item>) -> Result<(), Fault> {
        self.ledger.record(u32::from(self.place.count) + 1, Kind::Rows, "rows", vec![rows.len() as u64]);
        let mut hash = long::hasher();
        for row in &rows {
            hash.u64(row.len() as u64);
            hash.bytes(row);
        }
        let output = hash.digest();
        self.round = u32::from(self.place.count) + 2;
        let body = Body::Confirm { ledger: self.ledger.digest(), output, seen: Vec::new() };
        self.send.push(Outgoing { to: To::Others, message: self.place.message(self.round, body) });
        self.concluded = Some((rows, output));
        Ok(())
    }
}

/// What all layers are bound to.
pub(super) fn agreed_on(roster: &Digest, publics: &[[u8; 32]]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(b"hedgerow shuffle keys 1");
    hash.update(roster);
    publics.iter().for_each(|public| hash.update(public));
    hash.finalize().into()
}

impl fmt::Debug for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shuffle").field("me", &self.place.me).field("round", &self.round).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Delivery;
    use crate::{BurnBook, Limits, Question, Roster, simulate};

    fn permit(count: usize) -> Permit {
        let roster = Roster::numbered(count).unwrap();
        BurnBook::default().permit([9; 16], Question::new("rows", b""), &roster).unwrap()
    }

    fn starts(inputs: &[Vec<Item>], batch: usize, row_bytes: usize, seed: u64) -> Vec<Transition<Shuffle>> {
        let start = |(me, rows): (usize, &Vec<Item>)| {
            let coins = Coins::danger_from_seed(seed + me as u64);
            start(permit(inputs.len()), me as u16, rows.clone(), batch, row_bytes, coins).unwrap()
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
            let (outputs, traffic) = simulate::run(starts(&inputs, count, 8, seed), seed).unwrap();
            assert!(outputs.iter().all(|concluded| concluded.output == expected));
            assert_eq!(traffic.rounds, count as u64 + 3);
        }
    }

    #[test]
    fn a_batch_larger_than_any_message_travels_in_chunks() {
        // 3 · 200 rows of 12 kB are 7 MB: two chunks.
        let inputs: Vec<Vec<Item>> = (0..3u8).map(|me| vec![vec![me; 12_000]; 190 + usize::from(me)]).collect();
        let mut chunks = 0;
        let watcher = |delivery: &Delivery| {
            if let Body::Layered(chunk) | Body::Rows(chunk) = &delivery.message.body {
                chunks = chunks.max(chunk.of);
            }
            assert!(delivery.message.encode().len() < 5_000_000);
        };
        let (outputs, _) = simulate::watch(starts(&inputs, 200, 12_000, 1), 1, watcher).unwrap();
        assert!(outputs.iter().all(|concluded| concluded.output.len() == 190 + 191 + 192));
        assert_eq!(chunks, 2);
    }

    #[test]
    fn what_exceeds_the_agreed_bounds_does_not_start() {
        let tight = Limits { batch_bytes_max: 10_000, ..Limits::default() };
        let start = |batch: usize, limits: Limits| {
            let roster = Roster::numbered(3).unwrap();
            let question = Question::new("rows", b"").within(limits);
            let permit = BurnBook::default().permit([9; 16], question, &roster).unwrap();
            start(permit, 0, Vec::new(), batch, 100, Coins::danger_from_seed(1)).map(|_| ())
        };
        assert_eq!(start(10, tight), Ok(()));
        assert!(matches!(start(20, tight), Err(Fault::Limit { what: "bytes in a shuffle", .. })));
        assert!(matches!(start(usize::MAX / 2, Limits::default()), Err(Fault::Limit { .. })));
        let few = Limits { rows_max: 29, ..Limits::default() };
        assert!(matches!(start(10, few), Err(Fault::Limit { what: "rows in a shuffle, padding included", .. })));
    }

    #[test]
    fn everybody_hands_in_the_same_number_of_onions_of_the_same_length() {
        let inputs = [vec![b"a".to_vec(), b"bb".to_vec()], vec![], vec![b"12345678".to_vec()]];
        let mut seen = HashSet::new();
        let watcher = |delivery: &Delivery| {
            if let (1, Body::Layered(chunk)) = (delivery.message.round, &delivery.message.body) {
                seen.insert((chunk.items.len(), chunk.items[0].len(), chunk.items[1].len()));
            }
        };
        simulate::watch(starts(&inputs, 2, 8, 4), 4, watcher).unwrap();
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn whoever_strips_a_layer_changes_the_order() {
        let mut coins = Coins::danger_from_seed(6);
        let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::draw(&mut coins)).collect();
        let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
        let place = permit(3).place(0).unwrap();
        let agreed = [3; 32];
        let mut rows: Vec<Item> = (0..40u8).map(|row| onion::pad(Some(&[row]), 4)).collect();
        let wrap = |row: &Item| onion::wrap(row.clone(), &publics, &place, &agreed, &mut coins).unwrap();
        let mut layered: Vec<Item> = rows.iter().map(wrap).collect();
        let mut order: Vec<usize> = (0..40).collect();
        for (me, own) in (0u16..).zip(keys) {
            let place = Place { me, ..place };
            // What the order would be if nobody shuffled.
            let kept: Vec<Item> =
                layered.iter().map(|item| onion::strip(item, &own, me, &place, &agreed).unwrap()).collect();
            let coins = Coins::danger_from_seed(7 + u64::from(me));
            let Ok(Transition::Continue(shuffle, _)) = start(permit(3), me, Vec::new(), 40, 4, coins) else { panic!() };
            let mut shuffle = Shuffle { agreed, keys: own, ..shuffle };
            layered = shuffle.strip(layered.into_iter().map(|item| (0, item)).collect()).unwrap();
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

    /// Runs with one change to a message, and gives every fault.
    fn faults(change: impl Fn(&mut Delivery)) -> Vec<(u16, Fault)> {
        let inputs = vec![vec![b"a".to_vec()], vec![b"b".to_vec()], vec![b"c".to_vec()]];
        simulate::tampered(starts(&inputs, 2, 4, 5), 5, change)
    }

    #[test]
    fn a_changed_and_a_repeated_onion_end_the_run_with_the_name_of_who_sent_it() {
        let changed = faults(|delivery| {
            if let (2, Body::Layered(chunk)) = (delivery.message.sender, &mut delivery.message.body) {
                chunk.items[0][50] ^= 1;
            }
        });
        assert_eq!(changed[0], (0, Fault::Tampered { sender: 2 }), "handed in by 2, found by 0");
        let repeated = faults(|delivery| {
            if let (1, 1, Body::Layered(chunk)) =
                (delivery.message.sender, delivery.message.round, &mut delivery.message.body)
            {
                chunk.items[1] = chunk.items[0].clone();
            }
        });
        assert_eq!(repeated[0], (0, Fault::Tampered { sender: 1 }));
    }

    #[test]
    fn rows_that_are_dropped_at_the_end_are_missed_by_their_owner() {
        let dropped = faults(|delivery| {
            if let Body::Rows(chunk) = &mut delivery.message.body {
                chunk.items.retain(|row| row != b"a");
            }
        });
        assert!(dropped.contains(&(0, Fault::Lost { sender: 2 })), "{dropped:?}");
        // Shown to one and not to another: the confirmation tells.
        let split = faults(|delivery| {
            if let (1, Body::Rows(chunk)) = (delivery.to, &mut delivery.message.body) {
                chunk.items.push(b"zz".to_vec());
            }
        });
        assert!(split.iter().any(|(_, fault)| matches!(fault, Fault::Disagrees { .. })), "{split:?}");
    }
}
