//! The buckets of one sub-table: rows in the order of their protected values, those of one value in
//! random order, dealt round to as many buckets as the guarantees allow (see [`crate::anatomy`]).
//! Every table's buckets are drawn apart from the others'.

use hedgerow_table::Codes;
use rand::rngs::StdRng;

use crate::anatomy::{BucketGuarantees, Buckets, at_random};

/// Which bucket each row is in, and the protected values of each bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// [`Groups::NONE`] for rows without a sensitive value.
    pub of_row: Vec<u32>,
    pub held: BucketContent,
}

/// The content of buckets.
#[derive(Debug, Clone, PartialEq)]
pub enum BucketContent {
    Dealt(Round),
    Listed(Lists),
}

impl Groups {
    pub const NONE: u32 = u32::MAX;

    /// `None` when not even one bucket of all rows is allowed.
    pub fn dealt(column: &Codes, cardinality: usize, allowed: &BucketGuarantees, rng: &mut StdRng) -> Option<Groups> {
        let Buckets { of_row, count } = at_random(column, cardinality, allowed, rng)?;
        Some(Groups { of_row, held: BucketContent::Dealt(Round::new(&column.counts(cardinality), count)) })
    }

    /// From the bucket of every row and the values of every bucket, each with how many rows have
    /// it. What a value is only the maker knows: a code, or a number of a combination.
    pub fn of(of_row: Vec<u32>, members: impl Iterator<Item = Vec<(u32, u32)>>) -> Groups {
        let mut lists = Lists { starts: vec![0], values: Vec::new(), sizes: Vec::new() };
        members.for_each(|values| lists.push(values));
        Groups { of_row, held: BucketContent::Listed(lists) }
    }

    pub fn len(&self) -> usize {
        match &self.held {
            BucketContent::Dealt(round) => round.buckets as usize,
            BucketContent::Listed(lists) => lists.sizes.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows in a bucket.
    pub fn size(&self, group: u32) -> u32 {
        match &self.held {
            BucketContent::Dealt(round) => round.size(group),
            BucketContent::Listed(lists) => lists.sizes[group as usize],
        }
    }
}

/// All rows by value, dealt from the first bucket to the last and round again: then it follows from
/// where a value begins and ends which buckets hold it, without a look into buckets,
/// which are anywhere in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Of the first row of each value, and behind the last: how often it went round before, and the
    /// bucket.
    starts: Vec<(u32, u32)>,
    pub buckets: u32,
    /// Rows of each bucket; the first buckets have one more.
    pub full: u32,
    pub longer: u32,
}

/// How a value is dealt: so often to all buckets, once more to those before `to`, and once less to
/// those before `from`.
#[derive(Debug, Clone, Copy)]
pub struct DealtValue {
    pub rounds: u32,
    pub from: u32,
    pub to: u32,
}

impl DealtValue {
    /// Rows with the value in a bucket.
    pub fn count(self, group: u32) -> u32 {
        self.rounds + u32::from(group < self.to) - u32::from(group < self.from)
    }

    /// The most that some bucket may have.
    pub fn most(self) -> u32 {
        self.rounds + u32::from(self.from < self.to)
    }
}

impl Round {
    fn new(counts: &[u64], buckets: u32) -> Round {
        let places = std::iter::once(0).chain(counts.iter().scan(0, |place, &count| {
            *place += count as u32;
            Some(*place)
        }));
        let starts: Vec<(u32, u32)> = places.map(|place| (place / buckets, place % buckets)).collect();
        let (full, longer) = starts.last().copied().unwrap_or_default();
        Round { starts, buckets, full, longer }
    }

    pub fn size(&self, group: u32) -> u32 {
        self.full + u32::from(group < self.longer)
    }

    pub fn dealt(&self, value: u32) -> DealtValue {
        let (start, end) = (self.starts[value as usize], self.starts[value as usize + 1]);
        DealtValue { rounds: end.0 - start.0, from: start.1, to: end.1 }
    }

    /// For every value and all buckets that have as many rows of it, and as many rows: these two
    /// numbers, and how many buckets.
    pub fn tally(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        (0..self.starts.len() as u32 - 1).flat_map(move |value| {
            let dealt = self.dealt(value);
            let mut bounds = [0, dealt.from, dealt.to, self.longer, self.buckets];
            bounds.sort_unstable();
            let intervals = (0..bounds.len() - 1).map(move |at| (bounds[at], bounds[at + 1] - bounds[at]));
            intervals.map(move |(group, buckets)| (dealt.count(group), self.size(group), buckets))
        })
    }
}

/// The values of one bucket after those of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists {
    starts: Vec<u32>,
    values: Vec<(u32, u32)>,
    sizes: Vec<u32>,
}

impl Lists {
    fn push(&mut self, values: Vec<(u32, u32)>) {
        self.sizes.push(values.iter().map(|&(_, count)| count).sum());
        self.values.extend(values);
        self.starts.push(self.values.len() as u32);
    }

    /// Each value of a bucket with its share.
    pub fn shares(&self, group: u32) -> impl Iterator<Item = (u32, f64)> {
        let size = f64::from(self.sizes[group as usize]);
        let own = self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize;
        self.values[own].iter().map(move |&(value, count)| (value, f64::from(count) / size))
    }

    /// As [`Round::tally`], a bucket at a time.
    pub fn tally(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        self.sizes.iter().zip(self.starts.windows(2)).flat_map(|(&size, bounds)| {
            let own = &self.values[bounds[0] as usize..bounds[1] as usize];
            own.iter().map(move |&(_, count)| (count, size, 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hedgerow_privacy::{Context, Distribution, Model, models};
    use hedgerow_table::Ratio;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn buckets_keep_the_guarantee_and_hold_all_rows() {
        let mut rng = StdRng::seed_from_u64(1);
        for case in 0..300 {
            let rows = rng.random_range(1..40);
            let cardinality = rng.random_range(1..6usize);
            let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect();
            let column = Codes::from_iter(cardinality, codes.iter().copied());
            let most = column.counts(cardinality).into_iter().max().unwrap() as usize;
            let l = rng.random_range(1..4);
            let model = Model::FrequencyLDiversity { l: Ratio::integer(l as u64) };
            let allowed = BucketGuarantees::new(
                vec![models::guarantee(&model, &Context::default()).unwrap()],
                Distribution::default(),
            );
            let groups = Groups::dealt(&column, cardinality, &allowed, &mut rng);
            assert_eq!(groups.is_some(), most * l <= rows, "case {case}: {codes:?} with {l}");
            let Some(groups) = groups else { continue };
            let mut found = vec![vec![0u32; cardinality]; groups.len()];
            for (row, &code) in codes.iter().enumerate() {
                found[groups.of_row[row] as usize][code as usize] += 1;
            }
            let BucketContent::Dealt(round) = &groups.held else { panic!("dealt") };
            for code in 0..cardinality {
                let most = found.iter().map(|counts| counts[code]).max().unwrap();
                assert_eq!(round.dealt(code as u32).most(), most, "case {case}: {codes:?}");
            }
            let mut tally: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for counts in &found {
                let size = counts.iter().sum();
                counts
                    .iter()
                    .filter(|&&count| count > 0)
                    .for_each(|&count| *tally.entry((count, size)).or_default() += 1);
            }
            let mut counted = BTreeMap::new();
            round.tally().for_each(|(count, size, buckets)| *counted.entry((count, size)).or_default() += buckets);
            counted.retain(|&(count, _), buckets| count > 0 && *buckets > 0);
            assert_eq!(counted, tally, "case {case}");
            for (group, counts) in found.into_iter().enumerate() {
                assert_eq!(groups.size(group as u32), counts.iter().sum::<u32>(), "case {case}");
                let dealt = (0..cardinality as u32).map(|code| round.dealt(code).count(group as u32));
                assert_eq!(dealt.collect::<Vec<_>>(), counts, "case {case}");
                let most = counts.iter().max().unwrap();
                assert!(most * l as u32 <= groups.size(group as u32), "case {case}: {counts:?}");
            }
        }
    }
}
