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
