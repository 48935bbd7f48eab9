//! The ring protocols of the paper with a successor that listens: what each gains over what the
//! result tells anyway. The rules are algorithm 3 for extremes, the masked sum of section 4.2, and
//! algorithm 5 for the union of items, which keeps duplicates. Between machines they run in
//! `crates/smc`; here only what is passed on counts.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// p₀ and d of algorithm 3, and the number of passes, the last of which hides nothing.
const P0: f64 = 1.0;
const DAMPENING: f64 = 0.5;
const PASSES: usize = 6;

/// Claims of successors, and how many were true with and without what was passed on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Claims {
    /// By pass: "what my predecessor passed on is its own value".
    passed_on: [f64; PASSES],
    /// "My predecessor's own value is the result".
    result: f64,
    made: f64,
}

impl Claims {
    /// The greatest of the custodians' values, 0 for those that have none.
    pub(super) fn look_for_largest(&mut self, own: &[u64], rng: &mut StdRng) {
        let result = own.iter().copied().max().unwrap_or(0);
        let mut ring: Vec<usize> = (0..own.len()).collect();
        ring.shuffle(rng);
        let mut passed = 0;
        for pass in 0..PASSES {
            let hides = if pass + 1 < PASSES { P0 * DAMPENING.powi(pass as i32) } else { 0.0 };
            for &me in &ring {
                if own[me] > passed {
                    let hidden = rng.random_bool(hides);
                    passed = if hidden { rng.random_range(passed..=own[me]) } else { own[me] };
                }
                self.passed_on[pass] += f64::from(u8::from(own[me] > 0 && passed == own[me]));
            }
        }
        self.result += own.iter().filter(|&&own| own == result && own > 0).count() as f64;
        self.made += own.len() as f64;
    }

    /// The gain in the pass in which it is largest.
    pub(super) fn gained(&self) -> f64 {
        let most = self.passed_on.iter().copied().fold(0.0, f64::max);
        (most - self.result) / self.made.max(1.0)
    }

    pub(super) fn made(&self) -> f64 {
        self.made
    }
}

/// How many successors in a masked sum were passed their predecessor's own value. A sum that tells
/// nothing of its terms passes it on as seldom as any other word.
pub(super) fn disclosed_by_sum(own: &[u64], rng: &mut StdRng) -> u64 {
    let mut passed = rng.next_u64();
    own.iter().fold(0, |disclosed, &own| {
        passed = passed.wrapping_add(own);
        disclosed + u64::from(passed == own)
    })
}

/// The exposure by a union of items.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Exposed {
    /// "These are all items of my predecessor", over all positions of the successor.
    pub(super) set: f64,
    /// "This item is my predecessor's", for the leader's successor; what the result tells anyway is
    /// taken off.
    pub(super) item_of_leader: f64,
}

/// `own[custodian][item]` is how often each custodian has each item of the domain.
pub(super) fn union(own: &[Vec<u64>], dummy_items: usize, rng: &mut StdRng) -> Exposed {
    let domain = own[0].len();
    let mut ring: Vec<usize> = (0..own.len()).collect();
    ring.shuffle(rng);
    let mut passed = own[ring[0]].clone();
    for _ in 0..dummy_items {
        passed[rng.random_range(0..domain)] += 1;
    }
    let result: Vec<u64> = (0..domain).map(|item| own.iter().map(|own| own[item]).sum()).collect();
    let real = |passed: &[u64]| -> Vec<u64> { passed.iter().zip(&result).map(|(&one, &all)| one.min(all)).collect() };
    let mut exposed = Exposed { set: 0.0, item_of_leader: gain(&passed, &result, &own[ring[0]], &own[ring[1]]) };
    let successors = (own.len() - 1) as f64;
    for (place, &predecessor) in ring[..ring.len() - 1].iter().enumerate() {
        exposed.set += f64::from(u8::from(real(&passed) == own[predecessor])) / successors;
        passed.iter_mut().zip(&own[ring[place + 1]]).for_each(|(passed, own)| *passed += own);
    }
    exposed
}

/// How much more often a claim about an item is right when it is chosen from what was passed on
/// than when it is chosen from the result.
fn gain(passed: &[u64], result: &[u64], theirs: &[u64], mine: &[u64]) -> f64 {
    let share = |counts: &dyn Fn(usize) -> u64| {
        let all: u64 = (0..result.len()).map(counts).sum();
        let right: u64 = (0..result.len()).filter(|&item| theirs[item] > 0).map(counts).sum();
        if all == 0 { 0.0 } else { right as f64 / all as f64 }
    };
    let others = |item: usize| result[item] - mine[item];
    let before = share(&others);
    share(&|item| passed[item].min(others(item))).max(before) - before
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn the_last_pass_finds_the_largest_and_its_only_owner_loses_little() {
        let mut claims = Claims::default();
        let mut rng = StdRng::seed_from_u64(1);
        for _ in 0..500 {
            claims.look_for_largest(&[3, 900, 40, 0, 7], &mut rng);
        }
        assert_eq!((claims.made(), claims.result), (2500.0, 500.0));
        assert!(claims.passed_on[PASSES - 1] >= 500.0, "its owner passes it on: {claims:?}");
        assert!(claims.passed_on[0] < 300.0, "all hide what they have in the first pass: {claims:?}");
        let gained = claims.gained();
        assert!((0.0..0.2).contains(&gained), "{gained}");
        let mut alike = Claims::default();
        for _ in 0..100 {
            alike.look_for_largest(&[5; 4], &mut rng);
        }
        assert_eq!(alike.gained(), 0.0, "where all have the same, the result tells it");
    }

    #[test]
    fn masked_sums_tell_nothing() {
        let mut rng = StdRng::seed_from_u64(1);
        assert_eq!((0..1000).map(|_| disclosed_by_sum(&[3, 4, 5, 6], &mut rng)).sum::<u64>(), 0);
    }

    #[test]
    fn without_dummy_items_the_leader_shows_its_set_and_its_successor_alone_can_tell() {
        let mut rng = StdRng::seed_from_u64(1);
        let apart: Vec<Vec<u64>> =
            (0..5).map(|owner| (0..5).map(|item| u64::from(item == owner) * 2).collect()).collect();
        let exposed = union(&apart, 0, &mut rng);
        assert_eq!(exposed.set, 0.25, "one of four successors");
        // Of the eight items that are not one's own, two are the predecessor's.
        assert_eq!(exposed.item_of_leader, 0.75);
        let alike = vec![vec![3, 3]; 5];
        assert_eq!(union(&alike, 0, &mut rng).item_of_leader, 0.0, "all have every item");
        let hidden: f64 = (0..200).map(|_| union(&apart, 20, &mut rng).set).sum::<f64>() / 200.0;
        assert!(hidden < 0.05, "dummy items hide the set: {hidden}");
    }

    #[test]
    fn dummy_items_that_are_more_than_the_result_has_are_taken_off() {
        // One item, which the leader has twice and nobody else: dummies of it hide nothing.
        let own = [vec![2, 0], vec![0, 3], vec![0, 1]];
        let mut rng = StdRng::seed_from_u64(3);
        let exposed: Vec<f64> = (0..100).map(|_| union(&own, 1, &mut rng).set).collect();
        assert!(exposed.iter().any(|&set| set > 0.0) && exposed.contains(&0.0));
    }
}
