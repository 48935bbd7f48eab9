//! How many rows the source has, and how many of them were released and suppressed.

use hedgerow_table::TableError;
use serde::Serialize;

/// The hint when a release and a source do not belong together.
pub(crate) const OTHER_SOURCE: &str = "measure a release with the policy and the data that it was published from";

/// Numbers of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    /// Rows in the source.
    #[serde(rename = "in")]
    pub source: u64,
    /// Released rows.
    #[serde(rename = "out")]
    pub released: u64,
    /// Suppressed rows.
    pub suppressed: u64,
}

impl RowCounts {
    /// The released and the suppressed rows must add up to those of the source.
    pub(crate) fn checked(source: u64, released: u64, suppressed: u64) -> Result<RowCounts, TableError> {
        if released == 0 {
            let hint = "publish again: a release has at least one row";
            return Err(TableError::input("data.csv", "the released table has no rows", hint));
        }
        if released.checked_add(suppressed) != Some(source) {
            let problem =
                format!("{released} rows were released and {suppressed} suppressed, but the source has {source}");
            return Err(TableError::input("datapackage.json", problem, OTHER_SOURCE));
        }
        Ok(RowCounts { source, released, suppressed })
    }

    pub(crate) fn suppressed_share(self) -> f64 {
        self.suppressed as f64 / self.source as f64
    }
}
