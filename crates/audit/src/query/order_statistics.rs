//! The least, the greatest, a quantile and the standard deviation of numbers that are known within
//! bounds, over every way to count the rows that may be counted or not.
//!
//! Least and greatest: the least possible is the lowest end of any row; it can be no higher than
//! the lowest upper end of a row that must be counted. A quantile is lowest where every row has its
//! lowest value and, of the optional rows, the lowest are counted, since exchanging one for a lower
//! one never raises it. These bounds are attained; that of a quantile with many optional rows need
//! not be.
//!
//! Deviation: for any point c the variance is at most the mean of the squares of the farthest
//! distances from c, and at least the least sum of squares of the nearest distances from one point
//! over the number of rows. Both hold for every table; neither need be attained.

use super::tally::Choice;

/// The most optional rows that are tried one by one.
const TRIED_MAX: u64 = 64;

/// Steps of a search for the best point of a convex function; each leaves two thirds.
const STEPS: usize = 100;

/// The least and the greatest of the lowest value.
pub(crate) fn least(choices: &[Choice]) -> (f64, f64) {
    let low = choices.iter().map(|choice| choice.low).fold(f64::INFINITY, f64::min);
    let must = choices.iter().filter(|choice| choice.must).map(|choice| choice.high).fold(f64::INFINITY, f64::min);
    let any = choices.iter().map(|choice| choice.high).fold(f64::NEG_INFINITY, f64::max);
    (low, if choices.iter().any(|choice| choice.must) { must } else { any })
}

/// The least and the greatest of the highest value.
pub(crate) fn greatest(choices: &[Choice]) -> (f64, f64) {
    let (low, high) = least(&mirrored(choices));
    (-high, -low)
}

/// Farther than every whole number: an end that is open.
pub(crate) const OPEN: i128 = 1 << 100;

/// The same as [`least`] or [`greatest`] of whole numbers, to the last digit; `None` where there
/// are none, or some number is not whole.
pub(crate) fn whole_extreme(choices: &[Choice], greatest: bool) -> Option<(i128, i128)> {
    let ends = |choice: &Choice| {
        let (low, high) = (choice.whole?.low.map_or(-OPEN, i128::from), choice.whole?.high.map_or(OPEN, i128::from));
        Some(if greatest { (-high, -low, choice.must) } else { (low, high, choice.must) })
    };
    let ends = choices.iter().map(ends).collect::<Option<Vec<(i128, i128, bool)>>>()?;
    let low = ends.iter().map(|(low, ..)| *low).min()?;
    let must = ends.iter().filter(|(_, _, must)| *must).map(|(_, high, _)| *high).min();
    let high = must.or(ends.iter().map(|(_, high, _)| *high).max())?;
    Some(if greatest { (-high, -low) } else { (low, high) })
}

fn mirrored(choices: &[Choice]) -> Vec<Choice> {
    choices.iter().map(|choice| Choice { low: -choice.high, high: -choice.low, ..*choice }).collect()
}

/// The least and the greatest of the quantile below which a share of the rows lies, between two
/// values by interpolation.
pub(crate) fn quantile(choices: &[Choice], share: f64) -> (f64, f64) {
    (lowest_quantile(choices, share), -lowest_quantile(&mirrored(choices), 1.0 - share))
}

fn lowest_quantile(choices: &[Choice], share: f64) -> f64 {
    let lows =
        |must: bool| choices.iter().filter(move |choice| choice.must == must).map(|choice| (choice.low, choice.rows));
    let mut optional: Vec<(f64, u64)> = lows(false).collect();
    optional.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let with = |count: usize| {
        let mut values: Vec<(f64, u64)> = lows(true).chain(optional[..count].iter().copied()).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        value_below(&values, share)
    };
    if !choices.iter().any(|choice| choice.must) {
        return optional.first().map_or(f64::NAN, |(value, _)| *value);
    }
    // Of as many optional rows, the lowest are the best. Between two values a row more may raise or
    // lower what lies between them: few are tried one by one.
    let rows: u64 = optional.iter().map(|(_, rows)| rows).sum();
    if rows <= TRIED_MAX {
        let one_by_one: Vec<f64> =
            optional.iter().flat_map(|&(value, rows)| std::iter::repeat_n(value, rows as usize)).collect();
        let tried = (0..=one_by_one.len()).map(|count| {
            let lowest = one_by_one[..count].iter().map(|&value| (value, 1));
            let mut values: Vec<(f64, u64)> = lows(true).chain(lowest).collect();
            values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            quantile_of(&values, share)
        });
        return tried.fold(f64::INFINITY, f64::min);
    }
    // Else the value below is a bound, which falls as long as rows below it are added.
    let (mut from, mut to) = (0, optional.len());
    while from < to {
        let middle = (from + to) / 2;
        if optional[middle].0 < with(middle) { from = middle + 1 } else { to = middle }
    }
    with(from)
}

/// The value at or below a quantile.
fn value_below(values: &[(f64, u64)], share: f64) -> f64 {
    let rows: u64 = values.iter().map(|(_, rows)| rows).sum();
    let rank = (rows.saturating_sub(1) as f64 * share).floor() as u64;
    let mut before = 0;
    let found = values.iter().find(|(_, rows)| {
        before += rows;
        rank < before
    });
    found.map_or(f64::NAN, |(value, _)| *value)
}

/// Of values with how often each occurs, ascending.
fn quantile_of(values: &[(f64, u64)], share: f64) -> f64 {
    let rows: u64 = values.iter().map(|(_, rows)| rows).sum();
    if rows == 0 {
        return f64::NAN;
    }
    let place = (rows - 1) as f64 * share;
    let at = |rank: u64| {
        let mut before = 0;
        let found = values.iter().find(|(_, rows)| {
            before += rows;
            rank < before
        });
        found.map_or(f64::NAN, |(value, _)| *value)
    };
    let (low, high) = (at(place.floor() as u64), at(place.ceil() as u64));
    if low == high || place.fract() == 0.0 {
        return low;
    }
    if low.is_infinite() || high.is_infinite() {
        return if low.is_infinite() { low } else { high };
    }
    low + (high - low) * place.fract()
}

/// The least and the greatest variance; of a sample the sum of squares is divided by one row less.
pub(crate) fn variance(choices: &[Choice], sample: bool) -> (f64, f64) {
    let rows = |must: bool| choices.iter().filter(|choice| choice.must == must).map(|choice| choice.rows).sum::<u64>();
    let (must, all) = (rows(true), rows(true) + rows(false));
    let nearest = |point: f64| -> f64 {
        let of = |choice: &Choice| {
            let away = (choice.low - point).max(point - choice.high).max(0.0);
            choice.rows as f64 * away * away
        };
        choices.iter().filter(|choice| choice.must).map(of).sum()
    };
    let ends = choices.iter().filter(|choice| choice.must);
    let (first, last) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), choice| {
        (first.min(choice.high), last.max(choice.low))
    });
    let least = if first < last && first.is_finite() && last.is_finite() { lowest(first, last, nearest) } else { 0.0 };
    let divisor = if sample { all.saturating_sub(1).max(1) } else { all.max(1) };
    // A search stops just above the least.
    let low = (least * (1.0 - 1e-9) / divisor as f64).max(0.0);
    let widest = choices
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), choice| (low.min(choice.low), high.max(choice.high)));
    if !(widest.0.is_finite() && widest.1.is_finite()) {
        return (low, f64::INFINITY);
    }
    let farthest = |point: f64| {
        let square = |choice: &Choice| {
            let away = (point - choice.low).abs().max((choice.high - point).abs());
            (away * away, choice.rows, choice.must)
        };
        highest_mean(choices.iter().map(square).collect())
    };
    let high = if widest.0 < widest.1 { lowest(widest.0, widest.1, farthest) } else { 0.0 };
    let fewest = must.max(2) as f64;
    (low, high * (1.0 + 1e-9) * if sample { fewest / (fewest - 1.0) } else { 1.0 })
}

/// The greatest mean over the rows that must be counted and any of the others.
fn highest_mean(mut values: Vec<(f64, u64, bool)>) -> f64 {
    values.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut sum, mut count) = (0.0, 0u64);
    for (value, rows, _) in values.iter().filter(|(_, _, must)| *must) {
        sum += value * *rows as f64;
        count += rows;
    }
    for (value, rows, _) in values.iter().filter(|(_, _, must)| !must) {
        if count > 0 && *value <= sum / count as f64 {
            break;
        }
        sum += value * *rows as f64;
        count += rows;
    }
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// The least value of a convex function between two points.
fn lowest(mut from: f64, mut to: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let third = (to - from) / 3.0;
        let (left, right) = (from + third, to - third);
        if of(left) <= of(right) {
            to = right
        } else {
            from = left
        }
        if to - from <= f64::EPSILON * to.abs().max(from.abs()) {
            break;
        }
    }
    of(from).min(of(to)).min(of(f64::midpoint(from, to)))
}

/// Numbers that are spread evenly between two ends, and how many rows' worth there is of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UniformPiece {
    pub(crate) rows: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The point below which a number of rows lies; not a number where some are spread without ends.
pub(crate) fn estimated(pieces: &[UniformPiece], rows: impl Fn(f64) -> f64) -> f64 {
    let pieces: Vec<&UniformPiece> = pieces.iter().filter(|piece| piece.rows != 0.0).collect();
    if pieces.is_empty()
        || pieces.iter().any(|piece| !piece.rows.is_finite() || !piece.low.is_finite() || !piece.high.is_finite())
    {
        return f64::NAN;
    }
    let total: f64 = pieces.iter().map(|piece| piece.rows).sum();
    let wanted = rows(total);
    let below = |point: f64| -> f64 {
        let share = |piece: &&UniformPiece| {
            let length = piece.high - piece.low;
            let inside =
                if length > 0.0 { (point - piece.low) / length } else { f64::from(u8::from(point >= piece.low)) };
            piece.rows * inside.clamp(0.0, 1.0)
        };
        pieces.iter().map(share).sum()
    };
    let mut from = pieces.iter().map(|piece| piece.low).fold(f64::INFINITY, f64::min);
    let mut to = pieces.iter().map(|piece| piece.high).fold(f64::NEG_INFINITY, f64::max);
    for _ in 0..STEPS {
        let middle = f64::midpoint(from, to);
        if below(middle) < wanted { from = middle } else { to = middle }
    }
    to
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::estimate::whole::Whole;
    use crate::testing::seeds;

    /// Every table: each optional row counted or not, each row with any of its whole numbers.
    fn tables(choices: &[Choice]) -> Vec<Vec<f64>> {
        let mut tables: Vec<Vec<f64>> = vec![Vec::new()];
        for choice in choices {
            for _ in 0..choice.rows {
                let values = (choice.low as i64..=choice.high as i64).map(|value| value as f64);
                let mut longer: Vec<Vec<f64>> = values
                    .flat_map(|value| tables.iter().map(move |table| [table.as_slice(), &[value]].concat()))
                    .collect();
                if !choice.must {
                    longer.extend(tables);
                }
                tables = longer;
            }
        }
        tables
    }

    fn by_definition(values: &[f64], share: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let place = (sorted.len() - 1) as f64 * share;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        low + (high - low) * place.fract()
    }

    #[test]
    fn bounds_against_every_table() {
        for seed in seeds(400) {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut choices = Vec::new();
            for _ in 0..rng.random_range(1..=3) {
                let low = rng.random_range(-3..6);
                let high = low + rng.random_range(0..3);
                let rows = rng.random_range(1..=2);
                choices.push(Choice {
                    rows,
                    must: rng.random_bool(0.6),
                    low: f64::from(low),
                    high: f64::from(high),
                    whole: Some(Whole { low: Some(low.into()), high: Some(high.into()) }),
                });
            }
            let all: Vec<Vec<f64>> = tables(&choices).into_iter().filter(|table| !table.is_empty()).collect();
            let ends = |of: &dyn Fn(&[f64]) -> f64| {
                let found = all.iter().map(|table| of(table));
                found.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
            };
            let same = |found: (f64, f64), expected: (f64, f64), what: &str| {
                let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
                assert!(
                    close(found.0, expected.0) && close(found.1, expected.1),
                    "seed {seed}: {what} {found:?} {expected:?}"
                );
            };
            same(least(&choices), ends(&|table| table.iter().copied().fold(f64::INFINITY, f64::min)), "least");
            same(
                greatest(&choices),
                ends(&|table| table.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                "greatest",
            );
            for is_greatest in [false, true] {
                let found = whole_extreme(&choices, is_greatest).unwrap();
                let expected = if is_greatest { greatest(&choices) } else { least(&choices) };
                same((found.0 as f64, found.1 as f64), expected, "of whole numbers");
            }
            for share in [0.0, 0.25, 0.5, 0.9, 1.0] {
                same(quantile(&choices, share), ends(&|table| by_definition(table, share)), "quantile");
            }
            for sample in [false, true] {
                let variance_of = |table: &[f64]| {
                    let mean = table.iter().sum::<f64>() / table.len() as f64;
                    let squares: f64 = table.iter().map(|value| (value - mean).powi(2)).sum();
                    squares / (table.len() - usize::from(sample)) as f64
                };
                let defined = all.iter().filter(|table| !sample || table.len() > 1).map(|table| variance_of(table));
                let (low, high) = variance(&choices, sample);
                for truth in defined {
                    assert!(low <= truth + 1e-9 && truth <= high + 1e-9, "seed {seed}: {truth} not in {low} to {high}");
                }
            }
        }
    }

    #[test]
    fn exact_values_have_one_answer() {
        let known =
            [3.0, 5.0, 9.0, 10.0].map(|value| Choice { rows: 1, must: true, low: value, high: value, whole: None });
        assert_eq!(least(&known), (3.0, 3.0));
        assert_eq!(greatest(&known), (10.0, 10.0));
        assert_eq!(quantile(&known, 0.5), (7.0, 7.0));
        let (low, high) = variance(&known, false);
        assert!((low - 8.1875).abs() < 1e-6 && (high - 8.1875).abs() < 1e-6, "{low} {high}");
    }
}
