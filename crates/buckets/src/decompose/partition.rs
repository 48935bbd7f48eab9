//! The rows of a table by their combinations of some attributes, of which only those that several
//! rows share are kept (stripped partitions; Huhtala, Kärkkäinen, Porkka, Toivonen: *TANE*, 1999).
//! One more attribute divides these further and touches no other row: the more attributes a table
//! has, the less is left to look at.

use std::ops::Range;
use std::sync::LazyLock;

use hedgerow_table::{Codes, with_codes};

/// A row, maybe with what else is known of it.
pub trait PartitionRow: Copy {
    fn row(self) -> u32;
}

impl PartitionRow for u32 {
    fn row(self) -> u32 {
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition<M = u32> {
    /// Class after class, each of two rows or more.
    members: Vec<M>,
    ends: Vec<u32>,
}

impl Partition {
    /// All rows by one attribute.
    pub fn of_column(column: &Codes, cardinality: usize) -> Partition {
        let counts = column.counts(cardinality);
        let mut partition = Partition::empty();
        let mut next = 0;
        let starts = counts.iter().map(|&count| {
            if count < 2 {
                return ALONE;
            }
            next += count as u32;
            partition.ends.push(next);
            next - count as u32
        });
        let mut places: Vec<u32> = starts.collect();
        partition.members.resize(next as usize, 0);
        with_codes!(column, column => for (row, &code) in (0..).zip(column) {
            let place = &mut places[code as usize];
            if *place != ALONE {
                partition.members[*place as usize] = row;
                *place += 1;
            }
        });
        partition
    }

    /// The same classes, with more about every row.
    pub fn with<M: PartitionRow>(&self, more: impl Fn(u32) -> M) -> Partition<M> {
        Partition { members: self.members.iter().map(|&row| more(row)).collect(), ends: self.ends.clone() }
    }
}

impl<M: PartitionRow> Partition<M> {
    pub fn empty() -> Partition<M> {
        Partition { members: Vec::new(), ends: Vec::new() }
    }

    /// All rows as one class: nothing divides them yet.
    pub fn undivided(members: Vec<M>) -> Partition<M> {
        match members.len() {
            0 | 1 => Partition::empty(),
            rows => Partition { members, ends: vec![rows as u32] },
        }
    }

    /// The classes divided by one more attribute, in the order in which their values first occur.
    /// Within a class the order stays.
    pub fn refined(&self, column: &Codes, cardinality: usize) -> Partition<M> {
        let mut refined = Partition { members: Vec::with_capacity(self.members.len()), ends: Vec::new() };
        let mut division = Division::new(cardinality);
        self.each_class(column, |class, codes| {
            division.each_part(&self.members[class], codes, |part| refined.push(part.iter().copied()));
        });
        refined
    }

    /// One more class.
    pub fn push(&mut self, class: impl IntoIterator<Item = M>) {
        self.members.extend(class);
        self.ends.push(self.members.len() as u32);
    }

    /// Every class, by its places, with a column's codes in it. They are looked up for many rows at
    /// a time: these lie anywhere in the column, and waiting for all at once takes little longer
    /// than for one, if nothing is decided in between.
    pub fn each_class(&self, column: &Codes, mut each: impl FnMut(Range<usize>, &[u32])) {
        let mut codes = Vec::new();
        let (mut start, mut ends) = (0, self.ends.as_slice());
        while !ends.is_empty() {
            let within = ends.iter().take_while(|&&end| end as usize <= start + BLOCK).count();
            let (own, rest) = ends.split_at(within.max(1));
            let first = start;
            let members = &self.members[first..own[own.len() - 1] as usize];
            with_codes!(column, column => look_up(column, members, &mut codes));
            for end in own.iter().map(|&end| end as usize) {
                each(start..end, &codes[start - first..end - first]);
                start = end;
            }
            ends = rest;
        }
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.ends.len()
    }

    pub fn members(&self) -> &[M] {
        &self.members
    }

    /// Rows that share their combination with others, class by class.
    pub fn classes(&self) -> impl Iterator<Item = &[M]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start as usize..end as usize])
    }

    /// Of the rows' combinations, in nats; `rows` are all of the table.
    pub fn entropy(&self, rows: usize) -> f64 {
        let mut shared = Shared::default();
        self.classes().for_each(|class| shared.add(class.len()));
        shared.entropy(rows)
    }

    /// The same as that of the classes divided by one more attribute, which are only counted.
    pub fn refined_entropy(&self, column: &Codes, cardinality: usize, rows: usize) -> f64 {
        let mut division: Division<M> = Division::new(cardinality);
        let mut shared = Shared::default();
        self.each_class(column, |_, codes| division.each_size(codes, |size| shared.add(size)));
        shared.entropy(rows)
    }
}

fn look_up<M: PartitionRow, C: Copy + Into<u32>>(column: &[C], members: &[M], codes: &mut Vec<u32>) {
    codes.clear();
    codes.extend(members.iter().map(|member| column[member.row() as usize].into()));
}

/// Divides one class after the other by the codes of an attribute.
#[derive(Debug)]
pub struct Division<M> {
    counts: Vec<u32>,
    seen: Vec<u32>,
    divided: Vec<M>,
}

impl<M: PartitionRow> Division<M> {
    pub fn new(cardinality: usize) -> Division<M> {
        Division { counts: vec![0; cardinality], seen: Vec::new(), divided: Vec::new() }
    }

    /// How many rows the parts have; of parts of one row some are omitted.
    pub fn each_size(&mut self, codes: &[u32], mut each: impl FnMut(usize)) {
        if let [one, other] = codes {
            if one == other {
                each(2);
            }
            return;
        }
        let Division { counts, seen, .. } = self;
        count(codes, counts, seen);
        seen.drain(..).for_each(|code| each(std::mem::take(&mut counts[code as usize]) as usize));
    }

    /// Every part of two rows or more, in the order in which their codes first occur. Within a part
    /// the order stays.
    pub fn each_part(&mut self, class: &[M], codes: &[u32], mut each: impl FnMut(&[M])) {
        if let [one, other] = codes {
            if one == other {
                each(class);
            }
            return;
        }
        let Division { counts, seen, divided } = self;
        count(codes, counts, seen);
        if let [only] = seen.as_slice() {
            counts[*only as usize] = 0;
            seen.clear();
            return each(class);
        }
        // From how many rows there are of a value to where its next row goes; alone it goes
        // nowhere.
        let mut next = 0;
        for &code in seen.iter() {
            let count = std::mem::replace(&mut counts[code as usize], ALONE);
            if count > 1 {
                counts[code as usize] = next;
                next += count;
            }
        }
        if divided.len() < next as usize {
            divided.resize(next as usize, class[0]);
        }
        for (&member, &code) in class.iter().zip(codes) {
            let next = &mut counts[code as usize];
            if *next != ALONE {
                divided[*next as usize] = member;
                *next += 1;
            }
        }
        let mut start = 0;
        for code in seen.drain(..) {
            let end = std::mem::take(&mut counts[code as usize]);
            if end != ALONE {
                each(&divided[start..end as usize]);
                start = end as usize;
            }
        }
    }
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

/// Σ size·ln size over classes; those of one row need not be among them.
#[derive(Debug, Default)]
pub struct Shared {
    sum: f64,
}

/// Nearly all sizes are small, and looked up.
static SMALL: LazyLock<[f64; 256]> = LazyLock::new(|| std::array::from_fn(Shared::weight));

impl Shared {
    fn weight(size: usize) -> f64 {
        match size {
            0 => 0.0,
            _ => size as f64 * (size as f64).ln(),
        }
    }

    pub fn add(&mut self, size: usize) {
        self.sum += SMALL.get(size).copied().unwrap_or_else(|| Shared::weight(size));
    }

    pub fn sum(&self) -> f64 {
        self.sum
    }

    fn entropy(&self, rows: usize) -> f64 {
        (rows as f64).ln() - self.sum / (rows as f64).max(1.0)
    }
}

/// Rows whose codes are looked up at a time; those of a larger class all.
const BLOCK: usize = 4096;

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
            let undivided = || Partition::undivided((0..rows as u32).collect());
            let refine = |partition: Partition, (column, size): &(Codes, usize)| partition.refined(column, *size);
            let found = columns.iter().fold(undivided(), refine);
            if let Some(((column, size), before)) = columns.split_last() {
                let before = before.iter().fold(undivided(), refine);
                let mut alone: Vec<Vec<u32>> =
                    Partition::of_column(column, *size).classes().map(<[u32]>::to_vec).collect();
                alone.sort();
                let mut refined: Vec<Vec<u32>> =
                    undivided().refined(column, *size).classes().map(<[u32]>::to_vec).collect();
                refined.sort();
                assert_eq!(alone, refined, "seed {seed}");
                let counted = before.refined_entropy(column, *size, rows);
                assert!(rows == 0 || (counted - found.entropy(rows)).abs() < 1e-12, "seed {seed}");
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
