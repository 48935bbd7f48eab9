//! A whole joint run as test vectors in JSON, in both profiles: what is agreed, whose rows are
//! whose, every message that custodian 0 receives and the classes that come of them; with `bad_*`
//! entries that must be refused, and why. Another implementation can be tested with them.
//!
//! `HEDGEROW_VECTORS=write cargo test -p hedgerow-joint vectors` writes them anew after an intended
//! change.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_joint::{AgreedRef, Joint, JointResult, Share};
use hedgerow_publish::bind::Bound;
use hedgerow_smc::simulate::{self, Delivery};
use hedgerow_smc::{
    BurnBook, Coins, Concluded, Fault, Ledger, Machine, Message, OpenedKind, Question, Roster, Transition, baseline,
    masked,
};
use serde_json::{Value, json};

use crate::joint::agree;
use crate::joint::read;

const PEOPLE: &str = "age,ward,disease\n21,north,flu\n23,north,cold\n24,south,flu\n37,south,gout\n38,north,flu\n\
                      41,south,cold\n45,south,gout\n52,north,cold\n53,south,flu\n60,north,gout\n61,south,cold\n70,north,flu\n";

const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
age = { role = "quasi" }
ward = { role = "quasi" }
disease = { role = "sensitive" }
[[rule]]
require = { model = "k-anonymity", k = 2 }
[[rule]]
protect = "disease"
require = { model = "distinct-l-diversity", l = 2 }
[publish]
method = "mondrian"
"#;

/// The second custodian has nothing but one row.
const OWNERS: [usize; 12] = [0, 2, 0, 2, 0, 1, 2, 0, 2, 0, 2, 0];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shown(joined: &JointResult) -> Value {
    let spans = |class: &hedgerow_joint::JointClass| {
        class.region.iter().map(|span| json!([span.first, span.last])).collect::<Vec<_>>()
    };
    let classes = joined.classes.iter().map(|class| json!({ "region": spans(class), "rows": class.rows }));
    json!(classes.collect::<Vec<_>>())
}

fn opened(ledger: &Ledger) -> Value {
    let entry = |entry: &hedgerow_smc::OpenedValues| {
        json!({ "round": entry.round, "kind": format!("{:?}", entry.kind), "what": entry.what,
        "parts": entry.parts, "attribute": entry.attribute, "at_least": entry.at_least, "values": entry.values })
    };
    json!(ledger.entries().iter().map(entry).collect::<Vec<_>>())
}

/// One profile: all messages, classes, what was opened, and what is refused.
fn run<M: Machine<Output = Concluded<Option<JointResult>>>>(
    name: &str,
    start: &dyn Fn(usize) -> Transition<M>,
) -> Value {
    let mut received: Vec<Vec<u8>> = Vec::new();
    let mut senders = Vec::new();
    let watcher = |delivery: &Delivery| {
        if delivery.to == 0 {
            senders.push(delivery.message.sender);
            received.push(delivery.message.encode());
        }
    };
    let (concluded, _) = simulate::watch((0..3).map(start).collect(), 42, watcher).unwrap();
    let joined = concluded[0].output.as_ref().unwrap();
    assert!(joined.classes.len() > 1, "nothing was divided");
    let after = |messages: &[Vec<u8>]| -> Result<(), Fault> {
        let mut state = start(0);
        for (message, &sender) in messages.iter().zip(&senders) {
            let Transition::Continue(machine, _) = state else { panic!("finished before the last message") };
            let message = Message::decode(message).map_err(|fault| Fault::Wire { sender, fault })?;
            state = machine.step(sender, message)?;
        }
        Ok(())
    };
    assert_eq!(after(&received), Ok(()), "no replay");
    let changed = |at: usize, values: &[u8]| {
        let mut bytes = received.last().unwrap().clone();
        bytes[at..at + values.len()].copy_from_slice(values);
        bytes
    };
    let last = received.last().unwrap();
    let wrong = [
        ("bad_truncated", last[..last.len() - 1].to_vec()),
        ("bad_version", changed(0, &[1])),
        ("bad_kind_out_of_range", changed(1, &[200])),
        ("bad_sender_out_of_range", changed(50, &[0xff, 0xff])),
        ("bad_round_out_of_range", changed(52, &[0xff; 4])),
        ("bad_confirmation", changed(56, &[last[56] ^ 1])),
        ("bad_from_another", changed(50, &900u16.to_le_bytes())),
        ("bad_of_another_question", changed(18, &[received[0][18] ^ 1])),
    ];
    let mut bad = Vec::new();
    for (why, message) in wrong {
        let mut all = received[..received.len() - 1].to_vec();
        all.push(message.clone());
        let fault = after(&all).expect_err(why);
        bad.push(json!({ "name": why, "instead_of_last": hex(&message), "fault": format!("{fault:?}") }));
    }
    let messages: Vec<String> = received.iter().map(|message| hex(message)).collect();
    json!({ "name": name, "received_by_0": messages, "classes": shown(joined), "of_row": joined.of_row,
            "opened": opened(&concluded[0].ledger), "bad": bad })
}

#[test]
fn a_whole_joint_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let agreed: AgreedRef = Arc::new(agree(&bound, true, false).unwrap());
    let shares = agreed.deal(&bound.judged_codes(), &OWNERS, 3);
    let roster = Roster::numbered(3).unwrap();
    let permit = || BurnBook::default().permit([0x5e; 16], Question::new("classes", b"vector"), &roster).unwrap();
    let coins = |me: usize| Coins::danger_from_seed(9000 + me as u64);
    let joint = |me: usize| Joint::new(Arc::clone(&agreed), shares[me].clone(), Coins::danger_from_seed(me as u64));
    let masked = |me: usize| masked::start(permit(), me as u16, joint(me), coins(me)).unwrap();
    let chances = baseline::Chances::default();
    let ring = |me: usize| baseline::start(permit(), me as u16, joint(me), chances, coins(me)).unwrap();
    let rows = |share: &Share| json!({ "ranks": share.ranks, "codes": share.codes });
    let announced: Vec<String> = agreed.may_open().iter().map(|kind: &OpenedKind| format!("{kind:?}")).collect();
    let computed = json!({
        "version": 2, "session": "5e".repeat(16), "question": hex(&Question::new("classes", b"vector").digest()),
        "rules": ["k-anonymity, k = 2", "distinct-l-diversity, l = 2"], "cuts": "strict", "people": PEOPLE,
        "shares": shares.iter().map(rows).collect::<Vec<_>>(), "may_open": announced,
        "runs": [run("masked", &masked), run("baseline", &ring)],
    });
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/joint.json");
    if std::env::var("HEDGEROW_VECTORS").is_ok_and(|value| value == "write") {
        std::fs::write(&path, format!("{computed:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(kept == computed, "joint.json differs from what is computed");
    assert_eq!(kept["runs"][0]["classes"], kept["runs"][1]["classes"], "profiles disagree");
}
