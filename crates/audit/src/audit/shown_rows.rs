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

/// The attacker who misses nothing, for every sensitive attribute.
fn every_world(released: &[Released<'_>], options: &AuditOptions<'_>) -> Result<Vec<Finding>, TableError> {
    let mut protected: Vec<&str> =
        released.iter().flat_map(|table| &table.classes.sensitive).map(|sensitive| sensitive.name.as_str()).collect();
    protected.sort_unstable();
    protected.dedup();
    let attacker = Attacker {
        people: options.people,
        columns: options.columns,
        prior: &options.prior,
        joint: &options.joint,
        progress: options.progress,
    };
    let by_shares = Attacker { people: None, ..attacker };
    let mut findings = Vec::new();
    for protect in protected {
        findings.extend(worlds::run(protect, released, attacker)?);
        if options.people.is_some() && !options.joint.is_empty() {
            findings.extend(worlds::run(protect, released, by_shares)?);
        }
    }
    findings.iter_mut().for_each(|finding| finding.count_below(options.l));
    Ok(findings)
}

fn contradictions_of(release: &OpenedRelease<'_>) -> impl Iterator<Item = Contradiction> {
    let problems = release.release.contradictions().iter();
    problems.map(|problem| Contradiction { release: release.name.to_owned(), problem: problem.clone() })
}
