//! The losses of a bucketized release: its rows are unchanged, but which sensitive value belongs to
//! which row is known only up to the bucket.
//!
//! Losses that are defined by levels or cells have no meaning here and are omitted; `ncp` counts
//! the suppressed rows alone. Classes are the buckets. The risk of re-identification is that of the
//! unchanged quasi-identifiers: a row that is found leads to a bucket, not to a sensitive value.

use std::borrow::Cow;

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::{Codes, FrequencySet, Layout, Progress, Table, TableError, with_words};

use super::{Joinable, MeasureOptions, MeasuredKind, SourceTable, joinable_buckets, rows_suppressed};
use crate::attribute::Unchanged;
use crate::class_sizes::SizeDistribution;
use crate::comparison::{self, Comparison};
use crate::loss::{AttributeLoss, Losses};
use crate::measures::{Measures, TableMeasures};
use crate::number_error;
use crate::query::buckets::Buckets;
use crate::query::rows::{QueriedRows, Queryable, Sizes};
use crate::query_error::QueryOptions;
use crate::query_error::buckets::{Bucket, Bucketized, query_error};
use crate::risk::Risk;
use crate::rows::RowCounts;

impl MeasuredKind for hedgerow_release::bucketized::Bucketized {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError> {
        let input = MeasuredBuckets {
            source: source.table,
            rows: &self.quasi,
            values: &self.counted,
            quasi: source.quasi.iter().map(|quasi| quasi.name).collect(),
            sensitive: vec![&self.sensitive],
            k: source.k,
            rows_suppressed: rows_suppressed(release, source),
        };
        measure_buckets(&input, &options.queries, progress).map(Measures::Table)
    }

    fn compare(&self, _release: &Release, source: &SourceTable<'_>) -> Result<Comparison, TableError> {
        comparison::unchanged(&self.quasi, &self.quasi_attributes, source)
    }

    fn joinable(&self, release: &Release) -> Result<Joinable, TableError> {
        let classes = release.classes()?;
        let name = format!("{}/{}", release.name(), classes[0].name);
        Ok(joinable(&name, &classes[0], self).spelled(release.spelling()))
    }

    fn queryable(&self) -> Vec<Queryable<'_>> {
        Queryable::whole(QueriedRows::Buckets(Cow::Borrowed(&self.quasi), Cow::Borrowed(&self.counted), Sizes::Equal))
    }
}

/// A bucketized table, alone or among those of a decomposed release.
pub(super) fn joinable(
    name: &str,
    classes: &ReleasedClasses,
    read: &hedgerow_release::bucketized::Bucketized,
) -> Joinable {
    let buckets: Vec<Option<u32>> = read.bucket_of_row.iter().map(|&bucket| Some(bucket)).collect();
    let values = |bucket: usize| {
        read.values(bucket).iter().map(|&(code, count)| (read.domain.text(code), u64::from(count))).collect()
    };
    let values: Vec<Vec<(String, u64)>> = (0..read.len()).map(values).collect();
    joinable_buckets(name, classes, &read.quasi, &buckets, vec![(&read.sensitive, values)])
}

/// A bucketized release with the table that it was made from.
#[derive(Debug)]
pub(crate) struct MeasuredBuckets<'a> {
    /// The private table, as read under the policy.
    pub(crate) source: &'a Table,
    /// The quasi-identifiers and `group`.
    pub(crate) rows: &'a Table,
    /// `group`, the sensitive attributes and `count`.
    pub(crate) values: &'a Table,
    /// The quasi-identifiers, in the order of the policy.
    pub(crate) quasi: Vec<&'a str>,
    pub(crate) sensitive: Vec<&'a str>,
    /// The required k, or 1.
    pub(crate) k: u64,
    pub(crate) rows_suppressed: u64,
}

pub(crate) fn measure_buckets(
    input: &MeasuredBuckets<'_>,
    queries: &QueryOptions,
    progress: &dyn Progress,
) -> Result<TableMeasures, TableError> {
    let rows = RowCounts::checked(input.source.rows as u64, input.rows.rows as u64, input.rows_suppressed)?;
    let quasi = unchanged(&input.quasi, input.source, input.rows)?;
    let sensitive = unchanged(&input.sensitive, input.source, input.values)?;
    progress.stage("counting classes", None);
    let found = Buckets::new(input.rows, input.values, Sizes::Equal)?;
    let mut buckets = vec![Bucket::default(); found.count];
    for (row, &bucket) in (0..).zip(&found.of_row) {
        buckets[bucket as usize].rows.push(row);
    }
    for (row, &(bucket, count)) in (0..).zip(&found.of_value) {
        buckets[bucket as usize].values.push((row, count));
    }
    let sizes: Vec<u64> = buckets.iter().map(|bucket| bucket.rows.len() as u64).filter(|size| *size > 0).collect();
    let alike = alike(&quasi, input.rows.rows)?;
    let population = (rows.suppressed == 0).then_some(alike.as_slice());
    let risk = Risk::of_classes(&alike, population, input.k.max(1));
    let losses = Losses::without_cells(&sizes, rows, input.k.max(1));
    let attributes = input.quasi.iter().map(|name| AttributeLoss::without_cells(name, rows)).collect();
    let release = Bucketized { quasi, sensitive, buckets };
    let queries = query_error(&release, input.source.rows, queries, progress)?;
    let numbers = number_error::of_buckets(&release)?;
    let classes = SizeDistribution::of(&sizes);
    Ok(TableMeasures {
        rows,
        losses,
        attributes,
        classes,
        risk,
        queries,
        numbers,
        singled_out: Vec::new(),
        buckets: true,
    })
}

fn unchanged<'a>(names: &[&str], source: &'a Table, released: &'a Table) -> Result<Vec<Unchanged<'a>>, TableError> {
    names.iter().map(|name| Unchanged::bind(name, source, released)).collect()
}

/// How many released rows agree in all quasi-identifiers, for each combination of their values.
fn alike(quasi: &[Unchanged<'_>], rows: usize) -> Result<Vec<u64>, TableError> {
    let cardinalities: Vec<usize> = quasi.iter().map(|attribute| attribute.released.domain.cardinality()).collect();
    let columns: Vec<&Codes> = quasi.iter().map(|attribute| &attribute.released.codes).collect();
    let layout = Layout::new(&cardinalities)
        .ok_or_else(|| TableError::input("policy", "too many quasi-identifiers", "measure fewer attributes at once"))?;
    Ok(with_words!(layout.words(), W => {
        let set = FrequencySet::<W>::of_rows(&layout, &columns, rows);
        set.counts().iter().map(|&count| u64::from(count)).collect()
    }))
}
