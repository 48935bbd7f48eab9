//! The shapes that papers state of curves, as functions from points to what contradicts them.

use hedgerow_report::pictures::{Series, short};

/// What contradicts a shape.
pub(crate) type Outcome = Result<(), String>;

/// From point to point the value never falls by more than the share `slack` of it, and at the end
/// it is higher than at the start.
pub(crate) fn rises(series: &Series, slack: f64) -> Outcome {
    steps(series, |before, after| after >= before - slack * before.abs(), "falls")?;
    ends(series, |first, last| last > first, "is no higher at the end")
}

/// From point to point the value never rises by more than the share `slack` of it, and at the end
/// it is lower than at the start.
pub(crate) fn falls(series: &Series, slack: f64) -> Outcome {
    steps(series, |before, after| after <= before + slack * before.abs(), "rises")?;
    ends(series, |first, last| last < first, "is no lower at the end")
}

/// As [`rises`], but it may also stay as it is.
pub(crate) fn never_falls(series: &Series) -> Outcome {
    steps(series, |before, after| after >= before, "falls")
}

/// As [`falls`], but it may also stay as it is.
pub(crate) fn never_rises(series: &Series) -> Outcome {
    steps(series, |before, after| after <= before, "rises")
}

/// The largest value is at most `factor` times the smallest.
pub(crate) fn varies_at_most(series: &Series, factor: f64) -> Outcome {
    let values = || series.points.iter().map(|point| point.1);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let within = series.points.len() < 2 || most <= factor * least;
    if within { Ok(()) } else { Err(format!("{}: from {} to {}", series.name, short(least), short(most))) }
}

/// At every place that both have, the first is at most the second.
pub(crate) fn never_above(lower: &Series, upper: &Series) -> Outcome {
    compare(lower, upper, |low, high| low <= high)
}

/// At every place that both have, the first is below the second.
pub(crate) fn below(lower: &Series, upper: &Series) -> Outcome {
    compare(lower, upper, |low, high| low < high)
}

/// At every place that both have, the values agree.
pub(crate) fn agree(one: &Series, other: &Series) -> Outcome {
    compare(one, other, |one, other| one == other)
}

/// Every value is at most the limit.
pub(crate) fn at_most(series: &Series, limit: f64) -> Outcome {
    match series.points.iter().find(|point| point.1 > limit || point.1.is_nan()) {
        Some(&(x, y)) => Err(format!("{} is {} at {}", series.name, short(y), short(x))),
        None => Ok(()),
    }
}

/// A printed value, to so many places after the point.
pub(crate) fn prints(what: &str, found: f64, printed: f64, places: i32) -> Outcome {
    let unit = 10f64.powi(places);
    let same = (found * unit).round() == (printed * unit).round();
    if same { Ok(()) } else { Err(format!("{what} is {}, printed {}", short(found), short(printed))) }
}

/// All of them, and the first contradiction.
pub(crate) fn all(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    outcomes.into_iter().collect()
}

fn compare(one: &Series, other: &Series, holds: impl Fn(f64, f64) -> bool) -> Outcome {
    let mut met = false;
    for &(x, y) in &one.points {
        let Some(&(_, beside)) = other.points.iter().find(|point| point.0 == x) else { continue };
        met = true;
        if !holds(y, beside) {
            let at = short(x);
            return Err(format!("at {at}, {} is {} and {} is {}", one.name, short(y), other.name, short(beside)));
        }
    }
    // Two curves without a common place would agree with anything.
    if met { Ok(()) } else { Err(format!("{} and {} have no place in common", one.name, other.name)) }
}

fn steps(series: &Series, holds: impl Fn(f64, f64) -> bool, verb: &str) -> Outcome {
    match series.points.windows(2).find(|pair| !holds(pair[0].1, pair[1].1)) {
        Some(pair) => {
            let [(x, y), (next, after)] = [pair[0], pair[1]];
            let (from, to) = (short(y), short(after));
            Err(format!("{} {verb} from {from} at {} to {to} at {}", series.name, short(x), short(next)))
        }
        None => Ok(()),
    }
}

fn ends(series: &Series, holds: impl Fn(f64, f64) -> bool, problem: &str) -> Outcome {
    match (series.points.first(), series.points.last()) {
        (Some(first), Some(last)) if series.points.len() > 1 && holds(first.1, last.1) => Ok(()),
        (Some(first), Some(last)) => {
            Err(format!("{} {problem}: {} and {}", series.name, short(first.1), short(last.1)))
        }
        _ => Err(format!("{} has no points", series.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Series {
        let points = values.iter().enumerate().map(|(place, &value)| (place as f64, value)).collect();
        Series { name: "s".into(), points }
    }

    #[test]
    fn directions_need_every_step_and_the_ends() {
        assert!(rises(&series(&[1.0, 2.0, 2.0, 3.0]), 0.0).is_ok());
        assert_eq!(rises(&series(&[1.0, 3.0, 2.0, 4.0]), 0.0).unwrap_err(), "s falls from 3 at 1 to 2 at 2");
        assert!(rises(&series(&[1.0, 3.0, 2.9, 4.0]), 0.1).is_ok());
        assert!(rises(&series(&[1.0, 1.0]), 0.0).is_err(), "flat is no rise");
        assert!(never_falls(&series(&[1.0, 1.0])).is_ok() && never_falls(&series(&[2.0, 1.0])).is_err());
        assert!(falls(&series(&[3.0, 2.0, 2.0]), 0.0).is_ok() && falls(&series(&[2.0, 3.0, 1.0]), 0.0).is_err());
        assert!(never_rises(&series(&[2.0, 2.0])).is_ok() && never_rises(&series(&[1.0, 2.0])).is_err());
        for nothing in [series(&[]), series(&[1.0])] {
            assert!(rises(&nothing, 0.0).is_err() && falls(&nothing, 0.0).is_err());
        }
    }

    #[test]
    fn what_is_no_number_contradicts() {
        let broken = series(&[1.0, f64::NAN, 3.0]);
        assert!(rises(&broken, 0.0).is_err() && falls(&broken, 0.0).is_err() && at_most(&broken, 9.0).is_err());
        assert!(below(&broken, &series(&[2.0, 2.0, 4.0])).is_err());
    }

    #[test]
    fn curves_are_compared_where_both_have_points() {
        assert!(below(&series(&[1.0, 2.0]), &series(&[2.0, 3.0, 0.0])).is_ok());
        assert_eq!(below(&series(&[2.0]), &series(&[2.0])).unwrap_err(), "at 0, s is 2 and s is 2");
        assert!(never_above(&series(&[2.0]), &series(&[2.0])).is_ok());
        assert!(agree(&series(&[2.0]), &series(&[2.0])).is_ok() && agree(&series(&[2.0]), &series(&[3.0])).is_err());
        assert!(agree(&series(&[2.0]), &series(&[])).is_err(), "nothing was compared");
    }

    #[test]
    fn spreads_limits_and_printed_values() {
        assert!(varies_at_most(&series(&[2.0, 3.0]), 1.5).is_ok());
        assert!(varies_at_most(&series(&[2.0, 3.1]), 1.5).is_err());
        assert!(at_most(&series(&[1.0, 2.0]), 2.0).is_ok() && at_most(&series(&[2.5]), 2.0).is_err());
        assert!(prints("x", 0.3749, 0.37, 2).is_ok());
        assert_eq!(prints("x", 0.38, 0.37, 2).unwrap_err(), "x is 0.38, printed 0.37");
    }
}
