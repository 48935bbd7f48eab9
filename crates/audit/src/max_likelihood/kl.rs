//! The Kullback–Leibler divergence, in nats, from a table to the maximum-likelihood estimate
//! behind what was published of it: one pass over the distinct rows for each published table and
//! each separator.

use hedgerow_table::parallel;

use super::factor::Factor;
use super::keys::{Numbers, packed};
use super::{MaxLikelihood, PublishedBuckets, PublishedTable};

impl MaxLikelihood<'_> {
    /// `source` has one column of codes for every attribute. Infinite when a row is ruled out that
    /// is there.
    pub fn kl_divergence(&self, source: &[Vec<u32>]) -> f64 {
        let rows = source.first().map_or(0, Vec::len);
        let (distinct, counts) = distinct(source, rows);
        let mut logs: Vec<f64> = counts.iter().map(|count| (count / rows as f64).ln()).collect();
        let by_table = parallel::map(self.apart.len(), |place| {
            self.tables[self.apart[place]].expected(&distinct, counts.len(), self.cardinalities)
        });
        let rings = &self.factors[self.factors.len() - self.fits.len()..];
        let by_ring = rings.iter().map(|ring| ring.expected(&distinct, counts.len()));
        for expected in by_table.into_iter().chain(by_ring) {
            logs.iter_mut().zip(expected).for_each(|(log, expected)| *log -= (expected / self.rows).ln());
        }
        for clique in self.cliques.iter().filter(|clique| clique.parent.is_some()) {
            // What a table shows by row and by bucket was combined above.
            if clique.is_bucket(self.cardinalities.len()) {
                continue;
            }
            let factor = &self.factors[clique.table];
            let sides = [
                factor.columns_of(&clique.shared),
                clique.shared.iter().map(|&own| distinct[own].as_slice()).collect(),
            ];
            let keys = packed(&sides, &[factor.counts.len(), counts.len()]);
            let mut numbers = Numbers::default();
            let mut separator: Vec<f64> = Vec::new();
            for (row, (number, count)) in numbers.of(&keys[0]).into_iter().zip(&factor.counts).enumerate() {
                separator.resize(separator.len().max(number as usize + 1), 0.0);
                separator[number as usize] += if factor.is_any_value(row) { 0.0 } else { *count };
            }
            for (log, key) in logs.iter_mut().zip(&keys[1]) {
                let shared = numbers.find(*key).map_or(0.0, |number| separator[number as usize]);
                *log += (shared / self.rows).ln();
            }
        }
        counts.iter().zip(&logs).map(|(count, log)| count / rows as f64 * log).sum()
    }
}

impl Factor {
    /// How many rows it has of each of some combinations of all attributes.
    fn expected(&self, combinations: &[Vec<u32>], wanted: usize) -> Vec<f64> {
        let theirs = self.variables.iter().map(|&attribute| combinations[attribute].as_slice()).collect();
        let keys = packed(&[self.columns_of(&self.variables), theirs], &[self.counts.len(), wanted]);
        // The rows are distinct: their numbers are their places.
        let mut numbers = Numbers::default();
        numbers.of(&keys[0]);
        keys[1].iter().map(|key| numbers.find(*key).map_or(0.0, |row| self.counts[row as usize])).collect()
    }
}

/// The distinct rows by column, and how often each occurs.
fn distinct(source: &[Vec<u32>], rows: usize) -> (Vec<Vec<u32>>, Vec<f64>) {
    let keys = packed(&[source.iter().map(Vec::as_slice).collect()], &[rows]).remove(0);
    let (mut first, mut counts): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
    for (row, number) in Numbers::default().of(&keys).into_iter().enumerate() {
        if number as usize == counts.len() {
            first.push(row);
            counts.push(0.0);
        }
        counts[number as usize] += 1.0;
    }
    let columns = source.iter().map(|column| first.iter().map(|&row| column[row]).collect()).collect();
    (columns, counts)
}

impl PublishedTable {
    pub(super) fn attributes(&self) -> impl Iterator<Item = usize> {
        let sensitive = self.buckets.iter().flat_map(|buckets| &buckets.sensitive);
        self.by_row.iter().chain(sensitive).map(|(attribute, _)| *attribute)
    }

    /// How many rows the table by itself expects of each of some combinations of all attributes.
    fn expected(&self, combinations: &[Vec<u32>], wanted: usize, cardinalities: &[usize]) -> Vec<f64> {
        let (own, theirs) = numbered(&self.by_row, combinations, [self.rows(), wanted]);
        let kinds = own.iter().max().map_or(0, |&most| most as usize + 1);
        let Some(buckets) = &self.buckets else {
            let mut counts = vec![0.0; kinds];
            own.iter().for_each(|&number| counts[number as usize] += 1.0);
            return theirs.iter().map(|number| number.map_or(0.0, |number| counts[number as usize])).collect();
        };
        let (values, their_values) = numbered(&buckets.sensitive, combinations, [buckets.of_entry.len(), wanted]);
        let every: f64 = buckets.sensitive.iter().map(|(attribute, _)| cardinalities[*attribute] as f64).product();
        let entries = Entries::new(buckets, &values);
        // Rows that agree on what is released by row are worked out together: their buckets, and
        // who wants to know of them.
        let mut within: Vec<(u32, u32)> = own.iter().copied().zip(buckets.of_row.iter().copied()).collect();
        within.sort_unstable();
        let mut wanting: Vec<(u32, usize)> =
            theirs.iter().enumerate().filter_map(|(place, number)| Some(((*number)?, place))).collect();
        wanting.sort_unstable();
        let mut expected = vec![0.0; wanted];
        let mut weights = vec![0.0; values.iter().max().map_or(0, |&most| most as usize + 1)];
        let mut next = 0;
        for alike in within.chunk_by(|a, b| a.0 == b.0) {
            let from = next + wanting[next..].partition_point(|(number, _)| *number < alike[0].0);
            next = from + wanting[from..].partition_point(|(number, _)| *number == alike[0].0);
            if from == next {
                continue;
            }
            let mut without = 0.0;
            for run in alike.chunk_by(|a, b| a == b) {
                let (rows, bucket) = (run.len() as f64, run[0].1);
                if bucket == PublishedBuckets::NO_BUCKET {
                    without += rows / every;
                    continue;
                }
                let (size, list) = entries.of(bucket);
                list.iter().for_each(|&(value, count)| weights[value as usize] += rows * count / size);
            }
            for &(_, place) in &wanting[from..next] {
                expected[place] = their_values[place].map_or(0.0, |value| weights[value as usize]) + without;
            }
            for run in alike.chunk_by(|a, b| a == b).filter(|run| run[0].1 != PublishedBuckets::NO_BUCKET) {
                entries.of(run[0].1).1.iter().for_each(|&(value, _)| weights[value as usize] = 0.0);
            }
        }
        expected
    }
}

/// Numbers for the rows of some columns, and the same numbers for combinations of all attributes,
/// where they occur.
fn numbered(
    columns: &[(usize, Vec<u32>)],
    combinations: &[Vec<u32>],
    rows: [usize; 2],
) -> (Vec<u32>, Vec<Option<u32>>) {
    let own = columns.iter().map(|(_, codes)| codes.as_slice()).collect();
    let theirs = columns.iter().map(|(attribute, _)| combinations[*attribute].as_slice()).collect();
    let keys = packed(&[own, theirs], &rows);
    let mut numbers = Numbers::default();
    let own = numbers.of(&keys[0]);
    (own, keys[1].iter().map(|key| numbers.find(*key)).collect())
}

/// The sensitive values of every bucket with their counts.
struct Entries {
    starts: Vec<usize>,
    values: Vec<(u32, f64)>,
    sizes: Vec<f64>,
}

impl Entries {
    fn new(buckets: &PublishedBuckets, values: &[u32]) -> Entries {
        let named =
            buckets.of_row.iter().chain(&buckets.of_entry).filter(|&&bucket| bucket != PublishedBuckets::NO_BUCKET);
        let count = named.max().map_or(0, |&most| most as usize + 1);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|&entry| buckets.of_entry[entry]);
        let (mut starts, mut sizes) = (vec![0; count + 1], vec![0.0; count]);
        for (&bucket, &rows) in buckets.of_entry.iter().zip(&buckets.counts) {
            starts[bucket as usize + 1] += 1;
            sizes[bucket as usize] += f64::from(rows);
        }
        (0..count).for_each(|bucket| starts[bucket + 1] += starts[bucket]);
        let values = order.into_iter().map(|entry| (values[entry], f64::from(buckets.counts[entry]))).collect();
        Entries { starts, values, sizes }
    }

    fn of(&self, bucket: u32) -> (f64, &[(u32, f64)]) {
        let bucket = bucket as usize;
        (self.sizes[bucket], &self.values[self.starts[bucket]..self.starts[bucket + 1]])
    }
}
