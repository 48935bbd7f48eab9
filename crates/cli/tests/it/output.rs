//! Standard output and standard error: readers that go away, full devices, quietness, and that JSON
//! is all there is.

use std::fs::File;
use std::process::Stdio;

use serde_json::Value;

use crate::running::{Folder, Ran};

/// Runs with a standard output whose reader is closed; with `both`, also that of standard error.
fn unread(folder: &Folder, arguments: &[&str], both: bool) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = folder.command(arguments);
    command.stdout(writer.try_clone().unwrap());
    if both {
        command.stderr(writer);
        return command.status().unwrap().code();
    }
    let ran = Ran::of(command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap());
    let warned = ran.stderr.lines().all(|line| line.starts_with("warning: with --seed"));
    assert!(warned, "{arguments:?} reports the closed output: {}", ran.stderr);
    ran.code
}

#[test]
fn a_closed_output_does_not_panic() {
    let folder = Folder::with_release("release");
    let runs: &[&[&str]] = &[
        &["publish", "policy.toml", "-o", "again", "--seed", "1"],
        &["check", "release"],
        &["measure", "release", "--policy", "policy.toml"],
        &["synth", "census", "--rows", "20000"],
        &["completions", "bash"],
    ];
    for arguments in runs {
        assert_eq!(unread(&folder, arguments, false), Some(1), "{arguments:?}");
    }
    // Without a reader of standard error, an error keeps its exit code.
    assert_eq!(unread(&folder, &["publish", "nothing.toml", "-o", "other"], true), Some(2));
    assert_eq!(unread(&folder, &["publish", "policy.toml", "-o", "third", "--seed", "1"], true), Some(1));
    // The release itself was in place before it was reported.
    for release in ["again", "third"] {
        assert_eq!(folder.run(&["check", release]).code, Some(0));
    }
    assert_eq!(unread(&folder, &["--help"], true), Some(0));
}

#[test]
fn a_full_device_is_reported() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let folder = Folder::with_release("release");
    let output = folder.command(&["check", "release"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    let ran = Ran::of(output);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: standard output: "), "{ran:?}");
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let folder = Folder::with_people();
    let publish =
        ["publish", "policy.toml", "-o", "release", "--json", "--explain", "--candidates", "-v", "--seed", "1"];
    let verbs: &[(&[&str], &[&str])] = &[
        (
            &publish,
            &[
                "release",
                "rows",
                "classes",
                "guarantees",
                "levels",
                "candidates",
                "loss",
                "seconds",
                "proven",
                "explain",
            ],
        ),
        (&["check", "release", "--json"], &["guarantees", "holds"]),
        (&["measure", "release", "--policy", "policy.toml", "--json"], &["rows", "loss", "classes", "risk", "queries"]),
        (&["synth", "census", "--rows", "5", "-o", "census", "--json"], &["directory", "rows"]),
    ];
    for (arguments, keys) in verbs {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        for key in *keys {
            assert!(object.get(key).is_some(), "{arguments:?} has no {key}: {object}");
        }
    }
    assert_eq!(folder.run(&["synth", "census", "--rows", "5", "--json"]).code, Some(2));
}

#[test]
fn quiet_says_nothing_and_the_exit_code_all() {
    let folder = Folder::with_people();
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let ran = folder.run(&["check", "release", "-q"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let ran = folder.run(&["check", "--policy", "policy.toml", "people.csv", "-q"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(4), "", ""));
}

#[test]
fn the_same_whatever_the_number_of_threads() {
    let folder = Folder::with_people();
    for threads in ["1", "2", "7"] {
        let ran = folder.run(&["publish", "policy.toml", "-o", threads, "--seed", "5", "--threads", threads]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for file in ["data.csv", "codebook.csv", "datapackage.json"] {
            assert_eq!(folder.read(&format!("{threads}/{file}")), folder.read(&format!("1/{file}")), "{file}");
        }
    }
}
