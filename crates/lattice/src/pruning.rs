//! The conclusions about finer nodes that a search may draw from a judged node.
//!
//! Two arguments exist, and a bound can only be made through one of them:
//! - *Cores and parts.* What the absorbing cores leave out only grows towards finer nodes, and no
//!   class is divided into parts that keep more of it than its guarantees let any parts keep (see
//!   `hedgerow_privacy::judge`). Always sound, whatever the guarantees, the suppression and the
//!   rules' `know`.
//! - *Merging without suppression.* When no row may be suppressed and every guarantee is at least
//!   merging, the classes of a coarser node are unions of classes that hold, so a node that fails
//!   has only failing nodes below it. With suppression this is false: a class that holds may merge
//!   with one that was suppressed, and fail.

use hedgerow_privacy::{Judge, OnMerge, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruning {
    failing_means_finer_fails: bool,
}

/// At least this many rows are suppressed on a node and on every finer one. Only [`Pruning`] makes
/// one from a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct AtLeast(u32);

impl Pruning {
    pub fn sound_for(judge: &Judge) -> Pruning {
        Pruning { failing_means_finer_fails: judge.allowed() == 0 && judge.on_merge() >= OnMerge::Merging }
    }

    /// Whether a node that holds has only holding nodes above it: with everything absorbing, or,
    /// without suppression, merging.
    pub fn holding_means_coarser_holds(self, judge: &Judge) -> bool {
        self.failing_means_finer_fails || judge.on_merge() == OnMerge::Absorbing
    }

    pub fn after(self, verdict: &Verdict) -> AtLeast {
        if self.failing_means_finer_fails && verdict.kept.is_none() {
            return AtLeast(u32::MAX);
        }
        AtLeast(u32::try_from(verdict.at_least).unwrap_or(u32::MAX - 1))
    }
}

impl AtLeast {
    pub fn rows(self) -> u64 {
        u64::from(self.0)
    }
}
