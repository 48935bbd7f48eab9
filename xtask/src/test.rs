//! Everything that must pass before a change is accepted, in the order in which failures are
//! cheapest to find. It stops at the first one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::lanes::{self, Tests};
use crate::{repo, tidy};

/// The policy that every release of the command must be able to publish as it stands.
const EXAMPLE: &str = "examples/hospital/policy.toml";

/// A name, and what is run with the file in which skipped tests are noted.
type Step = (&'static str, fn(&Path) -> Result<(), String>);

const STEPS: &[Step] = &[
    ("format", check_format),
    ("tidy", |_| tidy::run()),
    ("build with clippy, warnings denied", build),
    ("tests: unit, integration, transcripts, documentation", run_tests),
    ("example: publish and check", run_example),
    ("experiments: the papers' figures on small data", run_experiments),
];

/// The variable that names the file in which tests note that they were skipped, and why.
const SKIPPED: &str = "HEDGEROW_SKIPPED";

pub(crate) fn run() -> Result<(), String> {
    let start = Instant::now();
    let scratch = Scratch::named("skipped")?;
    let skipped = scratch.path.join("tests");
    run_steps(&skipped)?;
    let skipped = listed(&std::fs::read_to_string(&skipped).unwrap_or_default());
    print!("{skipped}");
    let passed = if skipped.is_empty() { "all passed" } else { "all others passed" };
    println!("== {passed} in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The skipped tests, by reason.
fn listed(notes: &str) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (test, why) in notes.lines().filter_map(|line| line.split_once(": ")) {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, tests)) if tests.contains(&test) => {}
            Some((_, tests)) => tests.push(test),
            None => reasons.push((why, vec![test])),
        }
    }
    let mut text = String::new();
    for (why, mut tests) in reasons {
        tests.sort_unstable();
        let count = tests.len();
        text.push_str(&format!("== skipped, {count} {}: {why}\n", if count == 1 { "test" } else { "tests" }));
        tests.iter().for_each(|test| text.push_str(&format!("   {test}\n")));
    }
    text
}

fn run_steps(skipped: &Path) -> Result<(), String> {
    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("== {} of {}: {name}", index + 1, STEPS.len());
        let step_start = Instant::now();
        step(skipped).map_err(|problem| format!("{name}: {problem}"))?;
        println!("== passed in {:.1} s", step_start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn check_format(_: &Path) -> Result<(), String> {
    has_component("fmt", "rustfmt")?;
    succeed(repo::cargo().args(["fmt", "--all", "--check"]))
        .map_err(|problem| format!("{problem}; `cargo fmt --all` mends it"))
}

/// Compiles everything as the tests will run it, and lints it while it is compiled: `cargo clippy`
/// would check all dependencies first, and then they would be compiled.
fn build(skipped: &Path) -> Result<(), String> {
    has_component("clippy", "clippy")?;
    if !has_protoc() {
        let how = "`protoc` is missing: install protobuf-compiler (Debian), or name it in the variable PROTOC";
        if std::env::var_os("HEDGEROW_CI").is_some() {
            return Err(how.to_owned());
        }
        note_skipped(skipped, &format!("the tests of spark: {how}\n"))?;
    }
    succeed(tests(skipped).args(["--all-targets", "--no-run"]))?;
    // As README starts with it.
    succeed(repo::cargo().args(["check", "--package", "hedgerow-cli", "--no-default-features"]))
}

/// Programs next to each other, and the documentation's examples as one of them.
fn run_tests(skipped: &Path) -> Result<(), String> {
    let listing = tests(skipped).args(["--no-run", "--message-format=json"]).stderr(Stdio::inherit()).output();
    let listing = listing.map_err(|cause| format!("cargo could not be started: {cause}"))?;
    if !listing.status.success() {
        return Err(format!("the tests were not built: {}", listing.status));
    }
    let mut all = Tests::listed(&String::from_utf8_lossy(&listing.stdout), (SKIPPED, skipped))?;
    let mut documentation = tests(skipped);
    all.push(Tests::of_command("documentation", documentation.args(["--doc", "--no-fail-fast"])));
    let failed = lanes::run(all, &target())?;
    for name in &failed.beside_others {
        println!("== {name}: failed beside others and passed alone");
    }
    if failed.alone.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.alone.join(", "))) }
}

/// All crates, compiled through clippy as `cargo clippy -- -D warnings` does. Without `protoc` the
/// client of Spark cannot be built.
fn tests(skipped: &Path) -> Command {
    let mut command = repo::cargo();
    command.args(["test", "--workspace"]).env(SKIPPED, skipped);
    if !has_protoc() {
        command.args(["--exclude", "hedgerow-spark"]);
    }
    command
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    command
}

fn has_protoc() -> bool {
    let protoc = std::env::var_os("PROTOC").unwrap_or_else(|| "protoc".into());
    Command::new(protoc).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Adds a line to what is printed at the end.
fn note_skipped(skipped: &Path, note: &str) -> Result<(), String> {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().append(true).create(true).open(skipped);
    file.and_then(|mut file| file.write_all(note.as_bytes())).map_err(|cause| cause.to_string())
}

/// Publishes the example into a folder of its own, has the release checked, and leaves nothing
/// behind.
fn run_example(_: &Path) -> Result<(), String> {
    if !repo::root().join(EXAMPLE).is_file() {
        return Err(format!("{EXAMPLE} is missing"));
    }
    let scratch = Scratch::new()?;
    let release = scratch.path.join("release");
    succeed(hedgerow().args(["publish", EXAMPLE, "--no-progress", "-o"]).arg(&release))?;
    is_release(&release)?;
    succeed(hedgerow().arg("check").arg(&release))
}

/// Computes the papers' figures again; a claim that comes out otherwise than stated is a failure.
/// Its output is not kept.
fn run_experiments(_: &Path) -> Result<(), String> {
    let scratch = Scratch::new()?;
    succeed(built("experiments").args(["all", "--quick", "--output"]).arg(&scratch.path))
}

fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    repo::root().join(named.unwrap_or_else(|| "target".into()))
}

fn hedgerow() -> Command {
    built("hedgerow")
}

/// A program as the tests have just built it. Cargo would choose other features for one package
/// alone than for the workspace, and build all of it again.
fn built(program: &str) -> Command {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let mut command = Command::new(target().join("debug").join(name));
    command.current_dir(repo::root());
    command
}

/// A command that does nothing and says it is done must not pass for one that published.
fn is_release(folder: &Path) -> Result<(), String> {
    for name in ["datapackage.json", "codebook.csv"] {
        let length = std::fs::metadata(folder.join(name)).map_or(0, |metadata| metadata.len());
        if length == 0 {
            return Err(format!("the release of {EXAMPLE} has no {name}"));
        }
    }
    Ok(())
}

fn has_component(subcommand: &str, component: &str) -> Result<(), String> {
    let output = repo::cargo().args([subcommand, "--version"]).output();
    if output.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    Err(format!("`cargo {subcommand}` is not installed; `rustup component add {component}` installs it"))
}

/// Runs to the end with the output going where ours goes.
fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|cause| format!("{command:?} could not be started: {cause}"))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
}

fn shown(command: &Command) -> String {
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy();
    format!("`{program} {}`", arguments.join(" "))
}

/// A folder that is removed whatever happens.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Result<Scratch, String> {
        Scratch::named("example")
    }

    fn named(name: &str) -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("hedgerow-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of temporary folders.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named_with_its_arguments() {
        let problem = succeed(repo::cargo().arg("--no-such-option").stderr(std::process::Stdio::null())).unwrap_err();
        assert!(problem.starts_with("`cargo --no-such-option` ended with"), "{problem}");
    }

    #[test]
    fn skipped_tests_are_listed_under_their_reason() {
        assert_eq!(listed(""), "");
        let notes = "it::b: no server; install it\nit::c: no browser\nit::a: no server; install it\nit::a: no server; install it\n";
        let expected = "== skipped, 2 tests: no server; install it\n   it::a\n   it::b\n== skipped, 1 test: no browser\n   it::c\n";
        assert_eq!(listed(notes), expected);
    }

    #[test]
    fn an_empty_folder_is_not_a_release_and_scratch_is_removed() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path.clone();
        assert!(is_release(&path).unwrap_err().contains("datapackage.json"));
        std::fs::write(path.join("datapackage.json"), "{}").unwrap();
        assert!(is_release(&path).unwrap_err().contains("codebook.csv"));
        std::fs::write(path.join("codebook.csv"), "attribute\n").unwrap();
        is_release(&path).unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
