//! The output of every verb, as a user would see it. `TRYCMD=overwrite` writes what is printed now
//! into the transcripts.

use std::path::Path;
use std::time::Duration;

use crate::running::{example, scratch};

#[test]
fn transcripts() {
    let folder = scratch();
    copy(&example("hospital"), &folder.path().join("examples/hospital"));
    copy(&example("departments"), &folder.path().join("examples/departments"));
    copy(&example("three-hospitals"), &folder.path().join("examples/three-hospitals"));
    copy(&example("six-patients"), &folder.path().join("examples/six-patients"));
    copy(&example("salaries"), &folder.path().join("examples/salaries"));
    copy(&example("returning-patients"), &folder.path().join("examples/returning-patients"));
    copy(&example("households"), &folder.path().join("examples/households"));
    let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    // The commands run where we are, so that they can be typed as shown.
    std::env::set_current_dir(folder.path()).unwrap();
    let cases = trycmd::TestCases::new();
    cases.register_bin("hedgerow", Path::new(env!("CARGO_BIN_EXE_hedgerow")));
    cases.env("COLUMNS", "100").timeout(Duration::from_secs(30)).case(transcripts.join("*.md"));
    // The guides are transcripts too: what they show is what is printed.
    cases.case(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/*.md"));
    cases.run();
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
