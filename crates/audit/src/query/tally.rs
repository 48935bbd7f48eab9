//! Adding up what rows contribute to COUNT, SUM and AVG: an estimate, and how low and how high the
//! true answer can be.
//!
//! A row contributes in proportion to the probability that the condition holds for it. Of the
//! bounds, one is attained when every row is as the least favorable value under its cells has it,
//! the other with the most favorable; rows do not depend on one another. The mean's bounds take the
//! rows that must be counted and add of the others those that move it furthest.

use super::answer::Estimate;
use super::sql::What;
use crate::estimate::regions::{MISSING, Part};
use crate::query::diagram::{Diagram, Outcome, times};

/// What one row contributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contribution {
    /// The probability that it is counted, and the expectation of its value where it is.
    pub(crate) share: f64,
    pub(crate) sum: f64,
    pub(crate) must: bool,
    pub(crate) can: bool,
    /// Of its value when it is counted.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Its value when it is counted, where that is one whole number.
    pub(crate) exact: Option<i64>,
}

impl Contribution {
    pub(crate) fn of<'c>(
        what: What,
        diagram: &Diagram,
        cell: &impl Fn(usize) -> &'c [Part],
        buffer: &mut Vec<Outcome>,
    ) -> Contribution {
        let column = match what {
            What::Count | What::Column(_) => {
                let Outcome { share, possible, certain } = diagram.judge(cell, buffer);
                return Contribution {
                    share,
                    sum: share,
                    must: certain,
                    can: possible,
                    low: 1.0,
                    high: 1.0,
                    exact: None,
                };
            }
            What::CountOf(column) | What::Sum(column) | What::Mean(column) => column,
        };
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut found = Contribution { share: 0.0, sum: 0.0, must: true, can: false, low, high, exact: None };
        let mut missing = 0.0;
        let parts = cell(column);
        let mut all_alike = None;
        for part in parts {
            if part.region == MISSING {
                found.must = false;
                missing += part.mass;
                continue;
            }
            let here = [Part { mass: 1.0, ..*part }];
            let Outcome { share, possible, certain } =
                diagram.judge(|other| if other == column { &here } else { cell(other) }, buffer);
            found.share += times(part.mass, share);
            found.sum += times(part.mean, times(part.mass, share));
            found.must &= certain;
            if possible {
                found.exact = if found.can { None } else { part.exact };
                found.can = true;
                (found.low, found.high) = (found.low.min(part.low), found.high.max(part.high));
            }
            all_alike = match all_alike {
                None => Some(share),
                Some(known) if known == share => Some(known),
                Some(_) => Some(f64::NAN),
            };
        }
        // Where it does not matter in which part the value lies, nothing needs to be known about
        // the parts.
        if let Some(share) = all_alike
            && !share.is_nan()
            && missing == 0.0
        {
            found.share = share;
        }
        found.must &= found.can;
        if what == What::CountOf(column) {
            (found.sum, found.low, found.high) = (found.share, 1.0, 1.0);
        }
        found
    }

    /// The least and the most that it adds to a sum.
    pub(crate) fn range(&self) -> (f64, f64) {
        match (self.can, self.must) {
            (false, _) => (0.0, 0.0),
            (true, true) => (self.low, self.high),
            (true, false) => (self.low.min(0.0), self.high.max(0.0)),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) count: f64,
    pub(crate) sum: f64,
    pub(crate) certain: u64,
    pub(crate) possible: u64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The sum of the rows whose values are whole numbers; it is the answer unless another row may
    /// add to it.
    pub(crate) exact: i128,
    pub(crate) inexact: bool,
    /// For the mean: rows that can be counted, whether they must, and the ends of their values.
    pub(crate) choices: Vec<Choice>,
    /// A second way to see the same rows, when there is one; the bounds of both hold.
    pub(crate) others: Vec<Choice>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    pub(crate) rows: u64,
    pub(crate) must: bool,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Tally {
    /// Adds `rows` rows that each contribute the same.
    pub(crate) fn add(&mut self, what: What, rows: u64, row: &Contribution) {
        self.count += times(rows as f64, row.share);
        self.sum += times(rows as f64, row.sum);
        self.certain += if row.must { rows } else { 0 };
        self.possible += if row.can { rows } else { 0 };
        let (low, high) = row.range();
        self.low += times(rows as f64, low);
        self.high += times(rows as f64, high);
        match row.exact {
            Some(value) if row.must => self.exact += i128::from(rows) * i128::from(value),
            _ => self.inexact |= row.can,
        }
        if matches!(what, What::Mean(_)) && row.can {
            self.choices.push(Choice { rows, must: row.must, low: row.low, high: row.high });
        }
    }

    /// Adds suppressed rows, which widen the bounds: each may be counted or not.
    pub(crate) fn widen(&mut self, what: What, rows: u64, row: &Contribution) {
        if !row.can {
            return;
        }
        self.possible += rows;
        self.low += times(rows as f64, row.low.min(0.0));
        self.high += times(rows as f64, row.high.max(0.0));
        self.inexact = true;
        if matches!(what, What::Mean(_)) {
            let choice = Choice { rows, must: false, low: row.low, high: row.high };
            self.choices.push(choice);
            if !self.others.is_empty() {
                self.others.push(choice);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Tally) {
        self.count += other.count;
        self.sum += other.sum;
        self.certain += other.certain;
        self.possible += other.possible;
        self.low += other.low;
        self.high += other.high;
        self.exact += other.exact;
        self.inexact |= other.inexact;
        self.choices.extend(other.choices);
        self.others.extend(other.others);
    }

    pub(crate) fn finish(&self, what: What) -> Estimate {
        let (estimate, certain, possible) = match what {
            What::Count | What::CountOf(_) | What::Column(_) => (self.count, self.certain as f64, self.possible as f64),
            What::Sum(_) | What::Mean(_) if self.possible == 0 => (f64::NAN, f64::NAN, f64::NAN),
            What::Sum(_) => (self.sum, self.low, self.high),
            What::Mean(_) => {
                let estimate = if self.count > 0.0 { self.sum / self.count } else { f64::NAN };
                let (mut low, mut high) = mean_bounds(&self.choices);
                if !self.others.is_empty() {
                    let (other_low, other_high) = mean_bounds(&self.others);
                    (low, high) = (low.max(other_low), high.min(other_high));
                }
                (estimate, low, high)
            }
        };
        // Sums of shares round; what they estimate is never outside its own bounds.
        let estimate = if estimate < certain { certain } else { estimate };
        let estimate = if estimate > possible { possible } else { estimate };
        let exact = matches!(what, What::Sum(_)) && self.possible > 0 && !self.inexact;
        Estimate { estimate, certain, possible, exact: exact.then_some(self.exact) }
    }
}

/// The least and the greatest mean over every way to count rows.
fn mean_bounds(choices: &[Choice]) -> (f64, f64) {
    let highest = |value: fn(&Choice) -> f64| {
        let (mut sum, mut count) = (0.0, 0u64);
        let mut optional: Vec<(f64, u64)> = Vec::new();
        for choice in choices {
            if choice.must {
                sum += choice.rows as f64 * value(choice);
                count += choice.rows;
            } else {
                optional.push((value(choice), choice.rows));
            }
        }
        optional.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        if let (0, Some((best, _))) = (count, optional.first()) {
            return *best;
        }
        for (value, rows) in optional {
            // The mean of what is in; a value above it raises it, however many rows have it.
            if value <= sum / count as f64 {
                break;
            }
            sum += rows as f64 * value;
            count += rows;
        }
        sum / count as f64
    };
    (-highest(|choice| -choice.low), highest(|choice| choice.high))
}
