//! The problem of a decomposition: coded columns and rules over them, one protected attribute
//! each.

use std::sync::Arc;

use hedgerow_privacy::rules::{AttributeSet, Dependency, Guard, NormalFormStanding, Rule, Schema, standings};
use hedgerow_privacy::{Context, Distance, Distribution, Model, models};
use hedgerow_table::{Codes, NoProgress, Progress, Ratio};
use rand::rngs::StdRng;

use super::{Groups, Subtable};
use crate::anatomy::BucketGuarantees;

#[derive(Debug)]
pub struct DecompositionProblem<'a> {
    pub columns: Vec<&'a Codes>,
    pub cardinalities: Vec<usize>,
    /// For every attribute the code of its missing value, where it has one.
    pub missing: Vec<Option<u32>>,
    pub rows: usize,
    /// Each protects one attribute, which alone is harmless.
    pub rules: Vec<Rule>,
    /// Additional knowledge of attackers, each as a table that is already published.
    known: Vec<Schema>,
    /// For every attribute all that some rule requires of it.
    require: Vec<Vec<Model>>,
    /// For every attribute which buckets keep all of that; `None` where none do, or nothing is
    /// required.
    allowed: Vec<Option<BucketGuarantees>>,
    /// The progress of algorithms, in attributes. Once canceled they end early, with tables that
    /// have no meaning.
    pub progress: &'a dyn Progress,
}

/// A rule that attackers break by what they know without any release: its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsatisfiable(pub usize);

impl<'a> DecompositionProblem<'a> {
    pub fn new(
        columns: Vec<&'a Codes>,
        cardinalities: Vec<usize>,
        rows: usize,
        rules: Vec<Rule>,
        dependencies: &[Dependency],
    ) -> DecompositionProblem<'a> {
        let missing = vec![None; columns.len()];
        DecompositionProblem::with_missing(columns, cardinalities, missing, rows, rules, dependencies)
    }

    pub fn with_missing(
        columns: Vec<&'a Codes>,
        cardinalities: Vec<usize>,
        missing: Vec<Option<u32>>,
        rows: usize,
        rules: Vec<Rule>,
        dependencies: &[Dependency],
    ) -> DecompositionProblem<'a> {
        let known = dependencies
            .iter()
            .map(|dependency| Schema { attributes: dependency.from.with(dependency.to), guards: Vec::new() });
        let known = known.collect();
        let mut require: Vec<Vec<Model>> = vec![Vec::new(); columns.len()];
        for rule in &rules {
            for attribute in rule.protect.iter() {
                let further: Vec<Model> =
                    rule.require.iter().filter(|model| !require[attribute].contains(model)).cloned().collect();
                require[attribute].extend(further);
            }
        }
        let allowed = (0..columns.len()).map(|attribute| {
            let counts = columns[attribute].counts(cardinalities[attribute]);
            allowed(counts, missing[attribute], &require[attribute])
        });
        let allowed = allowed.collect();
        DecompositionProblem {
            columns,
            cardinalities,
            missing,
            rows,
            rules,
            known,
            require,
            allowed,
            progress: &NoProgress,
        }
    }

    /// The same problem, with algorithms that report progress.
    pub fn watched(self, progress: &'a dyn Progress) -> DecompositionProblem<'a> {
        DecompositionProblem { progress, ..self }
    }

    /// An attribute's codes, and how many there are.
    pub fn column(&self, attribute: usize) -> (&'a Codes, usize) {
        (self.columns[attribute], self.cardinalities[attribute])
    }

    pub fn everything(&self) -> AttributeSet {
        AttributeSet::first(self.columns.len())
    }

    /// All that some rule requires of an attribute.
    pub fn require(&self, attribute: usize) -> &[Model] {
        &self.require[attribute]
    }

    /// The l for which buckets without a value over 1/l keep all that is required of an attribute;
    /// `None` where something is required that shares alone do not decide, as with missing values,
    /// or that not even all rows together keep.
    pub fn l(&self, attribute: usize) -> Option<Ratio> {
        self.allowed[attribute].as_ref().filter(|_| self.missing[attribute].is_none())?;
        self.require[attribute].iter().try_fold(Ratio::integer(1), |most, model| {
            let l = match model {
                Model::DistinctLDiversity { l } => Ratio::integer(*l),
                Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => *l,
                _ => return None,
            };
            let (one, other) = (u128::from(l.numerator) * u128::from(most.denominator), u128::from(most.numerator));
            Some(if one > other * u128::from(l.denominator) { l } else { most })
        })
    }

    /// How many values the attacker must at least be left with.
    pub fn values_left(&self, attribute: usize) -> u64 {
        let guarantees =
            self.require[attribute].iter().filter_map(|model| models::guarantee(model, &Context::default()).ok());
        guarantees.map(|guarantee| guarantee.core().distinct).max().unwrap_or(1)
    }

    pub fn can_be_bucketized(&self, attribute: usize) -> bool {
        self.allowed[attribute].is_some()
    }

    /// A table in which one attribute is released by bucket; as it is when no bucket can be made,
    /// or no other attribute exists.
    pub fn bucketized(&self, attributes: AttributeSet, sensitive: usize, rng: &mut StdRng) -> Subtable {
        let allowed = self.allowed[sensitive].as_ref().filter(|_| attributes.len() > 1);
        let (column, cardinality) = (self.columns[sensitive], self.cardinalities[sensitive]);
        match allowed.and_then(|allowed| Groups::dealt(column, cardinality, allowed, rng)) {
            Some(groups) => {
                let sensitive = AttributeSet::of(sensitive);
                Subtable { sensitive, groups: Some(Arc::new(groups)), ..Subtable::plain(attributes | sensitive) }
            }
            None => Subtable::plain(attributes.with(sensitive)),
        }
    }

    /// The tables as the judge of normal forms sees them, attackers' own tables last.
    pub fn schemas(&self, tables: &[Subtable]) -> Vec<Schema> {
        let own = tables.iter().map(|table| {
            let guards = table.sensitive.iter().map(|attribute| Guard {
                know: table.attributes.without(attribute),
                protect: AttributeSet::of(attribute),
                require: self.require[attribute].clone(),
            });
            Schema { attributes: table.attributes, guards: guards.collect() }
        });
        own.chain(self.known.iter().cloned()).collect()
    }

    /// Additional knowledge of attackers, as published tables.
    pub fn known_tables(&self) -> Vec<Subtable> {
        self.known.iter().map(|known| Subtable::plain(known.attributes)).collect()
    }

    pub fn standings(&self, tables: &[Subtable]) -> Vec<NormalFormStanding> {
        standings(&self.rules, &self.schemas(tables))
    }

    pub fn is_kept(&self, tables: &[Subtable]) -> bool {
        self.standings(tables).iter().all(NormalFormStanding::is_kept)
    }

    /// Takes attributes out of tables until a rule is kept. Less is reachable after every step, so
    /// that no other rule breaks. The attributes taken out stand alone afterwards.
    pub(super) fn keep(&self, rule: usize, tables: &mut Vec<Subtable>) -> Result<(), Unsatisfiable> {
        loop {
            let standing = &standings(&self.rules[rule..=rule], &self.schemas(tables))[0];
            let NormalFormStanding::Broken(way) = standing else { return Ok(()) };
            // What attackers know cannot be taken from them: the last step that is ours.
            let ours = way.iter().rev().find(|hop| hop.table < tables.len()).ok_or(Unsatisfiable(rule))?;
            isolate(ours.to, tables);
        }
    }

    /// Publishes as it is what no rule needs bucketized, and drops what other tables release
    /// anyway.
    pub(super) fn tidy(&self, tables: &mut Vec<Subtable>) {
        for index in 0..tables.len() {
            if !tables[index].sensitive.is_empty() {
                let open = Subtable::plain(tables[index].attributes);
                let guarded = std::mem::replace(&mut tables[index], open);
                if !self.is_kept(tables) {
                    tables[index] = guarded;
                }
            }
        }
        let mut index = 0;
        while index < tables.len() {
            let table = &tables[index];
            let holds_all = |other: &Subtable| {
                table.attributes.is_subset(other.open()) || table.attributes.is_subset(other.sensitive)
            };
            let others = tables.iter().enumerate().filter(|(other, _)| *other != index);
            let superfluous = table.sensitive.is_empty() && others.map(|(_, other)| other).any(holds_all);
            if superfluous || table.attributes.is_empty() {
                tables.remove(index);
            } else {
                index += 1;
            }
        }
    }
}

/// Takes an attribute out of all tables into one of its own.
pub(super) fn isolate(attribute: usize, tables: &mut Vec<Subtable>) {
    for table in tables.iter_mut() {
        table.attributes = table.attributes.without(attribute);
        table.sensitive = table.sensitive.without(attribute);
        if table.sensitive.is_empty() {
            table.groups = None;
        }
    }
    tables.retain(|table| !table.attributes.is_empty());
    tables.push(Subtable::plain(AttributeSet::of(attribute)));
}

/// Which buckets of an attribute are allowed; `None` when not even one of all rows is, or nothing
/// is required.
fn allowed(counts: Vec<u64>, missing: Option<u32>, require: &[Model]) -> Option<BucketGuarantees> {
    if require.is_empty() || !require.iter().all(can_be_kept) {
        return None;
    }
    let context = Context { missing, ..Context::default() };
    let guarantees = require.iter().map(|model| models::guarantee(model, &context).ok()).collect::<Option<Vec<_>>>()?;
    let occurring = (0..).zip(&counts).filter(|(_, count)| **count > 0);
    let values: Vec<(u32, u32)> = occurring.map(|(code, &count)| (code, count as u32)).collect();
    let allowed = BucketGuarantees::new(guarantees, Distribution::new(counts, None));
    (!values.is_empty() && allowed.holds(&values)).then_some(allowed)
}

/// Whether buckets can keep a model, and mixtures of them too, by the codes of the protected values
/// alone. Not so numbers of rows that look alike, distances between the values themselves, and
/// shares of values by name.
pub fn can_be_kept(model: &Model) -> bool {
    match model {
        Model::DistinctLDiversity { .. }
        | Model::FrequencyLDiversity { .. }
        | Model::EntropyLDiversity { .. }
        | Model::RecursiveLDiversity { .. } => true,
        Model::TCloseness { distance, order, .. } => *distance != Distance::Hierarchical && order.is_none(),
        Model::RhoBreach { values, .. } | Model::BeliefChange { values, .. } => values.is_none(),
        _ => false,
    }
}

/// A model that cannot be kept, with the reason where it is not the model itself.
pub fn refused(model: &Model) -> String {
    let name = model.name_with_conditions();
    match model {
        Model::Conditional { .. } => format!("{name}: sub-tables show no classes that conditions could be about"),
        Model::RhoBreach { .. } | Model::BeliefChange { .. } => {
            format!("{name} with `values`: buckets are made without looking at single values by name")
        }
        _ => name,
    }
}
