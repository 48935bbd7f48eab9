//! The Kullback–Leibler divergence, in nats, between a table and the most likely one behind what was published of it: one pass
//! over the distinct rows for each published table and each pair of neighbors.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{Joint, PublishedBuckets, PublishedTable};

impl Joint<'_> {
    /// `source` has one column of codes for every attribute. Infinite when a row is ruled out that is there.
    pub fn divergence(&self, source: &[Vec<u32>]) -> f64 {
        let rows = source.first().map_or(0, Vec::len);
        let mut distinct: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut first_rows: Vec<usize> = Vec::new();
        let mut counts: Vec<f64> = Vec::new();
        for row in 0..rows {
            let place = *distinct.entry(source.iter().map(|column| column[row]).collect()).or_insert_with(|| {
                first_rows.push(row);
                counts.push(0.0);
                counts.len() - 1
            });
            counts[place] += 1.0;
        }
        drop(distinct);
        let mut logs: Vec<f64> = counts.iter().map(|count| (count / rows as f64).ln()).collect();
        let key = |attributes: &[usize], row: usize| -> Vec<u32> {
            attributes.iter().map(|&attribute| source[attribute][row]).collect()
        };
        for table in self.tables {
            let attributes: Vec<usize> = table.attributes().collect();
            let combinations: Vec<Vec<u32>> = first_rows.iter().map(|&row| key(&attributes, row)).collect();
            let told = table.told(&combinations, self.cardinalities);
            for (log, told) in logs.iter_mut().zip(told) {
                *log -= (told / self.rows).ln();
            }
        }
        for node in self.nodes.iter().filter(|node| node.parent.is_some()) {
            // The number of a bucket is no attribute: what a table tells by row and by bucket was put together above.
            let shared: Vec<usize> =
                node.shared.iter().copied().filter(|&variable| variable < self.cardinalities.len()).collect();
            if shared.is_empty() {
                continue;
            }
            let told = self.factors[node.table].shared_by_key(&shared);
            for (log, &row) in logs.iter_mut().zip(&first_rows) {
                *log += (told.get(&key(&shared, row)).copied().unwrap_or(0.0) / self.rows).ln();
            }
        }
        counts.iter().zip(&logs).map(|(count, log)| count / rows as f64 * log).sum()
    }
}

impl PublishedTable {
    pub(super) fn attributes(&self) -> impl Iterator<Item = usize> {
        let sensitive = self.buckets.iter().flat_map(|buckets| &buckets.sensitive);
        self.open.iter().chain(sensitive).map(|(attribute, _)| *attribute)
    }

    /// How many rows the table by itself expects of each combination of its attributes, open ones first.
    fn told(&self, combinations: &[Vec<u32>], cardinalities: &[usize]) -> Vec<f64> {
        let width = self.open.len();
        let open = |row: usize| -> Vec<u32> { self.open.iter().map(|(_, codes)| codes[row]).collect() };
        let Some(buckets) = &self.buckets else {
            let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
            (0..self.rows()).for_each(|row| *counts.entry(open(row)).or_default() += 1.0);
            return combinations.iter().map(|key| counts.get(key).copied().unwrap_or(0.0)).collect();
        };
        let entries = buckets.entries();
        let every: f64 = buckets.sensitive.iter().map(|(attribute, _)| cardinalities[*attribute] as f64).product();
        let mut in_buckets: HashMap<Vec<u32>, BTreeMap<u32, f64>> = HashMap::new();
        for (row, &bucket) in buckets.of_row.iter().enumerate() {
            *in_buckets.entry(open(row)).or_default().entry(bucket).or_default() += 1.0;
        }
        // What is open decides the buckets: combinations that agree there are worked out together.
        let mut wanted: HashMap<&[u32], Vec<usize>> = HashMap::new();
        for (place, combination) in combinations.iter().enumerate() {
            wanted.entry(&combination[..width]).or_default().push(place);
        }
        let mut told = vec![0.0; combinations.len()];
        for (open, places) in wanted {
            let mut weights: HashMap<&[u32], f64> = HashMap::new();
            let mut untold = 0.0;
            for (&bucket, rows) in in_buckets.get(open).into_iter().flatten() {
                if bucket == PublishedBuckets::UNTOLD {
                    untold += rows / every;
                    continue;
                }
                let told = entries.get(&bucket).map_or(&[][..], Vec::as_slice);
                let size: f64 = told.iter().map(|(_, count)| count).sum();
                for (codes, count) in told {
                    *weights.entry(codes).or_default() += rows * count / size;
                }
            }
            for place in places {
                told[place] = weights.get(&combinations[place][width..]).copied().unwrap_or(0.0) + untold;
            }
        }
        told
    }
}

impl PublishedBuckets {
    /// For every bucket the combinations of sensitive values in it.
    fn entries(&self) -> HashMap<u32, Vec<(Vec<u32>, f64)>> {
        let mut entries: HashMap<u32, Vec<(Vec<u32>, f64)>> = HashMap::new();
        for (entry, (&bucket, &count)) in self.of_entry.iter().zip(&self.counts).enumerate() {
            let codes = self.sensitive.iter().map(|(_, column)| column[entry]).collect();
            entries.entry(bucket).or_default().push((codes, f64::from(count)));
        }
        entries
    }
}
