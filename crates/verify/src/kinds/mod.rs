//! How the tables of a release are judged: one file for each kind of release.
//!
//! A kind is added as one more file with a [`Judged`] and one more line in [`judged`]; the gate and
//! `check` know no kinds.

mod bucketized;
mod cloned;
mod decomposed;
mod generalized;

use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::TableError;

use crate::check::{Checked, NamedRule};

pub use bucketized::refused_in_buckets;
pub(crate) use cloned::cloning;
pub use cloned::refused_in_clones;

/// Tables that can be judged by rules.
pub(crate) trait Judged {
    /// The parameters that the tables achieve. A rule that tables of this kind cannot be judged by
    /// is refused.
    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError>;
}

pub(crate) fn judged(release: &Release) -> &dyn Judged {
    match release.tables() {
        ReleaseTables::Generalized(tables) => tables,
        ReleaseTables::Bucketized(tables) => tables.as_ref(),
        ReleaseTables::Cloned(tables) => tables.as_ref(),
        ReleaseTables::Decomposed(tables) => tables,
    }
}
