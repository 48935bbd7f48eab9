//! Any messages to a custodian in the middle of finding classes with others: it goes on, concludes
//! or gives up with a fault, and never panics. Totals are what the fuzzer makes them, so answers
//! that no rows add up to reach every decision.
#![no_main]

use std::sync::Arc;

use hedgerow_cuts::Axis;
use hedgerow_joint::{Agreed, Joint, JointRule, Share};
use hedgerow_privacy::{Context, Distance, Model, models};
use hedgerow_smc::{Body, BurnBook, Coins, Machine, Message, Question, Roster, Transition, masked};
use hedgerow_table::{Domain, Hierarchy, HierarchySpec, Ratio, Values};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let ages = Domain::new(Values::Integer((0..20).collect()), true);
    let hierarchy = Hierarchy::build(&HierarchySpec::None, "age", "here", &ages, &[]).unwrap();
    let axes = vec![Axis::new(&ages, &hierarchy, false, Vec::new); 2];
    let guarantee = |model: &Model| models::guarantee(model, &Context::default()).unwrap();
    let values = match which % 3 {
        0 => Model::DistinctLDiversity { l: 2 },
        1 => Model::FrequencyLDiversity { l: Ratio::integer(2) },
        _ => Model::TCloseness { t: Ratio::from_decimal(0.4).unwrap(), distance: Distance::Equal, order: None },
    };
    let Some(agreed) = Agreed::new(axes, &[21, 21, 3], Vec::new(), which & 8 == 0, which & 16 == 0) else { return };
    let rules = vec![
        JointRule { protect: None, guarantees: vec![guarantee(&Model::KAnonymity { k: 2 })], tree: None },
        JointRule { protect: Some(0), guarantees: vec![guarantee(&values)], tree: None },
    ];
    let agreed =
        Arc::new(Agreed { rules, sites: 1 + u64::from(which >> 5 & 1), towards: u64::from(which >> 6), ..agreed });
    let ranks = vec![vec![1, 5, 5, 9, 20], vec![3, 3, 4, 4, 4]];
    let share = Share { ranks, codes: vec![vec![0, 1, 2, 0, 1]], carried: Vec::new() };
    let roster = Roster::numbered(3).unwrap();
    let question = Question::new("fuzz", b"");
    let permit = BurnBook::default().permit([0; 16], question, &roster).unwrap();
    let joint = Joint::new(agreed, share, Coins::danger_from_seed(1));
    let Ok(Transition::Continue(machine, effects)) = masked::start(permit, 0, joint, Coins::danger_from_seed(2)) else {
        return;
    };
    feed(machine, effects.send.into_iter().map(|one| one.message).collect(), rest);
});

/// The others answer every round: one of them with what makes the totals the fuzzer's words.
fn feed<M: Machine>(mut machine: M, mut sent: Vec<Message>, mut rest: &[u8]) {
    for _ in 0..500 {
        let Some(ours) = sent.pop() else { return };
        for sender in [1u16, 2] {
            let body = match &ours.body {
                Body::Key(_) => Body::Key([if sender == 1 { 9 } else { 16 }; 32]),
                Body::Masked { words, seen } => {
                    let mut word = |own: &u64| {
                        let (&wanted, after) = rest.split_first().unwrap_or((&0, &[]));
                        rest = after;
                        if sender == 1 { u64::from(wanted).wrapping_sub(*own) } else { 0 }
                    };
                    Body::Masked { words: words.iter().map(&mut word).collect(), seen: seen.clone() }
                }
                other => other.clone(),
            };
            let message = Message { sender, body, ..ours.clone() };
            match machine.step(sender, message) {
                Ok(Transition::Continue(next, effects)) => {
                    machine = next;
                    sent.extend(effects.send.into_iter().map(|one| one.message));
                }
                Ok(Transition::Finish(..)) | Err(_) => return,
            }
        }
    }
}
