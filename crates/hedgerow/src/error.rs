//! What can go wrong, split by who can fix it: the caller ([`Error::Policy`], [`Error::Input`]),
//! nobody ([`Error::Unsatisfiable`], [`Error::Disclosure`]: these are answers), the machine
//! ([`Error::Io`]), or us ([`Error::Internal`]).

use std::fmt;
use std::path::PathBuf;

use hedgerow_audit::Audited;
use hedgerow_policy::ConfigErrors;
use hedgerow_publish::PublishError;
use hedgerow_release::OpenError;
use hedgerow_table::{InputError, TableError};

/// Why a call did not succeed. Nothing is written, and nothing is left behind, whichever it is.
///
/// No variant carries a value of the private table beyond the one that the caller must find and
/// correct in their own file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The policy has errors: all of them, in the order of the file.
    #[error("{}", shown(.0))]
    Policy(Vec<Problem>),
    /// Data, a hierarchy, a release, a query or a destination cannot be used.
    #[error("{0}")]
    Input(Problem),
    /// No release satisfies the policy.
    #[error("{0}")]
    Unsatisfiable(Unsatisfiable),
    /// The release satisfies its own rules, but combined with others it discloses sensitive values.
    #[error("{0}")]
    Disclosure(String),
    /// The release satisfies its own rules, but an audit of it together with a catalog found a
    /// breach.
    #[error("combined with the catalog, this release breaks the policy\nhint: {hint}")]
    Audit {
        /// What the audit found.
        audited: Box<Audited>,
        /// What to do about it.
        hint: String,
    },
    /// The caller canceled the work.
    #[error("canceled: nothing was written")]
    Canceled,
    /// The machine refused: disk, permission, a file that is gone.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// A bug in Hedgerow.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// The same error, its place below `folder` named as in `place`.
    pub(crate) fn placed(mut self, folder: &std::path::Path, place: &str) -> Error {
        if let Error::Input(problem) = &mut self {
            problem.place = problem.place.replace(&folder.display().to_string(), place);
        }
        self
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
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// File with line or key where known, such as `policy.toml:7:1: attributes.age`.
    pub place: String,
    /// What was found and what was expected.
    pub problem: String,
    /// What to do next; empty when there is nothing to add.
    pub hint: String,
    /// The line of the file with a mark under the place, ready to print.
    pub excerpt: Option<String>,
}

impl Problem {
    pub(crate) fn warning(found: InputError) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::from(found) }
    }
}

impl From<InputError> for Problem {
    fn from(found: InputError) -> Problem {
        let InputError { place, problem, hint } = found;
        Problem { severity: Severity::Error, place, problem, hint, excerpt: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{}", excerpt.trim_end_matches('\n'))?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Why no release satisfies the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfiable {
    /// What was searched, how far, and that nothing was found.
    pub summary: String,
    /// The rules, classes and numbers that stand in the way, one line each.
    pub reasons: Vec<String>,
    /// What could be changed.
    pub hint: String,
}

impl fmt::Display for Unsatisfiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.summary)?;
        for reason in &self.reasons {
            write!(f, "\n  {reason}")?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

fn shown(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

impl From<ConfigErrors> for Error {
    fn from(errors: ConfigErrors) -> Error {
        let problem = |found: &hedgerow_policy::ConfigError| Problem {
            excerpt: found.excerpt.as_ref().map(ToString::to_string),
            ..Problem::from(found.error.clone())
        };
        Error::Policy(errors.iter().map(problem).collect())
    }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Error {
        Error::Input(error.into())
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        match error {
            TableError::Input(error) => Error::Input((*error).into()),
            TableError::Io { path, source } => Error::Io { path, source },
            TableError::Canceled => Error::Canceled,
            TableError::Internal(_) => Error::Internal(error.to_string()),
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
            PublishError::Unsatisfiable(why) => {
                let hedgerow_publish::Unsatisfiable { summary, reasons, hint } = *why;
                Error::Unsatisfiable(Unsatisfiable { summary, reasons, hint })
            }
            PublishError::Ineligible(why) => {
                let summary = format!("no release in {} satisfies the policy", why.made_of);
                Error::Unsatisfiable(Unsatisfiable { summary, reasons: why.reasons, hint: why.hint })
            }
            PublishError::Community(problem) => {
                Error::Unsatisfiable(Unsatisfiable { summary: problem, reasons: Vec::new(), hint: String::new() })
            }
            PublishError::Canceled => Error::Canceled,
            PublishError::Breach(found) => Error::Disclosure(found),
            PublishError::Audit { audited, hint } => Error::Audit { audited, hint: hint.to_owned() },
            PublishError::Internal(problem) => Error::Internal(problem),
        }
    }
}
