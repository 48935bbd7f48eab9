//! The traffic of a run, before it is run: rounds, messages and bytes for any number of
//! custodians.
//!
//! The asks of an inquiry follow from opened values alone, and these do not depend on who holds
//! which row: one party that holds everything, and answers its own asks, goes through the same asks
//! as any number of custodians who share it. What is sent for an ask follows from its operation,
//! its length and the number of custodians, by the rules below; the tests compare them with
//! simulated runs, byte for byte. (Where an inquiry opens what *does* depend on who holds what,
//! such as how many custodians have rows in a group, the forecast is for the one who holds
//! everything.)

use crate::baseline::Chances;
use crate::fault::Fault;
use crate::inquiry::{Inquiry, Operation, Turn};
use crate::message::HEADER_BYTES;
use crate::packed::per_word;
use crate::traffic::Traffic;

/// The asks of one inquiry: operations with their lengths in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    asks: Vec<(Operation, u64)>,
}

impl Forecast {
    /// Runs an inquiry that holds all rows, without any protocol.
    pub fn of<I: Inquiry>(mut inquiry: I) -> Result<(I::Output, Forecast), Fault> {
        let mut forecast = Forecast::default();
        let mut answer = Vec::new();
        loop {
            let ask = match inquiry.next(&answer) {
                Turn::Done(output) => return Ok((output, forecast)),
                Turn::Impossible(what) => return Err(Fault::Impossible { what }),
                Turn::Exceeds { what, found, max } => return Err(Fault::Limit { what, found, max }),
                Turn::Ask(next, ask) => {
                    inquiry = next;
                    ask
                }
            };
            forecast.asks.push((ask.operation, ask.words.len() as u64));
            let layout = ask.operation.layout(ask.words.len()).ok_or(Fault::Internal("more flags than words"))?;
            let mut opened = ask.words;
            opened[layout.flags.clone()].iter_mut().for_each(|word| *word = u64::from(*word != 0));
            answer = layout.answer(opened, &ask.thresholds);
        }
    }

    /// How many vectors are requested.
    pub fn asks(&self) -> usize {
        self.asks.len()
    }

    /// How many values open to all: of a largest value also its binary digits, under masks.
    pub fn opened(&self) -> u64 {
        let opened = |&(operation, words): &(Operation, u64)| match operation {
            Operation::Max { bits: 0 } => 0,
            Operation::Max { bits } => words * (u64::from(bits.min(64)) + 1),
            Operation::Sum | Operation::Count { .. } | Operation::Any | Operation::Tally { .. } => words,
        };
        self.asks.iter().map(opened).sum()
    }

    /// Under masks, each sends one key to all others, and then one vector for each round: one
    /// for a sum, one for each binary digit of a largest value; at the end each confirms.
    pub fn masked(&self, custodians: u64) -> Traffic {
        let pairs = custodians * (custodians - 1);
        let mut traffic = Traffic { messages: pairs, bytes: pairs * (HEADER_BYTES + 32), rounds: 1 };
        // A word about what was received from each.
        let seen = 4 + 8 * custodians;
        for &(operation, words) in &self.asks {
            let (rounds, words) = match operation {
                Operation::Sum | Operation::Any => (1, words),
                Operation::Count { bits } => (1, words.div_ceil(per_word(bits) as u64)),
                Operation::Max { bits } => (u64::from(bits.min(64)), words),
                Operation::Tally { bits, flags, .. } => {
                    let flags = flags as u64;
                    (1, (words - flags).div_ceil(per_word(bits) as u64) + flags)
                }
            };
            traffic.rounds += rounds;
            traffic.messages += rounds * pairs;
            traffic.bytes += rounds * pairs * (vector_bytes(words) + seen);
        }
        traffic.rounds += 1;
        traffic.messages += pairs;
        traffic.bytes += pairs * (HEADER_BYTES + 64 + seen);
        traffic
    }

    /// In the ring, a vector goes round once for a sum and several times for a largest value. The
    /// result goes ahead of the next vector, and the last one is announced to all by the first,
    /// which each confirms to all.
    pub fn baseline(&self, custodians: u64, chances: Chances) -> Traffic {
        let mut traffic = Traffic::default();
        let mut announced = 0;
        for &(operation, words) in &self.asks {
            let passes = match operation {
                Operation::Max { .. } => u64::from(chances.passes.max(1)),
                Operation::Sum | Operation::Count { .. } | Operation::Any | Operation::Tally { .. } => 1,
            };
            traffic.rounds += passes;
            traffic.messages += passes * custodians;
            traffic.bytes += custodians * passes * vector_bytes(words) + (custodians - 1) * 8 * announced;
            announced = words;
        }
        if !self.asks.is_empty() {
            traffic.rounds += 1;
            traffic.messages += custodians - 1;
            traffic.bytes += (custodians - 1) * vector_bytes(announced);
            let pairs = custodians * (custodians - 1);
            traffic.rounds += 1;
            traffic.messages += pairs;
            traffic.bytes += pairs * (HEADER_BYTES + 64 + 4);
        }
        traffic
    }
}

/// A message with a vector: envelope, length, words.
fn vector_bytes(words: u64) -> u64 {
    HEADER_BYTES + 4 + 8 * words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BurnBook, Coins, CountTally, Extremes, Medians, Question, Roster, Sums, UnionCounts, baseline, masked, simulate,
    };

    /// Both profiles send what was forecast, for several numbers of custodians; the first one holds
    /// everything.
    fn check<I: Inquiry>(everything: impl Fn() -> I, nothing: impl Fn() -> I) {
        let (_, forecast) = Forecast::of(everything()).unwrap();
        for count in [3u64, 4, 7] {
            let roster = Roster::numbered(count as usize).unwrap();
            let permit = || BurnBook::default().permit([1; 16], Question::new("test", b""), &roster).unwrap();
            let inquiry = |me: u16| if me == 0 { everything() } else { nothing() };
            let coins = |me: u16| Coins::danger_from_seed(u64::from(me));
            let starts = (0..count as u16).map(|me| masked::start(permit(), me, inquiry(me), coins(me)).unwrap());
            let (concluded, traffic) = simulate::run(starts.collect(), 1).unwrap();
            assert_eq!(forecast.masked(count), traffic, "masked, {count}");
            let opened: u64 = concluded[0].ledger.counts().iter().map(|(_, values)| values).sum();
            assert_eq!(forecast.opened(), opened, "opened, {count}");
            let chances = Chances { passes: 4, ..Chances::default() };
            let ring = |me: u16| baseline::start(permit(), me, inquiry(me), chances, coins(me)).unwrap();
            let (_, traffic) = simulate::run((0..count as u16).map(ring).collect(), 1).unwrap();
            assert_eq!(forecast.baseline(count, chances), traffic, "baseline, {count}");
        }
    }

    #[test]
    fn counts_and_flags_in_one_round() {
        let everything = || CountTally::new(&[1, 2, 0, 4, 1 << 17], 20, &[true, false, true]);
        check(everything, || CountTally::new(&[0; 5], 20, &[false; 3]));
        let roster = Roster::numbered(3).unwrap();
        let permit = || BurnBook::default().permit([1; 16], Question::new("test", b""), &roster).unwrap();
        let coins = |me: u16| Coins::danger_from_seed(u64::from(me));
        let masked = (0..3).map(|me| masked::start(permit(), me, everything(), coins(me)).unwrap()).collect();
        let ring = |me| baseline::start(permit(), me, everything(), Chances::default(), coins(me)).unwrap();
        let (masked, _) = simulate::run(masked, 1).unwrap();
        let (ring, _) = simulate::run((0..3).map(ring).collect(), 1).unwrap();
        for concluded in masked.into_iter().chain(ring) {
            assert_eq!(concluded.output, [3, 6, 0, 12, 3 << 17, 1, 0, 1]);
        }
    }

    #[test]
    fn sent_messages_agree_with_the_forecast() {
        check(|| Sums::new(vec![5; 17]), || Sums::new(vec![0; 17]));
        check(|| Sums::of_counters(vec![5; 17], 20), || Sums::of_counters(vec![0; 17], 20));
        check(|| Extremes::new(vec![Some((3, 9)), None], 12), || Extremes::new(vec![None, None], 12));
        check(
            || Medians::new(vec![(vec![1, 2, 2, 8], 9), (vec![], 3)]),
            || Medians::new(vec![(vec![], 9), (vec![], 3)]),
        );
        check(|| UnionCounts::new([(1, 1)], 2, 9).below(5), || UnionCounts::new([], 2, 9).below(5));
    }
}
