//! Figures 7 to 10: loss of privacy while custodians find classes and while they answer a query,
//! over the number of custodians and over k.
//!
//! Finding classes is algorithm 1 as printed: for every set that is divided, the least and the
//! greatest value of each attribute, the median by halving with sums, and the sizes of both sides.
//! The result of the ring there is compared with the cut that the recursion makes.
//! A successor claims that what it was passed is its predecessor's own value; how often the result
//! alone would make that true is taken off, and of all passes the worst counts. The curve is the
//! mean over all claims, those about sums included.
//!
//! Answering a query is the union of algorithm 5 over the anonymized tuples that match, with their
//! duplicates, and `r` dummy tuples among all anonymized ones. Both are runs of the ring's machines
//! in one process, listened to at every successor. The paper does not say which exposure it draws.
//! Here the loss is that of the whole set, over all positions (its equation 5); item exposure of
//! the leader, the worst case, is a column beside it. Query 1 selects by age 55, query 2 by age 55
//! and country 26, which is Mexico when countries are numbered by their names.
//!
//! Between nodes (`profile = "baseline"`) the ring's machine finds classes by sums alone, and
//! queries are answered by sums in place of unions. What three nodes were passed is counted from
//! their journals ([`super::journals`]).

use std::collections::BTreeSet;

use hedgerow_report::pictures::NumberCell;
use hedgerow_smc::Coins;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

use super::adult::Adult;
use super::algorithm_1::{Divided, Items, divide, extremes};
use super::journals::{self, PassedOn};
use super::ring::{self, Claims, Exposed, OwnTerms};
use super::{nodes, picture};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below, nearly_agree};
use crate::shape::{all, counts};

/// Over these, with [`FIXED_K`].
const CUSTODIANS: [usize; 4] = [3, 5, 10, 20];
const FIXED_K: u64 = 20;

/// Over these, with [`FIXED_CUSTODIANS`].
const KS: [u64; 4] = [5, 10, 20, 50];
const FIXED_CUSTODIANS: usize = 5;

const DUMMY_ITEMS: [usize; 3] = [0, 1, 3];

const AGE: &str = "55";
const COUNTRY: &str = "Mexico";

/// Of a run's divided sets at most about this many are looked at, spread over the recursion.
const SETS_MAX: usize = 40;

/// Losses over one parameter.
#[derive(Debug, Clone)]
struct Over {
    finding: Curve,
    /// Set exposure by query and dummy items.
    set: [[Curve; 3]; 2],
    /// Item exposure of the leader, likewise.
    item: [[Curve; 3]; 2],
}

impl Over {
    fn new() -> Over {
        let curves = || [(); 2].map(|()| DUMMY_ITEMS.map(|items| Curve::new(format!("query, r = {items}"))));
        Over { finding: Curve::new("finding classes"), set: curves(), item: curves() }
    }
}

#[derive(Debug, Clone)]
struct Measured {
    /// Rows that match each query.
    matching: [u64; 2],
    by_custodians: Over,
    by_k: Over,
    /// By three nodes, at [`FIXED_K`].
    passed: PassedOn,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    // Which classes custodians have in common depends on the number of people: never fewer.
    let adult = Adult::new(Scale::Full)?;
    let (dealings, unions) = scale.of((40, 8), (6, 1));
    let mut table = numbers([
        "custodians",
        "k",
        "finding classes",
        "± finding",
        "query",
        "dummy items",
        "set exposure",
        "± set",
        "item exposure of the leader",
        "± item",
    ]);
    let wanted = [adult.place("age", AGE)?, adult.place("native-country", COUNTRY)?];
    let people = AdultPlaces::new(&adult)?;
    let matching = [people.matching(&wanted[..1]), people.matching(&wanted)];
    let (passed, between) = between_nodes(scale)?;
    table.rows.push(journals::row(&passed, FIXED_K));
    let mut measured = Measured { matching, by_custodians: Over::new(), by_k: Over::new(), passed };
    let points: BTreeSet<(usize, u64)> = CUSTODIANS
        .map(|custodians| (custodians, FIXED_K))
        .into_iter()
        .chain(KS.map(|k| (FIXED_CUSTODIANS, k)))
        .collect();
    for (custodians, k) in points {
        let (mut finding, mut answered) = (Vec::new(), vec![Vec::new(); 6]);
        for dealing in 0..dealings {
            let mut rng = StdRng::seed_from_u64((k << 32) + ((custodians as u64) << 16) + dealing);
            let site_of = people.dealt(custodians, &mut rng);
            let items = people.items(&site_of, custodians);
            let divided = divide(&items, (0..people.rows as u32).collect(), k as usize);
            let mut coins = Coins::danger_from_seed(rng.next_u64());
            finding.push(lost_by_finding(&items, &divided, &mut coins)?);
            for query in 0..2 {
                let own = held(&items, &divided, &wanted[..=query]);
                for (place, dummy_items) in DUMMY_ITEMS.into_iter().enumerate() {
                    // Without dummy items the items that a successor sees in a dealing are the
                    // leader's choice.
                    let unions = if dummy_items == 0 { 1 } else { unions };
                    answered[query * 3 + place].push(ring::unions(&own, dummy_items, unions, &mut coins)?);
                }
            }
        }
        let finding = Sample::of(&finding);
        let mut over = Vec::new();
        if k == FIXED_K {
            over.push((custodians as f64, &mut measured.by_custodians));
        }
        if custodians == FIXED_CUSTODIANS {
            over.push((k as f64, &mut measured.by_k));
        }
        over.iter_mut().for_each(|(x, over)| over.finding.push(*x, finding.clone()));
        for (place, exposed) in answered.iter().enumerate() {
            let [query, dummies] = [place / 3, place % 3];
            let sample = |of: fn(&Exposed) -> f64| Sample::of(&exposed.iter().map(of).collect::<Vec<_>>());
            let [set, item] = [sample(|one| one.set), sample(|one| one.item_of_leader)];
            let row = [custodians as f64, k as f64, finding.mean(), finding.error(), query as f64 + 1.0];
            let losses = [DUMMY_ITEMS[dummies] as f64, set.mean(), set.error(), item.mean(), item.error()];
            table.rows.push(row.into_iter().chain(losses).map(NumberCell::Number).collect());
            for (x, over) in &mut over {
                over.set[query][dummies].push(*x, set.clone());
                over.item[query][dummies].push(*x, item.clone());
            }
        }
    }
    let drawn = |title: &str, across: &str, over: &Over, query: usize| {
        let curves: Vec<_> = std::iter::once(&over.finding).chain(&over.set[query]).map(Curve::series).collect();
        picture(title, across, &curves)
    };
    let pictures = vec![
        drawn("Figure 7: loss of privacy, query 1", "custodians", &measured.by_custodians, 0),
        drawn("Figure 8: loss of privacy, query 1", "k", &measured.by_k, 0),
        drawn("Figure 9: loss of privacy, query 2", "custodians", &measured.by_custodians, 1),
        drawn("Figure 10: loss of privacy, query 2", "k", &measured.by_k, 1),
    ];
    let setting = format!(
        "{}; dealt anew {dealings} times for each point, with {unions} answers of each query to each; k = {FIXED_K} or {FIXED_CUSTODIANS} \
         custodians where these do not vary; algorithm 1 as printed, listened to at up to {SETS_MAX} of the sets that it divides, spread over \
         the recursion, and the union of anonymized tuples with duplicates, by the machines of the ring in one process. Beside them \
         three nodes in the ring, with mutual TLS over loopback, find the classes of {} people, by sums alone; what each was passed is in \
         its journal. The paper prints neither p₀ and d, here 1 and 0.5, nor what its adversary claims; dummy items are 0, 1 and 3.",
        adult.setting()?,
        between
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { matching, by_custodians, by_k, passed }: &Measured) -> Vec<Claim> {
    // Without dummy items the leader's successor always learns the set: k has no part in it.
    let with_dummies = |set: &[Curve; 3]| all(set[1..].iter().map(Curve::falls));
    let alone = |over: &Over, others: fn(f64) -> f64| {
        let one_of = |&(x, _): &(f64, Sample)| (x, Sample::exact(1.0 / others(x)));
        let bound = Curve { name: "1/(n − 1)".into(), points: over.finding.points.iter().map(one_of).collect() };
        all(over.set.iter().map(|set| nearly_agree(&set[0], &bound)))
    };
    let lower = |over: &Over| all(over.set.iter().flat_map(|set| [below(&set[2], &set[1]), below(&set[1], &set[0])]));
    vec![
        Claim::printed("query 1 selects 386 records", counts("age 55", matching[0], 386)),
        Claim::printed("query 2 selects 2 records", counts("age 55 and Mexico", matching[1], 2)),
        // The paper gives neither p₀ and d nor the claims that it counts: ours may be other ones.
        Claim::shape("finding classes loses less among more custodians", by_custodians.finding.falls())
            .on_other_data()
            .stated_not_to_hold(),
        Claim::shape("finding classes loses less with a larger k", by_k.finding.falls()).on_other_data(),
        Claim::shape(
            "answering query 1 loses less among more custodians",
            all(by_custodians.set[0].iter().map(Curve::falls)),
        ),
        Claim::shape(
            "answering query 2 loses less among more custodians",
            all(by_custodians.set[1].iter().map(Curve::falls)),
        ),
        Claim::shape("answering query 1 loses less with a larger k", with_dummies(&by_k.set[0])),
        Claim::shape("answering query 2 loses less with a larger k", with_dummies(&by_k.set[1])),
        Claim::shape("dummy items lower what a query loses", all([lower(by_custodians), lower(by_k)])),
        Claim::ours(
            "without dummy items a query loses 1/(n − 1), whatever k is: the leader's successor learns all that the leader has",
            all([alone(by_custodians, |custodians| custodians - 1.0), alone(by_k, |_| FIXED_CUSTODIANS as f64 - 1.0)]),
        ),
        Claim::ours(
            "in the worst case, for single items of the leader, a query without dummy items loses more among more custodians",
            all([by_custodians.item[0][0].rises(), by_custodians.item[1][0].rises()]),
        ),
        Claim::ours(
            "between three nodes, no word that a node was passed can be a count of its predecessor's own rows",
            journals::nothing_alone(passed),
        )
        .at_any_size(),
        Claim::ours(
            "both neighbors of a node put together learn counts of its rows",
            journals::counts_together(passed),
        )
        .at_any_size(),
    ]
}

/// The words that three nodes in the ring were passed, and the number of people that they hold
/// together.
fn between_nodes(scale: Scale) -> Result<(PassedOn, usize), Trouble> {
    let adult = Adult::new(scale)?;
    let rows = adult.table.rows;
    let most = rows.div_ceil(nodes::NAMES.len()) as u64;
    Ok((journals::counted(&nodes::heard_by_nodes(FIXED_K, &adult.table)?, most)?, rows))
}

/// Adult by places in the order of each attribute.
struct AdultPlaces {
    ranks: Vec<Vec<u32>>,
    domains: Vec<usize>,
    rows: usize,
}

impl AdultPlaces {
    fn new(adult: &Adult) -> Result<AdultPlaces, Trouble> {
        let (ranks, domains) = adult.ranks()?;
        Ok(AdultPlaces { ranks, domains, rows: adult.table.rows })
    }

    fn matching(&self, wanted: &[(usize, u32)]) -> u64 {
        let holds = |row: &usize| wanted.iter().all(|&(attribute, rank)| self.ranks[attribute][*row] == rank);
        (0..self.rows).filter(holds).count() as u64
    }

    /// Which custodian each row belongs to: equal numbers, at random.
    fn dealt(&self, custodians: usize, rng: &mut StdRng) -> Vec<usize> {
        let mut owners: Vec<usize> = (0..self.rows).map(|row| row % custodians).collect();
        owners.shuffle(rng);
        owners
    }

    fn items<'a>(&'a self, site_of: &'a [usize], sites: usize) -> Items<'a> {
        Items { ranks: &self.ranks, domains: &self.domains, site_of, sites }
    }
}

/// The mean gain over all claims while sets are divided.
fn lost_by_finding(items: &Items<'_>, divided: &Divided, coins: &mut Coins) -> Result<f64, Trouble> {
    let (mut claims, mut terms) = (Claims::default(), OwnTerms::default());
    let step = divided.cuts.len().div_ceil(SETS_MAX).max(1);
    for cut in divided.cuts.iter().step_by(step) {
        let own = |site: usize| cut.rows.iter().copied().filter(move |&row| items.site_of[row as usize] == site);
        for (ranks, &domain) in items.ranks.iter().zip(items.domains) {
            let found = (0..items.sites).map(|site| extremes(ranks, own(site)));
            let ends: Vec<Option<(u64, u64)>> =
                found.map(|found| found.map(|(least, most)| (u64::from(least), u64::from(most)))).collect();
            let found = claims.look_for_extremes(&ends, domain as u64, coins)?;
            let (least, most) = extremes(ranks, cut.rows.iter().copied()).ok_or("a divided set has rows")?;
            if found != [u64::from(least), u64::from(most)] {
                return Err("the ring finds other extremes than the recursion".into());
            }
        }
        let ranks = &items.ranks[cut.attribute];
        let held = |site: usize| own(site).map(|row| u64::from(ranks[row as usize])).collect();
        let held: Vec<Vec<u64>> = (0..items.sites).map(held).collect();
        let median = terms.look_for_median(&held, items.domains[cut.attribute] as u64, coins)?;
        let sizes = terms.add_sizes(&cut.sizes, coins)?;
        let both = [0, 1].map(|side| cut.sizes.iter().map(|sizes| sizes[side]).sum::<u64>());
        if median != Some(u64::from(cut.median)) || sizes != both {
            return Err("the ring finds another cut than the recursion".into());
        }
    }
    let all = claims.made() + terms.passed_on as f64;
    Ok((claims.gained() * claims.made() + terms.disclosed as f64) / all.max(1.0))
}

/// How many matching tuples of each class each custodian holds. A class matches where its ranges
/// have all wanted values.
fn held(items: &Items<'_>, divided: &Divided, wanted: &[(usize, u32)]) -> Vec<Vec<u64>> {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    /// Without dummy items a query loses 1/(n − 1).
    fn over(xs: [f64; 2], none: [f64; 2]) -> Over {
        let curve = |share: f64| Curve::exact("c", &[(xs[0], none[0] * share), (xs[1], none[1] * share * share)]);
        let humped = Curve::exact("c", &[(3.0, 0.1), (5.0, 0.2), (20.0, 0.05)]);
        let rising = || Curve::exact("c", &[(3.0, 0.1), (20.0, 0.2)]);
        let set = || [(); 2].map(|()| [1.0, 0.6, 0.2].map(curve));
        Over { finding: humped, set: set(), item: [(); 2].map(|()| [(); 3].map(|()| rising())) }
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::together) fn turned() -> Vec<String> {
        let falling = Curve::exact("c", &[(5.0, 0.2), (50.0, 0.1)]);
        let by_custodians = over([3.0, 20.0], [1.0 / 2.0, 1.0 / 19.0]);
        let passed = PassedOn { words: 30, countable: 0, terms: 20, shown_to_both: 12 };
        let by_k = Over { finding: falling, ..over([5.0, 50.0], [0.25; 2]) };
        every_claim_can_fail(
            &Measured { matching: [386, 2], by_custodians, by_k, passed },
            claims,
            &[
                ("query 1 selects", |of| of.matching[0] = 385),
                ("query 2 selects", |of| of.matching[1] = 3),
                ("finding classes loses less among", |of| of.by_custodians.finding.points[1].1 = Sample::exact(0.1)),
                ("finding classes loses less with", |of| of.by_k.finding.points[1].1 = Sample::exact(0.9)),
                ("answering query 1 loses less among", |of| {
                    of.by_custodians.set[0][0].points[1].1 = Sample::exact(0.9)
                }),
                ("answering query 2 loses less among", |of| {
                    of.by_custodians.set[1][0].points[1].1 = Sample::exact(0.9)
                }),
                ("answering query 1 loses less with", |of| of.by_k.set[0][1].points[1].1 = Sample::exact(0.9)),
                ("answering query 2 loses less with", |of| of.by_k.set[1][2].points[1].1 = Sample::exact(0.9)),
                ("dummy items lower", |of| of.by_k.set[1][2].points[0].1 = Sample::exact(0.4)),
                ("without dummy items", |of| of.by_k.set[0][0].points[1].1 = Sample::exact(0.3)),
                ("in the worst case", |of| of.by_custodians.item[1][0].points[1].1 = Sample::exact(0.1)),
                ("between three nodes", |of| of.passed.countable = 1),
                ("both neighbors", |of| of.passed.shown_to_both = 0),
            ],
        )
    }
}
