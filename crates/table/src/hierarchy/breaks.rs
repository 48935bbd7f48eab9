//! Intervals between cut points given per level: `breaks = [[18, 30, 65], [18, 65]]` turns 23 into
//! `18 to 29`, then `18 to 64`. Below the first and from the last cut point on, intervals are open.
//!
//! The cut points of a level are among those of the level below, so every interval lies within one
//! of the next level.

use super::levels::{group, top};
use super::subject::Subject;
use super::{Bound, Cover, LEVELS_MAX, Level};
use crate::date::Date;
use crate::domain::{Kind, Values};
use crate::error::TableError;

pub(super) fn build(breaks: &[Vec<Bound>], subject: &Subject<'_>) -> Result<Vec<Level>, TableError> {
    if !subject.is_of(&[Kind::Integer, Kind::Float, Kind::Date]) {
        return subject.refuse_not_a_number("breaks");
    }
    if breaks.is_empty() {
        return subject
            .refuse("`breaks` is empty", "give at least one level of cut points, or leave the hierarchy out");
    }
    if breaks.len() > LEVELS_MAX {
        let problem = format!("`breaks` has {} levels; at most {} are accepted", breaks.len(), LEVELS_MAX);
        return subject.refuse(problem, "omit some of the levels");
    }
    for (index, cuts) in breaks.iter().enumerate() {
        check_cuts(index + 1, cuts, subject)?;
        if index > 0 {
            check_coarser(index + 1, cuts, &breaks[index - 1], subject)?;
        }
    }
    let mut levels: Vec<Level> = breaks.iter().map(|cuts| level(cuts, subject)).collect();
    levels.push(top(subject.domain));
    Ok(levels)
}

/// Cut points of the column's kind, ascending.
fn check_cuts(level: usize, cuts: &[Bound], subject: &Subject<'_>) -> Result<(), TableError> {
    if cuts.is_empty() {
        let hint = "give the level at least one cut point, or leave it out";
        return subject.refuse(format!("level {level} has no cut points"), hint);
    }
    if subject.domain.present() > 0 {
        for cut in cuts {
            let expected = match (subject.domain.kind(), cut) {
                (Kind::Integer, Bound::Integer(_)) | (Kind::Date, Bound::Date(_)) => continue,
                (Kind::Float, Bound::Float(value)) if value.is_finite() => continue,
                (Kind::Float, Bound::Integer(value)) if *cut == Bound::Float(*value as f64) => continue,
                (Kind::Integer, _) => "whole numbers, as the column holds integers",
                (Kind::Date, _) => "dates such as 2000-01-31, as the column holds dates",
                _ => "finite numbers that a 64-bit float can hold, as the column holds floats",
            };
            let problem = format!("the cut point {cut} on level {level} does not fit the column");
            return subject.refuse(problem, format!("the cut points must be {expected}"));
        }
    }
    for pair in cuts.windows(2) {
        if pair[0] == pair[1] {
            return subject.refuse(format!("level {level} repeats the cut point {}", pair[1]), "name it once");
        }
        if pair[0].partial_cmp(&pair[1]) != Some(std::cmp::Ordering::Less) {
            let problem = format!("on level {level} the cut point {} comes after {}", pair[1], pair[0]);
            return subject.refuse(problem, "write the cut points in ascending order");
        }
    }
    Ok(())
}

/// Both lists ascend, so one walk along them finds a cut point that the level below lacks.
fn check_coarser(level: usize, cuts: &[Bound], below: &[Bound], subject: &Subject<'_>) -> Result<(), TableError> {
    let mut candidates = below.iter();
    for cut in cuts {
        if !candidates.by_ref().any(|candidate| candidate == cut) {
            let problem = format!(
                "level {level} would not be a coarsening: its cut point {cut} is not among those of level {}",
                level - 1
            );
            return subject.refuse(problem, format!("add {cut} to level {} or drop it from level {level}", level - 1));
        }
    }
    Ok(())
}

fn level(cuts: &[Bound], subject: &Subject<'_>) -> Level {
    let domain = subject.domain;
    // The number of an interval is how many cut points lie at or below its values.
    let number = |value: Bound| cuts.partition_point(|cut| *cut <= value);
    let describe = |number: usize| {
        interval_label(number.checked_sub(1).map(|index| cuts[index]), cuts.get(number).copied(), domain.kind())
    };
    match domain.values() {
        Values::Integer(values) => group(domain, values.iter().map(|x| number(Bound::Integer(*x))), describe),
        Values::Float(values) => group(domain, values.iter().map(|x| number(Bound::Float(*x))), describe),
        Values::Date(values) => group(domain, values.iter().map(|x| number(Bound::Date(*x))), describe),
        Values::Category(_) => group(domain, [], describe),
    }
}

/// How an interval from `low` (inclusive) to `high` (exclusive) of a column of this kind is
/// written, and what it covers: `<18`, `18 to 29`, `65+`, `0.5 to <1`; one whole number or day is
/// that value, and no bound at all is `*`.
pub fn interval_label(low: Option<Bound>, high: Option<Bound>, kind: Kind) -> (String, Cover) {
    let on_axis = |bound: Bound| match bound {
        Bound::Integer(value) if kind == Kind::Float => Bound::Float(value as f64),
        // Minus zero becomes plain zero, so that it is not printed with its sign.
        Bound::Float(value) => Bound::Float(value + 0.0),
        other => other,
    };
    let (low, high) = (low.map(on_axis), high.map(on_axis));
    // No day can be written beyond the last, and none lies there.
    let high = high.filter(|high| *high <= Bound::Date(Date::LAST) || !matches!(high, Bound::Date(_)));
    let interval = Cover::Interval { low, high };
    match (low, high) {
        (None, None) => ("*".to_owned(), Cover::Everything),
        (None, Some(high)) => (format!("<{high}"), interval),
        (Some(low @ Bound::Date(Date::LAST)), None) => (low.to_string(), Cover::Point(low)),
        (Some(low), None) => (format!("{low}+"), interval),
        (Some(Bound::Integer(low)), Some(Bound::Integer(high))) if high - 1 == low => {
            (low.to_string(), Cover::Point(Bound::Integer(low)))
        }
        (Some(Bound::Integer(low)), Some(Bound::Integer(high))) => (format!("{low} to {}", high - 1), interval),
        (Some(Bound::Date(low)), Some(Bound::Date(high))) if Date(high.0 - 1) == low => {
            (low.to_string(), Cover::Point(Bound::Date(low)))
        }
        (Some(low), Some(high)) => (format!("{low} to <{high}"), interval),
    }
}

#[cfg(test)]
mod tests {
    use super::super::HierarchySpec;
    use super::super::testing::{build, check, domain, refusal, texts};
    use super::*;
    use crate::domain::Domain;

    fn integers(levels: &[&[i64]]) -> HierarchySpec {
        HierarchySpec::Breaks(levels.iter().map(|cuts| cuts.iter().map(|cut| Bound::Integer(*cut)).collect()).collect())
    }

    fn dates(cuts: &[&str]) -> HierarchySpec {
        HierarchySpec::Breaks(vec![cuts.iter().map(|cut| Bound::Date(Date::parse_iso(cut).unwrap())).collect()])
    }

    #[test]
    fn ages_between_cut_points() {
        let domain = domain(&["17", "18", "29", "30", "64", "65", "99", ""]);
        let hierarchy = build(&integers(&[&[18, 30, 64, 65], &[18, 65]]), &domain);
        check(&hierarchy, &domain, "ages");
        assert_eq!(hierarchy.top(), 3);
        assert_eq!(texts(&hierarchy, 1), ["<18", "18 to 29", "18 to 29", "30 to 63", "64", "65+", "65+", ""]);
        assert_eq!(texts(&hierarchy, 2)[..5], ["<18", "18 to 64", "18 to 64", "18 to 64", "18 to 64"]);
        let labels = &hierarchy.levels()[1].labels;
        assert_eq!(labels[0].cover, Cover::Interval { low: None, high: Some(Bound::Integer(18)) });
        assert_eq!(labels[3].cover, Cover::Point(Bound::Integer(64)));
        assert_eq!(labels[4].cover, Cover::Interval { low: Some(Bound::Integer(65)), high: None });
    }

    #[test]
    fn floats_and_dates_between_cut_points() {
        let floats = domain(&["-0.5", "17.9", "18", "29.99", "30"]);
        let mixed = vec![vec![Bound::Float(-0.0), Bound::Integer(18), Bound::Float(30.0)], vec![Bound::Float(18.0)]];
        let hierarchy = build(&HierarchySpec::Breaks(mixed), &floats);
        check(&hierarchy, &floats, "floats");
        assert_eq!(texts(&hierarchy, 1), ["<0", "0 to <18", "18 to <30", "18 to <30", "30+"]);

        let days = domain(&["1999-12-31", "2000-01-01", "2000-01-02", "2009-12-31", "2010-01-01"]);
        let hierarchy = build(&dates(&["2000-01-01", "2000-01-02", "2010-01-01"]), &days);
        check(&hierarchy, &days, "dates");
        assert_eq!(
            texts(&hierarchy, 1),
            ["<2000-01-01", "2000-01-01", "2000-01-02 to <2010-01-01", "2000-01-02 to <2010-01-01", "2010-01-01+"]
        );
    }

    #[test]
    fn the_ends_of_the_integers_can_be_cut() {
        let domain = Domain::new(Values::Integer(vec![i64::MIN, 0, i64::MAX]), true);
        let hierarchy = build(&integers(&[&[i64::MIN, i64::MIN + 1, i64::MAX], &[i64::MAX]]), &domain);
        check(&hierarchy, &domain, "extremes");
    }

    #[test]
    fn cut_points_that_cannot_be_are_refused() {
        let refused = |spec: HierarchySpec, texts: &[&str], expected: &str| {
            let error = refusal(&spec, &domain(texts));
            assert!(error.contains(expected), "{spec:?} gave {error}");
        };
        let ages = ["1", "2"];
        refused(integers(&[]), &ages, "`breaks` is empty");
        refused(integers(&[&[1], &[]]), &ages, "level 2 has no cut points");
        refused(integers(&[&[1, 3, 2]]), &ages, "on level 1 the cut point 2 comes after 3");
        refused(integers(&[&[1, 3, 3]]), &ages, "level 1 repeats the cut point 3");
        refused(
            integers(&[&[18, 65], &[18, 40]]),
            &ages,
            "level 2 would not be a coarsening: its cut point 40 is not among those of level 1",
        );
        refused(integers(&[&[1i64][..]; 65]), &ages, "65 levels");
        let float = |cut| HierarchySpec::Breaks(vec![vec![Bound::Float(cut)]]);
        refused(float(1.5), &ages, "the cut point 1.5 on level 1 does not fit");
        refused(float(f64::NAN), &["1.5"], "the cut point NaN on level 1 does not fit");
        refused(integers(&[&[(1 << 53) + 1]]), &["1.5"], "does not fit");
        refused(dates(&["2000-01-01"]), &ages, "must be whole numbers");
        refused(integers(&[&[2000]]), &["2000-01-01"], "must be dates");
        refused(integers(&[&[1]]), &["1", "2", "NA"], "because of values such as `NA`");
    }
}
