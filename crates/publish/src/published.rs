//! The result of a publication: where the release is, what it guarantees and how it was made.

use std::path::PathBuf;
use std::time::Duration;

use hedgerow_draft::clone_report::CloneReport;
use hedgerow_draft::draft::Searched;
use hedgerow_release::manifest::{RowTotals, UnitCounts};
use hedgerow_table::InputError;
use hedgerow_verify::check::Checked;
use serde_json::{Map, Value};

use crate::catalog::CatalogAudit;

/// The result of a publication.
#[derive(Debug, Clone)]
pub struct Published {
    pub release: PathBuf,
    pub rows: RowTotals,
    /// The units that the rows are about, where rows belong to units.
    pub units: Option<UnitCounts>,
    pub checked: Checked,
    pub losses: Map<String, Value>,
    /// How the lattice was searched, by the methods that search one.
    pub searched: Option<Searched>,
    /// The report of cloning, by the method that clones.
    pub cloned: Option<CloneReport>,
    /// The result of the audit with the catalog, if one is named.
    pub audited: Option<CatalogAudit>,
    /// Bytes that were put into temporary files.
    pub spilled: u64,
    pub read_time: Duration,
    pub search_time: Duration,
    pub write_time: Duration,
    pub warnings: Vec<InputError>,
}
