//! The one error of this crate: a kind, and problems that each have a place and a hint.

use std::fmt;
use std::path::Path;

use hedgerow_audit::Audited;
use hedgerow_policy::ConfigErrors;
use hedgerow_publish::PublishError;
use hedgerow_release::OpenError;
use hedgerow_table::{About, InputError, TableError};
use serde::ser::{Serialize, SerializeMap, Serializer};

pub use hedgerow_table::Refusal;

/// Why a call did not succeed. Nothing is written, and nothing is left behind, whichever it is.
///
/// Every error has a [kind](Error::kind) and at least one [`Problem`]. A policy with several errors
/// has one problem for each. No error carries a value of the private table beyond the one that the
/// caller must find and correct in their own file.
///
/// ```
/// use hedgerow::{ErrorKind, Policy};
///
/// let error = Policy::parse("[attributes]\nage = { role = \"quasy\" }", "policy.toml").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Policy);
/// assert_eq!(error.exit_code(), 2);
/// let misspelled = error.problems().iter().find(|problem| problem.place.ends_with("attributes.age.role"));
/// assert_eq!(misspelled.unwrap().hint, "did you mean `quasi`?");
/// ```
#[derive(Debug)]
pub struct Error(Box<Contents>);

#[derive(Debug)]
struct Contents {
    kind: ErrorKind,
    /// Never empty.
    problems: Vec<Problem>,
    reasons: Vec<String>,
    audited: Option<Audited>,
    /// The new release takes part in the breach.
    by_new: bool,
    of_release: bool,
    source: Option<std::io::Error>,
}

/// The kind of an error, by who can act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The machine refused: disk, permission, network, a file that is gone. Exit code 1.
    Io,
    /// A bug in Hedgerow. Exit code 1.
    Internal,
    /// The caller canceled the work. Exit code 1.
    Canceled,
    /// The policy has errors: all of them, in the order of the file. Exit code 2.
    Policy,
    /// Data, a hierarchy, a release, a query or a destination cannot be used. Exit code 2.
    Input,
    /// No release satisfies the policy; [`Error::reasons`] says why. Exit code 3.
    Unsatisfiable,
    /// The release satisfies its own rules, but combined with others it discloses sensitive values;
    /// [`Error::audited`] has the findings where there was an audit. Exit code 4.
    Breach,
}

impl ErrorKind {
    /// The exit code of the `hedgerow` command for errors of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Io | ErrorKind::Internal | ErrorKind::Canceled => 1,
            ErrorKind::Policy | ErrorKind::Input => 2,
            ErrorKind::Unsatisfiable => 3,
            ErrorKind::Breach => 4,
        }
    }
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The exit code of the `hedgerow` command for this error, from 1 to 4.
    pub fn exit_code(&self) -> u8 {
        self.0.kind.exit_code()
    }

    /// All problems, at least one.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// The first problem.
    fn first(&self) -> &Problem {
        &self.0.problems[0]
    }

    /// Where the first problem is: a file with line or key, or empty where no place is to blame.
    pub fn place(&self) -> &str {
        &self.first().place
    }

    /// The first problem: what was found and what was expected.
    pub fn problem(&self) -> &str {
        &self.first().problem
    }

    /// The hint for the first problem; may be empty.
    pub fn hint(&self) -> &str {
        &self.first().hint
    }

    /// How much it matters: an error always has the severity [`Severity::Error`].
    pub fn severity(&self) -> Severity {
        self.first().severity
    }

    /// For [`ErrorKind::Unsatisfiable`]: the rules, classes and numbers in the way, one line each.
    pub fn reasons(&self) -> &[String] {
        &self.0.reasons
    }

    /// For [`ErrorKind::Breach`]: what the audit together with the catalog found.
    pub fn audited(&self) -> Option<&Audited> {
        self.0.audited.as_ref()
    }

    /// For [`ErrorKind::Breach`]: whether larger classes of the new release could help, which
    /// [`Publish::repair`](crate::Publish::repair) looks for. They do not help against what the
    /// catalog holds already.
    pub fn is_repairable(&self) -> bool {
        self.0.by_new
    }

    /// For a file that the caller could not read or write.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Error {
        let problem = Problem::new(path.as_ref().display().to_string(), source.to_string(), "");
        let error = Error::new(ErrorKind::Io, problem);
        Error(Box::new(Contents { source: Some(source), ..*error.0 }))
    }

    pub(crate) fn internal(problem: impl Into<String>) -> Error {
        Error::new(ErrorKind::Internal, Problem::new("", problem, ""))
    }

    pub(crate) fn unsatisfiable(summary: impl Into<String>, reasons: Vec<String>, hint: impl Into<String>) -> Error {
        let error = Error::new(ErrorKind::Unsatisfiable, Problem::new("", summary, hint));
        Error(Box::new(Contents { reasons, ..*error.0 }))
    }

    /// For work that the caller canceled.
    pub fn canceled() -> Error {
        Error::new(ErrorKind::Canceled, Problem::new("", "canceled: nothing was written", ""))
    }

    fn new(kind: ErrorKind, problem: Problem) -> Error {
        Error(Box::new(Contents {
            kind,
            problems: vec![problem],
            reasons: Vec::new(),
            audited: None,
            by_new: false,
            of_release: false,
            source: None,
        }))
    }

    /// The same error, its place below `folder` named as in `place`.
    pub(crate) fn placed(mut self, folder: &Path, place: &str) -> Error {
        let folder = folder.display().to_string();
        if self.kind() == ErrorKind::Input {
            self.0.problems.iter_mut().for_each(|problem| problem.place = problem.place.replace(&folder, place));
        }
        self
    }

    /// The same error, about a release that is there and is wrong.
    pub(crate) fn of_release(mut self) -> Error {
        self.0.of_release = true;
        self
    }

    /// Whether what was named is a release in a database, and the release is at fault: not the
    /// address, and not what lies there in its place.
    pub fn is_of_release(&self) -> bool {
        self.0.of_release
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first();
        if self.0.reasons.is_empty() {
            let shown: Vec<String> = self.0.problems.iter().map(ToString::to_string).collect();
            return f.write_str(&shown.join("\n\n"));
        }
        f.write_str(&first.problem)?;
        self.0.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))?;
        if first.hint.is_empty() { Ok(()) } else { write!(f, "\nhint: {}", first.hint) }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

/// How much a [`Problem`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Allowed, but probably unintended.
    Warning,
    /// The call cannot succeed until it is corrected.
    Error,
}

/// One thing that is wrong: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// File with line or key where known, such as `policy.toml:7:1: attributes.age`.
    pub place: String,
    /// The problem: what was found and what was expected.
    pub problem: String,
    /// The hint: what to do next; may be empty.
    pub hint: String,
    /// The line of the file with a mark under the place, ready to print.
    pub excerpt: Option<String>,
    /// The kind of problem, such as `singles-out`; `policy` where none is named.
    pub code: &'static str,
    /// The attributes that it is about.
    pub attributes: Vec<String>,
    /// The number of people concerned, where it is counted.
    pub people: Option<u64>,
    /// Set where a program can do better than print the hint.
    pub refusal: Option<Refusal>,
}

/// As commands print a warning with `--json`.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("code", self.code)?;
        map.serialize_entry("message", &self.problem)?;
        map.serialize_entry("attributes", &self.attributes)?;
        map.serialize_entry("people", &self.people)?;
        map.serialize_entry("place", &self.place)?;
        map.serialize_entry("hint", &self.hint)?;
        map.end()
    }
}

impl Problem {
    fn new(place: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Problem {
        InputError::new(place, problem, hint).into()
    }

    pub(crate) fn warning(found: InputError) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::from(found) }
    }
}

impl From<InputError> for Problem {
    fn from(found: InputError) -> Problem {
        let InputError { place, problem, hint, about, refusal } = found;
        let none = || About { code: "policy", attributes: Vec::new(), people: None };
        let About { code, attributes, people } = about.map_or_else(none, |about| *about);
        Problem { severity: Severity::Error, place, problem, hint, excerpt: None, code, attributes, people, refusal }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.problem)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{}", excerpt.trim_end_matches('\n'))?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl From<ConfigErrors> for Error {
    fn from(errors: ConfigErrors) -> Error {
        let problem = |found: &hedgerow_policy::ConfigError| Problem {
            excerpt: found.excerpt.as_ref().map(ToString::to_string),
            ..Problem::from(found.error.clone())
        };
        let problems: Vec<Problem> = errors.iter().map(problem).collect();
        if problems.is_empty() {
            return Error::internal(
                "internal error: a policy was refused without a reason (this is a bug in hedgerow)",
            );
        }
        let kind = ErrorKind::Policy;
        Error(Box::new(Contents {
            kind,
            problems,
            reasons: Vec::new(),
            audited: None,
            by_new: false,
            of_release: false,
            source: None,
        }))
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        Error::new(ErrorKind::Input, error.into())
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        match error {
            TableError::Input(error) => (*error).into(),
            TableError::Io { path, source } => Error::io(path, source),
            TableError::Canceled => Error::canceled(),
            TableError::Internal(_) => Error::internal(error.to_string()),
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Error {
        match error {
            OpenError::Description(errors) => errors.into(),
            OpenError::Table(error) => error.into(),
        }
    }
}

impl From<PublishError> for Error {
    fn from(error: PublishError) -> Error {
        match error {
            PublishError::Policy(errors) => errors.into(),
            PublishError::Table(error) => error.into(),
            PublishError::Unsatisfiable(why) => Error::unsatisfiable(why.summary, why.reasons, why.hint),
            PublishError::Ineligible(why) => {
                let summary = format!("no release in {} satisfies the policy", why.made_of);
                Error::unsatisfiable(summary, why.reasons, why.hint)
            }
            PublishError::Community(problem) => Error::unsatisfiable(problem, Vec::new(), ""),
            PublishError::Canceled => Error::canceled(),
            PublishError::Breach(found) => Error::new(ErrorKind::Breach, Problem::new("", found, "")),
            PublishError::Audit { audited, hint, by_new } => {
                let problem = "combined with the catalog, this release breaks the policy";
                let error = Error::new(ErrorKind::Breach, Problem::new("", problem, hint));
                Error(Box::new(Contents { audited: Some(*audited), by_new, ..*error.0 }))
            }
            PublishError::Internal(problem) => Error::internal(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_exit_code_of_the_command() {
        let codes = [
            (Error::io("data.csv", std::io::Error::other("gone")), 1, "data.csv: gone"),
            (TableError::Canceled.into(), 1, "canceled: nothing was written"),
            (InputError::new("a.csv:2", "odd", "mend it").into(), 2, "a.csv:2: odd\nhint: mend it"),
            (Error::unsatisfiable("none", vec!["k".to_owned()], "less"), 3, "none\n  k\nhint: less"),
            (PublishError::Breach("together".to_owned()).into(), 4, "together"),
        ];
        for (error, code, text) in codes {
            assert_eq!((error.exit_code(), error.to_string().as_str()), (code, text));
            assert_eq!(error.severity(), Severity::Error);
        }
        let io = Error::io("data.csv", std::io::Error::other("gone"));
        assert_eq!((io.place(), io.problem()), ("data.csv", "gone"));
        assert!(std::error::Error::source(&io).is_some());
    }
}
