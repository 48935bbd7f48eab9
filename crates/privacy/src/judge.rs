//! How rules are judged: which rows of a frequency set must be suppressed so that every rule holds
//! for the rest.
//!
//! A rule looks at the classes over its own `know` attributes; a class that fails is suppressed.
//! Rules with different `know`, and models that compare with the released rows, can break when rows
//! are suppressed for another reason, so this is repeated, all rules at once, until nothing
//! changes.
//!
//! Next to the verdict stands what the *absorbing cores* alone suppress. Let S be a set of rows in
//! which every class meets its core. On any coarser level the classes of S are unions of classes
//! that meet it, so S meets it there too; and the union of two such sets is one. Hence the largest
//! such set only grows on the way up the lattice, and what a coarser node suppresses by its cores
//! is a lower bound for what a finer one suppresses under the full guarantees. This holds with
//! suppression and with several `know`; it is the only bound a search may use there.

use hedgerow_table::frequency::{Classes, FrequencySet, Layout};

use crate::guarantee::Measure;
use crate::{Absorbing, Class, Distribution, Guarantee, OnMerge, Tree};

/// One rule, bound to attributes by their position in a layout.
#[derive(Debug)]
pub struct Rule {
    pub know: Vec<usize>,
    pub protect: Option<usize>,
    pub guarantees: Vec<Box<dyn Guarantee>>,
    /// The protected attribute's distribution in the source, where there is one to compare with.
    pub source: Option<Distribution>,
    /// The protected attribute's hierarchy.
    pub tree: Option<Tree>,
}

impl Rule {
    fn needs_values(&self) -> bool {
        self.protect.is_some() && self.guarantees.iter().any(|guarantee| guarantee.model().needs_protect())
    }

    fn compares_with_table(&self) -> bool {
        self.guarantees.iter().any(|guarantee| guarantee.compares_with_table())
    }
}

#[derive(Debug)]
pub struct Judge {
    layout: Layout,
    cardinalities: Vec<usize>,
    rules: Vec<Rule>,
    /// Rows that may be suppressed.
    allowed: u64,
}

/// What judging a frequency set says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Rows suppressed by the absorbing cores alone; a lower bound of it when `kept` is absent.
    pub core_suppressed: u64,
    /// Rows suppressed in all; meaningful when `kept` is present.
    pub suppressed: u64,
    /// The entries that stay, when no more than the allowed rows are suppressed and some rows stay.
    pub kept: Option<Vec<bool>>,
}

/// The classes of one rule among the entries that are left: rows and protected values of each.
struct ClassTable {
    rows: Vec<u64>,
    starts: Vec<u32>,
    values: Vec<(u32, u32)>,
}

impl ClassTable {
    fn class(&self, index: usize) -> Class<'_> {
        let values = match self.starts.get(index + 1) {
            Some(&end) => &self.values[self.starts[index] as usize..end as usize],
            None => &[],
        };
        Class { rows: self.rows[index], values }
    }
}

impl Judge {
    /// `cardinalities` are those of the layout's attributes.
    pub fn new(layout: Layout, cardinalities: Vec<usize>, rules: Vec<Rule>, allowed: u64) -> Judge {
        Judge { layout, cardinalities, rules, allowed }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn into_rules(self) -> Vec<Rule> {
        self.rules
    }

    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// The weakest behavior among all guarantees.
    pub fn on_merge(&self) -> OnMerge {
        let all = self.rules.iter().flat_map(|rule| &rule.guarantees);
        all.map(|guarantee| guarantee.on_merge()).min().unwrap_or(OnMerge::Absorbing)
    }

    pub fn judge<const W: usize>(&self, set: &FrequencySet<W>) -> Verdict {
        let groupings = self.groupings(set);
        let nothing_suppressed = vec![true; set.len()];
        let (core_suppressed, core_kept) = match self.rows_needed_by_each_entry(&groupings) {
            Some(rows) => by_size(set, rows),
            None => self.settle(set, &groupings, nothing_suppressed.clone(), true),
        };
        let rows = set.rows();
        let too_many = |suppressed: u64| suppressed > self.allowed || suppressed >= rows;
        if too_many(core_suppressed) || self.on_merge() == OnMerge::Absorbing {
            let kept = (!too_many(core_suppressed)).then_some(core_kept);
            return Verdict { core_suppressed, suppressed: core_suppressed, kept };
        }
        // Where classes do not depend on one another, what breaks its core is out in the first
        // round anyway.
        let start = if self.classes_are_independent(&groupings) { core_kept } else { nothing_suppressed };
        let (suppressed, kept) = self.settle(set, &groupings, start, false);
        Verdict { core_suppressed, suppressed, kept: (!too_many(suppressed)).then_some(kept) }
    }

    /// Whether suppressing one class changes nothing for the others: then one look at each is
    /// enough.
    fn classes_are_independent(&self, groupings: &[(Vec<usize>, Option<Classes>)]) -> bool {
        groupings.len() == 1 && !self.rules.iter().any(Rule::compares_with_table)
    }

    /// Where every entry is a class of its own and the cores require nothing but rows: how many.
    fn rows_needed_by_each_entry(&self, groupings: &[(Vec<usize>, Option<Classes>)]) -> Option<u64> {
        let cores = || self.rules.iter().flat_map(|rule| &rule.guarantees).map(|guarantee| guarantee.core());
        let of_entries = groupings.iter().all(|(_, grouping)| grouping.is_none());
        let more = self.rules.iter().flat_map(|rule| &rule.guarantees).any(|guarantee| guarantee.core_is_more());
        (of_entries && !more && cores().all(|core| core.distinct <= 1))
            .then(|| cores().map(|core| core.rows).max().unwrap_or(0))
    }

    /// Suppresses failing classes, all rules at once, until none fails or more than the allowed
    /// rows are out.
    fn settle<const W: usize>(
        &self,
        set: &FrequencySet<W>,
        groupings: &[(Vec<usize>, Option<Classes>)],
        mut kept: Vec<bool>,
        cores_only: bool,
    ) -> (u64, Vec<bool>) {
        let mut suppressed = suppressed_rows(set, &kept);
        // Cores look at a class alone, so that only several groupings make them depend on one
        // another.
        let one_look = groupings.len() == 1 && (cores_only || self.classes_are_independent(groupings));
        loop {
            let mut failed_entries: Vec<usize> = Vec::new();
            for rule in &self.rules {
                let grouping = groupings.iter().find(|(know, _)| *know == rule.know).and_then(|(_, g)| g.as_ref());
                let classes = self.class_table(set, rule, grouping, &kept);
                let failed = self.failed_classes(set, rule, &classes, &kept, cores_only);
                if failed.iter().any(|&fails| fails) {
                    failed_entries.extend((0..set.len()).filter(|&entry| {
                        kept[entry] && failed[grouping.map_or(entry, |grouping| grouping.of_entry[entry] as usize)]
                    }));
                }
            }
            if failed_entries.is_empty() {
                return (suppressed, kept);
            }
            for entry in failed_entries {
                if std::mem::replace(&mut kept[entry], false) {
                    suppressed += u64::from(set.counts()[entry]);
                }
            }
            if suppressed > self.allowed || one_look {
                return (suppressed, kept);
            }
        }
    }

    /// For every class whether the rule fails there; classes without rows never fail.
    fn failed_classes<const W: usize>(
        &self,
        set: &FrequencySet<W>,
        rule: &Rule,
        classes: &ClassTable,
        kept: &[bool],
        cores_only: bool,
    ) -> Vec<bool> {
        let mut failed = vec![false; classes.rows.len()];
        if cores_only {
            let core = rule.guarantees.iter().map(|guarantee| guarantee.core()).fold(
                Absorbing { rows: 0, distinct: 0 },
                |all, core| Absorbing { rows: all.rows.max(core.rows), distinct: all.distinct.max(core.distinct) },
            );
            fail(classes, &mut failed, |class| core.holds(class));
            for guarantee in rule.guarantees.iter().filter(|guarantee| guarantee.core_is_more()) {
                debug_assert_eq!(guarantee.on_merge(), OnMerge::Absorbing);
                fail(classes, &mut failed, |class| guarantee.holds(class, &Distribution::default()));
            }
            return failed;
        }
        let released = self.released(set, rule, kept);
        for guarantee in &rule.guarantees {
            if let Some(source) = rule.source.as_ref().filter(|_| guarantee.compares_with_table()) {
                fail(classes, &mut failed, |class| guarantee.holds(class, source));
            }
            fail(classes, &mut failed, |class| guarantee.holds(class, &released));
        }
        failed
    }

    /// The distribution of the rule's protected attribute over the rows that are left.
    fn released<const W: usize>(&self, set: &FrequencySet<W>, rule: &Rule, kept: &[bool]) -> Distribution {
        let (Some(protect), true) = (rule.protect, rule.compares_with_table()) else { return Distribution::default() };
        let field = self.layout.field(protect);
        let mut counts = vec![0u64; self.cardinalities[protect]];
        for ((key, &count), _) in set.keys().iter().zip(set.counts()).zip(kept).filter(|(_, kept)| **kept) {
            counts[field.get(key) as usize] += u64::from(count);
        }
        Distribution::new(counts, rule.tree.as_ref())
    }

    /// One grouping per different `know`; none where every entry is a class of its own.
    fn groupings<const W: usize>(&self, set: &FrequencySet<W>) -> Vec<(Vec<usize>, Option<Classes>)> {
        let mut groupings: Vec<(Vec<usize>, Option<Classes>)> = Vec::new();
        for rule in &self.rules {
            if groupings.iter().all(|(know, _)| *know != rule.know) {
                let everything = (0..self.cardinalities.len()).all(|attribute| rule.know.contains(&attribute));
                let mask = self.layout.mask_of::<W>(rule.know.iter().copied());
                groupings.push((rule.know.clone(), (!everything).then(|| set.classes(&mask))));
            }
        }
        groupings
    }

    fn class_table<const W: usize>(
        &self,
        set: &FrequencySet<W>,
        rule: &Rule,
        grouping: Option<&Classes>,
        kept: &[bool],
    ) -> ClassTable {
        let class_of = |entry: usize| grouping.map_or(entry, |grouping| grouping.of_entry[entry] as usize);
        let classes = grouping.map_or(set.len(), |grouping| grouping.sizes.len());
        let mut rows = vec![0u64; classes];
        let entries = || (0..set.len()).filter(|&entry| kept[entry]);
        for entry in entries() {
            rows[class_of(entry)] += u64::from(set.counts()[entry]);
        }
        let (Some(protect), true) = (rule.protect, rule.needs_values()) else {
            return ClassTable { rows, starts: Vec::new(), values: Vec::new() };
        };
        // A counting sort by class, then by value within each class.
        let field = self.layout.field(protect);
        let mut next = vec![0u32; classes + 1];
        for entry in entries() {
            next[class_of(entry) + 1] += 1;
        }
        for class in 0..classes {
            next[class + 1] += next[class];
        }
        let bounds = next.clone();
        let mut sorted = vec![(0u32, 0u32); bounds[classes] as usize];
        for entry in entries() {
            let place = &mut next[class_of(entry)];
            sorted[*place as usize] = (field.get(&set.keys()[entry]), set.counts()[entry]);
            *place += 1;
        }
        let mut starts = Vec::with_capacity(classes + 1);
        let mut values: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        starts.push(0);
        for class in 0..classes {
            let cells = &mut sorted[bounds[class] as usize..bounds[class + 1] as usize];
            cells.sort_unstable_by_key(|&(code, _)| code);
            let first = values.len();
            for &(code, count) in cells.iter() {
                match values[first..].last_mut() {
                    Some(last) if last.0 == code => last.1 += count,
                    _ => values.push((code, count)),
                }
            }
            starts.push(values.len() as u32);
        }
        ClassTable { rows, starts, values }
    }

    /// For every rule and guarantee, the worst measures over the classes of the kept rows, against
    /// the released rows and, where there is one, the source.
    pub fn achieved<const W: usize>(&self, set: &FrequencySet<W>, kept: &[bool]) -> Vec<Vec<Achieved>> {
        let groupings = self.groupings(set);
        self.rules
            .iter()
            .map(|rule| {
                let grouping = groupings.iter().find(|(know, _)| *know == rule.know).and_then(|(_, g)| g.as_ref());
                let classes = self.class_table(set, rule, grouping, kept);
                let released = self.released(set, rule, kept);
                let achieve = |guarantee: &dyn Guarantee| achieved_by(guarantee, rule, &classes, &released);
                rule.guarantees.iter().map(|guarantee| achieve(guarantee.as_ref())).collect()
            })
            .collect()
    }
}

fn fail(classes: &ClassTable, failed: &mut [bool], holds: impl Fn(Class<'_>) -> bool) {
    for (index, failed) in failed.iter_mut().enumerate() {
        *failed |= classes.rows[index] > 0 && !holds(classes.class(index));
    }
}

/// What one guarantee achieves over all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Achieved {
    pub measures: Vec<Measure>,
    pub holds: bool,
    /// Rows in classes that fail.
    pub failing_rows: u64,
}

fn achieved_by(guarantee: &dyn Guarantee, rule: &Rule, classes: &ClassTable, released: &Distribution) -> Achieved {
    let source = rule.source.as_ref().filter(|_| guarantee.compares_with_table());
    let occupied = (0..classes.rows.len()).filter(|&index| classes.rows[index] > 0);
    achieved_over(guarantee, source, released, occupied.map(|index| classes.class(index)))
}

/// What one guarantee achieves over some classes, against the released rows' distribution and,
/// where there is one, the source's.
pub fn achieved_over<'c>(
    guarantee: &dyn Guarantee,
    source: Option<&Distribution>,
    released: &Distribution,
    classes: impl Iterator<Item = Class<'c>>,
) -> Achieved {
    let mut achieved = Achieved { measures: Vec::new(), holds: true, failing_rows: 0 };
    for class in classes {
        let mut holds = true;
        for table in source.into_iter().chain([released]) {
            holds &= guarantee.holds(class, table);
            let measures = guarantee.measure(class, table);
            achieved.measures = if achieved.measures.is_empty() {
                measures
            } else {
                achieved.measures.iter().zip(measures).map(|(worst, here)| worst.worse(here)).collect()
            };
        }
        if !holds {
            achieved.holds = false;
            achieved.failing_rows += class.rows;
        }
    }
    achieved
}

/// Leaves out the entries of fewer rows than needed.
fn by_size<const W: usize>(set: &FrequencySet<W>, rows: u64) -> (u64, Vec<bool>) {
    let kept: Vec<bool> = set.counts().iter().map(|&count| u64::from(count) >= rows).collect();
    (suppressed_rows(set, &kept), kept)
}

fn suppressed_rows<const W: usize>(set: &FrequencySet<W>, kept: &[bool]) -> u64 {
    set.counts().iter().zip(kept).filter(|(_, kept)| !**kept).map(|(&count, _)| u64::from(count)).sum()
}
