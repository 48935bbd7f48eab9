//! Loss of privacy of the ring's sums, medians, least and greatest values, by trying, and of the
//! same under masks.
//!
//! LoP = P(claim | what was seen, result) − P(claim | result), as for the union (TR-2008-013,
//! equation 1). Each claim is about a custodian's own value: its number in a sum, its least or
//! greatest value, one of its values where a median is looked for. Custodians choose the claim that
//! is right more often, so that no loss is below 0. Two adversaries are measured:
//!
//! - *alone*: a custodian's successor. In a sum it claims the word that it was passed. For a
//!   greatest value it does so in the pass in which that is right most often (Xiong, Chitti, Liu
//!   2005). For a median it also knows the counts that opened, takes its own values off, and claims
//!   a value from the interval that is densest.
//! - *neighbors*: predecessor and successor together, who know what a custodian added: its number,
//!   its counts, and the last value up to which it raised a greatest one.
//!
//! From the result alone a custodian claims the mean of the other numbers, the median itself, or
//! the greatest value. Under masks custodians have no neighbors: two others take their place.

use std::collections::BTreeMap;

use super::LopSetting;
use crate::baseline::{self, Chances};
use crate::burn::{BurnBook, Permit};
use crate::coins::Coins;
use crate::extremes::Extremes;
use crate::fault::Fault;
use crate::inquiry::Inquiry;
use crate::ledger::OpenedKind;
use crate::machine::{Concluded, Machine, Transition};
use crate::masked;
use crate::median::Medians;
use crate::message::Body;
use crate::roster::{Question, Roster};
use crate::simulate::{Carrier, Delivery, InOneProcess};
use crate::sum::Sums;

/// A result that custodians compute together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LopValues {
    /// Of one number of each custodian.
    Sum,
    Median,
    Least,
    Greatest,
}

/// By which protocols.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum By {
    Ring(Chances),
    Masks,
}

/// The measured losses, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ValueExposure {
    /// To a custodian's successor; under masks, to any other.
    pub alone: f64,
    /// To both neighbors together; under masks, to any two others.
    pub neighbors: f64,
    pub runs: u32,
}

/// Runs the protocol on random values, listens, and counts how often claims are true. `items` of
/// the setting are the values of all custodians, at least one each; a sum is of one number each.
pub fn measure_values(
    of: LopValues,
    by: By,
    setting: LopSetting,
    runs: u32,
    seed: u64,
) -> Result<ValueExposure, Fault> {
    let mut coins = Coins::danger_from_seed(seed);
    let each = if of == LopValues::Sum { 1 } else { (setting.items / setting.custodians).max(1) };
    let mut claims = Claims::default();
    for _ in 0..runs {
        let own: Vec<Vec<u64>> =
            (0..setting.custodians).map(|_| (0..each).map(|_| coins.below(setting.domain)).collect()).collect();
        match of {
            LopValues::Sum => claims.sum(&own, by, &mut coins)?,
            LopValues::Median => claims.median(&own, setting.domain, by, &mut coins)?,
            LopValues::Least => claims.extreme(&own, setting.domain, 0, by, &mut coins)?,
            LopValues::Greatest => claims.extreme(&own, setting.domain, 1, by, &mut coins)?,
        }
    }
    Ok(ValueExposure { alone: claims.gained_alone(), neighbors: claims.gained_by_two(), runs })
}

/// Claims, and how many were true.
#[derive(Debug, Default)]
struct Claims {
    made: f64,
    /// By pass.
    alone: Vec<f64>,
    two: f64,
    /// From the result and what one knows oneself, and from what two know.
    result: f64,
    result_of_two: f64,
}

impl Claims {
    /// In the pass in which it is right most often.
    fn right_alone(&self) -> f64 {
        self.alone.iter().copied().fold(0.0, f64::max)
    }

    fn gained_alone(&self) -> f64 {
        (self.right_alone().max(self.result) - self.result) / self.made.max(1.0)
    }

    /// Two can claim whatever one of them could.
    fn gained_by_two(&self) -> f64 {
        let right = self.two.max(self.right_alone()).max(self.result_of_two);
        (right - self.result_of_two) / self.made.max(1.0)
    }

    fn alone(&mut self, pass: usize, right: bool) {
        self.alone.resize(self.alone.len().max(pass + 1), 0.0);
        self.alone[pass] += f64::from(u8::from(right));
    }

    fn sum(&mut self, own: &[Vec<u64>], by: By, coins: &mut Coins) -> Result<(), Fault> {
        let inquiries = own.iter().map(|own| Sums::new(own.clone())).collect();
        let (concluded, heard) = listen(inquiries, by, &mut InOneProcess, coins)?;
        let total = concluded.output.first().copied().unwrap_or(0);
        let count = own.len() as u64;
        for (claimed, before, after) in heard.places() {
            let (theirs, one, other) = (own[claimed][0], own[before][0], own[after][0]);
            self.made += 1.0;
            self.alone(0, heard.word(claimed, 0, 0) == Some(theirs));
            self.result += right(mean(total - other, count - 1) == theirs);
            let two = mean(total - one - other, count.saturating_sub(2));
            self.result_of_two += right(two == theirs);
            self.two += right(heard.added(claimed, before, 0, total).unwrap_or(two) == theirs);
        }
        Ok(())
    }

    /// `lane` is 0 for least values, which are greatest ones turned round, and 1 for greatest ones.
    fn extreme(&mut self, own: &[Vec<u64>], domain: u64, lane: usize, by: By, coins: &mut Coins) -> Result<(), Fault> {
        let ends = |own: &Vec<u64>| Some((own.iter().copied().min()?, own.iter().copied().max()?));
        let inquiries = own.iter().map(|own| Extremes::new(vec![ends(own)], domain)).collect();
        let (_, heard) = listen(inquiries, by, &mut InOneProcess, coins)?;
        let coded = |own: &Vec<u64>| ends(own).map_or(0, |(low, high)| [domain - low, high + 1][lane]);
        let coded: Vec<u64> = own.iter().map(coded).collect();
        let result = coded.iter().copied().max().unwrap_or(0);
        for (claimed, before, _) in heard.places() {
            self.made += 1.0;
            let known = right(coded[claimed] == result);
            self.result += known;
            self.result_of_two += known;
            let mut raised_to = None;
            for pass in 0..heard.words[claimed].len() {
                let out = heard.word(claimed, pass, lane);
                self.alone(pass, out == Some(coded[claimed]));
                if out > heard.came_in(claimed, before, pass, lane) {
                    raised_to = out;
                }
            }
            self.two += if heard.first.is_some() { right(raised_to == Some(coded[claimed])) } else { known };
        }
        Ok(())
    }

    fn median(&mut self, own: &[Vec<u64>], domain: u64, by: By, coins: &mut Coins) -> Result<(), Fault> {
        let inquiries = own.iter().map(|own| Medians::new(vec![(own.clone(), domain)])).collect();
        let (concluded, heard) = listen(inquiries, by, &mut InOneProcess, coins)?;
        let Some(median) = concluded.output.first().copied().flatten() else { return Ok(()) };
        let opened = counts_opened(&concluded);
        let probes = probes(domain, &opened);
        let all = intervals(domain, &probes, &opened);
        for (claimed, before, after) in heard.places() {
            let has = |value: u64| right(own[claimed].contains(&value));
            self.made += 1.0;
            self.result += has(median);
            self.result_of_two += has(median);
            let alone = has(drawn(&without(&all, &[&own[after]]), coins));
            self.alone(0, alone > 0.0);
            // What went out less what came in are the custodian's own counts.
            let added = opened.iter().enumerate().map(|(ask, total)| heard.added(claimed, before, ask, *total));
            let by_two = match added.collect::<Option<Vec<u64>>>() {
                Some(counts) => intervals(domain, &probes, &counts),
                None => without(&all, &[&own[before], &own[after]]),
            };
            self.two += has(drawn(&by_two, coins));
        }
        Ok(())
    }
}

fn right(is_right: bool) -> f64 {
    f64::from(u8::from(is_right))
}

/// Rounded.
fn mean(total: u64, count: u64) -> u64 {
    (total + count / 2).checked_div(count).unwrap_or(0)
}

/// The words that each custodian passed on to the one behind it.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// By custodian, one after the other.
    words: Vec<Vec<Vec<u64>>>,
    after: BTreeMap<u16, u16>,
    /// The custodian that began; none under masks.
    first: Option<u16>,
}

impl Heard {
    /// Each custodian with the one before it and the one after it.
    fn places(&self) -> Vec<(usize, usize, usize)> {
        let before = |own: u16| self.after.iter().find(|(_, after)| **after == own).map(|(before, _)| *before);
        let place =
            |(own, after): (&u16, &u16)| Some((usize::from(*own), usize::from(before(*own)?), usize::from(*after)));
        self.after.iter().filter_map(place).collect()
    }

    /// A word of what a custodian passed on; results ahead of it are omitted.
    pub(super) fn word(&self, sender: usize, pass: usize, lane: usize) -> Option<u64> {
        let words = self.words[sender].get(pass)?;
        let lanes = if self.lanes() == 2 { 2 } else { 1 };
        words.get(words.len().checked_sub(lanes)? + lane).copied()
    }

    /// How many words a custodian passed on.
    pub(super) fn passes(&self, sender: usize) -> usize {
        self.words[sender].len()
    }

    fn lanes(&self) -> usize {
        self.words.iter().flatten().map(Vec::len).min().unwrap_or(0)
    }

    /// The word that came in at a custodian in a pass for greatest values; the first starts from 0.
    fn came_in(&self, own: usize, before: usize, pass: usize, lane: usize) -> Option<u64> {
        if self.first.map(usize::from) != Some(own) {
            return self.word(before, pass, lane);
        }
        pass.checked_sub(1).map_or(Some(0), |pass| self.word(before, pass, lane))
    }

    /// A custodian's part of a sum, for its neighbors. The first one's mask is in both what it
    /// sends and what comes back to it, with all the others' words.
    fn added(&self, own: usize, before: usize, ask: usize, total: u64) -> Option<u64> {
        let first = usize::from(self.first?);
        let (came, went) = (self.word(before, ask, 0)?, self.word(own, ask, 0)?);
        let total = if own == first { total } else { 0 };
        Some(went.wrapping_sub(came).wrapping_add(total))
    }
}

/// Runs a protocol among all custodians and writes down what each passes on.
pub(super) fn listen<I>(
    inquiries: Vec<I>,
    by: By,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<(Concluded<I::Output>, Heard), Fault>
where
    I: Inquiry + Send,
    I::Output: Send,
{
    match by {
        By::Ring(chances) => run(inquiries, carrier, coins, |permit, me, inquiry, coins| {
            baseline::start(permit, me, inquiry, chances, coins)
        }),
        By::Masks => run(inquiries, carrier, coins, masked::start),
    }
}

fn run<I: Inquiry, M: Machine<Output = Concluded<I::Output>> + Send>(
    inquiries: Vec<I>,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
    start: impl Fn(Permit, u16, I, Coins) -> Result<Transition<M>, Fault>,
) -> Result<(Concluded<I::Output>, Heard), Fault>
where
    I::Output: Send,
{
    let count = inquiries.len();
    let roster = Roster::numbered(count)?;
    let mut session = [0; 16];
    coins.fill(&mut session);
    let mut starts = Vec::with_capacity(count);
    for (me, inquiry) in (0..).zip(inquiries) {
        let permit = BurnBook::default().permit(session, Question::new("lop", &session), &roster)?;
        starts.push(start(permit, me, inquiry, Coins::danger_from_seed(coins.word()))?);
    }
    let mut heard = Heard { words: vec![Vec::new(); count], ..Heard::default() };
    let mut watcher = |delivery: &Delivery| {
        let sender = delivery.message.sender;
        match &delivery.message.body {
            Body::RingSum(words) | Body::RingLargest(words) => {
                heard.first = heard.first.or(Some(sender));
                heard.after.insert(sender, delivery.to);
                heard.words[usize::from(sender)].push(words.clone());
            }
            // Everyone hears everyone; one of them is enough.
            Body::Masked { words, .. } if usize::from(delivery.to) == (usize::from(sender) + 1) % count => {
                heard.after.insert(sender, delivery.to);
                heard.words[usize::from(sender)].push(words.clone());
            }
            _ => {}
        }
    };
    let outputs = carrier.carry(starts, coins.word(), &mut watcher)?;
    let concluded = outputs.into_iter().next().ok_or(Fault::Internal("no custodians"))?;
    Ok((concluded, heard))
}

/// The counts that opened while a median was looked for: of all values, then at or below each
/// probe.
fn counts_opened<T>(concluded: &Concluded<T>) -> Vec<u64> {
    (concluded.ledger.entries().iter())
        .filter(|entry| matches!(entry.kind, OpenedKind::Sizes | OpenedKind::CountsAtProbe))
        .filter_map(|entry| entry.values.first().copied())
        .collect()
}

/// The values that were probed while a median was looked for.
pub(super) fn values_probed<T>(domain: u64, concluded: &Concluded<T>) -> Vec<u64> {
    probes(domain, &counts_opened(concluded))
}

/// The values that were probed, in their order: they follow from the counts that opened, of which
/// the first is the number of all values.
fn probes(domain: u64, opened: &[u64]) -> Vec<u64> {
    let (mut low, mut high) = (0, domain.saturating_sub(1));
    let rank = opened.first().map_or(0, |size| size.div_ceil(2));
    let mut probes = Vec::new();
    for &count in opened.iter().skip(1) {
        let probe = low + (high - low) / 2;
        probes.push(probe);
        if count >= rank { high = probe } else { low = probe + 1 }
    }
    probes
}

/// From the lowest to the highest value of an interval, and how many values lie in it.
type Interval = (u64, u64, u64);

/// The intervals between probes. `counts` are all values, then those at or below each probe.
fn intervals(domain: u64, probes: &[u64], counts: &[u64]) -> Vec<Interval> {
    let mut cuts: Vec<(u64, u64)> = probes.iter().copied().zip(counts.iter().skip(1).copied()).collect();
    cuts.push((domain.saturating_sub(1), counts.first().copied().unwrap_or(0)));
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.0);
    let (mut from, mut below) = (0, 0);
    let interval = |(to, count): (u64, u64)| {
        let interval = (from, to, count - below);
        (from, below) = (to + 1, count);
        interval
    };
    cuts.into_iter().map(interval).collect()
}

/// The intervals without the values of those who claim.
fn without(intervals: &[Interval], known: &[&Vec<u64>]) -> Vec<Interval> {
    let rest = |&(low, high, count): &Interval| {
        let own = known.iter().flat_map(|own| own.iter()).filter(|value| (low..=high).contains(value)).count();
        (low, high, count.saturating_sub(own as u64))
    };
    intervals.iter().map(rest).collect()
}

/// A value from the densest interval, the lowest of those that are.
fn drawn(intervals: &[Interval], coins: &mut Coins) -> u64 {
    // One interval is denser than another when count/width is; compared without division.
    let denser = |one: &Interval, other: &Interval| {
        u128::from(one.2) * u128::from(other.1 - other.0 + 1) > u128::from(other.2) * u128::from(one.1 - one.0 + 1)
    };
    let densest = intervals.iter().copied().reduce(|best, next| if denser(&next, &best) { next } else { best });
    densest.map_or(0, |(low, high, _)| low + coins.below(high - low + 1))
}

#[cfg(test)]
mod tests;
