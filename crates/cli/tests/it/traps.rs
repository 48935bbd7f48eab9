//! Tables with the traps of real ones, from the raw file to an audited release: returning patients,
//! a column that mirrors another one, values that not everyone can have, names and exact amounts.
//! The draft of `init` exposes no one; with a part switched off it exposes someone.

use serde_json::Value;

use crate::running::{Folder, Ran};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn drafted(what: &str, rows: &str) -> Folder {
    let folder = Folder::new();
    let ran = folder.run(&["synth", what, "--rows", rows, "--seed", "4", "-o", "data"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["init", &format!("data/{what}.csv"), "-o", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

#[test]
fn the_draft_for_a_hospital_publishes_and_passes_its_own_audit() {
    let folder = drafted("hospital", "900");
    let policy = folder.read("policy.toml");
    // Names are found by their form, and what mirrors the county is known as the county is.
    assert!(policy.contains("names of people"), "{policy}");
    assert!(!policy.lines().any(|line| line.starts_with("subject") && !line.contains("identifier")), "{policy}");
    assert!(policy.lines().any(|line| line.starts_with("density") && line.contains("quasi")), "{policy}");
    assert!(policy.contains("county determines density"), "{policy}");
    assert!(policy.contains("coarsen = { significant = 2"), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{policy}\n{ran:?}");
    assert!(json(&ran)["warnings"].is_array());
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["audit", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// With every stay taken for another patient, the levels that are published leave patients alone.
#[test]
fn without_units_patients_who_come_back_are_exposed() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["synth", "hospital", "--rows", "900", "--seed", "4", "-o", "data"]).code, Some(0));
    let policy = |role: &str| {
        format!(
            "[source]\npath = \"data/hospital.csv\"\n[attributes]\npatient_id = {{ role = \"{role}\" }}\n\
             age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20, 40] }} }}\nsex = {{ role = \"quasi\" }}\n\
             ward = {{ role = \"plain\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n"
        )
    };
    folder.write("rows.toml", policy("identifier"));
    folder.write("units.toml", policy("unit"));
    let levels = |ran: &Ran| {
        let found = json(ran)["levels"].as_object().unwrap().clone();
        found.iter().map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(",")
    };
    let ran = folder.run(&["publish", "rows.toml", "-o", "rows", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The same levels, with patients counted: no release.
    let ran = folder.run(&["publish", "units.toml", "-o", "units", "--levels", &levels(&ran)]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!folder.path("units").exists());
}

/// The density as it is: publishing ends with the attributes, and with how many people it exposes.
#[test]
fn a_column_that_mirrors_the_county_is_refused_unless_accepted() {
    let folder = drafted("hospital", "900");
    let policy = folder.read("policy.toml");
    let density = policy.lines().find(|line| line.starts_with("density")).unwrap().to_owned();
    let exposed = policy.replace(&density, "density = { role = \"plain\" }");
    folder.write("exposed.toml", exposed.replace("method = \"full-domain\"", "method = \"mondrian\""));
    let ran = folder.run(&["publish", "exposed.toml", "-o", "exposed", "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`density` follows from `county`") && ran.stderr.contains("people"), "{ran:?}");
    let accepted = exposed.replace(
        "\n[publish]",
        "\n[[dependency]]\nfrom = [\"county\"]\nto = \"density\"\naccept = \"printed in every atlas\"\n\n[publish]",
    );
    folder.write("accepted.toml", accepted);
    let ran = folder.run(&["publish", "accepted.toml", "-o", "accepted", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(folder.read("accepted/datapackage.json").contains("printed in every atlas"));
    // What the switch lets through: people who are alone with their density.
    let ran = folder.run(&["measure", "accepted", "--policy", "accepted.toml", "--json"]);
    let measured = json(&ran);
    let alone = measured["singled_out"].as_array().unwrap();
    let density = alone.iter().find(|found| found["attributes"] == serde_json::json!(["density"])).unwrap();
    assert!(density["people"].as_u64().unwrap() > 0, "{measured}");
}

#[test]
fn the_draft_for_households_publishes_and_passes_its_own_audit() {
    let folder = drafted("households", "900");
    let policy = folder.read("policy.toml");
    assert!(policy.contains("names of people"), "{policy}");
    let line = |name: &str| policy.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("members").contains("quasi"), "{policy}");
    // The key of the households says whom a row is about, and is not something that neighbors know.
    assert!(line("household ").contains("unit"), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{policy}\n{ran:?}");
    let ran = folder.run(&["check", "release", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["audit", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Children among adults: their rows are those without an income, which the consistency adversary
/// finds when it knows the people. With `consistent = true` it finds no one.
#[test]
fn children_are_found_by_the_income_that_they_lack() {
    let folder = Folder::new();
    let ran = folder.run(&["synth", "households", "--rows", "900", "-o", "data"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = |consistent: bool| {
        format!(
            "[source]\npath = \"data/households.csv\"\n[attributes]\n\
             age = {{ role = \"quasi\", hierarchy = {{ widths = [15, 30, 60] }} }}\nsex = {{ role = \"quasi\" }}\n\
             income = {{ role = \"plain\", coarsen = {{ round = 100000 }} }}\ncondition = {{ role = \"sensitive\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 60 }}\nconsistent = {consistent}\n[[rule]]\n\
             protect = \"condition\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n\
             consistent = {consistent}\n"
        )
    };
    for consistent in [false, true] {
        folder.write("policy.toml", policy(consistent));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = folder.run(&[
            "audit",
            "release",
            "--policy",
            "policy.toml",
            "--people",
            "data/households.csv",
            "--adversary",
            "consistency",
            "--json",
        ]);
        let found = json(&ran);
        let consistency = &found["adversaries"][0];
        assert_eq!(consistency["name"], "consistency", "{found}");
        assert!(consistency["excluded_from"].as_u64().unwrap() > 0, "{found}");
        assert_eq!(consistency["effective_k"].as_u64().unwrap() >= 60, consistent, "{found}");
    }
}

/// Amounts as they are single most people out; coarser ones hardly anyone.
#[test]
fn exact_amounts_single_people_out_and_coarser_ones_do_not() {
    let folder = Folder::new();
    let ran = folder.run(&["synth", "households", "--rows", "900", "-o", "data"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let alone = |coarsen: &str| {
        folder.write(
            "policy.toml",
            format!(
                "[source]\npath = \"data/households.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [20, 40] }} }}\n\
                 sex = {{ role = \"quasi\" }}\nrent = {{ role = \"sensitive\"{coarsen} }}\n\
                 [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n"
            ),
        );
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = folder.run(&["measure", "release", "--policy", "policy.toml", "--json"]);
        json(&ran)["singled_out"][0]["people"].as_u64().unwrap()
    };
    let (exact, coarse) = (alone(""), alone(", coarsen = { round = 1000 }"));
    assert!(exact > 300 && coarse < 5, "{exact} {coarse}");
}

/// Firms that file several returns, a district that shows the county, amounts.
#[test]
fn the_draft_for_tax_returns_publishes_and_passes_its_own_audit() {
    let folder = drafted("taxes", "900");
    let policy = folder.read("policy.toml");
    let line = |name: &str| policy.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(line("contact").is_empty() || line("contact").contains("identifier"), "{policy}");
    assert!(line("filer").contains("unit"), "{policy}");
    assert!(line("district").contains("quasi") || line("district").contains("identifier"), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{policy}\n{ran:?}");
    let ran = folder.run(&["check", "release", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["audit", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let findings = json(&ran);
    let linker = findings["adversaries"].as_array().unwrap().iter().find(|found| found["name"] == "linker").unwrap();
    assert!(linker["notes"].to_string().contains("rows are counted, not units"), "{linker}");
}

/// Children have no income, and what an attacker knows of children excludes the rows of adults.
#[test]
fn the_draft_for_people_with_children_keeps_its_rules_among_the_rows_that_can_be_theirs() {
    let folder = Folder::new();
    let row = |row: usize| {
        let age = row * 7 % 90;
        let income = if age < 18 { String::new() } else { (10_000 + row * 7919 % 60_000).to_string() };
        let illness = ["flu", "asthma", "gout", "angina", "ulcer"][row * 31 / 7 % 5];
        format!("{age},{},p{},{income},{illness}\n", ["f", "m"][row / 3 % 2], row * 13 / 5 % 40)
    };
    let rows: String = (0..1500).map(row).collect();
    folder.write("people.csv", format!("age,sex,place,income,diagnosis\n{rows}"));
    assert_eq!(folder.run(&["init", "people.csv"]).code, Some(0));
    let policy = folder.read("policy.toml");
    let consistent = |line: &&str| line.starts_with("consistent = true");
    assert!(policy.lines().filter(consistent).count() >= 3, "{policy}");
    let without: Vec<&str> = policy.lines().filter(|line| !consistent(line)).collect();
    folder.write("without.toml", without.join("\n"));
    for (policy, release, code) in [("policy.toml", "release", 0), ("without.toml", "other", 4)] {
        let ran = folder.run(&["publish", policy, "-o", release]);
        assert_eq!(ran.code, Some(0), "{ran:?}\n{}", folder.read(policy));
        let ran = folder.run(&["audit", release, "--people", "people.csv", "--policy", policy, "--fail-under", "k=5"]);
        assert_eq!(ran.code, Some(code), "{policy}: {ran:?}");
    }
}

/// The draft says what each method would keep, and divides rows by how near they are where one
/// level for each of many columns would lose too much.
#[test]
fn a_draft_says_what_each_method_keeps_and_takes_cluster_for_many_columns() {
    let folder = Folder::new();
    let header = "age,sex,race,marital_status,education,occupation,zip,birthplace,religion,children,diagnosis";
    let row = |row: usize| {
        let pick = |step: usize, values: &[&'static str]| values[row * step / 7 % values.len()];
        [
            (18 + row * 7 % 60).to_string(),
            pick(3, &["f", "m"]).to_owned(),
            pick(5, &["asian", "black", "white"]).to_owned(),
            pick(11, &["single", "married", "widowed", "divorced"]).to_owned(),
            pick(13, &["school", "college", "university"]).to_owned(),
            pick(17, &["clerk", "farmer", "nurse", "teacher", "driver"]).to_owned(),
            format!("48{:03}", row * 19 / 5 % 40),
            pick(23, &["Germany", "France", "Poland", "Turkey"]).to_owned(),
            pick(29, &["none", "catholic", "protestant", "muslim"]).to_owned(),
            (row * 31 / 11 % 5).to_string(),
            pick(37, &["flu", "asthma", "gout", "angina", "ulcer"]).to_owned(),
        ]
        .join(",")
    };
    let rows: Vec<String> = (0..600).map(row).collect();
    folder.write("people.csv", format!("{header}\n{}\n", rows.join("\n")));
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = folder.read("policy.toml");
    assert!(policy.lines().filter(|line| line.contains("role = \"quasi\"")).count() > 8, "{policy}");
    assert!(policy.lines().any(|line| line.starts_with("method = \"cluster\"")), "{policy}");
    let kept = policy.lines().find(|line| line.starts_with("# Loss (ncp) by method")).unwrap_or_default();
    assert!(["full-domain", "mondrian", "best-cut", "cluster"].iter().all(|method| kept.contains(method)), "{policy}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{policy}\n{ran:?}");
    assert_eq!(folder.run(&["audit", "release"]).code, Some(0));
}

fn tax_policy(folder: &Folder, filer: &str, district: &str, rule: &str, publish: &str) {
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"data/taxes.csv\"\n[attributes]\nfiler = {{ role = \"{filer}\" }}\n\
             county = {{ role = \"quasi\" }}\nemployees = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20, 60] }} }}\n\
             {district}\nwages = {{ role = \"plain\", coarsen = {{ round = 500000 }}, allow-unique = true }}\n\
             outcome = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 8 }}\n{rule}\n\
             [[rule]]\nprotect = \"outcome\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n{rule}\n\
             [publish]\n{publish}\n"
        ),
    );
}

fn tax_returns() -> Folder {
    let folder = Folder::new();
    let ran = folder.run(&["synth", "taxes", "--rows", "900", "--seed", "4", "-o", "data"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

/// The district as it is, beside a county that became `*`.
#[test]
fn a_district_that_shows_the_county_is_refused_unless_accepted() {
    let folder = tax_returns();
    let publish = "suppression = 0.2\nweights = { employees = 50 }";
    let district = "district = { role = \"plain\" }";
    tax_policy(&folder, "unit", district, "", publish);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`county` follows from `district`"), "{ran:?}");
    assert!(!folder.path("release").exists());
    // What the switch lets through.
    let accepted = folder.read("policy.toml").replace(
        "\n[publish]",
        "\n[[dependency]]\nfrom = [\"district\"]\nto = \"county\"\naccept = \"on every map\"\n[publish]",
    );
    folder.write("policy.toml", accepted);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(folder.read("release/datapackage.json").contains("on every map"));
    // By hand: firms by label and by the county that the district of a row shows.
    let text = folder.read("release/data.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut rows: std::collections::HashMap<(String, String, u32), u32> = std::collections::HashMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let district: u32 = cells[place("district")].trim_start_matches('D').parse().unwrap();
        let key = (cells[place("county")].to_owned(), cells[place("employees")].to_owned(), district / 5);
        *rows.entry(key).or_default() += 1;
    }
    assert!(rows.values().any(|rows| *rows < 8), "{rows:?}");
    // Omitted, it is published.
    tax_policy(&folder, "unit", "district = { role = \"identifier\" }", "", publish);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// With every return taken for another firm, the levels that are published leave firms among few.
#[test]
fn without_units_firms_that_file_again_are_exposed() {
    let folder = tax_returns();
    let district = "district = { role = \"identifier\" }";
    tax_policy(&folder, "identifier", district, "", "");
    let ran = folder.run(&["publish", "policy.toml", "-o", "rows", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let levels = json(&ran)["levels"].as_object().unwrap().clone();
    let levels = levels.iter().map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(",");
    tax_policy(&folder, "unit", district, "", "");
    let ran = folder.run(&["publish", "policy.toml", "-o", "units", "--levels", &levels]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
}

/// Firms without employees are those without wages. The manifest states `consistent`, `check` says
/// that it is the publisher's word, and with the policy it is counted again; a release that was
/// made without it fails.
#[test]
fn firms_without_employees_are_found_by_the_wages_that_they_lack() {
    let folder = tax_returns();
    let district = "district = { role = \"identifier\" }";
    for method in ["full-domain", "cluster"] {
        for consistent in [false, true] {
            let rule = format!("consistent = {consistent}");
            tax_policy(&folder, "identifier", district, &rule, &format!("method = \"{method}\""));
            let policy = folder
                .read("policy.toml")
                .replace("k = 8", "k = 40")
                .replace("widths = [5, 10, 20, 60]", "widths = [30, 60]");
            folder.write("policy.toml", policy);
            let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force"]);
            assert_eq!(ran.code, Some(0), "{method} {consistent}: {ran:?}");
            assert_eq!(folder.read("release/datapackage.json").contains("\"consistent\": true"), consistent);
            let ran = folder.run(&["check", "release", "--json"]);
            assert_eq!(ran.code, Some(0), "{method} {consistent}: {ran:?}");
            let unchecked = json(&ran)["unchecked"].to_string();
            assert_eq!(
                unchecked.contains("the publisher's word that enough rows fit everyone"),
                consistent,
                "{unchecked}"
            );
            // Judged by a policy that asks for it.
            folder.write(
                "consistent.toml",
                folder.read("policy.toml").replace("consistent = false", "consistent = true"),
            );
            if method == "full-domain" || consistent {
                let ran = folder.run(&["check", "release", "--policy", "consistent.toml", "--json"]);
                assert_eq!(ran.code, Some(if consistent { 0 } else { 4 }), "{method} {consistent}: {ran:?}");
                assert!(json(&ran)["unchecked"].as_array().map_or(0, Vec::len) == 0, "{ran:?}");
            }
            let audited = folder.run(&[
                "audit",
                "release",
                "--policy",
                "policy.toml",
                "--people",
                "data/taxes.csv",
                "--adversary",
                "consistency",
                "--json",
            ]);
            let found = json(&audited);
            assert_eq!(found["adversaries"][0]["effective_k"].as_u64().unwrap() >= 40, consistent, "{method}: {found}");
        }
    }
}

/// One child among the adults of a region: the gate of a catalog refuses what leaves it alone, and
/// accepts what the same rules with `consistent = true` make.
#[test]
fn the_gate_of_a_catalog_excludes_combinations_that_cannot_occur() {
    let folder = Folder::new();
    let mut text = String::from("age,region,income,illness\n");
    for row in 0..60u32 {
        let (region, child) = if row < 25 { ("north", row == 7) } else { ("south", row % 2 == 0) };
        let age = if child { row % 18 } else { 20 + row % 40 };
        let income = if child { "" } else { ["low", "high"][row as usize / 3 % 2] };
        let illness = ["flu", "cough", "asthma"][row as usize / 2 % 3];
        text.push_str(&format!("{age},{region},{income},{illness}\n"));
    }
    folder.write("people.csv", text);
    for consistent in [false, true] {
        folder.write(
            "policy.toml",
            format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\n\
                 income = {{ role = \"plain\" }}\nillness = {{ role = \"sensitive\" }}\n\
                 [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\nconsistent = {consistent}\n"
            ),
        );
        let ran =
            folder.run(&["publish", "policy.toml", "-o", "release", "--catalog", "catalog", "--no-add", "--force"]);
        assert_eq!(ran.code, Some(if consistent { 0 } else { 4 }), "{consistent}: {ran:?}");
        assert_eq!(
            ran.stdout.contains("BREACH  consistency") || ran.stderr.contains("consistency"),
            !consistent,
            "{ran:?}"
        );
    }
}
