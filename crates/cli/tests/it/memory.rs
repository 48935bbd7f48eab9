//! How much memory a run takes, and a limit on it.

use serde_json::Value;

use crate::running::{Folder, Ran};

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn the_peak_is_reported() {
    let folder = Folder::of_example("hospital");
    let published = json(&folder.run(&["publish", "policy.toml", "-o", "release", "--json"]));
    let peak = published["memory"]["peak_bytes"].as_u64().unwrap();
    assert!((1 << 20..1 << 32).contains(&peak), "{peak}");
    assert_eq!(json(&folder.run(&["check", "release", "--json"])).get("memory"), None);
    let ran = folder.run(&["check", "release", "--json", "-v"]);
    assert!(json(&ran)["memory"]["peak_bytes"].as_u64().is_some(), "{ran:?}");
    assert!(ran.stderr.contains("memory   "), "{ran:?}");
}

#[test]
fn a_run_that_would_take_more_than_its_limit_is_refused_and_leaves_nothing() {
    let folder = Folder::of_example("hospital");
    let made = folder.run(&["synth", "census", "--rows", "200000", "--seed", "1", "-o", "census"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let before = folder.names();
    let ran = folder.run(&["publish", "census/policy.toml", "-o", "release", "--memory", "1MiB"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("more memory than is allowed: nothing was written\nhint: allow at least "), "{ran:?}");
    assert_eq!(folder.names(), before);
    let ran = folder.run(&["publish", "census/policy.toml", "-o", "release", "--memory", "64GiB", "--threads", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["check", "release", "--memory", "much"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("expected a size such as 64MiB or 2GiB"), "{ran:?}");
}

/// Below what is foreseen a run is always refused, and from there on it always ends well and states
/// no more than was allowed.
#[test]
fn near_its_limit_the_same_run_always_ends_alike() {
    let folder = Folder::new();
    let made = folder.run(&["synth", "census", "--rows", "15000", "--seed", "1", "-o", "census"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let policy = folder.read("census/policy.toml");
    let attributes = policy[..policy.find("[[rule]]").unwrap()]
        .replace("role = \"plain\", allow-unique = true", "role = \"sensitive\", allow-unique = true");
    let methods = ["full-domain\"\nsuppression = 0.1", "anatomy\"", "clone\"\nmax-epsilon = 1.0"];
    for method in methods {
        let model = if method.starts_with("anatomy") { "frequency-l-diversity" } else { "distinct-l-diversity" };
        let rule = format!("[[rule]]\nprotect = \"income\"\nrequire = {{ model = \"{model}\", l = 2 }}\n");
        folder.write("census/policy.toml", format!("{attributes}{rule}[publish]\nmethod = \"{method}\n"));
        let publish = |mebibytes: u64| {
            let size = format!("{mebibytes}MiB");
            let ran = folder.run(&[
                "publish",
                "census/policy.toml",
                "-o",
                "release",
                "--force",
                "--json",
                "--quiet",
                "--memory",
                &size,
            ]);
            assert!(matches!(ran.code, Some(0 | 2)), "{method} {size}: {ran:?}");
            if ran.code == Some(0) {
                let peak = json(&ran)["memory"]["peak_bytes"].as_u64().unwrap();
                assert!(peak <= mebibytes << 20, "{method} {size}: {peak}");
            }
            ran.code == Some(0)
        };
        // The least that is enough.
        let (mut refused, mut enough) = (1, 256);
        while enough - refused > 1 {
            let middle = u64::midpoint(refused, enough);
            if publish(middle) { enough = middle } else { refused = middle }
        }
        for _ in 0..2 {
            assert!(publish(enough) && publish(enough + 1) && !publish(refused), "{method}: {enough}");
        }
    }
}

/// A refusal states how much memory is enough: with that, the run ends well.
#[test]
fn the_memory_that_a_refusal_asks_for_is_enough() {
    let folder = Folder::new();
    for (rows, methods) in [
        ("300", &["full-domain\"\nsuppression = 0.1", "cluster\"", "clone\"\nmax-epsilon = 1.0"][..]),
        ("4000", &["best-cut\"", "cluster\"", "decompose\""][..]),
        ("20000", &["full-domain\"\nsuppression = 0.1", "mondrian\"", "anatomy\"", "clone\"\nmax-epsilon = 1.0"][..]),
    ] {
        let census = format!("census-{rows}");
        let path = format!("{census}/policy.toml");
        let made = folder.run(&["synth", "census", "--rows", rows, "--seed", "1", "-o", &census]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let policy = folder.read(&path);
        let attributes = policy[..policy.find("[[rule]]").unwrap()]
            .replace("role = \"plain\", allow-unique = true", "role = \"sensitive\", allow-unique = true");
        for method in methods {
            let model = if method.starts_with("anatomy") { "frequency-l-diversity" } else { "distinct-l-diversity" };
            let rule = format!("[[rule]]\nprotect = \"income\"\nrequire = {{ model = \"{model}\", l = 2 }}\n");
            folder.write(&path, format!("{attributes}{rule}[publish]\nmethod = \"{method}\n"));
            let publish =
                |size: &str| folder.run(&["publish", &path, "-o", "release", "--force", "-q", "--memory", size]);
            let number = |text: &str, before: &str| -> u64 {
                let (_, after) = text.split_once(before).unwrap_or_else(|| panic!("{text}"));
                after.split(|next: char| !next.is_ascii_digit()).next().unwrap().parse().unwrap()
            };
            // From next to nothing, and from a little less than what is foreseen.
            let mut limit = 1;
            for _ in 0..2 {
                let refused = publish(&format!("{limit}MiB"));
                assert_eq!(refused.code, Some(2), "{rows} rows, {method}, {limit} MiB: {refused:?}");
                let advised = number(&refused.stderr, "allow at least ");
                let ran = publish(&format!("{advised}MiB"));
                assert_eq!(ran.code, Some(0), "{rows} rows, {method}, {advised} MiB after {limit}: {ran:?}");
                limit = number(&refused.stderr, "the run takes about ") - 1;
            }
        }
    }
}

/// The methods that publish the census, each with its rule.
const METHODS: [(&str, &str); 3] = [
    ("require = { model = \"k-anonymity\", k = 5 }", "method = \"full-domain\"\nsuppression = 0.02"),
    ("require = { model = \"k-anonymity\", k = 5 }", "method = \"mondrian\""),
    ("protect = \"income\"\nrequire = { model = \"frequency-l-diversity\", l = 4 }", "method = \"anatomy\""),
];

#[test]
fn a_million_rows_are_published_from_the_disk_as_they_are_in_memory() {
    let folder = Folder::new();
    let made = folder.run(&["synth", "census", "--rows", "1000000", "--seed", "1", "-o", "census"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let policy = folder.read("census/policy.toml");
    let attributes = &policy[..policy.find("[[rule]]").unwrap()];
    for (rule, method) in METHODS {
        let role =
            if rule.contains("income") { "role = \"sensitive\"" } else { "role = \"plain\", allow-unique = true" };
        let attributes = attributes.replace("role = \"plain\", allow-unique = true", role);
        folder.write("census/policy.toml", format!("{attributes}[[rule]]\n{rule}\n[publish]\n{method}\n"));
        let publish = ["publish", "census/policy.toml", "--json", "--quiet", "--seed", "7", "--force", "-o"];
        let here = json(&folder.run(&[&publish[..], &["here"]].concat()));
        // 64 MiB are enough for an optimized command; the code of this one takes more.
        let there = json(&folder.run(&[&publish[..], &["there", "--memory", "112MiB"]].concat()));
        let memory = |published: &Value, what: &str| published["memory"][what].as_u64().unwrap();
        assert!(memory(&there, "spilled_bytes") > 0 && memory(&here, "spilled_bytes") == 0, "{there}");
        assert!(memory(&there, "peak_bytes") <= 112 << 20, "{there}");
        for what in ["levels", "loss", "classes", "rows"] {
            assert_eq!(here.get(what), there.get(what), "{method}: {what}");
        }
        for file in std::fs::read_dir(folder.path("here")).unwrap() {
            let name = file.unwrap().file_name();
            let [here, there] = ["here", "there"].map(|place| std::fs::read(folder.path(place).join(&name)).unwrap());
            assert!(here == there, "{method}: {} differs", name.display());
        }
    }
}

/// A lattice of millions of nodes is searched within a bound, and says that it was not searched
/// through.
#[test]
fn a_search_over_many_quasi_identifiers_takes_little_memory() {
    let folder = Folder::new();
    let names: Vec<String> = (0..15).map(|number| format!("q{number}")).collect();
    let mut rows = format!("{}\n", names.join(","));
    for row in 0..2000_u64 {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let cells: Vec<String> = (0..15).map(|place| (mixed >> (4 * place) & 15).to_string()).collect();
        rows.push_str(&format!("{}\n", cells.join(",")));
    }
    folder.write("people.csv", rows);
    let quasi = |name: &String| format!("{name} = {{ role = \"quasi\", hierarchy = {{ widths = [2, 4, 8] }} }}\n");
    let attributes: String = names.iter().map(quasi).collect();
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"people.csv\"\n[attributes]\n{attributes}[[rule]]\n\
             require = {{ model = \"k-anonymity\", k = 5 }}\n[publish]\nmethod = \"full-domain\"\nmax-seconds = 5\n"
        ),
    );
    let published = json(&folder.run(&["publish", "policy.toml", "-o", "release", "--json", "-q"]));
    assert_eq!(published["proven"], false, "{published}");
    let peak = published["memory"]["peak_bytes"].as_u64().unwrap();
    assert!(peak < 400 << 20, "{peak}");
}
