//! A shuffle that is followed, and custodians who do not follow it.

use super::*;
use crate::simulate::Delivery;
use crate::{BurnBook, Question, Roster, RunLimits, simulate};

fn permit(count: usize) -> Permit {
    let roster = Roster::numbered(count).unwrap();
    BurnBook::default().permit([9; 16], Question::new("rows", b""), &roster).unwrap()
}

fn starts(inputs: &[Vec<Item>], batch: usize, row_bytes: usize, seed: u64) -> Vec<Transition<Shuffle>> {
    let start = |(me, rows): (usize, &Vec<Item>)| {
        let coins = Coins::danger_from_seed(seed + me as u64);
        start(permit(inputs.len()), me as u16, rows.clone(), batch, row_bytes, coins).unwrap()
    };
    inputs.iter().enumerate().map(start).collect()
}

#[test]
fn all_rows_arrive_with_their_repetitions_and_nothing_else() {
    for (count, seed) in [(3, 1), (4, 2), (6, 3)] {
        let inputs: Vec<Vec<Item>> =
            (0..count).map(|me| (0..me).map(|row| format!("{}", row % 2).into_bytes()).collect()).collect();
        let mut expected: Vec<Item> = inputs.concat();
        expected.sort();
        let (outputs, traffic) = simulate::run(starts(&inputs, count, 8, seed), seed).unwrap();
        assert!(outputs.iter().all(|concluded| concluded.output == expected));
        assert_eq!(traffic.rounds, count as u64 + 4);
    }
}

#[test]
fn a_batch_larger_than_any_message_travels_in_chunks() {
    // 3 · 200 rows of 12 kB are 7 MB: two chunks.
    let inputs: Vec<Vec<Item>> = (0..3u8).map(|me| vec![vec![me; 12_000]; 190 + usize::from(me)]).collect();
    let mut chunks = 0;
    let watcher = |delivery: &Delivery| {
        if let Body::Layered(chunk) | Body::Rows(chunk) = &delivery.message.body {
            chunks = chunks.max(chunk.of);
        }
        assert!(delivery.message.encode().len() < 5_000_000);
    };
    let (outputs, _) = simulate::watch(starts(&inputs, 200, 12_000, 1), 1, watcher).unwrap();
    assert!(outputs.iter().all(|concluded| concluded.output.len() == 190 + 191 + 192));
    assert_eq!(chunks, 2);
}

#[test]
fn runs_beyond_the_agreed_bounds_do_not_start() {
    let tight = RunLimits { batch_bytes_max: 10_000, ..RunLimits::default() };
    let start = |batch: usize, limits: RunLimits| {
        let roster = Roster::numbered(3).unwrap();
        let question = Question::new("rows", b"").within(limits);
        let permit = BurnBook::default().permit([9; 16], question, &roster).unwrap();
        start(permit, 0, Vec::new(), batch, 100, Coins::danger_from_seed(1)).map(|_| ())
    };
    assert_eq!(start(10, tight), Ok(()));
    assert!(matches!(start(20, tight), Err(Fault::Limit { what: "bytes in a shuffle", .. })));
    assert!(matches!(start(usize::MAX / 2, RunLimits::default()), Err(Fault::Limit { .. })));
    let few = RunLimits { rows_max: 29, ..RunLimits::default() };
    assert!(matches!(start(10, few), Err(Fault::Limit { what: "rows in a shuffle, padding included", .. })));
}

#[test]
fn all_hand_in_the_same_number_of_onions_of_the_same_length() {
    let inputs = [vec![b"a".to_vec(), b"bb".to_vec()], vec![], vec![b"12345678".to_vec()]];
    let mut seen = HashSet::new();
    let watcher = |delivery: &Delivery| {
        if let (1, Body::Layered(chunk)) = (delivery.message.round, &delivery.message.body) {
            seen.insert((chunk.items.len(), chunk.items[0].len(), chunk.items[1].len()));
        }
    };
    simulate::watch(starts(&inputs, 2, 8, 4), 4, watcher).unwrap();
    assert_eq!(seen.len(), 1);
}

#[test]
fn a_custodian_that_strips_a_layer_changes_the_order() {
    let mut coins = Coins::danger_from_seed(6);
    let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::draw(&mut coins)).collect();
    let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
    let place = permit(3).place(0).unwrap();
    let agreed = [3; 32];
    let mut rows: Vec<Item> = (0..40u8).map(|row| onion::pad(Some(&[row]), 4)).collect();
    let wrap = |row: &Item| onion::wrap(row.clone(), &publics, &place, &agreed, &mut coins).unwrap().0;
    let mut layered: Vec<Item> = rows.iter().map(wrap).collect();
    let mut order: Vec<usize> = (0..40).collect();
    for (me, own) in (0u16..).zip(keys) {
        let place = RunPlace { me, ..place };
        // What the order would be without shuffling.
        let kept: Vec<Item> =
            layered.iter().map(|item| onion::strip(item, &own, me, &place, &agreed).unwrap()).collect();
        let coins = Coins::danger_from_seed(7 + u64::from(me));
        let Ok(Transition::Continue(shuffle, _)) = start(permit(3), me, Vec::new(), 40, 4, coins) else { panic!() };
        let mut shuffle = Shuffle { agreed, keys: own, ..shuffle };
        layered = shuffle.strip(layered.into_iter().map(|item| (0, item)).collect()).unwrap();
        let moved: Vec<usize> =
            layered.iter().map(|item| kept.iter().position(|other| other == item).unwrap()).collect();
        let still = moved.iter().enumerate().filter(|(place, from)| place == *from).count();
        assert!(still < 8, "{still} of 40 stay where they were");
        order = moved.iter().map(|from| order[*from]).collect();
    }
    assert_eq!(layered, order.iter().map(|row| rows[*row].clone()).collect::<Vec<_>>());
    layered.sort();
    rows.sort();
    assert_eq!(layered, rows);
}

/// Where 5 items come to lie after one custodian's turn, over many turns.
fn permutations(turns: u64) -> Vec<Vec<usize>> {
    const ITEMS: usize = 5;
    let place = permit(3).place(1).unwrap();
    let mut coins = Coins::danger_from_seed(70);
    let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::draw(&mut coins)).collect();
    let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
    let agreed = [3; 32];
    let row = |row: u8| onion::pad(Some(&[row]), 4);
    // As it is when the first custodian has stripped its layer.
    let wrap = |number: u8| onion::wrap(row(number), &publics, &place, &agreed, &mut coins).unwrap().1.remove(0);
    let layered: Vec<Item> = (0..ITEMS as u8).map(wrap).collect();
    let [_, own, _] = <[KeyPair; 3]>::try_from(keys).unwrap();
    let kept: Vec<Item> = layered.iter().map(|item| onion::strip(item, &own, 1, &place, &agreed).unwrap()).collect();
    let start = start(permit(3), 1, Vec::new(), ITEMS, 4, Coins::danger_from_seed(71));
    let Ok(Transition::Continue(shuffle, _)) = start else { panic!() };
    let mut shuffle = Shuffle { agreed, keys: own, ..shuffle };
    let mut turn = || {
        let items = shuffle.strip(layered.iter().map(|item| (0, item.clone())).collect()).unwrap();
        items.iter().map(|item| kept.iter().position(|other| other == item).unwrap()).collect()
    };
    (0..turns).map(|_| turn()).collect()
}

/// All 120 orders of 5 items, each as likely as the others: by the number of times that each
/// occurs. With 119 degrees of freedom, 220 is exceeded once in ten million tries.
#[test]
fn every_order_is_equally_likely() {
    let mut counts = BTreeMap::<Vec<usize>, u64>::new();
    let turns = 2400u64;
    permutations(turns).into_iter().for_each(|order| *counts.entry(order).or_default() += 1);
    let expected = turns as f64 / 120.0;
    let seen: f64 = counts.values().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    let statistic = seen + (120 - counts.len()) as f64 * expected;
    assert!(statistic < 220.0, "{statistic} over {} orders", counts.len());
}

#[test]
fn a_replaced_onion_is_missed_before_any_row_opens_and_the_hop_is_named() {
    let inputs = vec![vec![b"a".to_vec()], vec![b"b".to_vec()], vec![b"c".to_vec()], vec![b"d".to_vec()]];
    for hop in 0..3 {
        let replaces = Some(super::super::mutants::Mutant::Replaces { hop });
        let (outputs, journals, faults) = super::super::mutants::with(replaces, || {
            let (outputs, journals) = simulate::journaled(starts(&inputs, 2, 4, 5), 5, |_| {});
            (outputs, journals, simulate::tampered(starts(&inputs, 2, 4, 5), 5, |_| {}))
        });
        assert!(outputs.iter().all(Option::is_none));
        let opened = journals.iter().flatten().any(|entry| entry.kind == OpenedKind::Rows);
        assert!(!opened, "a row opens after hop {hop} replaced one");
        let named = |fault: &Fault| matches!(fault, Fault::Dropped { sender } if *sender == hop);
        assert!(faults.iter().any(|(me, fault)| *me != hop && named(fault)), "{faults:?}");
        let wrong = |fault: &Fault| matches!(fault, Fault::Dropped { sender } if *sender != hop);
        assert!(!faults.iter().any(|(_, fault)| wrong(fault)), "{faults:?}");
    }
}

#[test]
fn a_list_that_differs_from_what_is_handed_on_ends_the_run_before_any_row_opens() {
    let inputs = vec![vec![b"a".to_vec()], vec![b"b".to_vec()], vec![b"c".to_vec()], vec![b"d".to_vec()]];
    let (outputs, journals) = simulate::journaled(starts(&inputs, 2, 4, 5), 5, |delivery| {
        if let (0, 3, Body::Listed(words)) = (delivery.message.sender, delivery.to, &mut delivery.message.body) {
            words[0] ^= 1;
        }
    });
    assert!(outputs.iter().all(Option::is_none));
    assert!(!journals.iter().flatten().any(|entry| entry.kind == OpenedKind::Rows));
}

/// Runs with one change to a message, and gives every fault.
fn faults(change: impl Fn(&mut Delivery)) -> Vec<(u16, Fault)> {
    let inputs = vec![vec![b"a".to_vec()], vec![b"b".to_vec()], vec![b"c".to_vec()]];
    simulate::tampered(starts(&inputs, 2, 4, 5), 5, change)
}

#[test]
fn a_changed_and_a_repeated_onion_end_the_run_with_the_name_of_who_sent_it() {
    let changed = faults(|delivery| {
        if let (2, Body::Layered(chunk)) = (delivery.message.sender, &mut delivery.message.body) {
            chunk.items[0][50] ^= 1;
        }
    });
    assert_eq!(changed[0], (0, Fault::Tampered { sender: 2 }), "handed in by 2, found by 0");
    let repeated = faults(|delivery| {
        if let (1, 1, Body::Layered(chunk)) =
            (delivery.message.sender, delivery.message.round, &mut delivery.message.body)
        {
            chunk.items[1] = chunk.items[0].clone();
        }
    });
    assert_eq!(repeated[0], (0, Fault::Tampered { sender: 1 }));
}

#[test]
fn rows_that_are_dropped_at_the_end_are_missed_by_their_owner() {
    let dropped = faults(|delivery| {
        if let Body::Rows(chunk) = &mut delivery.message.body {
            chunk.items.retain(|row| row != b"a");
        }
    });
    assert!(dropped.contains(&(0, Fault::Lost { sender: 2 })), "{dropped:?}");
    // Shown to one and not to another: the confirmation tells.
    let split = faults(|delivery| {
        if let (1, Body::Rows(chunk)) = (delivery.to, &mut delivery.message.body) {
            chunk.items.push(b"zz".to_vec());
        }
    });
    assert!(split.iter().any(|(_, fault)| matches!(fault, Fault::Disagrees { .. })), "{split:?}");
}
