//! The ring protocols of the paper with a successor that listens: what each gains over what the
//! result tells anyway. The protocols are algorithm 3 for extremes, the masked sum of section 4.2,
//! by which medians are found, and algorithm 5 for the union of items, which keeps duplicates. They
//! are run by the machines of `crates/smc`, in one process or between connected custodians; here
//! the claims about what is passed on are counted.

use std::sync::Arc;

use hedgerow_smc::lop::{
    Chances, HeardExtreme, HeardItems, HeardTerm, hear_extremes, hear_median, hear_sums, hear_union,
};
use hedgerow_smc::simulate::Carrier;
use hedgerow_smc::{Coins, Item};

use crate::experiment::Trouble;

/// Algorithm 3 with p₀ = 1 and d = 0.5; the last of the passes hides nothing.
const CHANCES: Chances = Chances { p0: 1.0, d: 0.5, passes: PASSES as u32 };
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
    /// The least and the greatest of the custodians' values; `ends` are their own, below `domain`.
    pub(super) fn look_for_extremes(
        &mut self,
        ends: &[Option<(u64, u64)>],
        domain: u64,
        carrier: &mut impl Carrier,
        coins: &mut Coins,
    ) -> Result<[u64; 2], Trouble> {
        let heard = hear_extremes(ends, domain, CHANCES, carrier, coins)?;
        heard.iter().for_each(|heard| self.hear(heard));
        // The word 0 stands for no value, and least values are greatest ones turned round.
        let last = |lane: usize| heard[lane].iter().filter_map(|one| one.passed_on.last().copied()).max().unwrap_or(0);
        Ok([domain.saturating_sub(last(0)), last(1).saturating_sub(1)])
    }

    fn hear(&mut self, heard: &[HeardExtreme]) {
        let result = heard.iter().map(|one| one.own).max().unwrap_or(0);
        for HeardExtreme { own, passed_on } in heard {
            let has_value = *own > 0;
            for (right, passed) in self.passed_on.iter_mut().zip(passed_on) {
                *right += f64::from(u8::from(has_value && passed == own));
            }
            self.result += f64::from(u8::from(has_value && *own == result));
            self.made += 1.0;
        }
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

/// Of masked sums, how many successors were passed their predecessor's own term, and how many there
/// were. A sum that tells nothing of its terms passes one on as seldom as any other word.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct OwnTerms {
    pub(super) disclosed: u64,
    pub(super) passed_on: u64,
}

impl OwnTerms {
    fn hear(&mut self, terms: &[HeardTerm]) {
        self.disclosed += terms.iter().filter(|term| term.passed_on == term.own).count() as u64;
        self.passed_on += terms.len() as u64;
    }

    /// The median of all values below `domain`, which is found by sums.
    pub(super) fn look_for_median(
        &mut self,
        own: &[Vec<u64>],
        domain: u64,
        carrier: &mut impl Carrier,
        coins: &mut Coins,
    ) -> Result<Option<u64>, Trouble> {
        let (median, terms) = hear_median(own, domain, carrier, coins)?;
        self.hear(&terms);
        Ok(median)
    }

    /// The sizes of both sides of a cut; `own` are each custodian's.
    pub(super) fn add_sizes(
        &mut self,
        own: &[[u64; 2]],
        carrier: &mut impl Carrier,
        coins: &mut Coins,
    ) -> Result<Vec<u64>, Trouble> {
        let (totals, terms) = hear_sums(own, carrier, coins)?;
        self.hear(&terms);
        Ok(totals)
    }
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

/// The mean of some unions.
pub(super) fn unions(
    own: &[Vec<u64>],
    dummy_items: usize,
    unions: u32,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<Exposed, Trouble> {
    let mut mean = Exposed::default();
    for _ in 0..unions {
        let one = union(own, dummy_items, carrier, coins)?;
        mean.set += one.set / f64::from(unions);
        mean.item_of_leader += one.item_of_leader / f64::from(unions);
    }
    Ok(mean)
}

/// `own[custodian][item]` is how often each custodian has each item of the domain.
fn union(
    own: &[Vec<u64>],
    dummy_items: usize,
    carrier: &mut impl Carrier,
    coins: &mut Coins,
) -> Result<Exposed, Trouble> {
    let domain: Arc<[Item]> = (0..own[0].len() as u32).map(|item| item.to_le_bytes().to_vec()).collect();
    let held = |own: &Vec<u64>| -> Vec<Item> {
        let items = own.iter().zip(domain.iter());
        items.flat_map(|(&count, item)| std::iter::repeat_n(item.clone(), count as usize)).collect()
    };
    let owned: Vec<Vec<Item>> = own.iter().map(held).collect();
    let heard = hear_union(&owned, &domain, dummy_items, carrier, coins)?;
    let counted = |heard: &HeardItems| {
        let mut counts = vec![0u64; own[0].len()];
        for item in &heard.items {
            let number = item.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            counts[number as usize] += 1;
        }
        counts
    };
    let result: Vec<u64> = (0..own[0].len()).map(|item| own.iter().map(|own| own[item]).sum()).collect();
    let mut exposed = Exposed::default();
    // What comes back to the leader last tells it nothing of one custodian.
    let (_, passed) = heard.split_last().ok_or("a union has messages")?;
    for (place, heard) in passed.iter().enumerate() {
        let counts = counted(heard);
        let real: Vec<u64> = counts.iter().zip(&result).map(|(&one, &all)| one.min(all)).collect();
        exposed.set += f64::from(u8::from(real == own[heard.from])) / passed.len() as f64;
        if place == 0 {
            exposed.item_of_leader = gain(&counts, &result, &own[heard.from], &own[heard.to]);
        }
    }
    Ok(exposed)
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
    use hedgerow_smc::simulate::InOneProcess;

    use super::*;

    #[test]
    fn the_last_pass_finds_the_largest_and_its_only_owner_loses_little() {
        let mut claims = Claims::default();
        let mut coins = Coins::danger_from_seed(1);
        let ends = [Some((2, 2)), Some((899, 899)), Some((39, 39)), None, Some((6, 6))];
        for _ in 0..300 {
            assert_eq!(claims.look_for_extremes(&ends, 1000, &mut InOneProcess, &mut coins).unwrap(), [2, 899]);
        }
        // The least and the greatest value have one owner each.
        assert_eq!((claims.made(), claims.result), (3000.0, 600.0));
        assert!(claims.passed_on[PASSES - 1] >= 600.0, "its owner passes it on: {claims:?}");
        assert!(claims.passed_on[0] < 360.0, "all hide what they have in the first pass: {claims:?}");
        let gained = claims.gained();
        assert!((0.0..0.2).contains(&gained), "{gained}");
        let mut alike = Claims::default();
        for _ in 0..50 {
            alike.look_for_extremes(&[Some((5, 5)); 4], 10, &mut InOneProcess, &mut coins).unwrap();
        }
        assert_eq!(alike.gained(), 0.0, "where all have the same, the result tells it");
    }

    #[test]
    fn masked_sums_tell_nothing() {
        let mut coins = Coins::danger_from_seed(1);
        let own = [vec![3, 4, 9], vec![5], vec![], vec![0, 15]];
        for _ in 0..100 {
            let mut terms = OwnTerms::default();
            assert_eq!(terms.look_for_median(&own, 16, &mut InOneProcess, &mut coins).unwrap(), Some(4));
            let median = OwnTerms { disclosed: 0, passed_on: 4 * 5 };
            assert_eq!(terms, median, "four custodians, the number of values, and four probes");
            assert_eq!(
                terms.add_sizes(&[[3, 0], [1, 0], [0, 0], [1, 1]], &mut InOneProcess, &mut coins).unwrap(),
                [5, 1]
            );
            assert_eq!(terms, OwnTerms { passed_on: 4 * 5 + 4 * 2, ..median });
        }
    }

    #[test]
    fn a_term_that_is_passed_on_as_it_is_counts_as_disclosed() {
        let mut terms = OwnTerms::default();
        terms.hear(&[HeardTerm { own: 3, passed_on: 3 }, HeardTerm { own: 3, passed_on: 4 }]);
        assert_eq!(terms, OwnTerms { disclosed: 1, passed_on: 2 });
    }

    #[test]
    fn without_dummy_items_the_leader_shows_its_set_and_its_successor_alone_can_tell() {
        let mut coins = Coins::danger_from_seed(1);
        let apart: Vec<Vec<u64>> =
            (0..5).map(|owner| (0..5).map(|item| u64::from(item == owner) * 2).collect()).collect();
        let exposed = union(&apart, 0, &mut InOneProcess, &mut coins).unwrap();
        assert_eq!(exposed.set, 0.25, "one of four successors");
        // Of the eight items that are not one's own, two are the predecessor's.
        assert_eq!(exposed.item_of_leader, 0.75);
        let alike = vec![vec![3, 3]; 5];
        assert_eq!(union(&alike, 0, &mut InOneProcess, &mut coins).unwrap().item_of_leader, 0.0, "all have every item");
        let hidden = unions(&apart, 4, 100, &mut InOneProcess, &mut coins).unwrap().set;
        assert!(hidden < 0.05, "dummy items hide the set: {hidden}");
    }

    #[test]
    fn dummy_items_that_are_more_than_the_result_has_are_taken_off() {
        // One item, which the leader has twice and nobody else: dummies of it hide nothing.
        let own = [vec![2, 0], vec![0, 3], vec![0, 1]];
        let mut coins = Coins::danger_from_seed(3);
        let exposed: Vec<f64> = (0..100).map(|_| union(&own, 1, &mut InOneProcess, &mut coins).unwrap().set).collect();
        assert!(exposed.iter().any(|&set| set > 0.0) && exposed.contains(&0.0));
    }
}
