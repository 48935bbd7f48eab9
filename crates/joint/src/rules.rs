//! Whether a class of the union satisfies the rules: what is compared and counted, and what
//! follows.

use hedgerow_privacy::{Class, Distribution, Guarantee, Model, OnMerge, Tree};
use hedgerow_smc::{About, OpenedKind};

use super::request::{Request, RequestAnswer};
use crate::{Agreed, Share};

/// A rule that looks at classes over all quasi attributes.
#[derive(Debug)]
pub struct JointRule {
    /// The place of the protected attribute among those beside the quasi ones.
    pub protect: Option<usize>,
    pub guarantees: Vec<Box<dyn Guarantee>>,
    /// The protected attribute's hierarchy.
    pub tree: Option<Tree>,
}

/// The counts of one class, of our own rows or of all custodians'.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClassCounts {
    /// For every rule that looks at shares of values, how many rows have each value.
    pub(super) histograms: Vec<Vec<u64>>,
}

/// For every rule that requires different values: for each value whether any custodian has it, and
/// whether more custodians have it than the rule must hold towards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RuleValues {
    pub(super) held: Vec<Vec<bool>>,
    pub(super) surviving: Vec<Vec<bool>>,
}

impl Agreed {
    /// The fewest rows that a class can have.
    pub(super) fn minimum(&self) -> u64 {
        let cores = self.guarantees().map(|guarantee| guarantee.core());
        cores.map(|core| core.rows.max(core.distinct)).max().unwrap_or(1).max(self.sites).max(1)
    }

    pub(super) fn guarantees(&self) -> impl Iterator<Item = &dyn Guarantee> + '_ {
        self.rules.iter().flat_map(|rule| &rule.guarantees).map(|guarantee| guarantee.as_ref())
    }

    /// Whether anything is requested before histograms.
    pub(super) fn compares(&self) -> bool {
        let values = self.different_values().next().is_some();
        self.sites > 1 || !self.clips().is_empty() || values || self.objects_by_own_rows()
    }

    /// The protected attributes of rules that require only different values, with their guarantees.
    pub(super) fn different_values(&self) -> impl Iterator<Item = (usize, &JointRule)> + '_ {
        let asks = |rule: &&JointRule| rule.guarantees.iter().any(|one| by_values(one.as_ref()));
        self.rules.iter().filter(asks).filter_map(|rule| Some((rule.protect?, rule)))
    }

    /// The protected attributes of rules that look at shares of values.
    fn shares(&self) -> impl Iterator<Item = (usize, &JointRule)> + '_ {
        let looks = |rule: &&JointRule| rule.guarantees.iter().any(|guarantee| !by_core(guarantee.as_ref()));
        self.rules.iter().filter(looks).filter_map(|rule| Some((rule.protect?, rule)))
    }

    pub(super) fn needs_histograms(&self) -> bool {
        self.shares().next().is_some()
    }

    /// How many rows of ours have each value of a protected attribute.
    pub(super) fn histogram(&self, share: &Share, rows: &[u32], place: usize) -> Vec<u64> {
        let mut counts = vec![0; self.cardinalities[place]];
        rows.iter().for_each(|row| counts[share.codes[place][*row as usize] as usize] += 1);
        counts
    }

    /// The counts of our own rows of a class.
    pub(super) fn own_counts(&self, share: &Share, rows: &[u32]) -> ClassCounts {
        ClassCounts { histograms: self.shares().map(|(place, _)| self.histogram(share, rows, place)).collect() }
    }

    /// Our share of the comparisons that judge a class. [`Agreed::compared`] takes the answer.
    pub(super) fn compare(&self, share: &Share, rows: &[u32], about: About, request: &mut Request) {
        if self.sites > 1 {
            request.compare(OpenedKind::Sites, about, u64::from(!rows.is_empty()), &[self.sites].into());
        }
        let wanted = self.rows_wanted();
        for most in self.clips() {
            let threshold = wanted.saturating_add(self.towards.saturating_mul(most));
            request.compare(OpenedKind::ClippedSizes, about, most.min(rows.len() as u64), &[threshold].into());
        }
        for (place, _) in self.different_values() {
            let histogram = self.histogram(share, rows, place);
            if self.towards == 0 {
                request.any(OpenedKind::Presence, about, histogram.iter().map(|count| *count > 0));
            } else {
                let thresholds = [1, self.towards.saturating_add(1)].into();
                for count in histogram {
                    request.compare(OpenedKind::Holders, about, u64::from(count > 0), &thresholds);
                }
            }
        }
    }

    /// Whether custodians and rows are enough, and which values occur.
    pub(super) fn compared(&self, answer: &mut RequestAnswer<'_>) -> (bool, RuleValues) {
        let sites = self.sites <= 1 || answer.reached() == 1;
        let clips = self.clips();
        // All of them must be read, also after one that is enough.
        let enough = clips.iter().filter(|_| answer.reached() == 1).count();
        let mut values = RuleValues::default();
        for (place, _) in self.different_values() {
            let held: Vec<u64> = (0..self.cardinalities[place])
                .map(|_| if self.towards == 0 { u64::from(answer.raised()) } else { answer.reached() })
                .collect();
            values.held.push(held.iter().map(|reached| *reached >= 1).collect());
            values.surviving.push(held.iter().map(|reached| *reached >= 2).collect());
        }
        (sites && (clips.is_empty() || enough > 0), values)
    }

    /// Whether enough different values occur; towards several custodians, without the rows of any
    /// of them.
    pub(super) fn enough_values(&self, values: &RuleValues) -> bool {
        let counted = if self.towards >= 2 { &values.surviving } else { &values.held };
        self.different_values().zip(counted).all(|((_, rule), present)| values_hold(rule, present))
    }

    /// The counts of a class.
    pub(super) fn read(&self, answer: &mut RequestAnswer<'_>) -> ClassCounts {
        let histograms = self.shares().map(|(place, _)| answer.counts(self.cardinalities[place]).to_vec()).collect();
        ClassCounts { histograms }
    }

    /// The distributions of the protected attributes over all rows, rule by rule.
    pub(super) fn wholes(&self, all: &ClassCounts) -> Vec<Distribution> {
        let whole = |((_, rule), histogram): ((usize, &JointRule), &Vec<u64>)| {
            Distribution::new(histogram.clone(), rule.tree.as_ref())
        };
        self.shares().zip(&all.histograms).map(whole).collect()
    }

    /// Whether the shares of a class's values satisfy the rules.
    pub(super) fn shares_hold(&self, counts: &ClassCounts, wholes: &[Distribution]) -> bool {
        // A rule without a distribution to compare with would hold by default.
        let complete = wholes.len() == self.shares().count() && counts.histograms.len() == wholes.len();
        complete
            && self.shares().zip(counts.histograms.iter().zip(wholes)).all(|((_, rule), (histogram, whole))| {
                let present = (0u32..).zip(histogram).filter(|(_, count)| **count > 0);
                let values: Vec<(u32, u32)> =
                    present.map(|(code, &count)| (code, u32::try_from(count).unwrap_or(u32::MAX))).collect();
                // Summed as they are: a count that does not fit is invalid, and holds nothing.
                let Some(rows) = histogram.iter().try_fold(0u64, |sum, count| sum.checked_add(*count)) else {
                    return false;
                };
                let class = Class { rows, values: &values };
                let mut guarantees = rule.guarantees.iter().filter(|guarantee| !by_core(guarantee.as_ref()));
                rows > 0 && guarantees.all(|guarantee| guarantee.holds(class, whole))
            })
    }
}

/// Whether the guarantees of a rule that require different values hold.
pub(super) fn values_hold(rule: &JointRule, present: &[bool]) -> bool {
    let values: Vec<(u32, u32)> =
        (0u32..).zip(present).filter(|(_, present)| **present).map(|(code, _)| (code, 1)).collect();
    let mut guarantees = rule.guarantees.iter().filter(|guarantee| by_values(guarantee.as_ref()));
    guarantees.all(|guarantee| {
        // The number of rows was checked before.
        let rows = guarantee.core().rows.saturating_add(values.len() as u64);
        guarantee.holds(Class { rows, values: &values }, &Distribution::default())
    })
}

/// Whether a guarantee requires only a number of rows and a number of different values, so that it
/// is decided by which values occur. That holds for distinct l-diversity also where missing values
/// must not count.
pub(super) fn by_core(guarantee: &dyn Guarantee) -> bool {
    let plain = guarantee.on_merge() == OnMerge::Absorbing && !guarantee.core_is_more();
    plain || matches!(guarantee.model(), Model::DistinctLDiversity { .. })
}

/// Whether a guarantee requires only that, and values are a part of it.
fn by_values(guarantee: &dyn Guarantee) -> bool {
    by_core(guarantee) && guarantee.core().distinct > 1
}
