//! Which attributes, alone or a few together, single out rows.

use hedgerow_table::{InputError, Table};
use rayon::prelude::*;
use serde::Serialize;

use crate::partition::Partition;
use crate::{Error, Monitor};

/// The most attributes whose sets are counted.
pub const UNIQUENESS_ATTRIBUTES_MAX: usize = 20;
/// The largest sets that are counted.
pub const UNIQUENESS_TOGETHER_MAX: usize = 3;

/// Attributes, and how many rows they single out together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UniqueSet {
    /// The attributes, in the order of the table.
    pub attributes: Vec<String>,
    /// Rows whose combination of values no other row has.
    pub unique: u64,
    /// Combinations of values that occur.
    pub classes: u64,
}

/// Counts, for every set of up to three of these attributes, the rows that it singles out: the set
/// that singles out the most comes first, a smaller one before a larger one.
///
/// ```
/// use hedgerow::{Monitor, Policy};
///
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// let table = hedgerow::read_source(&policy)?;
/// let sets = hedgerow::uniqueness(&table, &["age", "zip", "sex"], &Monitor::default())?;
/// assert_eq!(sets.len(), 7);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn uniqueness(table: &Table, attributes: &[&str], monitor: &Monitor<'_>) -> Result<Vec<UniqueSet>, Error> {
    if attributes.len() > UNIQUENESS_ATTRIBUTES_MAX {
        let problem = format!("{} attributes, at most {UNIQUENESS_ATTRIBUTES_MAX} are combined", attributes.len());
        return Err(InputError::new("uniqueness", problem, "choose those that others may know").into());
    }
    let columns: Vec<_> = table.columns.iter().filter(|column| attributes.contains(&column.name.as_str())).collect();
    let sets: u64 = (1..=UNIQUENESS_TOGETHER_MAX).map(|size| choose(columns.len(), size)).sum();
    hedgerow_table::Progress::stage(monitor, "counting", Some(sets));
    let all = Partition::of_all(table.rows);
    let counting = Counting { columns: &columns, monitor };
    let found: Result<Vec<Vec<UniqueSet>>, Error> =
        (0..columns.len()).into_par_iter().map(|first| counting.extended(&all, &mut Vec::new(), first)).collect();
    let mut sets: Vec<UniqueSet> = found?.into_iter().flatten().collect();
    sets.sort_by(|a, b| b.unique.cmp(&a.unique).then(a.attributes.len().cmp(&b.attributes.len())));
    Ok(sets)
}

struct Counting<'c> {
    columns: &'c [&'c hedgerow_table::Column],
    monitor: &'c Monitor<'c>,
}

impl Counting<'_> {
    /// The set `chosen` with the column `next`, and every larger set that begins with it.
    fn extended(&self, partition: &Partition, chosen: &mut Vec<usize>, next: usize) -> Result<Vec<UniqueSet>, Error> {
        hedgerow_table::Progress::check(self.monitor)?;
        let column = self.columns[next];
        let refined = partition.refined(&column.codes, column.domain.cardinality());
        hedgerow_table::Progress::advance(self.monitor, 1);
        chosen.push(next);
        let attributes = chosen.iter().map(|&index| self.columns[index].name.clone()).collect();
        let mut sets = vec![UniqueSet { attributes, unique: refined.unique, classes: refined.groups() }];
        if chosen.len() < UNIQUENESS_TOGETHER_MAX {
            for more in next + 1..self.columns.len() {
                sets.extend(self.extended(&refined, chosen, more)?);
            }
        }
        chosen.pop();
        Ok(sets)
    }
}

fn choose(of: usize, size: usize) -> u64 {
    (0..size).fold(1, |product, place| product * of.saturating_sub(place) as u64 / (place as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    #[test]
    fn every_set_of_up_to_three_is_counted() {
        let rows = [["1", "a", "x", "p"], ["1", "b", "x", "p"], ["2", "a", "x", "q"], ["2", "a", "y", "q"]];
        let rows = rows.map(|row| row.map(Some));
        let table = Table::from_records(["n", "l", "s", "t"], rows, &ReadOptions::default()).unwrap();
        let sets = uniqueness(&table, &["n", "l", "s", "t"], &Monitor::default()).unwrap();
        assert_eq!(sets.len(), 14);
        let unique = |names: &[&str]| sets.iter().find(|set| set.attributes == names).unwrap().unique;
        assert_eq!((unique(&["n"]), unique(&["l"]), unique(&["s"])), (0, 1, 1));
        assert_eq!((unique(&["n", "l"]), unique(&["n", "l", "s"])), (2, 4));
        assert_eq!(sets[0].attributes, ["n", "l", "s"], "the smallest of those that single out the most");
        let canceled = crate::Cancel::new();
        canceled.cancel();
        let monitor = Monitor::default().cancel_by(&canceled);
        let canceled = uniqueness(&table, &["n"], &monitor).unwrap_err();
        assert_eq!(canceled.kind(), crate::ErrorKind::Canceled);
    }
}
