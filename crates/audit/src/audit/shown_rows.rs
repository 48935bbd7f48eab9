//! The rows that an attacker sees of each table of a release.

use hedgerow_release::kinds::bucketized::Bucketized;
use hedgerow_release::kinds::decomposed::Form;
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::Table;

use crate::adversaries::worlds::BucketRows;

/// The rows of one table of several, or of one that lists sensitive values by bucket.
#[derive(Default)]
pub(super) struct ShownRows<'a> {
    pub(super) rows: Option<&'a Table>,
    pub(super) by_bucket: Option<BucketRows<'a>>,
}

pub(super) fn rows_of(release: &Release, number: usize) -> ShownRows<'_> {
    match release.tables() {
        ReleaseTables::Bucketized(tables) => by_bucket(tables),
        ReleaseTables::Decomposed(tables) => match tables.tables.get(number).map(|table| &table.form) {
            Some(Form::Rows(tables)) => ShownRows { rows: Some(&tables.table), by_bucket: None },
            Some(Form::Buckets(tables)) => by_bucket(tables),
            Some(Form::Combined(tables)) => {
                // Rows without sensitive values have no bucket.
                let rows = BucketRows { rows: &tables.quasi, bucket_of_row: &[], numbers: &[] };
                ShownRows { rows: None, by_bucket: Some(rows) }
            }
            None => ShownRows::default(),
        },
        _ => ShownRows::default(),
    }
}

fn by_bucket(tables: &Bucketized) -> ShownRows<'_> {
    let rows = BucketRows { rows: &tables.quasi, bucket_of_row: &tables.bucket_of_row, numbers: &tables.numbers };
    ShownRows { rows: None, by_bucket: tables.in_memory.then_some(rows) }
}
