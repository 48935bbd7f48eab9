//! The catalog that a new release is audited with, as the caller of a publication names it.

use std::path::PathBuf;

/// The catalog that a new release is audited with before it is placed.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    pub catalog: Option<PathBuf>,
    /// The publisher; earlier releases of the same custodian are compared by difference too.
    pub custodian: Option<String>,
    /// Leaves the catalog as it is: the new release is audited and not added.
    pub no_add: bool,
    /// Where the audit refuses, looks for the nearest release with larger classes that passes.
    pub repair: bool,
}
