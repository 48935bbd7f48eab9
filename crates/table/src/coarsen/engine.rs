//! Rows outside of memory with coarser values: codes are mapped as they pass by.

use super::Coarser;
use crate::engine::{CodeChunk, Distinct, Engine, EngineAnswer, TableProfile, Visit};
use crate::{Codes, Progress, TableError, frequency, parallel};

/// An engine whose columns have coarser values.
pub struct CoarsenedEngine<'a> {
    inner: Box<dyn Engine + 'a>,
    profile: TableProfile,
    /// For the columns that become coarser.
    coarser: Vec<Option<Coarser>>,
}

impl std::fmt::Debug for CoarsenedEngine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoarsenedEngine").finish_non_exhaustive()
    }
}

impl<'a> CoarsenedEngine<'a> {
    /// One element for each column of the engine's profile.
    pub fn new(inner: Box<dyn Engine + 'a>, coarser: Vec<Option<Coarser>>) -> CoarsenedEngine<'a> {
        let mut profile = inner.profile().clone();
        for (column, coarser) in profile.columns.iter_mut().zip(&coarser) {
            let Some(coarser) = coarser else { continue };
            let mut counts = vec![0; coarser.domain.cardinality()];
            for (&count, &code) in column.counts.iter().zip(&coarser.map) {
                counts[code as usize] += count;
            }
            column.domain = coarser.domain.clone();
            column.counts = counts;
        }
        CoarsenedEngine { inner, profile, coarser }
    }
}

fn recode(coarser: &[Option<Coarser>], columns: &[usize], chunk: CodeChunk) -> CodeChunk {
    let recoded = |(codes, &column): (Codes, &usize)| match &coarser[column] {
        Some(coarser) => coarser.recode(&codes),
        None => codes,
    };
    chunk.into_iter().zip(columns).map(recoded).collect()
}

impl Engine for CoarsenedEngine<'_> {
    fn profile(&self) -> &TableProfile {
        &self.profile
    }

    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
        if columns.iter().all(|&column| self.coarser[column].is_none()) {
            return self.inner.distinct(columns, progress);
        }
        frequency::distinct(self, columns, self.distinct_bytes_max(), progress)
    }

    fn distinct_bytes_max(&self) -> usize {
        self.inner.distinct_bytes_max()
    }

    fn scan(
        &self,
        columns: &[usize],
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<EngineAnswer<()>, TableError> {
        let coarser = &self.coarser;
        self.inner.scan(columns, progress, &mut |chunks| {
            visit(parallel::map_items(chunks, |_, chunk| recode(coarser, columns, chunk)))
        })
    }
}
