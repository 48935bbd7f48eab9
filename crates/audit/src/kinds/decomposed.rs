//! A decomposed release: several tables about the same people, measured by the most likely table behind them.

use hedgerow_release::Release;
use hedgerow_release::decomposed::Decomposed;
use hedgerow_table::{Progress, TableError};

use super::{Kind, MeasureOptions, SourceTable};
use crate::max_likelihood::measure_tables;
use crate::measures::Measures;

impl Kind for Decomposed {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError> {
        measure_tables(release, self, source.table, options.combined, progress).map(Measures::Decomposed)
    }
}
