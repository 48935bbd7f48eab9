//! Repeated measurements: their mean, and how far chance may have moved it; and the one rule by
//! which a direction holds, whether a paper claims it or this project.

use hedgerow_report::pictures::{Series, short};

use crate::claim::ClaimOutcome;

/// The rule, as the record states it.
pub(crate) const RULE: &str = "A direction (rises, falls, is below) holds when no step goes against it by more than \
three standard errors of the repetitions, and the whole goes along with it by more than that; where the same \
repetitions are compared, the errors are those of the paired differences. Where there is one repetition there is no \
error, and every step counts. A limit is kept when no mean exceeds it by more than three standard errors. \"Nearly the \
same\" is within 10 %, or beyond that by no more than three standard errors of the difference, \"not significantly\" \
at most a factor of 1.5, \"around half\" 0.4 to 0.6. The rule is the same for the papers' claims and for ours.";

/// Differences of means within this many of their standard errors are put down to chance: by the
/// normal distribution it moves one step in 700 further down.
const ERRORS_MAX: f64 = 3.0;

/// "Nearly the same": by at most this share of the larger one.
pub(crate) const NEARLY: f64 = 0.1;

/// "Not significantly": at most by this factor.
pub(crate) const FACTOR_MAX: f64 = 1.5;

/// "Around half".
pub(crate) const HALF: [f64; 2] = [0.4, 0.6];

/// Sums of equal numbers differ in their last digits.
const ROUNDING: f64 = 1e-9;

/// Independent repetitions of one measurement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn of(values: &[f64]) -> Sample {
        Sample(values.to_vec())
    }

    /// A value that chance has no part in, or that was measured once: it has no error.
    pub(crate) fn exact(value: f64) -> Sample {
        Sample(vec![value])
    }

    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The standard error of the mean.
    pub(crate) fn error(&self) -> f64 {
        if self.0.len() < 2 {
            return 0.0;
        }
        let (count, mean) = (self.0.len() as f64, self.mean());
        let squares = self.0.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (squares / (count - 1.0) / count).sqrt()
    }

    /// How much larger this is, by paired differences where both have the same repetitions.
    fn above(&self, other: &Sample) -> Difference {
        if self.0.len() == other.0.len() && self.0.len() > 1 {
            let paired: Vec<f64> = self.0.iter().zip(&other.0).map(|(one, other)| one - other).collect();
            let paired = Sample(paired);
            return Difference { mean: paired.mean(), error: paired.error() };
        }
        Difference { mean: self.mean() - other.mean(), error: self.error().hypot(other.error()) }
    }

    fn shown(&self) -> String {
        let mean = short(self.mean());
        if self.0.len() < 2 { mean } else { format!("{mean} ± {}", short(self.error())) }
    }
}

/// A difference of means, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Difference {
    mean: f64,
    error: f64,
}

impl Difference {
    /// Neither chance nor rounding explains it.
    fn is_more_than_chance(self) -> bool {
        self.mean > ERRORS_MAX * self.error + ROUNDING
    }

    fn turned(self) -> Difference {
        Difference { mean: -self.mean, ..self }
    }

    /// A value that is not a number contradicts everything.
    fn is_against(self) -> bool {
        self.mean.is_nan() || self.error.is_nan() || self.turned().is_more_than_chance()
    }

    fn shown(self) -> String {
        if self.error == 0.0 { short(self.mean) } else { format!("{} ± {}", short(self.mean), short(self.error)) }
    }
}

/// Samples over something that varies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    pub(crate) name: String,
    /// Ascending by their first number.
    pub(crate) points: Vec<(f64, Sample)>,
}

impl Curve {
    pub(crate) fn new(name: impl Into<String>) -> Curve {
        Curve { name: name.into(), points: Vec::new() }
    }

    /// Without repetitions.
    #[cfg(test)]
    pub(crate) fn exact(name: impl Into<String>, points: &[(f64, f64)]) -> Curve {
        Curve { name: name.into(), points: points.iter().map(|&(x, y)| (x, Sample::exact(y))).collect() }
    }

    pub(crate) fn push(&mut self, x: f64, sample: Sample) {
        self.points.push((x, sample));
    }

    /// The means alone.
    pub(crate) fn series(&self) -> Series {
        let points = self.points.iter().map(|(x, sample)| (*x, sample.mean())).collect();
        Series { name: self.name.clone(), points }
    }

    /// The part from there on.
    pub(crate) fn from(&self, least: f64) -> Curve {
        let points = self.points.iter().filter(|point| point.0 >= least).cloned().collect();
        Curve { name: self.name.clone(), points }
    }

    /// The part up to there.
    pub(crate) fn up_to(&self, most: f64) -> Curve {
        let points = self.points.iter().filter(|point| point.0 <= most).cloned().collect();
        Curve { name: self.name.clone(), points }
    }

    pub(crate) fn rises(&self) -> ClaimOutcome {
        self.goes(1.0, "falls")?;
        self.ends(1.0, "is not higher at the end by more than chance")
    }

    pub(crate) fn falls(&self) -> ClaimOutcome {
        self.goes(-1.0, "rises")?;
        self.ends(-1.0, "is not lower at the end by more than chance")
    }

    /// As [`Curve::rises`], but it may also stay as it is.
    pub(crate) fn never_falls(&self) -> ClaimOutcome {
        self.goes(1.0, "falls")
    }

    /// As [`Curve::falls`], but it may also stay as it is.
    pub(crate) fn never_rises(&self) -> ClaimOutcome {
        self.goes(-1.0, "rises")
    }

    fn goes(&self, sign: f64, verb: &str) -> ClaimOutcome {
        if self.points.is_empty() {
            return Err(format!("{} has no points", self.name));
        }
        for pair in self.points.windows(2) {
            let step = step(&pair[0].1, &pair[1].1, sign);
            if step.is_against() {
                return Err(format!("{} {verb} from {} to {}", self.name, at(&pair[0]), at(&pair[1])));
            }
        }
        Ok(())
    }

    fn ends(&self, sign: f64, problem: &str) -> ClaimOutcome {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return Err(format!("{} has no points", self.name));
        };
        if self.points.len() > 1 && step(&first.1, &last.1, sign).is_more_than_chance() {
            return Ok(());
        }
        Err(format!("{} {problem}: {} and {}", self.name, at(first), at(last)))
    }

    /// The largest mean is at most [`FACTOR_MAX`] times the smallest.
    pub(crate) fn barely_varies(&self) -> ClaimOutcome {
        let means = || self.points.iter().map(|point| point.1.mean());
        let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        if self.points.len() > 1 && most <= FACTOR_MAX * least {
            return Ok(());
        }
        Err(format!("{}: from {} to {}", self.name, short(least), short(most)))
    }

    /// No mean exceeds the limit by more than chance explains.
    pub(crate) fn at_most(&self, limit: f64) -> ClaimOutcome {
        let limited = Sample::exact(limit);
        match self.points.iter().find(|point| limited.above(&point.1).is_against()) {
            Some(point) => Err(format!("{} is {}", self.name, at(point))),
            None if self.points.is_empty() => Err(format!("{} has no points", self.name)),
            None => Ok(()),
        }
    }
}

fn step(before: &Sample, after: &Sample, sign: f64) -> Difference {
    let step = after.above(before);
    if sign > 0.0 { step } else { step.turned() }
}

fn at((x, sample): &(f64, Sample)) -> String {
    format!("{} at {}", sample.shown(), short(*x))
}

/// At no place that both have is the first above the second, and over all of these it is below.
pub(crate) fn below(lower: &Curve, upper: &Curve) -> ClaimOutcome {
    let whole = never_above_by(lower, upper)?;
    if whole.is_more_than_chance() {
        return Ok(());
    }
    let shown = whole.shown();
    Err(format!("over all places, {} is above {} by {shown}", upper.name, lower.name))
}

/// As [`below`], but both may also be the same.
pub(crate) fn never_above(lower: &Curve, upper: &Curve) -> ClaimOutcome {
    never_above_by(lower, upper).map(|_| ())
}

/// By how much in the sum over all places.
fn never_above_by(lower: &Curve, upper: &Curve) -> Result<Difference, String> {
    let mut whole: Option<Difference> = None;
    for (x, low, high) in common(lower, upper) {
        let above = high.above(low);
        if above.is_against() {
            let [low, high] = [low, high].map(Sample::shown);
            return Err(format!("at {}, {} is {low} and {} is {high}", short(x), lower.name, upper.name));
        }
        let before = whole.unwrap_or(Difference { mean: 0.0, error: 0.0 });
        whole = Some(Difference { mean: before.mean + above.mean, error: before.error.hypot(above.error) });
    }
    // Two curves without a common place would agree with anything.
    whole.ok_or_else(|| format!("{} and {} have no place in common", lower.name, upper.name))
}

/// At every place that both have, the means agree.
pub(crate) fn agree(one: &Curve, other: &Curve) -> ClaimOutcome {
    compared(one, other, |one, other| one.mean() == other.mean())
}

/// At every place that both have, the means differ by at most [`NEARLY`], or by no more than chance
/// explains beyond that.
pub(crate) fn nearly_agree(one: &Curve, other: &Curve) -> ClaimOutcome {
    compared(one, other, |one, other| {
        let most = NEARLY * one.mean().abs().max(other.mean().abs());
        let within = |apart: Difference| Difference { mean: most - apart.mean, ..apart };
        !within(one.above(other)).is_against() && !within(other.above(one)).is_against()
    })
}

fn compared(one: &Curve, other: &Curve, holds: fn(&Sample, &Sample) -> bool) -> ClaimOutcome {
    let mut met = false;
    for (x, here, there) in common(one, other) {
        met = true;
        if !holds(here, there) {
            let [here, there] = [here, there].map(Sample::shown);
            return Err(format!("at {}, {} is {here} and {} is {there}", short(x), one.name, other.name));
        }
    }
    if met { Ok(()) } else { Err(format!("{} and {} have no place in common", one.name, other.name)) }
}

fn common<'a>(one: &'a Curve, other: &'a Curve) -> impl Iterator<Item = (f64, &'a Sample, &'a Sample)> {
    one.points.iter().filter_map(|(x, sample)| {
        let beside = other.points.iter().find(|point| point.0 == *x)?;
        Some((*x, sample, &beside.1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two repetitions around each mean, as far from it as the standard error.
    fn curve(points: &[(f64, f64)]) -> Curve {
        let point = |(x, &(mean, error)): (usize, &(f64, f64))| (x as f64, Sample::of(&[mean - error, mean + error]));
        Curve { name: "s".into(), points: points.iter().enumerate().map(point).collect() }
    }

    fn exact(values: &[f64]) -> Curve {
        let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(x, &value)| (x as f64, value)).collect();
        Curve::exact("s", &points)
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let sample = Sample::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(sample.mean(), 2.5);
        assert!((sample.error() - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!(Sample::exact(7.0).error(), 0.0);
        assert!(Sample::of(&[]).mean().is_nan());
    }

    #[test]
    fn pairs_are_compared_pair_by_pair() {
        let [low, high] = [Sample::of(&[1.0, 5.0, 9.0]), Sample::of(&[1.5, 5.6, 9.4])];
        let above = high.above(&low);
        assert!((above.mean - 0.5).abs() < 1e-9 && above.error < 0.06, "{above:?}");
        let apart = high.above(&Sample::of(&[1.0, 9.0]));
        assert!(apart.error > 2.0, "without pairs both errors count");
    }

    #[test]
    fn directions_need_every_step_and_the_ends() {
        assert!(exact(&[1.0, 2.0, 2.0, 3.0]).rises().is_ok());
        assert_eq!(exact(&[1.0, 3.0, 2.0, 4.0]).rises().unwrap_err(), "s falls from 3 at 1 to 2 at 2");
        assert!(exact(&[1.0, 1.0]).rises().is_err(), "flat does not rise");
        assert!(exact(&[1.0, 1.0 + 1e-12]).rises().is_err(), "rounding does not count as a rise");
        assert!(exact(&[1.0, 1.0]).never_falls().is_ok() && exact(&[2.0, 1.0]).never_falls().is_err());
        assert!(exact(&[3.0, 2.0, 2.0]).falls().is_ok() && exact(&[2.0, 3.0, 1.0]).falls().is_err());
        assert!(exact(&[2.0, 2.0]).never_rises().is_ok() && exact(&[1.0, 2.0]).never_rises().is_err());
        for nothing in [exact(&[]), exact(&[1.0]), exact(&[1.0, f64::NAN, 3.0])] {
            assert!(nothing.rises().is_err() && nothing.falls().is_err());
        }
        assert!(exact(&[]).never_rises().is_err() && exact(&[]).at_most(1.0).is_err());
    }

    #[test]
    fn steps_against_the_shape_need_to_be_within_chance() {
        assert!(curve(&[(1.0, 0.01), (3.0, 0.01), (2.9, 0.02), (4.0, 0.02)]).rises().is_err());
        let wide = Curve {
            name: "s".into(),
            points: vec![
                (0.0, Sample::of(&[1.0, 1.2, 0.8])),
                (1.0, Sample::of(&[3.0, 2.8, 3.2])),
                (2.0, Sample::of(&[2.8, 3.1, 2.9])),
                (3.0, Sample::of(&[4.0, 4.1, 3.9])),
            ],
        };
        assert!(wide.rises().is_ok() && wide.falls().is_err());
        let chance = Curve {
            name: "s".into(),
            points: vec![(0.0, Sample::of(&[1.0, 2.0, 3.0])), (1.0, Sample::of(&[2.5, 1.5, 3.0]))],
        };
        assert!(chance.rises().is_err() && chance.falls().is_err(), "a rise within chance is none");
        assert!(chance.never_rises().is_ok() && chance.never_falls().is_ok());
    }

    #[test]
    fn curves_are_compared_where_both_have_points() {
        assert!(below(&exact(&[1.0, 2.0]), &exact(&[2.0, 3.0, 0.0])).is_ok());
        assert!(below(&exact(&[2.0, 2.0]), &exact(&[2.0, 2.5])).is_ok(), "nowhere above, and below over all");
        assert!(below(&exact(&[2.0]), &exact(&[2.0])).is_err());
        assert_eq!(below(&exact(&[3.0, 0.0]), &exact(&[2.0, 9.0])).unwrap_err(), "at 0, s is 3 and s is 2");
        assert!(never_above(&exact(&[2.0]), &exact(&[2.0])).is_ok());
        assert!(agree(&exact(&[2.0]), &exact(&[2.0])).is_ok() && agree(&exact(&[2.0]), &exact(&[2.01])).is_err());
        assert!(agree(&exact(&[2.0]), &exact(&[])).is_err(), "nothing was compared");
        assert!(nearly_agree(&exact(&[2.0]), &exact(&[2.2])).is_ok());
        assert!(nearly_agree(&exact(&[2.0]), &exact(&[2.3])).is_err());
        assert!(nearly_agree(&exact(&[2.0]), &exact(&[f64::NAN])).is_err());
        assert!(below(&exact(&[1.0, f64::NAN]), &exact(&[2.0, 2.0])).is_err());
    }

    /// The pairs of the first differ by 0.1, 0.5 and 0.9, those of the second by 0.4 to 0.6.
    #[test]
    fn curves_that_chance_alone_moves_apart_are_nearly_the_same() {
        let of = |values: [f64; 3]| Curve { name: "s".into(), points: vec![(0.0, Sample::of(&values))] };
        let (one, wide, narrow) = (of([2.0, 2.0, 2.0]), of([2.1, 2.5, 2.9]), of([2.4, 2.5, 2.6]));
        assert!(nearly_agree(&one, &wide).is_ok() && nearly_agree(&wide, &one).is_ok());
        assert!(nearly_agree(&one, &narrow).is_err() && nearly_agree(&narrow, &one).is_err());
    }

    #[test]
    fn spreads_and_limits() {
        assert!(exact(&[2.0, 3.0]).barely_varies().is_ok() && exact(&[2.0, 3.1]).barely_varies().is_err());
        assert!(exact(&[2.0]).barely_varies().is_err(), "one point varies in nothing");
        assert!(exact(&[1.0, 2.0]).at_most(2.0).is_ok() && exact(&[2.5]).at_most(2.0).is_err());
        assert!(curve(&[(2.1, 0.1)]).at_most(2.0).is_ok() && curve(&[(2.5, 0.1)]).at_most(2.0).is_err());
        assert!(exact(&[f64::NAN]).at_most(2.0).is_err());
    }
}
