//! What can go wrong on the way to a release.

use std::fmt;

use hedgerow_policy::PolicyErrors;
use hedgerow_privacy::verified::VerifyError;
use hedgerow_table::{InputError, TableError};

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The policy itself.
    #[error(transparent)]
    Policy(#[from] PolicyErrors),
    /// The data, a hierarchy, or the disk.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No release can meet the policy.
    #[error(transparent)]
    Unsatisfiable(#[from] Box<Unsatisfiable>),
    /// No buckets can meet the policy.
    #[error(transparent)]
    Ineligible(#[from] Box<Ineligible>),
    /// Ours to mend.
    #[error("{0}")]
    Internal(String),
}

impl From<InputError> for PublishError {
    fn from(error: InputError) -> Self {
        PublishError::Table(error.into())
    }
}

impl From<VerifyError> for PublishError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Table(error) => PublishError::Table(error),
            breach @ VerifyError::Breach(_) => PublishError::Internal(breach.to_string()),
        }
    }
}

/// Why no release meets the policy: what breaks even on the coarsest levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsatisfiable {
    /// One line per guarantee that breaks there.
    pub reasons: Vec<String>,
    pub rows: u64,
    pub allowed: u64,
    /// How many nodes were judged, of how many.
    pub judged: u64,
    pub nodes: Option<u64>,
    /// Whether every node was judged or excluded.
    pub proven: bool,
    pub hint: String,
}

impl fmt::Display for Unsatisfiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
        if self.proven {
            writeln!(f, "no release can meet the policy: none of {nodes} combinations of levels holds")?;
        } else {
            writeln!(
                f,
                "no release was found: none of {} judged combinations of levels holds, of {nodes}",
                self.judged
            )?;
        }
        for reason in &self.reasons {
            writeln!(f, "  {reason}")?;
        }
        writeln!(f, "  at most {} of {} rows may be left out", self.allowed, self.rows)?;
        write!(f, "hint: {}", self.hint)
    }
}

impl std::error::Error for Unsatisfiable {}

/// Why no buckets meet the policy: what breaks even when the whole table is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Ineligible {
    /// One line per guarantee that breaks there, and what the table is like.
    pub reasons: Vec<String>,
    pub hint: String,
}

impl fmt::Display for Ineligible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no release in buckets can meet the policy")?;
        for reason in &self.reasons {
            writeln!(f, "  {reason}")?;
        }
        write!(f, "hint: {}", self.hint)
    }
}

impl std::error::Error for Ineligible {}
