//! One rule: what its attacker knows, what it protects, and the guarantees that must hold.

use crate::guarantee::ValuesNeeded;
use crate::{Absorbing, Class, Distribution, Guarantee, OnMerge, Tree};

/// One rule, bound to attributes by their position in a layout.
#[derive(Debug)]
pub struct BoundRule {
    pub know: Vec<usize>,
    pub protect: Option<usize>,
    pub guarantees: Vec<Box<dyn Guarantee>>,
    /// The protected attribute's distribution in the source, where there is one to compare with.
    pub source: Option<Distribution>,
    /// The protected attribute's hierarchy.
    pub tree: Option<Tree>,
    /// Known attributes of which the rule is about some values alone.
    pub concerned: Vec<ConcernedLabels>,
}

/// The labels of a known attribute that may stand for one of the values that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcernedLabels {
    pub attribute: usize,
    /// By level of the attribute and code of the label.
    pub by_level: Vec<Vec<bool>>,
}

impl ConcernedLabels {
    /// Whether a label is one of them; so is what is not known.
    pub fn has(&self, level: usize, label: u32) -> bool {
        self.by_level.get(level).and_then(|labels| labels.get(label as usize)).copied().unwrap_or(true)
    }
}

impl BoundRule {
    pub(crate) fn needs_values(&self) -> bool {
        self.protect.is_some() && self.guarantees.iter().any(|guarantee| guarantee.model().needs_protect())
    }

    pub(crate) fn compares_with_table(&self) -> bool {
        self.guarantees.iter().any(|guarantee| guarantee.compares_with_table())
    }

    /// Whether the rule is about a class; `label` gives the label of a known attribute there, and
    /// `levels` the levels of the attributes, 0 where there is none.
    pub fn is_about(&self, levels: &[u8], label: impl Fn(usize) -> u32) -> bool {
        self.concerned.iter().all(|concerned| {
            let level = levels.get(concerned.attribute).copied().unwrap_or(0);
            concerned.has(usize::from(level), label(concerned.attribute))
        })
    }

    /// The cores of all guarantees as one.
    pub(crate) fn core(&self) -> Absorbing {
        self.guarantees.iter().map(|guarantee| guarantee.core()).fold(
            Absorbing { rows: 0, distinct: 0 },
            |all, core| Absorbing { rows: all.rows.max(core.rows), distinct: all.distinct.max(core.distinct) },
        )
    }

    /// The fewest units that a class or a set of fitting units has where the rule holds: as many as
    /// rows, and one for every different value.
    pub fn units_needed(&self) -> u64 {
        let core = self.core();
        core.rows.max(core.distinct)
    }

    /// Whether the number of its rows decides what a class is worth.
    pub(crate) fn is_about_rows(&self) -> bool {
        self.guarantees.iter().all(|guarantee| is_about_rows(guarantee.as_ref()))
    }

    /// Where enough different values decide, beside the number of rows: how many.
    pub(crate) fn values_needed(&self) -> Option<ValuesNeeded> {
        let beyond = self.guarantees.iter().filter(|guarantee| !is_about_rows(guarantee.as_ref()));
        let mut needed = beyond.map(|guarantee| guarantee.values_needed());
        let first = needed.next()??;
        needed.try_fold(first, |most, needed| {
            let needed = needed?;
            Some(ValuesNeeded { values: most.values.max(needed.values), missing: most.missing.or(needed.missing) })
        })
    }

    /// Whether a class meets the cores.
    pub(crate) fn core_holds(&self, core: Absorbing, class: Class<'_>) -> bool {
        let mut more = self.guarantees.iter().filter(|guarantee| guarantee.core_is_more());
        core.holds(class) && more.all(|guarantee| guarantee.holds(class, &Distribution::default()))
    }

    /// The most rows that finer levels can keep of a class.
    pub(crate) fn kept_at_most(&self, class: Class<'_>) -> u64 {
        let bounds = self.guarantees.iter().filter(|guarantee| guarantee.bounds_parts());
        bounds.map(|guarantee| guarantee.kept_at_most(class)).min().unwrap_or(class.rows)
    }
}

/// Whether the number of a class's rows decides.
fn is_about_rows(guarantee: &dyn Guarantee) -> bool {
    guarantee.on_merge() == OnMerge::Absorbing && !guarantee.core_is_more() && guarantee.core().distinct <= 1
}
