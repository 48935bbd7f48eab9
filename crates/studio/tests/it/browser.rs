//! The studio in Chromium, driven by Playwright: the scenarios are in `tests/browser/studio.py`.
//!
//! `HEDGEROW_PYTHON` names a Python with the package `playwright`, `HEDGEROW_AXE` the file of
//! axe-core, `HEDGEROW_CHROMIUM` the browser where it is not on the PATH. `HEDGEROW_SHOTS` names a
//! folder for screenshots. Without one of the first three the test is skipped, unless `HEDGEROW_CI`
//! is set.

use std::path::{Path, PathBuf};
use std::process::Command;

fn skip(why: &str) {
    assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{why}");
    eprintln!("skipped: {why}");
}

fn chromium() -> Option<String> {
    let named = std::env::var("HEDGEROW_CHROMIUM").ok();
    let names = named.into_iter().chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    let found = |name: String| {
        let beside = folders.iter().map(|folder| folder.join(&name));
        beside.chain([PathBuf::from(&name)]).find(|path| path.is_absolute() && path.is_file())
    };
    names.filter_map(found).next().map(|path| path.display().to_string())
}

#[test]
fn the_whole_way_in_a_browser() {
    let Some(browser) = chromium() else { return skip("Chromium is not installed (apt-get install chromium)") };
    let python = std::env::var("HEDGEROW_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_playwright = Command::new(&python).args(["-c", "import playwright"]).output();
    if !has_playwright.is_ok_and(|output| output.status.success()) {
        return skip(
            "the package playwright is missing (pip install playwright), or HEDGEROW_PYTHON names no Python with it",
        );
    }
    let axe = std::env::var("HEDGEROW_AXE").unwrap_or_default();
    if !Path::new(&axe).is_file() {
        return skip("axe-core is missing (npm install axe-core), or HEDGEROW_AXE does not name its axe.min.js");
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(python);
    command.arg(here.join("tests/browser/studio.py")).arg(crate::client::program());
    command.arg(here.join("../../examples")).arg(browser).arg(axe);
    command.args(std::env::var_os("HEDGEROW_SHOTS"));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    println!("{text}");
}
