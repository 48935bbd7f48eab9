//! `method = "anatomy"`: quasi attributes as they are in one table, sensitive values in another,
//! joined by buckets in which no value is frequent (Xiao, Tao: *Anatomy: simple and effective
//! privacy preservation*, 2006).
//!
//! Nothing is generalized: the only loss is which of a bucket's values belongs to which of its
//! rows. The cost is that quasi-identifiers are released unchanged, so an adversary who knows
//! those of a person learns whether they are in the table (membership disclosure).
//!
//! Rows are laid in a line along which neighbors are alike (`line.rs`), the line is cut into blocks
//! (`blocks.rs`), and each block is dealt into buckets (`deal.rs`). [`BucketGuarantees`] decides
//! which buckets are allowed, so a guarantee that survives merging needs no bucketizer of its own.
//! With `assignment = "random"` all rows are one block, as in the paper. Where numbers must not be
//! close, rows of a block are exchanged between its buckets (`exchange.rs`), because the distances
//! allow it and the blocks are long. Rows that are not in memory are dealt by kind (`kinds.rs`).

mod allowed;
mod blocks;
mod chance;
mod deal;
mod exchange;
mod kinds;
mod line;

use std::borrow::Cow;

use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::pieces::Pieces;
use hedgerow_draft::recoded_outside::{RecodedOutside, RowKinds};
use hedgerow_policy::{Assignment, Role};
use hedgerow_release::bucketized::GROUP;
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::{Codes, Column};
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use crate::bucketized;

pub use allowed::BucketGuarantees;
pub use allowed::refuse;
pub use blocks::{Buckets, in_blocks};
pub use chance::Chance;
pub(crate) use deal::run_lengths;
pub use deal::{at_random, most_buckets, places_at_random};
pub use exchange::exchanged;
pub use kinds::Keyed;
pub use kinds::looked_at;
pub use line::{HilbertLine, Space, line};

pub fn draft<'a>(
    bound: &'a Bound<'_>,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Draft<'a>, PublishError> {
    let count = bound.rows();
    options.progress.stage("searching", Some(count));
    let protected = bound.policy.attributes.iter().find(|attribute| attribute.role == Role::Sensitive);
    let sensitive = protected
        .and_then(|attribute| bound.table.column(&attribute.name))
        .ok_or_else(|| PublishError::Internal("internal error: the sensitive attribute was not read".to_owned()))?;
    let allowed = allowed::eligible(bound, sensitive)?;
    let Dealt { buckets, values, outside } = match bound.row_counts() {
        None => dealt(bound, sensitive, &allowed, options, rng)?,
        Some(counts) => dealt_outside(bound, sensitive, counts, &allowed, options, rng)?,
    };
    let losses = losses(count, bound.k(), &buckets);
    let released = bucketized::tables(bound, sensitive, &values, &buckets, outside.is_some(), rng)?;
    let rows = RowTotals { source: count, out: count, suppressed: 0 };
    let Buckets { of_row, count: cardinality } = buckets;
    let recoded = outside.map(|outside| RecodedOutside {
        pieces: Pieces::of_rows(outside.starts, of_row),
        kinds: Some(outside.kinds),
        labels: vec![(GROUP.to_owned(), released.numbers, cardinality as usize)],
    });
    Ok(Draft { recoded, ..Draft::new(released.tables, released.codebook, rows, losses) })
}

/// The result for all rows.
struct Dealt<'a> {
    buckets: Buckets,
    /// The sensitive value of every row.
    values: Cow<'a, Codes>,
    /// Where the rows are not in memory, which they are.
    outside: Option<Numbered>,
}

/// Rows that are numbered kind after kind, those of one kind as the source has them.
struct Numbered {
    kinds: RowKinds,
    /// Where the rows of each kind begin, and the end of all.
    starts: Vec<u32>,
}

fn no_buckets() -> PublishError {
    PublishError::Internal("internal error: an eligible table has no buckets".to_owned())
}

fn dealt<'a>(
    bound: &Bound<'_>,
    sensitive: &'a Column,
    allowed: &BucketGuarantees,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Dealt<'a>, PublishError> {
    let cardinality = sensitive.domain.cardinality();
    let buckets = if bound.policy.publish.assignment == Assignment::Random {
        at_random(&sensitive.codes, cardinality, allowed, rng)
    } else {
        let chance = Chance::new(rng);
        let space = Space::new(bound, cardinality);
        let line = line(&space, &Space::columns(bound, &sensitive.codes), &chance);
        options.progress.check()?;
        in_blocks(line, cardinality, allowed, &chance, options.progress)
    };
    options.progress.check()?;
    let buckets = buckets.ok_or_else(no_buckets)?;
    Ok(Dealt { buckets, values: Cow::Borrowed(&sensitive.codes), outside: None })
}

/// The same for distinct rows, each of which occurs so often.
fn dealt_outside(
    bound: &Bound<'_>,
    sensitive: &Column,
    counts: &[u32],
    allowed: &BucketGuarantees,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Dealt<'static>, PublishError> {
    let cardinality = sensitive.domain.cardinality();
    let (buckets, values, outside) = if bound.policy.publish.assignment == Assignment::Random {
        let counts = bound.counts_of(sensitive);
        let buckets = places_at_random(&counts, allowed, rng).ok_or_else(no_buckets)?;
        (buckets, kinds::values(&counts), kinds::by_value(&counts, &sensitive.name))
    } else {
        let chance = Chance::new(rng);
        let space = Space::new(bound, cardinality);
        let keyed = Keyed::new(&space, &Space::columns(bound, &sensitive.codes), counts);
        let line = keyed.line(&space, &chance);
        options.progress.check()?;
        let buckets = in_blocks(line, cardinality, allowed, &chance, options.progress).ok_or_else(no_buckets)?;
        let values = keyed.values(&space, cardinality);
        (buckets, values, keyed.into_numbered(space, looked_at(bound.policy)).ok_or_else(no_buckets)?)
    };
    options.progress.check()?;
    Ok(Dealt { buckets, values: Cow::Owned(values), outside: Some(outside) })
}

/// The loss measures that apply: those over class sizes, where a bucket is a class. Measures of
/// generalized cells (ncp, precision, granularity) would all be 0, as if nothing were lost, and are
/// omitted.
fn losses(rows: u64, k: u64, buckets: &Buckets) -> Map<String, Value> {
    let mut sizes = vec![0u64; buckets.count as usize];
    for &bucket in &buckets.of_row {
        sizes[bucket as usize] += 1;
    }
    let discernibility: u128 = sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
    let average = rows as f64 / sizes.len() as f64 / k as f64;
    let mut losses = Map::new();
    losses.insert("discernibility".to_owned(), json!(discernibility as f64));
    losses.insert("average-class".to_owned(), json!(average));
    losses
}
