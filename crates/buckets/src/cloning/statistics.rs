//! Micro-statistics: what is released of a sub-class instead of its tuples.
//!
//! Of a category how many tuples have each value; of a number or a date the mean, and an indicative
//! range that covers λ of the values. The range is symmetric about the mean, so that it does not
//! disclose on which side the values lie that it covers, and its ends are rounded outwards.

use std::fmt::Write as _;
use std::io::{self, Write};

use hedgerow_draft::bind::Bound;
use hedgerow_release::cloned::{STATISTICS, Statistic};
use hedgerow_release::quoting::{quoted, write_record};
use hedgerow_table::date::Date;
use hedgerow_table::{Bound as Edge, Column, Kind, Values, parallel};

/// One sub-class on its way to the table, with the random numbers it goes by.
#[derive(Debug)]
pub(super) struct SubClass<'a> {
    pub(super) class: u32,
    pub(super) number: u32,
    pub(super) rows: &'a [u32],
    pub(super) counterfeits: usize,
}

/// Parts formatted at once.
const PARTS_AT_ONCE: usize = 1 << 13;

/// Writes `statistics.csv` in the order of the parts.
pub(super) fn write(
    mut out: &mut dyn Write,
    bound: &Bound<'_>,
    parts: &[SubClass<'_>],
    lambda: usize,
) -> io::Result<()> {
    write_record(&mut out, &STATISTICS)?;
    for some in parts.chunks(PARTS_AT_ONCE * 8) {
        let texts: Vec<String> = parallel::map_items(some.chunks(PARTS_AT_ONCE), |_, parts| {
            let mut text = String::new();
            for part in parts {
                describe(bound, part, lambda, &mut text);
            }
            text
        });
        for text in texts {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

fn describe(bound: &Bound<'_>, part: &SubClass<'_>, lambda: usize, text: &mut String) {
    let mut line = |attribute: &str, statistic: Statistic, value: &str, count: usize| {
        let (attribute, value, statistic) = (quoted(attribute), quoted(value), statistic.name());
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{},{},{attribute},{statistic},{value},{count}", part.class, part.number);
    };
    line("", Statistic::Tuples, "", part.rows.len() + part.counterfeits);
    if part.counterfeits > 0 {
        line("", Statistic::Counterfeits, "", part.counterfeits);
    }
    for quasi in &bound.quasi {
        let (name, column) = (&quasi.attribute.name, quasi.column);
        let mut codes: Vec<u32> = part.rows.iter().map(|&row| column.codes.get(row as usize)).collect();
        codes.sort_unstable();
        // The missing value has the last code.
        let present = codes.partition_point(|&code| Some(code) != column.domain.missing_code());
        if present < codes.len() {
            line(name, Statistic::Missing, "", codes.len() - present);
        }
        let codes = &codes[..present];
        if column.domain.kind() == Kind::Category {
            for run in codes.chunk_by(|first, second| first == second) {
                line(name, Statistic::Category, &column.domain.text(run[0]), run.len());
            }
        } else if let Some(number) = number(column, codes, lambda) {
            line(name, Statistic::Mean, &number.mean, codes.len());
            line(name, Statistic::Low, &number.low, number.covered);
            line(name, Statistic::High, &number.high, number.covered);
        }
    }
}

#[derive(Debug, PartialEq)]
struct Number {
    mean: String,
    low: String,
    high: String,
    covered: usize,
}

/// `codes` are those of numbers or dates, ascending.
fn number(column: &Column, codes: &[u32], lambda: usize) -> Option<Number> {
    if let Values::Integer(integers) = column.domain.values() {
        let values: Vec<i64> = codes.iter().filter_map(|&code| integers.get(code as usize).copied()).collect();
        if values.iter().any(|value| value.unsigned_abs() > 1 << f64::MANTISSA_DIGITS) {
            return large(&values, lambda);
        }
    }
    let values: Vec<f64> = codes.iter().filter_map(|&code| column.domain.number(code)).collect();
    let base = *values.first()?;
    // From the lowest value on, so that large ones do not swallow the differences.
    let mean = base + values.iter().map(|value| value - base).sum::<f64>() / values.len() as f64;
    let mut distances: Vec<f64> = values.iter().map(|value| (value - mean).abs()).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let radius = distances[lambda.clamp(1, values.len()) - 1];
    let (mut low, mut high) = (mean - radius, mean + radius);
    if column.domain.kind() == Kind::Date {
        // A range around a mean can reach beyond the days that can be written; no value does.
        (low, high) = (low.max(f64::from(Date::FIRST.0)), high.min(f64::from(Date::LAST.0)));
    }
    let exact = |value: f64| match column.domain.kind() {
        Kind::Date => Edge::Date(Date(value as i32)).to_string(),
        _ => format!("{}", value as i64),
    };
    let (mean, low, high) = match column.domain.kind() {
        Kind::Date => (exact(mean.round()), exact(low.floor()), exact(high.ceil())),
        Kind::Integer => (format!("{}", (mean * 100.0).round() / 100.0), exact(low.floor()), exact(high.ceil())),
        _ => real(mean, low, high),
    };
    let (from, to) = (Edge::parse(&low)?, Edge::parse(&high)?);
    let within = |value: &&f64| match (from, to) {
        (Edge::Date(from), Edge::Date(to)) => (f64::from(from.0)..=f64::from(to.0)).contains(*value),
        _ => from <= Edge::Float(**value) && Edge::Float(**value) <= to,
    };
    let covered = values.iter().filter(within).count();
    Some(Number { mean, low, high, covered })
}

/// Integers that are too large to be floats, in whole numbers: the mean is rounded to one.
fn large(values: &[i64], lambda: usize) -> Option<Number> {
    let count = i128::try_from(values.len()).ok().filter(|count| *count > 0)?;
    let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
    // Times the number of values, so that nothing is rounded.
    let mut distances: Vec<i128> = values.iter().map(|&value| (i128::from(value) * count - sum).abs()).collect();
    distances.sort_unstable();
    let radius = distances[lambda.clamp(1, values.len()) - 1];
    let bounded = |value: i128| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    let low = bounded((sum - radius).div_euclid(count));
    let high = bounded(-(-sum - radius).div_euclid(count));
    let mean = (2 * sum + count).div_euclid(2 * count).clamp(low, high);
    let covered = values.iter().filter(|&&value| (low..=high).contains(&i128::from(value))).count();
    Some(Number { mean: mean.to_string(), low: low.to_string(), high: high.to_string(), covered })
}

/// Real numbers to a grid of a tenth or less of the range, its ends rounded outwards: they would
/// else be the value of an individual, to the last digit.
fn real(mean: f64, low: f64, high: f64) -> (String, String, String) {
    let size = (high - low).max(mean.abs() * 1e-6);
    if size <= 0.0 {
        return (format!("{mean:?}"), format!("{low:?}"), format!("{high:?}"));
    }
    let places = 1 - size.log10().floor() as i32;
    let step = 10f64.powi(-places);
    // With a point, so that they are not taken for integers.
    let shown = |value: f64| {
        let fixed = format!("{value:.*}", places.clamp(1, 300) as usize);
        // More digits than a float has are not a number.
        if Edge::parse(&fixed).is_some() { fixed } else { format!("{value:e}") }
    };
    (shown((mean / step).round() * step), shown((low / step).floor() * step), shown((high / step).ceil() * step))
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Table;

    use super::*;

    fn of(texts: &[&str], lambda: usize) -> Option<Number> {
        let table = Table::from_texts(&["x"], &texts.iter().map(|text| vec![*text]).collect::<Vec<_>>());
        let column = &table.columns[0];
        let mut codes: Vec<u32> =
            column.codes.iter().filter(|&code| Some(code) != column.domain.missing_code()).collect();
        codes.sort_unstable();
        number(column, &codes, lambda)
    }

    fn expected(mean: &str, low: &str, high: &str, covered: usize) -> Option<Number> {
        Some(Number { mean: mean.to_owned(), low: low.to_owned(), high: high.to_owned(), covered })
    }

    #[test]
    fn integers_above_two_to_the_53_keep_their_digits() {
        let first = 1_700_000_000_123_456_789_i64;
        let texts = [first, first + 1, first + 2].map(|value| value.to_string());
        let texts = texts.each_ref().map(String::as_str);
        assert_eq!(of(&texts, 1), expected(texts[1], texts[1], texts[1], 1));
        assert_eq!(of(&texts, 3), expected(texts[1], texts[0], texts[2], 3));
        assert_eq!(of(&texts[..2], 1), expected(texts[1], texts[0], texts[1], 2));
        let ends = [i64::MIN, i64::MAX].map(|value| value.to_string());
        let found = of(&ends.each_ref().map(String::as_str), 2);
        assert_eq!(found, expected("0", &ends[0], &ends[1], 2));
    }

    #[test]
    fn means_and_ranges_by_hand() {
        assert_eq!(of(&["10", "15", "20"], 1), expected("15", "15", "15", 1));
        assert_eq!(
            of(&["10", "15", "20"], 2),
            expected("15", "10", "20", 3),
            "two are covered from 5 on to both sides, and so is the third"
        );
        assert_eq!(of(&["18", "20", "25"], 1), expected("21", "20", "22", 1));
        assert_eq!(of(&["1", "2"], 1), expected("1.5", "1", "2", 2));
        assert_eq!(of(&["2024-02-28", "2024-03-01"], 1), expected("2024-02-29", "2024-02-28", "2024-03-01", 2));
        assert_eq!(of(&["0.5", "1.5"], 9), expected("1.0", "0.5", "1.5", 2), "fewer than nine values");
        assert_eq!(
            of(&["0.123456", "1.5043", "2.25"], 1),
            expected("1.29", "1.08", "1.51", 1),
            "an end is not the value of an individual"
        );
        assert_eq!(of(&["2.5", "2.5"], 1), expected("2.5000000", "2.5000000", "2.5000000", 2));
        assert_eq!(of(&["1234567.5", "1234567.5"], 1).unwrap().covered, 2);
        assert_eq!(of(&["", ""], 1), None);
        let far = of(&["2000-01-01", "9999-12-31", "9999-12-31", "9999-12-31"], 4);
        assert_eq!(far, expected("7999-12-31", "2000-01-01", "9999-12-31", 4), "no day after the last can be written");
    }
}
