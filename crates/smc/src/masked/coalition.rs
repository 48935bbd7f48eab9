//! What a coalition sees, put to the test: for one total, two different inputs of those outside
//! must give views that no chi-square test tells apart; and the same test must tell them apart for
//! the ring.
//!
//! A member of a coalition has the masks that it shares with everybody, so the coalition takes
//! these away from each vector that comes from outside. What is left is binned by its lowest four
//! bits, party by party; the last party outside is omitted, since the total fixes its word given
//! the others. A test at 10⁻³ errs once in a thousand honest tries, and there are some hundred
//! coalitions: only two rejections on independent runs count.

use super::keys::{KeyPair, Keyring};
use crate::coins::Coins;
use crate::inbox::Place;
use crate::{BurnBook, Question, Roster, Sums, baseline, simulate};

const RUNS: usize = 160;
const BINS: usize = 16;

/// What is left of each outside word in each run, by party outside.
type Views = Vec<Vec<u64>>;

/// Two-sample chi-square over bins, summed over the parties: whether it rejects at 10⁻³.
fn distinguished(one: &Views, other: &Views) -> bool {
    let (mut statistic, mut freedom) = (0.0, 0.0);
    for (one, other) in one.iter().zip(other) {
        let bins = |view: &Vec<u64>| {
            let mut bins = [0f64; BINS];
            view.iter().for_each(|word| bins[(*word % BINS as u64) as usize] += 1.0);
            bins
        };
        let (one, other) = (bins(one), bins(other));
        for (one, other) in one.iter().zip(other).filter(|(one, other)| **one + other > 0.0) {
            statistic += (one - other).powi(2) / (one + other);
        }
        freedom += (BINS - 1) as f64;
    }
    // Wilson and Hilferty: the cube root of a chi-square over its freedom is nearly normal. 3.09 is
    // exceeded once in 1000.
    let spread: f64 = 2.0 / (9.0 * freedom);
    statistic > freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3)
}

/// The subsets of `count` custodians with 1 to `count` − 2 members.
fn coalitions(count: usize) -> Vec<Vec<usize>> {
    let members = |set: usize| (0..count).filter(|one| set >> one & 1 == 1).collect::<Vec<_>>();
    (1..1usize << count).map(members).filter(|members| members.len() <= count - 2).collect()
}

/// One honest sum of vectors: what is on the wire, and for every ordered pair the mask that the
/// second applied against the first.
struct Honest {
    words: Vec<Vec<u64>>,
    masks: Vec<Vec<Vec<u64>>>,
}

fn sum_once(inputs: &[Vec<u64>], seed: u64) -> Honest {
    let (count, lanes) = (inputs.len() as u16, inputs[0].len());
    let mut coins = Coins::danger_from_seed(seed);
    let keys: Vec<KeyPair> = inputs.iter().map(|_| KeyPair::draw(&mut coins)).collect();
    let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
    let ring = |me: u16| {
        let place = Place { session: [7; 16], question: [8; 32], me, count };
        Keyring::agree(&keys[usize::from(me)], &publics, place, &[9; 32]).unwrap()
    };
    let mut keyrings: Vec<Keyring> = (0..count).map(ring).collect();
    let masks_of =
        |keyring: &Keyring| (0..keyrings.len() - 1).map(|other| keyring.as_applied_by(other, 1, lanes)).collect();
    let masks = keyrings.iter().map(masks_of).collect();
    let cover = |(keyring, input): (&mut Keyring, &Vec<u64>)| {
        let mut words = input.clone();
        keyring.mask(1).unwrap().cover(&mut words);
        words
    };
    let words: Vec<Vec<u64>> = keyrings.iter_mut().zip(inputs).map(cover).collect();
    for lane in 0..lanes {
        let total = |vectors: &[Vec<u64>]| vectors.iter().fold(0u64, |sum, words| sum.wrapping_add(words[lane]));
        assert_eq!(total(&words), total(inputs));
    }
    Honest { words, masks }
}

/// What a coalition is left with of its lane, run by run.
fn views(runs: &[Honest], coalition: &[usize], lane: usize, count: usize) -> Views {
    let outside: Vec<usize> = (0..count).filter(|one| !coalition.contains(one)).collect();
    let left = |run: &Honest, party: usize| {
        coalition.iter().fold(run.words[party][lane], |word, &member| {
            let position = party - usize::from(party > member);
            word.wrapping_sub(run.masks[member][position][lane])
        })
    };
    outside[..outside.len() - 1].iter().map(|&party| runs.iter().map(|run| left(run, party)).collect()).collect()
}

/// Inputs that differ in the first two outside of a coalition, with one total.
fn two_inputs(coalition: &[usize], count: usize) -> [Vec<u64>; 2] {
    let one: Vec<u64> = (0..count as u64).map(|party| 3 * party + 10).collect();
    let mut other = one.clone();
    let outside: Vec<usize> = (0..count).filter(|party| !coalition.contains(party)).collect();
    other[outside[0]] += 5;
    other[outside[1]] -= 5;
    [one, other]
}

#[test]
fn no_coalition_that_leaves_two_outside_tells_two_inputs_with_one_total_apart() {
    for count in 3..=6 {
        let coalitions = coalitions(count);
        // One lane for each coalition, so that the same runs serve all of them.
        let runs = |which: usize, seed: u64| -> Vec<Honest> {
            let lanes: Vec<Vec<u64>> =
                coalitions.iter().map(|coalition| two_inputs(coalition, count)[which].clone()).collect();
            let inputs: Vec<Vec<u64>> =
                (0..count).map(|party| lanes.iter().map(|lane| lane[party]).collect()).collect();
            (0..RUNS as u64).map(|run| sum_once(&inputs, 100_000 * seed + run)).collect()
        };
        let rejected = |seed: u64| -> Vec<bool> {
            let (one, other) = (runs(0, 2 * seed), runs(1, 2 * seed + 1));
            let disclosed = |(lane, coalition): (usize, &Vec<usize>)| {
                distinguished(&views(&one, coalition, lane, count), &views(&other, coalition, lane, count))
            };
            coalitions.iter().enumerate().map(disclosed).collect()
        };
        let first = rejected(count as u64);
        if first.contains(&true) {
            let second = rejected(count as u64 + 10);
            for ((coalition, first), second) in coalitions.iter().zip(first).zip(second) {
                assert!(!(first && second), "{coalition:?} of {count} tells two inputs apart");
            }
        }
    }
}

#[test]
fn a_mask_left_off_would_be_noticed() {
    // A coalition of n − 1 can take all masks away: the test must reject then, or it could not
    // fail.
    let view = |input: u64, seed: u64| -> Views {
        let once = |run: u64| {
            let honest = sum_once(&[vec![input], vec![1], vec![1]], seed + run);
            honest.words[0][0].wrapping_sub(honest.masks[1][0][0]).wrapping_sub(honest.masks[2][0][0])
        };
        vec![(0..RUNS as u64).map(once).collect()]
    };
    assert!(distinguished(&view(3, 0), &view(8, 1000)));
}

/// The ring's messages into and out of `victim`, subtracted.
fn between_neighbors(inputs: &[u64], victim: u16, seed: u64) -> u64 {
    let roster = Roster::numbered(inputs.len()).unwrap();
    let start = |(me, input): (usize, &u64)| {
        let permit = BurnBook::default().permit([5; 16], Question::new("sum", b""), &roster).unwrap();
        let coins = Coins::danger_from_seed(seed * 100 + me as u64);
        baseline::start(permit, me as u16, Sums::new(vec![*input]), baseline::Chances::default(), coins).unwrap()
    };
    let (mut into, mut out) = (0, 0);
    let watcher = |delivery: &simulate::Delivery| {
        if let crate::Body::RingSum(words) = &delivery.message.body {
            if delivery.to == victim {
                into = words[0];
            }
            if delivery.message.sender == victim {
                out = words[0];
            }
        }
    };
    simulate::watch(inputs.iter().enumerate().map(start).collect(), seed, watcher).unwrap();
    out.wrapping_sub(into)
}

#[test]
fn two_neighbors_in_the_ring_are_caught_by_the_same_test() {
    for count in 3..=6usize {
        // Somebody other than the one who begins: the beginner's two messages are a mask apart.
        let first = crate::baseline::ring_order_for_tests(&[5; 16], count as u16)[0];
        let victim = (0..count as u16).find(|party| *party != first).unwrap();
        let helper = (0..count as u16).find(|party| *party != first && *party != victim).unwrap();
        let one = vec![10; count];
        let mut other = one.clone();
        other[usize::from(victim)] += 5;
        other[usize::from(helper)] -= 5;
        let view = |inputs: &[u64], salt: u64| -> Views {
            vec![(0..RUNS as u64).map(|run| between_neighbors(inputs, victim, salt + run)).collect()]
        };
        assert!(distinguished(&view(&one, 0), &view(&other, 10_000)), "{count}");
        // And one neighbor alone is not enough, even in the ring: the message into the victim is a
        // uniform word.
        assert!(!distinguished(&lonely(&one, victim, 0), &lonely(&other, victim, 10_000)));
    }
}

/// What the victim's successor alone sees.
fn lonely(inputs: &[u64], victim: u16, salt: u64) -> Views {
    let roster = Roster::numbered(inputs.len()).unwrap();
    let once = |seed: u64| {
        let start = |(me, input): (usize, &u64)| {
            let permit = BurnBook::default().permit([5; 16], Question::new("sum", b""), &roster).unwrap();
            let coins = Coins::danger_from_seed(seed * 100 + me as u64);
            baseline::start(permit, me as u16, Sums::new(vec![*input]), baseline::Chances::default(), coins).unwrap()
        };
        let mut out = 0;
        let watcher = |delivery: &simulate::Delivery| {
            if let (true, crate::Body::RingSum(words)) = (delivery.message.sender == victim, &delivery.message.body) {
                out = words[0];
            }
        };
        simulate::watch(inputs.iter().enumerate().map(start).collect(), seed, watcher).unwrap();
        out
    };
    vec![(salt..salt + RUNS as u64).map(once).collect()]
}

#[test]
fn a_sum_announces_nothing_but_its_total() {
    assert_eq!(crate::masked::may_open(&Sums::new(Vec::new())), [crate::Kind::Totals]);
}
