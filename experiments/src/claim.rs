//! A claim of a paper, held against numbers: the verdict is computed, and so is the reason why a
//! claim does not hold. What this project states of it beforehand is only compared with that.

use std::fmt;

/// One claim and what the numbers say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// In our words.
    pub(crate) says: String,
    /// Whether the paper gives values, and not only a direction or an order.
    is_value: bool,
    /// `Err` has the numbers that contradict it.
    outcome: Result<(), String>,
    /// Whether this project states that it holds, or states nothing.
    stated: Option<bool>,
}

impl Claim {
    /// A value that the paper prints.
    pub(crate) fn value(says: impl Into<String>, outcome: Result<(), String>) -> Claim {
        Claim { says: says.into(), is_value: true, outcome, stated: Some(true) }
    }

    /// A direction or an order that the paper shows.
    pub(crate) fn shape(says: impl Into<String>, outcome: Result<(), String>) -> Claim {
        Claim { says: says.into(), is_value: false, outcome, stated: Some(true) }
    }

    /// This project states that the paper is wrong here, or that its data differ: should the claim
    /// hold after all, that is news.
    pub(crate) fn stated_not_to_hold(self) -> Claim {
        Claim { stated: Some(false), ..self }
    }

    /// As [`Claim::stated_not_to_hold`], where that is so.
    pub(crate) fn stated_not_to_hold_if(self, refuted: bool) -> Claim {
        if refuted { self.stated_not_to_hold() } else { self }
    }

    /// Of seconds, which the machine and what else runs on it decide: this project states nothing
    /// of it, and no run fails because of it.
    pub(crate) fn of_time(self) -> Claim {
        Claim { stated: None, ..self }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match &self.outcome {
            Ok(()) if self.is_value => Verdict::Reproduced,
            Ok(()) => Verdict::ShapeHolds,
            Err(why) => Verdict::DoesNotHold(why.clone()),
        }
    }

    pub(crate) fn is_as_stated(&self) -> bool {
        self.stated.is_none_or(|stated| self.outcome.is_ok() == stated)
    }
}

/// From the strongest to the weakest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Reproduced,
    ShapeHolds,
    DoesNotHold(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Reproduced => f.write_str("reproduced"),
            Verdict::ShapeHolds => f.write_str("shape holds"),
            Verdict::DoesNotHold(why) => write!(f, "does not hold: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_outcomes_and_statements_do_not_change_them() {
        let failed = || Err("5 is not 4".to_owned());
        assert_eq!(Claim::value("x", Ok(())).verdict().to_string(), "reproduced");
        assert_eq!(Claim::shape("x", Ok(())).verdict().to_string(), "shape holds");
        let refuted = Claim::shape("x", failed()).stated_not_to_hold();
        assert_eq!(refuted.verdict().to_string(), "does not hold: 5 is not 4");
        assert!(refuted.is_as_stated());
        assert!(!Claim::shape("x", failed()).is_as_stated());
        assert!(!Claim::value("x", Ok(())).stated_not_to_hold().is_as_stated(), "news");
        let slower = Claim::shape("x", failed()).of_time();
        assert_eq!(slower.verdict(), refuted.verdict());
        assert!(slower.is_as_stated());
    }

    #[test]
    fn the_weakest_verdict_is_the_largest() {
        let verdicts = [Verdict::ShapeHolds, Verdict::DoesNotHold(String::new()), Verdict::Reproduced];
        assert_eq!(verdicts.iter().max(), Some(&verdicts[1]));
    }
}
