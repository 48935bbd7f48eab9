//! Descriptions of a release for other programs: the data package by the Frictionless tools, and
//! DCAT and CSVW on request.

use std::path::Path;
use std::process::Command;

use crate::running::{Folder, example};

#[test]
fn descriptions_are_written_on_request_and_compared_with_the_manifest() {
    let folder = Folder::with_people();
    let ran = folder.run(&["publish", "policy.toml", "-o", "out", "--metadata", "dcat,csvw"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(folder.run(&["check", "out"]).code, Some(0));
    for name in ["dcat.jsonld", "csv-metadata.json"] {
        let text = folder.read(&format!("out/{name}"));
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        folder.write(&format!("out/{name}"), text.replace("illness", "Ann"));
        let ran = folder.run(&["check", "out"]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(name), "{ran:?}");
        folder.write(&format!("out/{name}"), text);
    }
    assert_eq!(folder.run(&["check", "out"]).code, Some(0));
    // They belong to the release: replacing it replaces them.
    let again = folder.run(&["publish", "policy.toml", "-o", "out", "--force"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(!folder.path("out/dcat.jsonld").exists());
}

/// Without the tools a test is skipped; where everything must be tested, that is a failure.
pub(crate) fn skip(what: &str) {
    assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{what}: it must be here when HEDGEROW_CI is set");
    eprintln!("skipped: {what}");
    note_skipped(what);
}

/// `cargo xtask test` names a file in which tests note that they were skipped, and why: what they
/// print is seen only where they fail.
pub(crate) fn note_skipped(why: &str) {
    use std::io::Write;
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else { return };
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
}

#[test]
fn the_data_package_is_valid_for_the_frictionless_tools() {
    let tool = std::env::var("HEDGEROW_FRICTIONLESS").unwrap_or_else(|_| "frictionless".to_owned());
    if !Command::new(&tool).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skip(
            "`frictionless` is not installed (pip install frictionless), or HEDGEROW_FRICTIONLESS names no program",
        );
    }
    let folder = Folder::new();
    for (policy, name) in [
        ("hospital/policy.toml", "generalized"),
        ("hospital/policy-local.toml", "local"),
        ("hospital/anatomy.toml", "bucketized"),
        ("six-patients/decompose.toml", "decomposed"),
        ("salaries/near.toml", "numbers"),
        ("three-hospitals/clone-1.toml", "cloned"),
    ] {
        let policy = example(policy);
        let ran = folder.run(&["publish", policy.to_str().unwrap(), "-o", name]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        validate(&tool, &folder.path(name), name);
    }
}

fn validate(tool: &str, release: &Path, name: &str) {
    let output = Command::new(tool).args(["validate", "datapackage.json"]).current_dir(release).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {said}");
}
