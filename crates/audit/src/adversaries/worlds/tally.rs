//! The sums over all people, as a finding states them.

use serde_json::json;

use super::left::ValuesLeft;
use crate::finding::{Exposure, Finding, Worst};

/// People who look alike, or combinations of cells, for whom a value is explained.
pub(super) const EXPLAINED_MAX: usize = 20;

/// The sums over all people.
pub(super) struct PeopleTally {
    pub(super) worst: Worst<(usize, f64, usize, u64), Exposure>,
    pub(super) open: u64,
}

impl PeopleTally {
    pub(super) fn new() -> PeopleTally {
        PeopleTally { worst: Worst::new(), open: 0 }
    }

    /// Counts people with what is left for them; `exposure` describes them.
    pub(super) fn add(&mut self, finding: &mut Finding, left: &ValuesLeft, exposure: impl FnOnce() -> Exposure) {
        let count = left.values.len();
        if count == 0 {
            return;
        }
        finding.leave(count as u64, left.people);
        finding.at_risk += if count == 1 { left.people } else { 0 };
        let confidence = left.confidence();
        finding.max_confidence = finding.max_confidence.max(confidence);
        self.open += if left.is_decided { 0 } else { left.people };
        self.worst.offer((count.min(2), -confidence, count, u64::MAX - left.people), exposure);
    }

    /// Of people for whom it is not known whether fewer values are left.
    pub(super) fn leave_open(&mut self, people: u64) {
        self.open += people;
    }

    pub(super) fn finish(self, finding: &mut Finding, limits: &[String]) {
        finding.worst = self.worst.into_vec();
        finding.details.insert("exact".to_owned(), json!(self.open == 0));
        finding.details.insert("undecided".to_owned(), json!(self.open));
        if self.open > 0 {
            let why = match limits {
                [] => "no table was found that shows every value that is left to be possible".to_owned(),
                limits => limits.join("; "),
            };
            finding.note(format!(
                "for {} of those examined, fewer values may be possible than are counted here: {why}",
                self.open
            ));
        }
    }
}

/// How well the tables fit together, as they were taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fits {
    /// Some world fits all tables that everyone is taken to be in.
    pub(super) together: bool,
    /// People who are left without any value.
    pub(super) lost: u64,
}

impl Fits {
    pub(super) const ALL: Fits = Fits { together: true, lost: 0 };

    pub(super) fn is_better_than(self, other: Fits) -> bool {
        (!self.together, self.lost) < (!other.together, other.lost)
    }
}
