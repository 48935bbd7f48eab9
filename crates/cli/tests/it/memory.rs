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
