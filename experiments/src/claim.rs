//! A claim of a paper, compared with numbers: the verdict is computed, and so is the reason why a
//! claim does not hold. What this project states of it beforehand is only compared with that.

use std::fmt;

use crate::experiment::Scale;

/// The outcome of a claim: `Err` has the numbers that contradict it.
pub(crate) type ClaimOutcome = Result<(), String>;

/// The sort of a claim, by its author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A paper prints a number.
    Printed,
    /// A paper shows a direction, an order or a limit.
    Shape,
    /// A paper states what its own way cannot do or costs, and this project has another way.
    Improved,
    /// No paper makes it.
    Ours,
}

/// One claim and what the numbers say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// In our words.
    pub(crate) says: String,
    sort: Sort,
    outcome: ClaimOutcome,
    /// Whether only other data or settings than the paper's were tried.
    is_on_other_data: bool,
    /// Whether smaller data must lead to the same outcome.
    is_for_any_size: bool,
    /// Whether this project states that it holds, or states nothing.
    stated: Option<bool>,
}

impl Claim {
    /// A number that the paper prints and that needs no data or the paper's own.
    pub(crate) fn printed(says: impl Into<String>, outcome: ClaimOutcome) -> Claim {
        Claim { is_for_any_size: true, ..Claim::new(says, Sort::Printed, outcome) }
    }

    /// A direction, an order or a limit that the paper shows.
    pub(crate) fn shape(says: impl Into<String>, outcome: ClaimOutcome) -> Claim {
        Claim::new(says, Sort::Shape, outcome)
    }

    /// That this project does better than the paper says is possible.
    pub(crate) fn improved(says: impl Into<String>, outcome: ClaimOutcome) -> Claim {
        Claim::new(says, Sort::Improved, outcome)
    }

    /// A claim of this project that no paper makes.
    pub(crate) fn ours(says: impl Into<String>, outcome: ClaimOutcome) -> Claim {
        Claim::new(says, Sort::Ours, outcome)
    }

    fn new(says: impl Into<String>, sort: Sort, outcome: ClaimOutcome) -> Claim {
        let stated = Some(true);
        Claim { says: says.into(), sort, outcome, is_on_other_data: false, is_for_any_size: false, stated }
    }

    /// The paper's data or settings are not at hand: what contradicts the claim says so of ours
    /// alone.
    pub(crate) fn on_other_data(self) -> Claim {
        Claim { is_on_other_data: true, ..self }
    }

    /// Smaller data, or none, leads to the same outcome: a quick run fails where it does not.
    pub(crate) fn at_any_size(self) -> Claim {
        Claim { is_for_any_size: true, ..self }
    }

    /// This project states that the paper is wrong here, or that its data differ: should the claim
    /// hold after all, that is news.
    pub(crate) fn stated_not_to_hold(self) -> Claim {
        Claim { stated: Some(false), ..self }
    }

    /// Of seconds, which the machine and what else runs on it decide: this project states nothing
    /// of it, and no run fails because of it.
    pub(crate) fn of_time(self) -> Claim {
        Claim { stated: None, ..self }
    }

    pub(crate) fn verdict(&self, scale: Scale) -> Verdict {
        // Of seconds nothing is stated; fewer rows cannot refute what is said of many.
        let is_timed_out = self.stated.is_none() && self.outcome.is_err();
        if scale == Scale::Quick && (self.is_otherwise() || is_timed_out) && !self.is_for_any_size {
            return Verdict::TooSmall;
        }
        match (&self.outcome, self.sort) {
            (Ok(()), Sort::Printed) => Verdict::Reproduced,
            (Ok(()), Sort::Shape) => Verdict::ShapeHolds,
            (Ok(()), Sort::Improved) => Verdict::Improved,
            (Ok(()), Sort::Ours) => Verdict::Ours,
            (Err(why), Sort::Ours) => Verdict::OursFails(why.clone()),
            (Err(why), _) if self.is_on_other_data => Verdict::NotOnOurData(why.clone()),
            (Err(why), _) => Verdict::DoesNotHold(why.clone()),
        }
    }

    /// Whether a run of this size may end well.
    pub(crate) fn is_as_stated(&self, scale: Scale) -> bool {
        !self.is_otherwise() || self.verdict(scale) == Verdict::TooSmall
    }

    fn is_otherwise(&self) -> bool {
        self.stated.is_some_and(|stated| self.outcome.is_ok() != stated)
    }

    #[cfg(test)]
    pub(crate) fn outcome(&self) -> &ClaimOutcome {
        &self.outcome
    }
}

/// The verdict of a run on a claim, from the strongest to the weakest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Ours,
    Reproduced,
    ShapeHolds,
    Improved,
    TooSmall,
    NotOnOurData(String),
    DoesNotHold(String),
    OursFails(String),
}

impl Verdict {
    /// Why not, for a claim that does not hold.
    pub(crate) fn why_not(&self) -> Option<&str> {
        match self {
            Verdict::NotOnOurData(why) | Verdict::DoesNotHold(why) | Verdict::OursFails(why) => Some(why),
            _ => None,
        }
    }

    /// Without the reason.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Verdict::Ours => "our own",
            Verdict::Reproduced => "reproduced",
            Verdict::ShapeHolds => "shape holds",
            Verdict::Improved => "improved",
            Verdict::TooSmall => "too small to tell",
            Verdict::NotOnOurData(_) => "not on our data",
            Verdict::DoesNotHold(_) => "does not hold",
            Verdict::OursFails(_) => "our own, and it fails",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why_not() {
            Some(why) => write!(f, "{}: {why}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> ClaimOutcome {
        Err("5 is not 4".to_owned())
    }

    #[test]
    fn verdicts_follow_from_outcomes_and_statements_do_not_change_them() {
        let verdict = |claim: Claim| claim.verdict(Scale::Full).to_string();
        assert_eq!(verdict(Claim::printed("x", Ok(()))), "reproduced");
        assert_eq!(verdict(Claim::shape("x", Ok(()))), "shape holds");
        assert_eq!(verdict(Claim::shape("x", Ok(())).stated_not_to_hold()), "shape holds");
        assert_eq!(verdict(Claim::shape("x", failed())), "does not hold: 5 is not 4");
        assert_eq!(verdict(Claim::shape("x", failed()).on_other_data()), "not on our data: 5 is not 4");
        assert_eq!(verdict(Claim::improved("x", Ok(()))), "improved");
        assert_eq!(verdict(Claim::ours("x", Ok(()))), "our own", "never called reproduced");
        assert_eq!(verdict(Claim::ours("x", failed()).on_other_data()), "our own, and it fails: 5 is not 4");
    }

    #[test]
    fn a_run_ends_well_where_all_is_as_stated() {
        let is_as_stated = |claim: Claim| claim.is_as_stated(Scale::Full);
        assert!(is_as_stated(Claim::shape("x", failed()).stated_not_to_hold()));
        assert!(!is_as_stated(Claim::shape("x", failed())));
        assert!(!is_as_stated(Claim::printed("x", Ok(())).stated_not_to_hold()), "news");
        assert!(is_as_stated(Claim::shape("x", failed()).of_time()));
    }

    #[test]
    fn a_quick_run_that_says_otherwise_is_too_small_to_tell_unless_size_does_not_matter() {
        let claim = Claim::shape("x", failed());
        assert_eq!(claim.verdict(Scale::Quick), Verdict::TooSmall);
        assert!(claim.is_as_stated(Scale::Quick));
        let strict = claim.at_any_size();
        assert_eq!(strict.verdict(Scale::Quick).to_string(), "does not hold: 5 is not 4");
        assert!(!strict.is_as_stated(Scale::Quick));
        assert!(!Claim::printed("x", failed()).is_as_stated(Scale::Quick));
        assert_eq!(Claim::shape("x", failed()).of_time().verdict(Scale::Quick), Verdict::TooSmall);
        let as_stated = Claim::shape("x", failed()).stated_not_to_hold();
        assert_eq!(as_stated.verdict(Scale::Quick).name(), "does not hold", "a quick run that agrees says so");
    }

    #[test]
    fn the_weakest_verdict_is_the_largest() {
        let verdicts = [Verdict::ShapeHolds, Verdict::DoesNotHold(String::new()), Verdict::Reproduced];
        assert_eq!(verdicts.iter().max(), Some(&verdicts[1]));
    }
}
