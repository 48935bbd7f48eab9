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
fn a_run_that_takes_more_than_its_limit_stops_and_leaves_nothing() {
    let folder = Folder::of_example("hospital");
    let made = folder.run(&["synth", "census", "--rows", "200000", "--seed", "1", "-o", "census"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let before = folder.names();
    let ran = folder.run(&["publish", "census/policy.toml", "-o", "release", "--memory", "1MiB"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("more memory than --memory allows: nothing was written"), "{ran:?}");
    assert_eq!(folder.names(), before);
    let ran = folder.run(&["publish", "census/policy.toml", "-o", "release", "--memory", "64GiB", "--threads", "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = folder.run(&["check", "release", "--memory", "much"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("expected a size such as 64MiB or 2GiB"), "{ran:?}");
}

/// What the census is published by, and under which rule.
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
        let there = json(&folder.run(&[&publish[..], &["there", "--memory", "72MiB"]].concat()));
        let memory = |published: &Value, what: &str| published["memory"][what].as_u64().unwrap();
        assert!(memory(&there, "spilled_bytes") > 0 && memory(&here, "spilled_bytes") == 0, "{there}");
        // The limit is looked at again and again, not all the time.
        assert!(memory(&there, "peak_bytes") < 74 << 20, "{there}");
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
