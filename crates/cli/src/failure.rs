//! How a command fails: what is printed on standard error, and with which exit code.

use std::io::Write;
use std::process::ExitCode;

use hedgerow::{Error, ErrorKind, Problem, Refusal};

use crate::memory;
use crate::text::AuditText;

pub(crate) const BREACH: u8 = 4;
pub(crate) const UNSATISFIABLE: u8 = 3;
pub(crate) const USAGE: u8 = 2;
pub(crate) const FAILED: u8 = 1;

/// A line on standard error. Unlike `eprintln!` it does not panic when standard error is closed.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[derive(Debug)]
pub(crate) enum Failure {
    Hedgerow(Error),
    /// An argument that only this command can judge.
    Usage {
        place: String,
        problem: String,
        hint: String,
    },
    /// Standard output was closed or full.
    Output(std::io::Error),
    Panicked,
}

impl Failure {
    pub(crate) fn usage(place: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Usage { place: place.into(), problem: problem.into(), hint: hint.into() }
    }

    /// Whether what was given cannot be used: the user can give something else.
    pub(crate) fn is_of_arguments(&self) -> bool {
        match self {
            Failure::Hedgerow(error) => error.exit_code() == USAGE || error.kind() == ErrorKind::Io,
            Failure::Usage { .. } => true,
            Failure::Output(_) | Failure::Panicked => false,
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Hedgerow(error) if error.kind() == ErrorKind::Canceled && memory::is_exceeded() => {
                let problem = "the run takes more memory than --memory allows: nothing was written";
                let hint = "allow more with --memory, read fewer columns, or divide the data into parts";
                (format!("error: {problem}\nhint: {hint}"), FAILED)
            }
            Failure::Hedgerow(error) => (shown(&error), error.exit_code()),
            Failure::Usage { place, problem, hint } => (format!("error: {place}: {problem}\nhint: {hint}"), USAGE),
            // The reader of the output is gone, so there is nothing to report to.
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::from(FAILED),
            Failure::Output(error) => (format!("error: standard output: {error}"), FAILED),
            Failure::Panicked => return ExitCode::from(FAILED),
        };
        say(&message);
        ExitCode::from(code)
    }
}

/// An error as it is printed: each problem, with hints that name this command's flags.
fn shown(error: &Error) -> String {
    if let Some(audited) = error.audited() {
        // Larger classes do not help against what the catalog holds already.
        let repair = if error.is_repairable() { "; --repair looks for the nearest release that passes" } else { "" };
        return format!("error: {}\n{}hint: {}{repair}", error.problem(), AuditText(audited), error.hint());
    }
    if !error.reasons().is_empty() {
        return format!("error: {error}");
    }
    let problems: Vec<String> =
        error.problems().iter().map(|problem| format!("error: {}", with_flags(problem.clone()))).collect();
    problems.join("\n\n")
}

/// The library's hints name no flags; these are the ones that do what it advises.
fn with_flags(mut problem: Problem) -> Problem {
    let hint = match problem.refusal {
        Some(Refusal::FileExists) => "name a policy in another folder with -o, or add --force to replace it",
        Some(Refusal::ReleaseExists) => "name another directory with -o, or add --force to replace a release",
        Some(Refusal::NotARelease) => "--force replaces only a release or an empty directory; name another with -o",
        Some(Refusal::NotADirectoryName) => "name a new directory, such as `-o release`",
        _ => return problem,
    };
    problem.hint = hint.to_owned();
    problem
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Hedgerow(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error)
    }
}
