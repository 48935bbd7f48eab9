//! The last day that can be written, 9999-12-31, which many use for "no end": no day comes after it
//! that could end an interval.

use serde_json::Value;

use crate::running::Folder;

const DAYS: [&str; 8] =
    ["2020-01-05", "2020-01-20", "2020-01-21", "2020-01-22", "9999-12-29", "9999-12-30", "9999-12-31", "9999-12-31"];

fn folder() -> Folder {
    let folder = Folder::new();
    let rows: String = DAYS.iter().enumerate().map(|(row, day)| format!("{day},{}\n", ["a", "b"][row % 2])).collect();
    folder.write("people.csv", format!("day,illness\n{rows}"));
    let leaf = |day: &str| format!("{day};{};*\n", if day < "9000" { "early" } else { "never" });
    let mut leaves: Vec<String> = DAYS.iter().map(|day| leaf(day)).collect();
    leaves.dedup();
    folder.write("days.csv", leaves.concat());
    folder
}

/// Publishes, checks, and asks for the greatest day: it is one of the last unit, and a date.
fn greatest(folder: &Folder, day: &str, publish: &str) -> (String, Value) {
    let rule = match publish {
        "method = \"clone\"\nk = 4" => "",
        _ => "[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n",
    };
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nday = {{ role = \"quasi\"{day} }}\n\
             illness = {{ role = \"sensitive\" }}\n{rule}[publish]\n{publish}\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
    assert_eq!(ran.code, Some(0), "{day} {publish}: {ran:?}");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{day} {publish}: {ran:?} {}", folder.read("release/codebook.csv"));
    let sql = ["query", "release", "SELECT MAX(day) AS d FROM data"];
    let text = folder.run(&sql);
    assert_eq!(text.code, Some(0), "{day} {publish}: {text:?}");
    let json = folder.run(&[&sql[..], &["--json"]].concat());
    let answer: Value = serde_json::from_str(&json.stdout).unwrap();
    (text.stdout, answer["answer"][0]["d"].clone())
}

#[test]
fn the_last_unit_of_the_calendar_is_published_checked_and_queried() {
    let folder = folder();
    for (unit, first) in
        [("month", "9999-12-01"), ("quarter", "9999-10-01"), ("year", "9999-01-01"), ("decade", "9990-01-01")]
    {
        let hierarchy = format!(", hierarchy = {{ dates = [\"{unit}\"] }}");
        let (text, answer) = greatest(&folder, &hierarchy, "method = \"full-domain\"");
        let day = |key: &str| answer[key].as_str().unwrap_or_else(|| panic!("{unit}: {answer}")).to_owned();
        assert_eq!((day("certain").as_str(), day("possible").as_str()), (first, "9999-12-31"), "{unit}");
        assert!((first..="9999-12-31").contains(&day("estimate").as_str()), "{unit}: {answer}");
        assert!(text.contains(&day("estimate")) && text.contains("9999-12-31"), "{unit}: {text}");
    }
}

#[test]
fn the_last_day_ends_other_cells_too() {
    let folder = folder();
    let range = ", range = [\"2000-01-01\", \"9999-12-31\"]";
    for (day, publish) in [
        (", hierarchy = \"days.csv\"", "method = \"full-domain\""),
        (", hierarchy = { breaks = [[\"5000-01-01\"]] }", "method = \"full-domain\""),
        (&format!("{range}, hierarchy = {{ breaks = [[\"5000-01-01\"]] }}"), "method = \"full-domain\""),
        ("", "method = \"mondrian\""),
        (range, "method = \"mondrian\""),
        ("", "method = \"cluster\"\nsummarise = \"tight\""),
    ] {
        is_shown_as_dates(&greatest(&folder, day, publish).0, &format!("{day} {publish}"));
    }
    is_shown_as_dates(&greatest(&folder, "", "method = \"clone\"\nk = 4").0, "clone");
}

/// A day, or that none is known; never its number.
#[track_caller]
fn is_shown_as_dates(text: &str, case: &str) {
    let line = text.lines().nth(1).unwrap_or_else(|| panic!("{case}: {text}"));
    let is_day = |word: &str| word.len() == 10 && word.split('-').count() == 3;
    assert!(
        line.split_whitespace().all(|word| is_day(word) || ["unknown", "unbounded"].contains(&word)),
        "{case}: {text}"
    );
    assert_eq!(line.split_whitespace().count(), 3, "{case}: {text}");
}
