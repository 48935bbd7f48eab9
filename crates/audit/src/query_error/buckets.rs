//! Count queries over a bucketized release: in each bucket, the rows with the selected quasi values
//! times the share of the selected sensitive values.

use hedgerow_table::{Codes, Domain, Progress, TableError, parallel};

use super::batch::{BATCH, Batch, for_each_bit};
use super::predicate::Query;
use super::{QueryError, QueryOptions, check, draw_from, summed_up};
use crate::attribute::Unchanged;

/// A bucketized release and its source.
pub(crate) struct Bucketized<'a> {
    pub(crate) quasi: Vec<Unchanged<'a>>,
    pub(crate) sensitive: Vec<Unchanged<'a>>,
    /// For each bucket its rows in the quasi table, and its rows in the sensitive table with their
    /// counts.
    pub(crate) buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Bucket {
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<(u32, u64)>,
}

/// `None` when no query was requested, or no attribute can be queried.
pub(crate) fn query_error(
    release: &Bucketized<'_>,
    rows: usize,
    options: &QueryOptions,
    progress: &dyn Progress,
) -> Result<Option<QueryError>, TableError> {
    check(options)?;
    if options.count == 0 || release.quasi.is_empty() && release.sensitive.is_empty() {
        return Ok(None);
    }
    let quasi: Vec<&Domain> = release.quasi.iter().map(|attribute| &attribute.source.domain).collect();
    let sensitive: Vec<&Domain> = release.sensitive.iter().map(|attribute| &attribute.source.domain).collect();
    let queries = draw_from(&quasi, &sensitive, options);
    progress.stage("answering count queries", Some(options.count as u64));
    let answer = |queries: &[Query]| -> Vec<(u64, f64)> {
        let batch = Batch::of_unchanged(queries, &release.quasi, &release.sensitive);
        let counts = batch.counts(rows);
        let estimates = estimates(&batch, release);
        progress.advance(queries.len() as u64);
        counts.into_iter().zip(estimates).take(queries.len()).collect()
    };
    let answers: Vec<Vec<(u64, f64)>> = parallel::map_ranges(queries.len(), BATCH, |range| answer(&queries[range]));
    Ok(Some(summed_up(answers, rows, options)))
}

/// A released column and, by released code, the queries that accept it.
type Mask<'a> = (&'a Codes, Vec<u64>);

fn estimates(batch: &Batch<'_>, release: &Bucketized<'_>) -> [f64; BATCH] {
    let released = |attribute: &'_ Unchanged<'_>, mask: &[u64]| -> Vec<u64> {
        attribute.source_code.iter().map(|&code| mask[code as usize]).collect()
    };
    let quasi: Vec<Mask<'_>> = batch
        .quasi_used
        .iter()
        .zip(&batch.quasi_masks)
        .map(|(&number, (_, mask))| (&release.quasi[number].released.codes, released(&release.quasi[number], mask)))
        .collect();
    let sensitive: Vec<Mask<'_>> = batch
        .sensitive_masks
        .iter()
        .map(|(number, _, mask)| {
            (&release.sensitive[*number].released.codes, released(&release.sensitive[*number], mask))
        })
        .collect();
    let word = |masks: &[Mask<'_>], row: u32| {
        masks.iter().fold(u64::MAX, |word, (codes, mask)| word & mask[codes.get(row as usize) as usize])
    };
    let mut sums = [0.0; BATCH];
    for bucket in &release.buckets {
        let (mut rows, mut values) = ([0u64; BATCH], [0u64; BATCH]);
        for &row in &bucket.rows {
            for_each_bit(word(&quasi, row), |lane| rows[lane] += 1);
        }
        for &(row, count) in &bucket.values {
            for_each_bit(word(&sensitive, row), |lane| values[lane] += count);
        }
        let size = bucket.rows.len() as f64;
        for ((sum, rows), values) in sums.iter_mut().zip(rows).zip(values) {
            *sum += rows as f64 * values as f64 / size;
        }
    }
    sums
}
