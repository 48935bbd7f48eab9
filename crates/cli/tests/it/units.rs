//! Rows that belong to units, as users meet them: `check` with and without the policy, and what
//! refuses a unit by name.

use serde_json::Value;

use crate::running::{Folder, Ran};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Sixty patients with one to three stays each.
pub(crate) fn stays() -> Folder {
    let folder = Folder::new();
    let mut text = String::from("patient,age,sex,ward,disease\n");
    for patient in 0..60 {
        for stay in 0..1 + patient % 3 {
            let disease = ["flu", "cough", "angina", "asthma"][(patient / 5 * 3 + stay) % 4];
            let (age, sex, ward) = (20 + patient % 12, ["f", "m"][patient / 7 % 2], stay % 2);
            text.push_str(&format!("p{patient},{age},{sex},w{ward},{disease}\n"));
        }
    }
    folder.write("stays.csv", text);
    folder
}

pub(crate) fn policy(folder: &Folder, name: &str, publish: &str) {
    folder.write(
        name,
        format!(
            "[source]\npath = \"stays.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\n\
             age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10] }} }}\nsex = {{ role = \"quasi\" }}\n\
             ward = {{ role = \"plain\" }}\ndisease = {{ role = \"sensitive\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 4 }}\n\
             [[rule]]\nprotect = \"disease\"\nrows = \"one\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n\
             [publish]\nsuppression = 0.1\n{publish}\n"
        ),
    );
}

#[test]
fn check_with_the_policy_counts_the_units_of_every_method() {
    let folder = stays();
    for method in ["full-domain", "mondrian", "best-cut", "cluster"] {
        for link in [false, true] {
            policy(&folder, "policy.toml", &format!("method = \"{method}\"\nlink = {link}"));
            let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
            assert_eq!(ran.code, Some(0), "{method} {link}: {ran:?}");
            let published = json(&ran);
            let out = published["units"]["out"].as_u64().unwrap();
            assert!(out >= 54, "{method} {link}: {published}");
            // Without the policy the number of units is the publisher's word, unless rows are
            // linked.
            let ran = folder.run(&["check", "release", "--json"]);
            assert_eq!(ran.code, Some(0), "{method} {link}: {ran:?}");
            let unchecked = json(&ran)["unchecked"].as_array().map_or(0, Vec::len);
            assert_eq!(unchecked == 0, link, "{method} {link}: {ran:?}");
            let ran = folder.run(&["check", "release", "--policy", "policy.toml", "--json"]);
            assert_eq!(ran.code, Some(0), "{method} {link}: {ran:?}");
            let checked = json(&ran);
            assert_eq!(checked["unchecked"].as_array().map_or(0, Vec::len), 0, "{method} {link}: {checked}");
            let k = checked["guarantees"][0]["achieved"]["k"].as_u64().unwrap();
            assert!(k >= 4 && k == published["guarantees"][0]["achieved"]["k"].as_u64().unwrap(), "{checked}");
        }
        // A policy that asks for more than the release has does not make these rows.
        let stricter = folder.read("policy.toml").replace("k = 4", "k = 20");
        folder.write("other.toml", stricter);
        let ran = folder.run(&["check", "release", "--policy", "other.toml"]);
        assert!(matches!(ran.code, Some(1..=4)), "{method}: {ran:?}");
    }
}

#[test]
fn what_is_not_checked_is_said_once() {
    let folder = stays();
    policy(&folder, "policy.toml", "method = \"full-domain\"");
    let again = "[[rule]]\nknow = [\"age\"]\nprotect = \"disease\"\nrows = \"one\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\n";
    folder.write("policy.toml", folder.read("policy.toml").replace("[publish]\n", again));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["check", "release"]);
    let unchecked: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("unchecked")).collect();
    assert_eq!(unchecked.len(), 1, "{ran:?}");
    assert!(unchecked[0].contains("k-anonymity, 2 × distinct-l-diversity: the tables do not say"), "{ran:?}");
    assert!(unchecked[0].contains("--policy"), "{ran:?}");
}

#[test]
fn methods_that_count_rows_refuse_units_and_say_why() {
    let folder = stays();
    for (method, why) in [
        ("anatomy", "anatomy does not count units: its buckets count rows"),
        ("clone", "clone does not count units: its classes count tuples"),
        ("decompose", "decompose does not count units: its tables are shuffled apart"),
    ] {
        policy(&folder, "policy.toml", &format!("method = \"{method}\""));
        let text = folder.read("policy.toml").replace("suppression = 0.1\n", "");
        let text = text.replace("[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n", "");
        folder.write("policy.toml", text.replace("distinct-l-diversity", "frequency-l-diversity"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(2), "{method}: {ran:?}");
        assert!(ran.stderr.contains(why), "{method}: {ran:?}");
        assert!(!folder.path("release").exists());
    }
    for (publish, why) in [
        ("method = \"mondrian\"\nimprove = true", "`improve` exchanges rows between classes"),
        ("method = \"cluster\"\nmax-seconds = 1", "`max-seconds` exchanges rows between classes"),
    ] {
        policy(&folder, "policy.toml", publish);
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
    // More rows than a limit of memory holds.
    let mut text = String::from("patient,age,sex,ward,disease\n");
    for row in 0..200_000u32 {
        text.push_str(&format!("p{},{},{},w{},d{}\n", row / 3, row % 97, row % 2, row % 5, row % 11));
    }
    folder.write("stays.csv", text);
    policy(&folder, "policy.toml", "method = \"full-domain\"");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--memory", "40MiB"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    // Rows outside of memory cannot be counted by unit; what cannot be held is refused before that.
    let refused = ["counts rows, not units", "more memory than is allowed"];
    assert!(refused.iter().any(|why| ran.stderr.contains(why)), "{ran:?}");
    assert!(!folder.path("release").exists());
}

/// Rows of a database that fits in memory belong to units as those of a file do, and so does a
/// release that is written to one.
#[test]
fn units_of_a_database_are_counted() {
    let folder = stays();
    let mut connection = rusqlite::Connection::open(folder.path("stays.db")).unwrap();
    connection
        .execute_batch("CREATE TABLE stays (patient TEXT, age INTEGER, sex TEXT, ward TEXT, disease TEXT)")
        .unwrap();
    let together = connection.transaction().unwrap();
    for line in folder.read("stays.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        together.execute("INSERT INTO stays VALUES (?1, ?2, ?3, ?4, ?5)", rusqlite::params_from_iter(cells)).unwrap();
    }
    together.commit().unwrap();
    for link in [false, true] {
        policy(&folder, "policy.toml", &format!("link = {link}"));
        let text = folder.read("policy.toml").replace("path = \"stays.csv\"", "url = \"sqlite:stays.db\"");
        folder.write("policy.toml", text);
        for target in ["release", "sqlite:release.db"] {
            let ran = folder.run(&["publish", "policy.toml", "-o", target, "--force", "--json"]);
            assert_eq!(ran.code, Some(0), "{target} {link}: {ran:?}");
            assert!(json(&ran)["units"]["out"].as_u64().unwrap() >= 54, "{ran:?}");
            let unchecked = |ran: &Ran| json(ran)["unchecked"].as_array().map_or(0, Vec::len);
            let ran = folder.run(&["check", target, "--json"]);
            assert_eq!((ran.code, unchecked(&ran) == 0), (Some(0), link), "{target}: {ran:?}");
            let ran = folder.run(&["check", target, "--policy", "policy.toml", "--json"]);
            assert_eq!((ran.code, unchecked(&ran)), (Some(0), 0), "{target} {link}: {ran:?}");
            assert_eq!(json(&ran)["guarantees"][0]["rows"], "all", "{ran:?}");
        }
    }
}

/// An audit counts the units of a release that links their rows, else rows, which it says.
#[test]
fn an_audit_says_what_it_counts() {
    let folder = stays();
    for link in [false, true] {
        policy(&folder, "policy.toml", &format!("link = {link}"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
        let published = json(&ran);
        let ran = folder.run(&["audit", "release", "--json"]);
        let audited = json(&ran);
        let findings = audited["adversaries"].as_array().unwrap();
        let linker = findings.iter().find(|found| found["name"] == "linker").unwrap();
        let counted = if link { &published["units"]["out"] } else { &published["rows"]["out"] };
        assert_eq!(linker["people"], *counted, "{linker}");
        let says = |text: &str| linker["notes"].to_string().contains(text);
        assert_eq!(says("units are counted"), link, "{linker}");
        assert_eq!(says("rows are counted, not units"), !link, "{linker}");
        if link {
            // As many units are alike as the guarantee says.
            assert_eq!(linker["effective_k"], published["guarantees"][0]["achieved"]["k"], "{linker}");
        }
        for finding in findings {
            assert!(finding["notes"].to_string().contains("are counted"), "{finding}");
        }
    }
}

/// One person with one, one with two and one with three rows, in one class.
fn three_people(publish: &str) -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", "u,q,s\n1,x,A\n2,x,B\n2,x,A\n3,x,B\n3,x,A\n3,x,B\n");
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"rows.csv\"\n[attributes]\nu = {{ role = \"unit\" }}\nq = {{ role = \"quasi\" }}\n\
             s = {{ role = \"sensitive\" }}\n[[rule]]\nrows = \"one\"\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n\
             [publish]\n{publish}\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

fn refused_with_the_source(folder: &Folder, words: &str) {
    let ran = folder.run(&["check", "release", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains(words), "{ran:?}");
}

/// Only the third person fits three rows: the claim about all rows of a unit is false.
#[test]
fn a_claim_about_units_that_the_policy_does_not_make_is_noticed() {
    let folder = three_people("");
    let manifest = folder.read("release/datapackage.json");
    folder.write("release/datapackage.json", manifest.replace("\"rows\": \"one\"", "\"rows\": \"all\""));
    assert_eq!(folder.run(&["check", "release"]).code, Some(0), "the release alone does not betray it");
    refused_with_the_source(&folder, "the policy does not require it");
}

#[test]
fn numbers_of_units_that_the_source_does_not_have_are_noticed() {
    let folder = three_people("");
    let manifest = folder.read("release/datapackage.json");
    let five = manifest.replace("\"in\": 3,\n      \"out\": 3", "\"in\": 5,\n      \"out\": 5");
    assert_ne!(five, manifest);
    folder.write("release/datapackage.json", five);
    refused_with_the_source(&folder, "the manifest says 5 of 5 units, the source gives 3 of 3");
}

/// A row of the person with three rows gets the number of the person with one.
#[test]
fn a_row_that_is_linked_to_another_unit_is_noticed() {
    let folder = three_people("link = true");
    let text = folder.read("release/data.csv");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let number = |row: &&str| row.split(',').next().unwrap().to_owned();
    let count = |wanted: &str| rows.iter().filter(|row| number(row) == wanted).count();
    let of = |count_wanted: usize| rows.iter().map(number).find(|own| count(own) == count_wanted).unwrap();
    let (one, three) = (of(1), of(3));
    folder.write("release/data.csv", text.replacen(&format!("\n{three},"), &format!("\n{one},"), 1));
    refused_with_the_source(&folder, "links rows that are not of one unit of the source");
}

/// One person with three rows, who would count as three without the column of the unit.
#[test]
fn a_table_without_its_unit_is_not_checked() {
    let folder = three_people("");
    folder.write("table.csv", "q,s\nx,A\nx,B\nx,B\n");
    let ran = folder.run(&["check", "table.csv", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("no column `u`, by which the policy counts units"), "{ran:?}");
}
