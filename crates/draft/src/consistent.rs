//! `consistent = true`: a rule also holds for the rows that fit a person by the combinations of
//! values that can occur.
//!
//! No child has an income, so that the rows with an income in a child's class are not the child's.
//! The rows that fit a person are those of its class that no impossible pair of a known value and a
//! released one excludes; which pairs are impossible is counted in the source (`impossible` of the
//! audit). The rule must hold for the rows that fit each person. No release can hide what the pairs
//! alone tell: where they leave a person one protected value, two rows that fit are enough, or the
//! k that the rule requires, and distinct l-diversity needs no more values than they leave.
//!
//! Where rows belong to units, what counts are different units: of the rows of a class, one of each
//! unit is enough or not, so that the rule also holds for all of them.
//!
//! People whose values exclude the same rows are one kind of person, and rows that are excluded for
//! the same people one kind of row: of both there are few, and each class is judged by its kinds.

mod classes;
mod kinds;

use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_policy::{Method, Policy, Role};
use hedgerow_privacy::{Absorbing, Class, Context, Distribution, Guarantee, Model, OnMerge, Tree, models};
use hedgerow_table::{Codes, Column, InputError};

use crate::bind::Bound;
use crate::error::PublishError;
use kinds::PeopleKinds;

pub use classes::FittingClasses;

/// The rows of a class by their kind, and the protected values of each.
type RuleClass = HashMap<u32, (u64, HashMap<u32, u32>)>;

/// The rules of a policy that hold for the rows that fit.
#[derive(Debug)]
pub struct Consistent {
    rules: Vec<FittingRule>,
    /// By row, its unit.
    of_unit: Option<Vec<u32>>,
}

#[derive(Debug)]
struct FittingRule {
    /// Positions among the columns that rules look at.
    know: Vec<usize>,
    protect: Option<usize>,
    guarantees: Vec<Box<dyn Guarantee>>,
    /// The rows and values that are enough, where that is all that is required.
    enough: Option<Absorbing>,
    /// Whether nothing but a number of different values is required.
    only_distinct: bool,
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
                None => Arc::new(PeopleKinds::new(&known, &shown, bound.table.rows)),
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
                enough: enough(&guarantees),
                only_distinct: rule.require.iter().all(|model| matches!(model, Model::DistinctLDiversity { .. })),
                guarantees,
                tree,
                values: protected.map_or(0, |column| column.domain.cardinality()),
                open: kinds.open_values(&known, &shown, protect),
                kinds,
            });
        }
        Ok(Some(Consistent { rules, of_unit: bound.units().map(|units| units.of_row.clone()) }))
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
        let units = self.of_unit.as_deref();
        self.rules.iter().for_each(|rule| rule.mark_failing(columns, kept, units, &mut failing));
        failing
    }
}

impl FittingRule {
    fn mark_failing(&self, columns: &[&Codes], kept: Option<&[bool]>, of_unit: Option<&[u32]>, failing: &mut [bool]) {
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
        if let Some(of_unit) = of_unit {
            classes = classes.iter().flat_map(|rows| one_row_of_each_unit(rows, of_unit)).collect();
        }
        let protected = self.protect.map(|protect| columns[protect]);
        let table = self.table(protected, (0..failing.len()).filter(|&row| is_kept(row)));
        for rows in &classes {
            let kinds = self.class(protected, rows);
            let fails = self.failing_people(rows, &kinds, &table);
            for &row in rows.iter().filter(|_| !fails.is_empty()) {
                failing[row as usize] |= fails.contains(&self.kinds.of_person[row as usize]);
            }
        }
    }

    fn table(&self, protected: Option<&Codes>, kept: impl Iterator<Item = usize>) -> Distribution {
        let mut all = vec![0u64; self.values];
        if let Some(codes) = protected {
            kept.for_each(|row| all[codes.get(row) as usize] += 1);
        }
        Distribution::new(all, self.tree.as_ref())
    }

    fn class(&self, protected: Option<&Codes>, rows: &[u32]) -> RuleClass {
        let mut kinds = RuleClass::new();
        for &row in rows {
            let (count, values) = kinds.entry(self.kinds.of_row[row as usize]).or_default();
            *count += 1;
            if let Some(codes) = protected {
                *values.entry(codes.get(row as usize)).or_insert(0) += 1;
            }
        }
        kinds
    }

    /// The kinds of the people of a class for whom the rule fails.
    fn failing_people(&self, rows: &[u32], class: &RuleClass, table: &Distribution) -> Vec<u32> {
        let mut people: Vec<u32> = rows.iter().map(|&row| self.kinds.of_person[row as usize]).collect();
        people.sort_unstable();
        people.dedup();
        people.retain(|&person| !self.holds(person, &[class], table));
        people
    }

    /// Whether the rule holds for the rows of some classes together that fit a kind of person.
    fn holds(&self, person: u32, classes: &[&RuleClass], table: &Distribution) -> bool {
        let all = || classes.iter().flat_map(|class| class.iter());
        let fits = |kind: u32| self.kinds.fit(person, kind);
        if classes.len() == 1 && all().all(|(&kind, _)| fits(kind)) {
            return true;
        }
        let open = self.open[person as usize] as usize;
        // No release hides the only value, and one may still hide the row.
        let only = self.protect.is_some() && open < 2;
        let enough = match only {
            true => {
                let rows = self.guarantees.iter().map(|guarantee| fewest_rows(guarantee.model())).max();
                Some(Absorbing { rows: rows.unwrap_or(0).max(2), distinct: 0 })
            }
            false => self.enough.map(|enough| match self.only_distinct {
                true => Absorbing { distinct: enough.distinct.min(open as u64), ..enough },
                false => enough,
            }),
        };
        let mut rows = 0;
        let mut values: HashMap<u32, u32> = HashMap::new();
        for (_, (count, of_kind)) in all().filter(|(kind, _)| fits(**kind)) {
            rows += count;
            of_kind.iter().for_each(|(&value, &count)| *values.entry(value).or_insert(0) += count);
            let distinct = values.len() as u64;
            if enough.is_some_and(|enough| rows >= enough.rows && (enough.distinct <= 1 || distinct >= enough.distinct))
            {
                return true;
            }
        }
        if only {
            return false;
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

/// The rows of a class in parts: the first row of every unit, the second of those that have two,
/// and so on. What a part has enough of, the class has: as many units, and as many values.
fn one_row_of_each_unit(rows: &[u32], of_unit: &[u32]) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut before: HashMap<u32, usize> = HashMap::new();
    for &row in rows {
        let place = before.entry(of_unit[row as usize]).or_insert(0);
        if *place == parts.len() {
            parts.push(Vec::new());
        }
        parts[*place].push(row);
        *place += 1;
    }
    parts
}

/// What is enough, whatever else is in a class; `None` where no number of rows and values is.
fn enough(guarantees: &[Box<dyn Guarantee>]) -> Option<Absorbing> {
    let exact = |guarantee: &dyn Guarantee| guarantee.on_merge() == OnMerge::Absorbing && !guarantee.core_is_more();
    let all = guarantees.iter().all(|guarantee| exact(guarantee.as_ref()));
    let cores = || guarantees.iter().map(|guarantee| guarantee.core());
    all.then(|| Absorbing {
        rows: cores().map(|core| core.rows).max().unwrap_or(0).max(1),
        distinct: cores().map(|core| core.distinct).max().unwrap_or(0),
    })
}

/// The rows that a model requires whatever their values are.
fn fewest_rows(model: &Model) -> u64 {
    match model {
        Model::KAnonymity { k } | Model::AlphaKAnonymity { k, .. } => *k,
        _ => 0,
    }
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
    if policy.has_units() { refuse_units(policy) } else { Ok(()) }
}

/// Over units, the rows that fit are counted one for each unit: by the method whose classes have
/// one row of each, for models that ask for rows and values, and where no link shows which rows
/// belong together.
fn refuse_units(policy: &Policy) -> Result<(), InputError> {
    let consistent = || policy.rules.iter().filter(|rule| rule.consistent);
    let Some(first) = consistent().next() else { return Ok(()) };
    let refused = |place: &str, problem: &str, hint: &str| Err(InputError::new(place, problem, hint));
    if policy.publish.method != Method::Cluster {
        let problem = format!("`consistent` over units is kept by cluster, not by {}", policy.publish.method.name());
        let hint = "write `method = \"cluster\"`, or remove `consistent`: the adversary `consistency` of `audit` counts who \
                    would be exposed";
        return refused(&first.place, &problem, hint);
    }
    if policy.publish.link {
        let problem =
            "`consistent` does not count units that `link` shows: an attacker can exclude all rows of a unit at once";
        return refused(&first.place, problem, "remove `link`, or remove `consistent`");
    }
    for (model, place) in consistent().flat_map(|rule| rule.require.iter().zip(&rule.require_places)) {
        if !matches!(model, Model::KAnonymity { .. } | Model::DistinctLDiversity { .. }) {
            let problem = format!(
                "`consistent` over units holds for k-anonymity and distinct-l-diversity, not for {}",
                model.name()
            );
            return refused(place, &problem, "give this model a `[[rule]]` of its own, without `consistent`");
        }
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
