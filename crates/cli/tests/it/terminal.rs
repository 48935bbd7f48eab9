//! The display on a terminal: bars while something takes longer than a second.
//!
//! The terminal is made by `script`; where there is none of the usual kind, nothing can be seen and
//! the test says so.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::running::Folder;

/// The output of a command on a terminal of a hundred columns, and how long it took; `None` without
/// a `script`.
fn on_a_terminal(folder: &Folder, arguments: &str) -> Option<(String, Duration)> {
    let line = format!("stty cols 100 rows 30; {:?} {arguments}", env!("CARGO_BIN_EXE_hedgerow"));
    let started = Instant::now();
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm")
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), started.elapsed()))
}

#[test]
fn bars_are_drawn_on_a_terminal_unless_they_are_not_wanted() {
    let folder = Folder::new();
    if on_a_terminal(&folder, "--version").is_none_or(|(shown, _)| !shown.contains("hedgerow")) {
        eprintln!("not tested: `script` makes no terminal here");
        return;
    }
    // Machines differ: the table grows until it takes its time.
    for rows in ["400000", "1600000", "6400000"] {
        let census = format!("census-{rows}");
        let made = folder.run(&["synth", "census", "--rows", rows, "--seed", "1", "-o", &census]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let publish = |more: &str| {
            on_a_terminal(&folder, &format!("publish {census}/policy.toml --threads 1 --force -o release {more}"))
        };
        let (shown, took) = publish("").expect("it made one before");
        assert!(shown.contains("guarantees, recomputed"), "{shown}");
        if took < Duration::from_secs(2) {
            continue;
        }
        assert!(shown.contains('█') && shown.contains('%'), "no bar in {took:?}: {shown}");
        assert!(["searching", "proving", "write", "read"].iter().any(|stage| shown.contains(stage)), "{shown}");
        let (plain, _) = publish("--no-progress").expect("it made one before");
        assert!(!plain.contains('█') && plain.contains("guarantees, recomputed"), "{plain}");
        return;
    }
    panic!("nothing took longer than two seconds");
}
