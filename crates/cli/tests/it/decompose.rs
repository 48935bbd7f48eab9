//! Decomposed releases as users meet them: published, checked, tampered with, refused; and what
//! `rules` says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::running::{Folder, Ran, example};

/// The six patients with some of the policy's text replaced.
fn six_patients(changes: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write("patients.csv", std::fs::read(example("six-patients/patients.csv")).unwrap());
    let mut policy = std::fs::read_to_string(example("six-patients/decompose.toml")).unwrap();
    for (from, to) in changes {
        assert!(policy.contains(from), "no {from}");
        policy = policy.replace(from, to);
    }
    folder.write("policy.toml", policy);
    folder
}

fn publish(folder: &Folder) -> Ran {
    folder.run(&["publish", "policy.toml", "-o", "release", "--json"])
}

#[test]
fn the_six_patients_are_published_in_tables_that_check() {
    for algorithm in ["best", "gd", "uad", "single-attribute"] {
        let folder = six_patients(&[("\"best\"", &format!("\"{algorithm}\""))]);
        let ran = publish(&folder);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(printed["rows"]["out"], 6);
        let guarantees = printed["guarantees"].as_array().unwrap();
        assert_eq!(guarantees.len(), 3);
        assert!(guarantees.iter().all(|claim| claim["holds"] == true), "{printed}");
        let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
        assert!(manifest["hedgerow"].get("intersection-attack").is_none(), "a reader cannot recompute it");
        let mut published = BTreeSet::new();
        for resource in
            manifest["resources"].as_array().unwrap().iter().filter(|resource| resource["name"] != "codebook")
        {
            let path = resource["path"].as_str().unwrap();
            assert!(path.starts_with("table-"), "{path}");
            let header = folder.read(&format!("release/{path}")).lines().next().unwrap().to_owned();
            published.extend(header.split(',').map(str::to_owned));
        }
        for name in ["hospital", "age", "gender", "zipcode", "race", "icd"] {
            assert!(published.contains(name), "{algorithm} published {published:?}");
        }
        let checked = folder.run(&["check", "release"]);
        assert_eq!(checked.code, Some(0), "{algorithm}: {checked:?}");
    }
}

#[test]
fn parquet_tables_check_too() {
    let folder = six_patients(&[]);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--format", "parquet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(folder.run(&["check", "release"]).code, Some(0));
}

#[test]
fn tables_that_were_joined_or_changed_are_detected() {
    // Race, gender and age beside the ZIP code: the second rule is broken.
    let folder = six_patients(&[("\"best\"", "\"single-attribute\"")]);
    assert_eq!(publish(&folder).code, Some(0));
    let manifest = folder.read("release/datapackage.json");
    let parsed: Value = serde_json::from_str(&manifest).unwrap();
    let of = |name: &str| {
        let resources = parsed["resources"].as_array().unwrap();
        let holds = |resource: &&Value| resource["schema"]["fields"][0]["name"] == name;
        resources.iter().position(|resource| holds(&resource)).unwrap()
    };
    let (gender, zipcode) = (of("gender"), of("zipcode"));
    let path = |index: usize| parsed["resources"][index]["path"].as_str().unwrap().to_owned();
    let joined = "gender,zipcode\nF,71000\nM,72000\nF,73000\nF,74000\nM,71000\nM,72000\n";
    folder.write(&format!("release/{}", path(gender)), joined);
    let mut changed = parsed.clone();
    let field = changed["resources"][zipcode]["schema"]["fields"][0].clone();
    changed["resources"][gender]["schema"]["fields"].as_array_mut().unwrap().push(field);
    folder.write("release/datapackage.json", changed.to_string());
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("FAILS") && ran.stdout.contains("broken: from gender by"), "{ran:?}");

    let folder = six_patients(&[("\"best\"", "\"single-attribute\"")]);
    assert_eq!(publish(&folder).code, Some(0));
    let parsed: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let path = format!("release/{}", parsed["resources"][0]["path"].as_str().unwrap());
    let shorter: Vec<String> = folder.read(&path).lines().take(6).map(str::to_owned).collect();
    folder.write(&path, shorter.join("\n") + "\n");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("different numbers of rows"), "{ran:?}");
    folder.write("release/table-1/more.csv", "a\n1\n");
    let ran = folder.run(&["check", "release"]);
    assert!(ran.stdout.contains("table-1/more.csv"), "{ran:?}");
}

/// The paper's table 2: one table for each rule. `publish` never comes to such tables, since those
/// in normal form leave its own attack nothing to find (the tests of `hedgerow-publish` put them
/// there); so they are planted here.
#[test]
fn one_table_for_each_rule_is_detected() {
    let folder = six_patients(&[]);
    assert_eq!(publish(&folder).code, Some(0));
    let mut manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    for table in ["release/table-1", "release/table-2"] {
        std::fs::remove_dir_all(folder.path(table)).unwrap();
    }
    let people: Vec<Vec<String>> = folder.read("patients.csv").lines().map(cells).collect();
    let column = |name: &str| people[0].iter().position(|own| own == name).unwrap();
    let mut resources = Vec::new();
    let mut plant = |path: String, header: String, lines: Vec<String>| {
        let number = |name: &str| ["hospital", "age", "zipcode", "group", "count"].contains(&name);
        let fields = header.split(',').map(|name| match name {
            "group" | "count" => json!({ "name": name, "type": "integer" }),
            _ => json!({ "name": name, "type": if number(name) { "integer" } else { "string" }, "role": "quasi" }),
        });
        let schema = json!({ "fields": fields.collect::<Vec<_>>(), "missingValues": [""] });
        let name = path.replace('/', "-").replace(".csv", "");
        resources.push(json!({ "name": name, "path": path, "format": "csv", "mediatype": "text/csv", "encoding": "utf-8", "schema": schema }));
        folder.write(&format!("release/{path}"), format!("{header}\n{}\n", lines.join("\n")));
    };
    let naive = [
        (["age", "icd"], "race", [1, 3, 3, 2, 2, 1]),
        (["gender", "icd"], "zipcode", [1, 3, 3, 2, 2, 1]),
        (["hospital", "race"], "zipcode", [1, 2, 1, 2, 3, 3]),
    ];
    for (table, (know, protect, buckets)) in (1..).zip(naive) {
        let rows = || people[1..].iter().zip(buckets);
        let [one, other] = know.map(column);
        let quasi = rows().map(|(person, bucket)| format!("{},{},{bucket}", person[one], person[other]));
        plant(format!("table-{table}/quasi.csv"), format!("{},group", know.join(",")), quasi.collect());
        let values = rows().map(|(person, bucket)| format!("{bucket},{},1", person[column(protect)]));
        plant(format!("table-{table}/sensitive.csv"), format!("group,{protect},count"), values.collect());
    }
    resources.extend(manifest["resources"].as_array().unwrap().last().cloned());
    manifest["resources"] = json!(resources);
    folder.write("release/datapackage.json", manifest.to_string());
    let checked = folder.run(&["check", "release"]);
    assert_eq!(checked.code, Some(4), "{checked:?}");
    assert!(checked.stdout.contains("FAILS"), "{checked:?}");
    let audited = folder.run(&["audit", "release", "--adversary", "intersection", "--json"]);
    assert_eq!(audited.code, Some(4), "{audited:?}");
    let found: Value = serde_json::from_str(&audited.stdout).unwrap();
    assert_eq!((&found["breach"], &found["adversaries"][0]["at_risk"]), (&json!(true), &json!(4)), "{found}");
}

fn cells(line: &str) -> Vec<String> {
    line.split(',').map(str::to_owned).collect()
}

/// Both releases are in normal form, but combined their buckets leave one value to a person.
#[test]
fn tables_that_break_a_rule_beside_earlier_ones_are_not_written() {
    let folder = six_patients(&[]);
    let first = folder.run(&["publish", "policy.toml", "-o", "first", "--seed", "1"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(folder.run(&["catalog", "add", "catalog", "first"]).code, Some(0));
    let before = folder.names();
    let refused = ["2", "3", "4", "5"].into_iter().find_map(|seed| {
        // By chance the buckets may be the same once more.
        let ran = folder.run(&["publish", "policy.toml", "-o", seed, "--seed", seed, "--catalog", "catalog"]);
        (ran.code != Some(0)).then_some((seed, ran))
    });
    let (seed, ran) = refused.expect("other buckets");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("BREACH") && ran.stderr.contains("Nothing was written"), "{ran:?}");
    assert!(!folder.names().iter().any(|name| name == seed), "{before:?} and {:?}", folder.names());
}

#[test]
fn unsatisfiable_rules_are_refused_with_the_numbers() {
    // Three of six people are white.
    let folder = six_patients(&[(
        "protect = \"race\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }",
        "protect = \"race\"\nrequire = { model = \"frequency-l-diversity\", l = 3 }",
    )]);
    let ran = publish(&folder);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("3 of 6 rows (50.0 %)"), "{ran:?}");
    assert_eq!(folder.names(), ["patients.csv", "policy.toml"]);
    let ran = folder.run(&["rules", "policy.toml"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("unsatisfiable") && ran.stdout.contains("3 of 6 rows"), "{ran:?}");

    let dependency = "[[dependency]]\nfrom = [\"gender\", \"icd\"]\nto = \"zipcode\"\n[publish]";
    let folder = six_patients(&[("[publish]", dependency)]);
    let ran = publish(&folder);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("knows `zipcode` by a dependency"), "{ran:?}");

    let folder = six_patients(&[(
        "protect = \"race\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }",
        "protect = \"race\"\nrequire = { model = \"k-anonymity\", k = 2 }",
    )]);
    let ran = publish(&folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("decompose cannot keep k-anonymity"), "{ran:?}");
}

#[test]
fn rules_are_reduced_reported_and_drawn() {
    let weaker = "[[rule]]\nknow = [\"icd\"]\nprotect = [\"zipcode\", \"age\"]\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n[publish]";
    let folder = six_patients(&[("[publish]", weaker)]);
    let ran = folder.run(&["rules", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("4  follows from rule 2"), "{}", ran.stdout);
    let ran = folder.run(&["rules", "policy.toml", "--json"]);
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed["rules"][3]["implied_by"], 2);
    assert_eq!(printed["rules"][0]["most_frequent"], 3);
    let standings = printed["standings"].as_array().unwrap();
    assert!(standings.len() == 3 && standings.iter().all(|one| one["standing"] != "broken"), "{printed}");
    let ran = folder.run(&["rules", "policy.toml", "--svg"]);
    assert!(ran.stdout.starts_with("<svg") && ran.stdout.ends_with("</svg>\n"), "{}", ran.stdout);
}

/// A guardian whose coarser values are generalized loses in `rules` what it loses once published.
#[test]
fn rules_lose_what_publishing_coarser_values_loses() {
    let folder = Folder::new();
    let mut people = String::from("income,day,diagnosis\n");
    for row in 0..64_u32 {
        let mixed = row.wrapping_mul(2_654_435_761) >> 13;
        let diagnosis = ["flu", "cold", "ulcer", "gout"][(mixed % 4) as usize];
        people += &format!("{},2024-{:02}-10,{diagnosis}\n", 900 + row * 113, 1 + row / 6);
    }
    folder.write("people.csv", people);
    for (income, day) in [
        ("coarsen = { round = 1000, top = 7000 }", "coarsen = { dates = \"month\" }"),
        ("coarsen = { significant = 1 }", "hierarchy = { dates = [\"month\", \"year\"] }, coarsen = { level = 1 }"),
        ("allow-unique = true", "allow-unique = true"),
    ] {
        folder.write(
            "policy.toml",
            format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nincome = {{ role = \"plain\", {income} }}\n\
                 day = {{ role = \"plain\", {day} }}\ndiagnosis = {{ role = \"sensitive\" }}\n[[rule]]\n\
                 know = [\"income\", \"day\"]\nprotect = \"diagnosis\"\n\
                 require = {{ model = \"frequency-l-diversity\", l = 2 }}\n\
                 [publish]\nmethod = \"decompose\"\nanonymizer = \"mondrian\"\n"
            ),
        );
        let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let published: Value = serde_json::from_str(&ran.stdout).unwrap();
        let ran = folder.run(&["rules", "policy.toml", "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let examined: Value = serde_json::from_str(&ran.stdout).unwrap();
        let [published, examined] = [&published["loss"]["kl"], &examined["kl"]].map(|kl| kl.as_f64().unwrap());
        assert!((published - examined).abs() < 1e-9, "{income}, {day}: {published} published, {examined} by `rules`");
    }
}

/// Sixty synthetic people and three rules about five attributes, under other publishing settings
/// than `best`.
fn sixty_people(publish: &str) -> Folder {
    let folder = Folder::new();
    let mut state = 12345u64;
    let mut draw = |values: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % values
    };
    let mut table = "age,town,job,pay,illness\n".to_owned();
    for _ in 0..60 {
        let age = 20 + draw(40);
        let town = draw(4);
        let job = if draw(3) > 0 { town % 3 } else { draw(3) };
        table += &format!("{age},town {town},job {job},pay {},illness {}\n", (age / 20 + draw(3)) % 4, draw(4));
    }
    folder.write("people.csv", table);
    let rule = |know: &str, protect: &str, model: &str| {
        format!("[[rule]]\nknow = [{know}]\nprotect = \"{protect}\"\nrequire = {{ {model} }}\n")
    };
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\ntown = {{ role = \"quasi\" }}\n\
         job = {{ role = \"plain\" }}\npay = {{ role = \"sensitive\" }}\nillness = {{ role = \"sensitive\" }}\n{}{}{}\
         [publish]\nmethod = \"decompose\"\n{publish}\n",
        rule("\"age\", \"town\"", "illness", "model = \"frequency-l-diversity\", l = 2"),
        rule("\"age\", \"job\"", "pay", "model = \"distinct-l-diversity\", l = 2"),
        rule("\"pay\"", "illness", "model = \"entropy-l-diversity\", l = 2"),
    );
    folder.write("policy.toml", policy);
    folder
}

/// The audit reads the release and works the divergence out by itself.
#[test]
fn losses_computed_from_the_release_are_the_same() {
    for algorithm in ["gd", "uad", "multi-sensitive", "single-attribute", "best"] {
        let folder = sixty_people(&format!("algorithm = \"{algorithm}\""));
        let ran = publish(&folder);
        assert_eq!(ran.code, Some(0), "{algorithm}: {ran:?}");
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let checked = folder.run(&["check", "release"]);
        assert_eq!(checked.code, Some(0), "{algorithm}: {checked:?}");
        let audited = folder.run(&["audit", "release", "--adversary", "intersection"]);
        assert_eq!(audited.code, Some(0), "{algorithm}: {audited:?}");
        let measure = ["measure", "release", "--policy", "policy.toml", "--json", "--query-dimension", "2"];
        let ran = folder.run(&measure);
        assert_eq!(ran.code, Some(0), "{algorithm}: {ran:?}");
        let measured: Value = serde_json::from_str(&ran.stdout).unwrap();
        let kl = |value: &Value| value["loss"]["kl"].as_f64().unwrap();
        let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
        assert!(manifest["hedgerow"]["loss"]["kl"].is_null(), "a divergence from the source is for the custodian");
        assert!((kl(&printed) - kl(&measured)).abs() < 1e-9, "{algorithm}: {printed} and {measured}");
        assert_eq!(measured["queries"]["count"], 1000, "{measured}");
        assert!(measured["queries"]["relative_error"]["mean"].as_f64().unwrap() > 0.0, "{measured}");
    }
}

#[test]
fn guardians_can_be_generalized_instead() {
    for algorithm in ["uad", "gd"] {
        let folder = sixty_people(&format!("algorithm = \"{algorithm}\"\nanonymizer = \"mondrian\""));
        let ran = publish(&folder);
        assert_eq!(ran.code, Some(0), "{algorithm}: {ran:?}");
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let guarantees = printed["guarantees"].as_array().unwrap();
        assert!(guarantees.iter().all(|claim| claim["holds"] == true), "{printed}");
        let guarded = |claim: &&Value| claim["achieved"]["standing"].as_str().unwrap().starts_with("guarded");
        assert!(guarantees.iter().any(|claim| guarded(&claim)), "{printed}");
        let manifest = folder.read("release/datapackage.json");
        assert!(!manifest.contains("group"), "the release has buckets: {manifest}");
        let checked = folder.run(&["check", "release"]);
        assert_eq!(checked.code, Some(0), "{algorithm}: {checked:?}");
    }
    let folder = sixty_people("algorithm = \"multi-sensitive\"\nanonymizer = \"mondrian\"");
    let ran = publish(&folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("has buckets"), "{ran:?}");
}

/// An attribute with a large weight is cut first: more of its cells keep a single value.
#[test]
fn weights_say_what_a_generalized_guardian_keeps() {
    let towns_kept = |weights: &str| {
        let folder = sixty_people(&format!("algorithm = \"uad\"\nanonymizer = \"mondrian\"\n{weights}"));
        let ran = publish(&folder);
        assert_eq!(ran.code, Some(0), "{weights}: {ran:?}");
        assert_eq!(folder.run(&["check", "release"]).code, Some(0), "{weights}");
        let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
        let tables = manifest["resources"].as_array().unwrap().iter().filter(|table| table["name"] != "codebook");
        let text: String =
            tables.map(|table| folder.read(&format!("release/{}", table["path"].as_str().unwrap()))).collect();
        let is_town = |cell: &str| ["town 0", "town 1", "town 2", "town 3"].contains(&cell);
        text.lines().flat_map(|line| line.split(',')).filter(|cell| is_town(cell)).count()
    };
    let (of_age, of_town) = (towns_kept("weights = { age = 100 }"), towns_kept("weights = { town = 100, pay = 0.5 }"));
    assert!(of_age < of_town, "{of_age} and {of_town}");
    for (refused, why) in [
        ("weights = { age = 2 }", "anonymizer"),
        ("anonymizer = \"mondrian\"\nweights = { unknown = 2 }", "publish.weights.unknown"),
    ] {
        let ran = publish(&sixty_people(refused));
        assert_eq!(ran.code, Some(2), "{refused}: {ran:?}");
        assert!(ran.stderr.contains(why), "{refused}: {ran:?}");
    }
}

/// A class in which one value becomes too frequent stops being a guardian.
#[test]
fn a_generalized_guardian_that_was_changed_is_detected() {
    let folder = sixty_people("algorithm = \"uad\"\nanonymizer = \"mondrian\"");
    assert_eq!(publish(&folder).code, Some(0));
    let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let resources = manifest["resources"].as_array().unwrap();
    let fields = |resource: &Value| -> Vec<String> {
        let fields = resource["schema"]["fields"].as_array().unwrap();
        fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect()
    };
    let protected = |name: &String| name == "pay" || name == "illness";
    let is_guardian = |resource: &&Value| fields(resource).len() > 1 && fields(resource).iter().any(protected);
    let guardian = resources.iter().find(is_guardian).expect("a protected attribute beside others");
    let path = format!("release/{}", guardian["path"].as_str().unwrap());
    let at = fields(guardian).iter().position(protected).unwrap();
    // Rows swap values until one value fills the first class: the counts of the whole stay.
    let text = folder.read(&path);
    let mut lines: Vec<Vec<String>> = text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let mut values: Vec<String> = lines[1..].iter().map(|cells| cells[at].clone()).collect();
    values.sort();
    let mut order: Vec<usize> = (1..lines.len()).collect();
    order.sort_by_key(|&line| {
        let mut cells = lines[line].clone();
        cells.remove(at);
        cells
    });
    for (line, value) in order.into_iter().zip(values) {
        lines[line][at] = value;
    }
    let text: Vec<String> = lines.iter().map(|cells| cells.join(",")).collect();
    folder.write(&path, text.join("\n") + "\n");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("broken: from"), "{ran:?}");
}

#[test]
fn one_table_that_can_have_no_buckets_is_refused() {
    let folder = six_patients(&[("\"best\"", "\"multi-sensitive\"")]);
    let ran = publish(&folder);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("no rows can share a bucket"), "{ran:?}");
    assert_eq!(folder.names(), ["patients.csv", "policy.toml"]);
}

#[test]
fn dependencies_in_the_data_are_reported() {
    let folder = Folder::new();
    let table = "zip,county,age,illness\n1,a,30,flu\n1,a,40,flu\n2,a,30,cold\n2,a,40,cold\n3,b,30,flu\n3,b,40,cold\n";
    folder.write("people.csv", table);
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\nzip = { role = \"quasi\" }\ncounty = { role = \"quasi\" }\n\
        age = { role = \"quasi\" }\nillness = { role = \"quasi\" }\n[[rule]]\nknow = [\"age\"]\nprotect = \"county\"\n\
        require = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"decompose\"\n";
    folder.write("policy.toml", policy);
    let ran = folder.run(&["rules", "policy.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("zip → county"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("age → county"), "{}", ran.stdout);
    folder.write(
        "policy.toml",
        policy.replace("[publish]", "[[dependency]]\nfrom = [\"zip\"]\nto = \"county\"\n[publish]"),
    );
    let ran = folder.run(&["rules", "policy.toml"]);
    assert!(ran.stdout.contains("age ⇸ zip"), "theorem 3.2 adds a rule: {}", ran.stdout);
    assert!(!ran.stdout.contains("in the data"), "{}", ran.stdout);
    // Readers judge the tables beside what attackers are taken to know.
    assert_eq!(publish(&folder).code, Some(0));
    assert_eq!(folder.run(&["check", "release"]).code, Some(0));
    let mut manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let known = &mut manifest["hedgerow"]["dependencies"];
    assert_eq!(*known, json!([{ "from": ["zip"], "to": "county" }]));
    *known = json!([{ "from": ["age"], "to": "county" }]);
    folder.write("release/datapackage.json", manifest.to_string());
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("by a known dependency to county"), "{ran:?}");
}

/// One person's values are like those of no other: no bucket takes them, and no file of the release
/// names them.
#[test]
fn unreleased_values_of_a_row_are_nowhere_in_the_release() {
    let folder = Folder::new();
    folder.write("people.csv", "town,pay,illness\n1,low,flu\n2,low,cold\n3,high,flu\n4,high,cold\n5,royal,plague\n");
    let policy = "[source]\npath = \"people.csv\"\n[attributes]\ntown = { role = \"quasi\" }\npay = { role = \"quasi\" }\n\
        illness = { role = \"quasi\" }\n[[rule]]\nknow = [\"town\"]\nprotect = \"pay\"\n\
        require = { model = \"frequency-l-diversity\", l = 2 }\n[[rule]]\nknow = [\"town\"]\nprotect = \"illness\"\n\
        require = { model = \"frequency-l-diversity\", l = 2 }\n[publish]\nmethod = \"decompose\"\n\
        algorithm = \"multi-sensitive\"\n";
    folder.write("policy.toml", policy);
    for format in ["csv", "parquet"] {
        let ran = folder.run(&["publish", "policy.toml", "-o", format, "--format", format, "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(printed["loss"]["rows-without-sensitive-value"], 1.0, "{printed}");
        let tables = ["quasi", "sensitive"].map(|table| format!("table-1/{table}.{format}"));
        for name in tables.iter().map(String::as_str).chain(["codebook.csv", "datapackage.json"]) {
            let bytes = std::fs::read(folder.path(&format!("{format}/{name}"))).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("royal") && !text.contains("plague"), "{name} tells: {text}");
        }
        assert_eq!(folder.run(&["check", format]).code, Some(0));
        let ran = folder.run(&["query", format, "SELECT COUNT(*) FROM data WHERE town = 5"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = folder.run(&["query", format, "SELECT COUNT(*) FROM data WHERE pay = 'low'"]);
        assert_eq!(ran.code, Some(0), "some values are not released, which widens the bounds: {ran:?}");
    }
}

#[test]
fn one_table_of_several_can_be_queried() {
    let folder = six_patients(&[("\"best\"", "\"uad\"")]);
    assert_eq!(publish(&folder).code, Some(0));
    let ask = |sql: &str| folder.run(&["query", "release", sql, "--json"]);
    let estimate = |ran: &Ran| {
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        printed["answer"][0]["COUNT(*)"]["estimate"].as_f64().unwrap_or_else(|| panic!("{printed}"))
    };
    let ran = ask("SELECT COUNT(*) FROM data WHERE gender = 'F' AND icd = 'HIV'");
    assert_eq!((ran.code, estimate(&ran)), (Some(0), 1.0), "both are released by row: {ran:?}");
    let ran = ask("SELECT COUNT(*) FROM data WHERE zipcode = 71000");
    assert_eq!((ran.code, estimate(&ran)), (Some(0), 2.0), "{ran:?}");
    let apart = ask("SELECT COUNT(*) FROM data WHERE zipcode = 71000 AND race = 'asian'");
    assert_eq!(apart.code, Some(0), "{apart:?}");
    assert!((0.0..=1.0).contains(&estimate(&apart)) && apart.stdout.contains("the most likely table"), "{apart:?}");
    let ran = ask("SELECT race, AVG(zipcode) FROM data GROUP BY race");
    assert_eq!(ran.code, Some(2), "the third rule keeps them apart: {ran:?}");
    assert!(ran.stderr.contains("no table of this release holds every") && ran.stderr.contains("table-1 ("), "{ran:?}");
    let ran = ask("SELECT COUNT(*) FROM data WHERE gendre = 'F'");
    assert!(ran.code == Some(2) && ran.stderr.contains("did you mean `gender`?"), "{ran:?}");
}

/// Four tables in a ring, which no algorithm publishes: they are planted. The estimate has the
/// counts of every table, and that of any two columns apart lies between the bounds.
#[test]
fn a_ring_of_tables_is_measured_and_queried() {
    let folder = sixty_people("algorithm = \"single-attribute\"");
    assert_eq!(publish(&folder).code, Some(0));
    let mut manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let people: Vec<Vec<String>> = folder.read("people.csv").lines().map(cells).collect();
    let column = |name: &str| people[0].iter().position(|own| own == name).unwrap();
    let mut resources = Vec::new();
    let ring = [["town", "job"], ["job", "pay"], ["pay", "illness"], ["illness", "town"], ["age", ""]];
    for (number, names) in (1..).zip(ring) {
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let rows = people[1..].iter().map(|person| names.iter().map(|name| person[column(name)].as_str()).collect());
        let mut rows: Vec<String> = rows.map(|cells: Vec<&str>| cells.join(",")).collect();
        rows.sort();
        let kind = |name: &str| if name == "age" { "integer" } else { "string" };
        let fields = names.iter().map(|name| json!({ "name": name, "type": kind(name), "role": "quasi" }));
        let schema = json!({ "fields": fields.collect::<Vec<_>>(), "missingValues": [""] });
        let path = format!("table-{number}/data.csv");
        resources.push(json!({ "name": format!("table-{number}-data"), "path": path, "format": "csv", "mediatype": "text/csv", "encoding": "utf-8", "schema": schema }));
        let _ = std::fs::remove_dir_all(folder.path(&format!("release/table-{number}")));
        folder.write(&format!("release/{path}"), format!("{}\n{}\n", names.join(","), rows.join("\n")));
    }
    let mut codebook = folder.read("release/codebook.csv");
    for name in ["town", "job", "pay", "illness"] {
        for person in &people[1..] {
            let value = &person[column(name)];
            let line = format!("{name},{value},,,{value}");
            if !codebook.lines().any(|known| known == line) {
                codebook.push_str(&format!("{line}\n"));
            }
        }
    }
    folder.write("release/codebook.csv", codebook);
    resources.extend(manifest["resources"].as_array().unwrap().last().cloned());
    manifest["resources"] = json!(resources);
    folder.write("release/datapackage.json", manifest.to_string());
    let ran = folder.run(&["measure", "release", "--policy", "policy.toml", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let measured: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ring = &measured["rings"][0];
    assert_eq!((&ring["converged"], ring["attributes"].as_array().unwrap().len()), (&json!(true), 4), "{measured}");
    assert!(measured["loss"]["kl"].as_f64().unwrap() > 0.0, "{measured}");
    let text = folder.run(&["measure", "release", "--policy", "policy.toml"]);
    assert!(text.stdout.contains("ring     ") && text.stdout.contains("no closed form"), "{text:?}");
    let ran =
        folder.run(&["query", "release", "SELECT town, pay, COUNT(*) AS n FROM data GROUP BY town, pay", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answered: Value = serde_json::from_str(&ran.stdout).unwrap();
    let number = |line: &Value, key: &str| line["n"][key].as_f64().unwrap();
    let lines = answered["answer"].as_array().unwrap();
    let mut by_town = [0.0; 4];
    for line in lines {
        let truth = people[1..].iter().filter(|person| {
            person[column("town")] == line["town"].as_str().unwrap()
                && person[column("pay")] == line["pay"].as_str().unwrap()
        });
        let truth = truth.count() as f64;
        assert!(number(line, "certain") <= truth && truth <= number(line, "possible"), "{line}: {truth}");
        let town: usize = line["town"].as_str().unwrap().trim_start_matches("town ").parse().unwrap();
        by_town[town] += number(line, "estimate");
    }
    for (town, found) in by_town.into_iter().enumerate() {
        let truth = people[1..].iter().filter(|person| person[column("town")] == format!("town {town}")).count() as f64;
        assert!((found - truth).abs() < 1e-6, "town {town}: {found}, not {truth}");
    }
}
