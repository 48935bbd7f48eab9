//! Adding up what rows contribute to COUNT, SUM and AVG: an estimate, and how low and how high the
//! true answer can be.
//!
//! A row contributes in proportion to the probability that the condition holds for it. Of the
//! bounds, one is attained when every row is as the least favorable value under its cells has it,
//! the other with the most favorable; rows do not depend on one another. The mean's bounds take the
//! rows that must be counted and add of the others those that move it furthest.

use super::aggregate::{Of, What};
use super::answer::Estimate;
use super::calculation::Aggregated;
use super::order_statistics::{self, UniformPiece};
use super::plan::{Plan, PlannedAmount};
use crate::estimate::regions::{MISSING, Portion};
use crate::estimate::whole::Whole;
use crate::query::diagram::{ConditionTruth, times};

/// Every whole number up to here is a float.
const EXACT_MAX: u128 = 1 << 53;

/// The contribution of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contribution {
    /// The probability that it is counted, and the expectation of its value where it is.
    pub(crate) share: f64,
    pub(crate) sum: f64,
    /// The expectation of its square, likewise.
    pub(crate) square: f64,
    pub(crate) must: bool,
    pub(crate) can: bool,
    /// Of its value when it is counted.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Likewise, where it is a whole number.
    pub(crate) whole: Option<Whole>,
}

impl Contribution {
    pub(crate) fn of<'c>(
        what: What,
        plan: &Plan,
        cell: &impl Fn(usize) -> &'c [Portion],
        buffer: &mut Vec<ConditionTruth>,
    ) -> Contribution {
        let diagram = &plan.diagram;
        let column = match what.of() {
            None => {
                let ConditionTruth { share, possible, certain } = diagram.judge(cell, buffer);
                return Contribution {
                    share,
                    sum: share,
                    square: share,
                    must: certain,
                    can: possible,
                    low: 1.0,
                    high: 1.0,
                    whole: None,
                };
            }
            Some(Of::Column(column)) => column,
            Some(Of::Amount(amount)) => {
                let found = Contribution::of_amount(&plan.amounts[amount], plan, cell, buffer);
                return found.counted_if(matches!(what, What::CountOf(_)));
            }
        };
        let mut found = Contribution::NOTHING;
        let mut missing = 0.0;
        let parts = cell(column);
        let mut all_alike = None;
        // A sum adds up the numbers themselves.
        let origin = if matches!(what, What::Sum(_)) { plan.origin(column) } else { 0 };
        for part in parts {
            let part = &part.moved(origin);
            if part.region == MISSING {
                found.must = false;
                missing += part.mass;
                continue;
            }
            let here = [Portion { mass: 1.0, ..*part }];
            let ConditionTruth { share, possible, certain } =
                diagram.judge(|other| if other == column { &here } else { cell(other) }, buffer);
            found.share += times(part.mass, share);
            found.sum += times(part.mean, times(part.mass, share));
            found.square += times(square(part.mean, part.low, part.high), times(part.mass, share));
            found.must &= certain;
            if possible {
                found.whole = match found.can {
                    true => found.whole.zip(part.whole).map(|(one, other)| one.or(other)),
                    false => part.whole,
                };
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
        found.counted_if(what.is_count())
    }

    const NOTHING: Contribution = Contribution {
        share: 0.0,
        sum: 0.0,
        square: 0.0,
        must: true,
        can: false,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        whole: None,
    };

    /// Its value when it is counted, where that is one whole number.
    pub(crate) fn exact(&self) -> Option<i64> {
        self.whole.and_then(Whole::exact)
    }

    /// The same where rows are counted, whatever their values.
    fn counted_if(self, counts: bool) -> Contribution {
        if counts { Contribution { sum: self.share, square: self.share, low: 1.0, high: 1.0, ..self } } else { self }
    }

    /// Of an expression: over every combination of the regions that its columns can lie in.
    fn of_amount<'c>(
        amount: &PlannedAmount,
        plan: &Plan,
        cell: &impl Fn(usize) -> &'c [Portion],
        buffer: &mut Vec<ConditionTruth>,
    ) -> Contribution {
        let mut found = Contribution::NOTHING;
        let cells: Vec<&[Portion]> = amount.columns.iter().map(|&column| cell(column)).collect();
        let mut chosen = vec![0usize; cells.len()];
        if cells.iter().any(|cell| cell.is_empty()) {
            return Contribution { must: false, ..found };
        }
        loop {
            let place = |column: usize| amount.columns.iter().position(|known| *known == column);
            let parts: Vec<Portion> = (cells.iter().zip(&chosen).zip(&amount.columns))
                .map(|((cell, &part), &column)| Portion { mass: 1.0, ..cell[part].moved(plan.origin(column)) })
                .collect();
            let mass = cells.iter().zip(&chosen).fold(1.0, |mass, (cell, &part)| times(mass, cell[part].mass));
            let at = |column: usize| &parts[place(column).unwrap_or_default()];
            let value = amount.amount.at(&at, &|predicate| plan.holds(predicate, at));
            match value {
                None => found.must = false,
                Some(value) => {
                    let fixed = |column: usize| place(column).map(|place| std::slice::from_ref(&parts[place]));
                    let ConditionTruth { share, possible, certain } =
                        plan.diagram.judge(|other| fixed(other).unwrap_or_else(|| cell(other)), buffer);
                    found.share += times(mass, share);
                    found.sum += times(value.mean, times(mass, share));
                    found.square += times(square(value.mean, value.low, value.high), times(mass, share));
                    found.must &= certain && value.defined;
                    if possible {
                        found.can = true;
                        (found.low, found.high) = (found.low.min(value.low), found.high.max(value.high));
                    }
                }
            }
            // The next combination, the last column first.
            let Some(next) = (0..chosen.len()).rev().find(|&place| chosen[place] + 1 < cells[place].len()) else {
                break;
            };
            chosen[next] += 1;
            chosen[next + 1..].fill(0);
        }
        found.must &= found.can;
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
    pub(crate) square: f64,
    pub(crate) certain: u64,
    pub(crate) possible: u64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The sum of the rows whose values are whole numbers; it is the answer unless another row may
    /// add to it.
    pub(crate) exact: i128,
    pub(crate) inexact: bool,
    /// For quantiles: where the values of rows are expected.
    pub(crate) pieces: Vec<UniformPiece>,
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
    /// The same ends, where the values are whole numbers.
    pub(crate) whole: Option<Whole>,
}

impl Tally {
    /// Adds `rows` rows that each contribute the same.
    pub(crate) fn add(&mut self, what: What, rows: u64, row: &Contribution) {
        self.count += times(rows as f64, row.share);
        self.sum += times(rows as f64, row.sum);
        self.square += times(rows as f64, row.square);
        self.certain += if row.must { rows } else { 0 };
        self.possible += if row.can { rows } else { 0 };
        let (low, high) = row.range();
        self.low += times(rows as f64, low);
        self.high += times(rows as f64, high);
        match row.exact() {
            Some(value) if row.must => self.exact += i128::from(rows) * i128::from(value),
            _ => self.inexact |= row.can,
        }
        if what.is_of_rows() && row.can {
            self.choices.push(Choice { rows, must: row.must, low: row.low, high: row.high, whole: row.whole });
        }
        self.expect(what, rows as f64, row);
    }

    /// Notes where the values of rows are expected, where that matters.
    pub(crate) fn expect(&mut self, what: What, rows: f64, row: &Contribution) {
        if !matches!(what, What::Least(_) | What::Greatest(_) | What::Quantile(..)) || !row.can {
            return;
        }
        let (low, high) = if row.low.is_finite() && row.high.is_finite() {
            (row.low, row.high)
        } else {
            // Without ends, all that is known is a mean.
            let mean = row.sum / row.share;
            (mean, mean)
        };
        self.pieces.push(UniformPiece { rows: times(rows, row.share), low, high });
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
        if what.is_of_rows() {
            let choice = Choice { rows, must: false, low: row.low, high: row.high, whole: row.whole };
            self.choices.push(choice);
            if !self.others.is_empty() {
                self.others.push(choice);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Tally) {
        self.count += other.count;
        self.sum += other.sum;
        self.square += other.square;
        self.certain += other.certain;
        self.possible += other.possible;
        self.low += other.low;
        self.high += other.high;
        self.exact += other.exact;
        self.inexact |= other.inexact;
        self.pieces.extend(other.pieces);
        self.choices.extend(other.choices);
        self.others.extend(other.others);
    }

    /// The aggregate, and whether it is a number in every table.
    pub(crate) fn aggregated(&self, what: What, origin: i64) -> Aggregated {
        let values_min = match what {
            _ if what.is_count() => 0,
            What::Deviation { sample: true, .. } => 2,
            _ => 1,
        };
        Aggregated { estimate: self.finish(what, origin), defined: self.certain >= values_min }
    }

    /// `origin` is where the numbers of rows are counted from.
    pub(crate) fn finish(&self, what: What, origin: i64) -> Estimate {
        let within = |of: &dyn Fn(&[Choice]) -> (f64, f64)| {
            let (low, high) = of(&self.choices);
            if self.others.is_empty() {
                return (low, high);
            }
            let (other_low, other_high) = of(&self.others);
            (low.max(other_low), high.min(other_high))
        };
        let mean = if self.count > 0.0 { self.sum / self.count } else { f64::NAN };
        let (estimate, (certain, possible)) = match what {
            What::Count | What::CountOf(_) | What::Distinct(_) => {
                (self.count, (self.certain as f64, self.possible as f64))
            }
            _ if self.possible == 0 => (f64::NAN, (f64::NAN, f64::NAN)),
            What::Sum(_) => (self.sum, (self.low, self.high)),
            What::Mean(_) => (mean, within(&mean_bounds)),
            What::Least(_) => {
                (order_statistics::estimated(&self.pieces, |rows| rows.min(0.5)), within(&order_statistics::least))
            }
            What::Greatest(_) => {
                let estimate = order_statistics::estimated(&self.pieces, |rows| (rows - 0.5).max(0.0));
                (estimate, within(&order_statistics::greatest))
            }
            What::Quantile(_, share) => {
                let share = f64::from_bits(share);
                let estimate = order_statistics::estimated(&self.pieces, |rows| rows * share);
                (estimate, within(&|choices| order_statistics::quantile(choices, share)))
            }
            What::Deviation { squared, sample, .. } => {
                let spread = self.square / self.count - mean * mean;
                // What is unknown stays so: of it and zero, zero would be the greater.
                let spread = if spread < 0.0 { 0.0 } else { spread };
                let spread = if sample { spread * self.count / (self.count - 1.0) } else { spread };
                let bounds = within(&|choices| order_statistics::variance(choices, sample));
                // Of one row a sample has no deviation.
                if sample && self.possible < 2 {
                    (f64::NAN, (f64::NAN, f64::NAN))
                } else if squared {
                    (spread, bounds)
                } else {
                    (spread.sqrt(), (bounds.0.sqrt(), bounds.1.sqrt()))
                }
            }
        };
        // Sums of shares round; what they estimate is never outside its own bounds.
        let estimate = if estimate < certain { certain } else { estimate };
        let estimate = if estimate > possible { possible } else { estimate };
        let exact = match what {
            _ if self.possible == 0 || self.inexact => None,
            What::Sum(_) => Some(self.exact),
            What::Mean(_) if origin != 0 => self.exact_mean(),
            _ => None,
        };
        let whole = match what {
            What::Least(_) | What::Greatest(_) => self.whole_extreme(what),
            _ => [exact; 3],
        };
        let found = Estimate { estimate, certain, possible, whole };
        match what {
            What::Mean(_) => found.counted_from(origin, false),
            What::Least(_) | What::Greatest(_) | What::Quantile(..) => found.counted_from(origin, true),
            _ => found,
        }
    }

    /// The least or the greatest of whole numbers where it is known or floats would lose digits:
    /// the estimate and both bounds.
    fn whole_extreme(&self, what: What) -> [Option<i128>; 3] {
        let greatest = matches!(what, What::Greatest(_));
        let Some((mut low, mut high)) = order_statistics::whole_extreme(&self.choices, greatest) else {
            return [None; 3];
        };
        if let Some((other_low, other_high)) = order_statistics::whole_extreme(&self.others, greatest) {
            (low, high) = (low.max(other_low), high.min(other_high));
        }
        let is_large = |end: i128| end.unsigned_abs() > EXACT_MAX && end.abs() < order_statistics::OPEN;
        if self.inexact && !is_large(low) && !is_large(high) {
            return [None; 3];
        }
        let known = Some(low).filter(|_| low == high);
        let closed = |end: i128| Some(end).filter(|end| end.abs() < order_statistics::OPEN);
        [known, closed(low), closed(high)]
    }

    /// The mean of rows with whole numbers, where it is one itself.
    fn exact_mean(&self) -> Option<i128> {
        let rows = i128::from(self.possible);
        (self.exact % rows == 0).then_some(self.exact / rows)
    }
}

/// The mean of the squares of numbers that are spread evenly around their mean.
fn square(mean: f64, low: f64, high: f64) -> f64 {
    if low == high { mean * mean } else { mean * mean + (high - low) * (high - low) / 12.0 }
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
