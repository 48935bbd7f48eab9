//! One clique of the junction tree: its distinct rows with their counts, and where they meet those
//! of its parent and children.
//!
//! A bucketized table is two cliques whose separator is the number of the bucket. Both keep their
//! rows bucket by bucket, so that the message between them is never stored.

use super::keys::{Numbers, packed};
use super::lanes::{LANES, Selection, for_each_lane};
use super::{PublishedBuckets, PublishedTable};

/// The most combinations of sensitive values that are listed for rows without sensitive values,
/// each equally likely.
const LISTED_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Factor {
    /// Attributes, then the number of the bucket if there are buckets.
    pub(super) variables: Vec<usize>,
    /// For every attribute its code in each distinct row.
    pub(super) columns: Vec<Vec<u32>>,
    pub(super) counts: Vec<f64>,
    /// Where the rows of each bucket start, and one more; all rows are one bucket where there are
    /// none.
    pub(super) starts: Vec<usize>,
    /// The row that stands for all combinations of sensitive values, where these are too many to be
    /// listed.
    any_value: Option<usize>,
    /// The rows of the last bucket list all combinations of sensitive values, of which none is
    /// released.
    pub(super) lists_unreleased: bool,
    pub(super) children: Vec<Child>,
    /// Which of the combinations that it shares with its parent each distinct row has.
    pub(super) shared: Vec<u32>,
    pub(super) shared_counts: Vec<f64>,
}

/// A child in the tree, and which of the combinations that it shares each distinct row has.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) factor: usize,
    /// [`NONE`] for a combination that the child has no rows of.
    combination: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// The expected counts of a clique for every combination that it shares with its parent, by query.
/// There may be as many combinations as rows, so only the queries that it depends on have a place.
#[derive(Debug)]
pub(super) struct Message {
    /// The queries that it depends on; for others it is 1.
    pub(super) active: u64,
    /// The place of every query that it depends on, among those of one combination.
    places: [u8; LANES],
    width: usize,
    /// Combination by combination.
    values: Vec<f64>,
    mean: [f64; LANES],
}

impl Message {
    /// `values` is memory that may be used.
    pub(super) fn new(active: u64, combinations: usize, mut values: Vec<f64>) -> Message {
        let mut places = [0; LANES];
        let mut width = 0u8;
        for_each_lane(active, |lane| {
            places[lane] = width;
            width += 1;
        });
        let width = usize::from(width);
        values.clear();
        values.resize(combinations * width, 0.0);
        Message { active, places, width, values, mean: [0.0; LANES] }
    }

    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }

    #[inline]
    pub(super) fn add(&mut self, combination: u32, lane: usize, weight: f64) {
        self.values[combination as usize * self.width + usize::from(self.places[lane])] += weight;
    }

    /// From sums by combination to what is expected of one row that has it.
    pub(super) fn finish(&mut self, counts: &[f64]) {
        let rows: f64 = counts.iter().sum();
        let mut means = [0.0; LANES];
        for (sums, count) in self.values.chunks_exact_mut(self.width.max(1)).zip(counts) {
            means.iter_mut().zip(sums.iter()).for_each(|(mean, sum)| *mean += sum / rows);
            sums.iter_mut().for_each(|sum| *sum /= count);
        }
        for_each_lane(self.active, |lane| self.mean[lane] = means[usize::from(self.places[lane])]);
    }

    #[inline]
    fn value(&self, combination: u32, lane: usize) -> f64 {
        self.values[combination as usize * self.width + usize::from(self.places[lane])]
    }
}

impl Factor {
    /// The table as it is, or by row and by bucket.
    pub(super) fn of(table: &PublishedTable, bucket: usize, cardinalities: &[usize]) -> Vec<Factor> {
        let list = |columns: &[(usize, Vec<u32>)]| -> (Vec<usize>, Vec<Vec<u32>>) { columns.iter().cloned().unzip() };
        let (mut variables, columns) = list(&table.by_row);
        let Some(buckets) = &table.buckets else {
            let rows = vec![1.0; columns.first().map_or(0, Vec::len)];
            return vec![Factor::new(variables, columns, None, &rows)];
        };
        variables.push(bucket);
        let rows = vec![1.0; buckets.of_row.len()];
        let by_row = Factor::new(variables, columns, Some(&buckets.of_row), &rows);
        let (mut variables, mut columns) = list(&buckets.sensitive);
        let mut of_entry = buckets.of_entry.clone();
        let mut counts: Vec<f64> = buckets.counts.iter().map(|&count| f64::from(count)).collect();
        let without = buckets.of_row.iter().filter(|&&bucket| bucket == PublishedBuckets::NO_BUCKET).count();
        let sizes: Vec<usize> = variables.iter().map(|&attribute| cardinalities[attribute]).collect();
        let combinations = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
        let listed = combinations.filter(|&combinations| without > 0 && combinations <= LISTED_MAX);
        for combination in 0..listed.unwrap_or(0) {
            let mut rest = combination;
            for (column, size) in columns.iter_mut().zip(&sizes) {
                column.push((rest % size) as u32);
                rest /= size;
            }
            of_entry.push(PublishedBuckets::NO_BUCKET);
            counts.push(without as f64 / listed.unwrap_or(1) as f64);
        }
        let any_value = without > 0 && listed.is_none();
        if any_value {
            columns.iter_mut().for_each(|column| column.push(0));
            of_entry.push(PublishedBuckets::NO_BUCKET);
            counts.push(without as f64);
        }
        variables.push(bucket);
        let mut by_bucket = Factor::new(variables, columns, Some(&of_entry), &counts);
        // Rows without a bucket come last.
        by_bucket.any_value = any_value.then(|| by_bucket.counts.len() - 1);
        by_bucket.lists_unreleased = listed.is_some();
        vec![by_row, by_bucket]
    }

    fn new(variables: Vec<usize>, columns: Vec<Vec<u32>>, buckets: Option<&[u32]>, rows: &[f64]) -> Factor {
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).chain(buckets).collect();
        let keys = packed(&[slices], &[rows.len()]).remove(0);
        let mut numbers = Numbers::default();
        let number = numbers.of(&keys);
        let (mut first, mut counts) = (Vec::new(), Vec::new());
        for (row, (&number, count)) in number.iter().zip(rows).enumerate() {
            if number as usize == counts.len() {
                counts.push(0.0);
                first.push(row);
            }
            counts[number as usize] += count;
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        let mut starts = vec![0];
        if let Some(buckets) = buckets {
            order.sort_by_key(|&place| buckets[first[place]]);
            let changes = order.windows(2).enumerate();
            let changes = changes.filter(|(_, pair)| buckets[first[pair[0]]] != buckets[first[pair[1]]]);
            starts.extend(changes.map(|(place, _)| place + 1));
        }
        starts.push(order.len());
        let column = |column: &Vec<u32>| order.iter().map(|&place| column[first[place]]).collect();
        Factor {
            variables,
            columns: columns.iter().map(column).collect(),
            counts: order.iter().map(|&place| counts[place]).collect(),
            starts,
            any_value: None,
            lists_unreleased: false,
            children: Vec::new(),
            shared: Vec::new(),
            shared_counts: Vec::new(),
        }
    }

    /// Distinct rows with expected counts that need not be whole.
    pub(super) fn fitted(variables: Vec<usize>, columns: Vec<Vec<u32>>, counts: &[f64]) -> Factor {
        Factor::new(variables, columns, None, counts)
    }

    /// The bucket of every row, by its place among the buckets.
    pub(super) fn bucket_codes(&self) -> Vec<u32> {
        let buckets = (0..).zip(self.starts.windows(2));
        buckets.flat_map(|(bucket, range)| std::iter::repeat_n(bucket, range[1] - range[0])).collect()
    }

    /// Finds which rows of parent and child agree on the attributes they share. `own` is this
    /// table's number.
    pub(super) fn attach_to(&mut self, parent: &mut Factor, own: usize, shared: &[usize]) {
        let rows = [self.counts.len(), parent.counts.len()];
        let keys = packed(&[self.columns_of(shared), parent.columns_of(shared)], &rows);
        let mut numbers = Numbers::default();
        self.shared = numbers.of(&keys[0]);
        self.shared_counts = vec![0.0; numbers.len()];
        for (row, (&number, count)) in self.shared.iter().zip(&self.counts).enumerate() {
            if self.any_value != Some(row) {
                self.shared_counts[number as usize] += count;
            }
        }
        let combination = keys[1].iter().map(|key| numbers.find(*key).unwrap_or(NONE)).collect();
        parent.children.push(Child { factor: own, combination });
    }

    /// The columns of some attributes.
    pub(super) fn columns_of(&self, attributes: &[usize]) -> Vec<&[u32]> {
        let place = |attribute: &usize| self.variables.iter().position(|own| own == attribute).expect("shared");
        attributes.iter().map(|attribute| self.columns[place(attribute)].as_slice()).collect()
    }

    pub(super) fn is_any_value(&self, row: usize) -> bool {
        self.any_value == Some(row)
    }

    /// The queries for which rows of this clique weigh differently, by their own values or by those
    /// of children; but not by attributes that are `answered` elsewhere.
    pub(super) fn active(&self, selection: &Selection, messages: &[Option<Message>], answered: &[usize]) -> u64 {
        let children = self.children.iter().filter_map(|child| messages[child.factor].as_ref());
        self.own_lanes(selection, answered) | children.fold(0, |lanes, child| lanes | child.active)
    }

    /// The queries that use an attribute of this clique that is not `answered` elsewhere.
    pub(super) fn own_lanes(&self, selection: &Selection, answered: &[usize]) -> u64 {
        let own = self.columns.iter().zip(&self.variables).map(|(_, attribute)| attribute);
        let own = own.filter(|attribute| !answered.contains(attribute));
        own.fold(0, |lanes, &attribute| lanes | selection.uses(attribute))
    }

    /// Whether one row stands for all combinations of sensitive values.
    pub(super) fn has_any_value(&self) -> bool {
        self.any_value.is_some()
    }

    /// This clique's attributes that some query uses, and its children that some query depends on.
    pub(super) fn weights<'f>(&'f self, selection: &'f Selection, messages: &'f [Option<Message>]) -> Weights<'f> {
        let used = self.columns.iter().zip(&self.variables);
        let used =
            used.filter_map(|(column, &attribute)| Some((attribute, column.as_slice(), selection.masks(attribute)?)));
        let children = self.children.iter();
        let children =
            children.filter_map(|child| Some((child.combination.as_slice(), messages[child.factor].as_ref()?)));
        Weights { factor: self, selection, used: used.collect(), children: children.collect() }
    }
}

/// How many selected rows each distinct row stands for, here and in the tables below.
pub(super) struct Weights<'f> {
    factor: &'f Factor,
    selection: &'f Selection,
    used: Vec<(usize, &'f [u32], &'f [u64])>,
    children: Vec<(&'f [u32], &'f Message)>,
}

impl Weights<'_> {
    /// Calls `add` with every query of `lanes` that selects the row, and the row's weight.
    #[inline]
    pub(super) fn of(&self, row: usize, lanes: u64, mut add: impl FnMut(usize, f64)) {
        let count = self.factor.counts[row];
        if self.factor.is_any_value(row) {
            return for_each_lane(lanes, |lane| add(lane, count * self.of_any_value(lane)));
        }
        let word = self.used.iter().fold(lanes, |word, (_, codes, masks)| word & masks[codes[row] as usize]);
        if self.children.is_empty() {
            return for_each_lane(word, |lane| add(lane, count));
        }
        for_each_lane(word, |lane| {
            let mut weight = count;
            for (combination, message) in &self.children {
                if message.active >> lane & 1 == 1 {
                    let place = combination[row];
                    weight *= if place == NONE { 0.0 } else { message.value(place, lane) };
                }
            }
            add(lane, weight);
        });
    }

    /// The share of all combinations of values that a query selects; children expect of them what
    /// they expect on average.
    fn of_any_value(&self, lane: usize) -> f64 {
        let own: f64 = self.used.iter().map(|(attribute, ..)| self.selection.share(*attribute, lane)).product();
        let below = self.children.iter().filter(|(_, message)| message.active >> lane & 1 == 1);
        own * below.map(|(_, message)| message.mean[lane]).product::<f64>()
    }
}
