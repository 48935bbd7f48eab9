//! `hedgerow explore` and `publish --levels`: what is listed can be published, and nothing else.

use serde_json::Value;

use crate::running::{Folder, example};

fn explored(folder: &Folder, policy: &str) -> Value {
    let ran = folder.run(&["explore", policy, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn levels_of(node: &Value) -> String {
    let levels = node["levels"].as_object().unwrap().iter();
    levels.map(|(name, level)| format!("{name}={level}")).collect::<Vec<_>>().join(",")
}

#[test]
fn every_listed_node_can_be_published_with_its_numbers_and_no_other() {
    let folder = Folder::with_people();
    let found = explored(&folder, "policy.toml");
    let holding = found["holding"].as_array().unwrap();
    let listed: Vec<String> = holding.iter().map(levels_of).collect();
    let tops: Vec<(String, u64)> = (found["attributes"].as_array().unwrap().iter())
        .map(|attribute| (attribute["name"].as_str().unwrap().to_owned(), attribute["top"].as_u64().unwrap()))
        .collect();
    let mut nodes = vec![String::new()];
    for (name, top) in &tops {
        nodes = nodes.iter().flat_map(|node| (0..=*top).map(move |level| format!("{node},{name}={level}"))).collect();
    }
    assert_eq!(found["nodes"].as_u64(), Some(nodes.len() as u64));
    for node in nodes.iter().map(|node| node.trim_start_matches(',')) {
        let ran = folder.run(&["publish", "policy.toml", "-o", "out", "--force", "--levels", node, "--json"]);
        match listed.iter().position(|other| other == node) {
            Some(index) => {
                assert_eq!(ran.code, Some(0), "{node}: {ran:?}");
                let published: Value = serde_json::from_str(&ran.stdout).unwrap();
                for key in ["levels", "loss", "classes"] {
                    assert_eq!(published[key], holding[index][key], "{node}: {key}");
                }
                assert_eq!(published["rows"]["suppressed"], holding[index]["suppressed"], "{node}");
                assert_eq!(folder.run(&["check", "out"]).code, Some(0), "{node}");
            }
            None => {
                assert_eq!(ran.code, Some(3), "{node}: {ran:?}");
                assert!(ran.stderr.contains("does not hold at the levels"), "{ran:?}");
            }
        }
    }
    let searched = folder.run(&["publish", "policy.toml", "-o", "best", "--json"]);
    let searched: Value = serde_json::from_str(&searched.stdout).unwrap();
    assert_eq!(searched["levels"], holding[0]["levels"], "the first is the one that the search finds");
}

#[test]
fn levels_that_are_not_named_are_searched() {
    let folder = Folder::with_people();
    let found = explored(&folder, "policy.toml");
    let with_top = found["holding"].as_array().unwrap().iter().find(|node| node["levels"]["city"] == 2).unwrap();
    let ran = folder.run(&["publish", "policy.toml", "-o", "out", "--levels", "city=2", "--json"]);
    let published: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(published["levels"], with_top["levels"]);
    let text = folder.run(&["publish", "policy.toml", "-o", "out", "--force", "--levels", "city=2"]);
    assert!(text.stdout.contains("at the levels requested") && !text.stderr.contains("may lose less"), "{text:?}");
}

#[test]
fn wrong_levels_are_refused_with_what_there_is() {
    let folder = Folder::with_people();
    for (levels, said) in [
        ("town=1", "the quasi-identifiers are: age, city"),
        ("city=9", "run from 0 (the value) to 2"),
        ("city=1,city=2", "given twice"),
        ("city", "expected attribute=level"),
        ("city=x", "whole number"),
    ] {
        let ran = folder.run(&["publish", "policy.toml", "-o", "out", "--levels", levels]);
        assert_eq!(ran.code, Some(2), "{levels}: {ran:?}");
        assert!(ran.stderr.contains(said), "{levels}: {ran:?}");
        assert!(!folder.path("out").exists(), "{levels}");
    }
    let local = example("hospital/policy-local.toml");
    let local = local.to_str().unwrap();
    for arguments in [&["publish", local, "-o", "out", "--levels", "age=1"][..], &["explore", local]] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("has no lattice of levels"), "{ran:?}");
    }
}

#[test]
fn the_table_and_the_picture_have_every_node() {
    let folder = Folder::with_people();
    let found = explored(&folder, "policy.toml");
    let csv = folder.run(&["explore", "policy.toml", "--csv"]).stdout;
    assert!(csv.starts_with("age,city,ncp,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + found["holding"].as_array().unwrap().len());
    let svg = folder.run(&["explore", "policy.toml", "--svg"]).stdout;
    assert_eq!(svg.matches("<circle").count() as u64, 3 + found["nodes"].as_u64().unwrap(), "and three in the key");
}
