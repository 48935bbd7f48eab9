//! Rows that must travel, without their owners: a chain of custodians, each of whom strips one
//! layer of encryption and shuffles.
//!
//! Round 0: keys. Round 1: each custodian wraps its rows in one layer for every custodian
//! (`onion.rs`) and hands them to the first. Each in turn strips its layer off all of them,
//! shuffles, hands them to the next, and lists hashes of them to all others. Before the last layer
//! is stripped, all confirm that their own rows are in every list; then the last custodian opens
//! the rows and tells all, who confirm to each other what they received. All hand in the same
//! number of rows of the same length: rows are padded, and dummy rows, which vanish at the end,
//! fill up the batch. A batch travels in chunks that every transport takes.
//!
//! **What a party sees**: onions before its layer and after it, in an order of its own making,
//! hashes of those at others, and the rows at the end, sorted.
//!
//! **Why that can be simulated** from its own rows and the result: an onion with a layer of a
//! custodian outside a coalition is a ciphertext that cannot be distinguished from one of anything
//! else of that length; after an outsider's shuffle, the order of the rows from outside is uniform
//! and unknown. With at least two custodians outside, whichever of them comes last in the chain has
//! mixed the rows of both. The size of a batch is agreed beforehand, so it tells nothing about how
//! many rows a custodian has.
//!
//! **A custodian that drops or replaces an onion** is found by the onion's owner, who made all its
//! layers and so knows its hash at every place, before any row is open: the result of a run without
//! one row, compared with that of a run with it, would show that row's owner. The owner names the
//! custodian in whose list it is missing. The last custodian sees the rows first, and can only
//! replace rows whose owner it does not know; the owner complains, and is known then.
//!
//! **What it does not protect against**: contents that name their owner; n − 1 custodians together;
//! a custodian that adds rows in place of padding; the last custodian, who may learn the owner of a
//! row by leaving it out, at the price of a run that fails by its hand. What is *changed* on the
//! way does not open and ends the run, and so do two equal onions.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::keys::KeyPair;
use super::onion;
use crate::burn::Permit;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::inbox::{Inbox, RunPlace};
use crate::ledger::{Ledger, OpenedKind};
use crate::long;
use crate::machine::{self, Concluded, Effects, Engine, Failure, Machine, Outgoing, To, Transition};
use crate::message::{Body, Digest, ITEM_BYTES_MAX, Item, Message, MessageChunk};

/// A chunk of a batch in bytes: far below the longest message.
const CHUNK_BYTES: usize = 1 << 22;

/// The hash of an item in a list.
type Hash = [u64; 2];

fn hash_of(item: &[u8]) -> Hash {
    let digest = long::digest(item);
    let (words, _) = digest.as_chunks::<8>();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

/// One custodian's side of a shuffle.
pub struct Shuffle {
    place: RunPlace,
    roster: Digest,
    /// Roster and all public keys, once they are known.
    agreed: Digest,
    keys: KeyPair,
    coins: Coins,
    inbox: Inbox,
    round: u32,
    /// Our own, to be looked for in the result.
    rows: Vec<Item>,
    /// Our onions, where we strip first.
    onions: Vec<Item>,
    /// By custodian but the last, the hashes of our own onions after its turn.
    own_hashes: Vec<Vec<Hash>>,
    /// Over all lists so far.
    lists: Digest,
    /// The items whose last layer is removed once all have confirmed.
    sealed: Vec<(u16, Item)>,
    #[cfg(test)]
    publics: Vec<[u8; 32]>,
    batch: usize,
    row_bytes: usize,
    concluded: Option<(Vec<Item>, Digest)>,
    ledger: Ledger,
    journaled: usize,
    send: Vec<Outgoing>,
}

impl Shuffle {
    /// The kinds of values that a shuffle opens.
    pub const MAY_OPEN: [OpenedKind; 2] = [OpenedKind::BatchSize, OpenedKind::Rows];
}

/// Starts one custodian's side. `batch` is the number of rows that each hands in, `row_bytes`
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
    within("words in one list of rows", all.saturating_mul(2), place.limits.words_max)?;
    for row in &rows {
        within("bytes of a row", row.len() as u64, row_bytes as u64)?;
    }
    let keys = KeyPair::draw(&mut coins);
    let hello = place.message(0, Body::Key(keys.public()));
    // What waits is a batch at most, and the messages around it.
    let room = all.saturating_mul(item_bytes + 32).saturating_add(1 << 20);
    let mut ledger = Ledger::default();
    ledger.record(1, OpenedKind::BatchSize, "rows handed in by each", vec![batch as u64]);
    let shuffle = Shuffle {
        place,
        roster: permit.roster.digest(),
        agreed: [0; 32],
        keys,
        coins,
        inbox: Inbox::with_room(place, room).ahead(u32::from(place.count)),
        round: 0,
        rows,
        onions: Vec::new(),
        own_hashes: Vec::new(),
        lists: [0; 32],
        sealed: Vec::new(),
        #[cfg(test)]
        publics: Vec::new(),
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
        match self.stage() {
            // In the chain one custodian sends after the other.
            ShuffleStage::Turn(sender) => vec![sender],
            ShuffleStage::Announced => vec![self.place.count - 1],
            ShuffleStage::Keys | ShuffleStage::Onions | ShuffleStage::Checked | ShuffleStage::Confirmed => {
                self.inbox.missing(self.round)
            }
        }
    }
}

/// The purpose of a round.
enum ShuffleStage {
    Keys,
    /// Onions for the first custodian.
    Onions,
    /// A custodian passes on its items and lists their hashes.
    Turn(u16),
    /// All confirm that their rows are in every list.
    Checked,
    /// The last custodian shows the rows.
    Announced,
    Confirmed,
}

impl Engine for Shuffle {
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
        let (me, last) = (self.place.me, self.place.count - 1);
        loop {
            match self.stage() {
                ShuffleStage::Keys => {
                    let Some(bodies) = self.inbox.all_single(0)? else { return Ok(None) };
                    let onions = self.wrap(bodies)?;
                    if me == 0 {
                        (self.onions, self.round) = (onions, 1);
                    } else {
                        self.hand(To::One(0), 1, onions, Body::Layered);
                        self.round = 2;
                    }
                }
                ShuffleStage::Onions => {
                    let Some(layered) = self.layered()? else { return Ok(None) };
                    self.take_turn(layered)?;
                }
                ShuffleStage::Turn(sender) if sender + 1 == me => {
                    let Some(layered) = self.layered()? else { return Ok(None) };
                    self.take_list(sender, layered.iter().map(|(_, item)| hash_of(item)).collect())?;
                    self.round += 1;
                    if me == last {
                        self.sealed = layered;
                        self.confirm_lists();
                    } else {
                        self.take_turn(layered)?;
                    }
                }
                ShuffleStage::Turn(sender) => {
                    let Some(bodies) = self.inbox.only(self.round, sender)? else { return Ok(None) };
                    let list = self.listed(sender, bodies)?;
                    self.take_list(sender, list)?;
                    self.round += 1;
                    if matches!(self.stage(), ShuffleStage::Checked) {
                        self.confirm_lists();
                    }
                }
                ShuffleStage::Checked => {
                    let Some(bodies) = self.inbox.all_single(self.round)? else { return Ok(None) };
                    self.compare(bodies, &self.lists, &self.lists, "list of rows on their way")?;
                    self.round += 1;
                    if me == last {
                        let sealed = std::mem::take(&mut self.sealed);
                        let stripped = self.strip(sealed)?;
                        let rows = self.plain(stripped)?;
                        self.hand(To::Others, self.round, rows.clone(), Body::Rows);
                        self.conclude(rows)?;
                    }
                }
                ShuffleStage::Announced => {
                    let Some(bodies) = self.inbox.only(self.round, last)? else { return Ok(None) };
                    let rows = self.announced(last, bodies)?;
                    self.conclude(rows)?;
                }
                ShuffleStage::Confirmed => {
                    let Some(bodies) = self.inbox.all_single(self.round)? else { return Ok(None) };
                    let Some((rows, digest)) = self.concluded.take() else { return Err(Fault::Internal("no rows")) };
                    self.compare(bodies, &self.ledger.digest(), &digest, "output or ledger at the end")?;
                    return Ok(Some(Concluded { output: rows, ledger: self.ledger.clone() }));
                }
            }
        }
    }
}

impl Shuffle {
    fn stage(&self) -> ShuffleStage {
        let last = u32::from(self.place.count) - 1;
        match self.round {
            0 => ShuffleStage::Keys,
            1 => ShuffleStage::Onions,
            round if round < last + 2 => ShuffleStage::Turn((round - 2) as u16),
            round if round == last + 2 => ShuffleStage::Checked,
            round if round == last + 3 => ShuffleStage::Announced,
            _ => ShuffleStage::Confirmed,
        }
    }

    /// Strips, shuffles, hands on and lists.
    fn take_turn(&mut self, layered: Vec<(u16, Item)>) -> Result<(), Fault> {
        let me = self.place.me;
        let stripped = self.strip(layered)?;
        let mut list: Vec<Hash> = stripped.iter().map(|item| hash_of(item)).collect();
        list.sort_unstable();
        let round = u32::from(me) + 2;
        self.hand(To::One(me + 1), round, stripped, Body::Layered);
        let message = self.place.message(round, Body::Listed(list.concat()));
        for other in self.place.others().filter(|other| *other != me + 1) {
            self.send.push(Outgoing { to: To::One(other), message: message.clone() });
        }
        self.take_list(me, list)?;
        self.round = round + 1;
        if matches!(self.stage(), ShuffleStage::Checked) {
            self.confirm_lists();
        }
        Ok(())
    }

    fn listed(&self, sender: u16, bodies: Vec<Body>) -> Result<Vec<Hash>, Fault> {
        let out_of_place = || Fault::OutOfPlace { sender, round: self.round };
        let [Body::Listed(words)] = <[Body; 1]>::try_from(bodies).map_err(|_| out_of_place())? else {
            return Err(out_of_place());
        };
        let (list, rest) = words.as_chunks::<2>();
        let whole = list.len() == self.batch * usize::from(self.place.count) && rest.is_empty();
        if whole { Ok(list.to_vec()) } else { Err(out_of_place()) }
    }

    /// Looks for our own onions in what a custodian hands on.
    fn take_list(&mut self, sender: u16, mut list: Vec<Hash>) -> Result<(), Fault> {
        list.sort_unstable();
        let own = self.own_hashes.get(usize::from(sender)).ok_or(Fault::Internal("no onions"))?;
        if own.iter().any(|hash| list.binary_search(hash).is_err()) {
            return Err(Fault::Dropped { sender });
        }
        let mut hash = long::hasher();
        hash.bytes(&self.lists);
        list.iter().flatten().for_each(|word| hash.u64(*word));
        self.lists = hash.digest();
        Ok(())
    }

    /// Says that our own rows are in every list.
    fn confirm_lists(&mut self) {
        let body = Body::Confirm { ledger: self.lists, output: self.lists, seen: Vec::new() };
        self.send.push(Outgoing { to: To::Others, message: self.place.message(self.round, body) });
    }

    /// Holds what all others confirm against what we have.
    fn compare(
        &self,
        bodies: Vec<(u16, Body)>,
        ledger: &Digest,
        output: &Digest,
        what: &'static str,
    ) -> Result<(), Fault> {
        for (sender, body) in bodies {
            match body {
                Body::Confirm { ledger: theirs, output: other, .. } if (&theirs, &other) != (ledger, output) => {
                    return Err(Fault::Disagrees { sender, what });
                }
                Body::Confirm { .. } => {}
                _ => return Err(Fault::OutOfPlace { sender, round: self.round }),
            }
        }
        Ok(())
    }

    fn hand(&mut self, to: To, round: u32, items: Vec<Item>, body: fn(MessageChunk) -> Body) {
        // A peer that takes no longer vectors takes no longer chunks either.
        let vector = usize::try_from(self.place.limits.words_max.saturating_mul(8)).unwrap_or(usize::MAX);
        for chunk in MessageChunk::cut(items, CHUNK_BYTES.min(vector)) {
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
        let mut onions = Vec::with_capacity(self.batch);
        self.own_hashes = vec![Vec::with_capacity(self.batch); usize::from(place.count) - 1];
        for row in padded {
            let (onion, left) = onion::wrap(onion::pad(row, row_bytes), &publics, place, agreed, coins)?;
            self.own_hashes.iter_mut().zip(&left).for_each(|(hashes, left)| hashes.push(hash_of(left)));
            onions.push(onion);
        }
        #[cfg(test)]
        self.publics.clone_from(&publics);
        Ok(onions)
    }

    /// The items that a custodian handed us, of which there must be `count`.
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

    /// The items of our turn and their sender, once they are complete.
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
        #[cfg(test)]
        if super::mutants::on(super::mutants::Mutant::Replaces { hop: self.place.me }) {
            // The onion that custodian 1 handed in first, where this is the first hop.
            let victim = layered.iter().position(|(sender, _)| *sender == 1).unwrap_or(0);
            let padding = onion::pad(None, self.row_bytes);
            let (_, left) = onion::wrap(padding, &self.publics, &self.place, &self.agreed, &mut self.coins)?;
            stripped[victim].clone_from(&left[usize::from(self.place.me)]);
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
        let confirmed = u32::from(self.place.count) + 3;
        self.ledger.record(confirmed - 1, OpenedKind::Rows, "rows", vec![rows.len() as u64]);
        let mut hash = long::hasher();
        for row in &rows {
            hash.u64(row.len() as u64);
            hash.bytes(row);
        }
        let output = hash.digest();
        self.round = confirmed;
        let body = Body::Confirm { ledger: self.ledger.digest(), output, seen: Vec::new() };
        self.send.push(Outgoing { to: To::Others, message: self.place.message(self.round, body) });
        self.concluded = Some((rows, output));
        Ok(())
    }
}

/// The context that all layers are bound to.
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
mod tests;
