//! `where` of a rule: it is about the classes alone whose known cells may stand for one of some
//! values ([`hedgerow_release::known_values`]). Here is which labels these are at every level, as
//! the search sees them, and which policies cannot have it.
//!
//! Classes are judged by their labels, so that every reader of the release judges the same ones. A
//! local recoding decides on a cut before the labels are known. There a rule is about the rows that
//! agree on a named value where its attribute is released as it is; where it is recoded, the rule
//! is
//! asked of every class, which is more than it must be. What is released is judged by its labels.

use hedgerow_policy::{Method, Policy, Rule};
use hedgerow_privacy::{ConcernedLabels, Guarantee, about_some_classes};
use hedgerow_release::known_values::{is_value_of, may_stand_for_any};
use hedgerow_table::{InputError, Level};

use crate::bind::Bound;
use crate::declared_range::public_cover;

/// The guarantees of a rule, and the labels that they are about where these are not all.
pub fn about(
    bound: &Bound<'_>,
    rule: &Rule,
    guarantees: Vec<Box<dyn Guarantee>>,
) -> (Vec<Box<dyn Guarantee>>, Vec<ConcernedLabels>) {
    if rule.only_where.is_empty() {
        return (guarantees, Vec::new());
    }
    let position = |name: &String| bound.judged_domains().iter().position(|(judged, _)| judged == name);
    let named = rule.only_where.iter().filter_map(|(name, values)| Some(concerned(bound, position(name)?, values)));
    (guarantees.into_iter().map(about_some_classes).collect(), named.collect())
}

/// By level and label, where a rule is about some values of a judged attribute.
fn concerned(bound: &Bound<'_>, attribute: usize, values: &[String]) -> ConcernedLabels {
    let by_level = match bound.quasi.get(attribute) {
        Some(quasi) => {
            let kind = quasi.column.domain.kind();
            let of_level = |(number, level): (usize, &Level)| {
                let of_label: Vec<bool> = (level.labels.iter())
                    .map(|label| may_stand_for_any(&public_cover(quasi.attribute, kind, label), values))
                    .collect();
                // On the lowest level a column keeps the codes of its values.
                match number {
                    0 => level.map.iter().map(|&label| of_label[label as usize]).collect(),
                    _ => of_label,
                }
            };
            quasi.hierarchy.levels().iter().enumerate().map(of_level).collect()
        }
        None => {
            let domain = bound.judged_domains()[attribute].1;
            let codes = 0..domain.cardinality() as u32;
            vec![codes.map(|code| is_value_of(&domain.text(code), values)).collect()]
        }
    };
    ConcernedLabels { attribute, by_level }
}

/// A misspelled value would concern no one, unnoticed.
pub fn check_values(bound: &mut Bound<'_>) -> Result<(), InputError> {
    let policy = bound.policy;
    for rule in &policy.rules {
        for (name, values) in &rule.only_where {
            let Some(column) = bound.table.column(name) else { continue };
            for value in values.iter().filter(|value| column.domain.code_of(value).is_none()) {
                if value.is_empty() || policy.source.nulls.contains(value) {
                    let problem = format!("`where` names {value:?} of `{name}`, which counts as missing");
                    let hint = "name values that an attacker can know; who has none is not known by it";
                    return Err(InputError::new(rule.place.clone(), problem, hint));
                }
                let problem = format!(
                    "no row has {value:?} as its `{name}`: the rule is about no one by it, though labels that may stand \
                     for it are judged"
                );
                let hint = "write the value exactly as it stands in the data";
                bound.warnings.push(InputError::new(rule.place.clone(), problem, hint));
            }
        }
    }
    Ok(())
}

/// Methods and terms that cannot keep it say so.
pub fn refuse(policy: &Policy) -> Result<(), InputError> {
    let Some(rule) = policy.rules.iter().find(|rule| !rule.only_where.is_empty()) else { return Ok(()) };
    let refused = |problem: String, hint: &str| Err(InputError::new(rule.place.clone(), problem, hint));
    let method = policy.publish.method;
    let exchanges = matches!(method, Method::Mondrian | Method::BestCut) && policy.publish.improve;
    match method {
        _ if exchanges => {
            let problem = "`where` is not kept by `improve`: a rule about some known values does not survive merging";
            return refused(
                problem.to_owned(),
                "remove `improve`, or remove `where`: the rule is then about every class",
            );
        }
        Method::FullDomain | Method::Mondrian | Method::BestCut => {}
        _ => {
            let problem = format!("`where` is kept by full-domain, mondrian and best-cut, not by {}", method.name());
            return refused(problem, "use one of these methods, or remove `where`: the rule is then about every class");
        }
    }
    if policy.has_units() {
        let hint = "remove `where`, or give the unit the role `identifier` if every row is about another unit";
        return refused("a rule with `where` counts rows, not units".to_owned(), hint);
    }
    if policy.rules.iter().any(|rule| rule.consistent && !rule.only_where.is_empty()) {
        let hint = "remove one of the two; a rule with `where` looks at whole classes";
        return refused("`consistent` and `where` cannot stand in one rule".to_owned(), hint);
    }
    Ok(())
}

/// Custodians who publish together see no labels while they decide.
pub fn refuse_elsewhere(policy: &Policy, who: &str) -> Result<(), InputError> {
    let Some(rule) = policy.rules.iter().find(|rule| !rule.only_where.is_empty()) else { return Ok(()) };
    let problem =
        format!("{who} does not keep `where`: which labels may stand for a value is not known while it decides");
    Err(InputError::new(rule.place.clone(), problem, "remove `where`: the rule is then about every class"))
}
