//! The speed and the memory of a release build of the studio, on request.
//!
//! ```text
//! cargo build --release -p hedgerow-cli
//! cargo test --release -p hedgerow-studio -- --ignored --nocapture speed
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::{PROGRAM, Session, Studio};

/// The command, where it was built beside the studio.
fn command() -> Option<PathBuf> {
    let beside = Path::new(PROGRAM).with_file_name("hedgerow");
    beside.is_file().then_some(beside)
}

fn peak_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs the command and returns the most memory that it took.
fn run(command: &Path, folder: &Path, arguments: &[&str]) -> u64 {
    let mut child =
        Command::new(command).current_dir(folder).args(arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    loop {
        peak = std::fs::read_to_string(format!("/proc/{}/status", child.id()))
            .ok()
            .and_then(|status| {
                status.lines().find(|line| line.starts_with("VmHWM"))?.split_whitespace().nth(1)?.parse().ok()
            })
            .unwrap_or(0)
            .max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The slowest of five.
fn slowest(what: &str, click: impl Fn()) -> f64 {
    let times = (0..5).map(|_| {
        let started = Instant::now();
        click();
        started.elapsed().as_secs_f64() * 1e3
    });
    let slowest = times.fold(0.0, f64::max);
    println!("{what:<44} {slowest:7.1} ms");
    slowest
}

fn synthetic(folder: &Path, rows: &str) -> PathBuf {
    let command = command().expect("cargo build --release -p hedgerow-cli");
    run(&command, folder, &["synth", "census", "--rows", rows, "--seed", "1", "-o", "census.csv"]);
    command
}

#[test]
#[ignore = "needs a release build: cargo build --release -p hedgerow-cli && cargo test --release -p hedgerow-studio -- --ignored speed"]
fn speed_of_the_first_picture() {
    // As large as Adult: 30,162 rows.
    let folder = tempfile::tempdir().unwrap();
    synthetic(folder.path(), "30162");
    let started = Instant::now();
    let studio = Studio::start(folder.path(), &["census.csv"]);
    let session = studio.enter();
    while !studio.get(&session, "/data").body.contains("Histogram of") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("start to the first histogram: {seconds:.2} s");
    assert!(seconds < 1.0, "{seconds}");
}

#[test]
#[ignore = "needs a release build: cargo build --release -p hedgerow-cli && cargo test --release -p hedgerow-studio -- --ignored speed"]
fn speed_with_a_million_rows() {
    let folder = tempfile::tempdir().unwrap();
    let command = synthetic(folder.path(), "1000000");
    run(&command, folder.path(), &["init", "census.csv", "-o", "policy.toml"]);
    let of_command = run(&command, folder.path(), &["publish", "policy.toml", "-o", "by-command"]);
    let studio = Studio::start(folder.path(), &["policy.toml"]);
    let session = studio.enter();
    let started = Instant::now();
    studio.settled(&session, "/data");
    println!("a million rows are read and profiled in {:.1} s", started.elapsed().as_secs_f64());
    let mut times = clicks(&studio, &session);
    work(&studio, &session, "publishing", "/publish/run", "destination=release");
    let of_studio = peak_kib(studio.process());
    println!("memory: {} MiB, the command {} MiB", of_studio >> 10, of_command >> 10);
    work(&studio, &session, "exploring", "/explore/run", "");
    work(&studio, &session, "measuring", "/utility/measure", "");
    work(&studio, &session, "counting sets of columns", "/data/sets", "");
    println!("after all of that:");
    times.extend(clicks(&studio, &session));
    assert!(times.iter().all(|time| *time < 100.0), "{times:?}");
    assert!(of_studio as f64 <= 1.5 * of_command as f64, "{of_studio} KiB against {of_command} KiB");
}

/// Every page, and a change on each.
fn clicks(studio: &Studio, session: &Session) -> Vec<f64> {
    let pages = ["data", "hierarchies", "rules", "publish", "explore", "utility", "community", "export"];
    let mut times: Vec<f64> =
        pages.iter().map(|page| slowest(page, || drop(studio.get(session, &format!("/{page}"))))).collect();
    let posts = [
        ("/data/role", "name=sex&role=plain"),
        ("/data/role", "name=sex&role=quasi"),
        ("/rules/set", "rule=0&place=0&key=k&value=6"),
        ("/publish/suppression", "value=3"),
        ("/hierarchies/widths", "attribute=age&widths=5,10,20"),
        ("/hierarchies/cuts", "attribute=age&cuts=30:1,60:2"),
        ("/undo", "page=hierarchies"),
    ];
    times.extend(
        posts.iter().map(|(path, form)| slowest(&format!("{path} {form}"), || drop(studio.post(session, path, form)))),
    );
    times
}

/// Work that takes long answers at once, with how far it is.
fn work(studio: &Studio, session: &Session, what: &str, path: &str, form: &str) {
    let started = Instant::now();
    let reply = studio.post(session, path, form);
    let answered = started.elapsed().as_secs_f64() * 1e3;
    assert!(reply.body.contains("id=\"cancel-job\"") || answered < 200.0, "{}", reply.body);
    let page = reply.body.split("data-page=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    studio.settled(session, &format!("/{page}"));
    println!("{what}: answered in {answered:.0} ms, done in {:.1} s", started.elapsed().as_secs_f64());
    assert!(answered < 200.0, "{what}: {answered} ms");
}
