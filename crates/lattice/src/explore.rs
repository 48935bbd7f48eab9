//! The choices of a policy's lattice: every node at which all rules hold, for a person to choose
//! from, and a release at levels that a person chose.

use hedgerow_draft::bind::Bound;
use hedgerow_draft::broken::broken_by_the_whole;
use hedgerow_draft::error::{PublishError, Unsatisfiable};
use hedgerow_policy::{Loss, Method};
use hedgerow_table::{InputError, Progress};

use crate::full_domain::{loss_models, problem, why_not_at};
use crate::search::explore::{EXPLORED_MAX, HoldingNode, best_with, explore as search_all, nodes_with};
use crate::search::{BestNode, Budget};

/// The nodes at which every rule holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Exploration {
    /// Every quasi attribute with its top level.
    pub attributes: Vec<(String, usize)>,
    /// The value of the policy's `loss`.
    pub loss: Loss,
    pub nodes: u64,
    pub judged: u64,
    /// The best first; losses in the order of [`Loss::ALL`].
    pub holding: Vec<HoldingNode>,
}

/// The nodes of a lattice whose levels have one sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Height {
    pub levels: usize,
    pub nodes: u64,
    /// Of these, the nodes at which every rule holds.
    pub holding: u64,
}

impl Exploration {
    /// The nodes by the sum of their levels, the coarsest first.
    pub fn heights(&self) -> Vec<Height> {
        let mut nodes = vec![1u64];
        for &(_, top) in &self.attributes {
            let mut more = vec![0; nodes.len() + top];
            for (sum, count) in nodes.iter().enumerate() {
                (0..=top).for_each(|level| more[sum + level] += count);
            }
            nodes = more;
        }
        let mut holding = vec![0; nodes.len()];
        for node in &self.holding {
            holding[node.levels.iter().map(|&level| usize::from(level)).sum::<usize>()] += 1;
        }
        let height = |(levels, (nodes, holding))| Height { levels, nodes, holding };
        let mut heights: Vec<Height> = nodes.into_iter().zip(holding).enumerate().map(height).collect();
        heights.reverse();
        heights
    }
}

/// Whether judging every node takes no more than this many nodes, and nodes times rows.
pub fn is_small(bound: &Bound<'_>, nodes_max: u64, work_max: u64) -> bool {
    let tops = bound.quasi.iter().map(|quasi| quasi.hierarchy.top() as u64);
    let nodes = tops.fold(1u64, |nodes, top| nodes.saturating_mul(top + 1));
    nodes <= nodes_max && nodes.saturating_mul(bound.table.rows as u64) <= work_max
}

/// Judges every node of the lattice.
pub fn explore(bound: &Bound<'_>, progress: &dyn Progress) -> Result<Exploration, PublishError> {
    refuse_other_methods(bound)?;
    let judge = bound.judge()?;
    let source = bound.rows();
    let (loss, measured) = loss_models(bound);
    let (columns, hierarchies) = (bound.judged_codes(), bound.hierarchies());
    let problem = problem(&columns, &hierarchies, bound, &judge, &loss, &measured, Budget::default(), progress);
    let free = vec![None; hierarchies.len()];
    refuse_too_many(bound, nodes_with(&problem, &free))?;
    let explored = search_all(problem, &free);
    progress.check()?;
    if explored.holding.is_empty() {
        let mut reasons = broken_by_the_whole(bound, &judge);
        reasons.push(format!("at most {} of {source} rows may be suppressed", judge.allowed()));
        let summary =
            format!("no release can meet the policy: none of {} combinations of levels holds", explored.nodes);
        let hint = "require less in that rule, or let more rows be suppressed (publish.suppression)".to_owned();
        return Err(Box::new(Unsatisfiable { summary, reasons, hint }).into());
    }
    let quasi = bound.quasi.iter();
    Ok(Exploration {
        attributes: quasi.map(|quasi| (quasi.attribute.name.clone(), quasi.hierarchy.top())).collect(),
        loss: bound.policy.publish.loss,
        nodes: explored.nodes,
        judged: explored.judged,
        holding: explored.holding,
    })
}

/// The release with the least loss that has the levels given; attributes that are not named are
/// searched.
pub fn find_with(
    bound: &Bound<'_>,
    levels: &[(String, u64)],
    progress: &dyn Progress,
) -> Result<BestNode, PublishError> {
    let judge = bound.judge()?;
    let (loss, measured) = loss_models(bound);
    let (columns, hierarchies) = (bound.judged_codes(), bound.hierarchies());
    let problem = problem(&columns, &hierarchies, bound, &judge, &loss, &measured, Budget::default(), progress);
    let fixed = fixed_levels(bound, levels)?;
    refuse_too_many(bound, nodes_with(&problem, &fixed))?;
    let found = best_with(problem, &fixed);
    progress.check()?;
    found.ok_or_else(|| {
        let coarsest: Vec<u8> =
            fixed.iter().zip(&hierarchies).map(|(level, hierarchy)| level.unwrap_or(hierarchy.top() as u8)).collect();
        Box::new(why_not_at(bound, &judge, &coarsest, fixed.iter().all(Option::is_some))).into()
    })
}

/// Levels are a property of full-domain recoding.
pub fn refuse_other_methods(bound: &Bound<'_>) -> Result<(), InputError> {
    let method = bound.policy.publish.method;
    if method == Method::FullDomain {
        return Ok(());
    }
    let problem = format!("`{}` has no lattice of levels", method.name());
    let hint = "levels belong to `method = \"full-domain\"`";
    Err(InputError::new(format!("{}: publish.method", bound.policy.path.display()), problem, hint))
}

fn fixed_levels(bound: &Bound<'_>, levels: &[(String, u64)]) -> Result<Vec<Option<u8>>, InputError> {
    let mut fixed = vec![None; bound.quasi.len()];
    for (name, level) in levels {
        let place = format!("level of `{name}`");
        let Some(index) = bound.quasi.iter().position(|quasi| quasi.attribute.name == *name) else {
            let names: Vec<&str> = bound.quasi.iter().map(|quasi| quasi.attribute.name.as_str()).collect();
            let hint = format!("the quasi-identifiers are: {}", names.join(", "));
            return Err(InputError::new(place, "no quasi-identifier has this name", hint));
        };
        let top = bound.quasi[index].hierarchy.top();
        let Some(level) = u8::try_from(*level).ok().filter(|&level| usize::from(level) <= top) else {
            let hint = format!("levels of `{name}` run from 0 (the value) to {top} (the top)");
            return Err(InputError::new(place, format!("level {level} does not exist"), hint));
        };
        if fixed[index].replace(level).is_some() {
            return Err(InputError::new(place, "it is given twice", "give one level for each attribute"));
        }
    }
    Ok(fixed)
}

fn refuse_too_many(bound: &Bound<'_>, nodes: Option<u64>) -> Result<(), InputError> {
    if nodes.is_some_and(|nodes| nodes <= EXPLORED_MAX) {
        return Ok(());
    }
    let nodes = nodes.map_or_else(|| "more than 2^64".to_owned(), |nodes| nodes.to_string());
    let problem = format!("{nodes} lattice nodes are too many to judge each; at most {EXPLORED_MAX} are");
    let hint = "give hierarchies fewer levels, or let the search find the best release";
    Err(InputError::new(bound.policy.path.display().to_string(), problem, hint))
}
