//! A released table as classes: what its cells cover, and how often each sensitive value occurs
//! behind them. This is all that an adversary, an earlier publisher's successor or an auditor works
//! with, however the release was made.
//!
//! A *class* is a set of cells with the rows that carry them; a *bucket* is what the sensitive
//! values are counted for. In a generalized table every class is a bucket of its own. In a
//! bucketized one many classes share a bucket: the reader sees which quasi values are in it and
//! which sensitive values, but not which belong together.

use super::bucketized::GROUP;
use crate::notation::NOT_MISSING;
use hedgerow_table::frequency::{FrequencySet, Layout};
use hedgerow_table::{Codes, Column, Cover, Table, TableError, with_words};

/// The classes of a released table: what its reader sees of each.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleasedClasses {
    /// The table's name within its release.
    pub name: String,
    /// Released rows.
    pub rows: u64,
    /// The labels of each quasi-identifier.
    pub quasi: Vec<QuasiLabels>,
    /// One label of every quasi attribute for each class, class after class.
    cells: Vec<u32>,
    /// Rows per class.
    pub sizes: Vec<u32>,
    /// The bucket of each class.
    pub bucket_of: Vec<u32>,
    /// Rows per bucket.
    pub bucket_sizes: Vec<u32>,
    /// The sensitive values, by bucket.
    pub sensitive: Vec<SensitiveCounts>,
}

/// The labels of one quasi attribute, and what each covers.
#[derive(Debug, Clone, PartialEq)]
pub struct QuasiLabels {
    pub name: String,
    pub labels: Vec<String>,
    pub covers: Vec<Cover>,
}

/// How often each value of one sensitive attribute occurs in each bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct SensitiveCounts {
    pub name: String,
    /// As they are written; the missing value is the empty text.
    pub values: Vec<String>,
    starts: Vec<u32>,
    counts: Vec<(u32, u32)>,
}

impl SensitiveCounts {
    /// From a bucket, a value and a number of rows each, in any order; the same pair may come
    /// again.
    pub fn new(name: String, values: Vec<String>, buckets: usize, mut cells: Vec<(u32, u32, u32)>) -> SensitiveCounts {
        cells.sort_unstable();
        let mut starts = Vec::with_capacity(buckets + 1);
        let mut counts: Vec<(u32, u32)> = Vec::with_capacity(cells.len());
        let mut next = cells.into_iter().peekable();
        for bucket in 0..buckets as u32 {
            starts.push(counts.len() as u32);
            let first = counts.len();
            while let Some((_, value, count)) = next.next_if(|cell| cell.0 == bucket) {
                match counts[first..].last_mut() {
                    Some(last) if last.0 == value => last.1 += count,
                    _ => counts.push((value, count)),
                }
            }
        }
        starts.push(counts.len() as u32);
        SensitiveCounts { name, values, starts, counts }
    }

    /// The values of a bucket and how often each occurs there, ascending by value.
    pub fn of_bucket(&self, bucket: u32) -> &[(u32, u32)] {
        &self.counts[self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize]
    }

    /// Rows per value over all buckets.
    pub fn totals(&self) -> Vec<u64> {
        let mut totals = vec![0u64; self.values.len()];
        for &(value, count) in &self.counts {
            totals[value as usize] += u64::from(count);
        }
        totals
    }
}

impl ReleasedClasses {
    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether it is empty: a table without rows.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.bucket_sizes.len()
    }

    /// The labels of a class, one per quasi attribute.
    pub fn cells(&self, class: usize) -> &[u32] {
        &self.cells[class * self.quasi.len()..(class + 1) * self.quasi.len()]
    }

    /// The values of a sensitive attribute, counted by bucket.
    pub fn sensitive(&self, name: &str) -> Option<&SensitiveCounts> {
        self.sensitive.iter().find(|sensitive| sensitive.name == name)
    }

    /// A class as a person reads it: each quasi attribute with its label.
    pub fn describe(&self, class: usize) -> Vec<(&str, &str)> {
        let labels = self.quasi.iter().zip(self.cells(class));
        labels.map(|(quasi, &label)| (quasi.name.as_str(), quasi.labels[label as usize].as_str())).collect()
    }

    /// From cells listed class after class, the rows of each class, and the bucket of each with the
    /// rows of every bucket.
    pub(crate) fn of_parts(
        name: &str,
        quasi: Vec<QuasiLabels>,
        cells: Vec<u32>,
        sizes: Vec<u32>,
        (bucket_of, bucket_sizes): (Vec<u32>, Vec<u32>),
        sensitive: Vec<SensitiveCounts>,
    ) -> ReleasedClasses {
        debug_assert_eq!(cells.len(), sizes.len() * quasi.len());
        let rows = sizes.iter().map(|&size| u64::from(size)).sum();
        ReleasedClasses { name: name.to_owned(), rows, quasi, cells, sizes, bucket_of, bucket_sizes, sensitive }
    }

    /// The classes of a generalized table. `covers` returns what a label of an attribute stands
    /// for.
    pub fn of_generalized(
        name: &str,
        table: &Table,
        quasi: &[String],
        sensitive: &[String],
        covers: impl FnMut(&str, &str) -> Cover,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        let grouped = Grouped::of(table, quasi, sensitive, place)?;
        let buckets = grouped.sizes.len();
        let counted = sensitive.iter().enumerate().map(|(index, name)| {
            let column = column(table, name, place)?;
            let cells = grouped.entries.iter();
            let cells = cells.map(|entry| (entry.class, entry.sensitive[index], entry.count)).collect();
            Ok(SensitiveCounts::new(name.clone(), texts(column), buckets, cells))
        });
        Ok(ReleasedClasses {
            name: name.to_owned(),
            rows: table.rows as u64,
            quasi: labels(table, quasi, covers, place)?,
            sensitive: counted.collect::<Result<_, TableError>>()?,
            cells: grouped.cells,
            bucket_of: (0..buckets as u32).collect(),
            bucket_sizes: grouped.sizes.clone(),
            sizes: grouped.sizes,
        })
    }

    /// The classes of a bucketized table: `quasi_table` has the quasi attributes and a column
    /// `group`, `counts` are the sensitive attributes over the groups in the order of that column's
    /// domain.
    pub fn of_bucketized(
        name: &str,
        quasi_table: &Table,
        quasi: &[String],
        sensitive: Vec<SensitiveCounts>,
        covers: impl FnMut(&str, &str) -> Cover,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        let group = [GROUP.to_owned()];
        let mut grouped = Grouped::of(quasi_table, &[quasi, &group].concat(), &[], place)?;
        let width = quasi.len() + 1;
        let bucket_of: Vec<u32> = grouped.cells.chunks_exact(width).map(|cells| cells[quasi.len()]).collect();
        let mut position = 0;
        grouped.cells.retain(|_| {
            position += 1;
            position % width != 0
        });
        let groups = column(quasi_table, GROUP, place)?;
        Ok(ReleasedClasses {
            name: name.to_owned(),
            rows: quasi_table.rows as u64,
            quasi: labels(quasi_table, quasi, covers, place)?,
            cells: grouped.cells,
            sizes: grouped.sizes,
            bucket_of,
            bucket_sizes: groups.counts().iter().map(|&count| count as u32).collect(),
            sensitive,
        })
    }
}

/// The distinct rows of a table, grouped by their quasi labels.
struct Grouped {
    /// The labels of each class, class after class.
    cells: Vec<u32>,
    sizes: Vec<u32>,
    entries: Vec<ClassEntry>,
}

struct ClassEntry {
    class: u32,
    sensitive: Vec<u32>,
    count: u32,
}

impl Grouped {
    fn of(table: &Table, quasi: &[String], sensitive: &[String], place: &str) -> Result<Grouped, TableError> {
        let columns: Vec<&Column> =
            quasi.iter().chain(sensitive).map(|name| column(table, name, place)).collect::<Result<_, _>>()?;
        let cardinalities: Vec<usize> = columns.iter().map(|column| column.domain.cardinality()).collect();
        let Some(layout) = Layout::new(&cardinalities) else {
            return Err(TableError::input(place, "too many attributes to compare rows by", "name fewer of them"));
        };
        let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
        Ok(with_words!(layout.words(), W => {
            let set = FrequencySet::<W>::of_rows(&layout, &codes, table.rows);
            let classes = set.classes(&layout.mask_of::<W>(0..quasi.len()));
            let mut cells = vec![0u32; classes.sizes.len() * quasi.len()];
            let mut entries = Vec::with_capacity(if sensitive.is_empty() { 0 } else { set.len() });
            for ((key, &count), &class) in set.keys().iter().zip(set.counts()).zip(&classes.of_entry) {
                for attribute in 0..quasi.len() {
                    cells[class as usize * quasi.len() + attribute] = layout.field(attribute).get(key);
                }
                if !sensitive.is_empty() {
                    let sensitive = (quasi.len()..columns.len()).map(|index| layout.field(index).get(key)).collect();
                    entries.push(ClassEntry { class, sensitive, count });
                }
            }
            Grouped { cells, sizes: classes.sizes, entries }
        }))
    }
}

fn column<'t>(table: &'t Table, name: &str, place: &str) -> Result<&'t Column, TableError> {
    table.column(name).ok_or_else(|| {
        let hint = format!("the table has: {}", table.header.join(", "));
        TableError::input(place, format!("the table has no column `{name}`"), hint)
    })
}

fn texts(column: &Column) -> Vec<String> {
    (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)).collect()
}

/// A codebook has no words for "every number, and not the missing value"; an open interval has.
fn without_missing(label: &str, cover: Cover) -> Cover {
    match cover {
        Cover::Everything if label == NOT_MISSING => Cover::Interval { low: None, high: None },
        cover => cover,
    }
}

fn labels(
    table: &Table,
    quasi: &[String],
    mut covers: impl FnMut(&str, &str) -> Cover,
    place: &str,
) -> Result<Vec<QuasiLabels>, TableError> {
    let of = |name: &String| {
        let labels = texts(column(table, name, place)?);
        let covers = labels.iter().map(|label| without_missing(label, covers(name, label))).collect();
        Ok(QuasiLabels { name: name.clone(), labels, covers })
    };
    quasi.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(_: &str, label: &str) -> Cover {
        Cover::Leaves(vec![label.to_owned()])
    }

    #[test]
    fn a_generalized_table_becomes_classes_with_the_values_behind_them() {
        let rows =
            [["old", "F", "flu"], ["old", "F", "HIV"], ["old", "F", "flu"], ["young", "M", ""]].map(|row| row.to_vec());
        let table = Table::from_texts(&["age", "sex", "disease"], &rows);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let sensitive = names(&["disease"]);
        let classes =
            ReleasedClasses::of_generalized("data", &table, &names(&["age", "sex"]), &sensitive, point, "t").unwrap();
        assert_eq!((classes.len(), classes.rows), (2, 4));
        let old = (0..2).find(|&class| classes.describe(class) == [("age", "old"), ("sex", "F")]).unwrap();
        assert_eq!(classes.sizes[old], 3);
        let disease = classes.sensitive("disease").unwrap();
        assert_eq!(disease.values, ["HIV", "flu", ""]);
        assert_eq!(disease.of_bucket(classes.bucket_of[old]), [(0, 1), (1, 2)]);
        assert_eq!(disease.totals(), [1, 2, 1]);
        let lost = ReleasedClasses::of_generalized("data", &table, &names(&["zip"]), &sensitive, point, "t.csv");
        assert!(lost.unwrap_err().to_string().starts_with("t.csv: the table has no column `zip`"));
    }

    /// A codebook says of the label that it covers everything.
    #[test]
    fn the_label_of_all_numbers_does_not_cover_the_missing_value() {
        let table = Table::from_texts(&["age"], &[vec!["not missing"], vec!["*"]]);
        let everything = |_: &str, _: &str| Cover::Everything;
        let classes =
            ReleasedClasses::of_generalized("data", &table, &["age".to_owned()], &[], everything, "t").unwrap();
        let of = |label: &str| {
            let at = classes.quasi[0].labels.iter().position(|own| own == label).unwrap();
            &classes.quasi[0].covers[at]
        };
        assert_eq!(of("*"), &Cover::Everything);
        assert_eq!(of("not missing"), &Cover::Interval { low: None, high: None });
    }

    #[test]
    fn a_bucketized_table_shares_its_counts_among_the_classes_of_a_group() {
        let quasi = [["30", "7"], ["40", "7"], ["30", "2"], ["50", "2"], ["50", "2"]].map(|row| row.to_vec());
        let quasi = Table::from_texts(&["age", "group"], &quasi);
        // Group 2 comes before group 7.
        let values = vec!["HIV".to_owned(), "flu".to_owned()];
        let counts = SensitiveCounts::new("disease".to_owned(), values, 2, vec![(1, 1, 1), (0, 1, 3), (1, 0, 1)]);
        let age = ["age".to_owned()];
        let classes = ReleasedClasses::of_bucketized("data", &quasi, &age, vec![counts], point, "t").unwrap();
        assert_eq!((classes.len(), classes.buckets(), classes.rows), (4, 2, 5));
        for class in 0..4 {
            let values = classes.sensitive[0].of_bucket(classes.bucket_of[class]);
            match classes.describe(class)[0].1 {
                "40" => assert_eq!(values, [(0, 1), (1, 1)]),
                "50" => assert_eq!((values, classes.sizes[class]), (&[(1, 3)][..], 2)),
                _ => assert_eq!(classes.sizes[class], 1),
            }
        }
    }
}
