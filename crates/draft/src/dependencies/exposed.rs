//! The people whom a draft exposes once its classes are divided by what follows from what is known.
//!
//! The rows of a draft are those of the source, so that each is judged by itself: an attacker who
//! believes a dependency is wrong about the rows that deviate from it, and finds the others. A row
//! is exposed when the rows that agree with it on what is known, and on all that follows for it,
//! break the rule. Where rows belong to units, units are counted, and a unit is taken to follow a
//! dependency when one of its rows does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hashbrown::HashMap;
use hedgerow_policy::{Method, Rule};
use hedgerow_release::LabelReader;
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Column, Domain, Table, TableError};
use hedgerow_verify::check::NamedRule;
use hedgerow_verify::closure::{JudgedRows, RowFitting, UnitsJudged, failing_people, failing_rows, failing_units};

use super::narrowed::{NarrowedValues, numbered};
use super::{Dependencies, Known};
use crate::bind::Bound;
use crate::draft::{Draft, DraftContent};
use crate::rows::ReleasedColumn;

/// Sets of dependencies that rows follow, and that are looked at one by one. Rows of other sets are
/// taken to follow all.
const SETS_MAX: usize = 32;

/// The sides of a dependency.
type DependencySides = (Vec<String>, String);

/// The rows of a draft, in the order of the source.
pub(super) struct DraftRows<'a> {
    bound: &'a Bound<'a>,
    columns: &'a [ReleasedColumn<'a>],
    codebook: &'a Codebook,
    /// The rows of the source that are released.
    kept: Vec<u32>,
    /// The unit of each released row, and how many units there are.
    units: Option<(Vec<u32>, usize)>,
    /// The values that cells leave, by the sides of the dependency.
    left: RefCell<HashMap<DependencySides, Option<Rc<NarrowedValues>>>>,
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
        let DraftContent::Columns { columns, kept } = &draft.tables.first()?.content else { return None };
        let rows = 0..bound.table.rows as u32;
        let kept: Vec<u32> = match kept {
            Some(kept) => rows.filter(|&row| kept[row as usize]).collect(),
            None => rows.collect(),
        };
        let of_kept = |of_row: &[u32]| kept.iter().map(|&row| of_row[row as usize]).collect();
        let units = bound.units().map(|units| (of_kept(&units.of_row), units.count));
        Some(DraftRows { bound, columns, codebook: &draft.codebook, kept, units, left: RefCell::default() })
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

    /// The values of a known attribute that the other cells of each row leave.
    fn left(&self, known: &Known) -> Option<Rc<NarrowedValues>> {
        let sides = (known.from.clone(), known.to.clone());
        let mut found = self.left.borrow_mut();
        let left = found.entry(sides).or_insert_with(|| {
            let (table, columns) = (self.bound.table, self.columns);
            NarrowedValues::of(table, columns, self.codebook, &self.kept, known).map(Rc::new)
        });
        left.clone()
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
                let left = self.left(known);
                let rows = of_row.iter_mut().zip(left.iter().flat_map(|left| left.conforming()));
                rows.filter(|(_, conforming)| *conforming).for_each(|(set, _)| *set |= bit);
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
        let mut failing = self.failing_in_all(rule, also)?;
        let labels = LabelReader::Codebook(self.codebook);
        for (name, values) in &rule.only_where {
            let Some(column) = self.columns.iter().find(|column| column.name == name) else { continue };
            let codes = 0..column.values();
            let concerned: Vec<bool> =
                codes.map(|code| labels.may_stand_for(name, &column.text(code), values)).collect();
            let of_rows = self.kept.iter().map(|&row| concerned[column.codes.get(row as usize) as usize]);
            failing.iter_mut().zip(of_rows).for_each(|(fails, concerned)| *fails &= concerned);
        }
        Ok(failing)
    }

    /// The same, as if the rule were about every class.
    fn failing_in_all<'n>(
        &self,
        rule: &'n Rule,
        also: impl Iterator<Item = &'n Known>,
    ) -> Result<Vec<bool>, TableError> {
        let mut known: Vec<(Codes, usize)> = rule.know.iter().filter_map(|name| self.seen(name)).collect();
        let (shows, follows): (Vec<&Known>, Vec<&Known>) = also.partition(|also| also.shows);
        known.extend(follows.iter().filter_map(|also| self.seen(&also.to)));
        let left: Vec<Rc<NarrowedValues>> = shows.iter().filter_map(|also| self.left(also)).collect();
        let (exact, left): (Vec<Rc<NarrowedValues>>, Vec<Rc<NarrowedValues>>) =
            left.into_iter().partition(|left| left.is_exact());
        known.extend(
            exact.iter().map(|left| (Codes::from_iter(left.sets.len(), left.of_row.iter().copied()), left.sets.len())),
        );
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
            only_where: Default::default(),
        };
        let known: Vec<(&Codes, usize)> = known.iter().map(|(codes, values)| (codes, *values)).collect();
        let protect = protect.as_ref().map(|(codes, domain)| (codes, *domain));
        let judged = JudgedRows { known: &known, protect, rows: self.kept.len(), counts: None };
        let place = self.bound.policy.path.display().to_string();
        let linked = self.bound.policy.publish.link;
        let units = self.units.as_ref();
        let units = units.map(|(of_row, count)| UnitsJudged { of_row, count: *count, rows: rule.rows, linked });
        match (left.is_empty(), units) {
            (true, None) => failing_rows(&judged, &named, &place),
            (true, Some(units)) => failing_units(&judged, &named, units, &place),
            (false, None) => {
                let kinds = ExposedKinds::new(&left, self.kept.len());
                let fits = |person: u32, row: u32| kinds.fit(person, row);
                let fitting = RowFitting { person: &kinds.person, row: &kinds.row, fits: &fits };
                failing_people(&judged, fitting, &named, &place)
            }
            (false, Some(units)) => {
                let kinds = ExposedKinds::new(&left, self.kept.len());
                kinds.failing_units(&judged, &named, units, &place)
            }
        }
    }
}

/// People by their values, and rows by the values that they are left.
struct ExposedKinds<'a> {
    left: &'a [Rc<NarrowedValues>],
    person: Vec<u32>,
    row: Vec<u32>,
    people: Vec<Vec<u32>>,
    rows: Vec<Vec<u32>>,
}

/// Kinds of people that are looked at one by one where rows belong to units. Beyond, rows that are
/// left other values count as other classes.
const UNIT_KINDS_MAX: usize = 64;

impl<'a> ExposedKinds<'a> {
    fn new(left: &'a [Rc<NarrowedValues>], rows: usize) -> ExposedKinds<'a> {
        let (person, people) = numbered(rows, left.len(), |row, place| left[place].own[row]);
        let (row, rows) = numbered(rows, left.len(), |row, place| left[place].of_row[row]);
        ExposedKinds { left, person, row, people, rows }
    }

    fn fit(&self, person: u32, row: u32) -> bool {
        let values = self.people[person as usize].iter().zip(&self.rows[row as usize]);
        self.left.iter().zip(values).all(|(left, (&value, &set))| left.leaves(set, value))
    }

    fn failing_units(
        &self,
        judged: &JudgedRows<'_>,
        named: &NamedRule,
        units: UnitsJudged<'_>,
        place: &str,
    ) -> Result<Vec<bool>, TableError> {
        let divided_by = |codes: &Codes, values: usize| {
            let known: Vec<(&Codes, usize)> = judged.known.iter().copied().chain([(codes, values)]).collect();
            let judged =
                JudgedRows { known: &known, protect: judged.protect, rows: judged.rows, counts: judged.counts };
            failing_units(&judged, named, units, place)
        };
        if self.people.len() > UNIT_KINDS_MAX {
            return divided_by(&Codes::from_iter(self.rows.len(), self.row.iter().copied()), self.rows.len());
        }
        let mut failing = vec![false; units.count];
        for kind in 0..self.people.len() as u32 {
            let fits = self.row.iter().map(|&row| u32::from(self.fit(kind, row)));
            let found = divided_by(&Codes::from_iter(2, fits), 2)?;
            // Units of this kind, by the rows that follow the dependency.
            for (row, &unit) in units.of_row.iter().enumerate() {
                let own = self.person[row] == kind && self.fit(kind, self.row[row]);
                failing[unit as usize] |= own && found[unit as usize];
            }
        }
        Ok(failing)
    }
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
    pub fn refuse_exposed_people(&self, bound: &Bound<'_>, draft: &Draft<'_>) -> Result<(), TableError> {
        if self.known.is_empty() {
            return Ok(());
        }
        let Some(rows) = DraftRows::new(bound, draft) else { return Ok(()) };
        let is_released = |name: &str| rows.columns.iter().any(|column| column.name == name);
        let rules = bound.policy.rules.iter().map(|rule| (rule, rule.know.as_slice(), rule.protect.as_ref()));
        self.refuse_worst(bound.policy, rules, is_released, |rule, follows| rows.exposed(rule, follows))
    }
}
