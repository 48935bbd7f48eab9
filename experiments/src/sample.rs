//! Repeated measurements: their mean, and how far chance may have moved it. A curve of such means
//! is held against a shape with the slack that its own repetitions show, and no other.

use hedgerow_report::pictures::{Series, short};

use crate::shape::Outcome;

/// Differences of means within this many of their standard errors are put down to chance: by the
/// normal distribution it moves one step in 700 further down.
const ERRORS_MAX: f64 = 3.0;

/// The mean of independent repetitions with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) mean: f64,
    /// Of one repetition nothing is known: its error is 0, and shapes have no slack.
    pub(crate) error: f64,
}

impl Sample {
    pub(crate) fn of(values: &[f64]) -> Sample {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = if values.len() < 2 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() };
        Sample { mean, error }
    }

    /// How far two means may differ by chance alone.
    fn chance(self, other: Sample) -> f64 {
        ERRORS_MAX * self.error.hypot(other.error)
    }
}

/// Means over something that varies.
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

    /// The means alone.
    pub(crate) fn series(&self) -> Series {
        let points = self.points.iter().map(|&(x, sample)| (x, sample.mean)).collect();
        Series { name: self.name.clone(), points }
    }

    /// No step goes down by more than chance explains, and the whole goes up by more than that.
    pub(crate) fn rises(&self) -> Outcome {
        self.goes(1.0, "falls", "is no higher at the end")
    }

    /// No step goes up by more than chance explains, and the whole goes down by more than that.
    pub(crate) fn falls(&self) -> Outcome {
        self.goes(-1.0, "rises", "is no lower at the end")
    }

    fn goes(&self, sign: f64, verb: &str, problem: &str) -> Outcome {
        let shown =
            |(x, sample): (f64, Sample)| format!("{} ± {} at {}", short(sample.mean), short(sample.error), short(x));
        for pair in self.points.windows(2) {
            let step = sign * (pair[1].1.mean - pair[0].1.mean);
            let chance = pair[0].1.chance(pair[1].1);
            // What is no number contradicts.
            if step.is_nan() || chance.is_nan() || step < -chance {
                return Err(format!("{} {verb} from {} to {}", self.name, shown(pair[0]), shown(pair[1])));
            }
        }
        let (Some(&first), Some(&last)) = (self.points.first(), self.points.last()) else {
            return Err(format!("{} has no points", self.name));
        };
        let whole = sign * (last.1.mean - first.1.mean);
        if self.points.len() > 1 && whole > first.1.chance(last.1) {
            Ok(())
        } else {
            Err(format!("{} {problem}: {} and {}", self.name, shown(first), shown(last)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        let points = points.iter().enumerate().map(|(x, &(mean, error))| (x as f64, Sample { mean, error })).collect();
        Curve { name: "s".into(), points }
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let sample = Sample::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(sample.mean, 2.5);
        assert!((sample.error - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12);
        assert_eq!(Sample::of(&[7.0]), Sample { mean: 7.0, error: 0.0 });
        assert!(Sample::of(&[]).mean.is_nan());
    }

    #[test]
    fn steps_against_the_shape_need_to_be_within_chance() {
        assert!(curve(&[(1.0, 0.0), (3.0, 0.0), (2.9, 0.0), (4.0, 0.0)]).rises().is_err(), "no error, no slack");
        assert!(curve(&[(1.0, 0.1), (3.0, 0.1), (2.9, 0.1), (4.0, 0.1)]).rises().is_ok());
        assert_eq!(
            curve(&[(1.0, 0.1), (3.0, 0.1), (2.0, 0.1), (4.0, 0.1)]).rises().unwrap_err(),
            "s falls from 3 ± 0.1 at 1 to 2 ± 0.1 at 2"
        );
        assert!(curve(&[(4.0, 0.1), (1.0, 0.1)]).falls().is_ok());
        assert!(curve(&[(4.0, 0.1), (1.0, 0.1)]).rises().is_err());
    }

    #[test]
    fn a_rise_within_chance_is_none() {
        assert!(curve(&[(1.0, 1.0), (2.0, 1.0)]).rises().is_err());
        assert!(curve(&[(1.0, 1.0), (2.0, 1.0)]).falls().is_err());
        for nothing in [curve(&[]), curve(&[(1.0, 0.0)]), curve(&[(1.0, 0.0), (f64::NAN, 0.0), (3.0, 0.0)])] {
            assert!(nothing.rises().is_err() && nothing.falls().is_err());
        }
    }
}
