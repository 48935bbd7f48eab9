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
        let mut values = vec![0u32; of_row.len()];
        for (&bucket, value) in of_row.iter().zip(column.iter()) {
            let next = &mut ends[bucket as usize];
            values[*next as usize] = value;
            *next += 1;
        }
        let members = starts.windows(2).map(|bounds| {
            let own = &mut values[bounds[0] as usize..bounds[1] as usize];
            own.sort_unstable();
            own.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as u32)).collect()
        });
        Some(Groups::of(of_row, members))
    }

    /// From the bucket of every row and the values of every bucket.
    pub fn of(of_row: Vec<u32>, members: impl Iterator<Item = Vec<(u32, u32)>>) -> Groups {
        let mut groups = Groups { of_row, starts: vec![0], values: Vec::new(), sizes: Vec::new() };
        for values in members {
            groups.sizes.push(values.iter().map(|&(_, count)| count).sum());
            groups.values.extend(values);
            groups.starts.push(groups.values.len() as u32);
        }
        groups
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Rows in a bucket.
    pub fn size(&self, group: u32) -> u32 {
        self.sizes[group as usize]
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
            for (group, counts) in found.into_iter().enumerate() {
                let told: Vec<(u32, u32)> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
                assert_eq!(groups.values(group as u32), told, "case {case}");
                let most = told.iter().map(|&(_, count)| count).max().unwrap();
                assert!(most * l as u32 <= groups.size(group as u32), "case {case}: {told:?}");
            }
        }
    }
}
