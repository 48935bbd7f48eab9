//! The Kullback–Leibler divergence, in nats, from a table to the maximum-likelihood estimate behind what was published of it: one pass
//! over the distinct rows for each published table and each pair of neighbors.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{MaxLikelihood, PublishedBuckets, PublishedTable};

impl MaxLikelihood<'_> {
    /// `source` has one column of codes for every attribute. Infinite when a row is ruled out that is there.
    pub fn kl_divergence(&self, source: &[Vec<u32>]) -> f64 {
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
            let expected = table.expected(&combinations, self.cardinalities);
            for (log, expected) in logs.iter_mut().zip(expected) {
                *log -= (expected / self.rows).ln();
            }
        }
        for clique in self.cliques.iter().filter(|clique| clique.parent.is_some()) {
            // The number of a bucket is no attribute: what a table shows by row and by bucket was combined above.
            let shared: Vec<usize> =
                clique.shared.iter().copied().filter(|&variable| variable < self.cardinalities.len()).collect();
            if shared.is_empty() {
                continue;
            }
            let separator = self.factors[clique.table].shared_by_key(&shared);
            for (log, &row) in logs.iter_mut().zip(&first_rows) {
                *log += (separator.get(&key(&shared, row)).copied().unwrap_or(0.0) / self.rows).ln();
            }
        }
        counts.iter().zip(&logs).map(|(count, log)| count / rows as f64 * log).sum()
    }
}

impl PublishedTable {
    pub(super) fn attributes(&self) -> impl Iterator<Item = usize> {
        let sensitive = self.buckets.iter().flat_map(|buckets| &buckets.sensitive);
        self.by_row.iter().chain(sensitive).map(|(attribute, _)| *attribute)
    }

    /// How many rows the table by itself expects of each combination of its attributes, open ones first.
    fn expected(&self, combinations: &[Vec<u32>], cardinalities: &[usize]) -> Vec<f64> {
        let width = self.by_row.len();
        let open = |row: usize| -> Vec<u32> { self.by_row.iter().map(|(_, codes)| codes[row]).collect() };
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
        let mut expected = vec![0.0; combinations.len()];
        for (open, places) in wanted {
            let mut weights: HashMap<&[u32], f64> = HashMap::new();
            let mut no_bucket = 0.0;
            for (&bucket, rows) in in_buckets.get(open).into_iter().flatten() {
                if bucket == PublishedBuckets::NO_BUCKET {
                    no_bucket += rows / every;
                    continue;
                }
                let in_bucket = entries.get(&bucket).map_or(&[][..], Vec::as_slice);
                let size: f64 = in_bucket.iter().map(|(_, count)| count).sum();
                for (codes, count) in in_bucket {
                    *weights.entry(codes).or_default() += rows * count / size;
                }
            }
            for place in places {
                expected[place] = weights.get(&combinations[place][width..]).copied().unwrap_or(0.0) + no_bucket;
            }
        }
        expected
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
