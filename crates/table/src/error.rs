//! Errors about data, split by who can act on them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something a user wrote or supplied that cannot be accepted: where it is, what is wrong, and what
/// to do about it.
///
/// No field may carry a private value beyond the one the user must find and mend in their own file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// File, and line or key where known: `patients.csv:12`,
    /// `policy.toml:7: attributes.age.hierarchy`.
    pub place: String,
    pub problem: String,
    pub hint: String,
    /// Its subject, for programs.
    pub about: Option<Box<About>>,
    /// Set where a program can do better than print the hint.
    pub refusal: Option<Refusal>,
}

/// The subject of a problem, for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The kind of problem.
    pub code: &'static str,
    /// The attributes that it is about.
    pub attributes: Vec<String>,
    /// How many people it is about, where that is counted.
    pub people: Option<u64>,
}

/// A refusal that a program can act on, for example by asking the user whether to replace a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The destination of a release holds a release already.
    ReleaseExists,
    /// The destination of a release exists and is not a release, so it is never replaced.
    NotARelease,
    /// The destination of a release cannot be the name of a directory.
    NotADirectoryName,
    /// A file of a proposed policy exists already.
    FileExists,
}

impl InputError {
    pub fn new(place: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        InputError { place: place.into(), problem: problem.into(), hint: hint.into(), about: None, refusal: None }
    }

    /// The same problem, of a kind that programs know, about some attributes and people.
    pub fn about(
        self,
        code: &'static str,
        attributes: impl IntoIterator<Item = impl Into<String>>,
        people: Option<u64>,
    ) -> Self {
        let attributes = attributes.into_iter().map(Into::into).collect();
        InputError { about: Some(Box::new(About { code, attributes, people })), ..self }
    }

    /// The same error, marked as a refusal that a program can act on.
    pub fn refusing(self, refusal: Refusal) -> Self {
        InputError { refusal: Some(refusal), ..self }
    }

    /// A place in a file: `path:line`.
    pub fn at_line(path: &Path, line: u64, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        InputError::new(format!("{}:{line}", path.display()), problem, hint)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The user can mend it.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// The machine refused: disk, permission, a vanished file.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The caller canceled the work.
    #[error("canceled: nothing was written")]
    Canceled,
    /// Ours to mend.
    #[error("internal error: {0} (this is a bug in hedgerow)")]
    Internal(String),
}

impl TableError {
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        TableError::Io { path: path.to_path_buf(), source }
    }

    pub fn input(place: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        TableError::Input(Box::new(InputError::new(place, problem, hint)))
    }
}

impl From<InputError> for TableError {
    fn from(error: InputError) -> Self {
        TableError::Input(Box::new(error))
    }
}
