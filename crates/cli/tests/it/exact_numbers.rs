//! Numbers and dates keep every digit from the source to the answer of a query: integers above 2⁵³,
//! floats of 17 digits, and the last day of the calendar.

use serde_json::Value;

use crate::running::Folder;

const METHODS: [&str; 8] = [
    "method = \"full-domain\"",
    "method = \"mondrian\"",
    "method = \"best-cut\"",
    "method = \"cluster\"",
    "method = \"cluster\"\nlabels = \"hierarchy\"",
    "method = \"anatomy\"",
    "method = \"decompose\"",
    "method = \"clone\"\nk = 2\nmax-epsilon = 1.0",
];

/// Publishes a table with two rows for each value, and has the release checked.
fn publish(folder: &Folder, name: &str, values: &[&str], attribute: &str, method: &str) {
    let mut rows = format!("{name},illness\n");
    for value in values {
        rows.push_str(&format!("{value},flu\n{value},cold\n"));
    }
    folder.write("t.csv", rows);
    let model = if method.contains("anatomy") { "frequency-l-diversity" } else { "distinct-l-diversity" };
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"t.csv\"\n[attributes]\n{name} = {{ {attribute} }}\nillness = {{ role = \"sensitive\" }}\n\
             [[rule]]\nprotect = \"illness\"\nrequire = {{ model = \"{model}\", l = 2 }}\n[publish]\n{method}\n"
        ),
    );
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-q"]);
    assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
}

fn ask(folder: &Folder, select: &str) -> Value {
    let ran = folder.run(&["query", "release", &format!("SELECT {select}"), "--json"]);
    assert_eq!(ran.code, Some(0), "{select}: {ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    answer["answer"][0].as_object().unwrap().values().next().unwrap().clone()
}

/// `certain ≤ truth ≤ possible`, where what is unbounded is null.
#[track_caller]
fn holds(found: &Value, truth: i128, what: &str) {
    let bound = |key: &str| {
        let number = &found[key];
        let float = || number.as_f64().map(|value| value as i128);
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)).or_else(float)
    };
    assert!(bound("certain").is_none_or(|low| low <= truth), "{what}: {found}, the truth is {truth}");
    assert!(bound("possible").is_none_or(|high| truth <= high), "{what}: {found}, the truth is {truth}");
}

#[test]
fn integers_above_two_to_the_53_stay_integers() {
    let folder = Folder::new();
    let first = 1_700_000_000_123_456_789_i64;
    let texts = [first, first + 1, first + 2].map(|value| value.to_string());
    for method in METHODS {
        publish(&folder, "x", &texts.each_ref().map(String::as_str), "role = \"quasi\"", method);
        for value in &texts {
            holds(&ask(&folder, &format!("COUNT(*) FROM data WHERE x = {value}")), 2, method);
            holds(&ask(&folder, &format!("COUNT(*) FROM data WHERE x <= {value} AND x >= {value}")), 2, method);
        }
        let sum = 6 * i128::from(first) + 6;
        for (select, truth) in [
            ("SUM(x)", sum),
            ("AVG(x)", i128::from(first) + 1),
            ("MIN(x)", i128::from(first)),
            ("MAX(x)", i128::from(first) + 2),
            ("MEDIAN(x)", i128::from(first) + 1),
            ("COUNT(DISTINCT x)", 3),
        ] {
            holds(&ask(&folder, &format!("{select} FROM data")), truth, &format!("{method}: {select}"));
        }
        // No bound of the codebook lost a digit: each is a value or the end of a range of ten.
        let codebook = folder.read("release/codebook.csv");
        for line in codebook.lines().filter(|line| line.starts_with("x,")) {
            assert!(!line.contains("1700000000123456768"), "{method}: {codebook}");
        }
    }
    publish(&folder, "x", &texts.each_ref().map(String::as_str), "role = \"quasi\"", METHODS[0]);
    let exact = ask(&folder, "COUNT(*) FROM data WHERE x = 1700000000123456789");
    assert_eq!((exact["certain"].as_u64(), exact["possible"].as_u64()), (Some(2), Some(2)));
    let least = ask(&folder, "MIN(x) FROM data");
    assert_eq!(least["certain"].as_i64(), Some(first), "{least}");
}

#[test]
fn floats_keep_seventeen_digits() {
    let folder = Folder::new();
    let values = ["1", "1.0000000000000002", "0.10000000000000001"];
    for method in METHODS {
        publish(&folder, "x", &values, "role = \"quasi\", type = \"float\"", method);
        for value in values {
            holds(&ask(&folder, &format!("COUNT(*) FROM data WHERE x = {value}")), 2, &format!("{method}: {value}"));
        }
    }
    publish(&folder, "x", &values, "role = \"quasi\", type = \"float\"", METHODS[0]);
    for value in values {
        let found = ask(&folder, &format!("COUNT(*) FROM data WHERE x = {value}"));
        assert_eq!((found["certain"].as_u64(), found["possible"].as_u64()), (Some(2), Some(2)), "{value}: {found}");
    }
    assert!(folder.read("release/data.csv").contains("1.0000000000000002"));
}

#[test]
fn the_last_day_of_the_calendar_is_published() {
    let folder = Folder::new();
    let hierarchy = "role = \"quasi\", type = \"date\", hierarchy = { dates = [\"month\", \"year\", \"decade\"] }";
    for attribute in [hierarchy, "role = \"quasi\", type = \"date\""] {
        for method in METHODS {
            publish(&folder, "until", &["2020-01-01", "2021-06-30", "9999-12-31"], attribute, method);
            let what = format!("{method}, {attribute}");
            holds(&ask(&folder, "COUNT(*) FROM data WHERE until = DATE '9999-12-31'"), 2, &what);
            holds(&ask(&folder, "COUNT(*) FROM data WHERE until < DATE '9999-12-31'"), 4, &what);
        }
    }
}

/// Floats as programs write them: without a zero before the point, and as small as there are.
#[test]
fn odd_ways_to_write_floats_are_floats() {
    let folder = Folder::new();
    let values = [".5", "5e-324", "-.25", "1.5"];
    publish(&folder, "x", &values, "role = \"quasi\"", "method = \"anatomy\"");
    for (condition, truth) in [("x = .5", 2), ("x = 0.5", 2), ("x = 5e-324", 2), ("x > 0", 6), ("x < -.2", 2)] {
        let found = ask(&folder, &format!("COUNT(*) FROM data WHERE {condition}"));
        assert_eq!((found["certain"].as_u64(), found["possible"].as_u64()), (Some(truth), Some(truth)), "{condition}");
    }
    assert_eq!(ask(&folder, "MAX(x) FROM data")["certain"].as_f64(), Some(1.5));
}

/// From zero to beyond 2⁵³ in one column, generalized: the least and the greatest keep every digit.
#[test]
fn the_greatest_of_near_and_far_integers_is_exact() {
    let folder = Folder::new();
    let far = (1_i64 << 60) + 1;
    let texts = [0, 7, far - 2, far].map(|value| value.to_string());
    for method in ["method = \"mondrian\"\nsummarise = \"tight\"", "method = \"anatomy\""] {
        publish(&folder, "x", &texts.each_ref().map(String::as_str), "role = \"quasi\"", method);
        let greatest = ask(&folder, "MAX(x) FROM data");
        assert_eq!(greatest["possible"].as_i64(), Some(far), "{method}: {greatest}");
        holds(&greatest, far.into(), method);
        let least = ask(&folder, "MIN(x) FROM data");
        assert_eq!(least["certain"].as_f64(), Some(0.0), "{method}: {least}");
        let ran = folder.run(&["query", "release", "SELECT MAX(x) FROM data"]);
        assert!(ran.stdout.contains(&far.to_string()), "{ran:?}");
    }
}
