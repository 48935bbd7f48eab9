//! A bucketized release: the tables `quasi` and `sensitive`.
//!
//! The group numbers are drawn at random, and the rows of both tables are shuffled independently,
//! so that nothing but `group` joins them. Quasi-identifiers are released as they are, on level 0.

use std::borrow::Cow;

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Column, Domain, Kind, TableError, Values};
use rand::rngs::StdRng;

use crate::anatomy::Buckets;
use crate::bind::Bound;
use crate::draft::DraftTable;
use crate::full_domain::recoded;
use crate::generalized;
use crate::rows::{ReleasedColumn, shuffle};

/// Both tables and the codebook.
pub(crate) fn tables<'a>(
    bound: &'a Bound<'_>,
    sensitive: &'a Column,
    buckets: &Buckets,
    rng: &mut StdRng,
) -> Result<(Vec<DraftTable<'a>>, Codebook), TableError> {
    let mut numbers: Vec<u32> = (0..buckets.count).collect();
    shuffle(&mut numbers, rng);
    let groups = |codes: Codes| ReleasedColumn {
        name: GROUP,
        codes: Cow::Owned(codes),
        domain: Cow::Owned(Domain::new(Values::Integer((1..=i64::from(buckets.count)).collect()), false)),
        kind: Kind::Integer,
        texts: (1..=buckets.count).map(|number| number.to_string()).collect(),
    };
    let recoded: Vec<_> = bound.quasi.iter().map(|quasi| recoded(quasi, 0)).collect();
    let codebook = generalized::codebook(bound, &recoded, None)?;
    let mut columns = generalized::released_columns(bound, recoded);
    columns.retain(|column| column.name != sensitive.name);
    columns.push(groups(Codes::U32(buckets.of_row.iter().map(|&bucket| numbers[bucket as usize]).collect())));
    let quasi = DraftTable::of_columns("quasi", columns, None, bound);

    let Counted { groups: group_of_count, values, counts, distinct } = Counted::new(sensitive, buckets, &numbers);
    let texts = (0..distinct.cardinality() as u32).map(|code| distinct.text(code)).collect();
    let (codes, domain) = (Cow::Owned(counts), Cow::Owned(distinct));
    let counts = ReleasedColumn { name: COUNT, codes, domain, kind: Kind::Integer, texts };
    let values = ReleasedColumn { codes: Cow::Owned(values), ..ReleasedColumn::as_it_is(sensitive) };
    let columns = vec![groups(group_of_count), values, counts];
    Ok((vec![quasi, DraftTable::of_columns("sensitive", columns, None, bound)], codebook))
}

/// The rows of `sensitive`: every value that occurs in a group, and how often.
struct Counted {
    groups: Codes,
    values: Codes,
    counts: Codes,
    /// The counts that occur, ascending.
    distinct: Domain,
}

impl Counted {
    fn new(sensitive: &Column, buckets: &Buckets, numbers: &[u32]) -> Counted {
        let bucket_of_row = buckets.of_row.iter();
        let mut pairs: Vec<u64> = bucket_of_row
            .zip(sensitive.codes.iter())
            .map(|(&bucket, code)| u64::from(numbers[bucket as usize]) << 32 | u64::from(code))
            .collect();
        pairs.sort_unstable();
        let runs: Vec<(u64, u32)> =
            pairs.chunk_by(|first, second| first == second).map(|run| (run[0], run.len() as u32)).collect();
        let mut distinct: Vec<i64> = runs.iter().map(|&(_, count)| i64::from(count)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |count: u32| distinct.binary_search(&i64::from(count)).expect("collected above") as u32;
        Counted {
            groups: Codes::U32(runs.iter().map(|&(pair, _)| (pair >> 32) as u32).collect()),
            values: Codes::U32(runs.iter().map(|&(pair, _)| pair as u32).collect()),
            counts: Codes::from_iter(distinct.len(), runs.iter().map(|&(_, count)| place(count))),
            distinct: Domain::new(Values::Integer(distinct.clone()), false),
        }
    }
}
