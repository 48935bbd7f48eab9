//! How rules are judged: which rows of a frequency set must be suppressed so that every rule holds
//! for the rest.
//!
//! A rule looks at the classes over its own `know` attributes; a class that fails is suppressed.
//! Rules with different `know`, and models that compare with the released rows, can break when rows
//! are suppressed for another reason, so this is repeated, all rules at once, until nothing
//! changes.
//!
//! Next to the verdict stands how many rows are suppressed at least, here and on every finer level.
//! Let S be the rows that a finer node keeps.
//! - *Absorbing cores.* Every class of S meets its core there. On a coarser level the classes of S
//!   are unions of classes that meet it, so S meets it here too; and the union of two such sets is
//!   one. So S lies in the largest set that meets the cores here.
//! - *Parts.* What S keeps of a class here is a union of classes that hold, and has no more rows
//!   than [`Guarantee::kept_at_most`] says.
//!
//! Both hold with suppression and with several `know`.
//!
//! Entries are rows that agree on everything that some rule knows; what rules only protect stands
//! beside them ([`ValueCounts`]), and is looked at last: most levels fail by their number of rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_table::frequency::{Classes, FrequencySet, Layout, ValueCounts};
use hedgerow_table::{Codes, parallel};

pub use crate::achieved::{Achieved, achieved_over};
use crate::guarantee::ValuesNeeded;
pub use crate::rule::BoundRule;
use crate::units::UnitTerms;
use crate::{Class, Distribution, Guarantee, OnMerge};

#[derive(Debug)]
pub struct Judge {
    /// With fields for what some rule knows, and for the first attributes.
    layout: Layout,
    pub(crate) cardinalities: Vec<usize>,
    pub(crate) rules: Vec<BoundRule>,
    /// Rows that may be suppressed.
    allowed: u64,
    /// How units are judged, where rows belong to units.
    pub(crate) units: Option<UnitTerms>,
    /// The rule by which the last levels failed, looked at first. Says nothing about the verdict.
    failed_last: AtomicUsize,
}

/// The result of judging a frequency set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// No finer levels suppress fewer rows, nor do these.
    pub at_least: u64,
    /// Rows suppressed in all; meaningful when `kept` is present.
    pub suppressed: u64,
    /// The entries that stay, when no more than the allowed rows are suppressed and some rows stay.
    pub kept: Option<Vec<bool>>,
}

/// A table as it is judged: rows distinguished by what rules know, and beside them what is
/// protected.
#[derive(Debug)]
pub struct Finest<const W: usize> {
    pub set: FrequencySet<W>,
    /// By attribute.
    pub protected: Vec<Option<ValueCounts>>,
    /// The levels of the first attributes; 0 of the others.
    levels: Vec<u8>,
}

impl<const W: usize> Finest<W> {
    /// Says on which levels the first attributes were counted: their values, when it is not said.
    pub fn on_levels(self, levels: &[u8]) -> Finest<W> {
        Finest { levels: levels.to_vec(), ..self }
    }

    /// Every entry is its own.
    fn places(&self) -> Vec<u32> {
        (0..self.set.len() as u32).collect()
    }
}

/// A frequency set with what is protected beside it.
struct Seen<'a, const W: usize> {
    set: &'a FrequencySet<W>,
    /// One grouping per different `know`; none where every entry is a class of its own.
    groupings: Vec<(Vec<usize>, Option<Classes>)>,
    /// By attribute, over the entries of the finest set.
    protected: &'a [Option<ValueCounts>],
    /// The entry of each entry of the finest set.
    places: Vec<u32>,
    levels: &'a [u8],
}

impl<const W: usize> Seen<'_, W> {
    fn grouping(&self, rule: &BoundRule) -> Option<&Classes> {
        self.groupings.iter().find(|(know, _)| *know == rule.know).and_then(|(_, grouping)| grouping.as_ref())
    }

    /// The class of each entry of the finest set; none where it is not kept.
    fn class_of_base(&self, grouping: Option<&Classes>, kept: &[bool]) -> Vec<u32> {
        let class_of = |entry: u32| grouping.map_or(entry, |grouping| grouping.of_entry[entry as usize]);
        let of_entry: Vec<u32> =
            (0u32..).zip(kept).map(|(entry, &kept)| if kept { class_of(entry) } else { NONE }).collect();
        self.places.iter().map(|&place| of_entry[place as usize]).collect()
    }
}

/// The class of rows that are not kept.
const NONE: u32 = u32::MAX;

/// Fails the classes with too few different values. Nothing but the last value of every class is
/// kept in mind.
fn count_values(values: &ValueCounts, needed: ValuesNeeded, class_of_base: &[u32], lost: &mut Lost) {
    // The number of values so far, and the last one.
    let mut found = vec![(0u64, u32::MAX); lost.sizes.len()];
    for (code, entries, _) in values.iter().filter(|(code, ..)| Some(*code) != needed.missing) {
        for &entry in entries {
            if let Some((values, last)) = found.get_mut(class_of_base[entry as usize] as usize) {
                *values += u64::from(*last != code);
                *last = code;
            }
        }
    }
    for (class, _) in found.into_iter().enumerate().filter(|(_, (values, _))| *values < needed.values) {
        let rows = lost.sizes[class];
        lost.fail(class, rows);
        lost.lose(class, rows);
    }
}

/// The classes of one rule among the entries that are left: rows and protected values of each.
struct ClassTable {
    rows: Vec<u64>,
    /// Where the values of each class lie.
    bounds: Vec<(u32, u32)>,
    values: Vec<(u32, u32)>,
    /// Whether the rule is about each class; about all, when empty.
    concerned: Vec<bool>,
}

impl ClassTable {
    fn class(&self, index: usize) -> Class<'_> {
        let values = match self.bounds.get(index) {
            Some(&(start, end)) => &self.values[start as usize..end as usize],
            None => &[],
        };
        Class { rows: self.rows[index], values }
    }

    /// The classes that have rows, and that the rule is about.
    fn judged(&self) -> impl Iterator<Item = usize> {
        let concerned = move |index: &usize| self.concerned.get(*index).copied().unwrap_or(true);
        (0..self.rows.len()).filter(move |&index| self.rows[index] > 0).filter(concerned)
    }
}

/// For every class of the finest grouping: what it loses at least, and whether it fails.
struct Lost {
    sizes: Vec<u64>,
    rows: Vec<u64>,
    fails: Vec<bool>,
    at_least: u64,
    suppressed: u64,
}

impl Lost {
    fn lose(&mut self, class: usize, rows: u64) {
        let more = rows.saturating_sub(self.rows[class]);
        self.rows[class] += more;
        self.at_least += more;
    }

    fn fail(&mut self, class: usize, rows: u64) {
        if !std::mem::replace(&mut self.fails[class], true) {
            self.suppressed += rows;
        }
    }
}

impl Judge {
    /// Rows that differ in the first `quasi` attributes, or in what some rule knows, are
    /// distinguished. `None` when these are too many.
    pub fn new(cardinalities: Vec<usize>, quasi: usize, rules: Vec<BoundRule>, allowed: u64) -> Option<Judge> {
        let is_known = |attribute: usize| attribute < quasi || rules.iter().any(|rule| rule.know.contains(&attribute));
        let layout = Layout::of(&cardinalities, is_known)?;
        Some(Judge { layout, cardinalities, rules, allowed, units: None, failed_last: AtomicUsize::new(0) })
    }

    /// By which rows are distinguished.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Counts a table's rows as they are judged.
    pub fn count<const W: usize>(&self, columns: &[&Codes], rows: usize) -> Finest<W> {
        self.count_rows(columns, rows, None)
    }

    /// The same, where each of the rows stands for as many as `counts` says.
    pub fn count_rows<const W: usize>(&self, columns: &[&Codes], rows: usize, counts: Option<&[u32]>) -> Finest<W> {
        let set = match counts {
            Some(counts) => FrequencySet::<W>::of_counted_rows(&self.layout, columns, counts),
            None => FrequencySet::<W>::of_rows(&self.layout, columns, rows),
        };
        let looked_at = |attribute: usize| self.looks_at_values(attribute);
        let mut protected: Vec<Option<ValueCounts>> = vec![None; columns.len()];
        if (0..columns.len()).any(looked_at) {
            let entry_of = set.places_of_rows(&self.layout, columns, rows);
            let by_entry = ValueCounts::rows_by_entry(&entry_of, set.len());
            protected = parallel::map(columns.len(), |attribute| {
                let cardinality = self.cardinalities[attribute];
                let column = columns[attribute];
                looked_at(attribute).then(|| match counts {
                    Some(counts) => ValueCounts::of_counted_rows(column, cardinality, &by_entry, &entry_of, counts),
                    None => ValueCounts::new(column, cardinality, &by_entry, &entry_of),
                })
            });
        }
        Finest { set, protected, levels: Vec::new() }
    }

    /// Whether some rule counts the values of an attribute.
    pub(crate) fn looks_at_values(&self, attribute: usize) -> bool {
        self.rules.iter().any(|rule| rule.protect == Some(attribute) && rule.needs_values())
    }

    pub fn rules(&self) -> &[BoundRule] {
        &self.rules
    }

    pub fn into_rules(self) -> Vec<BoundRule> {
        self.rules
    }

    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// The weakest behavior among all guarantees, over units where rows belong to units.
    pub fn on_merge(&self) -> OnMerge {
        let of_rows = self.on_merge_of_rows();
        self.units.as_ref().map_or(of_rows, |terms| of_rows.min(self.on_merge_of_units(terms)))
    }

    fn on_merge_of_rows(&self) -> OnMerge {
        let all = self.rules.iter().flat_map(|rule| &rule.guarantees);
        all.map(|guarantee| guarantee.on_merge()).min().unwrap_or(OnMerge::Absorbing)
    }

    /// Judges a table as it was counted.
    pub fn judge_counted<const W: usize>(&self, table: &Finest<W>) -> Verdict {
        self.judge(&table.set, &table.protected, &table.levels, || table.places())
    }

    /// Judges a set that was rolled up from the finest one to these levels, beside which
    /// `protected`
    /// stands. `places` tells into which entry each of the finest set's was rolled up, and is asked
    /// only
    /// where values decide.
    pub fn judge<const W: usize>(
        &self,
        set: &FrequencySet<W>,
        protected: &[Option<ValueCounts>],
        levels: &[u8],
        places: impl FnOnce() -> Vec<u32>,
    ) -> Verdict {
        let groupings = self.groupings(set);
        let (suppressed, kept) = self.by_size(set, &groupings);
        let fails = |suppressed: u64| suppressed > self.allowed || suppressed >= set.rows();
        if fails(suppressed) {
            return Verdict { at_least: suppressed, suppressed, kept: None };
        }
        if groupings.len() <= 1 && self.rules.iter().all(BoundRule::is_about_rows) {
            return Verdict { at_least: suppressed, suppressed, kept: Some(kept) };
        }
        let independent = groupings.len() == 1 && !self.rules.iter().any(BoundRule::compares_with_table);
        let seen = Seen { set, groupings, protected, places: places(), levels };
        if independent {
            return self.judge_each_class(&seen, kept);
        }
        let (core_suppressed, core_kept) = self.settle(&seen, kept, true);
        let at_least = core_suppressed + self.lost_by_parts(&seen, &core_kept);
        if fails(at_least) || self.on_merge_of_rows() == OnMerge::Absorbing {
            let kept = (!fails(at_least)).then_some(core_kept);
            return Verdict { at_least, suppressed: at_least, kept };
        }
        let (suppressed, kept) = self.settle(&seen, vec![true; set.len()], false);
        Verdict { at_least, suppressed, kept: (!fails(suppressed)).then_some(kept) }
    }

    /// The rows that classes of too few rows suppress.
    fn by_size<const W: usize>(
        &self,
        set: &FrequencySet<W>,
        groupings: &[(Vec<usize>, Option<Classes>)],
    ) -> (u64, Vec<bool>) {
        let mut kept = vec![true; set.len()];
        for (know, grouping) in groupings {
            let rules = self.rules.iter().filter(|rule| rule.know == *know);
            let needed = rules.map(|rule| rule.core().rows).max().unwrap_or(0);
            let enough = |rows: u32| u64::from(rows) >= needed;
            match grouping {
                None => kept.iter_mut().zip(set.counts()).for_each(|(kept, &rows)| *kept &= enough(rows)),
                Some(classes) => {
                    let of_entries = kept.iter_mut().zip(&classes.of_entry);
                    of_entries.for_each(|(kept, &class)| *kept &= enough(classes.sizes[class as usize]));
                }
            }
        }
        (suppressed_rows(set, &kept), kept)
    }

    /// Where suppressing one class changes nothing for the others, each is looked at once; classes
    /// of too few rows are out already.
    fn judge_each_class<const W: usize>(&self, seen: &Seen<'_, W>, kept: Vec<bool>) -> Verdict {
        let grouping = seen.groupings[0].1.as_ref();
        let class_of = |entry: usize| grouping.map_or(entry, |grouping| grouping.of_entry[entry] as usize);
        let classes = grouping.map_or(seen.set.len(), |grouping| grouping.sizes.len());
        let (sizes, rows, fails) = (vec![0; classes], vec![0; classes], vec![false; classes]);
        let mut lost = Lost { sizes, rows, fails, at_least: 0, suppressed: 0 };
        for (entry, (&rows, &is_kept)) in seen.set.counts().iter().zip(&kept).enumerate() {
            let rows = u64::from(rows);
            lost.sizes[class_of(entry)] += rows;
            if !is_kept {
                lost.rows[class_of(entry)] += rows;
                lost.fails[class_of(entry)] = true;
                lost.at_least += rows;
                lost.suppressed += rows;
            }
        }
        let failing_from = (self.allowed + 1).min(seen.set.rows());
        let class_of_base = seen.class_of_base(grouping, &kept);
        let first = self.failed_last.load(Ordering::Relaxed).min(self.rules.len());
        let order = (first..self.rules.len()).chain(0..first).filter(|&rule| !self.rules[rule].is_about_rows());
        for number in order {
            let rule = &self.rules[number];
            match rule.protect.and_then(|protect| Some((seen.protected[protect].as_ref()?, rule.values_needed()?))) {
                Some((values, needed)) => count_values(values, needed, &class_of_base, &mut lost),
                None => self.look_at_each_class(seen, rule, &kept, &class_of_base, failing_from, &mut lost),
            }
            if lost.at_least >= failing_from {
                self.failed_last.store(number, Ordering::Relaxed);
                return Verdict { at_least: lost.at_least, suppressed: lost.at_least, kept: None };
            }
        }
        let Lost { fails, at_least, suppressed, .. } = lost;
        let kept = (suppressed < failing_from).then(|| (0..seen.set.len()).map(|entry| !fails[class_of(entry)]));
        Verdict { at_least, suppressed, kept: kept.map(Iterator::collect) }
    }

    /// The rows that one rule suppresses, until the loss fails the levels.
    fn look_at_each_class<const W: usize>(
        &self,
        seen: &Seen<'_, W>,
        rule: &BoundRule,
        kept: &[bool],
        class_of_base: &[u32],
        failing_from: u64,
        lost: &mut Lost,
    ) {
        let table = self.class_table(seen, rule, kept, class_of_base);
        let core = rule.core();
        let bounds_parts = rule.guarantees.iter().any(|guarantee| guarantee.bounds_parts());
        let nothing = Distribution::default();
        for index in table.judged() {
            let class = table.class(index);
            if lost.rows[index] == class.rows {
                continue;
            }
            let core_holds = rule.core_holds(core, class);
            let holds = core_holds && rule.guarantees.iter().all(|guarantee| guarantee.holds(class, &nothing));
            if !holds {
                lost.fail(index, class.rows);
            }
            if !core_holds {
                lost.lose(index, class.rows);
            } else if bounds_parts && !holds {
                lost.lose(index, class.rows - rule.kept_at_most(class));
            }
            if lost.at_least >= failing_from {
                return;
            }
        }
    }

    /// The most that the parts of classes lose by one rule, beyond what is not kept already.
    fn lost_by_parts<const W: usize>(&self, seen: &Seen<'_, W>, kept: &[bool]) -> u64 {
        let bounded = |rule: &&BoundRule| rule.guarantees.iter().any(|guarantee| guarantee.bounds_parts());
        let lost_by = |rule: &BoundRule| {
            let table = self.class_table(seen, rule, kept, &seen.class_of_base(seen.grouping(rule), kept));
            let classes = table.judged().map(|index| table.class(index));
            classes.map(|class| class.rows - rule.kept_at_most(class)).sum()
        };
        self.rules.iter().filter(bounded).map(lost_by).max().unwrap_or(0)
    }

    /// Suppresses failing classes, all rules at once, until none fails or more than the allowed
    /// rows are out.
    fn settle<const W: usize>(&self, seen: &Seen<'_, W>, mut kept: Vec<bool>, cores_only: bool) -> (u64, Vec<bool>) {
        let set = seen.set;
        let mut suppressed = suppressed_rows(set, &kept);
        // Cores look at a class alone, so that only several groupings make them depend on one
        // another.
        let one_look = cores_only && seen.groupings.len() == 1;
        loop {
            let mut failed_entries: Vec<usize> = Vec::new();
            for rule in &self.rules {
                let grouping = seen.grouping(rule);
                let classes = self.class_table(seen, rule, &kept, &seen.class_of_base(grouping, &kept));
                let failed = self.failed_classes(seen, rule, &classes, &kept, cores_only);
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
        seen: &Seen<'_, W>,
        rule: &BoundRule,
        classes: &ClassTable,
        kept: &[bool],
        cores_only: bool,
    ) -> Vec<bool> {
        let mut failed = vec![false; classes.rows.len()];
        if cores_only {
            let core = rule.core();
            fail(classes, &mut failed, |class| rule.core_holds(core, class));
            return failed;
        }
        let released = self.released(seen, rule, kept);
        for guarantee in &rule.guarantees {
            if let Some(source) = rule.source.as_ref().filter(|_| guarantee.compares_with_table()) {
                fail(classes, &mut failed, |class| guarantee.holds(class, source));
            }
            fail(classes, &mut failed, |class| guarantee.holds(class, &released));
        }
        failed
    }

    /// The distribution of the rule's protected attribute over the rows that are left.
    fn released<const W: usize>(&self, seen: &Seen<'_, W>, rule: &BoundRule, kept: &[bool]) -> Distribution {
        let (Some(protect), true) = (rule.protect, rule.compares_with_table()) else { return Distribution::default() };
        let mut counts = vec![0u64; self.cardinalities[protect]];
        for (code, entries, rows) in seen.protected[protect].iter().flat_map(ValueCounts::iter) {
            let of_kept = entries.iter().zip(rows).filter(|(entry, _)| kept[seen.places[**entry as usize] as usize]);
            counts[code as usize] = of_kept.map(|(_, &rows)| u64::from(rows)).sum();
        }
        Distribution::new(counts, rule.tree.as_ref())
    }

    /// One grouping per different `know`; none where every entry is a class of its own.
    pub(crate) fn groupings<const W: usize>(&self, set: &FrequencySet<W>) -> Vec<(Vec<usize>, Option<Classes>)> {
        let mut groupings: Vec<(Vec<usize>, Option<Classes>)> = Vec::new();
        for rule in &self.rules {
            if groupings.iter().all(|(know, _)| *know != rule.know) {
                let mut distinguishing = (0..self.cardinalities.len()).filter(|&attribute| self.layout.has(attribute));
                let everything = distinguishing.all(|attribute| rule.know.contains(&attribute));
                let mask = self.layout.mask_of::<W>(rule.know.iter().copied());
                groupings.push((rule.know.clone(), (!everything).then(|| set.classes(&mask))));
            }
        }
        groupings
    }

    fn class_table<const W: usize>(
        &self,
        seen: &Seen<'_, W>,
        rule: &BoundRule,
        kept: &[bool],
        class_of_base: &[u32],
    ) -> ClassTable {
        let (set, grouping) = (seen.set, seen.grouping(rule));
        let class_of = |entry: usize| grouping.map_or(entry, |grouping| grouping.of_entry[entry] as usize);
        let classes = grouping.map_or(set.len(), |grouping| grouping.sizes.len());
        let mut rows = vec![0u64; classes];
        for entry in (0..set.len()).filter(|&entry| kept[entry]) {
            rows[class_of(entry)] += u64::from(set.counts()[entry]);
        }
        let mut concerned = Vec::new();
        if !rule.concerned.is_empty() {
            concerned = vec![false; classes];
            for (entry, key) in set.keys().iter().enumerate() {
                concerned[class_of(entry)] =
                    rule.is_about(seen.levels, |attribute| self.layout.field(attribute).get(key));
            }
        }
        let protect = rule.protect.filter(|_| rule.needs_values());
        let Some(values) = protect.and_then(|protect| seen.protected[protect].as_ref()) else {
            return ClassTable { rows, bounds: Vec::new(), values: Vec::new(), concerned };
        };
        // A counting sort by class keeps the order of the values.
        let mut bounds = vec![(0u32, 0u32); classes];
        for &entry in values.entries() {
            if let Some((_, occurrences)) = bounds.get_mut(class_of_base[entry as usize] as usize) {
                *occurrences += 1;
            }
        }
        let mut before = 0;
        for bounds in &mut bounds {
            let occurrences = bounds.1;
            *bounds = (before, before);
            before += occurrences;
        }
        let mut sorted = vec![(0u32, 0u32); before as usize];
        for (code, entries, counts) in values.iter() {
            for (&entry, &count) in entries.iter().zip(counts) {
                let Some((start, end)) = bounds.get_mut(class_of_base[entry as usize] as usize) else { continue };
                if *start < *end && sorted[*end as usize - 1].0 == code {
                    sorted[*end as usize - 1].1 += count;
                } else {
                    sorted[*end as usize] = (code, count);
                    *end += 1;
                }
            }
        }
        ClassTable { rows, bounds, values: sorted, concerned }
    }

    /// For every rule and guarantee, the worst measures over the classes of a table, against its
    /// own distribution and, where there is one, the source's.
    pub fn achieved<const W: usize>(&self, table: &Finest<W>) -> Vec<Vec<Achieved>> {
        self.achieved_among(table, &vec![true; table.set.len()])
    }

    /// [`Self::achieved`] over some entries of a table.
    pub fn achieved_among<const W: usize>(&self, table: &Finest<W>, among: &[bool]) -> Vec<Vec<Achieved>> {
        let (set, groupings) = (&table.set, self.groupings(&table.set));
        let (protected, places) = (&table.protected, table.places());
        let seen = Seen { set, groupings, protected, places, levels: &table.levels };
        parallel::map(self.rules.len(), |index| {
            let rule = &self.rules[index];
            let classes = self.class_table(&seen, rule, among, &seen.class_of_base(seen.grouping(rule), among));
            let released = self.released(&seen, rule, among);
            let achieve = |guarantee: &dyn Guarantee| achieved_by(guarantee, rule, &classes, &released);
            rule.guarantees.iter().map(|guarantee| achieve(guarantee.as_ref())).collect()
        })
    }
}

fn fail(classes: &ClassTable, failed: &mut [bool], holds: impl Fn(Class<'_>) -> bool) {
    for index in classes.judged() {
        failed[index] |= !holds(classes.class(index));
    }
}

fn achieved_by(guarantee: &dyn Guarantee, rule: &BoundRule, classes: &ClassTable, released: &Distribution) -> Achieved {
    let source = rule.source.as_ref().filter(|_| guarantee.compares_with_table());
    achieved_over(guarantee, source, released, classes.judged().map(|index| classes.class(index)))
}

fn suppressed_rows<const W: usize>(set: &FrequencySet<W>, kept: &[bool]) -> u64 {
    set.counts().iter().zip(kept).filter(|(_, kept)| !**kept).map(|(&count, _)| u64::from(count)).sum()
}
