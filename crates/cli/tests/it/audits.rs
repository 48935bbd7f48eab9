//! The audit as users meet it: several releases, folders of sub-tables, a custodian's own, and
//! garbage.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::community::{adversary, departments, json, publish};
use crate::running::{Folder, Ran};

fn run(folder: &Folder, arguments: &[&str], code: i32) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    ran
}

/// Table 2 of the paper on twelve people, as its table 1 has it.
#[test]
fn the_departments_publish_table_2() {
    let folder = departments();
    let counts = |release: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in folder.read(&format!("{release}/data.csv")).lines().skip(1) {
            *counts.entry(row.to_owned()).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(row, count)| (row.split(',').next_back().unwrap().to_owned(), *count));
        counts.into_iter().map(|(row, count)| format!("{row}: {count}")).collect::<Vec<_>>()
    };
    assert_eq!(
        counts("revenue-release"),
        ["40+,High: 4", "40+,Low: 2", "<40,Low: 2", "40+,Middle: 2", "<40,Middle: 2"]
    );
    assert_eq!(
        counts("census-release"),
        ["20000+,High: 2", "<20000,High: 2", "20000+,Low: 2", "<20000,Low: 2", "20000+,Middle: 4"]
    );
}

/// A third release that is safe beside both: the worst pair is still the first two.
#[test]
fn of_three_releases_the_worst_pair_is_named() {
    let folder = departments();
    let everything: String = folder.read("revenue.toml").replace("breaks = [[40]]", "breaks = [[200]]");
    folder.write("whole.toml", everything);
    publish(&folder, "whole.toml", "whole-release");
    let three = ["revenue-release", "whole-release", "census-release"];
    let found = json(&run(&folder, &[&["audit", "--json"][..], &three].concat(), 4));
    for name in ["composition", "independence"] {
        let finding = adversary(&found, name);
        assert_eq!(finding["releases"], json!(three));
        assert_eq!(finding["worst_pair"]["releases"], json!(["revenue-release", "census-release"]), "{finding}");
        assert_eq!(finding["worst_pair"]["effective_l"], 1);
        assert_eq!(finding["worst"]["cells"].as_array().unwrap().len(), 3);
    }
    folder.write("both.csv", "age,zip\n18,15341\n48,28544\n");
    let text = run(&folder, &[&["audit", "--people", "both.csv"][..], &three].concat(), 4).stdout;
    assert!(text.contains("worst pair: revenue-release + census-release, 1 at risk, fewest values 1"), "{text}");
    assert!(text.contains("only one value is in the matching cells of every release"), "{text}");
}

#[test]
fn pipelines_say_how_few_is_too_few() {
    let folder = Folder::with_release("release");
    run(&folder, &["audit", "release"], 0);
    run(&folder, &["audit", "release", "--fail-under", "l=2,k=2"], 0);
    run(&folder, &["audit", "release", "--fail-under", "l=4"], 4);
    run(&folder, &["audit", "release", "--fail-under", "k=20"], 4);
    let wrong = run(&folder, &["audit", "release", "--fail-under", "m=3"], 2);
    assert!(wrong.stderr.contains("l=3"), "{}", wrong.stderr);
    folder.write("people.csv", "age,city,illness\n21,Aa,Flu\n99,Aa,Flu\n");
    let found = json(&run(
        &folder,
        &["audit", "release", "release/.", "--people", "people.csv", "--fail-under", "l=4", "--json"],
        4,
    ));
    let composition = adversary(&found, "composition");
    assert_eq!(composition["below"], json!({ "l": 4, "people": 1 }), "{composition}");
    assert_eq!(adversary(&found, "linker")["not_in_release"], 1);
}

/// Kate is left with one salary, the other two with several: the list names her row, and nothing
/// that is printed does.
#[test]
fn people_at_risk_are_written_to_a_file_and_never_printed() {
    let folder = departments();
    folder.write("people.csv", "age,zip\n48,28544\n18,15341\n50,15000\n");
    let audit = |more: &[&str], code: i32| {
        let releases = ["audit", "revenue-release", "census-release", "--people", "people.csv"];
        run(&folder, &[&releases[..], &["--adversary", "composition,independence"], more].concat(), code)
    };
    let printed = audit(&["--list", "at-risk.csv", "--json"], 4);
    let listed = |adversary: &str| -> Vec<String> {
        let text = folder.read("at-risk.csv");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("row,adversary,protect,releases"));
        let of = |line: &&str| line.split(',').nth(1) == Some(adversary);
        lines.filter(of).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!((listed("composition"), listed("independence")), (vec!["2".to_owned()], vec!["2".to_owned()]));
    assert!(!printed.stdout.contains("people_at_risk"), "{}", printed.stdout);
    audit(&["--list", "at-risk.csv", "--fail-under", "l=1"], 0);
    audit(&["--list", "at-risk.csv", "--fail-under", "l=1,confidence=0.6"], 4);
    assert_eq!(listed("independence"), ["2", "3"]);
    let alone = run(&folder, &["audit", "revenue-release", "--list", "at-risk.csv"], 2);
    assert!(alone.stderr.contains("--people"), "{}", alone.stderr);
    let wrong = run(&folder, &["audit", "revenue-release", "--fail-under", "confidence=2"], 2);
    assert!(wrong.stderr.contains("confidence=0.8"), "{}", wrong.stderr);
}

/// The six patients in three sub-tables, one for each rule: buckets {1,6}, {5,4}, {3,2} and {1,3},
/// {4,2}, {5,6}.
#[test]
fn the_four_tuples_of_the_six_patients_are_found_in_a_folder_of_sub_tables() {
    let folder = Folder::new();
    let sub_table = |name: &str, quasi: &str, sensitive: &str, rows: &[(&str, u32)], values: &[(u32, &str)]| {
        let rows: String = rows.iter().map(|(row, group)| format!("{row},{group}\n")).collect();
        let values: String = values.iter().map(|(group, value)| format!("{group},{value},1\n")).collect();
        folder.write(&format!("six/{name}/quasi.csv"), format!("{quasi},group\n{rows}"));
        folder.write(&format!("six/{name}/sensitive.csv"), format!("group,{sensitive},count\n{values}"));
        let field = |name: &str, kind: &str, role: Option<&str>| json!({ "name": name, "type": kind, "role": role });
        let mut fields: Vec<Value> = quasi.split(',').map(|name| field(name, "string", Some("quasi"))).collect();
        fields.push(field("group", "integer", None));
        let values = vec![
            field("group", "integer", None),
            field(sensitive, "string", Some("sensitive")),
            field("count", "integer", None),
        ];
        let resource = |table: &str, fields: Vec<Value>| {
            json!({
                "name": format!("{name}-{table}"), "path": format!("{name}/{table}.csv"), "format": "csv",
                "mediatype": "text/csv", "encoding": "utf-8", "schema": { "fields": fields, "missingValues": [""] },
            })
        };
        [resource("quasi", fields), resource("sensitive", values)]
    };
    let by_icd =
        [("37,HIV", 1), ("37,HIV", 1), ("23,alcoholism", 2), ("37,flu", 2), ("55,diabetes", 3), ("71,diabetes", 3)];
    let tables = [
        sub_table(
            "one",
            "age,icd",
            "race",
            &by_icd,
            &[(1, "asian"), (1, "white"), (2, "black"), (2, "white"), (3, "black"), (3, "white")],
        ),
        sub_table(
            "two",
            "gender,icd",
            "zipcode",
            &[("F,HIV", 7), ("M,HIV", 7), ("M,alcoholism", 8), ("F,flu", 8), ("F,diabetes", 9), ("M,diabetes", 9)],
            &[(7, "71000"), (7, "72000"), (8, "71000"), (8, "74000"), (9, "73000"), (9, "72000")],
        ),
        sub_table(
            "three",
            "hospital,race",
            "zipcode",
            &[
                ("111111,asian", 4),
                ("222222,black", 4),
                ("222222,white", 5),
                ("111111,white", 5),
                ("333333,black", 6),
                ("333333,white", 6),
            ],
            &[(4, "71000"), (4, "73000"), (5, "74000"), (5, "72000"), (6, "71000"), (6, "72000")],
        ),
    ];
    let labels = [
        "age:37",
        "age:23",
        "age:55",
        "age:71",
        "icd:HIV",
        "icd:alcoholism",
        "icd:flu",
        "icd:diabetes",
        "gender:F",
        "gender:M",
        "hospital:111111",
        "hospital:222222",
        "hospital:333333",
        "race:asian",
        "race:black",
        "race:white",
    ];
    let codebook: String = labels
        .iter()
        .map(|label| label.split_once(':').unwrap())
        .map(|(name, label)| format!("{name},{label},,,{label}\n"))
        .collect();
    folder.write("six/codebook.csv", format!("attribute,label,low,high,leaf\n{codebook}"));
    let columns = ["attribute", "label", "low", "high", "leaf"].map(|name| json!({ "name": name, "type": "string" }));
    let mut resources = tables.concat();
    resources.push(json!({
        "name": "codebook", "path": "codebook.csv", "format": "csv", "mediatype": "text/csv", "encoding": "utf-8",
        "schema": { "fields": columns, "missingValues": [""] },
    }));
    let manifest = json!({
        "name": "release",
        "resources": resources,
        "hedgerow": {
            "version": "0.1.0", "method": "decompose", "guarantees": [], "loss": {},
            "rows": { "in": 6, "out": 6, "suppressed": 0 }, "classes": { "count": 3, "min": 2, "max": 2, "mean": 2.0 },
        },
    });
    folder.write("six/datapackage.json", manifest.to_string());
    let found = json(&run(&folder, &["audit", "six", "--adversary", "intersection", "--json"], 4));
    assert_eq!(found.get("contradictions"), None, "{found}");
    let finding = adversary(&found, "intersection");
    assert_eq!((&finding["people"], &finding["at_risk"], &finding["effective_l"]), (&json!(6), &json!(4), &json!(1)));
    let exposed = std::iter::once(&finding["worst"]).chain(finding["next_worst"].as_array().unwrap());
    let mut exposed: Vec<String> = exposed
        .filter(|exposure| exposure["left"] == 1)
        .map(|exposure| {
            let cells = &exposure["cells"][0]["cells"];
            [&cells["hospital"], &cells["race"], &exposure["values"][0]["value"]]
                .map(|text| text.as_str().unwrap())
                .join(" ")
        })
        .collect();
    exposed.sort();
    assert_eq!(exposed, ["111111 asian 71000", "222222 black 73000", "333333 black 71000", "333333 white 72000"]);
}

#[test]
fn a_catalog_is_audited_as_a_whole_and_knows_a_custodians_own_releases() {
    let folder = Folder::with_release("first");
    let add = |release: &str, custodian: &str| {
        run(&folder, &["catalog", "add", "catalog", release, "--custodian", custodian], 0);
    };
    add("first", "us");
    run(&folder, &["audit", "--catalog", "catalog"], 0);
    let people = folder.read("people.csv");
    // Lou is gone, Moe came, and Ann is better.
    let changed =
        people.replace("Lou,38,Bb,Flu\n", "").replace("Ann,21,Aa,Flu", "Ann,21,Aa,Ache") + "Moe,33,Cc,Cough\n";
    folder.write("people.csv", changed);
    publish(&folder, "policy.toml", "second");
    add("second", "us");
    let found = json(&run(&folder, &["audit", "--catalog", "catalog", "--json"], 4));
    let difference = adversary(&found, "difference");
    assert_eq!(difference["releases"], json!(["first", "second"]));
    let printed = [&difference["appeared"], &difference["left"], &difference["changed"]].map(|n| n.as_u64().unwrap());
    assert_eq!(printed, [1, 1, 1], "{difference}");
    folder.write("people.csv", people);
    publish(&folder, "policy.toml", "theirs");
    add("theirs", "them");
    let found = json(&run(&folder, &["audit", "--catalog", "catalog", "--json"], 4));
    let differences = found["adversaries"].as_array().unwrap().iter().filter(|found| found["name"] == "difference");
    assert_eq!(differences.count(), 1, "others are not compared by difference");
    folder.write("catalog/first/data.csv", folder.read("first/data.csv").replacen("Flu", "Ache", 1));
    let text = run(&folder, &["audit", "--catalog", "catalog"], 4).stdout;
    assert!(text.contains("WRONG  first: its files differ from those that were added"), "{text}");
    run(&folder, &["audit"], 2);
}

#[test]
fn a_table_made_elsewhere_is_part_of_a_community() {
    let folder = departments();
    let rows = folder
        .read("revenue-release/data.csv")
        .replace(',', ";")
        .replace("40 and over", ">=40")
        .replace("below 40", "<40");
    folder.write("arx/table.csv", rows);
    let sidecar = "[source]\npath = \"table.csv\"\n[attributes]\nage = { role = \"quasi\" }\nsalary-class = { role = \"sensitive\" }\n";
    folder.write("arx/by-hand.toml", sidecar);
    let policy = folder.read("census-beside.toml").replace("revenue-release", "arx/by-hand.toml");
    folder.write("beside.toml", policy);
    let published = json(&run(&folder, &["publish", "beside.toml", "-o", "safe", "--json", "--seed", "1"], 0));
    assert_eq!(published["levels"]["zip"], 2);
    run(&folder, &["audit", "arx/by-hand.toml", "safe"], 0);
    run(&folder, &["audit", "arx/by-hand.toml", "census-release"], 4);
}

fn without_line(folder: &Folder, file: &str, line: usize) {
    let text = folder.read(file);
    let lines = text.lines().enumerate().filter(|(number, _)| *number != line);
    folder.write(file, lines.map(|(_, line)| format!("{line}\n")).collect::<String>());
}

/// Every kind of garbage, what it is called, and how the audit ends.
#[test]
fn garbage_of_every_kind_is_named() {
    type Change<'a> = &'a dyn Fn(&Folder);
    let edit = |folder: &Folder, file: &str, from: &str, to: &str| {
        let text = folder.read(&format!("release/{file}"));
        assert!(text.contains(from), "{file} lacks {from}: {text}");
        folder.write(&format!("release/{file}"), text.replace(from, to));
    };
    let remove = |folder: &Folder, file: &str| std::fs::remove_file(folder.path(&format!("release/{file}"))).unwrap();
    let cases: &[(Change<'_>, i32, &str)] = &[
        (&|f| remove(f, "data.csv"), 2, "data.csv"),
        (&|f| remove(f, "datapackage.json"), 2, "no release here"),
        (&|f| edit(f, "datapackage.json", "{", "["), 2, "not a release manifest"),
        (&|f| edit(f, "datapackage.json", "\"data.csv\"", "\"../data.csv\""), 2, "outside of the release"),
        (&|f| edit(f, "datapackage.json", "\"l\": 2", "\"l\": \"two\""), 4, "cannot be recomputed"),
        (&|f| edit(f, "datapackage.json", "\"l\": 2", "\"l\": 4"), 4, "which the tables do not satisfy"),
        (&|f| edit(f, "datapackage.json", "\"out\": 12", "\"out\": 13"), 4, "the manifest says 13 rows"),
        (&|f| edit(f, "data.csv", "Flu", "Flu,Flu"), 2, "data.csv"),
        (&|f| edit(f, "codebook.csv", "leaf", "leave"), 2, "codebook.csv"),
        (&|f| without_line(f, "release/codebook.csv", 1), 4, "have no entry in codebook.csv"),
        (&|f| without_line(f, "release/data.csv", 3), 4, "the manifest says 12 rows"),
        (&|f| drop(f.write("release/notes.txt", "Ann is 21")), 4, "the file `notes.txt` is not in the manifest"),
    ];
    for (change, code, words) in cases {
        let folder = Folder::with_release("release");
        change(&folder);
        let ran = folder.run(&["audit", "release"]);
        assert_eq!(ran.code, Some(*code), "{words}: {ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(words) && !said.contains("panicked"), "{words}: {said}");
    }
}

#[test]
fn buckets_that_do_not_add_up_are_named() {
    let folder = Folder::with_people();
    let policy = folder.read("policy.toml");
    let (head, _) = policy.split_once("[[rule]]").unwrap();
    let rule = "[[rule]]\nprotect = \"illness\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"anatomy\"\n";
    folder.write("anatomy.toml", format!("{head}{rule}"));
    publish(&folder, "anatomy.toml", "release");
    run(&folder, &["audit", "release"], 0);
    let more = folder.read("release/sensitive.csv").replacen(",1\n", ",5\n", 1);
    folder.write("release/sensitive.csv", more);
    let ran = run(&folder, &["audit", "release"], 4);
    assert!(ran.stdout.contains("WRONG  release: "), "{}", ran.stdout);
    std::fs::remove_file(folder.path("release/sensitive.csv")).unwrap();
    let ran = run(&folder, &["audit", "release"], 2);
    assert!(ran.stderr.contains("sensitive.csv"), "{}", ran.stderr);
}

/// A policy without rules says what columns are, which is all that an audit of a release needs.
#[test]
fn a_policy_without_rules_and_without_people_is_enough() {
    let folder = Folder::with_release("release");
    let policy = folder.read("policy.toml");
    folder.write("roles.toml", &policy[..policy.find("[[rule]]").unwrap()]);
    for more in [&[][..], &["--people", "people.csv"]] {
        let ran = folder.run(&[&["audit", "release", "--policy", "roles.toml"][..], more].concat());
        assert!(matches!(ran.code, Some(0 | 4)), "{more:?}: {ran:?}");
    }
    // One release is not a combination of releases, and a limit is called one.
    let ran = folder.run(&["audit", "release"]);
    assert!(!ran.stdout.contains("combined releases") && !ran.stdout.contains("\n  k: "), "{ran:?}");
    assert!(ran.stdout.contains("at risk is each person whom fewer than 2 rows match"), "{ran:?}");
}

/// A missing value has a name, in every line.
#[test]
fn no_line_has_an_empty_pair_of_quotes() {
    let folder = Folder::with_people();
    let people = folder.read("people.csv").replace(",Aa,", ",,").replace("Cough", "");
    folder.write("people.csv", people);
    folder.write("policy.toml", folder.read("policy.toml").replace(", hierarchy = \"city.csv\"", ""));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for arguments in [&["audit", "release"][..], &["audit", "release", "--people", "people.csv"], &["check", "release"]]
    {
        let ran = folder.run(arguments);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!text.contains("``"), "{text}");
    }
    let ran = folder.run(&["audit", "release", "--people", "people.csv"]);
    assert!(ran.stdout.contains("(missing)"), "{ran:?}");
    // A missing value that two releases leave to someone is explained.
    folder.write("one/data.csv", "a,s\n0 to 1,\n0 to 1,q\n2 to 3,q\n2 to 3,r\n");
    folder.write("two/data.csv", "b,s\nx,\nx,r\ny,q\ny,q\n");
    for (name, quasi) in [("one", "a"), ("two", "b")] {
        let sidecar = format!(
            "[source]\npath = \"data.csv\"\n[attributes]\n{quasi} = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\" }}\n"
        );
        folder.write(&format!("{name}/release.toml"), sidecar);
    }
    folder.write("list.csv", "a,b\n0,x\n1,y\n2,x\n3,y\n");
    for more in [&[][..], &["--people", "list.csv"]] {
        let ran = folder.run(&[&["audit", "one", "two"][..], more].concat());
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.stdout.contains("only the missing value is left"), "{more:?}: {ran:?}");
        assert!(!ran.stdout.contains("``"), "{more:?}: {ran:?}");
        let ran = folder.run(&[&["report", "one", "two", "-o", "report.html", "--force"][..], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!folder.read("report.html").contains("<code></code>"), "{more:?}");
    }
}
