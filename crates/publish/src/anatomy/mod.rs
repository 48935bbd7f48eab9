//! `method = "anatomy"`: quasi attributes as they are in one table, sensitive values in another,
//! joined by buckets in which no value is frequent (Xiao, Tao: *Anatomy: simple and effective
//! privacy preservation*, 2006).
//!
//! Nothing is generalized: the only loss is which of a bucket's values belongs to which of its
//! rows. The cost is that quasi-identifiers are released unchanged, so an adversary who knows
//! somebody's learns whether they are in the table (membership disclosure).
//!
//! Rows are laid in a line along which neighbors are alike (`line.rs`), the line is cut into blocks
//! (`blocks.rs`), and each block is dealt into buckets (`deal.rs`). [`Allowed`] decides which
//! buckets are allowed, so a guarantee that survives merging needs no bucketizer of its own. With
//! `assignment = "random"` all rows are one block, as in the paper. Where numbers must not be
//! close, rows of a block are exchanged between its buckets (`exchange.rs`), because the distances
//! allow it and the blocks are long.

mod allowed;
mod blocks;
mod chance;
mod deal;
mod exchange;
mod line;

use hedgerow_policy::{Assignment, Role};
use hedgerow_release::manifest::Rows;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use crate::bind::Bound;
use crate::bucketized;
use crate::draft::Draft;
use crate::error::PublishError;
use crate::publish::PublishOptions;

pub use allowed::Allowed;
pub(crate) use allowed::refuse;
pub use blocks::{Buckets, in_blocks};
pub use chance::Chance;
pub use deal::{at_random, most_buckets};
pub use exchange::exchanged;
pub use line::line;

pub(crate) fn draft<'a>(
    bound: &'a Bound<'_>,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Draft<'a>, PublishError> {
    let count = bound.table.rows;
    options.progress.stage("searching", Some(count as u64));
    let protected = bound.policy.attributes.iter().find(|attribute| attribute.role == Role::Sensitive);
    let sensitive = protected
        .and_then(|attribute| bound.table.column(&attribute.name))
        .ok_or_else(|| PublishError::Internal("internal error: the sensitive attribute was not read".to_owned()))?;
    let allowed = allowed::eligible(bound, sensitive)?;
    let cardinality = sensitive.domain.cardinality();
    let buckets = if bound.policy.publish.assignment == Assignment::Random {
        at_random(&sensitive.codes, cardinality, &allowed, rng)
    } else {
        let chance = Chance::new(rng);
        let line = line(&bound.quasi, count, &chance);
        options.progress.check()?;
        in_blocks(&line, &sensitive.codes, cardinality, &allowed, &chance, options.progress)
    };
    options.progress.check()?;
    let buckets =
        buckets.ok_or_else(|| PublishError::Internal("internal error: an eligible table has no buckets".to_owned()))?;
    let (tables, codebook) = bucketized::tables(bound, sensitive, &buckets, rng)?;
    let rows = Rows { source: count as u64, out: count as u64, suppressed: 0 };
    Ok(Draft::new(tables, codebook, rows, losses(bound, &buckets)))
}

/// The loss measures that apply: those over class sizes, where a bucket is a class. Measures of
/// generalized cells (ncp, precision, granularity) would all be 0, as if nothing were lost, and are
/// omitted.
fn losses(bound: &Bound<'_>, buckets: &Buckets) -> Map<String, Value> {
    let mut sizes = vec![0u64; buckets.count as usize];
    for &bucket in &buckets.of_row {
        sizes[bucket as usize] += 1;
    }
    let discernibility: u128 = sizes.iter().map(|&size| u128::from(size) * u128::from(size)).sum();
    let average = bound.table.rows as f64 / sizes.len() as f64 / bound.k() as f64;
    let mut losses = Map::new();
    losses.insert("discernibility".to_owned(), json!(discernibility as f64));
    losses.insert("average-class".to_owned(), json!(average));
    losses
}
