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
//! duplicates, and `r` dummy tuples among all anonymized ones. Both are runs of the ring's
//! machines, listened to at every successor. The paper does not say which exposure it draws. Here
//! the loss is that of the whole set, over all positions (its equation 5); item exposure of the
//! leader, the worst case, is a column beside it. Query 1 selects by age 55, query 2 by age 55 and
//! country 26, which is Mexico when countries are numbered by their names.
//!
//! The first dealing of every point is run between custodians that are connected as nodes are
//! ([`super::connected`]), and its messages are compared with those of the same machines in one
//! process, where the other dealings are run.
//!
//! A node's own runs (`profile = "baseline"`) find classes by sums alone, and answer queries by
//! sums in place of unions. What three nodes were passed is counted from their journals
//! ([`super::journals`]).

use std::collections::BTreeSet;

use hedgerow_report::pictures::NumberCell;
use hedgerow_smc::simulate::InOneProcess;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::adult::Adult;
use super::connected::{ConnectedCustodians, MessagesCompared, Recorded};
use super::dealing::{AdultPlaces, DUMMY_ITEMS, Dealing, DealingLosses, Listened};
use super::journals::{self, PassedOn};
use super::{nodes, picture};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below, nearly_agree};
use crate::shape::{all, counts};

/// Over these, with [`FIXED_K`].
const CUSTODIANS: [usize; 4] = [3, 5, 10, 20];
const FIXED_K: u64 = 20;

/// Over these, with [`FIXED_CUSTODIANS`].
const KS: [u64; 4] = [5, 10, 20, 50];
const FIXED_CUSTODIANS: usize = 5;

const AGE: &str = "55";
const COUNTRY: &str = "Mexico";

/// Of a run's divided sets at most about this many are looked at, spread over the recursion.
const SETS_MAX: usize = 40;

/// In a quick run, at the first dealing, by as many connected custodians at most.
const SETS_CONNECTED_QUICK: usize = 2;
const CONNECTED_QUICK: usize = 5;

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
    /// The first dealing of each point.
    compared: MessagesCompared,
}

impl Measured {
    /// A point of the figures, and its rows in the table.
    fn add(&mut self, custodians: usize, k: u64, losses: &[DealingLosses]) -> Vec<Vec<NumberCell>> {
        let sample = |of: &dyn Fn(&DealingLosses) -> f64| Sample::of(&losses.iter().map(of).collect::<Vec<_>>());
        let finding = sample(&|one| one.finding);
        let mut over = Vec::new();
        if k == FIXED_K {
            over.push((custodians as f64, &mut self.by_custodians));
        }
        if custodians == FIXED_CUSTODIANS {
            over.push((k as f64, &mut self.by_k));
        }
        over.iter_mut().for_each(|(x, over)| over.finding.push(*x, finding.clone()));
        let mut rows = Vec::new();
        for place in 0..2 * DUMMY_ITEMS.len() {
            let [query, dummies] = [place / DUMMY_ITEMS.len(), place % DUMMY_ITEMS.len()];
            let set = sample(&|one| one.answered[place].set);
            let item = sample(&|one| one.answered[place].item_of_leader);
            let row = [custodians as f64, k as f64, finding.mean(), finding.error(), query as f64 + 1.0];
            let losses = [DUMMY_ITEMS[dummies] as f64, set.mean(), set.error(), item.mean(), item.error()];
            rows.push(row.into_iter().chain(losses).map(NumberCell::Number).collect());
            for (x, over) in &mut over {
                over.set[query][dummies].push(*x, set.clone());
                over.item[query][dummies].push(*x, item.clone());
            }
        }
        rows
    }
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    // Which classes custodians have in common depends on the number of people: never fewer.
    let adult = Adult::new(Scale::Full)?;
    let (dealings, unions) = repeated(scale);
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
    let compared = MessagesCompared::default();
    let mut measured = Measured { matching, by_custodians: Over::new(), by_k: Over::new(), passed, compared };
    let points: BTreeSet<(usize, u64)> = CUSTODIANS
        .map(|custodians| (custodians, FIXED_K))
        .into_iter()
        .chain(KS.map(|k| (FIXED_CUSTODIANS, k)))
        .collect();
    for (custodians, k) in points {
        let losses = dealt(scale, &people, &wanted, (custodians, k), &mut measured.compared)?;
        table.rows.extend(measured.add(custodians, k, &losses));
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
         the recursion, and the union of anonymized tuples with duplicates, by the machines of the ring: the first dealing of {} \
         between custodians that are connected as nodes are, with mutual TLS over loopback and signed frames, the others in one \
         process. Beside them three nodes in the ring find the classes of {} people, by sums alone; what each was passed is in its \
         journal. The paper prints neither p₀ and d, here 1 and 0.5, nor what its adversary claims; dummy items are 0, 1 and 3.",
        adult.setting()?,
        scale.of("each point", "points with up to five, at two sets,"),
        between
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

/// Dealings of each point, and answers to each query with dummy items.
fn repeated(scale: Scale) -> (u64, u32) {
    scale.of((40, 8), (6, 1))
}

/// The losses of each dealing of a point.
fn dealt(
    scale: Scale,
    people: &AdultPlaces,
    wanted: &[(usize, u32); 2],
    (custodians, k): (usize, u64),
    compared: &mut MessagesCompared,
) -> Result<Vec<DealingLosses>, Trouble> {
    let (dealings, unions) = repeated(scale);
    let listened = Listened { sets: SETS_MAX, unions };
    let losses = |number: u64| {
        let mut rng = StdRng::seed_from_u64((k << 32) + ((custodians as u64) << 16) + number);
        let site_of = people.dealt(custodians, &mut rng);
        let dealing = Dealing::new(people, &site_of, custodians, k);
        let seed = rng.next_u64();
        if number > 0 || custodians > scale.of(usize::MAX, CONNECTED_QUICK) {
            return dealing.losses(wanted, listened, &mut InOneProcess, seed);
        }
        let listened = Listened { sets: scale.of(SETS_MAX, SETS_CONNECTED_QUICK), ..listened };
        let (mut connected, mut here) = (ConnectedCustodians::start(custodians)?, InOneProcess);
        let (mut between, mut alone) = (Recorded::new(&mut connected), Recorded::new(&mut here));
        let losses = dealing.losses(wanted, listened, &mut between, seed)?;
        dealing.losses(wanted, listened, &mut alone, seed)?;
        compared.add(&between, &alone);
        Ok(losses)
    };
    (0..dealings).map(losses).collect()
}

fn claims(Measured { matching, by_custodians, by_k, passed, compared }: &Measured) -> Vec<Claim> {
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
        Claim::ours(
            "connected custodians are passed, message for message, what the machines in one process pass",
            same_messages(compared),
        )
        .at_any_size(),
    ]
}

fn same_messages(MessagesCompared { messages, different }: &MessagesCompared) -> ClaimOutcome {
    match (messages, different) {
        (0, _) => Err("no messages were compared".to_owned()),
        (_, 0) => Ok(()),
        _ => Err(format!("{different} of {messages} messages differ")),
    }
}

/// The words that three nodes in the ring were passed, and the number of people that they hold
/// together.
fn between_nodes(scale: Scale) -> Result<(PassedOn, usize), Trouble> {
    let adult = Adult::new(scale)?;
    let rows = adult.table.rows;
    let most = rows.div_ceil(nodes::NAMES.len()) as u64;
    Ok((journals::counted(&nodes::heard_by_nodes(FIXED_K, &adult.table)?, most)?, rows))
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
        let compared = MessagesCompared { messages: 30, different: 0 };
        let by_k = Over { finding: falling, ..over([5.0, 50.0], [0.25; 2]) };
        every_claim_can_fail(
            &Measured { matching: [386, 2], by_custodians, by_k, passed, compared },
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
                ("connected custodians", |of| of.compared.different = 1),
            ],
        )
    }
}
