//! A draft says beforehand what an audit of its own release with the people finds.

use serde_json::Value;

use crate::running::{Folder, Ran};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Drafts, publishes and audits with the people; the people of the draft's warning, and those whom
/// the adversary finds.
fn warned_and_found(folder: &Folder, data: &str) -> (u64, u64) {
    let ran = folder.run(&["init", data, "-o", "policy.toml", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let drafted = json(&ran);
    let warnings = drafted["warnings"].as_array().unwrap();
    let warned = warnings.iter().find(|warning| warning["code"] == "combinations");
    let policy = folder.read("policy.toml");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
    assert_eq!(ran.code, Some(0), "{policy}\n{ran:?}");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let audit = ["audit", "release", "--policy", "policy.toml", "--people", data, "--list", "list.csv", "--json"];
    let ran = folder.run(&audit);
    let audited = json(&ran);
    assert_eq!(ran.code, Some(if warned.is_some() { 4 } else { 0 }), "{policy}\n{audited:#}");
    let list = folder.read("list.csv");
    let lines = list.lines().filter(|line| line.contains("consistency"));
    let mut found: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    found.sort_unstable();
    found.dedup();
    if let Some(warned) = warned {
        let words = format!("# The draft leaves {} people", warned["people"]);
        assert!(policy.contains(&words), "{policy}");
    }
    (warned.map_or(0, |warned| warned["people"].as_u64().unwrap()), found.len() as u64)
}

#[test]
fn a_draft_keeps_its_rules_among_the_rows_that_combinations_leave() {
    let folder = Folder::new();
    let ran = folder.run(&["synth", "census", "--rows", "2000", "--seed", "3", "-o", "made"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(warned_and_found(&folder, "made/census.csv"), (0, 0));
}

#[test]
fn a_draft_says_whom_its_own_audit_finds() {
    let folder = Folder::new();
    // Schooling ends with school: of each age there are one or two kinds of it.
    let row = |row: usize| {
        let age = row * 7 % 90;
        let schooling = ["none", "primary", "secondary", "university", "retired"][(age / 18).min(4)];
        let district = row * 13 / 5 % 40;
        let illness = ["flu", "asthma", "gout", "angina", "ulcer"][(age / 18 + row / 7 % 2).min(4)];
        format!("{age},{},d{district},{schooling},{illness}\n", ["f", "m"][row / 3 % 2])
    };
    // An illness that four people of one district have: no class hides them.
    let rare = |row: usize| format!("{},f,d99,secondary,scurvy\n", 20 + row);
    let rows: String = (0..600).map(row).chain((0..4).map(rare)).collect();
    folder.write("people.csv", format!("age,sex,district,schooling,illness\n{rows}"));
    let (warned, found) = warned_and_found(&folder, "people.csv");
    assert!(warned > 0);
    assert_eq!(warned, found);
}
