//! Intervals for numbers: round and equally wide where the numbers are spread evenly, round and
//! equally full where they are skewed (incomes, counts with many zeros). Each level joins whole
//! intervals of the one below.

use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Kind, Values};

use super::profile::Facts;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intervals {
    Widths(Vec<f64>),
    Breaks(Vec<Vec<Bound>>),
}

/// The finest level has at most this many intervals.
const FINEST_MAX: f64 = 32.0;
/// Numbers are skewed when one interval of the finest level holds more than this share of the rows.
const SKEWED: f64 = 0.4;
/// Fewer values than this stay as they are until the top.
const GROUPED_VALUES_MIN: u64 = 7;

/// Numbers of years that people reach, not codes of age groups.
pub(super) fn are_ages(facts: &Facts<'_>) -> bool {
    let domain = facts.domain();
    let last = domain.present().saturating_sub(1) as u32;
    let (Some(low), Some(high)) = (domain.number(0), domain.number(last)) else { return false };
    domain.kind().is_number() && low >= 0.0 && (25.0..=130.0).contains(&high) && high - low >= 20.0
}

pub(super) fn intervals(facts: &Facts<'_>) -> Option<Intervals> {
    if facts.distinct < GROUPED_VALUES_MIN {
        return None;
    }
    let numbers = numbers(facts);
    let (low, high) = (*numbers.first()?, *numbers.last()?);
    let widths = widths(low, high, facts.kind() == Kind::Integer);
    let even = widths.first().is_some_and(|width| fullest(facts, &numbers, *width) <= SKEWED);
    if even && !widths.is_empty() {
        return Some(Intervals::Widths(widths));
    }
    let levels = breaks(facts, &numbers);
    if !levels.is_empty() {
        return Some(Intervals::Breaks(levels));
    }
    (!widths.is_empty()).then_some(Intervals::Widths(widths))
}

fn numbers(facts: &Facts<'_>) -> Vec<f64> {
    (0..facts.domain().present() as u32).filter_map(|code| facts.domain().number(code)).collect()
}

/// Round widths, each a multiple of the one before: mantissas go 1, 2, 4, 20 or 5, 10, 20, 40, 200.
fn widths(low: f64, high: f64, whole: bool) -> Vec<f64> {
    let bins = |width: f64| (high / width).floor() - (low / width).floor() + 1.0;
    let range = high - low;
    if !range.is_finite() || range <= 0.0 {
        return Vec::new();
    }
    let mut exponent = (range / FINEST_MAX).log10().floor() as i32 - 1;
    let mut mantissa = 1;
    while decimal(mantissa, exponent) * FINEST_MAX < range || (whole && decimal(mantissa, exponent) < 2.0) {
        (mantissa, exponent) = match mantissa {
            1 => (2, exponent),
            2 => (5, exponent),
            _ => (1, exponent + 1),
        };
    }
    let mut widths = Vec::new();
    while bins(decimal(mantissa, exponent)) >= 2.0 && widths.len() < 5 {
        widths.push(decimal(mantissa, exponent));
        (mantissa, exponent) = match mantissa {
            1 => (2, exponent),
            2 => (4, exponent),
            4 => (2, exponent + 1),
            _ => (1, exponent + 1),
        };
    }
    widths
}

/// The float nearest to a decimal.
fn decimal(mantissa: i64, exponent: i32) -> f64 {
    format!("{mantissa}e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// The share of rows in the fullest interval.
fn fullest(facts: &Facts<'_>, numbers: &[f64], width: f64) -> f64 {
    let (mut most, mut sum, mut current) = (0, 0, None);
    for (number, count) in numbers.iter().zip(facts.present_counts()) {
        let step = (number / width).floor();
        sum = if current == Some(step) { sum + count } else { *count };
        current = Some(step);
        most = most.max(sum);
    }
    super::profile::share(most, facts.present_rows())
}

/// Cut points near the quantiles, nested: every second one goes from level to level.
fn breaks(facts: &Facts<'_>, numbers: &[f64]) -> Vec<Vec<Bound>> {
    let parts: u32 = if facts.distinct > 32 { 16 } else { 8 };
    let ends = cumulated(facts.present_counts());
    let total = facts.present_rows();
    // The position of the value that the given share of the rows does not exceed.
    let quantile = |numerator: u64, denominator: u64| {
        ends.partition_point(|end| {
            u128::from(*end) * u128::from(denominator) < u128::from(numerator) * u128::from(total)
        })
    };
    let mut ranked: Vec<(Bound, u32)> = Vec::new();
    for part in 1..parts {
        let rank = part.trailing_zeros();
        let here = quantile(u64::from(part), u64::from(parts));
        let (below, above) = (
            quantile(2 * u64::from(part) - 1, 2 * u64::from(parts)),
            quantile(2 * u64::from(part) + 1, 2 * u64::from(parts)),
        );
        let mut windows = vec![(below, above)];
        if below == above {
            // Many rows share one value: cut before and after it.
            windows = vec![(here.saturating_sub(1), here), (here, here + 1)];
        }
        for (low, high) in windows {
            if low < high
                && high < numbers.len()
                && let Some(cut) = simplest(facts, low, high, here)
            {
                ranked.push((cut, rank));
            }
        }
    }
    nested(ranked)
}

fn cumulated(counts: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    counts
        .iter()
        .map(|count| {
            sum += count;
            sum
        })
        .collect()
}

/// The levels made of cut points with the level up to which each is kept.
fn nested(mut ranked: Vec<(Bound, u32)>) -> Vec<Vec<Bound>> {
    ranked.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal).then(b.1.cmp(&a.1)));
    ranked.dedup_by(|later, first| later.0 == first.0);
    let mut levels: Vec<Vec<Bound>> = Vec::new();
    for rank in 0.. {
        let cuts: Vec<Bound> = ranked.iter().filter(|(_, kept)| *kept >= rank).map(|(cut, _)| *cut).collect();
        if cuts.is_empty() {
            break;
        }
        if levels.last().is_none_or(|below| cuts.len() < below.len()) {
            levels.push(cuts);
        }
    }
    levels
}

/// The roundest number above the value at `low` and not above the one at `high`, near the one at
/// `wish`.
fn simplest(facts: &Facts<'_>, low: usize, high: usize, wish: usize) -> Option<Bound> {
    match facts.domain().values() {
        Values::Integer(values) => {
            let [low, high, wish] = [low, high, wish].map(|index| i128::from(values[index]));
            let mut step: i128 = 10i128.pow(20);
            while step > 0 {
                for step in [step, step / 2].into_iter().filter(|step| *step > 0) {
                    let nearest = (wish + step / 2).div_euclid(step) * step;
                    let last = high.div_euclid(step) * step;
                    if let Some(cut) = [nearest, last].into_iter().find(|cut| (low + 1..=high).contains(cut)) {
                        return i64::try_from(cut).ok().map(Bound::Integer);
                    }
                }
                step /= 10;
            }
            None
        }
        Values::Float(values) => {
            let [low, high, wish] = [low, high, wish].map(|index| values[index]);
            let largest = low.abs().max(high.abs());
            let first = largest.log10().floor() as i32 + 1;
            for exponent in (first - 17..=first).rev() {
                for (mantissa, exponent) in [(1, exponent), (5, exponent - 1)] {
                    let step = decimal(mantissa, exponent);
                    for count in [(wish / step).round(), (high / step).floor()] {
                        let cut = decimal(count as i64 * mantissa, exponent);
                        if count.abs() < 1e16 && low < cut && cut <= high {
                            return Some(Bound::Float(cut + 0.0));
                        }
                    }
                }
            }
            None
        }
        Values::Category(_) | Values::Date(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_table::Table;

    fn of(values: &[String]) -> Option<Intervals> {
        let rows: Vec<Vec<&str>> = values.iter().map(|value| vec![value.as_str()]).collect();
        let table = Table::from_texts(&["x"], &rows);
        intervals(&Facts::of(&table.columns[0]))
    }

    fn whole(values: impl IntoIterator<Item = i64>) -> Option<Intervals> {
        of(&values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn even_numbers_get_round_widths_that_nest() {
        assert_eq!(whole(0..100), Some(Intervals::Widths(vec![5.0, 10.0, 20.0, 40.0])));
        assert_eq!(whole(0..20), Some(Intervals::Widths(vec![2.0, 4.0])), "a width of one would be the values");
        assert_eq!(whole(1900..2000), Some(Intervals::Widths(vec![5.0, 10.0, 20.0, 40.0])));
        assert_eq!(whole((0..100).map(|x| x * 1000)), Some(Intervals::Widths(vec![5e3, 1e4, 2e4, 4e4])));
        let tenths: Vec<String> = (0..100).map(|x| format!("{}", f64::from(x) / 100.0)).collect();
        assert_eq!(of(&tenths), Some(Intervals::Widths(vec![0.05, 0.1, 0.2, 0.4])));
    }

    #[test]
    fn skewed_numbers_get_round_cut_points_at_their_quantiles() {
        let incomes = (0..1000).map(|x| (9_000.0 * 1.006f64.powi(x)) as i64);
        let Some(Intervals::Breaks(levels)) = whole(incomes) else { panic!("skewed") };
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [15, 7, 3, 1]);
        assert!(levels[0].iter().all(|cut| matches!(cut, Bound::Integer(x) if x % 100 == 0)), "{levels:?}");
    }

    #[test]
    fn zeros_in_their_thousands_keep_an_interval_of_their_own() {
        let gains = std::iter::repeat_n(0, 900).chain((1..=100).map(|x| x * 50));
        let Some(Intervals::Breaks(levels)) = whole(gains) else { panic!("skewed") };
        let Bound::Integer(first) = levels[0][0] else { panic!("whole numbers") };
        assert!((1..=50).contains(&first), "{levels:?}");
    }

    #[test]
    fn few_values_equal_values_and_extremes_do_no_harm() {
        assert_eq!(whole([1, 2, 3]), None);
        assert_eq!(whole([5; 50]), None);
        for values in [vec![i64::MIN, i64::MAX, 0, 1, 2, 3, 4, 5], (0..9).map(|x| i64::MAX - x).collect()] {
            assert!(whole(values).is_some());
        }
    }
}
