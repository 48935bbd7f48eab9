//! Figures 7 to 10: loss of privacy while custodians find classes and while they answer a query,
//! over the number of custodians and over k.
//!
//! Finding classes: for every class the ring looks for the smallest and the largest age. The
//! successor of a custodian claims that what it was passed is that custodian's own value; what the
//! result says anyway is taken off; of all passes the worst counts. Answering a query: the
//! custodians bring the classes that match into the union of the ring, with `r` dummy classes; the
//! loss is the item exposure that the leader's successor gains. Query 1 selects by age 55, query 2
//! by age 55 and one country.

use std::sync::Arc;

use hedgerow_publish::local::LocalRecoding;
use hedgerow_report::pictures::{Cell, Series};
use hedgerow_smc::baseline::{self, Chances};
use hedgerow_smc::lop::measure_ring_of;
use hedgerow_smc::{Body, BurnBook, Coins, Extremes, Item, Question, Roster, simulate};
use hedgerow_table::Table;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::adult::{Adult, alone};
use super::picture;
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, falls, never_above};

/// Over these, with [`FIXED_K`].
const CUSTODIANS: [usize; 4] = [3, 5, 10, 20];
const FIXED_K: u64 = 20;

/// Over these, with [`FIXED_CUSTODIANS`].
const KS: [u64; 4] = [5, 10, 20, 50];
const FIXED_CUSTODIANS: usize = 5;

/// Dummy items, as a share of all classes.
const DUMMY_SHARES: [f64; 3] = [0.0, 0.1, 0.5];

const AGE: &str = "55";
const COUNTRY: &str = "Mexico";

/// Classes whose extremes are looked for at once.
const LANES_MAX: usize = 200;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let adult = Adult::new(scale)?;
    let runs = scale.of(40, 15);
    let mut table = numbers(["custodians", "k", "finding classes", "query", "dummy items", "answering the query"]);
    let mut found = Vec::new();
    let by_custodians = CUSTODIANS.map(|custodians| (custodians, FIXED_K));
    let by_k = KS.map(|k| (FIXED_CUSTODIANS, k));
    for (custodians, k) in by_custodians.into_iter().chain(by_k) {
        let classes = alone(&adult.policy(k), &adult.table)?;
        let finding = finding(&adult.table, &classes, custodians, runs)?;
        let mut answering = [[0.0; 3]; 2];
        for (query, countries) in [None, Some(COUNTRY)].into_iter().enumerate() {
            for (place, share) in DUMMY_SHARES.into_iter().enumerate() {
                let dummy_items = (classes.sizes.len() as f64 * share) as u64;
                let loss = asking(&adult, &classes, custodians, countries, dummy_items, runs)?;
                answering[query][place] = loss;
                let row = [custodians as f64, k as f64, finding, query as f64 + 1.0, dummy_items as f64, loss];
                table.rows.push(row.map(Cell::Number).to_vec());
            }
        }
        found.push((custodians, k, finding, answering));
    }
    let (first, second) = found.split_at(CUSTODIANS.len());
    let over_custodians = |query: usize| losses(first, query, |one| one.0 as f64);
    let over_k = |query: usize| losses(second, query, |one| one.1 as f64);
    let [n1, n2, k1, k2] = [over_custodians(0), over_custodians(1), over_k(0), over_k(1)];
    let queries = |curves: &[Series]| all(curves[1..3].iter().map(|curve| falls(curve, 0.2)));
    let claims = vec![
        Claim::shape("finding classes loses less among more custodians", falls(&n1[0], 0.2)),
        Claim::shape("answering query 1 loses less among more custodians", queries(&n1)),
        Claim::shape("answering query 2 loses less among more custodians", queries(&n2)),
        Claim::shape("finding classes loses less with a larger k", falls(&k1[0], 0.2)),
        Claim::shape("answering query 1 loses less with a larger k", queries(&k1)),
        Claim::shape("answering query 2 loses less with a larger k", queries(&k2)),
        Claim::shape(
            "dummy items lower what a query loses",
            all([&n1, &n2, &k1, &k2].map(|curves| never_above(&curves[3], &curves[1]))),
        ),
    ];
    let pictures = vec![
        picture("Figure 7: loss of privacy, query 1", "custodians", &n1),
        picture("Figure 8: loss of privacy, query 1", "k", &k1),
        picture("Figure 9: loss of privacy, query 2", "custodians", &n2),
        picture("Figure 10: loss of privacy, query 2", "k", &k2),
    ];
    let setting = format!(
        "UCI Adult, {} people dealt in turn, {runs} runs for each point; k = {FIXED_K} or {FIXED_CUSTODIANS} custodians where these do \
         not vary.",
        adult.table.rows
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// Custodians, k, the loss while finding classes, the losses of both queries by dummy items.
type Found = (usize, u64, f64, [[f64; 3]; 2]);

fn losses(found: &[Found], query: usize, place: impl Fn(&Found) -> f64) -> Vec<Series> {
    let curve = |name: &str, loss: &dyn Fn(&Found) -> f64| Series {
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

/// What the successors gain while the ring looks for the extremes of ages in every class.
fn finding(table: &Table, classes: &LocalRecoding, custodians: usize, runs: u32) -> Result<f64, Trouble> {
    let age = table.column("age").ok_or("Adult has an age")?;
    let domain = age.domain.cardinality() as u64;
    let lanes = classes.sizes.len().min(LANES_MAX);
    let mut own: Vec<Vec<Option<(u64, u64)>>> = vec![vec![None; lanes]; custodians];
    for (row, &class) in classes.of_row.iter().enumerate().filter(|(_, class)| (**class as usize) < lanes) {
        let value = u64::from(age.codes.get(row));
        let lane = &mut own[row % custodians][class as usize];
        *lane = Some(lane.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
    }
    // As the ring passes them on: two largest values for every lane.
    let word = |lane: &Option<(u64, u64)>| lane.map_or([0, 0], |(low, high)| [domain - low, high + 1]);
    let words: Vec<Vec<u64>> = own.iter().map(|lanes| lanes.iter().flat_map(word).collect()).collect();
    let result: Vec<u64> = (0..2 * lanes).map(|lane| words.iter().map(|own| own[lane]).max().unwrap_or(0)).collect();
    let guess = 1.0 / (custodians - 1) as f64;
    // By pass.
    let mut gains: Vec<f64> = Vec::new();
    let mut claims: Vec<f64> = Vec::new();
    for run in 0..runs {
        let mut rng = StdRng::seed_from_u64(u64::from(run));
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
        simulate::watch(starts, rng.random(), |delivery| {
            let Body::RingLargest(passed) = &delivery.message.body else { return };
            let sender = usize::from(delivery.message.sender);
            let pass = passes[sender];
            passes[sender] += 1;
            gains.resize(gains.len().max(pass + 1), 0.0);
            claims.resize(gains.len(), 0.0);
            for ((&passed, &own), &result) in passed.iter().zip(&words[sender]).zip(&result) {
                let known = if passed == result { guess } else { 0.0 };
                gains[pass] += f64::from(u8::from(passed == own)) - known;
                claims[pass] += 1.0;
            }
        })?;
    }
    Ok(gains.iter().zip(&claims).map(|(gain, claims)| gain / claims.max(1.0)).fold(0.0, f64::max))
}

/// What the leader's successor gains from a query.
fn asking(
    adult: &Adult,
    classes: &LocalRecoding,
    custodians: usize,
    country: Option<&str>,
    dummy_items: u64,
    runs: u32,
) -> Result<f64, Trouble> {
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
    let mut owned: Vec<std::collections::BTreeSet<usize>> = vec![Default::default(); custodians];
    for (row, &class) in classes.of_row.iter().enumerate().filter(|(_, class)| matched[**class as usize]) {
        owned[row % custodians].insert(class as usize);
    }
    let owned: Vec<Vec<Item>> = owned.into_iter().map(|classes| classes.into_iter().map(item).collect()).collect();
    Ok(measure_ring_of(&owned, &domain, dummy_items, runs, 1)?.item_of_leader)
}
