//! Intervals of equal width, aligned at zero: `widths = [5, 10, 20]` turns 23 into `20 to 24`,
//! `20 to 29`, `20 to 39`.
//!
//! Each width is a multiple of the one before, so every interval lies within one of the next level.
//! Widths of a float column are decimals: with a width of 0.1 the value 0.3 begins an interval,
//! although three times the float 0.1 lies above the float 0.3. Values are therefore placed in the
//! finest level by comparing them with decimal multiples of its width, and in every other level by
//! dividing the interval's number.

use super::levels::{group, top};
use super::subject::{Subject, shown};
use super::{Bound, Cover, LEVELS_MAX, Level};
use crate::domain::{Kind, Values};
use crate::error::TableError;
use crate::exact::Ratio;

/// The farthest interval of a float column from zero: neighboring ends are then still different
/// floats.
const STEPS_MAX: f64 = 1e15;

pub(super) fn build(widths: &[f64], subject: &Subject<'_>) -> Result<Vec<Level>, TableError> {
    if !subject.is_of(&[Kind::Integer, Kind::Float]) {
        return subject.refuse_not_a_number("widths");
    }
    let domain = subject.domain;
    let widths = checked(widths, subject)?;
    let mut levels: Vec<Level> = match domain.values() {
        Values::Integer(values) => widths.iter().map(|width| integer_level(values, *width, subject)).collect(),
        Values::Float(values) => {
            let steps = steps(values, widths[0], subject)?;
            widths.iter().map(|width| float_level(&steps, widths[0], *width, subject)).collect()
        }
        Values::Category(_) | Values::Date(_) => {
            widths.iter().map(|_| group(domain, [(); 0], |()| unreachable!("the domain is empty"))).collect()
        }
    };
    levels.push(top(domain));
    Ok(levels)
}

/// The widths as the decimals they were written as, each a multiple of the one before.
fn checked(widths: &[f64], subject: &Subject<'_>) -> Result<Vec<Ratio>, TableError> {
    if widths.is_empty() {
        return subject.refuse("`widths` is empty", "give at least one width, or leave the hierarchy out");
    }
    if widths.len() > LEVELS_MAX {
        let problem = format!("`widths` has {} levels; at most {} are accepted", widths.len(), LEVELS_MAX);
        return subject.refuse(problem, "omit some of the widths");
    }
    let mut decimals: Vec<Ratio> = Vec::with_capacity(widths.len());
    for (index, &width) in widths.iter().enumerate() {
        let level = index + 1;
        let Some(decimal) = Ratio::from_decimal(width).filter(|decimal| decimal.numerator > 0) else {
            let problem = format!("the width of level {level} is {width}");
            return subject.refuse(problem, "a width is a positive number with at most 18 digits");
        };
        if subject.domain.kind() == Kind::Integer && decimal.denominator != 1 {
            let problem = format!("the width of level {level} is {width}, but the column holds integers");
            return subject.refuse(problem, "use a whole width");
        }
        if let Some(&below) = decimals.last()
            && multiple(decimal, below).is_none()
        {
            let problem = format!(
                "level {level} would not be a coarsening: its width {width} is not a multiple of {}, the width of \
                 level {index}",
                widths[index - 1]
            );
            return subject.refuse(problem, "make each width a multiple of the one before");
        }
        decimals.push(decimal);
    }
    Ok(decimals)
}

/// How many times `small` goes into `large`, when it does so exactly.
fn multiple(large: Ratio, small: Ratio) -> Option<i128> {
    let numerator = u128::from(large.numerator) * u128::from(small.denominator);
    let denominator = u128::from(large.denominator) * u128::from(small.numerator);
    // Both products stay below 10³⁶.
    numerator.is_multiple_of(denominator).then(|| (numerator / denominator) as i128).filter(|times| *times > 0)
}

fn integer_level(values: &[i64], width: Ratio, subject: &Subject<'_>) -> Level {
    let width = i128::from(width.numerator);
    let bound = |end: i128| i64::try_from(end).ok().map(Bound::Integer);
    group(subject.domain, values.iter().map(|value| i128::from(*value).div_euclid(width)), |step| {
        let low = step * width;
        let high = low + width;
        match bound(low) {
            Some(point) if width == 1 => (low.to_string(), Cover::Point(point)),
            // An end beyond the integers of a column is an open end: nothing lies there.
            low_bound => (format!("{low} to {}", high - 1), Cover::Interval { low: low_bound, high: bound(high) }),
        }
    })
}

/// For each value the number of its interval on the finest level.
fn steps(values: &[f64], width: Ratio, subject: &Subject<'_>) -> Result<Vec<i128>, TableError> {
    let mut steps = Vec::with_capacity(values.len());
    let mut current: Option<(i128, f64)> = None;
    for &value in values {
        let step = match current {
            Some((step, high)) if value < high => step,
            _ => {
                let near = (value / width.as_f64()).floor();
                if near.abs() > STEPS_MAX {
                    let problem = format!("the width {width} is too fine for the value {}", shown(&value.to_string()));
                    return subject.refuse(problem, "use wider intervals, or `breaks`");
                }
                let mut step = near as i128;
                while value < end(step, width) {
                    step -= 1;
                }
                while value >= end(step + 1, width) {
                    step += 1;
                }
                current = Some((step, end(step + 1, width)));
                step
            }
        };
        steps.push(step);
    }
    Ok(steps)
}

/// The float nearest to the decimal `step · width`.
fn end(step: i128, width: Ratio) -> f64 {
    let mut scale = 0;
    let mut power = 1u64;
    while !power.is_multiple_of(width.denominator) {
        power *= 10;
        scale += 1;
    }
    let digits = step * i128::from(width.numerator) * i128::from(power / width.denominator);
    format!("{digits}e-{scale}").parse().expect("digits and an exponent are a float")
}

fn float_level(steps: &[i128], finest: Ratio, width: Ratio, subject: &Subject<'_>) -> Level {
    let times = multiple(width, finest).expect("checked to be a multiple of a multiple");
    group(subject.domain, steps.iter().map(|step| step.div_euclid(times)), |step| {
        let (low, high) = (end(step, width), end(step + 1, width));
        let cover = Cover::Interval { low: Some(Bound::Float(low)), high: Some(Bound::Float(high)) };
        (format!("{low} to <{high}"), cover)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, check, domain, refusal, texts};
    use super::super::{Hierarchy, HierarchySpec};
    use super::*;
    use crate::domain::Domain;

    fn widths(widths: &[f64]) -> HierarchySpec {
        HierarchySpec::Widths(widths.to_vec())
    }

    fn cover(hierarchy: &Hierarchy, level: usize, label: usize) -> &Cover {
        &hierarchy.levels()[level].labels[label].cover
    }

    #[test]
    fn ages_in_fives_tens_and_twenties() {
        let domain = domain(&["-5", "-1", "0", "4", "5", "23", "24", "25", ""]);
        let hierarchy = build(&widths(&[5.0, 10.0, 20.0]), &domain);
        check(&hierarchy, &domain, "ages");
        assert_eq!(hierarchy.top(), 4);
        let fives = ["-5 to -1", "-5 to -1", "0 to 4", "0 to 4", "5 to 9", "20 to 24", "20 to 24", "25 to 29", ""];
        assert_eq!(texts(&hierarchy, 1), fives);
        assert_eq!(texts(&hierarchy, 3)[..3], ["-20 to -1", "-20 to -1", "0 to 19"]);
        let expected = Cover::Interval { low: Some(Bound::Integer(20)), high: Some(Bound::Integer(25)) };
        assert_eq!(cover(&hierarchy, 1, 3), &expected);
        assert_eq!(hierarchy.occurring(1), [2, 2, 1, 2, 1, 1]);
    }

    #[test]
    fn a_width_of_one_is_a_single_value() {
        let domain = domain(&["7", "-7"]);
        let hierarchy = build(&widths(&[1.0]), &domain);
        check(&hierarchy, &domain, "ones");
        assert_eq!(texts(&hierarchy, 1), ["-7", "7"]);
        assert_eq!(cover(&hierarchy, 1, 1), &Cover::Point(Bound::Integer(7)));
    }

    #[test]
    fn the_ends_of_the_integers_are_open() {
        let domain = Domain::new(Values::Integer(vec![i64::MIN, 0, i64::MAX]), false);
        let hierarchy = build(&widths(&[1000.0, 1e17]), &domain);
        check(&hierarchy, &domain, "extremes");
        assert!(matches!(cover(&hierarchy, 1, 0), Cover::Interval { low: None, high: Some(_) }));
        assert!(matches!(cover(&hierarchy, 1, 2), Cover::Interval { low: Some(_), high: None }));
        check(&build(&widths(&[1.0]), &domain), &domain, "ones");
    }

    #[test]
    fn decimal_widths_cut_where_decimals_say() {
        let domain = domain(&["0.1", "0.2", "0.3", "0.29", "0.6", "0.7", "-0.1", "-0.05", "1.1"]);
        let hierarchy = build(&widths(&[0.1, 0.5]), &domain);
        check(&hierarchy, &domain, "decimals");
        assert_eq!(
            texts(&hierarchy, 1),
            [
                "-0.1 to <0",
                "-0.1 to <0",
                "0.1 to <0.2",
                "0.2 to <0.3",
                "0.2 to <0.3",
                "0.3 to <0.4",
                "0.6 to <0.7",
                "0.7 to <0.8",
                "1.1 to <1.2"
            ]
        );
        assert_eq!(texts(&hierarchy, 2)[..3], ["-0.5 to <0", "-0.5 to <0", "0 to <0.5"]);
        // Every multiple of 0.1 up to 1000 begins its own interval, although repeated addition of
        // floats drifts.
        let many: Vec<f64> = (0..10_000).map(|tenths| f64::from(tenths) / 10.0).collect();
        let many = Domain::new(Values::Float(many), false);
        let hierarchy = build(&widths(&[0.1, 0.3]), &many);
        assert_eq!(hierarchy.levels()[1].labels.len(), 10_000);
        assert!(hierarchy.occurring(2).iter().take(3333).all(|values| *values == 3));
    }

    #[test]
    fn large_floats_stay_within_their_interval_or_are_refused() {
        let large = domain(&["1000000000000000.5", "999999999999.5", "0.5"]);
        check(&build(&widths(&[10.0]), &large), &large, "large");
        let error = refusal(&widths(&[0.1]), &large);
        assert!(error.contains("the width 0.1 is too fine for the value `1000000000000000.5`"), "{error}");
    }

    #[test]
    fn widths_that_cannot_be_are_refused() {
        let integers = domain(&["1", "2"]);
        let floats = domain(&["1.5", "2"]);
        let refused = |list: &[f64], domain: &Domain, expected: &str| {
            let error = refusal(&widths(list), domain);
            assert!(error.contains(expected), "{list:?} gave {error}");
        };
        refused(&[], &integers, "`widths` is empty");
        refused(
            &[5.0, 10.0, 25.0],
            &integers,
            "level 3 would not be a coarsening: its width 25 is not a multiple of 10",
        );
        refused(&[10.0, 5.0], &integers, "level 2 would not be a coarsening");
        refused(&[0.1, 0.25], &floats, "level 2 would not be a coarsening");
        refused(&[2.5], &integers, "holds integers");
        for width in [0.0, -5.0, f64::NAN, f64::INFINITY, 1e-30] {
            refused(&[width], &floats, "the width of level 1 is");
        }
        refused(&[1.0; 65], &integers, "65 levels");
        build(&widths(&[1.0; 64]), &integers);
        build(&widths(&[0.1, 0.3, 0.9]), &floats);
    }

    #[test]
    fn a_column_of_other_kind_is_refused_with_the_reason() {
        let refused = |texts: &[&str], expected: &[&str]| {
            let error = refusal(&widths(&[5.0]), &domain(texts));
            assert!(expected.iter().all(|part| error.contains(part)), "{error}");
        };
        refused(&["1", "2", "NA"], &["because of values such as `NA`", "list `NA` in `null`"]);
        refused(&["red", "blue"], &["read as text, for example `blue`", "use `mask`"]);
        refused(&["2020-01-01"], &["holds dates", "`dates`"]);
        let declared = super::super::testing::domain_of(&["1"], Some(Kind::Category));
        assert!(refusal(&widths(&[5.0]), &declared).contains("declare the column as integer or float"));
    }
}
