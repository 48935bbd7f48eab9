//! A bucketized release: the tables `quasi` and `sensitive`.
//!
//! The group numbers are drawn at random, and the rows of both tables are shuffled independently,
//! so that nothing but `group` joins them. Quasi-identifiers are released as they are, on level 0.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_draft::draft::DraftTable;
use hedgerow_draft::generalized::on_level;
use hedgerow_draft::generalized::{self, Recoded};
use hedgerow_draft::rows::{ReleasedColumn, shuffle};
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Column, Domain, Kind, TableError, Values};
use rand::rngs::StdRng;

use crate::anatomy::{Buckets, run_lengths};

/// The released tables.
pub(crate) struct Bucketized<'a> {
    /// Both tables.
    pub(crate) tables: Vec<DraftTable<'a>>,
    pub(crate) codebook: Codebook,
    /// The number that stands for each bucket, from 0 on.
    pub(crate) numbers: Vec<u32>,
}

/// From the sensitive value and the bucket of every row. Where the rows are outside of memory,
/// `quasi` names its columns, and the row store adds the group of each.
pub(crate) fn tables<'a>(
    bound: &'a Bound<'_>,
    sensitive: &'a Column,
    values: &Codes,
    buckets: &Buckets,
    outside: bool,
    rng: &mut StdRng,
) -> Result<Bucketized<'a>, TableError> {
    let mut numbers: Vec<u32> = (0..buckets.count).collect();
    shuffle(&mut numbers, rng);
    let groups = |codes: Codes| ReleasedColumn {
        name: GROUP,
        codes: Cow::Owned(codes),
        domain: Cow::Owned(Domain::new(Values::Integer((1..=i64::from(buckets.count)).collect()), false)),
        kind: Kind::Integer,
        texts: Vec::new(),
    };
    let occurring = bound.quasi.iter().enumerate().map(|(index, quasi)| occurring(quasi, bound.counts_of_quasi(index)));
    let codebook = generalized::codebook(bound, &occurring.collect::<Vec<_>>(), None)?;
    let mut columns =
        generalized::released_columns(bound, bound.quasi.iter().map(|quasi| on_level(quasi, 0)).collect());
    columns.retain(|column| column.name != sensitive.name);
    let of_row = if outside { &[] } else { buckets.of_row.as_slice() };
    columns.push(groups(Codes::U32(of_row.iter().map(|&bucket| numbers[bucket as usize]).collect())));
    let quasi = DraftTable::of_columns("quasi", columns, None, bound);

    let GroupCounts { groups: group_of_count, values, counts, distinct } =
        GroupCounts::new(values, sensitive.domain.cardinality(), buckets, &numbers);
    let texts = (0..distinct.cardinality() as u32).map(|code| distinct.text(code)).collect();
    let (codes, domain) = (Cow::Owned(counts), Cow::Owned(distinct));
    let counts = ReleasedColumn { name: COUNT, codes, domain, kind: Kind::Integer, texts };
    let values = ReleasedColumn { codes: Cow::Owned(values), ..ReleasedColumn::as_it_is(sensitive) };
    let columns = vec![groups(group_of_count), values, counts];
    let sensitive = DraftTable::of_columns("sensitive", columns, None, bound).of_other_rows();
    Ok(Bucketized { tables: vec![quasi, sensitive], codebook, numbers })
}

/// An attribute as it is, with each value that occurs once: all that a codebook is made of.
fn occurring<'a>(quasi: &'a Quasi<'_>, counts: &[u64]) -> Recoded<'a> {
    let codes = (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(code, _)| code);
    Recoded { codes: Cow::Owned(Codes::from_iter(counts.len(), codes)), ..on_level(quasi, 0) }
}

/// The rows of `sensitive`: every value that occurs in a group, and how often.
struct GroupCounts {
    groups: Codes,
    values: Codes,
    counts: Codes,
    /// The counts that occur, ascending.
    distinct: Domain,
}

impl GroupCounts {
    fn new(codes: &Codes, cardinality: usize, buckets: &Buckets, numbers: &[u32]) -> GroupCounts {
        let mut by_group = by_group(codes, buckets, numbers);
        let mut distinct = BTreeSet::new();
        let (mut rows, mut runs) = (0, Vec::new());
        for bounds in by_group.starts.windows(2) {
            let own = &mut by_group.codes[bounds[0] as usize..bounds[1] as usize];
            own.sort_unstable();
            run_lengths(own.iter(), &mut runs);
            rows += runs.len();
            distinct.extend(runs.iter().map(|&(_, count)| i64::from(count)));
        }
        let distinct: Vec<i64> = distinct.into_iter().collect();
        // Once it is known how many rows there are and how wide their codes: there may be as many
        // as in the source.
        let mut groups = Codes::with_capacity(numbers.len(), rows);
        let mut values = Codes::with_capacity(cardinality, rows);
        let mut counts = Codes::with_capacity(distinct.len(), rows);
        for (group, bounds) in (0..).zip(by_group.starts.windows(2)) {
            run_lengths(by_group.codes[bounds[0] as usize..bounds[1] as usize].iter(), &mut runs);
            for &(value, count) in &runs {
                groups.push(group);
                values.push(value);
                counts.push(distinct.binary_search(&i64::from(count)).expect("collected above") as u32);
            }
        }
        GroupCounts { groups, values, counts, distinct: Domain::new(Values::Integer(distinct), false) }
    }
}

/// The values of all rows, group after group.
struct ByGroup {
    codes: Vec<u32>,
    /// Where each group begins, and the end of all.
    starts: Vec<u32>,
}

fn by_group(codes: &Codes, buckets: &Buckets, numbers: &[u32]) -> ByGroup {
    let group = |bucket: u32| numbers[bucket as usize] as usize;
    let mut starts = vec![0u32; numbers.len() + 1];
    buckets.of_row.iter().for_each(|&bucket| starts[group(bucket) + 1] += 1);
    (0..numbers.len()).for_each(|group| starts[group + 1] += starts[group]);
    let mut next = starts.clone();
    let mut by_group = vec![0u32; buckets.of_row.len()];
    for (&bucket, code) in buckets.of_row.iter().zip(codes.iter()) {
        let next = &mut next[group(bucket)];
        by_group[*next as usize] = code;
        *next += 1;
    }
    ByGroup { codes: by_group, starts }
}
