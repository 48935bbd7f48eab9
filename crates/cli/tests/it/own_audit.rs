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

/// Codes that are numbers, children without incomes, and children in institutions of whom nothing
/// but that is left: whatever the classes, the rows that can be theirs have one value of `sight`.
fn with_children_in_institutions(rows: usize) -> String {
    let row = |row: usize| {
        let pick = |step: usize, count: usize| row * step / 7 % count;
        let age = row * 7 % 90;
        let home = if row % 23 == 5 { "institution" } else { "home" };
        let foster = row % 31 == 3;
        let industry = if age < 16 { String::new() } else { (100 + 10 * pick(13, 40)).to_string() };
        let schooling = age.min(24) / 2 + pick(11, 2);
        let income = if age < 15 { String::new() } else { (5_000 + 500 * pick(37, 150)).to_string() };
        let is_unknown = home == "institution" || (age < 15 && foster);
        let poverty = if is_unknown { String::new() } else { (10 + pick(29, 490)).to_string() };
        let walking = if age < 5 { "" } else { ["no", "no", "no", "no", "yes"][pick(17, 5)] };
        let sight = if age > 15 && pick(19, 20) == 3 { "yes" } else { "no" };
        let sex = ["f", "m"][row / 3 % 2];
        format!("{age},{sex},{home},{industry},{schooling},d{},{income},{poverty},{walking},{sight}\n", pick(41, 20))
    };
    let rows: String = (0..rows).map(row).collect();
    format!(
        "age,sex,housing_type,industry,education,district,income,poverty,difficulty_walking_disability,sight_disability\n\
         {rows}"
    )
}

#[test]
fn a_draft_for_people_whom_combinations_tell_apart_passes_its_own_audit() {
    let folder = Folder::new();
    folder.write("people.csv", with_children_in_institutions(3000));
    assert_eq!(warned_and_found(&folder, "people.csv"), (0, 0));
}

/// The source, and another list in its formats: decimal commas, marks between thousands, German
/// dates.
#[test]
fn people_are_read_in_the_formats_of_the_source() {
    let folder = Folder::new();
    let row = |row: usize| {
        let born = format!("{:02}.{:02}.{}", 1 + row % 28, 1 + row % 12, 1940 + row * 7 % 60);
        let cost = format!("{}.{:03},{:02}", 1 + row % 9, row * 37 % 1000, row % 100);
        format!("{born};{};{cost};{}\n", ["f", "m"][row % 2], ["flu", "gout", "asthma"][row / 2 % 3])
    };
    let rows: String = (0..200).map(row).collect();
    folder.write("people.csv", format!("born;sex;cost;diagnosis\n{rows}"));
    folder.write("list.csv", format!("born;sex;cost;diagnosis\n{rows}"));
    assert_eq!(folder.run(&["init", "people.csv", "-o", "policy.toml"]).code, Some(0));
    let policy = folder.read("policy.toml");
    assert!(policy.contains("decimal = \",\"") && policy.contains("%d.%m.%Y"), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for people in ["people.csv", "list.csv"] {
        let ran = folder.run(&["audit", "release", "--policy", "policy.toml", "--people", people, "--json"]);
        assert!(matches!(ran.code, Some(0 | 4)), "{people}: {ran:?}");
        let found = json(&ran);
        let linker = &found["adversaries"][0];
        assert_eq!((linker["name"].as_str(), linker["people"].as_u64()), (Some("linker"), Some(200)), "{found}");
        assert_eq!(linker["not_in_release"].as_u64().unwrap_or(0), 0, "{found}");
    }
}
