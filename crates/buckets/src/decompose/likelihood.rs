//! How likely a bucketized table makes the protected values of its rows, given what it releases by
//! row: of rows that it distinguishes, as likely as the value is in the row's bucket; of rows that
//! look alike, as their buckets say on average.
//!
//! Which bucket a row is in has nothing to do with where the row stands, so that looking it up is
//! what costs, and the more rows the more. So bucket and value are kept with each row
//! ([`BucketRow`]), for those that lose by looking alike ([`Alike`]).

use std::borrow::Cow;
use std::ops::Range;

use hedgerow_table::{Codes, parallel};

use super::alike::{Alike, BucketRow, ClassChunk, NOT_LISTED};
use super::divergence::sensitive_values;
use super::groups::{BucketContent, Lists, Round};
use super::partition::{Division, Partition, Shared};
use super::{DecompositionProblem, Groups, Subtable};

/// The statement of a bucketized table by its buckets alone.
#[derive(Debug)]
pub struct Own<'a> {
    rows: usize,
    /// Of ln of the share that each row's sensitive value has in its bucket.
    sum: f64,
    value_of: Cow<'a, Codes>,
    values: usize,
    /// The weight of each value for a row without a sensitive value.
    without_value: f64,
}

/// How far the rows have been measured, chunk by chunk, once one more attribute distinguishes them.
#[derive(Debug, Clone, Copy, Default)]
pub struct LikelihoodProgress {
    next: usize,
    /// The loss so far by rows that still look alike.
    lost: f64,
}

impl<'a> Own<'a> {
    pub fn new(problem: &DecompositionProblem<'a>, table: &Subtable, groups: &Groups) -> Own<'a> {
        let combinations: f64 =
            table.sensitive.iter().map(|attribute| problem.cardinalities[attribute] as f64).product();
        let (value_of, values) = sensitive_values(problem, table.sensitive);
        let sum_of = |(count, size, buckets): (u32, u32, u32)| match count {
            0 => 0.0,
            _ => f64::from(buckets) * f64::from(count) * (f64::from(count) / f64::from(size)).ln(),
        };
        let (listed, without_value) = match &groups.held {
            BucketContent::Dealt(round) => (round.tally().map(sum_of).sum::<f64>(), 0),
            BucketContent::Listed(lists) => {
                let without_value = groups.of_row.iter().filter(|&&group| group == Groups::NONE).count();
                (lists.tally().map(sum_of).sum::<f64>(), without_value)
            }
        };
        let sum = listed - without_value as f64 * combinations.ln();
        Own { rows: problem.rows, sum, value_of, values, without_value: 1.0 / combinations }
    }

    /// Rows with their buckets and values.
    pub fn lines(&self, groups: &Groups, rows: &Partition) -> Partition<BucketRow> {
        let line =
            |row: u32| BucketRow { row, group: groups.of_row[row as usize], value: self.value_of.get(row as usize) };
        rows.with(line)
    }

    /// The mean of −ln of what a bucketized table says of its rows' values, given what else it
    /// releases of them.
    pub fn loss(&self, groups: &Groups, alike: &Alike) -> f64 {
        let lost = |number: usize| {
            let ClassChunk { lines, windows, .. } = &alike.chunks[number];
            let mut more = More::new(self, groups);
            let mut start = 0;
            for class in lines.classes() {
                let end = start + class.len();
                match &groups.held {
                    BucketContent::Dealt(round) if windows[start] != NOT_LISTED => {
                        more.shared.add(class.len());
                        more.look(round, class, &windows[start..end], |_, within| within.len());
                    }
                    _ => more.add(class),
                }
                start = end;
            }
            more.lost()
        };
        self.mean(parallel::map(alike.chunks.len(), lost).into_iter().sum())
    }

    /// Measures one more chunk, if one is left, once one more attribute distinguishes rows.
    pub fn advance(
        &self,
        groups: &Groups,
        alike: &Alike,
        (column, cardinality): (&Codes, usize),
        measure: &mut LikelihoodProgress,
    ) {
        let Some(ClassChunk { lines, rows, windows, .. }) = alike.chunks.get(measure.next) else { return };
        let mut more = More::new(self, groups);
        let mut division = Division::new(cardinality);
        rows.each_class(column, |places, codes| {
            let class = &lines.members()[places.clone()];
            match &groups.held {
                BucketContent::Dealt(round) if windows[places.start] != NOT_LISTED => {
                    division.each_size(codes, |size| more.shared.add(size));
                    more.look(round, class, &windows[places], |place, within| {
                        let code = codes[place];
                        codes[within].iter().filter(|&&other| other == code).count()
                    });
                }
                _ => division.each_part(class, codes, |part| more.add(part)),
            }
        });
        measure.next += 1;
        measure.lost += more.lost();
    }

    /// A lower bound of [`Own::loss`] by what has been measured, and whether it is exact.
    pub fn bound(&self, alike: &Alike, measure: &LikelihoodProgress) -> (f64, bool) {
        (self.mean(measure.lost + alike.least(measure.next)), measure.next == alike.chunks.len())
    }

    fn mean(&self, lost: f64) -> f64 {
        (lost - self.sum) / (self.rows as f64).max(1.0)
    }

    /// The mean of −ln of all that a generalized table says of its rows: within a class all
    /// combinations of what its region covers are equally likely, and the sensitive values as
    /// frequent as they are. Regions do not overlap.
    pub fn region_loss(&self, groups: &Groups, volumes: &[f64]) -> f64 {
        let rows = self.rows as f64;
        let class = |&group: &u32| (f64::from(groups.size(group)) / rows).ln() - volumes[group as usize];
        -(self.sum + groups.of_row.iter().map(class).sum::<f64>()) / rows.max(1.0)
    }
}

/// The likelihood that rows that look alike add to each other.
struct More<'a> {
    own: &'a Own<'a>,
    held: &'a BucketContent,
    logarithms: Logarithms,
    /// Over how many what their buckets say is shared out.
    shared: Shared,
    /// The sum over many buckets for each value, and the values that it covers.
    of_value: Vec<f64>,
    touched: Vec<u32>,
}

impl<'a> More<'a> {
    fn new(own: &'a Own<'a>, groups: &'a Groups) -> More<'a> {
        let of_value = match &groups.held {
            BucketContent::Dealt(_) => Vec::new(),
            BucketContent::Listed(_) => vec![0.0; own.values],
        };
        More {
            own,
            held: &groups.held,
            logarithms: Logarithms::default(),
            shared: Shared::default(),
            of_value,
            touched: Vec::new(),
        }
    }

    /// For a class by the windows of its lines, of which `alike` says how many in a range still
    /// look like one of them.
    fn look(
        &mut self,
        round: &Round,
        class: &[BucketRow],
        windows: &[(u32, u32)],
        alike: impl Fn(usize, Range<usize>) -> usize,
    ) {
        let longer = class.partition_point(|line| line.group < round.longer);
        let (per_longer, per_other) = (1.0 / f64::from(round.full + 1), 1.0 / f64::from(round.full));
        for (place, &(from, to)) in windows.iter().enumerate() {
            if to == from + 1 {
                continue;
            }
            let (from, to) = (from as usize, to as usize);
            // Those in buckets of one row more, and those in others.
            let within = |from: usize, to: usize| {
                let middle = longer.clamp(from, to);
                (alike(place, from..middle), alike(place, middle..to))
            };
            let (in_longer, in_others) = match from < to {
                true => within(from, to),
                false => {
                    let (first, last) = (within(0, to), within(from, class.len()));
                    (first.0 + last.0, first.1 + last.1)
                }
            };
            if in_longer + in_others > 1 {
                let size = if place < longer { round.full + 1 } else { round.full };
                let shares = in_longer as f64 * per_longer + in_others as f64 * per_other;
                self.logarithms.add(shares * f64::from(size));
            }
        }
    }

    /// For rows that look alike, in the order of their buckets.
    fn add(&mut self, class: &[BucketRow]) {
        self.shared.add(class.len());
        match self.held {
            BucketContent::Dealt(round) => self.add_neighbors(round, class),
            BucketContent::Listed(lists) => self.add_up(lists, class),
        }
    }

    fn add_neighbors(&mut self, round: &Round, class: &[BucketRow]) {
        let rows = class.len() as u64;
        let longer = class.partition_point(|line| line.group < round.longer) as u64;
        let (per_longer, per_other) = (1.0 / f64::from(round.full + 1), 1.0 / f64::from(round.full));
        // What buckets say of values together, of which some are many rows'.
        let mut lately = [(u32::MAX, 0.0); 16];
        for (place, line) in class.iter().enumerate() {
            let dealt = round.dealt(line.value);
            let known = &mut lately[line.value as usize % 16];
            if known.0 != line.value {
                let (to, from) = (before(class, place, dealt.to) as u64, before(class, place, dealt.from) as u64);
                let rounds = u64::from(dealt.rounds);
                let all = rounds * rows + to - from;
                let in_longer = rounds * longer + to.min(longer) - from.min(longer);
                *known = (line.value, in_longer as f64 * per_longer + (all - in_longer) as f64 * per_other);
            }
            let (count, size) = (dealt.count(line.group), round.size(line.group));
            self.logarithms.add(known.1 * f64::from(size) / f64::from(count));
        }
    }

    fn add_up(&mut self, lists: &Lists, class: &[BucketRow]) {
        let mut without_value = 0.0;
        for &BucketRow { group, .. } in class {
            if group == Groups::NONE {
                without_value += self.own.without_value;
                continue;
            }
            for (value, share) in lists.shares(group) {
                let weight = &mut self.of_value[value as usize];
                if *weight == 0.0 {
                    self.touched.push(value);
                }
                *weight += share;
            }
        }
        for &BucketRow { group, value, .. } in class {
            let own = match group {
                Groups::NONE => self.own.without_value,
                _ => lists.shares(group).find(|share| share.0 == value).map_or(0.0, |share| share.1),
            };
            self.logarithms.add((self.of_value[value as usize] + without_value) / own);
        }
        self.touched.drain(..).for_each(|value| self.of_value[value as usize] = 0.0);
    }

    fn lost(&self) -> f64 {
        self.shared.sum() - self.logarithms.sum()
    }
}

/// How many rows of a class are in buckets before one that is near the bucket of the row at some
/// place.
fn before(class: &[BucketRow], place: usize, bucket: u32) -> usize {
    let is_before = |line: &BucketRow| line.group < bucket;
    let (left, right) = class.split_at(place);
    if is_before(&right[0]) {
        let near = right.iter().take(NEAR).take_while(|line| is_before(line)).count();
        place + if near < NEAR { near } else { near + right[near..].partition_point(is_before) }
    } else {
        let near = left.iter().rev().take(NEAR).take_while(|line| !is_before(line)).count();
        if near < NEAR { place - near } else { left[..place - near].partition_point(is_before) }
    }
}

/// The number of neighbors tested one after the other.
const NEAR: usize = 4;

/// A sum of logarithms, most of which are taken together.
struct Logarithms {
    sum: f64,
    product: f64,
}

impl Default for Logarithms {
    fn default() -> Logarithms {
        Logarithms { sum: 0.0, product: 1.0 }
    }
}

impl Logarithms {
    /// Of a number that is not less than one, but for rounding.
    fn add(&mut self, number: f64) {
        self.product *= number;
        if self.product > 1e200 {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }

    fn sum(&self) -> f64 {
        self.sum + self.product.ln()
    }
}
