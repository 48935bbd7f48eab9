//! The views of coalitions in real runs, tested: for one set of opened values, two different inputs
//! of those outside must give views that no test tells apart; and the same tests must tell them
//! apart when masking is done wrong (`mutants.rs`), and for the ring.
//!
//! A coalition looks at the words as they come: where a vector was not covered at all, taking masks
//! away would cover it. And it takes away the masks that its members share with all others
//! (`view.rs`); it may also guess that the others share no secret. What is seen is
//! binned by its lowest four bits: word by word, and the differences of words in one vector and of
//! the same word in two rounds, so that masks used twice show. Two samples are compared by
//! chi-square; how large it may be follows from the number of bins in use, so that a feature with
//! two values is noticed as well as one with sixteen. An honest try exceeds it less than once in
//! ten million.

use std::collections::BTreeMap;

use super::mutants::{self, Mutant};
use super::view::{Guess, residuals};
use super::{onion, start, start_shuffle};
use crate::coins::Coins;
use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::{OpenedKind, Opens};
use crate::masked::keys::KeyPair;
use crate::message::{Body, Item, Message};
use crate::simulate::Delivery;
use crate::{BurnBook, Question, Roster, Sums, baseline, simulate};

const RUNS: u64 = 70;
const BINS: u64 = 16;
const ROUNDS: u32 = 3;

/// The value that chi-square exceeds less than once in ten million tries (Wilson and Hilferty,
/// 1931; above the exact value for one degree of freedom).
fn too_far(degrees: usize) -> f64 {
    let degrees = degrees.max(1) as f64;
    let spread = 2.0 / (9.0 * degrees);
    degrees * (1.0 - spread + 5.2 * spread.sqrt()).powi(3)
}

/// The views of many runs: one value of each feature in each run.
type Views = BTreeMap<String, Vec<u64>>;

/// The feature, if any, by which two worlds differ.
fn distinguished(one: &Views, other: &Views) -> Option<String> {
    let bins = |view: &Vec<u64>| {
        let mut bins = [0f64; BINS as usize];
        view.iter().for_each(|word| bins[(word % BINS) as usize] += 1.0);
        bins
    };
    let differs = |(feature, view): (&String, &Vec<u64>)| {
        let (one, other) = (bins(view), bins(other.get(feature)?));
        let filled = one.iter().zip(other).filter(|(one, other)| **one + other > 0.0);
        let degrees = filled.clone().count().saturating_sub(1);
        let statistic: f64 = filled.map(|(one, other)| (one - other).powi(2) / (one + other)).sum();
        (statistic > too_far(degrees)).then(|| feature.clone())
    };
    one.iter().find_map(differs)
}

/// The subsets of `count` custodians with 1 to `count` − 2 members.
fn coalitions(count: usize) -> Vec<Vec<u16>> {
    let members = |set: usize| (0..count as u16).filter(|one| set >> one & 1 == 1).collect::<Vec<_>>();
    (1..1usize << count).map(members).filter(|members| members.len() <= count - 2).collect()
}

fn outside(coalition: &[u16], count: usize) -> Vec<u16> {
    (0..count as u16).filter(|party| !coalition.contains(party)).collect()
}

/// Several rounds of counts and flags, the same every time.
struct Rounds {
    counts: Vec<u64>,
    flags: Vec<u64>,
    left: u32,
}

impl Inquiry for Rounds {
    type Output = ();

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Totals, OpenedKind::Objections]
    }

    fn next(mut self, _: &[u64]) -> Turn<Self> {
        if self.left == 0 {
            return Turn::Done(());
        }
        self.left -= 1;
        let operation = Operation::Tally { bits: 64, compared: 0, flags: self.flags.len() };
        let opens = |kind, words| Opens { kind, about: "test".into(), words };
        let opens = vec![opens(OpenedKind::Totals, self.counts.len()), opens(OpenedKind::Objections, self.flags.len())];
        let words = [self.counts.as_slice(), &self.flags].concat();
        Turn::Ask(self, Ask { operation, words, opens, thresholds: Vec::new() })
    }

    fn shared((): &()) -> Vec<u8> {
        Vec::new()
    }
}

/// For every coalition two counts and a flag, which differ between two worlds in the first two
/// outside of it, and open the same.
fn input(me: u16, world: usize, count: usize) -> Rounds {
    let (mut counts, mut flags) = (Vec::new(), Vec::new());
    for coalition in coalitions(count) {
        let outside = outside(&coalition, count);
        let (first, second) = (outside[0] == me, outside[1] == me);
        let own = 30 + 3 * u64::from(me);
        counts.push(if world == 1 && first {
            own + 5
        } else if world == 1 && second {
            own - 5
        } else {
            own
        });
        counts.push(own);
        flags.push(u64::from(if world == 0 { first } else { second }));
    }
    Rounds { counts, flags, left: ROUNDS }
}

/// All messages of one real run, one copy of each.
fn messages(count: usize, world: usize, seed: u64) -> Vec<Message> {
    let roster = Roster::numbered(count).unwrap();
    let start = |me: u16| {
        let permit = BurnBook::default().permit([7; 16], Question::new("test", b""), &roster).unwrap();
        start(permit, me, input(me, world, count), coins(me, seed)).unwrap()
    };
    let mut messages = Vec::new();
    let watcher = |delivery: &Delivery| {
        if delivery.to == (delivery.message.sender + 1) % count as u16 {
            messages.push(delivery.message.clone());
        }
    };
    simulate::watch((0..count as u16).map(start).collect(), seed, watcher).unwrap();
    messages
}

fn coins(me: u16, seed: u64) -> Coins {
    Coins::danger_from_seed(1000 * seed + u64::from(me))
}

/// The view of every coalition of its own lanes, over many runs.
fn views(count: usize, world: usize, mutant: Option<Mutant>) -> Vec<Views> {
    let roster = Roster::numbered(count).unwrap();
    let all = coalitions(count);
    let mut views = vec![Views::new(); all.len()];
    for run in 0..RUNS {
        let seed = 2 * run + world as u64;
        let messages = mutants::with(mutant, || messages(count, world, seed));
        for (place, (coalition, views)) in all.iter().zip(&mut views).enumerate() {
            // The last one outside is omitted: the totals fix its words given the others.
            let seen = &outside(coalition, count)[..count - coalition.len() - 1];
            let lanes_of = |words: &[u64]| [2 * place, 2 * place + 1, 2 * all.len() + place].map(|lane| words[lane]);
            for message in messages.iter().filter(|message| seen.contains(&message.sender)) {
                let Body::Masked { words, .. } = &message.body else { continue };
                for (lane, word) in lanes_of(words).into_iter().enumerate() {
                    let name = format!("as it comes: word {lane} of {} in round {}", message.sender, message.round);
                    views.entry(name).or_default().push(word);
                }
            }
            for guess in [Guess::Nothing, Guess::NoSecret] {
                let members: Vec<(u16, Coins)> =
                    coalition.iter().map(|member| (*member, coins(*member, seed))).collect();
                let mut earlier: BTreeMap<(u16, usize), u64> = BTreeMap::new();
                // The adversary knows the protocol, mistakes included.
                let left = mutants::with(mutant, || residuals(&messages, &roster, members, guess).unwrap());
                for residual in left {
                    if !seen.contains(&residual.sender) {
                        continue;
                    }
                    let lanes = lanes_of(&residual.words);
                    let mut feature = |name: &str, lane: usize, value: u64| {
                        let (round, sender) = (residual.round, residual.sender);
                        let name = format!("{guess:?}: {name} {lane} of {sender} in round {round}");
                        views.entry(name).or_default().push(value);
                    };
                    for (lane, word) in lanes.into_iter().enumerate() {
                        feature("word", lane, word);
                        feature("difference to lane", lane, word.wrapping_sub(lanes[1]));
                        if let Some(before) = earlier.insert((residual.sender, lane), word) {
                            feature("difference to the round before, lane", lane, word.wrapping_sub(before));
                        }
                    }
                }
            }
        }
    }
    views
}

/// The coalitions that tell the worlds apart, and by what.
fn telling(count: usize, mutant: Option<Mutant>) -> Vec<(Vec<u16>, String)> {
    let (one, other) = (views(count, 0, mutant), views(count, 1, mutant));
    let compared = coalitions(count).into_iter().zip(one.iter().zip(&other));
    compared.filter_map(|(coalition, (one, other))| Some((coalition, distinguished(one, other)?))).collect()
}

#[test]
fn no_coalition_that_leaves_two_outside_tells_two_inputs_with_one_total_apart() {
    for count in 3..=4 {
        assert_eq!(telling(count, None), []);
    }
}

/// A feature that is one of two values with equal chances in one world, and always the first in the
/// other.
#[test]
fn features_with_two_values_are_distinguished_and_equal_ones_are_not() {
    let views = |value: &dyn Fn(u64) -> u64| Views::from([("flag".to_owned(), (0..RUNS).map(value).collect())]);
    let (even, always) = (views(&|run| run % 2), views(&|_| 0));
    assert!(distinguished(&even, &always).is_some());
    assert_eq!(distinguished(&even, &views(&|run| (run / 2) % 2)), None);
    assert!((28.4..36.0).contains(&too_far(1)) && (60.0..66.0).contains(&too_far(15)));
}

#[test]
fn a_secret_that_is_ignored_is_noticed() {
    assert_eq!(telling(3, Some(Mutant::SecretIgnored)).len(), 3);
}

#[test]
fn one_word_for_all_lanes_is_noticed() {
    assert_eq!(telling(3, Some(Mutant::OneWordForAll)).len(), 3);
}

#[test]
fn plain_flags_are_noticed() {
    assert_eq!(telling(3, Some(Mutant::FlagsPlain)).len(), 3);
}

#[test]
fn masks_in_the_first_round_alone_are_noticed() {
    assert_eq!(telling(3, Some(Mutant::FirstRoundOnly)).len(), 3);
}

/// The view of custodian 2 of a shuffle in which the first two swap their rows between worlds:
/// where their rows come to lie, and bytes of what is wrapped.
fn shuffle_views(world: usize, mutant: Option<Mutant>) -> Views {
    let roster = Roster::numbered(3).unwrap();
    let mut views = Views::new();
    for run in 0..RUNS {
        let seed = 2 * run + world as u64 + 50_000;
        let rows = |me: u16| -> Vec<Item> {
            match (me, world) {
                (0, 0) | (1, 1) => vec![b"A".to_vec()],
                (2, _) => Vec::new(),
                _ => vec![b"B".to_vec()],
            }
        };
        let permit = || BurnBook::default().permit([7; 16], Question::new("rows", b""), &roster).unwrap();
        let start = |me: u16| start_shuffle(permit(), me, rows(me), 4, 2, coins(me, seed)).unwrap();
        let (mut publics, mut handed) = (vec![[0; 32]; 3], Vec::new());
        let watcher = |delivery: &Delivery| match &delivery.message.body {
            Body::Key(public) => publics[usize::from(delivery.message.sender)] = *public,
            Body::Layered(chunk) if delivery.to == 2 => handed.clone_from(&chunk.items),
            _ => {}
        };
        mutants::with(mutant, || {
            simulate::watch((0..3).map(start).collect(), seed, watcher).unwrap();
        });
        let keys = KeyPair::draw(&mut coins(2, seed));
        let agreed = super::shuffle::agreed_on(&roster.digest(), &publics);
        let place = permit().place(2).unwrap();
        let plain: Vec<Option<Item>> = handed
            .iter()
            .map(|item| onion::unpad(&onion::strip(item, &keys, 2, &place, &agreed).unwrap()).unwrap())
            .collect();
        let lies = |row: &[u8]| plain.iter().position(|one| one.as_deref() == Some(row)).unwrap() as u64;
        let mut feature = |name: &str, value: u64| views.entry(name.to_owned()).or_default().push(value);
        feature("place of A", lies(b"A"));
        feature("place of B", lies(b"B"));
        feature("A before B", u64::from(lies(b"A") < lies(b"B")));
        (0..40).for_each(|byte| feature(&format!("byte {byte}"), u64::from(handed[0][byte])));
    }
    views
}

#[test]
fn a_shuffle_does_not_show_whose_row_is_whose_and_without_shuffling_it_would() {
    assert_eq!(distinguished(&shuffle_views(0, None), &shuffle_views(1, None)), None);
    let kept = Some(Mutant::NotShuffled);
    assert!(distinguished(&shuffle_views(0, kept), &shuffle_views(1, kept)).is_some());
}

/// The ring's messages into and out of `victim`, subtracted; and what its successor alone sees.
fn between_neighbors(inputs: &[u64], victim: u16, seed: u64) -> [u64; 2] {
    let roster = Roster::numbered(inputs.len()).unwrap();
    let start = |(me, input): (usize, &u64)| {
        let permit = BurnBook::default().permit([5; 16], Question::new("sum", b""), &roster).unwrap();
        let coins = Coins::danger_from_seed(seed * 100 + me as u64);
        baseline::start(permit, me as u16, Sums::new(vec![*input]), baseline::Chances::default(), coins).unwrap()
    };
    let (mut into, mut out) = (0, 0);
    let watcher = |delivery: &Delivery| {
        if let Body::RingSum(words) = &delivery.message.body {
            if delivery.to == victim {
                into = words[0];
            }
            if delivery.message.sender == victim {
                out = words[0];
            }
        }
    };
    simulate::watch(inputs.iter().enumerate().map(start).collect(), seed, watcher).unwrap();
    [out.wrapping_sub(into), out]
}

#[test]
fn two_neighbors_in_the_ring_are_caught_by_the_same_test() {
    for count in 3..=6usize {
        // A custodian other than the one that begins: the beginner's two messages are a mask apart.
        let first = crate::baseline::ring_order_for_tests(&[5; 16], count as u16)[0];
        let victim = (0..count as u16).find(|party| *party != first).unwrap();
        let helper = (0..count as u16).find(|party| *party != first && *party != victim).unwrap();
        let one = vec![10; count];
        let mut other = one.clone();
        other[usize::from(victim)] += 5;
        other[usize::from(helper)] -= 5;
        let view = |inputs: &[u64], salt: u64, which: usize| {
            let seen = (0..RUNS).map(|run| between_neighbors(inputs, victim, salt + run)[which]).collect();
            Views::from([("word".to_owned(), seen)])
        };
        assert!(distinguished(&view(&one, 0, 0), &view(&other, 10_000, 0)).is_some(), "{count}");
        // And one neighbor alone is not enough, even in the ring: the message into the victim is a
        // uniform word.
        assert_eq!(distinguished(&view(&one, 0, 1), &view(&other, 10_000, 1)), None);
    }
}

#[test]
fn a_sum_announces_nothing_but_its_total() {
    assert_eq!(crate::masked::may_open(&Sums::new(Vec::new())), [OpenedKind::Totals]);
}
