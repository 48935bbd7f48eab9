//! Released tables about the same people, in plain values.

use hashbrown::HashMap;
use hedgerow_release::classes::{QuasiLabels, SensitiveCounts};
use hedgerow_release::{ReleasedClasses, Spelling};
use hedgerow_table::{Column, Cover};

/// A table in plain values: attributes that are listed by row, and one that is listed by bucket. A
/// generalized table has one bucket for each equivalence class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubTable {
    pub name: String,
    /// The attributes that are listed by row.
    pub quasi: Vec<String>,
    /// The attribute that is listed by bucket; `None` where all are listed by row.
    pub sensitive: Option<String>,
    pub buckets: Vec<SubTableBucket>,
}

/// The rows of a sub-table about some people: who they are by their quasi-identifiers, and which
/// sensitive values they have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubTableBucket {
    /// One text per attribute that is listed by row, and how many rows have them.
    pub rows: Vec<(Vec<String>, u64)>,
    /// Empty where the sensitive values of these rows are not released.
    pub values: Vec<(String, u64)>,
}

/// The values that the join allows for the rows of one sub-table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedValues {
    pub table: usize,
    pub bucket: usize,
    pub quasi: Vec<String>,
    pub rows: u64,
    /// The sensitive values of the bucket that the other sub-tables do not rule out, in the
    /// bucket's order.
    pub values: Vec<String>,
    /// How many values the bucket itself has.
    pub of: usize,
}

impl SubTable {
    /// A table that lists all its attributes by row.
    pub(crate) fn of_rows(name: &str, columns: &[&Column], rows: usize) -> SubTable {
        SubTable {
            name: name.to_owned(),
            quasi: columns.iter().map(|column| column.name.clone()).collect(),
            sensitive: None,
            buckets: grouped(columns, rows, 1, |_| 0),
        }
    }

    /// A table that lists one attribute by bucket: `values` of each bucket. Rows without a bucket
    /// share one without values.
    pub(crate) fn of_buckets(
        name: &str,
        columns: &[&Column],
        bucket_of_row: &[Option<u32>],
        sensitive: &str,
        values: Vec<Vec<(String, u64)>>,
    ) -> SubTable {
        let count = values.len();
        let without = usize::from(bucket_of_row.contains(&None));
        let bucket = |row: usize| bucket_of_row[row].map_or(count, |bucket| bucket as usize);
        let mut buckets = grouped(columns, bucket_of_row.len(), count + without, bucket);
        buckets.iter_mut().zip(values).for_each(|(bucket, values)| bucket.values = values);
        SubTable {
            name: name.to_owned(),
            quasi: columns.iter().map(|column| column.name.clone()).collect(),
            sensitive: Some(sensitive.to_owned()),
            buckets,
        }
    }

    /// The same table in our texts.
    pub(crate) fn spelled(mut self, spelling: &Spelling) -> SubTable {
        if spelling.is_empty() {
            return self;
        }
        for bucket in &mut self.buckets {
            for (texts, _) in &mut bucket.rows {
                for (name, text) in self.quasi.iter().zip(texts) {
                    *text = spelling.ours(name, text).to_owned();
                }
            }
            let Some(sensitive) = &self.sensitive else { continue };
            let mut values: Vec<(String, u64)> = Vec::with_capacity(bucket.values.len());
            for (value, count) in bucket.values.drain(..) {
                let ours = spelling.ours(sensitive, &value);
                match values.iter_mut().find(|(known, _)| known == ours) {
                    Some((_, sum)) => *sum += count,
                    None => values.push((ours.to_owned(), count)),
                }
            }
            bucket.values = values;
        }
        self
    }

    /// One table for each sensitive attribute of released classes, which have the labels as they
    /// stand.
    pub(crate) fn of_classes(name: &str, classes: &ReleasedClasses) -> Vec<SubTable> {
        let of = |sensitive: &SensitiveCounts| {
            let mut buckets = vec![SubTableBucket::default(); classes.buckets()];
            for (class, &bucket) in classes.bucket_of.iter().enumerate() {
                let texts = classes.describe(class).into_iter().map(|(_, label)| label.to_owned()).collect();
                buckets[bucket as usize].rows.push((texts, u64::from(classes.sizes[class])));
            }
            for (number, bucket) in buckets.iter_mut().enumerate() {
                let values = sensitive.of_bucket(number as u32).iter();
                let text = |value: u32| sensitive.values[value as usize].clone();
                bucket.values = values.map(|&(value, count)| (text(value), u64::from(count))).collect();
            }
            SubTable {
                name: name.to_owned(),
                quasi: classes.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
                sensitive: Some(sensitive.name.clone()),
                buckets,
            }
        };
        classes.sensitive.iter().map(of).collect()
    }
}

/// Whether every label is one value, so that labels of two tables compare by their texts.
pub(crate) fn is_exact(quasi: &QuasiLabels) -> bool {
    quasi.covers.iter().all(|cover| match cover {
        Cover::Point(_) | Cover::Missing => true,
        Cover::Leaves(leaves) => leaves.len() == 1 && !leaves[0].contains('*'),
        Cover::Everything | Cover::Interval { .. } => false,
    })
}

/// The distinct rows of each bucket.
fn grouped(columns: &[&Column], rows: usize, buckets: usize, bucket: impl Fn(usize) -> usize) -> Vec<SubTableBucket> {
    let mut counts: HashMap<Vec<u32>, u64> = HashMap::new();
    let mut key = vec![0u32; columns.len() + 1];
    for row in 0..rows {
        key[0] = bucket(row) as u32;
        key[1..].iter_mut().zip(columns).for_each(|(code, column)| *code = column.codes.get(row));
        match counts.get_mut(&key) {
            Some(count) => *count += 1,
            None => {
                counts.insert(key.clone(), 1);
            }
        }
    }
    let mut counts: Vec<(Vec<u32>, u64)> = counts.into_iter().collect();
    counts.sort_unstable();
    let mut found = vec![SubTableBucket::default(); buckets];
    for (key, count) in counts {
        let texts = key[1..].iter().zip(columns).map(|(&code, column)| column.domain.text(code)).collect();
        found[key[0] as usize].rows.push((texts, count));
    }
    found
}
