//! The options of [`crate::publish()`] in addition to the policy.

use std::path::PathBuf;

use hedgerow_release::metadata::Metadata;
use hedgerow_table::{NoProgress, Progress};

use crate::gate::Gate;

/// The options of a publication in addition to the policy.
#[derive(Clone)]
pub struct PublishOptions<'a> {
    pub destination: PathBuf,
    pub overwrite: bool,
    pub format: TableFormat,
    /// Makes the row order repeatable, for tests: such a release must not be published.
    pub seed: Option<u64>,
    pub candidates: bool,
    /// Before those of the policy.
    pub nodes_max: Option<u64>,
    pub seconds_max: Option<f64>,
    /// Levels that a person chose, by quasi attribute; the others are searched.
    pub levels: Vec<(String, u64)>,
    /// Rows that are suppressed at these levels, with all others of their classes.
    pub without: Vec<u32>,
    /// Further descriptions of the release, derived from its manifest.
    pub metadata: Vec<Metadata>,
    /// The catalog that the release is audited with before it is placed.
    pub gate: Gate,
    /// The most bytes of memory that the whole process may take: a run that would take more is
    /// refused before it searches.
    pub memory: Option<u64>,
    /// For a trial: these rows are a part of a table, the first number of the second. Their classes
    /// are improved as often as those of the whole would be, and no other method is looked at.
    pub part: Option<(u64, u64)>,
    pub progress: &'a dyn Progress,
}

impl PublishOptions<'_> {
    /// A release of CSV tables at a place that is free, without limits of its own.
    pub fn to(destination: impl Into<PathBuf>) -> Self {
        PublishOptions {
            destination: destination.into(),
            overwrite: false,
            format: TableFormat::Csv,
            seed: None,
            candidates: false,
            nodes_max: None,
            seconds_max: None,
            levels: Vec::new(),
            without: Vec::new(),
            metadata: Vec::new(),
            gate: Gate::default(),
            memory: None,
            part: None,
            progress: &NoProgress,
        }
    }
}

impl std::fmt::Debug for PublishOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublishOptions").field("destination", &self.destination).finish_non_exhaustive()
    }
}

/// The format of the tables of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableFormat {
    #[default]
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}
