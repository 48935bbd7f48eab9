//! Whom a draft exposes once its classes are divided by what follows from what is known.
//!
//! The rows of a draft are those of the source, so that each is judged by itself: an attacker who
//! believes a dependency is wrong about the rows that deviate from it, and finds the others. A row
//! is exposed when the rows that agree with it on what is known, and on all that follows for it,
//! break the rule. Where rows belong to units, units are counted, and a unit is taken to follow a
//! dependency when one of its rows does.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hedgerow_policy::{Method, Rule};
use hedgerow_table::{Codes, Column, Domain, Table, TableError};
use hedgerow_verify::check::NamedRule;
use hedgerow_verify::closure::{Judged, UnitsJudged, failing_rows, failing_units};

use super::{Dependencies, Known};
use crate::bind::Bound;
use crate::draft::{Content, Draft};
use crate::rows::ReleasedColumn;

/// Sets of dependencies that rows follow, and that are looked at one by one. Rows of other sets are
/// taken to follow all.
const SETS_MAX: usize = 32;

/// The rows of a draft, in the order of the source.
pub(super) struct DraftRows<'a> {
    bound: &'a Bound<'a>,
    columns: &'a [ReleasedColumn<'a>],
    /// The rows of the source that are released.
    kept: Vec<u32>,
    /// The unit of each released row, and how many units there are.
    units: Option<(Vec<u32>, usize)>,
}

/// The value of a known attribute that the other cells of each released row show.
struct ShownColumn {
    codes: Codes,
    values: usize,
    /// By row, whether it is the row's own.
    conforming: Vec<bool>,
}

/// Which people a rule no longer protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exposed {
    pub(super) people: u64,
    pub(super) of: u64,
}

impl<'a> DraftRows<'a> {
    /// `None` where rows do not show their attributes beside one another.
    pub(super) fn new(bound: &'a Bound<'a>, draft: &'a Draft<'_>) -> Option<DraftRows<'a>> {
        let method = bound.policy.publish.method;
        if !matches!(method, Method::FullDomain | Method::Mondrian | Method::BestCut | Method::Cluster) {
            return None;
        }
        let Content::Columns { columns, kept } = &draft.tables.first()?.content else { return None };
        let rows = 0..bound.table.rows as u32;
        let kept: Vec<u32> = match kept {
            Some(kept) => rows.filter(|&row| kept[row as usize]).collect(),
            None => rows.collect(),
        };
        let of_kept = |of_row: &[u32]| kept.iter().map(|&row| of_row[row as usize]).collect();
        let units = bound.units().map(|units| (of_kept(&units.of_row), units.count));
        Some(DraftRows { bound, columns, kept, units })
    }

    /// A released column as readers see it: equal labels have equal codes.
    fn seen(&self, name: &str) -> Option<(Codes, usize)> {
        let column = self.columns.iter().find(|column| column.name == name)?;
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut number = Vec::with_capacity(column.values());
        for code in 0..column.values() {
            let next = numbers.len() as u32;
            number.push(*numbers.entry(column.text(code).into_owned()).or_insert(next));
        }
        let codes = self.kept.iter().map(|&row| number[column.codes.get(row as usize) as usize]);
        Some((Codes::from_iter(numbers.len(), codes), numbers.len()))
    }

    /// What the released cells of some attributes show of another one. `None` where they have
    /// become too coarse to show it.
    fn shown(&self, known: &Known) -> Option<ShownColumn> {
        let to = self.bound.table.column(&known.to)?;
        let own: Vec<u32> = self.kept.iter().map(|&row| to.codes.get(row as usize)).collect();
        let mut groups = vec![0u32; own.len()];
        for name in &known.from {
            let (codes, _) = self.seen(name)?;
            let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
            for (group, code) in groups.iter_mut().zip(codes.iter()) {
                let next = numbers.len() as u32;
                *group = *numbers.entry((*group, code)).or_insert(next);
            }
        }
        let mut shown = most_frequent(&groups, &own);
        let deviating = shown.iter().zip(&own).filter(|(shown, own)| shown != own).count() as u64;
        let is_generalized = known.from.iter().any(|name| self.bound.quasi.iter().any(|q| q.attribute.name == *name));
        let tolerance = self.bound.policy.publish.dependency_tolerance;
        if is_generalized && deviating > tolerance.floor_of(own.len() as u64) {
            return None;
        }
        // A label that stands for one value shows that one.
        let (labels, values) = self.seen(&known.to)?;
        let mut one: Vec<Option<u32>> = vec![None; values];
        let mut several = vec![false; values];
        for (label, &own) in labels.iter().zip(&own) {
            several[label as usize] |= *one[label as usize].get_or_insert(own) != own;
        }
        for (shown, label) in shown.iter_mut().zip(labels.iter()).filter(|(_, label)| !several[*label as usize]) {
            *shown = one[label as usize].unwrap_or(*shown);
        }
        let conforming = shown.iter().zip(&own).map(|(shown, own)| shown == own).collect();
        let values = to.domain.cardinality();
        Some(ShownColumn { codes: Codes::from_iter(values, shown), values, conforming })
    }

    fn people(&self) -> u64 {
        match &self.units {
            Some((of_row, units)) => {
                let mut found = vec![false; *units];
                of_row.iter().for_each(|&unit| found[unit as usize] = true);
                found.iter().filter(|found| **found).count() as u64
            }
            None => self.kept.len() as u64,
        }
    }

    /// By person, the dependencies that they follow, as bits in the order given. A declared
    /// dependency is taken at its word.
    fn followed(&self, follows: &[&Known]) -> Vec<u64> {
        let mut of_row = vec![0u64; self.kept.len()];
        for (place, known) in follows.iter().enumerate() {
            let bit = 1u64 << place.min(63);
            if known.shows {
                let shown = self.shown(known);
                let rows = of_row.iter_mut().zip(shown.iter().flat_map(|shown| &shown.conforming));
                rows.filter(|(_, conforming)| **conforming).for_each(|(set, _)| *set |= bit);
                continue;
            }
            match conforming(self.bound.table, known).filter(|_| !known.declared && known.deviating > 0) {
                Some(conforming) => {
                    let rows = of_row.iter_mut().zip(&self.kept);
                    rows.filter(|(_, row)| conforming[**row as usize]).for_each(|(set, _)| *set |= bit);
                }
                None => of_row.iter_mut().for_each(|set| *set |= bit),
            }
        }
        let Some((unit_of_row, units)) = &self.units else { return of_row };
        let mut of_unit = vec![0u64; *units];
        unit_of_row.iter().zip(&of_row).for_each(|(&unit, set)| of_unit[unit as usize] |= set);
        of_unit
    }

    /// The people whom a rule no longer protects once its attacker knows what follows.
    pub(super) fn exposed(&self, rule: &Rule, follows: &[&Known]) -> Result<Exposed, TableError> {
        let followed = self.followed(follows);
        let mut sets: BTreeMap<u64, u64> = BTreeMap::new();
        followed.iter().for_each(|set| *sets.entry(*set).or_insert(0) += 1);
        let mut sets: Vec<(u64, u64)> = sets.into_iter().filter(|(set, _)| *set != 0).collect();
        sets.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let apart: Vec<u64> = sets.iter().take(SETS_MAX).map(|(set, _)| *set).collect();
        let all = (0..follows.len().min(64)).fold(0u64, |all, place| all | 1 << place);
        let looked_at = |set: u64| if set == 0 || apart.contains(&set) { set } else { all };
        let mut people = 0;
        let mut every = apart.clone();
        if sets.len() > apart.len() && !every.contains(&all) {
            every.push(all);
        }
        for set in every {
            let chosen = follows.iter().enumerate().filter(|(place, _)| set >> place.min(&63) & 1 == 1);
            let failing = self.failing(rule, chosen.map(|(_, known)| *known))?;
            let here = failing.iter().zip(&followed).filter(|(failing, own)| **failing && looked_at(**own) == set);
            people += here.count() as u64;
        }
        Ok(Exposed { people, of: self.people() })
    }

    /// The people whom a rule fails for when these attributes are known besides.
    fn failing<'n>(&self, rule: &'n Rule, also: impl Iterator<Item = &'n Known>) -> Result<Vec<bool>, TableError> {
        let mut known: Vec<(Codes, usize)> = rule.know.iter().filter_map(|name| self.seen(name)).collect();
        known.extend(also.filter_map(|also| match also.shows {
            true => self.shown(also).map(|shown| (shown.codes, shown.values)),
            false => self.seen(&also.to),
        }));
        let own = rule.protect.as_ref().and_then(|name| self.bound.table.column(name));
        let protect: Option<(Codes, &Domain)> = own.map(|column| (column.codes.of_rows(&self.kept), &column.domain));
        let named = NamedRule {
            know: rule.know.clone(),
            protect: rule.protect.clone(),
            require: rule.require.clone(),
            tree: rule.protect.as_ref().and_then(|name| self.bound.tree(name)),
            community: None,
            units: None,
            consistent: false,
        };
        let known: Vec<(&Codes, usize)> = known.iter().map(|(codes, values)| (codes, *values)).collect();
        let protect = protect.as_ref().map(|(codes, domain)| (codes, *domain));
        let judged = Judged { known: &known, protect, rows: self.kept.len(), counts: None };
        let place = self.bound.policy.path.display().to_string();
        match &self.units {
            None => failing_rows(&judged, &named, &place),
            Some((of_row, count)) => {
                let linked = self.bound.policy.publish.link;
                failing_units(&judged, &named, UnitsJudged { of_row, count: *count, rows: rule.rows, linked }, &place)
            }
        }
    }
}

/// By row, the most frequent value of its group; among equally frequent ones, the first.
fn most_frequent(groups: &[u32], values: &[u32]) -> Vec<u32> {
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    groups.iter().zip(values).for_each(|(&group, &value)| *counts.entry((group, value)).or_insert(0) += 1);
    let mut most: HashMap<u32, (u32, u32)> = HashMap::new();
    for (&(group, value), &count) in &counts {
        let most = most.entry(group).or_insert((count, value));
        if count > most.0 || (count == most.0 && value < most.1) {
            *most = (count, value);
        }
    }
    groups.iter().map(|group| most[group].1).collect()
}

/// By row, whether it has the most frequent value among the rows with the same left side; among
/// equally frequent ones, any.
fn conforming(table: &Table, known: &Known) -> Option<Vec<bool>> {
    let from = known.from.iter().map(|name| table.column(name)).collect::<Option<Vec<&Column>>>()?;
    let to = table.column(&known.to)?;
    let mut groups = vec![0u32; table.rows];
    for column in from {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (group, code) in groups.iter_mut().zip(column.codes.iter()) {
            let next = numbers.len() as u32;
            *group = *numbers.entry((*group, code)).or_insert(next);
        }
    }
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    groups.iter().zip(to.codes.iter()).for_each(|(&group, code)| *counts.entry((group, code)).or_insert(0) += 1);
    let mut most: HashMap<u32, u32> = HashMap::new();
    for (&(group, _), &count) in &counts {
        let most = most.entry(group).or_insert(0);
        *most = count.max(*most);
    }
    Some(groups.iter().zip(to.codes.iter()).map(|(group, code)| counts[&(*group, code)] == most[group]).collect())
}

impl Dependencies {
    /// Refuses a draft whose classes break their rules once they are divided by what follows.
    pub(crate) fn refuse_exposed_people(&self, bound: &Bound<'_>, draft: &Draft<'_>) -> Result<(), TableError> {
        if self.known.is_empty() {
            return Ok(());
        }
        let Some(rows) = DraftRows::new(bound, draft) else { return Ok(()) };
        let is_released = |name: &str| rows.columns.iter().any(|column| column.name == name);
        let rules = bound.policy.rules.iter().map(|rule| (rule, rule.know.as_slice(), rule.protect.as_ref()));
        self.refuse_worst(bound.policy, rules, is_released, |rule, follows| rows.exposed(rule, follows))
    }
}
