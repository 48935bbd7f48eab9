//! Whether a class may stand: the rules over the rows of one part.
//!
//! A rule holds when each of its guarantees holds for the whole class, or, where the rule knows
//! attributes that are released as they are, for the rows of the class that agree on these. A rule
//! that knows fewer quasi attributes sees unions of classes: guarantees that survive merging then
//! hold for what it sees, so this asks for more than it must. For guarantees that do not survive
//! merging, what readers see is judged once more at the end. Rules that know no quasi attribute at
//! all see the same whatever is cut; they are judged once, over the whole.
//!
//! A rule that is about some known values alone is asked of the rows that agree on one of them,
//! where the attribute is released as it is. Where it is recoded the rule is asked of all: the
//! label
//! that the class will have is not known yet.

use hedgerow_privacy::{self as privacy, BoundRule, ConcernedLabels, Distribution, Guarantee, Judge, OnMerge};
use hedgerow_table::frequency::KeyField;

use super::partition::{Fields, Packed, Scratch};

#[derive(Debug)]
pub struct Rules<'a> {
    minimum: u64,
    /// The rules that class sizes alone do not decide.
    cut: Vec<Requirement<'a>>,
    /// The rules that no cut changes.
    fixed: Vec<Requirement<'a>>,
    nothing: Distribution,
}

/// A rule that rows break, by what it protects.
#[derive(Debug, Clone, Copy)]
pub struct Needed<'a> {
    pub field: KeyField,
    pub cardinality: usize,
    /// The rows of every value in the source, where the rule compares with it.
    pub source: Option<&'a [u64]>,
}

#[derive(Debug)]
struct Requirement<'a> {
    rule: &'a BoundRule,
    protect: Option<(KeyField, usize)>,
    plain: Vec<KeyField>,
    /// By place in `plain`, the values that the rule is about, where it is about some alone.
    concerned: Vec<Option<&'a ConcernedLabels>>,
}

impl Requirement<'_> {
    /// Whether the rule is about rows with these plain values.
    fn is_about(&self, plain: &[u32]) -> bool {
        let values = self.concerned.iter().zip(plain);
        values.filter_map(|(concerned, &value)| Some((*concerned)?.has(0, value))).all(|has| has)
    }
}

impl<'a> Rules<'a> {
    /// `quasi` is how many of the judged attributes are quasi ones.
    pub fn new(judge: &'a Judge, fields: &Fields, cardinalities: &[usize], quasi: usize) -> Rules<'a> {
        let mut rules = Rules { minimum: 1, cut: Vec::new(), fixed: Vec::new(), nothing: Distribution::default() };
        for rule in judge.rules() {
            let plain = || rule.know.iter().copied().filter(|&attribute| attribute >= quasi);
            let named = |attribute| rule.concerned.iter().find(|concerned| concerned.attribute == attribute);
            let requirement = Requirement {
                rule,
                protect: rule.protect.map(|attribute| (fields.judged[attribute], cardinalities[attribute])),
                plain: plain().map(|attribute| fields.judged[attribute]).collect(),
                concerned: plain().map(named).collect(),
            };
            if requirement.plain.len() == rule.know.len() {
                rules.fixed.push(requirement);
                continue;
            }
            for core in rule.guarantees.iter().map(|guarantee| guarantee.core()) {
                rules.minimum = rules.minimum.max(core.rows).max(core.distinct);
            }
            let by_size = |guarantee: &dyn Guarantee| {
                let absorbing = guarantee.on_merge() == OnMerge::Absorbing;
                absorbing && guarantee.core().distinct <= 1 && !guarantee.core_is_more()
            };
            if !requirement.plain.is_empty() || !rule.guarantees.iter().all(|guarantee| by_size(guarantee.as_ref())) {
                rules.cut.push(requirement);
            }
        }
        rules
    }

    /// The fewest rows that a class can have.
    pub fn minimum(&self) -> u64 {
        self.minimum
    }

    /// Whether sizes alone decide.
    pub fn by_size_alone(&self) -> bool {
        self.cut.is_empty()
    }

    /// Whether rows can be a class.
    pub fn hold<const W: usize, P: Packed<W>>(&self, keys: &[P], scratch: &mut Scratch) -> bool {
        P::rows(keys) >= self.minimum && self.cut.iter().all(|requirement| self.holds(requirement, keys, scratch))
    }

    /// The rows or values that the rows lack to be a class; `None` when they are one, or when no
    /// value of a protected attribute is known to help.
    pub fn needed<const W: usize, P: Packed<W>>(&self, keys: &[P], scratch: &mut Scratch) -> Option<Needed<'_>> {
        let broken = self.cut.iter().find(|requirement| !self.holds(requirement, keys, scratch))?;
        let (field, cardinality) = broken.protect?;
        let compares = broken.rule.guarantees.iter().any(|guarantee| guarantee.compares_with_table());
        let source = broken.rule.source.as_ref().filter(|_| compares).map(Distribution::counts);
        Some(Needed { field, cardinality, source })
    }

    /// Whether all rows can be one class, and every rule that no cut changes holds.
    pub fn hold_for_all<const W: usize, P: Packed<W>>(&self, keys: &[P], scratch: &mut Scratch) -> bool {
        self.hold(keys, scratch) && self.fixed.iter().all(|requirement| self.holds(requirement, keys, scratch))
    }

    fn holds<const W: usize, P: Packed<W>>(
        &self,
        requirement: &Requirement<'_>,
        keys: &[P],
        scratch: &mut Scratch,
    ) -> bool {
        if !requirement.plain.is_empty() {
            return self.holds_for_each(requirement, keys, scratch);
        }
        match requirement.protect {
            Some((field, cardinality)) => scratch.count_class(keys, field, cardinality),
            None => scratch.class.clear(),
        }
        self.class_holds(requirement.rule, P::rows(keys), &scratch.class)
    }

    /// For the rows that agree on the plain attributes, group by group.
    fn holds_for_each<const W: usize, P: Packed<W>>(
        &self,
        requirement: &Requirement<'_>,
        keys: &[P],
        scratch: &mut Scratch,
    ) -> bool {
        let Scratch { tuples, class, .. } = scratch;
        tuples.clear();
        let protect = requirement.protect.map(|(field, _)| field);
        // Last how often they occur, which must not part equal ones.
        tuples.extend(keys.iter().map(|packed| {
            let fields = requirement.plain.iter().chain(&protect);
            fields.map(|field| field.get(packed.key())).chain([packed.times()]).collect()
        }));
        tuples.sort_unstable();
        let plain = requirement.plain.len();
        let times = |tuples: &[Vec<u32>]| tuples.iter().filter_map(|tuple| tuple.last()).sum::<u32>();
        let mut groups = tuples.chunk_by(|a, b| a[..plain] == b[..plain]);
        groups.all(|group| {
            if !requirement.is_about(&group[0][..plain]) {
                return true;
            }
            class.clear();
            if protect.is_some() {
                let values = group.chunk_by(|a, b| a[plain] == b[plain]);
                class.extend(values.map(|equal| (equal[0][plain], times(equal))));
            }
            self.class_holds(requirement.rule, u64::from(times(group)), class)
        })
    }

    /// Every row is released, so the whole that readers recompute is the source.
    fn class_holds(&self, rule: &BoundRule, rows: u64, values: &[(u32, u32)]) -> bool {
        let whole = rule.source.as_ref().unwrap_or(&self.nothing);
        rule.guarantees.iter().all(|guarantee| guarantee.holds(privacy::Class { rows, values }, whole))
    }
}
