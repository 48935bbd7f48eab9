//! A bucketized release in memory: rows with their quasi values in one table, how often each
//! sensitive value occurs in every bucket in another, and a bucket's number as all that joins them
//! (Xiao, Tao: *Anatomy*, 2006, definition 3).
//!
//! `quasi.csv` holds the quasi and plain attributes and, last, `group`; `sensitive.csv` holds
//! `group`, the sensitive attribute under its own name, and `count`, one row for each value that
//! occurs in a bucket. Both tables must list the same buckets, each with as many rows in one as its
//! counts add up to in the other.

use std::path::Path;

use super::generalized::ReadBy;
use super::{covers, texts};
use crate::classes::{ReleasedClasses, SensitiveCounts};
use crate::codebook::Codebook;
use crate::manifest::{Manifest, Resource};
use crate::read::{quasi_of, read_released, read_released_within};
use crate::shape::Shape;
use hedgerow_table::engine::{ColumnProfile, TableProfile};
use hedgerow_table::read::HeldTable;
use hedgerow_table::{Codes, Column, Domain, InputError, Kind, Progress, Table, TableError, Values};

/// The column of both tables that joins them.
pub const GROUP: &str = "group";
/// How many rows of a bucket carry a value.
pub const COUNT: &str = "count";

/// Buckets are numbered from 0 in the order of their numbers in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucketized {
    /// `quasi.csv` as it stands.
    pub quasi: Table,
    /// The names of the quasi attributes.
    pub quasi_attributes: Vec<String>,
    /// `sensitive.csv` as it stands.
    pub counted: Table,
    /// The name of the sensitive attribute.
    pub sensitive: String,
    /// The sensitive values that occur.
    pub domain: Domain,
    /// Whether the rows of `quasi` are in memory. Where they are not, the tables can be judged, and
    /// nothing else.
    pub in_memory: bool,
    /// The bucket of every row of `quasi` in memory.
    pub bucket_of_row: Vec<u32>,
    /// The number that stands for each bucket in the files.
    pub numbers: Vec<i64>,
    /// Rows of `quasi` in each bucket.
    pub sizes: Vec<u32>,
    /// Where each bucket's values start; one more than there are buckets.
    starts: Vec<u32>,
    /// Sensitive codes and how often each occurs, ascending by code within a bucket.
    values: Vec<(u32, u32)>,
}

impl Bucketized {
    /// Reads the tables of a bucketized release and refuses them where they contradict one another.
    pub fn read(directory: &Path, manifest: &Manifest, progress: &dyn Progress) -> Result<Bucketized, TableError> {
        let Shape::Bucketized { quasi, sensitive } = Shape::of_release(directory, manifest)? else {
            let problem = "this release has no tables `quasi` and `sensitive`";
            return Err(TableError::input(directory.display().to_string(), problem, "name a bucketized release"));
        };
        let (read, contradictions) = Bucketized::examine(directory, quasi, sensitive, progress)?;
        match contradictions.into_iter().next() {
            None => Ok(read),
            Some(problem) => {
                let hint = "the tables do not belong together; a check reports everything that is wrong";
                Err(TableError::input(directory.display().to_string(), problem, hint))
            }
        }
    }

    /// Reads both tables as they stand, and says where they contradict one another. What cannot be
    /// read at all is refused.
    pub fn examine(
        directory: &Path,
        quasi: &Resource,
        sensitive: &Resource,
        progress: &dyn Progress,
    ) -> Result<(Bucketized, Vec<String>), TableError> {
        Bucketized::examine_within(directory, quasi, sensitive, None, progress)
    }

    /// The same within a limit of memory, or by another machine: the rows of `quasi` that do not
    /// fit stay on the disk, or where they are. `sensitive` has counts and no rows, and is read
    /// here.
    pub(crate) fn examine_within(
        directory: &Path,
        quasi: &Resource,
        sensitive: &Resource,
        by: Option<ReadBy<'_>>,
        progress: &dyn Progress,
    ) -> Result<(Bucketized, Vec<String>), TableError> {
        let place = |resource: &Resource| directory.join(&resource.path).display().to_string();
        let name = sensitive_attribute(quasi, sensitive, &place)?;
        let (rows, rows_of_group, in_memory) = match by {
            Some(ReadBy::Spill(spill)) => match read_released_within(directory, quasi, spill, progress)? {
                HeldTable::Memory(table) => with_group_counts(table),
                HeldTable::Outside(spilled) => without_rows(spilled.profile()),
            },
            Some(ReadBy::Counter(counter)) => counted_elsewhere(counter.count(directory, quasi, &[], progress)?),
            None => with_group_counts(read_released(directory, quasi, progress)?),
        };
        let counted = match by {
            // It is in memory, however little there is.
            Some(ReadBy::Spill(spill)) => {
                match read_released_within(directory, sensitive, &spill.clone().with_held(u64::MAX), progress)? {
                    HeldTable::Memory(table) => table,
                    HeldTable::Outside(_) => {
                        return Err(TableError::Internal("a table that was to be held".to_owned()));
                    }
                }
            }
            _ => read_released(directory, sensitive, progress)?,
        };
        let mut contradictions = Vec::new();
        let (row_groups, value_groups) = (integers(&rows, GROUP), integers(&counted, GROUP));
        let numbers = union(row_groups.0, value_groups.0);
        let of_row_group = buckets(row_groups, &numbers);
        let without = |missing: usize| rows_of_group[missing];
        contradictions.extend(rows_without_group(row_groups.1, without, &quasi.path));
        let of_value_group = buckets(value_groups, &numbers);
        let without = |missing: usize| value_groups.1.counts()[missing];
        contradictions.extend(rows_without_group(value_groups.1, without, &sensitive.path));
        let mut sizes = vec![0u32; numbers.len()];
        for (&bucket, &rows) in of_row_group.iter().zip(&rows_of_group) {
            if let Some(size) = sizes.get_mut(bucket as usize) {
                *size += rows as u32;
            }
        }
        let bucket_of_row = of_rows(row_groups.1, &of_row_group, &numbers);
        drop((of_row_group, rows_of_group));
        let column = counted.column(&name).expect("the header was compared with the manifest");
        let counts = counts(&counted, &place(sensitive), &mut contradictions)?;
        let columns = [value_groups.1, column, integers(&counted, COUNT).1];
        // Computed twice, since there may be as many as rows.
        let cells = || {
            let [groups, values, numbers] = columns.map(|column| column.codes.iter());
            let cells = groups.zip(values).zip(numbers).map(|((group, value), number)| {
                let bucket = of_value_group[group as usize];
                (bucket, value, counts[number as usize])
            });
            cells.filter(|&(bucket, _, count)| count > 0 && (bucket as usize) < sizes.len())
        };
        let (starts, values, repeated) = by_bucket(cells, numbers.len());
        if repeated > 0 {
            contradictions.push(format!("{repeated} rows of {} repeat a value of their group", sensitive.path));
        }
        let domain = column.domain.clone();
        let read = Bucketized {
            quasi: rows,
            quasi_attributes: quasi_of(quasi),
            counted,
            sensitive: name,
            domain,
            in_memory,
            bucket_of_row,
            numbers,
            sizes,
            starts,
            values,
        };
        contradictions.extend(read.sizes_that_differ());
        Ok((read, contradictions))
    }

    /// How many buckets there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The sensitive values of a bucket and how often each occurs, ascending by code.
    pub fn values(&self, bucket: usize) -> &[(u32, u32)] {
        &self.values[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }

    /// The rows of `quasi` bucket by bucket, and where each bucket's start.
    pub fn rows_by_bucket(&self) -> (Vec<u32>, Vec<u32>) {
        let mut starts = Vec::with_capacity(self.len() + 1);
        starts.push(0u32);
        for &size in &self.sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut next = starts.clone();
        let mut rows = vec![0u32; self.bucket_of_row.len()];
        for (row, &bucket) in self.bucket_of_row.iter().enumerate() {
            rows[next[bucket as usize] as usize] = row as u32;
            next[bucket as usize] += 1;
        }
        (rows, starts)
    }

    /// How many rows carry each sensitive value, by the counts.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0u64; self.domain.cardinality()];
        for &(code, count) in &self.values {
            counts[code as usize] += u64::from(count);
        }
        counts
    }

    pub(crate) fn classes_named(
        &self,
        name: &str,
        codebook: &Codebook,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        if !self.in_memory {
            return Err(TableError::Internal("a release that is not in memory has no classes".to_owned()));
        }
        let of_bucket =
            |bucket: u32| self.values(bucket as usize).iter().map(move |&(code, count)| (bucket, code, count));
        let cells = (0..self.len() as u32).flat_map(of_bucket).collect();
        let counts = SensitiveCounts::new(self.sensitive.clone(), texts(&self.domain), self.len(), cells);
        let table = self.rows_with_buckets();
        ReleasedClasses::of_bucketized(name, &table, &self.quasi_attributes, vec![counts], covers(codebook), place)
    }

    /// The rows, each with its bucket among all that either table lists.
    fn rows_with_buckets(&self) -> Table {
        let mut table = self.quasi.clone();
        let codes = Codes::from_iter(self.numbers.len(), self.bucket_of_row.iter().copied());
        let domain = Domain::new(Values::Integer(self.numbers.clone()), false);
        table.columns.retain(|column| column.name != GROUP);
        table.columns.push(Column { name: GROUP.to_owned(), domain, codes });
        table
    }

    fn sizes_that_differ(&self) -> Option<String> {
        let counted = |bucket: usize| self.values(bucket).iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
        let mut differing = (0..self.len()).filter(|&bucket| counted(bucket) != u64::from(self.sizes[bucket]));
        let first = differing.next()?;
        Some(format!(
            "{} groups differ in size between the two tables; the first is group {}, with {} rows and counts that add up to {}",
            1 + differing.count(),
            self.numbers[first],
            self.sizes[first],
            counted(first)
        ))
    }
}

impl super::ReleasedKind for Bucketized {
    fn rows(&self) -> u64 {
        self.quasi.rows as u64
    }

    fn domain(&self, attribute: &str) -> Option<&Domain> {
        if attribute == self.sensitive {
            return Some(&self.domain);
        }
        self.quasi.column(attribute).map(|column| &column.domain)
    }

    fn labels(&self) -> Vec<(&str, Vec<String>)> {
        let quasi = self.quasi_attributes.iter().filter_map(|name| self.quasi.column(name));
        quasi.map(|column| (column.name.as_str(), texts(&column.domain))).collect()
    }

    fn classes(&self, codebook: &Codebook, place: &str) -> Result<Vec<ReleasedClasses>, TableError> {
        Ok(vec![self.classes_named("quasi", codebook, place)?])
    }
}

/// The name of the sensitive attribute, once both schemas are what they must be.
fn sensitive_attribute(
    quasi: &Resource,
    sensitive: &Resource,
    place: &dyn Fn(&Resource) -> String,
) -> Result<String, InputError> {
    let integer = |field: &crate::manifest::FieldDescriptor, name: &str| {
        field.name == name && field.table_kind() == Some(Kind::Integer)
    };
    let refuse = |resource: &Resource, expected: &str| {
        let names: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
        let problem = format!("the manifest says the columns {}", names.join(", "));
        InputError::new(place(resource), problem, expected)
    };
    match quasi.schema.fields.as_slice() {
        [attributes @ .., group] if integer(group, GROUP) && attributes.iter().all(|field| field.name != GROUP) => {}
        _ => return Err(refuse(quasi, "expected the attributes and, last, the whole number `group`")),
    }
    match sensitive.schema.fields.as_slice() {
        [group, value, count] if integer(group, GROUP) && integer(count, COUNT) => Ok(value.name.clone()),
        _ => Err(refuse(
            sensitive,
            "expected the whole number `group`, the sensitive attribute, the whole number `count`",
        )),
    }
}

/// A column of whole numbers: its distinct values, ascending, and the column.
fn integers<'t>(table: &'t Table, name: &str) -> (&'t [i64], &'t Column) {
    let column = table.column(name).expect("the header was compared with the manifest");
    match column.domain.values() {
        Values::Integer(values) => (values, column),
        _ => unreachable!("read with the type that the schema names"),
    }
}

fn union(first: &[i64], second: &[i64]) -> Vec<i64> {
    let mut all = [first, second].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// A table with how many rows each group has, by its code; its rows are in memory.
fn with_group_counts(table: Table) -> (Table, Vec<u64>, bool) {
    let counts = table.column(GROUP).map(Column::counts).unwrap_or_default();
    (table, counts, true)
}

/// The same of a table whose rows are on the disk: its columns have values and no codes.
fn without_rows(profile: &TableProfile) -> (Table, Vec<u64>, bool) {
    let column = |ColumnProfile { name, domain, .. }: &ColumnProfile| {
        let codes = Codes::with_capacity(domain.cardinality(), 0);
        Column { name: name.clone(), domain: domain.clone(), codes }
    };
    let columns = profile.columns.iter().map(column).collect();
    let (header, warnings) = (profile.header.clone(), profile.warnings.clone());
    let counts = profile.columns.iter().find(|column| column.name == GROUP).map(|group| group.counts.clone());
    (Table { columns, rows: profile.rows, header, warnings }, counts.unwrap_or_default(), false)
}

/// The same of a table whose rows are on another machine.
fn counted_elsewhere(counted: hedgerow_table::Counted) -> (Table, Vec<u64>, bool) {
    let counts = counted.values(GROUP).unwrap_or_default().to_vec();
    (Table { rows: counted.rows as usize, ..counted.table }, counts, false)
}

/// The bucket of every code. Rows without a group count for the first bucket.
fn buckets((values, column): (&[i64], &Column), numbers: &[i64]) -> Vec<u32> {
    let mut map: Vec<u32> = Vec::with_capacity(values.len() + 1);
    let mut at = 0;
    for value in values {
        at += numbers[at..].iter().position(|number| number == value).expect("the numbers are a union");
        map.push(at as u32);
    }
    map.extend(column.domain.missing_code().map(|_| 0));
    map
}

fn rows_without_group(column: &Column, without: impl Fn(usize) -> u64, path: &str) -> Option<String> {
    let missing = column.domain.missing_code()?;
    Some(format!("{} rows of {path} have no group", without(missing as usize)))
}

/// The bucket of every row in memory, given that of each code.
fn of_rows(column: &Column, of_code: &[u32], numbers: &[i64]) -> Vec<u32> {
    match numbers {
        [] => Vec::new(),
        _ => column.codes.iter().map(|code| of_code[code as usize]).collect(),
    }
}

/// The count that each code of `count` stands for in `sensitive.csv`. What is not a count is
/// reported and counts nothing.
fn counts(table: &Table, place: &str, contradictions: &mut Vec<String>) -> Result<Vec<u32>, InputError> {
    let (values, column) = integers(table, COUNT);
    if let Some(large) = values.last().filter(|&&value| value > i64::from(u32::MAX)) {
        let hint = "a release holds fewer than 2^32 rows; do not trust this one";
        return Err(InputError::new(place, format!("a count of {large}"), hint));
    }
    let count = |code: usize| values.get(code).map_or(0, |&value| value.max(0) as u32);
    let counts: Vec<u32> = (0..column.domain.cardinality()).map(count).collect();
    let rows = column.counts();
    let nothing: u64 = counts.iter().zip(rows).filter(|(count, _)| **count == 0).map(|(_, rows)| rows).sum();
    if nothing > 0 {
        contradictions.push(format!("{nothing} counts are missing or below 1"));
    }
    Ok(counts)
}

/// Of cells of bucket, code and count, codes and counts sorted by bucket, then by code, and where
/// each bucket begins. Of a code that a bucket has twice, the counts are added up; how often that
/// happened is the last.
fn by_bucket<I: Iterator<Item = (u32, u32, u32)>>(
    cells: impl Fn() -> I,
    buckets: usize,
) -> (Vec<u32>, Vec<(u32, u32)>, usize) {
    let mut starts = vec![0u32; buckets + 1];
    cells().for_each(|(bucket, ..)| starts[bucket as usize + 1] += 1);
    (0..buckets).for_each(|bucket| starts[bucket + 1] += starts[bucket]);
    let mut next = starts.clone();
    let mut values = vec![(0, 0); starts[buckets] as usize];
    for (bucket, code, count) in cells() {
        let next = &mut next[bucket as usize];
        values[*next as usize] = (code, count);
        *next += 1;
    }
    let (mut kept, mut begin) = (0, 0);
    for bucket in 0..buckets {
        let end = starts[bucket + 1] as usize;
        values[begin..end].sort_unstable();
        let first = kept;
        for place in begin..end {
            let (code, count) = values[place];
            if kept > first && values[kept - 1].0 == code {
                values[kept - 1].1 = values[kept - 1].1.saturating_add(count);
            } else {
                values[kept] = (code, count);
                kept += 1;
            }
        }
        (begin, starts[bucket + 1]) = (end, kept as u32);
    }
    let repeated = values.len() - kept;
    values.truncate(kept);
    (starts, values, repeated)
}

#[cfg(test)]
mod tests;
