//! One clique of the junction tree: its distinct rows with their counts, and where they meet those of its parent and children.

use hashbrown::HashMap;

use super::{PublishedBuckets, PublishedTable};

#[derive(Debug)]
pub(super) struct Factor {
    pub(super) variables: Vec<usize>,
    /// For every variable its code in each distinct row.
    columns: Vec<Vec<u32>>,
    counts: Vec<f64>,
    /// The row that stands for rows without sensitive values: all values are equally likely. Only by bucket.
    no_bucket: Option<usize>,
    pub(super) children: Vec<Child>,
    /// What is shared with the parent: which combination each distinct row has, and how many rows there are of each.
    shared: Vec<u32>,
    shared_counts: Vec<f64>,
}

/// A child in the tree: which of the combinations that it shares each distinct row has.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) factor: usize,
    /// `None` for a combination that the child has no rows of.
    combination: Vec<Option<u32>>,
}

impl Factor {
    /// The table as it is, or by row and by bucket.
    pub(super) fn of(table: &PublishedTable, bucket: usize) -> Vec<Factor> {
        let list = |columns: &[(usize, Vec<u32>)]| -> (Vec<usize>, Vec<Vec<u32>>) { columns.iter().cloned().unzip() };
        let (mut variables, mut columns) = list(&table.by_row);
        let Some(buckets) = &table.buckets else {
            let rows = vec![1.0; columns.first().map_or(0, Vec::len)];
            return vec![Factor::new(variables, &columns, &rows, None)];
        };
        variables.push(bucket);
        columns.push(buckets.of_row.clone());
        let rows = vec![1.0; buckets.of_row.len()];
        let by_row = Factor::new(variables, &columns, &rows, None);
        let (mut variables, mut columns) = list(&buckets.sensitive);
        variables.push(bucket);
        columns.push(buckets.of_entry.clone());
        let mut counts: Vec<f64> = buckets.counts.iter().map(|&count| f64::from(count)).collect();
        let no_bucket = buckets.of_row.iter().filter(|&&bucket| bucket == PublishedBuckets::NO_BUCKET).count();
        if no_bucket > 0 {
            let (last, sensitive) = columns.split_last_mut().expect("the bucket is there");
            last.push(PublishedBuckets::NO_BUCKET);
            sensitive.iter_mut().for_each(|column| column.push(0));
            counts.push(no_bucket as f64);
        }
        let no_bucket = (no_bucket > 0).then_some(PublishedBuckets::NO_BUCKET);
        vec![by_row, Factor::new(variables, &columns, &counts, no_bucket)]
    }

    /// `no_bucket` is the bucket of rows without sensitive values, if there is one; the bucket is the last variable.
    fn new(variables: Vec<usize>, columns: &[Vec<u32>], rows: &[f64], no_bucket: Option<u32>) -> Factor {
        let mut number: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut distinct: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
        let mut counts: Vec<f64> = Vec::new();
        for (row, &count) in rows.iter().enumerate() {
            let key: Vec<u32> = columns.iter().map(|column| column[row]).collect();
            let place = *number.entry(key).or_insert_with(|| {
                counts.push(0.0);
                distinct.iter_mut().zip(columns).for_each(|(distinct, column)| distinct.push(column[row]));
                counts.len() - 1
            });
            counts[place] += count;
        }
        let no_bucket = no_bucket.and_then(|bucket| distinct.last()?.iter().position(|&code| code == bucket));
        let (children, shared, shared_counts) = (Vec::new(), Vec::new(), Vec::new());
        Factor { variables, columns: distinct, counts, no_bucket, children, shared, shared_counts }
    }

    /// Finds which rows of parent and child agree on what they share. `own` is this table's number.
    pub(super) fn attach_to(&mut self, parent: &mut Factor, own: usize, shared: &[usize]) {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        self.shared_counts.clear();
        self.shared = (0..self.counts.len())
            .map(|row| {
                let next = numbers.len() as u32;
                let number = *numbers.entry(self.key(row, shared)).or_insert(next);
                if number == next {
                    self.shared_counts.push(0.0);
                }
                self.shared_counts[number as usize] += self.counts[row];
                number
            })
            .collect();
        let rows = 0..parent.counts.len();
        let combination = rows.map(|row| numbers.get(&parent.key(row, shared)).copied()).collect();
        parent.children.push(Child { factor: own, combination });
    }

    fn key(&self, row: usize, variables: &[usize]) -> Vec<u32> {
        let place = |variable: &usize| self.variables.iter().position(|own| own == variable).expect("shared");
        variables.iter().map(|variable| self.columns[place(variable)][row]).collect()
    }

    pub(super) fn is_about(&self, selected: &[(usize, Vec<bool>)]) -> bool {
        selected.iter().any(|(variable, _)| self.variables.contains(variable))
    }

    /// For every distinct row how many selected rows are expected, here and in the tables below.
    pub(super) fn weighted(
        &self,
        selected: &[(usize, Vec<bool>)],
        cardinalities: &[usize],
        messages: &[Option<Vec<f64>>],
    ) -> Vec<f64> {
        let mut rows = self.counts.clone();
        for (variable, wanted) in selected {
            let Some(place) = self.variables.iter().position(|own| own == variable) else { continue };
            for (row, (weight, &code)) in rows.iter_mut().zip(&self.columns[place]).enumerate() {
                if self.no_bucket == Some(row) {
                    let share = wanted.iter().filter(|&&wanted| wanted).count() as f64;
                    *weight *= share / cardinalities[*variable] as f64;
                } else if !wanted[code as usize] {
                    *weight = 0.0;
                }
            }
        }
        for child in &self.children {
            let Some(expected) = &messages[child.factor] else { continue };
            for (weight, combination) in rows.iter_mut().zip(&child.combination) {
                *weight *= combination.map_or(0.0, |combination| expected[combination as usize]);
            }
        }
        rows
    }

    /// For every combination that is shared with the parent the share of its rows that is selected.
    pub(super) fn by_shared(&self, rows: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.shared_counts.len()];
        for (&combination, weight) in self.shared.iter().zip(rows) {
            sums[combination as usize] += weight;
        }
        sums.iter_mut().zip(&self.shared_counts).for_each(|(sum, count)| *sum /= count);
        sums
    }

    /// How many rows share each combination with the parent, by the codes of what is shared.
    pub(super) fn shared_by_key(&self, shared: &[usize]) -> HashMap<Vec<u32>, f64> {
        let mut counts: HashMap<Vec<u32>, f64> = HashMap::new();
        for (row, count) in self.counts.iter().enumerate() {
            *counts.entry(self.key(row, shared)).or_default() += count;
        }
        counts
    }
}
