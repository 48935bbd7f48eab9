//! A decomposed release: several tables about the same people, measured by the most likely table
//! behind them.

use std::borrow::Cow;

use hedgerow_release::combined::Combined;
use hedgerow_release::decomposed::{Decomposed, Form, SubTable};
use hedgerow_release::{Codebook, Release, ReleasedClasses, Spelling, cover_of_label};
use hedgerow_table::{Progress, TableError};

use super::{Joinable, MeasureOptions, MeasuredKind, SourceTable, bucketized, joinable_buckets, joinable_rows};
use crate::max_likelihood::measure_tables;
use crate::measures::Measures;
use crate::query::rows::{QueriedRows, Queryable, Sizes};

impl MeasuredKind for Decomposed {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError> {
        measure_tables(release, self, source.table, options.combined, progress).map(Measures::Decomposed)
    }

    fn joinable(&self, release: &Release) -> Result<Joinable, TableError> {
        Ok(joinable(self, release.classes()?, release.name(), release.spelling()))
    }

    fn all_rows(&self, release: &Release) -> Result<Vec<Option<ReleasedClasses>>, TableError> {
        let of = |form: &Form, name: &str| match form {
            Form::Combined(read) if read.bucket_of_row.contains(&None) => {
                rows_by_quasi(read, name, release.codebook(), release.name()).map(Some)
            }
            _ => Ok(None),
        };
        self.tables.iter().map(|table| of(&table.form, &table.name)).collect()
    }

    fn queryable(&self) -> Vec<Queryable<'_>> {
        let tables = self.tables.iter();
        tables.map(|table| Queryable { folder: &table.name, rows: rows_of(table), statistics: None }).collect()
    }
}

fn rows_of(table: &SubTable) -> QueriedRows<'_> {
    match &table.form {
        Form::Rows(tables) => QueriedRows::Labels(Cow::Borrowed(&tables.table)),
        Form::Buckets(tables) => {
            QueriedRows::Buckets(Cow::Borrowed(&tables.quasi), Cow::Borrowed(&tables.counted), Sizes::Equal)
        }
        Form::Combined(tables) => QueriedRows::Buckets(
            Cow::Borrowed(&tables.quasi),
            Cow::Borrowed(&tables.values),
            Sizes::WithRowsWithoutValues,
        ),
    }
}

fn joinable(decomposed: &Decomposed, classes: &[ReleasedClasses], release: &str, spelling: &Spelling) -> Joinable {
    let mut all = Joinable::default();
    for (table, classes) in decomposed.tables.iter().zip(classes) {
        let name = format!("{release}/{}", table.name);
        let found = match &table.form {
            Form::Rows(read) => joinable_rows(&name, classes, &read.table, spelling),
            Form::Buckets(read) => bucketized::joinable(&name, classes, read).spelled(spelling),
            Form::Combined(read) => {
                joinable_buckets(&name, classes, &read.quasi, &read.bucket_of_row, values(read)).spelled(spelling)
            }
        };
        all.tables.extend(found.tables);
        all.generalized.extend(found.generalized);
    }
    all
}

/// Each sensitive attribute of the combinations by itself: by bucket, its values.
fn values(read: &Combined) -> Vec<(&str, super::BucketValues)> {
    let of = |name: &'_ String| {
        let column = read.values.column(name)?;
        let mut counts: Vec<Vec<u64>> = vec![vec![0; column.domain.cardinality()]; read.sizes.len()];
        for (entry, (&bucket, &count)) in read.bucket_of_value.iter().zip(&read.counts).enumerate() {
            counts[bucket as usize][column.codes.get(entry) as usize] += u64::from(count);
        }
        let listed = |counts: Vec<u64>| {
            let codes = (0..).zip(counts).filter(|(_, count)| *count > 0);
            codes.map(|(code, count)| (column.domain.text(code), count)).collect()
        };
        Some(counts.into_iter().map(listed).collect())
    };
    read.sensitive.iter().filter_map(|name| Some((name.as_str(), of(name)?))).collect()
}

/// All rows of a table by their quasi-identifiers, also those whose sensitive values are not
/// released.
fn rows_by_quasi(read: &Combined, name: &str, codebook: &Codebook, place: &str) -> Result<ReleasedClasses, TableError> {
    let covers = |attribute: &str, label: &str| {
        codebook.cover(attribute, label).cloned().unwrap_or_else(|| cover_of_label(label))
    };
    ReleasedClasses::of_generalized(name, &read.quasi, &read.quasi_attributes, &[], covers, place)
}

#[cfg(test)]
mod tests;
