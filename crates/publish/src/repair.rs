//! The nearest release that passes the audit with other releases: coarser, or with fewer classes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use hedgerow_audit::Audited;
use hedgerow_draft::bind::Bound;
use hedgerow_draft::community;
use hedgerow_draft::dependencies::closed_policy;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::loss::Cost;
use hedgerow_draft::options::PublishOptions;
use hedgerow_lattice::explore::{explore, find_with};
use hedgerow_lattice::without::{first_rows, labels, without_classes};
use hedgerow_policy::{Method, Policy};
use hedgerow_privacy::Model;
use hedgerow_table::InputError;

use crate::publish::publish_once;
use crate::published::Published;
use crate::row_store::{RowSource, Searchable};

/// Releases that are tried, the one that loses least first.
const ATTEMPTS_MAX: usize = 200;

/// Exposed classes of one release that are suppressed one by one; more of them only together.
const CLASSES_MAX: usize = 8;

/// Classes that a message names.
const NAMED_MAX: usize = 3;

/// Publishes; where the audit with other releases refuses, publishes the release nearest to it that
/// passes: of full-domain recoding, of all combinations of levels with any of their exposed classes
/// suppressed, the one that loses least; of other methods the one whose classes have the fewest
/// rows more.
pub(crate) fn publish_repaired(
    policy: &Policy,
    source: RowSource<'_>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    let refused = match publish_once(policy, source, options) {
        Err(refused @ PublishError::Audit { by_new: true, .. }) => refused,
        other => return other,
    };
    let repaired = match (policy.publish.method, &refused) {
        (Method::FullDomain, PublishError::Audit { audited, .. }) if options.levels.is_empty() => {
            with_other_levels(policy, source, options, audited)?
        }
        _ => None,
    };
    match repaired {
        Some(published) => Ok(published),
        None => with_larger_classes(policy, source, options)?.ok_or(refused),
    }
}

/// Whether an attempt was refused for people who are exposed, so that the next one is made.
fn passed(attempt: Result<Published, PublishError>) -> Result<Option<Published>, PublishError> {
    match attempt {
        Ok(published) => Ok(Some(published)),
        Err(PublishError::Audit { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The rows of the people whom an audit found exposed.
fn exposed(audited: &Audited) -> Vec<u32> {
    let breaches = audited.findings.iter().filter(|finding| finding.breach);
    let mut rows: Vec<u32> = breaches.flat_map(|finding| finding.people_at_risk.iter().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// A release at some levels, without some classes, each by its first row: what it costs comes
/// first, so that the cheapest is tried first.
type Attempt = (Cost, Vec<u32>, Vec<u8>);

/// Every combination of levels at which the rules hold, and each without classes that the audit
/// found exposed, in the order of loss, until one passes.
fn with_other_levels(
    policy: &Policy,
    source: RowSource<'_>,
    options: &PublishOptions<'_>,
    refused: &Audited,
) -> Result<Option<Published>, PublishError> {
    let store = source.open(policy, &HashSet::new(), options.progress)?;
    let (store, coarsened) = store.coarsened(policy)?;
    let searchable = store.searchable(policy, &options.gate, options.progress)?;
    let Searchable::Rows(table) = &searchable else { return Ok(None) };
    let earlier = community::read_earlier(policy, table, options.progress)?;
    let closed = closed_policy(policy, table)?;
    let mut bound = Bound::with_earlier(closed.as_ref().unwrap_or(policy), table, earlier)?;
    bound.coarsened = coarsened;
    let explored = match explore(&bound, options.progress) {
        Ok(explored) => explored,
        Err(PublishError::Canceled) => return Err(PublishError::Canceled),
        // Too many nodes to list.
        Err(_) => return Ok(None),
    };
    let Some(first) = explored.holding.first().map(|node| node.levels.to_vec()) else { return Ok(None) };
    let publish = &policy.publish;
    let is_searched_through =
        options.nodes_max.or(publish.max_nodes).is_none() && options.seconds_max.or(publish.max_seconds).is_none();
    let nodes = explored.holding.iter().map(|node| Reverse((node.cost, Vec::new(), node.levels.to_vec())));
    let mut attempts: BinaryHeap<Reverse<Attempt>> = nodes.collect();
    let mut known: HashSet<(Vec<u32>, Vec<u8>)> = HashSet::new();
    for _ in 0..ATTEMPTS_MAX {
        let Some(Reverse((_, without, levels))) = attempts.pop() else { break };
        let named = explored.attributes.iter().map(|(name, _)| name.clone());
        let named: Vec<(String, u64)> = named.zip(levels.iter().map(|&level| u64::from(level))).collect();
        // The first is the one that was refused, unless the search had to end before it was found.
        let exposed = if is_searched_through && without.is_empty() && levels == first {
            exposed(refused)
        } else {
            let at = PublishOptions { levels: named.clone(), without: without.clone(), ..options.clone() };
            match publish_once(policy, source, &at) {
                Ok(mut published) => {
                    published.warnings.push(repaired(&bound, &first, &levels, &without));
                    return Ok(Some(published));
                }
                Err(PublishError::Audit { audited, .. }) => exposed(&audited),
                Err(error) => return Err(error),
            }
        };
        let more: Vec<u32> =
            first_rows(&bound, &levels, &exposed).into_iter().filter(|row| !without.contains(row)).collect();
        let one_by_one = more.iter().map(|row| vec![*row]).filter(|_| more.len() <= CLASSES_MAX);
        for also in one_by_one.chain([more.clone()]).filter(|also| !also.is_empty()) {
            let mut rows = [without.as_slice(), &also].concat();
            rows.sort_unstable();
            if !known.insert((rows.clone(), levels.clone())) {
                continue;
            }
            let found = find_with(&bound, &named, options.progress)?;
            if let Some(found) = without_classes(&bound, &bound.judge()?, found, &rows) {
                attempts.push(Reverse((found.cost, rows, levels.clone())));
            }
        }
    }
    Ok(None)
}

/// The changes, as a warning.
fn repaired(bound: &Bound<'_>, first: &[u8], levels: &[u8], without: &[u32]) -> InputError {
    let changed = bound.quasi.iter().zip(first.iter().zip(levels)).filter(|(_, (was, is))| was != is);
    let mut changes: Vec<String> = changed
        .map(|(quasi, (was, is))| format!("`{}` is at level {is} instead of {was}", quasi.attribute.name))
        .collect();
    if !without.is_empty() {
        let named: Vec<String> =
            without.iter().take(NAMED_MAX).map(|&row| format!("({})", labels(bound, levels, row))).collect();
        let more = match without.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let classes = if without.len() == 1 { "the class" } else { "the classes" };
        let are = if without.len() == 1 { "is" } else { "are" };
        changes.push(format!("{classes} {}{more} {are} suppressed", named.join(", ")));
    }
    let problem = format!(
        "{}, so that no person is exposed together with the other releases: of all that were tried and pass, this loses least",
        changes.join(", ")
    );
    let hint = "look at what it loses; levels can also be named, so that they are not searched for again";
    InputError::new(bound.policy.path.display().to_string(), problem, hint)
}

/// With larger classes, until the audit passes.
fn with_larger_classes(
    policy: &Policy,
    source: RowSource<'_>,
    options: &PublishOptions<'_>,
) -> Result<Option<Published>, PublishError> {
    let k = least_rows(policy);
    for more in steps() {
        let coarser = with_least_rows(policy, k + more);
        match passed(publish_once(&coarser, source, options)) {
            Ok(None) => {}
            Ok(Some(mut published)) => {
                let problem = format!(
                    "classes have at least {} rows instead of {k}, so that no person is exposed together with the other \
                     releases",
                    k + more
                );
                let hint = "the manifest states the k that was required";
                published.warnings.push(InputError::new(policy.path.display().to_string(), problem, hint));
                return Ok(Some(published));
            }
            Err(PublishError::Canceled) => return Err(PublishError::Canceled),
            // No release has classes as large as that.
            Err(_) => break,
        }
    }
    Ok(None)
}

/// By how many rows classes grow: by one at first, then by more.
fn steps() -> impl Iterator<Item = u64> {
    (0..20u32).map(|step| match step {
        0..6 => u64::from(step) + 1,
        step => 8 << (step - 6),
    })
}

/// The k that the policy requires of the classes over all quasi-identifiers.
fn least_rows(policy: &Policy) -> u64 {
    let models = policy.rules.iter().flat_map(|rule| &rule.require);
    let required = models.filter_map(|model| match model {
        Model::KAnonymity { k } => Some(*k),
        _ => None,
    });
    required.max().unwrap_or(1)
}

/// The policy with a larger k in every rule that requires one; in the first rule, where none does.
fn with_least_rows(policy: &Policy, least: u64) -> Policy {
    let mut coarser = policy.clone();
    let mut found = false;
    for model in coarser.rules.iter_mut().flat_map(|rule| &mut rule.require) {
        if let Model::KAnonymity { k } = model {
            (*k, found) = (least, true);
        }
    }
    if let Some(rule) = coarser.rules.first_mut().filter(|_| !found) {
        rule.require.push(Model::KAnonymity { k: least });
        rule.require_places.push(rule.place.clone());
    }
    coarser
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_grow_by_one_first() {
        let steps: Vec<u64> = steps().collect();
        assert_eq!(steps[..9], [1, 2, 3, 4, 5, 6, 8, 16, 32]);
        assert!(steps.is_sorted());
    }
}
