//! `consistent = true`: a rule also holds for the rows that fit a person by the combinations of
//! values that can occur.
//!
//! No child has an income, so that the rows with an income in a child's class are not the child's.
//! The rows that fit a person are those of its class that no impossible pair of a known value and a
//! released one excludes; which pairs are impossible is counted in the source ([`Impossible`]). The
//! rule must hold for the rows that fit each person. No release can hide what the pairs alone tell:
//! where they leave a person one protected value, two rows that fit are enough, or the k that the
//! rule requires, and distinct l-diversity needs no more values than they leave.
//!
//! People whose values exclude the same rows are one kind of person, and rows that are excluded for
//! the same people one kind of row: of both there are few, and each class is judged by its kinds.

use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_audit::impossible::Impossible;
use hedgerow_policy::{Method, Policy, Role};
use hedgerow_privacy::{Class, Context, Distribution, Guarantee, Model, OnMerge, Tree, models};
use hedgerow_table::{Codes, Column, InputError};

use crate::bind::Bound;
use crate::error::PublishError;

/// Kinds of people times kinds of rows.
const KINDS_MAX: usize = 1 << 22;

/// The rules of a policy that hold for the rows that fit.
#[derive(Debug)]
pub struct Consistent {
    rules: Vec<FittingRule>,
}

#[derive(Debug)]
struct FittingRule {
    /// Positions among the columns that rules look at.
    know: Vec<usize>,
    protect: Option<usize>,
    guarantees: Vec<Box<dyn Guarantee>>,
    tree: Option<Tree>,
    values: usize,
    kinds: Arc<PeopleKinds>,
    /// By kind of person: how many protected values are left to it without a release.
    open: Vec<u32>,
}

impl Consistent {
    /// `None` where no rule asks for it.
    pub fn new(bound: &Bound<'_>) -> Result<Option<Consistent>, PublishError> {
        let policy = bound.policy;
        if !policy.rules.iter().any(|rule| rule.consistent) {
            return Ok(None);
        }
        refuse(policy)?;
        if bound.row_counts().is_some() {
            refuse_elsewhere(policy, "publishing within a limit of memory that the rows exceed")?;
        }
        let names: Vec<&str> = bound.judged_domains().into_iter().map(|(name, _)| name).collect();
        let position = |name: &String| names.iter().position(|known| *known == name.as_str());
        let shown: Vec<&Column> = policy
            .attributes
            .iter()
            .filter(|attribute| matches!(attribute.role, Role::Sensitive | Role::Plain))
            .filter_map(|attribute| bound.table.column(&attribute.name))
            .collect();
        let mut rules = Vec::new();
        // Most rules are about an attacker who knows the same.
        let mut found: Vec<(&[String], Arc<PeopleKinds>)> = Vec::new();
        for rule in policy.rules.iter().filter(|rule| rule.consistent) {
            let known: Vec<&Column> = rule.know.iter().filter_map(|name| bound.table.column(name)).collect();
            let shown: Vec<&Column> =
                shown.iter().copied().filter(|column| !rule.know.contains(&column.name)).collect();
            let protect = rule.protect.as_ref().and_then(|name| shown.iter().position(|column| column.name == *name));
            let kinds = match found.iter().find(|(know, _)| *know == rule.know.as_slice()) {
                Some((_, kinds)) => Arc::clone(kinds),
                None => Arc::new(PeopleKinds::new(&known, &shown, bound.table.rows).ok_or_else(|| {
                    let problem = "too many combinations of values exclude one another to keep `consistent`";
                    let hint = "release fewer attributes as they are, or coarser values";
                    InputError::new(rule.place.clone(), problem, hint)
                })?),
            };
            found.push((&rule.know, Arc::clone(&kinds)));
            let protected = rule.protect.as_ref().and_then(|name| bound.table.column(name));
            let tree = rule.protect.as_ref().and_then(|name| bound.tree(name));
            let mut guarantees = Vec::with_capacity(rule.require.len());
            for (model, place) in rule.require.iter().zip(&rule.require_places) {
                let name = rule.protect.as_deref().unwrap_or_default();
                let domain = protected.map(|column| &column.domain);
                let community = bound.community(name);
                let context = Context { protect: domain, tree: tree.as_ref(), community, missing: None };
                let found = models::guarantee(model, &context);
                guarantees.push(found.map_err(|unfit| unfit.refusal(name, model.name(), place.clone()))?);
            }
            rules.push(FittingRule {
                know: rule.know.iter().filter_map(position).collect(),
                protect: rule.protect.as_ref().and_then(position),
                guarantees,
                tree,
                values: protected.map_or(0, |column| column.domain.cardinality()),
                open: kinds.open_values(&known, &shown, protect),
                kinds,
            });
        }
        Ok(Some(Consistent { rules }))
    }

    /// Whether a rule that fails for a person in the whole table fails in every class: where it
    /// held in a part, it would hold in all that contains the part.
    pub fn fails_in_parts_of_what_fails(&self) -> bool {
        let guarantees = self.rules.iter().flat_map(|rule| &rule.guarantees);
        guarantees.map(|guarantee| guarantee.on_merge()).all(|on_merge| on_merge == OnMerge::Absorbing)
    }

    /// By row of the source, whether it is kept and some rule fails for the rows that fit it.
    /// `columns` are those that rules look at, as they are released.
    pub fn failing(&self, columns: &[&Codes], kept: Option<&[bool]>) -> Vec<bool> {
        let rows = columns.first().map_or(0, |codes| codes.len());
        let mut failing = vec![false; rows];
        self.rules.iter().for_each(|rule| rule.mark_failing(columns, kept, &mut failing));
        failing
    }
}

impl FittingRule {
    fn mark_failing(&self, columns: &[&Codes], kept: Option<&[bool]>, failing: &mut [bool]) {
        let is_kept = |row: usize| kept.is_none_or(|kept| kept[row]);
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for row in (0..failing.len()).filter(|&row| is_kept(row)) {
            let key = self.know.iter().map(|&column| columns[column].get(row)).collect();
            let class = *numbers.entry(key).or_insert_with(|| {
                classes.push(Vec::new());
                classes.len() as u32 - 1
            });
            classes[class as usize].push(row as u32);
        }
        let protected = self.protect.map(|protect| columns[protect]);
        let mut all = vec![0u64; self.values];
        if let Some(codes) = protected {
            (0..failing.len()).filter(|&row| is_kept(row)).for_each(|row| all[codes.get(row) as usize] += 1);
        }
        let table = Distribution::new(all, self.tree.as_ref());
        for rows in &classes {
            // Rows and protected values by kind of row.
            let mut kinds: HashMap<u32, (u64, HashMap<u32, u32>)> = HashMap::new();
            let mut people: Vec<u32> = Vec::new();
            for &row in rows {
                let (count, values) = kinds.entry(self.kinds.of_row[row as usize]).or_default();
                *count += 1;
                if let Some(codes) = protected {
                    *values.entry(codes.get(row as usize)).or_insert(0) += 1;
                }
                people.push(self.kinds.of_person[row as usize]);
            }
            people.sort_unstable();
            people.dedup();
            let fails = people.iter().filter(|person| !self.holds(**person, &kinds, &table));
            let fails: Vec<u32> = fails.copied().collect();
            for &row in rows.iter().filter(|_| !fails.is_empty()) {
                failing[row as usize] |= fails.contains(&self.kinds.of_person[row as usize]);
            }
        }
    }

    fn holds(&self, person: u32, kinds: &HashMap<u32, (u64, HashMap<u32, u32>)>, table: &Distribution) -> bool {
        let fits = |kind: u32| self.kinds.fit(person, kind);
        if kinds.keys().all(|&kind| fits(kind)) {
            return true;
        }
        let mut rows = 0;
        let mut values: HashMap<u32, u32> = HashMap::new();
        for (_, (count, of_kind)) in kinds.iter().filter(|(kind, _)| fits(**kind)) {
            rows += count;
            of_kind.iter().for_each(|(&value, &count)| *values.entry(value).or_insert(0) += count);
        }
        let open = self.open[person as usize] as usize;
        if self.protect.is_some() && open < 2 {
            // No release hides the value, and one may still hide the row.
            return rows >= 2 && self.guarantees.iter().all(|guarantee| rows >= fewest_rows(guarantee.model()));
        }
        let mut values: Vec<(u32, u32)> = values.into_iter().collect();
        values.sort_unstable();
        let class = Class { rows, values: &values };
        let all_that_is_open = |guarantee: &dyn Guarantee| {
            matches!(guarantee.model(), Model::DistinctLDiversity { .. }) && values.len() >= open
        };
        let holds = |guarantee: &dyn Guarantee| guarantee.holds(class, table) || all_that_is_open(guarantee);
        rows > 0 && self.guarantees.iter().all(|guarantee| holds(guarantee.as_ref()))
    }
}

/// The rows that a model requires whatever their values are.
fn fewest_rows(model: &Model) -> u64 {
    match model {
        Model::KAnonymity { k } | Model::AlphaKAnonymity { k, .. } => *k,
        _ => 0,
    }
}

/// The kinds of people and of rows.
#[derive(Debug)]
struct PeopleKinds {
    /// By row of the source.
    of_person: Vec<u32>,
    of_row: Vec<u32>,
    /// A person of each kind.
    people: Vec<usize>,
    row_kinds: usize,
    /// By kind of person, then of row: whether the row may be the person's.
    fits: Vec<bool>,
    impossible: Impossible,
}

impl PeopleKinds {
    /// `None` where there are too many.
    fn new(known: &[&Column], shown: &[&Column], rows: usize) -> Option<PeopleKinds> {
        let impossible = Impossible::new(known, shown);
        // Of each shown value, for which known codes it is excluded; equal ones are one.
        let shown_kinds: Vec<Vec<u32>> = (0..shown.len())
            .map(|place| {
                let mut numbers: HashMap<Vec<Option<&[bool]>>, u32> = HashMap::new();
                let of_value = |value: u32| {
                    let excluded = (0..known.len()).map(|known| impossible.excluded_by(known, place, value));
                    excluded.collect::<Vec<_>>()
                };
                let values = 0..shown[place].domain.cardinality() as u32;
                values.map(|value| number(&mut numbers, of_value(value))).collect()
            })
            .collect();
        let known_kinds: Vec<Vec<u32>> = (0..known.len())
            .map(|place| {
                let mut numbers: HashMap<Vec<bool>, u32> = HashMap::new();
                let of_code = |code: u32| {
                    let shown = shown.iter().enumerate().flat_map(|(other, column)| {
                        (0..column.domain.cardinality() as u32).map(move |value| (other, value))
                    });
                    let excluded = shown.filter_map(|(other, value)| {
                        impossible.excluded_by(place, other, value).map(|codes| codes[code as usize])
                    });
                    excluded.collect::<Vec<bool>>()
                };
                let codes = 0..known[place].domain.cardinality() as u32;
                codes.map(|code| number(&mut numbers, of_code(code))).collect()
            })
            .collect();
        let (of_person, people) = joined(known, &known_kinds, rows);
        let (of_row, first_rows) = joined(shown, &shown_kinds, rows);
        if people.len().checked_mul(first_rows.len())? > KINDS_MAX {
            return None;
        }
        let may_be = |person: usize, row: usize| {
            !known.iter().enumerate().any(|(place, column)| {
                let code = column.codes.get(person);
                let mut others = shown.iter().enumerate();
                others.any(|(other, column)| impossible.excludes(place, code, other, column.codes.get(row)))
            })
        };
        let fits = people.iter().flat_map(|&person| first_rows.iter().map(move |&row| (person, row)));
        let fits = fits.map(|(person, row)| may_be(person, row)).collect();
        Some(PeopleKinds { of_person, of_row, people, row_kinds: first_rows.len(), fits, impossible })
    }

    fn fit(&self, person: u32, row: u32) -> bool {
        self.fits[person as usize * self.row_kinds + row as usize]
    }

    /// By kind of person: how many values of what a rule protects are left to it without a release.
    fn open_values(&self, known: &[&Column], shown: &[&Column], protect: Option<usize>) -> Vec<u32> {
        let open = |person: usize| {
            let codes: Vec<u32> = known.iter().map(|column| column.codes.get(person)).collect();
            let values = |place: usize| shown[place].domain.cardinality() as u32;
            protect.map_or(u32::MAX, |place| self.impossible.open_values(&codes, place, values(place)))
        };
        self.people.iter().map(|&person| open(person)).collect()
    }
}

fn number<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

/// The kind of every row over all columns, and the first row of each kind.
fn joined(columns: &[&Column], kinds: &[Vec<u32>], rows: usize) -> (Vec<u32>, Vec<usize>) {
    let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
    let (mut of_row, mut first) = (Vec::with_capacity(rows), Vec::new());
    for row in 0..rows {
        let key = columns.iter().zip(kinds).map(|(column, kinds)| kinds[column.codes.get(row) as usize]).collect();
        let kind = number(&mut numbers, key);
        if kind as usize == first.len() {
            first.push(row);
        }
        of_row.push(kind);
    }
    (of_row, first)
}

/// Methods that cannot keep it say so.
pub fn refuse(policy: &Policy) -> Result<(), InputError> {
    let Some(rule) = policy.rules.iter().find(|rule| rule.consistent) else { return Ok(()) };
    let method = policy.publish.method;
    if !matches!(method, Method::FullDomain | Method::Cluster) {
        let problem = format!("`consistent` is kept by full-domain and cluster, not by {}", method.name());
        let hint = "use one of these methods, or remove `consistent`: the adversary `consistency` of `audit` counts who \
                    would be exposed";
        return Err(InputError::new(rule.place.clone(), problem, hint));
    }
    if policy.has_units() {
        let problem = "`consistent` counts rows, not units";
        let hint = "remove `consistent`, or give the unit the role `identifier` if every row is about another unit";
        return Err(InputError::new(rule.place.clone(), problem, hint));
    }
    Ok(())
}

/// Where the rows are not in memory, which combinations occur is not counted.
pub fn refuse_elsewhere(policy: &Policy, who: &str) -> Result<(), InputError> {
    let Some(rule) = policy.rules.iter().find(|rule| rule.consistent) else { return Ok(()) };
    let problem =
        format!("{who} does not keep `consistent`: the combinations that occur are counted from rows in memory");
    Err(InputError::new(rule.place.clone(), problem, "allow more memory, or remove `consistent`"))
}
