//! The view of a coalition in real joint runs: with the same union of rows and the same opened
//! values, its members cannot tell which of two others holds which rows. The test is shown to
//! notice it when a coalition is large enough to take all masks away.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hedgerow_joint::{AgreedRef, Joint, Share};
use hedgerow_publish::bind::Bound;
use hedgerow_smc::masked::{self, Guess, residuals};
use hedgerow_smc::simulate::{self, Delivery};
use hedgerow_smc::{BurnBook, Coins, Ledger, Message, Question, Roster};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::joint::{agree, read};

const RUNS: u64 = 60;
/// Exceeded once in ten million honest tries, with 15 degrees of freedom.
const TOO_FAR: f64 = 65.0;

fn coins(me: u16, seed: u64) -> Coins {
    Coins::danger_from_seed(1000 * seed + u64::from(me))
}

/// One real run: its messages, one copy of each, and what it opened.
fn run(agreed: &AgreedRef, shares: &[Share], seed: u64) -> (Vec<Message>, Ledger) {
    let roster = Roster::numbered(shares.len()).unwrap();
    let start = |me: u16| {
        let permit = BurnBook::default().permit([3; 16], Question::new("classes", b""), &roster).unwrap();
        let joint = Joint::new(Arc::clone(agreed), shares[usize::from(me)].clone(), coins(me, seed + 500_000));
        masked::start(permit, me, joint, coins(me, seed)).unwrap()
    };
    let mut messages = Vec::new();
    let watcher = |delivery: &Delivery| {
        if delivery.to == (delivery.message.sender + 1) % shares.len() as u16 {
            messages.push(delivery.message.clone());
        }
    };
    let (mut concluded, _) = simulate::watch((0..shares.len() as u16).map(start).collect(), seed, watcher).unwrap();
    (messages, concluded.remove(0).ledger)
}

type Views = BTreeMap<String, Vec<u64>>;

/// The rest of custodian 1's words for a coalition, over many runs.
fn views(agreed: &AgreedRef, shares: &[Share], members: &[u16], world: u64) -> (Views, Ledger) {
    let roster = Roster::numbered(shares.len()).unwrap();
    let mut views = Views::new();
    let mut opened = Ledger::default();
    for seed in (0..RUNS).map(|run| 2 * run + world) {
        let (messages, ledger) = run(agreed, shares, seed);
        opened = ledger;
        for guess in [Guess::Nothing, Guess::NoSecret] {
            let members = members.iter().map(|member| (*member, coins(*member, seed))).collect();
            for residual in residuals(&messages, &roster, members, guess).unwrap() {
                if residual.sender != 1 {
                    continue;
                }
                let words = residual.words;
                for (lane, word) in words.iter().enumerate().take(4) {
                    let round = residual.round;
                    let mut feature = |what: &str, value: u64| {
                        views.entry(format!("{guess:?}: {what} {lane} of round {round}")).or_default().push(value % 16);
                    };
                    feature("word", *word);
                    feature("difference to the first, word", word.wrapping_sub(words[0]));
                    feature("high bits of word", word >> 60);
                }
            }
        }
    }
    (views, opened)
}

fn distinguished(one: &Views, other: &Views) -> Option<String> {
    let bins = |view: &[u64]| {
        let mut bins = [0f64; 16];
        view.iter().for_each(|value| bins[*value as usize] += 1.0);
        bins
    };
    let differs = |(feature, view): (&String, &Vec<u64>)| {
        let (one, other) = (bins(view), bins(other.get(feature)?));
        let filled = one.iter().zip(other).filter(|(one, other)| **one + other > 0.0);
        let statistic: f64 = filled.map(|(one, other)| (one - other).powi(2) / (one + other)).sum();
        (statistic > TOO_FAR).then(|| feature.clone())
    };
    one.iter().find_map(differs)
}

#[test]
fn a_joint_run_does_not_show_whose_rows_are_whose() {
    let mut random = StdRng::seed_from_u64(8);
    let mut text = "age,disease\n".to_owned();
    (0..24).for_each(|_| text.push_str(&format!("{},d{}\n", random.random_range(0..40), random.random_range(0..3))));
    let folder = tempfile::tempdir().unwrap();
    let path: &Path = folder.path();
    std::fs::write(path.join("people.csv"), text).unwrap();
    std::fs::write(
        path.join("policy.toml"),
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\ndisease = { role = \"sensitive\" }\n\
         [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n[[rule]]\nprotect = \"disease\"\n\
         require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"mondrian\"\n",
    )
    .unwrap();
    let (policy, table) = read(&path.join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let agreed: AgreedRef = Arc::new(agree(&bound, true, false).unwrap());
    // The second has a few rows of the young, the third all others.
    let owner: Vec<usize> = (0..24).map(|row| if row % 4 == 0 { 0 } else { 1 + usize::from(row % 6 > 0) }).collect();
    let shares = agreed.deal(&bound.judged_codes(), &owner, 3);
    let swapped = vec![shares[0].clone(), shares[2].clone(), shares[1].clone()];
    let (one, opened) = views(&agreed, &shares, &[0], 0);
    let (other, opened_swapped) = views(&agreed, &swapped, &[0], 1);
    assert_eq!(opened, opened_swapped, "what opens tells whose rows are whose");
    assert!(one.len() > 50, "{}", one.len());
    assert_eq!(distinguished(&one, &other), None);
    // Two of three take all masks away: then the same test must notice.
    let (one, other) = (views(&agreed, &shares, &[0, 2], 0).0, views(&agreed, &swapped, &[0, 2], 1).0);
    assert!(distinguished(&one, &other).is_some());
}
