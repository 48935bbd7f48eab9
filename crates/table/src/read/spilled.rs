//! A table on the disk: its values in memory, its codes in a private file, as the workers coded
//! them. They are mapped to the table's own codes when they are read.

use std::sync::Arc;

use super::assemble::Settled;
use crate::engine::{ColumnProfile, Distinct, Engine, EngineAnswer, TableProfile, Visit, scan_chunks};
use crate::spill::SpillFile;
use crate::{InputError, Progress, TableError, frequency, parallel};

/// A table whose codes lie on the disk, in whole or in part.
#[derive(Debug)]
pub struct SpilledTable {
    columns: Vec<Settled>,
    file: Arc<SpillFile>,
    profile: TableProfile,
}

/// Bytes that a search takes for each distinct row, per byte of its key: the table's own frequency
/// set, and at most four times as many entries of coarser ones.
const SEARCH_FACTOR: u64 = 6;

impl SpilledTable {
    pub(super) fn new(
        header: Vec<String>,
        columns: Vec<Settled>,
        rows: usize,
        warnings: Vec<InputError>,
        file: Arc<SpillFile>,
    ) -> SpilledTable {
        let profiles = columns.iter().map(|column| ColumnProfile {
            name: column.name.clone(),
            domain: column.domain.clone(),
            counts: Vec::new(),
        });
        let profile = TableProfile { rows, header, columns: profiles.collect(), warnings };
        SpilledTable { columns, file, profile }
    }

    /// Counts the values of every column.
    pub(super) fn counted(mut self, progress: &dyn Progress) -> Result<SpilledTable, TableError> {
        let cardinalities: Vec<usize> = self.profile.columns.iter().map(|column| column.domain.cardinality()).collect();
        let mut counts: Vec<Vec<u64>> = cardinalities.iter().map(|&cardinality| vec![0; cardinality]).collect();
        let all: Vec<usize> = (0..cardinalities.len()).collect();
        self.scan(&all, progress, &mut |chunks| {
            parallel::map_items(counts.iter_mut().enumerate(), |_, (column, counts)| {
                for chunk in &chunks {
                    chunk[column].add_counts(counts);
                }
            });
            Ok(())
        })?;
        for (column, counts) in self.profile.columns.iter_mut().zip(counts) {
            column.counts = counts;
        }
        Ok(self)
    }
}

impl Engine for SpilledTable {
    fn profile(&self) -> &TableProfile {
        &self.profile
    }

    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
        frequency::distinct(self, columns, self.distinct_bytes_max(), progress)
    }

    fn distinct_bytes_max(&self) -> usize {
        usize::try_from(self.file.memory() / SEARCH_FACTOR).unwrap_or(usize::MAX)
    }

    fn scan(
        &self,
        columns: &[usize],
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<EngineAnswer<()>, TableError> {
        scan_chunks(self.profile.rows, progress, visit, |range| {
            columns.iter().map(|&column| self.columns[column].codes(&self.file, range.clone())).collect()
        })
    }
}
