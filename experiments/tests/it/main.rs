//! The program as people run it: what it lists, what it writes, and how it ends.

use std::path::Path;
use std::process::{Command, Output};

fn experiments(arguments: &[&str], output: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_experiments"));
    command.args(arguments).arg("--output").arg(output).output().unwrap()
}

#[test]
fn every_figure_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let listed = experiments(&["list"], folder.path());
    assert!(listed.status.success());
    let text = String::from_utf8(listed.stdout).unwrap();
    for shown in [
        "experiment A",
        "experiment D",
        "figure 1\n",
        "examples 1 to 3",
        "figure 6",
        "figures 4 to 6",
        "figures 15 and 16",
    ] {
        assert!(text.contains(shown), "{shown} is missing from\n{text}");
    }
}

#[test]
fn one_experiment_prints_its_table_and_writes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let run = experiments(&["proximity-examples", "--quick"], folder.path());
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{text}");
    assert!(text.contains("\"{40, 60}\",15,2,1,1,1\n"), "{text}");
    assert!(text.contains("verdict: does not hold: "), "figure 3 is not definition 5:\n{text}");
    let svg = std::fs::read_to_string(folder.path().join("proximity-examples.svg")).unwrap();
    assert!(svg.starts_with("<svg"));
    let csv = std::fs::read_to_string(folder.path().join("proximity-examples.csv")).unwrap();
    assert!(text.contains(&csv) && csv.lines().count() == 11);
    assert!(!folder.path().join("EXPERIMENTS.md").exists(), "only a run of all is a record");
}

#[test]
fn what_is_not_understood_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = experiments(&["no-such-figure"], folder.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().starts_with("usage:"));
}
