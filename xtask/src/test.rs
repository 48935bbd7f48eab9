//! Everything that must pass before a change is accepted, in the order in which failures are
//! cheapest to find. It stops at the first one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::{repo, tidy};

/// The policy that every release of the command must be able to publish as it stands.
const EXAMPLE: &str = "examples/hospital/policy.toml";

type Step = (&'static str, fn() -> Result<(), String>);

const STEPS: &[Step] = &[
    ("format", check_format),
    ("clippy, warnings denied", check_lints),
    ("tidy", tidy::run),
    ("tests: unit, integration, transcripts, documentation", run_tests),
    ("example: publish and check", run_example),
    ("experiments: the papers' figures on small data", run_experiments),
    ("spark: clippy, tests with real servers", run_spark),
];

pub(crate) fn run() -> Result<(), String> {
    let start = Instant::now();
    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("== {} of {}: {name}", index + 1, STEPS.len());
        let step_start = Instant::now();
        step().map_err(|problem| format!("{name}: {problem}"))?;
        println!("== passed in {:.1} s", step_start.elapsed().as_secs_f64());
    }
    println!("== all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn check_format() -> Result<(), String> {
    has_component("fmt", "rustfmt")?;
    succeed(repo::cargo().args(["fmt", "--all", "--check"]))
        .map_err(|problem| format!("{problem}; `cargo fmt --all` mends it"))
}

fn check_lints() -> Result<(), String> {
    has_component("clippy", "clippy")?;
    succeed(repo::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn run_tests() -> Result<(), String> {
    succeed(repo::cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

/// Publishes the example into a folder of its own, has the release checked, and leaves nothing
/// behind.
fn run_example() -> Result<(), String> {
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
/// What it writes is not kept.
fn run_experiments() -> Result<(), String> {
    let scratch = Scratch::new()?;
    succeed(built("experiments").args(["all", "--quick", "--output"]).arg(&scratch.path))
}

/// The crate with a workspace of its own. Without `protoc` its client cannot be built; then it is
/// skipped, unless this is the run that decides.
fn run_spark() -> Result<(), String> {
    let protoc = std::env::var_os("PROTOC").unwrap_or_else(|| "protoc".into());
    let found = Command::new(protoc).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        let how = "`protoc` is missing: install protobuf-compiler (Debian), or name it in the variable PROTOC";
        if std::env::var_os("HEDGEROW_CI").is_some() {
            return Err(how.to_owned());
        }
        println!("skipped: {how}");
        return Ok(());
    }
    let manifest = ["--manifest-path", "spark/Cargo.toml"];
    // One target directory for both workspaces, so that shared dependencies are compiled once.
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| repo::root().join("target").into());
    let cargo = |verb: &str| {
        let mut command = repo::cargo();
        command.env("CARGO_TARGET_DIR", &target).arg(verb).args(manifest);
        command
    };
    succeed(cargo("fmt").arg("--check"))?;
    succeed(cargo("clippy").args(["--all-targets", "--locked", "--", "-D", "warnings"]))?;
    succeed(cargo("test").arg("--locked"))
}

fn hedgerow() -> Command {
    built("hedgerow")
}

/// A program as the tests have just built it. Cargo would choose other features for one package
/// alone than for the workspace, and build all of it again.
fn built(program: &str) -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let mut command = Command::new(repo::root().join(target).join("debug").join(name));
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
        let path = std::env::temp_dir().join(format!("hedgerow-example-{}", std::process::id()));
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
    fn an_empty_folder_is_no_release_and_scratch_is_removed() {
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
