//! The buckets of one sub-table: rows in the order of their protected values, those of one value in random order, dealt round
//! to as many buckets as the guarantees allow (see [`crate::anatomy`]). Every table's buckets are drawn apart from the others'.

use hedgerow_table::Codes;
use rand::rngs::StdRng;

use crate::anatomy::{Allowed, Buckets, at_random};

/// Which bucket each row is in, and the protected values of each bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// [`Groups::NONE`] for rows whose protected values are not told at all.
    pub of_row: Vec<u32>,
    starts: Vec<u32>,
    /// Value and rows with it; what a value is only the maker knows: a code, or a number of a combination.
    values: Vec<(u32, u32)>,
    sizes: Vec<u32>,
    round: Option<Round>,
}

/// All rows by value, dealt from the first bucket to the last and round again: then it follows from where a value begins and ends which
/// buckets hold it, and nobody needs to look into buckets, which are anywhere in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Of the first row of each value, and behind the last: how often it went round before, and the bucket.
    starts: Vec<(u32, u32)>,
    buckets: u32,
    /// Rows of each bucket, but one more of the first so many.
    full: u32,
    longer: u32,
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

    /// Rows with a value in a bucket.
    fn count(&self, group: u32, value: u32) -> u32 {
        let (start, end) = (self.starts[value as usize], self.starts[value as usize + 1]);
        end.0 - start.0 + u32::from(group < end.1) - u32::from(group < start.1)
    }

    fn size(&self, group: u32) -> u32 {
        self.full + u32::from(group < self.longer)
    }

    /// The shares of a value in some buckets, added up; ascending, and some may be there several times.
    pub fn share(&self, groups: &[u32], value: u32) -> f64 {
        let (start, end) = (self.starts[value as usize], self.starts[value as usize + 1]);
        let below = |bucket: u32| groups.partition_point(|&group| group < bucket) as u64;
        let rounds = u64::from(end.0 - start.0);
        let up_to = |most: u32| rounds * below(most) + below(end.1.min(most)) - below(start.1.min(most));
        let in_longer = up_to(self.longer);
        let in_others = up_to(self.buckets) - in_longer;
        in_longer as f64 / f64::from(self.full + 1) + in_others as f64 / f64::from(self.full)
    }
}

impl Groups {
    pub const NONE: u32 = u32::MAX;

    /// `None` when not even one bucket of all rows is allowed.
    pub fn dealt(column: &Codes, cardinality: usize, allowed: &Allowed, rng: &mut StdRng) -> Option<Groups> {
        let Buckets { of_row, count } = at_random(column, cardinality, allowed, rng)?;
        // All buckets' values in one list, bucket after bucket.
        let mut ends = vec![0u32; count as usize + 1];
        of_row.iter().for_each(|&bucket| ends[bucket as usize + 1] += 1);
        (1..ends.len()).for_each(|bucket| ends[bucket] += ends[bucket - 1]);
        let starts = ends.clone();
        let mut dealt = vec![0u32; of_row.len()];
        for (&bucket, value) in of_row.iter().zip(column.iter()) {
            let next = &mut ends[bucket as usize];
            dealt[*next as usize] = value;
            *next += 1;
        }
        let mut groups = Groups::of(of_row, std::iter::empty());
        groups.round = Some(Round::new(&column.counts(cardinality), count));
        for bounds in starts.windows(2) {
            let own = &mut dealt[bounds[0] as usize..bounds[1] as usize];
            own.sort_unstable();
            groups.push(own.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as u32)));
        }
        Some(groups)
    }

    /// From the bucket of every row and the values of every bucket.
    pub fn of(of_row: Vec<u32>, members: impl Iterator<Item = Vec<(u32, u32)>>) -> Groups {
        let mut groups = Groups { of_row, starts: vec![0], values: Vec::new(), sizes: Vec::new(), round: None };
        members.for_each(|values| groups.push(values.into_iter()));
        groups
    }

    /// One more bucket.
    fn push(&mut self, values: impl Iterator<Item = (u32, u32)>) {
        let start = self.values.len();
        self.values.extend(values);
        self.sizes.push(self.values[start..].iter().map(|&(_, count)| count).sum());
        self.starts.push(self.values.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Rows in a bucket.
    pub fn size(&self, group: u32) -> u32 {
        match &self.round {
            Some(round) => round.size(group),
            None => self.sizes[group as usize],
        }
    }

    /// Rows with a value in a bucket.
    pub fn count(&self, group: u32, value: u32) -> u32 {
        let told = || self.values(group).iter().find(|told| told.0 == value).map_or(0, |&(_, count)| count);
        self.round.as_ref().map_or_else(told, |round| round.count(group, value))
    }

    /// Where rows are dealt round and round.
    pub fn round(&self) -> Option<&Round> {
        self.round.as_ref()
    }

    pub fn values(&self, group: u32) -> &[(u32, u32)] {
        &self.values[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::{Model, Whole, models};
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
            let allowed = Allowed::new(vec![models::guarantee(&model, None, None).unwrap()], Whole::default());
            let groups = Groups::dealt(&column, cardinality, &allowed, &mut rng);
            assert_eq!(groups.is_some(), most * l <= rows, "case {case}: {codes:?} with {l}");
            let Some(groups) = groups else { continue };
            let mut found = vec![vec![0u32; cardinality]; groups.len()];
            for (row, &code) in codes.iter().enumerate() {
                found[groups.of_row[row] as usize][code as usize] += 1;
            }
            let mut some: Vec<u32> = (0..rows).map(|_| rng.random_range(0..groups.len() as u32)).collect();
            some.sort_unstable();
            for code in 0..cardinality as u32 {
                let share =
                    |&group: &u32| f64::from(found[group as usize][code as usize]) / f64::from(groups.size(group));
                let told = groups.round().unwrap().share(&some, code);
                assert!(
                    (told - some.iter().map(share).sum::<f64>()).abs() < 1e-9,
                    "case {case}: {some:?} of {groups:?}"
                );
            }
            for (group, counts) in found.into_iter().enumerate() {
                assert_eq!(groups.size(group as u32), counts.iter().sum::<u32>(), "case {case}");
                let told: Vec<(u32, u32)> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
                assert_eq!(groups.values(group as u32), told, "case {case}");
                let asked = (0..cardinality as u32).map(|code| (code, groups.count(group as u32, code)));
                assert_eq!(asked.filter(|asked| asked.1 > 0).collect::<Vec<_>>(), told, "case {case}");
                let most = told.iter().map(|&(_, count)| count).max().unwrap();
                assert!(most * l as u32 <= groups.size(group as u32), "case {case}: {told:?}");
            }
        }
    }
}
