//! Whole runs with everything that is secret in them, as vectors in JSON; a second implementation
//! in Python (`tests/vectors/check.py`) computes them anew, byte for byte.
//!
//! `HEDGEROW_VECTORS=write` writes them after an intended change.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{start, start_shuffle};
use crate::coins::Coins;
use crate::message::{Body, Item};
use crate::simulate::{self, Delivery};
use crate::{BurnBook, Medians, Permit, Question, Roster};

const SEED: u64 = 600;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn coins(me: u16) -> Coins {
    Coins::danger_from_seed(SEED + u64::from(me))
}

fn permit() -> Permit {
    let roster = Roster::numbered(3).unwrap();
    BurnBook::default().permit([0x5e; 16], Question::new("vector", b""), &roster).unwrap()
}

/// The secret key that a custodian draws first.
fn secret(me: u16) -> String {
    hex(coins(me).secret().bytes())
}

fn frame(custodians: Vec<Value>) -> Value {
    let permit = permit();
    json!({
        "session": hex(&permit.session),
        "question": hex(&permit.question.digest()),
        "roster": hex(&permit.roster.digest()),
        "custodians": custodians,
    })
}

fn medians() -> Value {
    let groups = |me: u16| {
        let me = u64::from(me);
        vec![(vec![me, 7, 7 * me], 30), (vec![2 * me], 9), (vec![], 5), (vec![40, 41], 1000)]
    };
    let mut messages: Vec<Vec<String>> = Vec::new();
    let watcher = |delivery: &Delivery| {
        let (round, sender) = (delivery.message.round as usize, usize::from(delivery.message.sender));
        if messages.len() <= round {
            messages.resize(round + 1, vec![String::new(); 3]);
        }
        messages[round][sender] = hex(&delivery.message.encode());
    };
    let starts = (0..3).map(|me| start(permit(), me, Medians::new(groups(me)), coins(me)).unwrap()).collect();
    let (concluded, _) = simulate::watch(starts, 1, watcher).unwrap();
    let mut vector = frame((0..3).map(|me| json!({ "secret": secret(me), "groups": groups(me) })).collect());
    vector["messages"] = json!(messages);
    vector["output"] = json!(concluded[0].output);
    vector
}

fn shuffle() -> Value {
    let rows = |me: u16| -> Vec<Item> { (0..me).map(|row| vec![row as u8 + 1; 3]).collect() };
    let mut handed: Vec<(u16, Vec<Item>)> = Vec::new();
    let watcher = |delivery: &Delivery| {
        if let (1, Body::Layered(chunk)) = (delivery.message.round, &delivery.message.body) {
            handed.push((delivery.message.sender, chunk.items.clone()));
        }
    };
    let starts = (0..3).map(|me| start_shuffle(permit(), me, rows(me), 2, 5, coins(me)).unwrap()).collect();
    simulate::watch(starts, 1, watcher).unwrap();
    handed.sort();
    let padded = |me: u16| rows(me).into_iter().map(|row| Some(hex(&row))).chain([None, None]).take(2);
    let mut vector = frame((0..3).map(|me| json!({ "secret": secret(me) })).collect());
    vector["onions"] = json!(handed.iter().flat_map(|(_, items)| items).map(|item| hex(item)).collect::<Vec<_>>());
    vector["rows"] = json!((1..3).flat_map(padded).collect::<Vec<_>>());
    vector
}

#[test]
fn a_second_implementation_computes_the_same_bytes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let path = folder.join("masked-run.json");
    let computed = json!({ "version": 1, "medians": medians(), "shuffle": shuffle() });
    if std::env::var("HEDGEROW_VECTORS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, format!("{computed:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(kept == computed, "masked-run.json differs from what is computed");
    let Ok(output) = Command::new("python3").arg(folder.join("check.py")).arg(&path).output() else {
        eprintln!("not compared with the second implementation: python3 is not installed");
        return;
    };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("onions agree"), "{text}");
}
