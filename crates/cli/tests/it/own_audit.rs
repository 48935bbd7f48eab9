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

/// Children without incomes, some of them in institutions or fostered, of whom no poverty is known.
/// Of the rows of a class, those without income and poverty alone can be theirs; all of these say
/// that they see well, as children at home and adults in institutions need not.
fn with_children_in_institutions(rows: u64) -> String {
    let row = |row: u64| {
        let pick = |what: u64, count: u64| mixed(row * 16 + what) % count;
        let age = pick(0, 90);
        let is_child = age < 15;
        let home = if pick(1, 12) == 0 { "institution" } else { "home" };
        let income = if is_child { String::new() } else { (5_000 + 500 * pick(2, 150)).to_string() };
        let is_unknown = home == "institution" || pick(3, 25) == 0;
        let poverty = if is_unknown { String::new() } else { (10 + pick(4, 490)).to_string() };
        let sight = if !(is_child && is_unknown) && pick(5, 6) == 0 { "yes" } else { "no" };
        let sex = ["f", "m"][pick(6, 2) as usize];
        format!("{age},{sex},{home},d{},{income},{poverty},{sight}\n", pick(7, 20))
    };
    let rows: String = (0..rows).map(row).collect();
    format!("age,sex,housing_type,district,income,poverty,sight_disability\n{rows}")
}

/// A number that looks like chance (the last step of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9), (27, 0x94d0_49bb_1331_11eb)] {
        mixed = (mixed ^ mixed >> shift).wrapping_mul(factor);
    }
    mixed ^ mixed >> 31
}

#[test]
fn a_draft_omits_what_tells_people_apart_in_every_release() {
    let folder = Folder::new();
    folder.write("people.csv", with_children_in_institutions(3000));
    assert_eq!(warned_and_found(&folder, "people.csv"), (0, 0));
    let policy = folder.read("policy.toml");
    assert!(policy.contains("consistent = true"), "{policy}");
    let telling = "combinations of values that do not occur would tell";
    assert_eq!(policy.matches(telling).count(), 1, "{policy}");
}

/// Stays of patients, some of whom come back years later: only women give birth, and children
/// have measles.
fn stays(patients: u64) -> String {
    let mut text = String::from("patient_id,age,sex,ward,income,diagnosis\n");
    for patient in 0..patients {
        let pick = |what: u64, count: u64| mixed(patient * 64 + what) % count;
        let (first, is_woman) = (pick(0, 70), pick(1, 2) == 0);
        for stay in 0..1 + u64::from(pick(2, 6) == 0) {
            let (age, ward) = (first + pick(10 + stay, 10), pick(20 + stay, 6));
            let incomes = ["low", "middle", "high"];
            let income = if age < 18 { "none" } else { incomes[pick(40 + stay, 3) as usize] };
            let diagnosis = match pick(30 + stay, 5) {
                0 if is_woman && (18..50).contains(&age) => "delivery",
                1 if age < 15 => "measles",
                1 if age >= 50 => "stroke",
                2 if is_woman => "cystitis",
                3 if age < 40 => "asthma",
                3 => "gout",
                _ => "influenza",
            };
            let sex = if is_woman { "f" } else { "m" };
            text.push_str(&format!("p{patient},{age},{sex},w{ward},{income},{diagnosis}\n"));
        }
    }
    text
}

#[test]
fn rules_over_units_hold_among_the_rows_that_combinations_leave() {
    let folder = Folder::new();
    folder.write("stays.csv", stays(900));
    let policy = |consistent: bool| {
        format!(
            "[source]\npath = \"stays.csv\"\n[attributes]\npatient_id = {{ role = \"unit\" }}\n\
             age = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\nward = {{ role = \"quasi\" }}\n\
             income = {{ role = \"sensitive\" }}\ndiagnosis = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n\
             consistent = {consistent}\n[[rule]]\nprotect = \"diagnosis\"\n\
             require = {{ model = \"distinct-l-diversity\", l = 2 }}\nconsistent = {consistent}\n\
             [publish]\nmethod = \"cluster\"\nsuppression = 0.5\n"
        )
    };
    let at_risk = |consistent: bool| {
        folder.write("policy.toml", policy(consistent));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let audit = ["audit", "release", "--policy", "policy.toml", "--people", "stays.csv"];
        let audited = json(&folder.run(&[&audit[..], &["--adversary", "consistency", "--json"]].concat()));
        let found = audited["adversaries"].as_array().unwrap();
        found.iter().find(|found| found["protect"] == "diagnosis").unwrap()["at_risk"].as_u64().unwrap()
    };
    assert!(at_risk(false) > 0);
    assert_eq!(at_risk(true), 0);
    let ran = folder.run(&["check", "release", "--policy", "policy.toml"]);
    assert_eq!((ran.code, ran.stdout.contains("unchecked")), (Some(0), false), "{ran:?}");
}

/// Codes that are numbers have no neighbors: a draft that took them for numbers would see other
/// classes than its release has, and other people.
#[test]
fn a_draft_takes_codes_for_what_they_are() {
    let folder = Folder::new();
    let row = |row: u64| {
        let pick = |what: u64, count: u64| mixed(row * 16 + what) % count;
        let age = pick(0, 90);
        let stage = (age / 18).min(4) as usize;
        let schooling = ["none", "primary", "secondary", "university", "retired"][stage];
        let illness = ["flu", "asthma", "gout", "angina", "ulcer"][(stage + pick(1, 2) as usize).min(4)];
        format!("{age},{},{},{schooling},{illness}\n", ["f", "m"][pick(2, 2) as usize], 100 + 10 * pick(3, 100))
    };
    let rare = |row: u64| format!("{},f,990,secondary,scurvy\n", 20 + row);
    let rows: String = (0..400).map(row).chain((0..4).map(rare)).collect();
    folder.write("people.csv", format!("age,sex,industry_code,schooling,illness\n{rows}"));
    let (warned, found) = warned_and_found(&folder, "people.csv");
    let policy = folder.read("policy.toml");
    assert!(policy.lines().any(|line| line.contains("industry_code") && line.contains("category")), "{policy}");
    assert!(warned > 0);
    assert_eq!(warned, found);
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

/// Drafts, publishes, checks with the source, audits without and with the people: all end with 0.
/// The draft, and the rows that it suppresses.
fn passes_everything(folder: &Folder, data: &str) -> (String, u64) {
    let steps: [&[&str]; 5] = [
        &["init", data, "-o", "policy.toml"],
        &["publish", "policy.toml", "-o", "release"],
        &["check", "release", "--policy", "policy.toml"],
        &["audit", "release"],
        &["audit", "release", "--people", data, "--policy", "policy.toml"],
    ];
    for step in steps {
        let ran = folder.run(step);
        let policy = if step[0] == "init" { String::new() } else { folder.read("policy.toml") };
        assert_eq!(ran.code, Some(0), "{data}: {step:?}\n{policy}\n{ran:?}");
    }
    let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    (folder.read("policy.toml"), manifest["hedgerow"]["rows"]["suppressed"].as_u64().unwrap())
}

/// Patients who return, households, firms that file again: rules over units, and combinations that
/// cannot occur.
#[test]
fn drafts_over_units_pass_their_own_audit() {
    for what in ["hospital", "households", "taxes"] {
        let folder = Folder::new();
        let ran = folder.run(&["synth", what, "--rows", "1200", "--seed", "4", "-o", "data"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let (policy, suppressed) = passes_everything(&folder, &format!("data/{what}.csv"));
        assert!(policy.contains("role = \"unit\""), "{what}: {policy}");
        // Children lack an income, and the draft for households does not release it.
        assert_eq!(policy.contains("consistent = true"), what != "households", "{what}: {policy}");
        assert!(suppressed < 600, "{what}: {suppressed} rows suppressed\n{policy}");
        assert!(policy.matches("protect = ").count() > 1, "{what}: {policy}");
    }
}

/// Drivers, passengers and people on foot, some of them killed: eighteen columns, of which most are
/// about some of these alone.
fn accidents(people: u64) -> String {
    let mut text = String::from(
        "age,sex,county,month,person_type,seat,restraint,airbag,ejection,extrication,license_status,alcohol_result,drug_result,\
         previous_speeding,injury,death_place,death_lag_hours,helmet,work_injury,hospital_transport\n",
    );
    for person in 0..people {
        let pick =
            |what: u64, values: &[&'static str]| values[(mixed(person * 32 + what) % values.len() as u64) as usize];
        let number = |what: u64, count: u64| mixed(person * 32 + what) % count;
        let kind = pick(0, &["driver", "driver", "passenger", "pedestrian", "cyclist"]);
        let in_car = matches!(kind, "driver" | "passenger");
        let age = if kind == "driver" { 16 + number(1, 70) } else { number(1, 90) };
        let is_dead = number(2, 3) == 0;
        let of = |there: bool, value: &'static str| if there { value } else { "" };
        let cells = [
            age.to_string(),
            pick(3, &["f", "m"]).to_owned(),
            format!("c{}", number(4, 15)),
            (1 + number(5, 12)).to_string(),
            kind.to_owned(),
            of(
                in_car,
                if kind == "driver" { "front left" } else { pick(6, &["front right", "back left", "back right"]) },
            )
            .to_owned(),
            of(in_car, pick(7, &["belt", "none", "child seat"])).to_owned(),
            of(in_car, pick(8, &["front", "side", "not deployed"])).to_owned(),
            of(in_car, pick(9, &["not ejected", "ejected", "partly"])).to_owned(),
            of(in_car, pick(10, &["no", "yes"])).to_owned(),
            of(kind == "driver", pick(11, &["valid", "suspended", "none"])).to_owned(),
            of(kind == "driver", pick(12, &["0", "low", "high", "refused"])).to_owned(),
            of(kind == "driver", pick(13, &["none", "cannabis", "opioid"])).to_owned(),
            of(kind == "driver", pick(14, &["0", "1", "2"])).to_owned(),
            (if is_dead { "fatal" } else { pick(15, &["none", "minor", "serious"]) }).to_owned(),
            of(is_dead, pick(16, &["scene", "hospital", "on the way"])).to_owned(),
            if is_dead { number(17, 48).to_string() } else { String::new() },
            of(kind == "cyclist", pick(18, &["yes", "no"])).to_owned(),
            of(age > 15 && is_dead, pick(19, &["no", "yes"])).to_owned(),
            of(!is_dead, pick(20, &["ambulance", "other", "not taken"])).to_owned(),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Of the columns that are about some people alone, those that cannot be kept are omitted, with
/// the reason.
#[test]
fn a_draft_for_accidents_passes_its_own_audit() {
    let folder = Folder::new();
    folder.write("accidents.csv", accidents(700));
    let (policy, _) = passes_everything(&folder, "accidents.csv");
    assert!(policy.contains("consistent = true"), "{policy}");
    assert!(policy.matches("protect = ").count() > 0, "{policy}");
}
