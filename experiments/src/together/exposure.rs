//! Figures 7 to 10: loss of privacy while custodians find classes and while they answer a query,
//! over the number of custodians and over k.
//!
//! Finding classes: for every class the ring looks for the smallest and the largest age. The
//! successor of a custodian claims that what it was passed is that custodian's own value; what the
//! result says anyway is taken off; of all passes the worst counts. Answering a query: the
//! custodians bring the classes that match into the union of the ring, with `r` dummy classes; the
//! loss is the item exposure that the leader's successor gains. Query 1 selects by age 55, query 2
//! by age 55 and one country. Every run deals the people anew and flips new coins, so that the
//! standard errors cover both.
//!
//! The items of a query are classes, and custodians who hold rows of the same class are not set
//! apart by it. A few custodians hold rows of nearly every class: nothing is lost among them. Among
//! more, fewer hold a class in common, and the loss rises before it falls. While classes are being
//! found, what the first custodian passes on is its own extreme the more often, the more rows of
//! the class it has: so the loss rises with k.

use std::collections::BTreeSet;
use std::sync::Arc;

use hedgerow_publish::local::LocalRecoding;
use hedgerow_report::pictures::Cell;
use hedgerow_smc::baseline::{self, Chances};
use hedgerow_smc::lop::measure_ring_of;
use hedgerow_smc::{Body, BurnBook, Coins, Extremes, Item, Question, Roster, simulate};
use hedgerow_table::Table;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::adult::{Adult, alone};
use super::picture;
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::{all, never_above};

/// Over these, with [`FIXED_K`].
const CUSTODIANS: [usize; 4] = [3, 5, 10, 20];
const CUSTODIANS_QUICK: [usize; 3] = [3, 5, 20];
const FIXED_K: u64 = 20;

/// Over these, with [`FIXED_CUSTODIANS`].
const KS: [u64; 4] = [5, 10, 20, 50];
const KS_QUICK: [u64; 3] = [5, 10, 50];
const FIXED_CUSTODIANS: usize = 5;

/// Dummy items, as a share of all classes.
const DUMMY_SHARES: [f64; 3] = [0.0, 0.1, 0.5];

const AGE: &str = "55";
const COUNTRY: &str = "Mexico";

/// Classes whose extremes are looked for at once.
const LANES_MAX: usize = 200;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    // Which classes custodians have in common depends on the number of people: never fewer.
    let adult = Adult::new(Scale::Full)?;
    let runs = 40;
    let custodians_tried = scale.of(&CUSTODIANS[..], &CUSTODIANS_QUICK);
    let mut table = numbers([
        "custodians",
        "k",
        "classes",
        "finding classes",
        "± finding",
        "query",
        "dummy items",
        "answering the query",
        "± answering",
    ]);
    let mut found = Vec::new();
    let by_custodians = custodians_tried.iter().map(|&custodians| (custodians, FIXED_K));
    let by_k = scale.of(&KS[..], &KS_QUICK).iter().map(|&k| (FIXED_CUSTODIANS, k));
    for (custodians, k) in by_custodians.chain(by_k) {
        let classes = alone(&adult.policy(k), &adult.table)?;
        let deals: Vec<Vec<usize>> = (0..runs).map(|run| deal(adult.table.rows, custodians, run)).collect();
        let finding = finding(&adult.table, &classes, custodians, &deals)?;
        let mut answering = [[Sample::of(&[]); 3]; 2];
        for (query, countries) in [None, Some(COUNTRY)].into_iter().enumerate() {
            for (place, share) in DUMMY_SHARES.into_iter().enumerate() {
                let dummy_items = (classes.sizes.len() as f64 * share) as u64;
                let loss = answering_query(&adult, &classes, custodians, countries, dummy_items, &deals)?;
                answering[query][place] = loss;
                let counts = [custodians as f64, k as f64, classes.sizes.len() as f64, finding.mean, finding.error];
                let row = [&counts[..], &[query as f64 + 1.0, dummy_items as f64, loss.mean, loss.error]].concat();
                table.rows.push(row.into_iter().map(Cell::Number).collect());
            }
        }
        found.push((custodians, k, finding, answering));
    }
    let (first, second) = found.split_at(custodians_tried.len());
    let over_custodians = |query: usize| losses(first, query, |one| one.0 as f64);
    let over_k = |query: usize| losses(second, query, |one| one.1 as f64);
    let [n1, n2, k1, k2] = [over_custodians(0), over_custodians(1), over_k(0), over_k(1)];
    let queries = |curves: &[Curve]| all(curves[1..].iter().map(Curve::falls));
    let claims = vec![
        Claim::shape("finding classes loses less among more custodians", n1[0].falls()).stated_not_to_hold(),
        Claim::shape("answering query 1 loses less among more custodians", queries(&n1)).stated_not_to_hold(),
        Claim::shape("answering query 2 loses less among more custodians", queries(&n2)).stated_not_to_hold(),
        Claim::shape("finding classes loses less with a larger k", k1[0].falls()).stated_not_to_hold(),
        Claim::shape("answering query 1 loses less with a larger k", queries(&k1)).stated_not_to_hold(),
        Claim::shape("answering query 2 loses less with a larger k", queries(&k2)),
        Claim::shape(
            "dummy items lower what a query loses",
            all([&n1, &n2, &k1, &k2].map(|curves| never_above(&curves[3].series(), &curves[1].series()))),
        ),
    ];
    let [n1, n2, k1, k2] = [n1, n2, k1, k2].map(|curves| curves.iter().map(Curve::series).collect::<Vec<_>>());
    let pictures = vec![
        picture("Figure 7: loss of privacy, query 1", "custodians", &n1),
        picture("Figure 8: loss of privacy, query 1", "k", &k1),
        picture("Figure 9: loss of privacy, query 2", "custodians", &n2),
        picture("Figure 10: loss of privacy, query 2", "k", &k2),
    ];
    let setting = format!(
        "UCI Adult, {} people dealt anew in each of {runs} runs for each point; k = {FIXED_K} or {FIXED_CUSTODIANS} custodians where these do \
         not vary.",
        adult.table.rows
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// Custodians, k, the loss while finding classes, the losses of both queries by dummy items.
type Found = (usize, u64, Sample, [[Sample; 3]; 2]);

fn losses(found: &[Found], query: usize, place: impl Fn(&Found) -> f64) -> Vec<Curve> {
    let curve = |name: &str, loss: &dyn Fn(&Found) -> Sample| Curve {
        name: name.to_owned(),
        points: found.iter().map(|one| (place(one), loss(one))).collect(),
    };
    vec![
        curve("finding classes", &|one| one.2),
        curve("query, r = 0", &|one| one.3[query][0]),
        curve("query, r = 10 %", &|one| one.3[query][1]),
        curve("query, r = 50 %", &|one| one.3[query][2]),
    ]
}

/// Whom each row belongs to: as many to everybody, at random.
fn deal(rows: usize, custodians: usize, run: u64) -> Vec<usize> {
    let mut owners: Vec<usize> = (0..rows).map(|row| row % custodians).collect();
    owners.shuffle(&mut StdRng::seed_from_u64(run));
    owners
}

/// What the successors gain while the ring looks for the extremes of ages in every class.
fn finding(table: &Table, classes: &LocalRecoding, custodians: usize, deals: &[Vec<usize>]) -> Result<Sample, Trouble> {
    let age = table.column("age").ok_or("Adult has an age")?;
    let domain = age.domain.cardinality() as u64;
    let lanes = classes.sizes.len().min(LANES_MAX);
    let guess = 1.0 / (custodians - 1) as f64;
    // By pass and run.
    let mut gains: Vec<Vec<f64>> = Vec::new();
    for (run, owners) in deals.iter().enumerate() {
        let mut own: Vec<Vec<Option<(u64, u64)>>> = vec![vec![None; lanes]; custodians];
        for (row, &class) in classes.of_row.iter().enumerate().filter(|(_, class)| (**class as usize) < lanes) {
            let value = u64::from(age.codes.get(row));
            let lane = &mut own[owners[row]][class as usize];
            *lane = Some(lane.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        // As the ring passes them on: two largest values for every lane.
        let word = |lane: &Option<(u64, u64)>| lane.map_or([0, 0], |(low, high)| [domain - low, high + 1]);
        let words: Vec<Vec<u64>> = own.iter().map(|lanes| lanes.iter().flat_map(word).collect()).collect();
        let result: Vec<u64> =
            (0..2 * lanes).map(|lane| words.iter().map(|own| own[lane]).max().unwrap_or(0)).collect();
        let mut rng = StdRng::seed_from_u64(run as u64);
        let session: [u8; 16] = rng.random();
        let roster = Roster::numbered(custodians)?;
        let mut starts = Vec::new();
        for (me, lanes) in own.iter().enumerate() {
            let permit = BurnBook::default().permit(session, Question::new("extremes", &session), &roster)?;
            let extremes = Extremes::new(lanes.clone(), domain);
            let coins = Coins::danger_from_seed(rng.random());
            starts.push(baseline::start(permit, me as u16, extremes, Chances::default(), coins)?);
        }
        let mut passes = vec![0; custodians];
        let mut sums: Vec<(f64, f64)> = Vec::new();
        simulate::watch(starts, rng.random(), |delivery| {
            let Body::RingLargest(passed) = &delivery.message.body else { return };
            let sender = usize::from(delivery.message.sender);
            let pass = passes[sender];
            passes[sender] += 1;
            sums.resize(sums.len().max(pass + 1), (0.0, 0.0));
            for ((&passed, &own), &result) in passed.iter().zip(&words[sender]).zip(&result) {
                let known = if passed == result { guess } else { 0.0 };
                sums[pass].0 += f64::from(u8::from(passed == own)) - known;
                sums[pass].1 += 1.0;
            }
        })?;
        gains.resize(gains.len().max(sums.len()), Vec::new());
        gains.iter_mut().zip(sums).for_each(|(gains, (gain, claims))| gains.push(gain / claims));
    }
    let samples = gains.iter().map(|gains| Sample::of(gains));
    samples.max_by(|a, b| a.mean.total_cmp(&b.mean)).ok_or_else(|| "the ring passes values on".into())
}

/// What the leader's successor gains from a query.
fn answering_query(
    adult: &Adult,
    classes: &LocalRecoding,
    custodians: usize,
    country: Option<&str>,
    dummy_items: u64,
    deals: &[Vec<usize>],
) -> Result<Sample, Trouble> {
    let conditions = [("age", Some(AGE)), ("native-country", country)];
    let mut required = Vec::new();
    for (name, value) in conditions.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        required.push(adult.place(name, value)?);
    }
    let matching = |class: usize| {
        required.iter().all(|&(attribute, rank)| {
            let cells = &classes.cells[attribute];
            let region = cells.regions[cells.of_class[class] as usize];
            (region.first..=region.last).contains(&rank)
        })
    };
    let item = |class: usize| (class as u64).to_le_bytes().to_vec();
    let domain: Arc<[Item]> = (0..classes.sizes.len()).map(item).collect();
    let matched: Vec<bool> = (0..classes.sizes.len()).map(matching).collect();
    let mut losses = Vec::new();
    for (run, owners) in deals.iter().enumerate() {
        let mut owned: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); custodians];
        for (row, &class) in classes.of_row.iter().enumerate().filter(|(_, class)| matched[**class as usize]) {
            owned[owners[row]].insert(class as usize);
        }
        let owned: Vec<Vec<Item>> = owned.into_iter().map(|classes| classes.into_iter().map(item).collect()).collect();
        losses.push(measure_ring_of(&owned, &domain, dummy_items, 1, run as u64)?.item_of_leader);
    }
    Ok(Sample::of(&losses))
}
