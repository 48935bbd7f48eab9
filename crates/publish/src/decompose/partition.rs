//! The rows of a table by their combinations of some attributes, of which only those that several rows share are kept (stripped
//! partitions; Huhtala, Kärkkäinen, Porkka, Toivonen: *TANE*, 1999). One more attribute divides these further and touches no
//! other row: the more attributes a table has, the less is left to look at.

use hedgerow_table::Codes;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Class after class, each of two rows or more.
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Partition {
    /// All rows as one class: nothing is told yet.
    pub fn whole(rows: usize) -> Partition {
        match rows {
            0 | 1 => Partition { rows: Vec::new(), ends: Vec::new() },
            _ => Partition { rows: (0..rows as u32).collect(), ends: vec![rows as u32] },
        }
    }

    /// The classes divided by one more attribute, in the order in which their values first occur.
    pub fn refined(&self, column: &Codes, cardinality: usize) -> Partition {
        let mut counts = vec![0u32; cardinality];
        let mut seen: Vec<u32> = Vec::new();
        let mut refined = Partition { rows: Vec::with_capacity(self.rows.len()), ends: Vec::new() };
        for class in self.classes() {
            for &row in class {
                let code = column.get(row as usize);
                if counts[code as usize] == 0 {
                    seen.push(code);
                }
                counts[code as usize] += 1;
            }
            // From how many rows there are of a value to where its next row goes; alone it goes nowhere.
            let mut next = refined.rows.len() as u32;
            for &code in &seen {
                let count = std::mem::replace(&mut counts[code as usize], ALONE);
                if count > 1 {
                    counts[code as usize] = next;
                    next += count;
                    refined.ends.push(next);
                }
            }
            refined.rows.resize(next as usize, 0);
            for &row in class {
                let place = &mut counts[column.get(row as usize) as usize];
                if *place != ALONE {
                    refined.rows[*place as usize] = row;
                    *place += 1;
                }
            }
            seen.drain(..).for_each(|code| counts[code as usize] = 0);
        }
        refined
    }

    /// Rows that share their combination with others, class by class.
    pub fn classes(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start as usize..end as usize])
    }

    /// Of the rows' combinations, in nats; `rows` are all of the table.
    pub fn entropy(&self, rows: usize) -> f64 {
        let shared: f64 = self.classes().map(|class| class.len() as f64 * (class.len() as f64).ln()).sum();
        (rows as f64).ln() - shared / (rows as f64).max(1.0)
    }
}

const ALONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn classes_are_the_rows_that_agree() {
        for seed in 0..200 {
            let mut rng = StdRng::seed_from_u64(seed);
            let rows = rng.random_range(0..30usize);
            let columns: Vec<(Codes, usize)> = (0..rng.random_range(0..4))
                .map(|_| {
                    let cardinality = rng.random_range(1..6usize);
                    let codes = (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect::<Vec<_>>();
                    (Codes::from_iter(cardinality, codes), cardinality)
                })
                .collect();
            let refine = |partition: Partition, (column, size): &(Codes, usize)| partition.refined(column, *size);
            let found = columns.iter().fold(Partition::whole(rows), refine);
            let mut classes: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
            for row in 0..rows {
                let key = columns.iter().map(|(column, _)| column.get(row)).collect();
                classes.entry(key).or_default().push(row as u32);
            }
            let entropy: f64 =
                classes.values().map(|class| class.len() as f64 / rows as f64).map(|share| -share * share.ln()).sum();
            if rows > 0 {
                assert!((found.entropy(rows) - entropy).abs() < 1e-12, "seed {seed}");
            }
            let mut expected: Vec<Vec<u32>> = classes.into_values().filter(|class| class.len() > 1).collect();
            expected.sort();
            let mut found: Vec<Vec<u32>> = found.classes().map(<[u32]>::to_vec).collect();
            found.sort();
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}
