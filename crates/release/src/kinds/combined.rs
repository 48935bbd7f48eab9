//! Buckets that list combinations of several sensitive attributes (Jin, Zhang, Zhang, Das 2010,
//! appendix B).
//!
//! As in [`super::bucketized`], but `sensitive.csv` holds `group`, two or more sensitive attributes
//! and `count`, one row for each combination that occurs in a bucket; and a row of `quasi.csv`
//! without a group is one without sensitive values.

use std::collections::BTreeMap;
use std::path::Path;

use super::bucketized::{COUNT, GROUP};
use super::{covers, texts};
use crate::classes::{ReleasedClasses, SensitiveCounts};
use crate::codebook::Codebook;
use crate::manifest::{FieldDescriptor, Resource};
use crate::read::{quasi_of, read_released};
use hedgerow_table::{Codes, Column, Domain, InputError, Kind, Progress, Table, TableError, Values};

#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// `quasi.csv` as it stands.
    pub quasi: Table,
    /// The names of the quasi attributes.
    pub quasi_attributes: Vec<String>,
    /// `sensitive.csv` as it stands.
    pub values: Table,
    /// The names of the sensitive attributes.
    pub sensitive: Vec<String>,
    /// The bucket of every row of `quasi`, numbered from 0; `None` for a row without sensitive
    /// values.
    pub bucket_of_row: Vec<Option<u32>>,
    /// The bucket of every row of `values`, and how many rows it stands for.
    pub bucket_of_value: Vec<u32>,
    pub counts: Vec<u32>,
    /// Rows of `quasi` in each bucket.
    pub sizes: Vec<u32>,
}

impl Combined {
    /// Whether a table of sensitive values lists combinations.
    pub fn is(sensitive: &Resource) -> bool {
        sensitive.schema.fields.len() > 3
    }

    /// Reads both tables as they stand, and says where they contradict one another. What cannot be
    /// read at all is refused.
    pub fn examine(
        directory: &Path,
        quasi: &Resource,
        sensitive: &Resource,
        progress: &dyn Progress,
    ) -> Result<(Combined, Vec<String>), TableError> {
        let names = sensitive_attributes(directory, quasi, sensitive)?;
        let rows = read_released(directory, quasi, progress)?;
        let values = read_released(directory, sensitive, progress)?;
        let (row_groups, value_groups) = (integers(&rows, GROUP), integers(&values, GROUP));
        let mut numbers: Vec<i64> = row_groups.iter().chain(&value_groups).flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let bucket = |number: i64| numbers.binary_search(&number).expect("collected above") as u32;
        let mut contradictions = Vec::new();
        let bucket_of_row: Vec<Option<u32>> = row_groups.into_iter().map(|number| number.map(bucket)).collect();
        let counts: Vec<u32> = integers(&values, COUNT)
            .into_iter()
            .map(|count| count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0))
            .collect();
        let missing = value_groups.iter().filter(|group| group.is_none()).count();
        if missing > 0 || counts.contains(&0) {
            contradictions.push(format!("rows of {} have no group, or no count from 1", sensitive.path));
        }
        let bucket_of_value = value_groups.into_iter().map(|number| number.map_or(0, bucket)).collect();
        let mut sizes = vec![0u32; numbers.len()];
        bucket_of_row.iter().flatten().for_each(|&bucket| sizes[bucket as usize] += 1);
        let quasi_attributes = quasi_of(quasi);
        let read = Combined {
            quasi: rows,
            quasi_attributes,
            values,
            sensitive: names,
            bucket_of_row,
            bucket_of_value,
            counts,
            sizes,
        };
        contradictions.extend(read.sizes_that_differ(&sensitive.path));
        Ok((read, contradictions))
    }

    /// How many rows carry each value of a sensitive attribute, by the counts.
    pub fn counts_of(&self, column: &Column) -> Vec<u64> {
        let mut counts = vec![0u64; column.domain.cardinality()];
        for (code, &count) in column.codes.iter().zip(&self.counts) {
            counts[code as usize] += u64::from(count);
        }
        counts
    }

    /// The values that remain for an attacker who knows a row's bucket and all its sensitive values
    /// but one: for each bucket and combination of the others, the values of the one and how often
    /// each occurs, ascending.
    pub fn given_the_others(&self, attribute: &str) -> Vec<Vec<(u32, u32)>> {
        let others: Vec<&Column> = (self.sensitive.iter().filter(|name| *name != attribute))
            .filter_map(|name| self.values.column(name))
            .collect();
        let Some(column) = self.values.column(attribute) else { return Vec::new() };
        let mut classes: BTreeMap<(u32, Vec<u32>), BTreeMap<u32, u32>> = BTreeMap::new();
        for (entry, (&bucket, &count)) in self.bucket_of_value.iter().zip(&self.counts).enumerate() {
            let known = others.iter().map(|other| other.codes.get(entry)).collect();
            *classes.entry((bucket, known)).or_default().entry(column.codes.get(entry)).or_default() += count;
        }
        classes.into_values().map(|values| values.into_iter().collect()).collect()
    }

    pub(crate) fn classes_named(
        &self,
        name: &str,
        codebook: &Codebook,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        let table = self.rows_with_sensitive_values();
        let (quasi, counts) = (&self.quasi_attributes, self.sensitive_counts());
        let mut classes = ReleasedClasses::of_bucketized(name, &table, quasi, counts, covers(codebook), place)?;
        classes.rows = self.quasi.rows as u64;
        Ok(classes)
    }

    /// Each sensitive attribute of the combinations by itself.
    fn sensitive_counts(&self) -> Vec<SensitiveCounts> {
        let of = |name: &String| {
            let column = self.values.column(name)?;
            let entries = self.bucket_of_value.iter().zip(column.codes.iter()).zip(&self.counts);
            let cells = entries.map(|((&bucket, code), &count)| (bucket, code, count)).collect();
            Some(SensitiveCounts::new(name.clone(), texts(&column.domain), self.sizes.len(), cells))
        };
        self.sensitive.iter().filter_map(of).collect()
    }

    /// The rows whose sensitive values are published, each with its bucket.
    fn rows_with_sensitive_values(&self) -> Table {
        let with_bucket: Vec<usize> = (0..self.quasi.rows).filter(|&row| self.bucket_of_row[row].is_some()).collect();
        let kept = |column: &&Column| column.name != GROUP;
        let mut columns: Vec<Column> = Vec::with_capacity(self.quasi.columns.len());
        for column in self.quasi.columns.iter().filter(kept) {
            let codes = with_bucket.iter().map(|&row| column.codes.get(row));
            let codes = Codes::from_iter(column.domain.cardinality(), codes);
            columns.push(Column { name: column.name.clone(), domain: column.domain.clone(), codes });
        }
        let codes = Codes::from_iter(self.sizes.len(), self.bucket_of_row.iter().copied().flatten());
        let domain = Domain::new(Values::Integer((0..self.sizes.len() as i64).collect()), false);
        columns.push(Column { name: GROUP.to_owned(), domain, codes });
        Table { columns, rows: with_bucket.len(), header: self.quasi.header.clone(), warnings: Vec::new() }
    }

    fn sizes_that_differ(&self, path: &str) -> Option<String> {
        let mut counted = vec![0u64; self.sizes.len()];
        for (&bucket, &count) in self.bucket_of_value.iter().zip(&self.counts) {
            counted[bucket as usize] += u64::from(count);
        }
        let differing =
            self.sizes.iter().zip(&counted).filter(|(size, counted)| u64::from(**size) != **counted).count();
        (differing > 0).then(|| format!("{differing} groups have other numbers of rows than the counts in {path}"))
    }
}

/// The sensitive attributes, once both schemas are what they must be.
fn sensitive_attributes(directory: &Path, quasi: &Resource, sensitive: &Resource) -> Result<Vec<String>, InputError> {
    let integer = |field: &FieldDescriptor, name: &str| field.name == name && field.table_kind() == Some(Kind::Integer);
    let refuse = |resource: &Resource, expected: &str| {
        let names: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
        let place = directory.join(&resource.path).display().to_string();
        InputError::new(place, format!("the manifest says the columns {}", names.join(", ")), expected)
    };
    match quasi.schema.fields.as_slice() {
        [attributes @ .., group] if integer(group, GROUP) && attributes.iter().all(|field| field.name != GROUP) => {}
        _ => return Err(refuse(quasi, "expected the attributes and, last, the whole number `group`")),
    }
    match sensitive.schema.fields.as_slice() {
        [group, values @ .., count] if integer(group, GROUP) && integer(count, COUNT) => {
            Ok(values.iter().map(|field| field.name.clone()).collect())
        }
        _ => Err(refuse(
            sensitive,
            "expected the whole number `group`, the sensitive attributes, the whole number `count`",
        )),
    }
}

/// A column of whole numbers, row by row; `None` where one is missing.
fn integers(table: &Table, name: &str) -> Vec<Option<i64>> {
    let column = table.column(name).expect("the header was compared with the manifest");
    match column.domain.values() {
        Values::Integer(values) => column.codes.iter().map(|code| values.get(code as usize).copied()).collect(),
        _ => unreachable!("read with the type that the schema names"),
    }
}
