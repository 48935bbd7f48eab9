//! Rows grouped by the values of some columns, without the rows that stand alone: adding a column
//! cannot join a row to others again. (Stripped partitions, Huhtala, Kärkkäinen, Porkka and
//! Toivonen: TANE, Computer Journal 1999.)

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use hedgerow_table::Codes;

/// Groups of at least two rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    /// The rows that are in a group, in order, and the group of each.
    rows: Vec<u32>,
    groups: Vec<u32>,
    count: u32,
    /// Rows that stand alone.
    pub(crate) unique: u64,
}

impl Partition {
    /// All rows in one group.
    pub(crate) fn of_all(rows: usize) -> Partition {
        let rows: Vec<u32> = (0..rows as u32).collect();
        match rows.len() {
            1 => Partition { rows: Vec::new(), groups: Vec::new(), count: 0, unique: 1 },
            _ => Partition { groups: vec![0; rows.len()], rows, count: 1, unique: 0 },
        }
    }

    /// The number of groups, including those of a single row.
    pub(crate) fn groups(&self) -> u64 {
        u64::from(self.count) + self.unique
    }

    /// Divides every group by the codes of a column; each code is below `cardinality`.
    pub(crate) fn refined(&self, codes: &Codes, cardinality: usize) -> Partition {
        const UNSEEN: u32 = u32::MAX;
        let cells = u64::from(self.count) * cardinality.max(1) as u64;
        let key = |place: usize| {
            u64::from(self.groups[place]) * cardinality.max(1) as u64 + u64::from(codes.get(self.rows[place] as usize))
        };
        // The first pass numbers the new groups and counts them, the second keeps those of several.
        let mut sizes: Vec<u32> = Vec::new();
        let mut numbers = vec![0u32; self.rows.len()];
        let mut next = |known: Option<u32>| match known {
            Some(number) => {
                sizes[number as usize] += 1;
                number
            }
            None => {
                sizes.push(1);
                sizes.len() as u32 - 1
            }
        };
        if cells <= 4 * self.rows.len() as u64 + 1024 {
            let mut of_key = vec![UNSEEN; cells as usize];
            for (place, number) in numbers.iter_mut().enumerate() {
                let slot = &mut of_key[key(place) as usize];
                *slot = next(Some(*slot).filter(|&known| known != UNSEEN));
                *number = *slot;
            }
        } else {
            let mut of_key: HashMap<u64, u32> = HashMap::with_capacity(self.rows.len() / 2);
            for (place, number) in numbers.iter_mut().enumerate() {
                *number = match of_key.entry(key(place)) {
                    Entry::Occupied(known) => next(Some(*known.get())),
                    Entry::Vacant(new) => *new.insert(next(None)),
                };
            }
        }
        let mut renumbered = vec![UNSEEN; sizes.len()];
        let mut refined = Partition { rows: Vec::new(), groups: Vec::new(), count: 0, unique: self.unique };
        for (&row, &number) in self.rows.iter().zip(&numbers) {
            if sizes[number as usize] == 1 {
                refined.unique += 1;
                continue;
            }
            let slot = &mut renumbered[number as usize];
            if *slot == UNSEEN {
                *slot = refined.count;
                refined.count += 1;
            }
            refined.rows.push(row);
            refined.groups.push(*slot);
        }
        refined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt as _, SeedableRng as _};

    /// Counts combinations of values in a map, row by row.
    fn by_hand(columns: &[Vec<u32>], rows: usize) -> (u64, u64) {
        let mut counts: HashMap<Vec<u32>, u64> = HashMap::new();
        for row in 0..rows {
            *counts.entry(columns.iter().map(|column| column[row]).collect()).or_default() += 1;
        }
        (counts.values().filter(|&&count| count == 1).count() as u64, counts.len() as u64)
    }

    #[test]
    fn refining_finds_the_groups_that_counting_finds() {
        let fixed = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
        for seed in fixed.map_or(0..400, |seed| seed..seed + 1) {
            let mut rng = StdRng::seed_from_u64(seed);
            let rows = rng.random_range(0..40usize);
            let mut partition = Partition::of_all(rows);
            let mut columns = Vec::new();
            for _ in 0..rng.random_range(1..5) {
                // Few values are counted in an array, many in a map.
                let cardinality = [1usize, 2, 5, 5000][rng.random_range(0..4)];
                let column: Vec<u32> = (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect();
                partition = partition.refined(&Codes::from_iter(cardinality, column.iter().copied()), cardinality);
                columns.push(column);
                assert_eq!((partition.unique, partition.groups()), by_hand(&columns, rows), "seed {seed}");
            }
        }
    }
}
