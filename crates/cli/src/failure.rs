//! How a command fails: what is printed on standard error, and with which exit code.

use std::io::Write;
use std::process::ExitCode;

use hedgerow::{Error, Problem};

use crate::memory;
use crate::text::AuditText;

pub(crate) const BREACH: u8 = 4;
pub(crate) const UNSATISFIABLE: u8 = 3;
const USAGE: u8 = 2;
pub(crate) const FAILED: u8 = 1;

/// A line on standard error. Unlike `eprintln!` it does not panic when nobody reads it any more.
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

    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Hedgerow(Error::Policy(problems)) => {
                let shown: Vec<String> = problems.iter().map(|problem| format!("error: {problem}")).collect();
                (shown.join("\n\n"), USAGE)
            }
            Failure::Hedgerow(Error::Input(problem)) => (format!("error: {}", with_flags(problem)), USAGE),
            Failure::Hedgerow(Error::Audit { audited, hint }) => {
                let problem = "combined with the catalog, this release breaks the policy";
                (format!("error: {problem}\n{}hint: {hint}", AuditText(&audited)), BREACH)
            }
            Failure::Hedgerow(Error::Canceled) if memory::is_exceeded() => {
                let hint = "allow more with --memory, read fewer columns, or divide the data into parts";
                (
                    format!("error: the run takes more memory than --memory allows: nothing was written\nhint: {hint}"),
                    FAILED,
                )
            }
            Failure::Hedgerow(error) => {
                let code = match &error {
                    Error::Unsatisfiable(_) => UNSATISFIABLE,
                    Error::Disclosure(_) => BREACH,
                    _ => FAILED,
                };
                (format!("error: {error}"), code)
            }
            Failure::Usage { place, problem, hint } => (format!("error: {place}: {problem}\nhint: {hint}"), USAGE),
            // Whoever read the output has gone; there is nobody to tell.
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return ExitCode::from(FAILED),
            Failure::Output(error) => (format!("error: standard output: {error}"), FAILED),
            Failure::Panicked => return ExitCode::from(FAILED),
        };
        say(&message);
        ExitCode::from(code)
    }
}

/// The library's hints name no flags; these are the ones that do what it advises.
fn with_flags(mut problem: Problem) -> Problem {
    // What the library found or, where that is not enough, advised.
    const FLAGS: &[(&str, &str)] = &[
        (
            "choose another name for the policy, or allow files to be replaced",
            "name another policy with -o, or add --force to replace it",
        ),
        ("exists already", "name another directory with -o, or add --force to replace a release"),
        ("exists and is not a release", "--force replaces only a release or an empty directory; name another with -o"),
        ("not a name for a directory", "name a new directory, such as `-o release`"),
    ];
    if let Some((_, hint)) = FLAGS.iter().find(|(known, _)| problem.problem == *known || problem.hint == *known) {
        problem.hint = (*hint).to_owned();
    }
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
