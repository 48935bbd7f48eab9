//! One dealing of people to custodians: the classes that algorithm 1 finds, and how much is
//! disclosed while they are found and while queries are answered, in one process or between
//! connected custodians.

use hedgerow_smc::Coins;
use hedgerow_smc::simulate::Carrier;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::adult::Adult;
use super::algorithm_1::{Divided, Items, divide, extremes};
use super::ring::{self, Claims, Exposed, OwnTerms};
use crate::experiment::Trouble;

/// Dummy items of a union.
pub(super) const DUMMY_ITEMS: [usize; 3] = [0, 1, 3];

/// Adult by places in the order of each attribute.
pub(super) struct AdultPlaces {
    ranks: Vec<Vec<u32>>,
    domains: Vec<usize>,
    rows: usize,
}

impl AdultPlaces {
    pub(super) fn new(adult: &Adult) -> Result<AdultPlaces, Trouble> {
        let (ranks, domains) = adult.ranks()?;
        Ok(AdultPlaces { ranks, domains, rows: adult.table.rows })
    }

    pub(super) fn matching(&self, wanted: &[(usize, u32)]) -> u64 {
        let holds = |row: &usize| wanted.iter().all(|&(attribute, rank)| self.ranks[attribute][*row] == rank);
        (0..self.rows).filter(holds).count() as u64
    }

    /// Which custodian each row belongs to: equal numbers, at random.
    pub(super) fn dealt(&self, custodians: usize, rng: &mut StdRng) -> Vec<usize> {
        let mut owners: Vec<usize> = (0..self.rows).map(|row| row % custodians).collect();
        owners.shuffle(rng);
        owners
    }
}

/// How much of a dealing is listened to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listened {
    /// Of the divided sets at most about this many, spread over the recursion.
    pub(super) sets: usize,
    /// Answers to each query with dummy items. Without them the items that a successor sees in a
    /// dealing are the leader's choice, and one is enough.
    pub(super) unions: u32,
}

/// The losses of a dealing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DealingLosses {
    /// The mean gain over all claims while sets are divided.
    pub(super) finding: f64,
    /// By query, and dummy items in their order.
    pub(super) answered: Vec<Exposed>,
}

/// People, by custodian, and their classes.
pub(super) struct Dealing<'a> {
    items: Items<'a>,
    divided: Divided,
}

impl<'a> Dealing<'a> {
    pub(super) fn new(people: &'a AdultPlaces, site_of: &'a [usize], sites: usize, k: u64) -> Dealing<'a> {
        let items = Items { ranks: &people.ranks, domains: &people.domains, site_of, sites };
        let divided = divide(&items, (0..people.rows as u32).collect(), k as usize);
        Dealing { items, divided }
    }

    /// Query 1 has the first of the wanted values, query 2 both.
    pub(super) fn losses(
        &self,
        wanted: &[(usize, u32); 2],
        listened: Listened,
        carrier: &mut impl Carrier,
        seed: u64,
    ) -> Result<DealingLosses, Trouble> {
        let mut coins = Coins::danger_from_seed(seed);
        let finding = self.lost_by_finding(listened.sets, carrier, &mut coins)?;
        let mut answered = Vec::new();
        for query in 0..2 {
            let own = self.held(&wanted[..=query]);
            for dummy_items in DUMMY_ITEMS {
                let unions = if dummy_items == 0 { 1 } else { listened.unions };
                answered.push(ring::unions(&own, dummy_items, unions, carrier, &mut coins)?);
            }
        }
        Ok(DealingLosses { finding, answered })
    }

    fn lost_by_finding(&self, sets: usize, carrier: &mut impl Carrier, coins: &mut Coins) -> Result<f64, Trouble> {
        let Dealing { items, divided } = self;
        let (mut claims, mut terms) = (Claims::default(), OwnTerms::default());
        let step = divided.cuts.len().div_ceil(sets).max(1);
        for cut in divided.cuts.iter().step_by(step) {
            let own = |site: usize| cut.rows.iter().copied().filter(move |&row| items.site_of[row as usize] == site);
            for (ranks, &domain) in items.ranks.iter().zip(items.domains) {
                let found = (0..items.sites).map(|site| extremes(ranks, own(site)));
                let ends: Vec<Option<(u64, u64)>> =
                    found.map(|found| found.map(|(least, most)| (u64::from(least), u64::from(most)))).collect();
                let found = claims.look_for_extremes(&ends, domain as u64, carrier, coins)?;
                let (least, most) = extremes(ranks, cut.rows.iter().copied()).ok_or("a divided set has rows")?;
                if found != [u64::from(least), u64::from(most)] {
                    return Err("the ring finds other extremes than the recursion".into());
                }
            }
            let ranks = &items.ranks[cut.attribute];
            let held = |site: usize| own(site).map(|row| u64::from(ranks[row as usize])).collect();
            let held: Vec<Vec<u64>> = (0..items.sites).map(held).collect();
            let median = terms.look_for_median(&held, items.domains[cut.attribute] as u64, carrier, coins)?;
            let sizes = terms.add_sizes(&cut.sizes, carrier, coins)?;
            let both = [0, 1].map(|side| cut.sizes.iter().map(|sizes| sizes[side]).sum::<u64>());
            if median != Some(u64::from(cut.median)) || sizes != both {
                return Err("the ring finds another cut than the recursion".into());
            }
        }
        let all = claims.made() + terms.passed_on as f64;
        Ok((claims.gained() * claims.made() + terms.disclosed as f64) / all.max(1.0))
    }

    /// How many matching tuples of each class each custodian holds. A class matches where its
    /// ranges have all wanted values.
    fn held(&self, wanted: &[(usize, u32)]) -> Vec<Vec<u64>> {
        let Dealing { items, divided } = self;
        let mut held = vec![vec![0; divided.classes.len()]; items.sites];
        for (class, rows) in divided.classes.iter().enumerate() {
            let covers = |&(attribute, rank): &(usize, u32)| {
                let found = extremes(&items.ranks[attribute], rows.iter().copied());
                found.is_some_and(|(least, most)| (least..=most).contains(&rank))
            };
            if wanted.iter().all(covers) {
                rows.iter().for_each(|&row| held[items.site_of[row as usize]][class] += 1);
            }
        }
        held
    }
}
