//! `query`, `measure` and `report` estimate alike: what the page says that a reader expects is what
//! `query` answers, and its query error is that of `measure`.

use serde_json::Value;

use crate::running::Folder;

const METHODS: [&str; 5] = [
    "method = \"full-domain\"\nsuppression = 0.1",
    "method = \"mondrian\"",
    "method = \"best-cut\"",
    "method = \"cluster\"",
    "method = \"cluster\"\nlabels = \"hierarchy\"",
];

/// Discharges of which most are of one sex, so that some releases show that one only.
fn discharges() -> String {
    let mut rows = String::from("age,sex,county,illness\n");
    for row in 0..240_u64 {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let sex = if mixed.is_multiple_of(9) { "M" } else { "F" };
        let (age, county) = (20 + mixed / 7 % 60, ["Albany", "Bronx", "Kings"][(mixed / 3 % 3) as usize]);
        rows.push_str(&format!("{age},{sex},{county},{}\n", ["flu", "cold", "ache", "none"][(mixed % 4) as usize]));
    }
    rows
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The condition that selects a value, or a range of numbers up to the next one, as a page names
/// it.
fn condition(attribute: &str, value: &str, next: Option<&str>) -> String {
    let first = value.split(" to ").next().unwrap();
    match (value.split_once(" to "), next.map(|next| next.split(" to ").next().unwrap())) {
        (Some(_), Some(next)) if attribute == "age" => format!("age >= {first} AND age < {next}"),
        (Some((first, last)), None) if attribute == "age" => format!("age BETWEEN {first} AND {last}"),
        _ if attribute == "age" => format!("age = {value}"),
        _ => format!("{attribute} = '{value}'"),
    }
}

#[test]
fn a_page_expects_what_query_answers() {
    let folder = Folder::new();
    folder.write("people.csv", discharges());
    let mut compared = 0;
    for k in [5, 60] {
        for method in METHODS {
            folder.write(
                "policy.toml",
                format!(
                    "[source]\npath = \"people.csv\"\n[attributes]\n\
                     age = {{ role = \"quasi\", hierarchy = {{ widths = [10, 20] }} }}\nsex = {{ role = \"quasi\" }}\n\
                     county = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\n[[rule]]\n\
                     require = {{ model = \"k-anonymity\", k = {k} }}\n[publish]\n{method}\n"
                ),
            );
            let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
            assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
            let report =
                json(&folder, &["report", "release", "--policy", "policy.toml", "-o", "r.html", "--json", "--force"]);
            let measured = json(&folder, &["measure", "release", "--policy", "policy.toml", "--json"]);
            let of_page = &report["releases"][0];
            assert_eq!(of_page["measures"]["queries"], measured["queries"], "{method}");
            for attribute in of_page["comparison"]["attributes"].as_array().unwrap() {
                let name = attribute["name"].as_str().unwrap();
                let values = attribute["values"].as_array().unwrap();
                let text = |place: usize| values.get(place).and_then(|value| value["value"].as_str());
                for (place, value) in values.iter().enumerate() {
                    let wanted = condition(name, text(place).unwrap(), text(place + 1));
                    let sql = format!("SELECT COUNT(*) AS n FROM data WHERE {wanted}");
                    let answer = json(&folder, &["query", "release", &sql, "--json"]);
                    let Some(estimate) = answer["answer"][0]["n"]["estimate"].as_f64() else { continue };
                    compared += 1;
                    let expected = value["released"].as_f64().unwrap();
                    assert!(
                        (estimate - expected).abs() < 1e-6,
                        "{method}, k = {k}, {wanted}: {estimate} by `query`, {expected} on the page"
                    );
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// Classes of neighbors overlap, and those of the youngest are open below. Rows are expected where
/// they are: half of the youngest at least, and few rows elsewhere than they are.
#[test]
fn cells_that_overlap_leave_the_youngest_where_they_are() {
    let folder = Folder::new();
    let mut rows = String::from("age,sex,county,family,illness\n");
    let mut ages = Vec::new();
    for row in 0..600_u64 {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let pick = |of: &[&'static str], place: u64| of[(mixed / place) as usize % of.len()];
        // Many are young, few are old.
        let age = 18 + (mixed % 37) * (mixed / 37 % 41) / 21;
        let (sex, county) = (pick(&["F", "M"], 1517), pick(&["Albany", "Bronx", "Kings", "Queens"], 3034));
        let (family, illness) =
            (pick(&["single", "married", "widowed"], 12_136), pick(&["flu", "cold", "ache"], 36_408));
        rows.push_str(&format!("{age},{sex},{county},{family},{illness}\n"));
        ages.push(age);
    }
    folder.write("people.csv", rows);
    folder.write(
        "policy.toml",
        "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\n\
         county = { role = \"quasi\" }\nfamily = { role = \"quasi\" }\nillness = { role = \"sensitive\" }\n[[rule]]\n\
         require = { model = \"k-anonymity\", k = 20 }\n[publish]\nmethod = \"cluster\"\n",
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut elsewhere = 0.0;
    for first in (18..88).step_by(5) {
        let sql = format!("SELECT COUNT(*) AS n FROM data WHERE age BETWEEN {first} AND {}", first + 4);
        let estimate = json(&folder, &["query", "release", &sql, "--json"])["answer"][0]["n"]["estimate"].clone();
        let estimate = estimate.as_f64().unwrap();
        let truth = ages.iter().filter(|age| (first..first + 5).contains(*age)).count() as f64;
        assert!(first > 18 || estimate > truth / 2.0, "{estimate} of {truth} are 18 to 22");
        elsewhere += (estimate - truth).abs() / 2.0;
    }
    assert!(elsewhere < 120.0, "{elsewhere} of 600 rows are expected where they are not");
}
