//! Loss of privacy of the union in the ring, by formula and by trying (TR-2008-013, section 5.2);
//! [`measure_values`] has that of sums, medians and extremes.
//!
//! LoP = P(claim | what was seen, result) − P(claim | result). The claims are those of the
//! successor of a custodian: "these are all items of my predecessor" (set exposure) and "this item
//! is my predecessor's" (item exposure). n custodians hold c items of a domain of m, c/n each; the
//! leader adds |r| dummy items.
//!
//! The formulas bound what one custodian learns alone. Two that work together around a third see
//! everything it adds, whatever |r| is.
//!
//! Equation 8 of the paper says that the expected item exposure is 0, since the successor does not
//! know whether its predecessor leads. It can know: the number of items it gets tells how many
//! custodians they have passed. [`Exposure::item_expected`] is what such a successor gains on
//! average, and it is not 0. It need not know: [`Exposure::item_claimed`] is what a successor gains
//! who claims one of the items that it was passed, wherever it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::baseline::{self, UnionInput};
use crate::burn::BurnBook;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::message::{Body, Item};
use crate::roster::{Question, Roster};
use crate::union::UnionCounts;
use crate::{masked, simulate};

mod heard;
mod values;

pub use crate::baseline::Chances;
pub use heard::{HeardExtreme, HeardItems, HeardTerm, hear_extremes, hear_median, hear_sums, hear_union};
pub use values::{By, LopValues, ValueExposure, measure_values};

/// How much there is to hide and among how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LopSetting {
    /// n, at least 3.
    pub custodians: u64,
    /// m, at least `items`.
    pub domain: u64,
    /// c: over all custodians.
    pub items: u64,
}

impl LopSetting {
    /// c₁: what the leader holds.
    fn own(&self) -> f64 {
        self.items as f64 / self.custodians as f64
    }

    fn others(&self) -> f64 {
        (self.custodians - 1) as f64
    }

    /// The probability that one dummy item hides nothing.
    fn missed(&self) -> f64 {
        (self.domain as f64 - self.items as f64 + self.own()) / self.domain as f64
    }

    /// Equation 5: the bound on set exposure.
    pub fn set_exposure(&self, dummy_items: u64) -> f64 {
        self.set_exposure_of_leader(dummy_items) / self.others()
    }

    /// Equation 4: the same for a successor who knows that its predecessor leads.
    pub fn set_exposure_of_leader(&self, dummy_items: u64) -> f64 {
        self.missed().powf(dummy_items as f64)
    }

    /// Equation 7: the bound on item exposure for a successor who knows that its predecessor leads.
    /// Above 1 it says nothing.
    pub fn item_exposure_of_leader(&self, dummy_items: u64) -> f64 {
        let hidden = dummy_items as f64 * (self.items as f64 - self.own()) / self.domain as f64;
        2.0 * self.own() / (self.own() + hidden) - 1.0 / self.others()
    }

    /// Equation 9: the fewest dummy items that keep set exposure at or below `wanted`.
    pub fn dummy_items_for_set_exposure(&self, wanted: f64) -> Option<u64> {
        if wanted * self.others() >= 1.0 {
            return Some(0);
        }
        fewest((wanted * self.others()).ln() / self.missed().ln())
    }

    /// Equation 10: the fewest dummy items that keep the item exposure of a leader at or below
    /// `wanted`.
    pub fn dummy_items_for_item_exposure(&self, wanted: f64) -> Option<u64> {
        let (m, c, own) = (self.domain as f64, self.items as f64, self.own());
        fewest((m * own / (c - own) * (2.0 / (wanted + 1.0 / self.others()) - 1.0)).max(0.0))
    }
}

fn fewest(real: f64) -> Option<u64> {
    (0.0..1e15).contains(&real).then(|| real.ceil() as u64)
}

/// The measured losses. All are differences of probabilities, from −1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Exposure {
    /// Over all positions of the adversary behind the leader.
    pub set_expected: f64,
    /// For the leader's successor, who knows that it is.
    pub set_of_leader: f64,
    /// For the leader's successor, of a single item.
    pub item_of_leader: f64,
    /// Over all positions, for an adversary who claims an item of its predecessor where that is
    /// right more often than a guess: never below 0.
    pub item_expected: f64,
    /// The same for one who always claims an item that it was passed. Where that is right less
    /// often than a guess it lowers the mean, so that it can be 0.
    pub item_claimed: f64,
    /// The number of runs.
    pub runs: u32,
}

/// Runs the union of the ring `runs` times on random items, looks over every custodian's shoulder,
/// and counts how often its claims are true.
pub fn measure_ring(setting: LopSetting, dummy_items: u64, runs: u32, seed: u64) -> Result<Exposure, Fault> {
    let domain: Arc<[Item]> = (0..setting.domain).map(|value| value.to_le_bytes().to_vec()).collect();
    let mut coins = Coins::danger_from_seed(seed);
    let mut sums = Exposure::default();
    for _ in 0..runs {
        let owned = deal(setting, &domain, &mut coins);
        sums.add(expose(&owned, &domain, dummy_items, &mut coins)?);
    }
    Ok(sums.mean())
}

/// The same on items that the custodians hold; `domain` has every item there can be.
pub fn measure_ring_of(
    owned: &[Vec<Item>],
    domain: &Arc<[Item]>,
    dummy_items: u64,
    runs: u32,
    seed: u64,
) -> Result<Exposure, Fault> {
    let mut coins = Coins::danger_from_seed(seed);
    let mut sums = Exposure::default();
    for _ in 0..runs {
        sums.add(expose(owned, domain, dummy_items, &mut coins)?);
    }
    Ok(sums.mean())
}

impl Exposure {
    fn add(&mut self, run: Exposure) {
        self.set_expected += run.set_expected;
        self.set_of_leader += run.set_of_leader;
        self.item_of_leader += run.item_of_leader;
        self.item_expected += run.item_expected;
        self.item_claimed += run.item_claimed;
        self.runs += run.runs;
    }

    /// Of sums, the mean over the runs.
    fn mean(self) -> Exposure {
        let mean = |sum: f64| sum / f64::from(self.runs.max(1));
        Exposure {
            set_expected: mean(self.set_expected),
            set_of_leader: mean(self.set_of_leader),
            item_of_leader: mean(self.item_of_leader),
            item_expected: mean(self.item_expected),
            item_claimed: mean(self.item_claimed),
            runs: self.runs,
        }
    }
}

/// The exposure in one run of the ring.
fn expose(owned: &[Vec<Item>], domain: &Arc<[Item]>, dummy_items: u64, coins: &mut Coins) -> Result<Exposure, Fault> {
    let roster = Roster::numbered(owned.len())?;
    let others = owned.len().saturating_sub(1) as f64;
    let guess = 1.0 / others;
    let mut session = [0; 16];
    coins.fill(&mut session);
    let mut starts = Vec::with_capacity(owned.len());
    for (me, items) in owned.iter().enumerate() {
        let permit = BurnBook::default().permit(session, Question::new("lop", &session), &roster)?;
        let input = UnionInput { items: items.clone(), domain: Arc::clone(domain), dummy_items: dummy_items as usize };
        let own = Coins::danger_from_seed(coins.word());
        starts.push(baseline::start_union(permit, me as u16, input, Chances::default(), own)?);
    }
    let mut seen: BTreeMap<u16, (u16, Vec<Item>)> = BTreeMap::new();
    let watcher = |delivery: &simulate::Delivery| {
        if let Body::UnionItems(items) = &delivery.message.body {
            seen.insert(delivery.to, (delivery.message.sender, items.clone()));
        }
    };
    simulate::watch(starts, coins.word(), watcher)?;
    let mut found = Exposure { runs: 1, ..Exposure::default() };
    let result: BTreeSet<&Item> = owned.iter().flatten().collect();
    // The custodian that sends fewest items began.
    let leader = seen.values().min_by_key(|(_, items)| items.len()).map(|(sender, _)| *sender);
    for (adversary, (predecessor, items)) in seen.iter().filter(|(adversary, _)| Some(**adversary) != leader) {
        let mine: BTreeSet<&Item> = owned[usize::from(*adversary)].iter().collect();
        let real: BTreeSet<&Item> = items.iter().filter(|item| result.contains(item)).collect();
        let theirs: BTreeSet<&Item> = owned[usize::from(*predecessor)].iter().collect();
        let exposed = f64::from(u8::from(real == theirs));
        let claimable: Vec<&&Item> = real.iter().filter(|item| !mine.contains(**item)).collect();
        let right = claimable.iter().filter(|item| theirs.contains(**item)).count() as f64;
        // Without an item to claim there is the guess.
        let claimed = if claimable.is_empty() { 0.0 } else { right / claimable.len() as f64 - guess };
        let gain = claimed.max(0.0);
        found.set_expected += exposed / others;
        found.item_expected += gain / others;
        found.item_claimed += claimed / others;
        if Some(*predecessor) == leader {
            found.set_of_leader += exposed;
            found.item_of_leader += gain;
        }
    }
    Ok(found)
}

/// The same for the union by masked sums. The adversary is one custodian, who claims for each item
/// of the result that its owner is the custodian that sent the smallest word for it: as good a
/// claim as any when words are uniform.
pub fn measure_masked(setting: LopSetting, runs: u32, seed: u64) -> Result<Exposure, Fault> {
    let roster = Roster::numbered(setting.custodians as usize)?;
    let domain: Arc<[Item]> = (0..setting.domain).map(|value| value.to_le_bytes().to_vec()).collect();
    let mut coins = Coins::danger_from_seed(seed);
    let (mut right, mut claims, mut sets) = (0u64, 0u64, 0u64);
    for run in 0..runs {
        let owned = deal(setting, &domain, &mut coins);
        let codes: Vec<Vec<usize>> = owned.iter().map(|items| items.iter().map(code).collect()).collect();
        let mut session = [0; 16];
        coins.fill(&mut session);
        let mut starts = Vec::with_capacity(owned.len());
        for (me, codes) in codes.iter().enumerate() {
            let permit = BurnBook::default().permit(session, Question::new("lop", &run.to_le_bytes()), &roster)?;
            let union = UnionCounts::new(codes.iter().map(|code| (0, *code)), 1, domain.len());
            starts.push(masked::start(permit, me as u16, union, Coins::danger_from_seed(coins.word()))?);
        }
        let mut seen: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
        let watcher = |delivery: &simulate::Delivery| {
            if let (0, Body::Masked { words, .. }) = (delivery.to, &delivery.message.body) {
                seen.insert(delivery.message.sender, words.clone());
            }
        };
        simulate::watch(starts, coins.word(), watcher)?;
        let mut claimed: BTreeMap<u16, BTreeSet<usize>> = BTreeMap::new();
        for (owner, codes) in codes.iter().enumerate().skip(1) {
            for &code in codes {
                let claim = seen.iter().min_by_key(|(_, words)| words[code]).map_or(0, |(sender, _)| *sender);
                claims += 1;
                right += u64::from(usize::from(claim) == owner);
                claimed.entry(claim).or_default().insert(code);
            }
        }
        let exposed = |(owner, claimed): (&u16, &BTreeSet<usize>)| {
            codes[usize::from(*owner)].iter().copied().collect::<BTreeSet<_>>() == *claimed
        };
        sets += claimed.iter().filter(|claim| exposed((claim.0, claim.1))).count() as u64;
    }
    let item = right as f64 / (claims as f64).max(1.0) - 1.0 / setting.others();
    let set = sets as f64 / (f64::from(runs.max(1)) * setting.others());
    Ok(Exposure {
        set_expected: set,
        set_of_leader: set,
        item_of_leader: item,
        item_expected: item,
        item_claimed: item,
        runs,
    })
}

fn code(item: &Item) -> usize {
    item.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes) as usize)
}

/// Distinct items for each custodian, as evenly as they go.
fn deal(setting: LopSetting, domain: &[Item], coins: &mut Coins) -> Vec<Vec<Item>> {
    let mut chosen = BTreeSet::new();
    while (chosen.len() as u64) < setting.items.min(setting.domain) {
        chosen.insert(coins.below(setting.domain));
    }
    let mut chosen: Vec<u64> = chosen.into_iter().collect();
    coins.shuffle(&mut chosen);
    let mut owned = vec![Vec::new(); setting.custodians as usize];
    for (place, item) in chosen.into_iter().enumerate() {
        let owner = place % owned.len();
        owned[owner].push(domain[item as usize].clone());
    }
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: LopSetting = LopSetting { custodians: 20, domain: 100_000, items: 1000 };

    fn places(value: f64, places: i32) -> f64 {
        (value * 10f64.powi(places)).round() / 10f64.powi(places)
    }

    #[test]
    fn equations_5_7_9_and_10_in_the_papers_setting() {
        let set: Vec<f64> = [0, 100, 200].map(|dummy_items| places(PAPER.set_exposure(dummy_items), 4)).to_vec();
        assert_eq!(set, [0.0526, 0.0203, 0.0078]);
        let needed = [0.02, 0.01, 0.005].map(|wanted| PAPER.dummy_items_for_set_exposure(wanted).unwrap());
        assert_eq!(needed, [102, 174, 247]);
        let item = [10_000, 20_000, 50_000].map(|dummy_items| places(PAPER.item_exposure_of_leader(dummy_items), 3));
        assert_eq!(item, [0.637, 0.364, 0.138]);
        let needed = [0.5, 0.2].map(|wanted| PAPER.dummy_items_for_item_exposure(wanted).unwrap());
        assert_eq!(needed, [13785, 36404]);
    }

    #[test]
    fn the_picked_number_keeps_the_loss_and_one_fewer_does_not() {
        for wanted in [0.04, 0.02, 0.003] {
            let needed = PAPER.dummy_items_for_set_exposure(wanted).unwrap();
            assert!(PAPER.set_exposure(needed) <= wanted && PAPER.set_exposure(needed - 1) > wanted);
        }
        for wanted in [0.5, 0.1] {
            let needed = PAPER.dummy_items_for_item_exposure(wanted).unwrap();
            assert!(PAPER.item_exposure_of_leader(needed) <= wanted);
            assert!(PAPER.item_exposure_of_leader(needed - 1) > wanted);
        }
        assert_eq!(PAPER.dummy_items_for_set_exposure(0.06), Some(0));
        assert_eq!(PAPER.dummy_items_for_set_exposure(0.0), None, "no number of items hides perfectly");
    }

    #[test]
    fn measured_loss_lies_under_the_bounds() {
        let setting = LopSetting { custodians: 6, domain: 600, items: 60 };
        for (dummy_items, seed) in [(0, 1), (15, 2), (60, 3)] {
            let runs = 300;
            let measured = measure_ring(setting, dummy_items, runs, seed).unwrap();
            let bound = setting.set_exposure_of_leader(dummy_items);
            // The bound is nearly what happens, so a measured share may exceed it by chance: three
            // standard deviations.
            let chance = 3.0 * (bound * (1.0 - bound) / f64::from(runs)).sqrt() + 1e-9;
            assert!(measured.set_of_leader <= bound + chance, "{measured:?} {bound}");
            assert!(measured.set_expected <= setting.set_exposure(dummy_items) + chance, "{measured:?}");
            assert!(measured.item_of_leader <= setting.item_exposure_of_leader(dummy_items), "{measured:?}");
        }
    }

    #[test]
    fn items_of_one_owner_are_exposed_by_its_successor_alone_and_hidden_where_all_hold_the_same() {
        let item = |value: u64| value.to_le_bytes().to_vec();
        let domain: Arc<[Item]> = (0..40).map(item).collect();
        let apart: Vec<Vec<Item>> = (0..4).map(|owner| vec![item(owner)]).collect();
        let found = measure_ring_of(&apart, &domain, 0, 20, 1).unwrap();
        assert_eq!((found.set_of_leader, found.runs), (1.0, 20), "without dummy items the leader shows its set");
        let alike = vec![vec![item(7)]; 4];
        assert_eq!(measure_ring_of(&alike, &domain, 0, 20, 1).unwrap().item_expected, 0.0, "the claimant holds it too");
    }

    #[test]
    fn expected_item_exposure_is_not_zero_as_equation_8_has_it() {
        // Without dummy items the successor at distance j from the leader sees j parts of equal
        // size, one of them its predecessor's: the gain is the mean of 1/j over 1 to n − 1, less
        // 1/(n − 1).
        let setting = LopSetting { custodians: 6, domain: 600, items: 60 };
        let measured = measure_ring(setting, 0, 20, 4).unwrap();
        let expected = (1..=5).map(|distance| 1.0 / f64::from(distance) / 5.0).sum::<f64>() - 0.2;
        assert!((measured.item_expected - expected).abs() < 1e-9, "{measured:?} {expected}");
        assert!((measured.item_claimed - expected).abs() < 1e-9, "{measured:?} {expected}");
        assert!(expected > 0.25);
        // Where every item of the domain is passed on, one in five of the others' is right: no more
        // than a guess.
        let hidden = measure_ring(setting, 600, 20, 4).unwrap();
        assert!(hidden.item_claimed.abs() < 1e-9, "{hidden:?}");
    }

    #[test]
    fn masked_sums_lose_nothing_that_can_be_measured() {
        let setting = LopSetting { custodians: 6, domain: 600, items: 300 };
        let measured = measure_masked(setting, 10, 5).unwrap();
        // 2500 claims at a chance of one in five: a standard deviation is 0.008.
        assert!(measured.item_expected.abs() < 0.03, "{measured:?}");
        assert!(measured.set_expected < 1e-9);
    }
}
