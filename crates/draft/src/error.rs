//! Errors of a publication.

use std::fmt;

use hedgerow_audit::Audited;
use hedgerow_policy::ConfigErrors;
use hedgerow_release::OpenError;
use hedgerow_table::{InputError, TableError};
use hedgerow_verify::verified::VerifyError;

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The policy itself.
    #[error(transparent)]
    Policy(#[from] ConfigErrors),
    /// The data, a hierarchy, or the disk.
    #[error(transparent)]
    Table(TableError),
    /// The caller canceled the work: nothing was written.
    #[error("canceled: nothing was written")]
    Canceled,
    /// No release can meet the policy.
    #[error(transparent)]
    Unsatisfiable(#[from] Box<Unsatisfiable>),
    /// No buckets, or no clones, can meet the policy.
    #[error(transparent)]
    Ineligible(#[from] Box<Ineligible>),
    /// No release can meet the policy, because of what is published already.
    #[error("{0}")]
    Community(String),
    /// The release keeps the policy's rules by itself, but an attack on it found a breach.
    #[error("{0}")]
    Breach(String),
    /// The release keeps the policy's rules by itself, but an audit of it together with a catalog
    /// found a breach.
    #[error("combined with the catalog, this release breaks the policy\nhint: {hint}")]
    Audit {
        audited: Box<Audited>,
        hint: String,
        /// The new release takes part in it: the catalog alone exposes no person.
        by_new: bool,
    },
    /// Ours to mend.
    #[error("{0}")]
    Internal(String),
}

impl From<TableError> for PublishError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Canceled => PublishError::Canceled,
            error => PublishError::Table(error),
        }
    }
}

impl From<InputError> for PublishError {
    fn from(error: InputError) -> Self {
        PublishError::Table(error.into())
    }
}

impl From<VerifyError> for PublishError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Table(error) => error.into(),
            breach @ VerifyError::Breach(_) => PublishError::Internal(breach.to_string()),
        }
    }
}

/// Why no release meets the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfiable {
    /// The goal of the search, how far it went, and that it failed.
    pub summary: String,
    /// The obstacles, one line each.
    pub reasons: Vec<String>,
    pub hint: String,
}

impl fmt::Display for Unsatisfiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.summary)?;
        for reason in &self.reasons {
            writeln!(f, "  {reason}")?;
        }
        write!(f, "hint: {}", self.hint)
    }
}

impl std::error::Error for Unsatisfiable {}

/// Why no buckets or clones meet the policy: what breaks even when the whole table is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Ineligible {
    /// The parts that a release would consist of.
    pub made_of: &'static str,
    /// One line per guarantee that breaks there, and what the table is like.
    pub reasons: Vec<String>,
    pub hint: String,
}

impl Ineligible {
    pub fn clones(reasons: Vec<String>, hint: &str) -> Box<Ineligible> {
        Box::new(Ineligible { made_of: "clones", reasons, hint: hint.to_owned() })
    }
}

impl fmt::Display for Ineligible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no release in {} can meet the policy", self.made_of)?;
        for reason in &self.reasons {
            writeln!(f, "  {reason}")?;
        }
        write!(f, "hint: {}", self.hint)
    }
}

impl std::error::Error for Ineligible {}

impl From<OpenError> for PublishError {
    fn from(error: OpenError) -> PublishError {
        match error {
            OpenError::Description(errors) => errors.into(),
            OpenError::Table(error) => error.into(),
        }
    }
}
