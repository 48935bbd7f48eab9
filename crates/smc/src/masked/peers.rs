//! Custodians that do not follow the protocol, messages that come twice, and what is left of a run
//! that fails.

use super::start;
use crate::coins::Coins;
use crate::fault::{Fault, Reason};
use crate::machine::{Machine, Transition};
use crate::masked::Run;
use crate::message::Body;
use crate::simulate::{self, Delivery};
use crate::{BurnBook, Extremes, Medians, OpenedKind, Question, Roster, RunLimits};

const COUNT: u16 = 4;

fn medians(me: u16) -> Medians {
    Medians::new(vec![(vec![u64::from(me), 20, 3], 30), (vec![u64::from(me) * 5], 30)])
}

fn starts(limits: RunLimits) -> Vec<Transition<Run<Medians>>> {
    let roster = Roster::numbered(COUNT.into()).unwrap();
    let start = |me: u16| {
        let question = Question::new("test", b"").within(limits);
        let permit = BurnBook::default().permit([1; 16], question, &roster).unwrap();
        start(permit, me, medians(me), Coins::danger_from_seed(me.into())).unwrap()
    };
    (0..COUNT).map(start).collect()
}

fn rounds() -> u32 {
    let mut last = 0;
    simulate::watch(starts(RunLimits::default()), 1, |delivery| last = last.max(delivery.message.round)).unwrap();
    last
}

/// All but the culprit point at the culprit, whether it saw the fault itself or was informed of it.
fn blames(culprit: u16, faults: &[(u16, Fault)], context: &str) {
    let honest: Vec<&(u16, Fault)> = faults.iter().filter(|(me, _)| *me != culprit).collect();
    assert_eq!(honest.len(), usize::from(COUNT) - 1, "{context}: {faults:?}");
    for (me, fault) in honest {
        // A custodian that hears from the culprit that another is to blame knows who said it.
        let heard = matches!(fault, Fault::Aborted { sender, .. } if *sender == culprit);
        assert!(heard || fault.suspects() == Some(culprit), "{context}: {me} says {fault}");
    }
}

#[test]
fn a_sender_of_different_messages_to_different_custodians_is_named_by_all_others() {
    let last = rounds();
    assert!(last > 5);
    for round in 0..last {
        for (culprit, victim) in [(3, 0), (0, 2), (1, 3)] {
            let split = |delivery: &mut Delivery| {
                let message = &mut delivery.message;
                if message.sender != culprit || delivery.to != victim || message.round != round {
                    return;
                }
                match &mut message.body {
                    Body::Key(public) => public[0] ^= 1,
                    Body::Masked { words, .. } => words[0] = words[0].wrapping_add(1),
                    _ => {}
                }
            };
            let faults = simulate::tampered(starts(RunLimits::default()), 7, split);
            blames(culprit, &faults, &format!("{culprit} splits in round {round}"));
        }
    }
    // A false confirmation to one alone ends its run; the others have all that they need.
    let faults = simulate::tampered(starts(RunLimits::default()), 7, |delivery| {
        if let (1, 2, Body::Confirm { ledger, .. }) = (delivery.message.sender, delivery.to, &mut delivery.message.body)
        {
            ledger[0] ^= 1;
        }
    });
    assert!(faults.contains(&(2, Fault::Disagrees { sender: 1, what: "ledger" })), "{faults:?}");
}

#[test]
fn a_message_of_the_wrong_kind_or_length_names_its_sender() {
    for round in 1..=rounds() {
        let spoil = |delivery: &mut Delivery| {
            let message = &mut delivery.message;
            if message.sender == 2 && message.round == round {
                match &mut message.body {
                    Body::Masked { words, .. } => words.push(1),
                    body => *body = Body::RingSum(vec![1]),
                }
            }
        };
        blames(2, &simulate::tampered(starts(RunLimits::default()), 3, spoil), &format!("round {round}"));
    }
}

#[test]
fn messages_may_come_twice_and_all_that_opened_is_journaled() {
    let (outputs, journals) = simulate::journaled(starts(RunLimits::default()), 5, |_| {});
    for (concluded, journal) in outputs.into_iter().zip(journals) {
        let concluded = concluded.unwrap();
        assert_eq!(concluded.output, [Some(3), Some(5)]);
        assert_eq!(concluded.ledger.entries(), journal);
    }
}

#[test]
fn a_run_that_fails_in_a_late_round_leaves_the_record_of_all_before() {
    let last = rounds();
    let spoil = |delivery: &mut Delivery| {
        if delivery.message.sender == 1 && delivery.message.round == last {
            delivery.message.body = Body::Key([1; 32]);
        }
    };
    let (outputs, journals) = simulate::journaled(starts(RunLimits::default()), 5, spoil);
    for (me, (output, journal)) in outputs.into_iter().zip(journals).enumerate() {
        assert!(me == 1 || output.is_none());
        let rounds: Vec<u32> = journal.iter().map(|entry| entry.round).collect();
        assert_eq!(rounds, (1..last).collect::<Vec<_>>(), "custodian {me}");
        assert_eq!((journal[0].kind, &journal[0].values), (OpenedKind::Sizes, &vec![12, 4]));
    }
}

#[test]
fn more_rounds_or_words_than_agreed_on_are_refused() {
    let few = RunLimits { rounds_max: 4, ..RunLimits::default() };
    let fault = simulate::run(starts(few), 1).unwrap_err();
    assert_eq!(fault, Fault::Limit { what: "rounds", found: 5, max: 4 });
    let short = RunLimits { words_max: 1, ..RunLimits::default() };
    let fault = simulate::run(starts(short), 1).unwrap_err();
    assert_eq!(fault, Fault::Limit { what: "words in one vector", found: 2, max: 1 });
    let mut mixed = starts(RunLimits::default());
    mixed[2] = starts(few).remove(2);
    let faults = simulate::tampered(mixed, 1, |_| {});
    assert!(faults.iter().any(|(me, fault)| *me != 2 && *fault == Fault::OtherQuestion { sender: 2 }), "{faults:?}");
}

#[test]
fn a_custodian_that_gives_up_names_whom_it_waited_for() {
    let mut starts = starts(RunLimits::default());
    let Transition::Continue(other, _) = starts.swap_remove(0) else { panic!() };
    let Transition::Continue(tired, _) = starts.swap_remove(1) else { panic!() };
    let farewell = tired.abort(Some(3)).message;
    let from = farewell.sender;
    let failure = other.step(from, farewell).unwrap_err();
    assert_eq!(failure.fault, Fault::Aborted { sender: from, reason: Reason::GaveUp, blamed: Some(3) });
    assert!(failure.effects.send.is_empty(), "the custodian that gave up has informed all others");
}

#[test]
fn impossible_largest_values_end_the_run() {
    let roster = Roster::numbered(3).unwrap();
    let start = |me: u16| {
        let permit = BurnBook::default().permit([1; 16], Question::new("test", b""), &roster).unwrap();
        // The last one declares a wider domain: as many digits, but a value that the others lack.
        let lanes = if me == 2 { Extremes::new(vec![Some((0, 6))], 7) } else { Extremes::new(vec![None], 5) };
        start(permit, me, lanes, Coins::danger_from_seed(me.into())).unwrap()
    };
    let faults = simulate::tampered((0..3).map(start).collect(), 1, |_| {});
    let impossible = |fault: &Fault| matches!(fault, Fault::Impossible { .. });
    assert!(faults.iter().any(|(me, fault)| *me != 2 && impossible(fault)), "{faults:?}");
}

#[test]
fn nothing_private_is_printed() {
    let inputs = [
        format!("{:?}", crate::Sums::new(vec![4711])),
        format!("{:?}", crate::CountTally::new(&[4711], 20, &[true])),
        format!("{:?}", Extremes::new(vec![Some((4711, 4711))], 9999)),
        format!("{:?}", crate::UnionCounts::new([(0, 4711)], 1, 4712)),
        format!("{:?}", crate::AtLeast::new(vec![4711], vec![vec![1]], 20)),
        format!("{:?}", Medians::new(vec![(vec![4711], 9999)])),
        format!("{:?}", crate::Ask::one(crate::Operation::Sum, vec![4711], OpenedKind::Totals, "test")),
        format!(
            "{:?}",
            crate::baseline::UnionInput { items: vec![b"4711".to_vec()], domain: [].into(), dummy_items: 1 }
        ),
    ];
    for text in inputs {
        assert!(!text.contains("4711") && !text.contains("52, 55"), "{text}");
    }
}
