//! Totals that no rows add up to, through the machine itself: whatever two others send, a custodian
//! goes on, concludes or gives up with a fault, within the agreed limits, and never panics.

use std::sync::Arc;

use hedgerow_joint::{Agreed, Joint, Profile, rehearse};
use hedgerow_publish::bind::Bound;
use hedgerow_smc::{Body, BurnBook, Coins, Fault, Machine, Message, Question, Roster, RunLimits, Transition, masked};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::joint::{agree, read};
use crate::promises::People;

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Concluded,
    Fault(Fault),
    StillGoing,
}

/// The others answer every round so that the totals are nearly true: one of them lies.
fn feed<M: Machine>(start: Transition<M>, random: &mut StdRng, lies: f64) -> End {
    let Transition::Continue(mut machine, effects) = start else { return End::Concluded };
    let mut sent: Vec<Message> = effects.send.into_iter().map(|one| one.message).collect();
    for _ in 0..300 {
        let Some(ours) = sent.pop() else { return End::StillGoing };
        for sender in [1u16, 2] {
            let body = match &ours.body {
                Body::Key(_) => Body::Key([if sender == 1 { 9 } else { 16 }; 32]),
                Body::Masked { words, seen } => {
                    let word = |own: &u64| {
                        let small = [0, 1, 2, 3, 7, 20, 1 << 12, u64::MAX];
                        let total = if random.random_bool(lies) { small[random.random_range(0..8)] } else { 5 };
                        if sender == 1 { total.wrapping_sub(*own) } else { 0 }
                    };
                    Body::Masked { words: words.iter().map(word).collect(), seen: seen.clone() }
                }
                other => other.clone(),
            };
            let message = Message { sender, body, ..ours.clone() };
            match machine.step(sender, message) {
                Ok(Transition::Continue(next, effects)) => {
                    machine = next;
                    sent.extend(effects.send.into_iter().map(|one| one.message));
                }
                Ok(Transition::Finish(..)) => return End::Concluded,
                Err(failure) => return End::Fault(failure.fault),
            }
        }
    }
    End::StillGoing
}

#[test]
fn no_totals_lead_to_a_panic() {
    let mut ends = [0; 3];
    for seed in 0..150 {
        let mut random = StdRng::seed_from_u64(seed);
        let people = People::random(&mut random);
        let folder = tempfile::tempdir().unwrap();
        people.write(folder.path());
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let limits = RunLimits { parts_max: 500, rounds_max: 200, rows_max: 1 << 20, ..RunLimits::default() };
        let (sites, towards, strict) = (random.random_range(1..3), seed % 3, seed % 2 == 0);
        let agreed = Arc::new(Agreed { sites, towards, limits, ..agree(&bound, strict, false).unwrap() });
        let share = agreed.deal(&bound.judged_codes(), &vec![0; table.rows], 1).remove(0);
        let roster = Roster::numbered(3).unwrap();
        let question = Question::new("fuzz", b"").within(limits);
        let permit = BurnBook::default().permit([0; 16], question, &roster).unwrap();
        let joint = Joint::new(agreed, share, Coins::danger_from_seed(seed));
        let start = masked::start(permit, 0, joint, Coins::danger_from_seed(seed + 1)).unwrap();
        // Lies from the start, or once the number of rows is plausible.
        match feed(start, &mut random, [0.05, 0.5, 1.0][seed as usize % 3]) {
            End::Concluded => ends[0] += 1,
            End::Fault(fault) => {
                let fair = matches!(fault, Fault::Impossible { .. } | Fault::Limit { .. });
                assert!(fair, "seed {seed}: {fault}");
                ends[1] += 1;
            }
            End::StillGoing => ends[2] += 1,
        }
    }
    assert!(ends[1] > 10, "concluded, fault, still going: {ends:?}");
}

#[test]
fn more_rows_or_parts_than_agreed_on_end_the_run() {
    let mut random = StdRng::seed_from_u64(1);
    let mut people = People::random(&mut random);
    people.rows = (0..40).map(|row| (row, 0, 0)).collect();
    (people.k, people.distinct, people.frequency, people.tenths) = (2, 1, 1, 10);
    let folder = tempfile::tempdir().unwrap();
    people.write(folder.path());
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let fault = |limits: RunLimits| {
        let agreed = Arc::new(Agreed { limits, ..agree(&bound, true, false).unwrap() });
        let owner: Vec<usize> = (0..40).map(|row| row % 3).collect();
        rehearse(Profile::Masked, &agreed, agreed.deal(&bound.judged_codes(), &owner, 3), 1).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        fault(RunLimits { rows_max: 39, ..RunLimits::default() }),
        Fault::Limit { what: "rows", found: 40, max: 39 }
    );
    let parts = fault(RunLimits { parts_max: 5, ..RunLimits::default() });
    assert!(matches!(parts, Fault::Limit { what: "parts", max: 5, .. }), "{parts}");
}

#[test]
fn counts_of_rows_that_do_not_exist_make_no_room() {
    let mut random = StdRng::seed_from_u64(1);
    let people = People::random(&mut random);
    let folder = tempfile::tempdir().unwrap();
    people.write(folder.path());
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let agreed = agree(&bound, true, false).unwrap();
    let classes = vec![hedgerow_joint::JointClass { region: Vec::new(), rows: 3 }];
    let joined = hedgerow_joint::JointResult { classes, of_row: Vec::new(), depth: 0 };
    assert_eq!(agreed.counted_rows(vec![(0, 0, 1 << 39)], &joined), None);
    assert_eq!(agreed.counted_rows(vec![(0, 0, u64::MAX), (0, 0, 4)], &joined), None);
    assert_eq!(agreed.counted_rows(vec![(1, 0, 3)], &joined), None);
    assert_eq!(agreed.counted_rows(vec![(0, 0, 3)], &joined).map(|rows| rows.len()), Some(3));
}
