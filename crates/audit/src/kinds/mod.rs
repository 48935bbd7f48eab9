//! The kinds of releases, one file each: how each is measured, and what its tables show to an adversary. A kind is added as
//! one more file here, and a line in [`kind`].

pub(crate) mod bucketized;
pub(crate) mod cloned;
pub(crate) mod decomposed;
pub(crate) mod generalized;

use hedgerow_release::{Release, Tables};
use hedgerow_table::{Progress, Table, TableError};

use crate::attribute::QuasiSource;
use crate::max_likelihood::CountQueries;
use crate::measures::Measures;
use crate::query_error::QueryOptions;

/// The private table that a release was made from, as its policy describes it.
#[derive(Debug)]
pub struct SourceTable<'a> {
    /// As read under the policy: the domain of a column holds the values that occur and no others.
    pub table: &'a Table,
    /// Every quasi-identifier, in the order of the policy.
    pub quasi: Vec<QuasiSource<'a>>,
    /// The sensitive attributes.
    pub sensitive: Vec<&'a str>,
    /// The required k, or 1.
    pub k: u64,
}

/// The queries by which a release is measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasureOptions {
    /// Over one table.
    pub queries: QueryOptions,
    /// Over the most likely table behind the sub-tables of a decomposed release.
    pub combined: CountQueries,
}

/// What the audit needs of a kind of release.
pub(crate) trait Kind {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError>;
}

/// What a release lost, and which risks are left, measured against the table that it was made from.
pub fn measure(
    release: &Release,
    source: &SourceTable<'_>,
    options: &MeasureOptions,
    progress: &dyn Progress,
) -> Result<Measures, TableError> {
    kind(release).measure(release, source, options, progress)
}

pub(crate) fn kind(release: &Release) -> &dyn Kind {
    match release.tables() {
        Tables::Generalized(tables) => tables,
        Tables::Bucketized(tables) => tables.as_ref(),
        Tables::Cloned(tables) => tables.as_ref(),
        Tables::Decomposed(tables) => tables,
    }
}

/// Suppressed rows, as the manifest has them; a table without a manifest lacks what the source has more.
fn rows_suppressed(release: &Release, source: &SourceTable<'_>) -> u64 {
    match release.manifest() {
        Some(manifest) => manifest.hedgerow.rows.suppressed,
        None => (source.table.rows as u64).saturating_sub(release.rows()),
    }
}
