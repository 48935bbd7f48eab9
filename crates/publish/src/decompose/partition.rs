//! The rows of a table by their combinations of some attributes, of which only those that several rows share are kept (stripped
//! partitions; Huhtala, Kärkkäinen, Porkka, Toivonen: *TANE*, 1999). One more attribute divides these further and touches no
//! other row: the more attributes a table has, the less is left to look at.

use std::ops::Range;

use hedgerow_table::{Codes, with_codes};

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
        self.divided(column, cardinality, |place| self.rows[place])
    }

    /// The same, but of where the rows stand here instead of which they are.
    pub fn refined_places(&self, column: &Codes, cardinality: usize) -> Partition {
        self.divided(column, cardinality, |place| place as u32)
    }

    /// These classes, of where the rows stand instead of which they are.
    pub fn places(&self) -> Partition {
        Partition { rows: (0..self.rows.len() as u32).collect(), ends: self.ends.clone() }
    }

    fn divided(&self, column: &Codes, cardinality: usize, told: impl Fn(usize) -> u32) -> Partition {
        let mut counts = vec![0u32; cardinality];
        let mut seen: Vec<u32> = Vec::new();
        let mut refined = Partition { rows: Vec::with_capacity(self.rows.len()), ends: Vec::new() };
        self.each_class(column, |class, codes| {
            if let [one, other] = codes {
                if one == other {
                    refined.rows.extend(class.map(&told));
                    refined.ends.push(refined.rows.len() as u32);
                }
                return;
            }
            count(codes, &mut counts, &mut seen);
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
            for (place, &code) in class.zip(codes) {
                let next = &mut counts[code as usize];
                if *next != ALONE {
                    refined.rows[*next as usize] = told(place);
                    *next += 1;
                }
            }
            seen.drain(..).for_each(|code| counts[code as usize] = 0);
        });
        refined
    }

    /// Every class, by its places, with a column's codes in it. They are looked up for many rows at a time: these lie anywhere in the
    /// column, and waiting for all at once takes little longer than for one, if nothing is decided in between.
    fn each_class(&self, column: &Codes, mut each: impl FnMut(Range<usize>, &[u32])) {
        let mut codes = Vec::new();
        let (mut start, mut ends) = (0, self.ends.as_slice());
        while !ends.is_empty() {
            let within = ends.iter().take_while(|&&end| end as usize <= start + BLOCK).count();
            let (own, rest) = ends.split_at(within.max(1));
            let first = start;
            let rows = &self.rows[first..own[own.len() - 1] as usize];
            with_codes!(column, column => look_up(column, rows, &mut codes));
            for end in own.iter().map(|&end| end as usize) {
                each(start..end, &codes[start - first..end - first]);
                start = end;
            }
            ends = rest;
        }
    }

    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start as usize..end as usize)
    }

    /// Rows that share their combination with others, class by class.
    pub fn classes(&self) -> impl Iterator<Item = &[u32]> {
        self.ranges().map(|class| &self.rows[class])
    }

    /// Of the rows' combinations, in nats; `rows` are all of the table.
    pub fn entropy(&self, rows: usize) -> f64 {
        entropy(self.ranges().map(|class| class.len() as u32), rows)
    }

    /// The same as that of the classes divided by one more attribute, which are only counted.
    pub fn refined_entropy(&self, column: &Codes, cardinality: usize, rows: usize) -> f64 {
        let mut counts = vec![0u32; cardinality];
        let mut sizes: Vec<u32> = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        self.each_class(column, |_, codes| {
            if let [one, other] = codes {
                sizes.extend((one == other).then_some(2));
                return;
            }
            count(codes, &mut counts, &mut seen);
            sizes.extend(seen.drain(..).map(|code| std::mem::take(&mut counts[code as usize])));
        });
        entropy(sizes.into_iter(), rows)
    }
}

fn look_up<C: Copy + Into<u32>>(column: &[C], rows: &[u32], codes: &mut Vec<u32>) {
    codes.clear();
    codes.extend(rows.iter().map(|&row| column[row as usize].into()));
}

/// How often each code occurs, and which do, in the order in which they do first.
fn count(codes: &[u32], counts: &mut [u32], seen: &mut Vec<u32>) {
    for &code in codes {
        let count = &mut counts[code as usize];
        if *count == 0 {
            seen.push(code);
        }
        *count += 1;
    }
}

/// From the sizes of the classes; those of one row need not be among them.
fn entropy(sizes: impl Iterator<Item = u32>, rows: usize) -> f64 {
    // Nearly all are small, and looked up.
    let weight = |size: u32| f64::from(size) * f64::from(size).ln();
    let small: Vec<f64> = std::iter::once(0.0).chain((1..SMALL).map(weight)).collect();
    let shared: f64 = sizes.map(|size| small.get(size as usize).copied().unwrap_or_else(|| weight(size))).sum();
    (rows as f64).ln() - shared / (rows as f64).max(1.0)
}

/// Rows whose codes are looked up at a time; those of a larger class all.
const BLOCK: usize = 4096;

/// Sizes of classes that are looked up.
const SMALL: u32 = 256;

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
            if let Some(((column, size), before)) = columns.split_last() {
                let before = before.iter().fold(Partition::whole(rows), refine);
                let counted = before.refined_entropy(column, *size, rows);
                assert!(rows == 0 || (counted - found.entropy(rows)).abs() < 1e-12, "seed {seed}");
                let mut places = before.refined_places(column, *size);
                places.rows.iter_mut().for_each(|place| *place = before.rows[*place as usize]);
                assert_eq!(places, found, "seed {seed}");
            }
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
