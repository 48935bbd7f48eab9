//! Functional dependencies that an attacker knows. If X → S, an attacker who learns X learns S, so
//! `Q ⇸ S` cannot hold unless `Q ⇸ X` does (Jin and others 2010, theorem 3.2). What of X is already
//! known need not be learned: the rule added protects the rest, and where nothing is left, no
//! publication of S keeps the rule.
//!
//! The theorem says *only if*: the added rules are needed and need not be enough. An attacker who
//! can also work out which value of X goes with which of S, say from how often each occurs, learns
//! more; see [`super::standings`], where a dependency counts as a table that is already out.

use super::{AttributeSet, Rule};

/// `from → to`: rows that agree on all of `from` agree on `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    pub from: AttributeSet,
    /// Not among `from`.
    pub to: usize,
}

/// The rule that a dependency adds to a rule, both by their position among those given; `of` may be
/// an added one, counted on from the last given.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    pub of: usize,
    pub dependency: usize,
    /// `None` when the attacker of the rule knows all that determines what it protects: no
    /// publication keeps it.
    pub rule: Option<Rule>,
}

/// Chains of dependencies with several attributes on the left can add very many combinations;
/// beyond these the weaker ones are not listed. [`super::standings`] does not rest on them.
const ADDED_MAX: usize = 1024;

/// All attributes that follow from some by the dependencies.
pub fn closure(known: AttributeSet, dependencies: &[Dependency]) -> AttributeSet {
    let mut closed = known;
    loop {
        let next = dependencies.iter().filter(|dependency| dependency.from.is_subset(closed));
        let next = next.fold(closed, |closed, dependency| closed.with(dependency.to));
        if next == closed {
            return closed;
        }
        closed = next;
    }
}

/// The rules that the dependencies add, until none is new.
pub fn expand(rules: &[Rule], dependencies: &[Dependency]) -> Vec<Added> {
    let mut all: Vec<Rule> = rules.to_vec();
    let mut added = Vec::new();
    let mut next = 0;
    while next < all.len() {
        let rule = all[next].clone();
        for (index, dependency) in dependencies.iter().enumerate() {
            // The combination follows from X when each of its attributes is X's, known, or the one
            // that follows.
            if !rule.protect.contains(dependency.to) {
                continue;
            }
            let protect = (rule.protect.without(dependency.to) | dependency.from) - rule.know;
            if protect.is_empty() {
                added.push(Added { of: next, dependency: index, rule: None });
                continue;
            }
            let derived = Rule { protect, ..rule.clone() };
            if all.len() - rules.len() < ADDED_MAX && !all.iter().any(|known| derived.follows_from(known)) {
                all.push(derived.clone());
                added.push(Added { of: next, dependency: index, rule: Some(derived) });
            }
        }
        next += 1;
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    fn set(attributes: &[usize]) -> AttributeSet {
        attributes.iter().copied().collect()
    }

    fn rule(know: &[usize], protect: &[usize]) -> Rule {
        Rule { know: set(know), protect: set(protect), require: vec![Model::DistinctLDiversity { l: 2 }] }
    }

    #[test]
    fn a_dependency_protects_what_determines() {
        // 0 ⇸ 2 and 1 → 2 give 0 ⇸ 1; and by 3 → 1 also 0 ⇸ 3.
        let dependencies = [Dependency { from: set(&[1]), to: 2 }, Dependency { from: set(&[3]), to: 1 }];
        let added = expand(&[rule(&[0], &[2])], &dependencies);
        let rules: Vec<Option<Rule>> = added.iter().map(|added| added.rule.clone()).collect();
        assert_eq!(rules, [Some(rule(&[0], &[1])), Some(rule(&[0], &[3]))]);
        assert_eq!((added[1].of, added[1].dependency), (1, 1));
    }

    #[test]
    fn known_attributes_need_no_protection() {
        let dependencies = [Dependency { from: set(&[0, 1]), to: 2 }];
        let added = expand(&[rule(&[0], &[2]), rule(&[0, 1], &[2])], &dependencies);
        assert_eq!(added[0].rule, Some(rule(&[0], &[1])));
        assert_eq!(added[1].rule, None, "who knows 0 and 1 knows 2");
    }

    #[test]
    fn circles_end() {
        let dependencies = [Dependency { from: set(&[1]), to: 2 }, Dependency { from: set(&[2]), to: 1 }];
        assert_eq!(expand(&[rule(&[0], &[2])], &dependencies).len(), 1);
        assert_eq!(closure(set(&[1]), &dependencies), set(&[1, 2]));
    }
}
