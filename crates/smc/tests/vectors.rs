//! Test vectors in JSON: every message byte for byte, and for every protocol all that one custodian
//! receives and what comes of it; with `bad_*` entries that must be refused, and why. Another
//! implementation can be tested with them.
//!
//! `HEDGEROW_VECTORS=write cargo test -p hedgerow-smc --test vectors` writes them anew after an
//! intended change of the encoding.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_smc::baseline::{self, Chances, UnionInput};
use hedgerow_smc::simulate::{self, Delivery};
use hedgerow_smc::{
    AtLeast, Body, BurnBook, Coins, Concluded, CountTally, Extremes, Fault, Inquiry, Item, Machine, Medians, Message,
    MessageChunk, Permit, Plan, Question, Reason, Roster, RunLimits, Sums, Transition, UnionCounts, masked,
};
use serde_json::{Value, json};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().as_chunks::<2>().0;
    digits.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Holds what is computed against the file, or writes the file.
fn hold(name: &str, computed: &Value) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name);
    if std::env::var("HEDGEROW_VECTORS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, format!("{computed:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(kept == *computed, "{name} differs from what is computed");
    kept
}

#[test]
fn messages() {
    let words = vec![0, 1, u64::MAX];
    let items: Vec<Item> = vec![b"flu".to_vec(), vec![], vec![0xff; 5]];
    let bodies = [
        ("key", Body::Key([7; 32])),
        ("masked", Body::Masked { words: words.clone(), seen: vec![7, 8, 9] }),
        ("ring-sum", Body::RingSum(words.clone())),
        ("ring-total", Body::RingTotal(words.clone())),
        ("ring-largest", Body::RingLargest(words.clone())),
        ("ring-largest-found", Body::RingLargestFound(words)),
        ("union-items", Body::UnionItems(items.clone())),
        ("union-result", Body::UnionResult(items.clone())),
        ("layered", Body::Layered(MessageChunk { number: 1, of: 2, items: items.clone() })),
        ("rows", Body::Rows(MessageChunk { number: 0, of: 1, items })),
        ("abort", Body::Abort { reason: Reason::Limit, blamed: Some(1) }),
        ("abort-blaming-nobody", Body::Abort { reason: Reason::GaveUp, blamed: None }),
        ("confirm", Body::Confirm { ledger: [3; 32], output: [4; 32], seen: vec![1] }),
        ("listed", Body::Listed(vec![5, 6])),
    ];
    let mut good = Vec::new();
    let mut bad = Vec::new();
    for (name, body) in bodies {
        let message = Message { session: [0x11; 16], question: [0x22; 32], sender: 2, round: 5, body };
        let bytes = message.encode();
        assert_eq!(Message::decode(&bytes), Ok(message));
        good.push(json!({ "name": name, "sender": 2, "round": 5, "hex": hex(&bytes) }));
        let changed = |place: usize, values: &[u8]| {
            let mut bytes = bytes.clone();
            bytes[place..place + values.len()].copy_from_slice(values);
            bytes
        };
        let mut wrong = vec![
            ("truncated", bytes[..bytes.len() - 1].to_vec()),
            ("trailing", [&bytes[..], &[0]].concat()),
            ("version", changed(0, &[1])),
            ("kind", changed(1, &[200])),
            ("sender_out_of_range", changed(50, &[0xff, 0xff])),
            ("round_out_of_range", changed(52, &[0xff; 4])),
        ];
        if matches!(name, "masked" | "ring-sum" | "ring-total" | "ring-largest" | "union-items" | "union-result") {
            wrong.push(("count_out_of_range", changed(56, &[0xff; 4])));
            wrong.push(("count_beyond_the_end", changed(56, &[9, 0, 0, 0])));
        }
        for (why, bytes) in wrong {
            let fault = Message::decode(&bytes).unwrap_err();
            bad.push(json!({ "name": format!("bad_{name}_{why}"), "hex": hex(&bytes), "fault": format!("{fault:?}") }));
        }
    }
    let kept = hold("messages.json", &json!({ "version": 2, "good": good, "bad": bad }));
    for entry in kept["bad"].as_array().unwrap() {
        let fault = Message::decode(&unhex(entry["hex"].as_str().unwrap())).unwrap_err();
        assert_eq!(format!("{fault:?}"), entry["fault"].as_str().unwrap(), "{}", entry["name"]);
    }
}

#[test]
fn burn_books() {
    let mut book = BurnBook::default();
    let roster = Roster::numbered(3).unwrap();
    let own = book.snapshot([&b"one"[..], b"two"]);
    let commitments = vec![own.commitment(), [1; 32], [2; 32]];
    let plan = Plan::new([9; 32], RunLimits::default(), roster, commitments, own).unwrap();
    for (session, step) in [(1, "classes"), (2, "rows")] {
        book.permit_run([session; 16], &plan, step).unwrap();
    }
    let bytes = book.encode();
    assert_eq!(BurnBook::decode(&bytes).as_ref(), Ok(&book));
    let changed = |place: usize, values: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[place..place + values.len()].copy_from_slice(values);
        bytes
    };
    let wrong = [
        ("truncated", bytes[..bytes.len() - 1].to_vec()),
        ("trailing", [&bytes[..], &[0]].concat()),
        ("magic", changed(0, b"x")),
        ("version", changed(8, &[7])),
        ("count_beyond_the_end", changed(41, &[0xff; 4])),
        ("changed", changed(bytes.len() - 40, &[bytes[bytes.len() - 40] ^ 1])),
    ];
    let mut bad = Vec::new();
    for (why, bytes) in wrong {
        let fault = BurnBook::decode(&bytes).unwrap_err();
        bad.push(json!({ "name": format!("bad_{why}"), "hex": hex(&bytes), "fault": format!("{fault:?}") }));
    }
    hold("burn-book.json", &json!({ "version": 1, "good": hex(&bytes), "bad": bad }));
}

const SESSION: [u8; 16] = [0x5e; 16];

fn permit(count: usize) -> Permit {
    let roster = Roster::numbered(count).unwrap();
    BurnBook::default().permit(SESSION, Question::new("vector", b""), &roster).unwrap()
}

/// Everything about one protocol: what custodian 0 receives, what it concludes, and what it
/// refuses.
fn protocol<M: Machine>(
    name: &str,
    custodians: usize,
    start: impl Fn(usize) -> Transition<M>,
    shown: impl Fn(&M::Output) -> Value,
) -> Value {
    let mut received = Vec::new();
    let watcher = |delivery: &Delivery| {
        if delivery.to == 0 {
            received.push(delivery.message.clone());
        }
    };
    let (outputs, _) = simulate::watch((0..custodians).map(&start).collect(), 42, watcher).unwrap();
    let output = shown(&outputs[0]);
    assert!(outputs.iter().all(|other| shown(other) == output), "{name}: custodians disagree");
    let bytes: Vec<(u16, Vec<u8>)> = received.iter().map(|message| (message.sender, message.encode())).collect();
    let replayed = after(&start, &bytes).unwrap();
    assert!(matches!(replayed, Transition::Finish(ref again, _) if shown(again) == output), "{name}: no replay");
    let mut bad = Vec::new();
    for (why, before, wrong) in refused(&received) {
        let mut all = bytes[..before].to_vec();
        let sender = if why == "bad_equivocated" { received[0].sender } else { received[before].sender };
        all.push((sender, wrong.clone()));
        let fault = after(&start, &all).err().unwrap_or_else(|| panic!("{name}: {why} was not refused"));
        bad.push(json!({ "name": why, "after": before, "hex": hex(&wrong), "fault": format!("{fault:?}") }));
    }
    let received: Vec<String> = bytes.iter().map(|(_, bytes)| hex(bytes)).collect();
    json!({ "name": name, "custodians": custodians, "received_by_0": received, "output": output, "bad": bad })
}

/// The messages that must be refused, after how many others: every way for the last message, and
/// the ways that any message can be wrong for the first of each kind.
fn refused(received: &[Message]) -> Vec<(String, usize, Vec<u8>)> {
    let mut wrong = Vec::new();
    let mut kinds = BTreeSet::new();
    for (place, message) in received.iter().enumerate() {
        let (bytes, kind) = (message.encode(), message.encode()[1]);
        if !kinds.insert(kind) {
            continue;
        }
        let changed = |at: usize, values: &[u8]| {
            let mut bytes = bytes.clone();
            bytes[at..at + values.len()].copy_from_slice(values);
            bytes
        };
        let mut add = |why: &str, before: usize, bytes| wrong.push((format!("bad_kind_{kind}_{why}"), before, bytes));
        add("truncated", place, bytes[..bytes.len() - 1].to_vec());
        add("version", place, changed(0, &[1]));
        add("out_of_range", place, changed(52, &[0xff; 4]));
        add("from_another", place, changed(50, &900u16.to_le_bytes()));
    }
    let Some((last, earlier)) = received.split_last() else { return wrong };
    let mut with = |why: &str, change: &dyn Fn(&mut Message)| {
        let mut message = last.clone();
        change(&mut message);
        wrong.push((format!("bad_{why}"), earlier.len(), message.encode()));
    };
    with("from_ourselves", &|message| message.sender = 0);
    with("of_another_question", &|message| message.question[0] ^= 1);
    with("too_early", &|message| message.round += 7);
    with("of_another_kind", &|message| message.body = Body::Key([9; 32]));
    with("abort", &|message| message.body = Body::Abort { reason: Reason::GaveUp, blamed: None });
    with("not_confirmed", &|message| lengthen(&mut message.body));
    if let Some(first) = earlier.first() {
        let mut other = first.clone();
        lengthen(&mut other.body);
        wrong.push(("bad_equivocated".to_owned(), earlier.len(), other.encode()));
    }
    wrong
}

fn lengthen(body: &mut Body) {
    match body {
        Body::Masked { words, .. }
        | Body::RingSum(words)
        | Body::RingTotal(words)
        | Body::RingLargest(words)
        | Body::RingLargestFound(words) => words.push(1),
        Body::UnionItems(items) | Body::UnionResult(items) => items.push(vec![1]),
        Body::Layered(chunk) | Body::Rows(chunk) => chunk.items.push(vec![1]),
        Body::Confirm { output, .. } => output[0] ^= 1,
        Body::Listed(words) => words[0] ^= 1,
        Body::Key(public) => public[0] ^= 1,
        Body::Abort { .. } => {}
    }
}

/// Custodian 0 after these messages, which travel as bytes. The transport knows who sent them, but
/// not whether they say so.
fn after<M: Machine>(
    start: &impl Fn(usize) -> Transition<M>,
    messages: &[(u16, Vec<u8>)],
) -> Result<Transition<M>, Fault> {
    let mut state = start(0);
    for (sender, message) in messages {
        let Transition::Continue(machine, _) = state else { panic!("finished before the last message") };
        let message = Message::decode(message).map_err(|fault| Fault::Wire { sender: *sender, fault })?;
        state = machine.step(*sender, message)?;
    }
    Ok(state)
}

fn inquiry<I: Inquiry>(
    name: &str,
    custodians: usize,
    make: impl Fn(usize) -> I,
    shown: impl Fn(&I::Output) -> Value + Copy,
) -> Vec<Value> {
    let coins = |me: usize| Coins::danger_from_seed(7000 + me as u64);
    let concluded = |concluded: &Concluded<I::Output>| shown(&concluded.output);
    let masked = |me: usize| masked::start(permit(custodians), me as u16, make(me), coins(me)).unwrap();
    let ring =
        |me: usize| baseline::start(permit(custodians), me as u16, make(me), Chances::default(), coins(me)).unwrap();
    vec![
        protocol(&format!("masked {name}"), custodians, masked, concluded),
        protocol(&format!("baseline {name}"), custodians, ring, concluded),
    ]
}

#[test]
fn protocols() {
    let coins = |me: usize| Coins::danger_from_seed(8000 + me as u64);
    let mut all = Vec::new();
    all.extend(inquiry("sum", 3, |me| Sums::new(vec![me as u64, 40]), |sums| json!(sums)));
    all.extend(inquiry("extremes", 3, |me| Extremes::new(vec![Some((me as u64, 5)), None], 8), |found| json!(found)));
    all.extend(inquiry("medians", 4, |me| Medians::new(vec![(vec![me as u64, 6], 8)]), |medians| json!(medians)));
    all.extend(inquiry("union-counts", 3, |me| UnionCounts::new([(0, me), (1, 0)], 2, 3), |union| json!(union)));
    let flags = |me: usize| [me == 1, false];
    all.extend(inquiry("tally", 3, |me| CountTally::new(&[me as u64, 40, 7], 20, &flags(me)), |tally| json!(tally)));
    let at_least = |me: usize| AtLeast::new(vec![me as u64, 9], vec![vec![3, 4], vec![27]], 6);
    all.extend(inquiry("at-least", 3, at_least, |reached| json!(reached)));
    let items =
        |concluded: &Concluded<Vec<Item>>| json!(concluded.output.iter().map(|item| hex(item)).collect::<Vec<_>>());
    let rows = |me: usize| vec![vec![me as u8; 1 + me]; me];
    let shuffle = |me: usize| masked::start_shuffle(permit(3), me as u16, rows(me), 2, 4, coins(me)).unwrap();
    all.push(protocol("masked shuffle", 3, shuffle, items));
    let domain: Arc<[Item]> = (0..20u8).map(|value| vec![value; 2]).collect();
    let union = |me: usize| {
        let input = UnionInput { items: vec![vec![me as u8; 2]], domain: Arc::clone(&domain), dummy_items: 3 };
        baseline::start_union(permit(3), me as u16, input, Chances::default(), coins(me)).unwrap()
    };
    all.push(protocol("baseline union", 3, union, items));
    let session = hex(&SESSION);
    hold("protocols.json", &json!({ "version": 2, "session": session, "protocols": all }));
}
