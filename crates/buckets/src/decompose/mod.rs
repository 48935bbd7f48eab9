//! `method = "decompose"`: several tables instead of one, so that rules over any attributes hold at
//! once (Jin, Zhang, Zhang, Das: *Versatile publishing for privacy preservation*, 2010).
//!
//! A table with a protected attribute and something that its rules know is bucketized ([`groups`]):
//! one file lists the bucket of every row, another the protected values of every bucket; or its
//! other attributes are generalized ([`regions`]). Which attributes go together is chosen by
//! [`gd`], [`uad`], [`multi_sensitive`], or by giving each attribute a table of its own; what a
//! choice keeps of the data is its [`divergence`].

pub mod alike;
pub mod attack;
mod beginnings;
mod bucket_order;
pub mod choice;
pub mod coloring;
pub mod divergence;
pub mod entropies;
pub mod gd;
pub mod groups;
pub mod integer_program;
pub mod junction;
pub mod likelihood;
pub mod losses;
pub mod multi_sensitive;
pub mod partition;
pub mod problem;
pub mod regions;
pub mod rules;
mod tables;
pub mod uad;

use std::sync::Arc;

use hedgerow_audit::max_likelihood::{PublishedBuckets, PublishedTable};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::{Ineligible, PublishError};
use hedgerow_draft::options::PublishOptions;
use hedgerow_policy::{Anonymizer, Policy};
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::manifest::RowTotals;
use hedgerow_table::InputError;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

pub use groups::Groups;
pub use problem::DecompositionProblem;
pub use regions::Regions;
pub use rules::Rules;

use attack::Attacked;
use choice::{Chosen, Unchosen, first_that_passes};
use problem::Unsatisfiable;

/// One table of a decomposition.
#[derive(Debug, Clone)]
pub struct Subtable {
    pub attributes: AttributeSet,
    /// Some of the attributes: those released by bucket instead of by row. Empty for a table that
    /// is published as it is.
    pub sensitive: AttributeSet,
    /// The buckets, where there is something sensitive.
    pub groups: Option<Arc<Groups>>,
    /// The released labels of each bucket's rows instead of their values, where the table is
    /// generalized.
    pub regions: Option<Arc<Regions>>,
}

impl Subtable {
    /// A table that is published as it is.
    pub fn plain(attributes: AttributeSet) -> Subtable {
        Subtable { attributes, sensitive: AttributeSet::EMPTY, groups: None, regions: None }
    }

    /// As readers see it, to be queried and measured together with others; `None` for one that is
    /// generalized.
    pub fn published(&self, problem: &DecompositionProblem<'_>) -> Option<PublishedTable> {
        let column = |attribute: usize| (attribute, problem.columns[attribute].iter().collect::<Vec<u32>>());
        let by_row = self.open().iter().map(column).collect();
        let Some(groups) = &self.groups else { return Some(PublishedTable { by_row, buckets: None }) };
        if self.regions.is_some() {
            return None;
        }
        // One entry for every row with a released value: readers see them added up.
        let with_value: Vec<usize> = (0..problem.rows).filter(|&row| groups.of_row[row] != Groups::NONE).collect();
        let value = |attribute: usize| {
            (attribute, with_value.iter().map(|&row| problem.columns[attribute].get(row)).collect::<Vec<u32>>())
        };
        let buckets = PublishedBuckets {
            of_row: groups.of_row.clone(),
            sensitive: self.sensitive.iter().map(value).collect(),
            of_entry: with_value.iter().map(|&row| groups.of_row[row]).collect(),
            counts: vec![1; with_value.len()],
        };
        Some(PublishedTable { by_row, buckets: Some(buckets) })
    }

    /// The attributes released row by row.
    pub fn open(&self) -> AttributeSet {
        self.attributes - self.sensitive
    }
}

/// Every attribute in a table of its own: no attribute is reachable from another, and no
/// correlation is left.
pub fn single_attribute(problem: &DecompositionProblem<'_>) -> Vec<Subtable> {
    (0..problem.columns.len()).map(|attribute| Subtable::plain(AttributeSet::of(attribute))).collect()
}

pub fn draft<'a>(bound: &Bound<'a>, options: &PublishOptions<'_>, rng: &mut StdRng) -> Result<Draft<'a>, PublishError> {
    draft_chosen(bound, options, rng, choices)
}

/// A release of the chosen tables, whichever algorithm chose them. Nothing is written before the
/// attack on them passed.
fn draft_chosen<'a>(
    bound: &Bound<'a>,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
    choose: impl FnOnce(&Bound<'_>, &Rules<'_>, &DecompositionProblem<'_>, &mut StdRng) -> Result<Vec<Chosen>, Unchosen>,
) -> Result<Draft<'a>, PublishError> {
    refuse(bound.policy)?;
    let rules = Rules::with_found(bound.policy, bound.table, &bound.dependencies_found)?;
    let reasons = rules.impossible();
    if !reasons.is_empty() {
        let hint =
            "require less in these rules, or give frequent values finer names; `hedgerow rules` explains each rule";
        return Err(PublishError::Ineligible(Box::new(Ineligible {
            made_of: "several tables",
            reasons,
            hint: hint.to_owned(),
        })));
    }
    let algorithms = choice::algorithms(bound.policy.publish.algorithm, bound.policy.publish.anonymizer);
    // Every algorithm and the attack go through all attributes.
    let steps = (algorithms.len() + 1) * rules.columns.len();
    options.progress.stage("searching", Some(steps as u64));
    let problem = rules.problem().watched(options.progress);
    let choices = choose(bound, &rules, &problem, rng).map_err(|unchosen| why_not(&rules, unchosen))?;
    options.progress.check()?;
    let found = first_that_passes(&problem, &rules.columns, choices);
    let (chosen, attacked) = found.map_err(|unchosen| why_not(&rules, unchosen))?;
    // A canceled attack proves nothing.
    options.progress.check()?;
    let mut warnings = rules.warnings.clone();
    warnings.extend(warning_of_partial(bound, attacked));
    let losses = losses(&chosen);
    let (tables, codebook) = tables::tables(bound, &rules, &problem, &chosen.tables, rng)?;
    let count = bound.table.rows as u64;
    let mut draft = Draft::new(tables, codebook, RowTotals { source: count, out: count, suppressed: 0 }, losses);
    draft.rules = Some(tables::named_rules(bound, &rules));
    draft.warnings = warnings;
    Ok(draft)
}

/// Where the intersection attack did not try everything, publishers are warned. The manifest does
/// not state its outcome: a reader cannot recompute how far it went.
fn warning_of_partial(bound: &Bound<'_>, attacked: Attacked) -> Option<InputError> {
    let Attacked::Partial(words) = attacked else { return None };
    let problem = format!("the intersection attack on the combined tables found nothing, but was partial: {words}");
    let hint = "do nothing: the tables are in guardian normal form, which excludes what the attack looks for";
    Some(InputError::new(bound.policy.publish.place.clone(), problem, hint))
}

/// Refuses what no tables could keep, before any are chosen.
fn refuse(policy: &Policy) -> Result<(), InputError> {
    for rule in &policy.rules {
        for (model, place) in rule.require.iter().zip(&rule.require_places) {
            if !problem::can_be_kept(model) {
                let problem = format!("decompose cannot keep {}", problem::refused(model));
                let hint = "require `frequency-l-diversity`, `distinct-l-diversity` or `entropy-l-diversity` instead";
                return Err(InputError::new(place.clone(), problem, hint));
            }
        }
    }
    let mut released = policy.attributes.iter().filter(|attribute| attribute.role.is_released());
    if let Some(attribute) = released.find(|attribute| [GROUP, COUNT].contains(&attribute.name.as_str())) {
        let problem = format!("decompose adds a column `{}` of its own", attribute.name);
        return Err(InputError::new(attribute.place.clone(), problem, "rename the attribute in the source"));
    }
    Ok(())
}

/// The tables that a policy requires: chosen by its algorithm, anonymized as it says, and passed by
/// the intersection attack.
pub fn chosen(
    bound: &Bound<'_>,
    rules: &Rules<'_>,
    problem: &DecompositionProblem<'_>,
    rng: &mut StdRng,
) -> Result<Chosen, Unchosen> {
    let choices = choices(bound, rules, problem, rng)?;
    first_that_passes(problem, &rules.columns, choices).map(|(chosen, _)| chosen)
}

fn choices(
    bound: &Bound<'_>,
    rules: &Rules<'_>,
    problem: &DecompositionProblem<'_>,
    rng: &mut StdRng,
) -> Result<Vec<Chosen>, Unchosen> {
    let publish = &bound.policy.publish;
    let algorithms = choice::algorithms(publish.algorithm, publish.anonymizer);
    choice::choices(problem, &algorithms, rng, |tables| match publish.anonymizer {
        Anonymizer::Anatomy => Ok(tables),
        Anonymizer::Mondrian => regions::generalized(bound, rules, problem, tables),
    })
}

/// The divergence, and of how many rows the sensitive values are not released.
fn losses(chosen: &Chosen) -> Map<String, Value> {
    let mut losses = Map::new();
    losses.extend(chosen.kl.map(|kl| ("kl".to_owned(), json!(kl))));
    let without = |groups: &Arc<Groups>| groups.of_row.iter().filter(|&&group| group == Groups::NONE).count();
    let without: usize = chosen.tables.iter().filter_map(|table| table.groups.as_ref()).map(without).sum();
    if without > 0 {
        losses.insert("rows-without-sensitive-value".to_owned(), json!(without));
    }
    losses
}

fn why_not(rules: &Rules<'_>, unchosen: Unchosen) -> PublishError {
    let (reasons, hint) = match unchosen {
        Unchosen::Failed(error) => return *error,
        Unchosen::Unsatisfiable(Unsatisfiable(rule)) => {
            let rule = rules.describe(rules.reduced.kept[rule]);
            let hint = "remove the rule, or a dependency that attackers do not know";
            (vec![format!("{rule}: dependencies alone lead from one side to the other")], hint)
        }
        Unchosen::Breached(reason) => {
            (vec![reason], "require less in that rule, or use `algorithm = \"best\"`, which tries every algorithm")
        }
        Unchosen::NoBuckets => {
            let reason = "no rows can share a bucket in which every protected attribute is uncertain to an attacker who knows the others, or \
                          nothing is left to release by row, or a rule requires more than distinct, frequency or entropy l-diversity";
            (vec![reason.to_owned()], "use `algorithm = \"best\"`, which takes what is possible")
        }
    };
    PublishError::Ineligible(Box::new(Ineligible { made_of: "several tables", reasons, hint: hint.to_owned() }))
}

#[cfg(test)]
mod tests;
