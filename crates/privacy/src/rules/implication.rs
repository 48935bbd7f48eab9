//! Which rules follow from others: only what is trivially weaker does (Jin and others 2010, theorem
//! 3.1 and corollary 3.1.1). `Q ⇸ S` follows from `Q' ⇸ S'` exactly when Q ⊆ Q' and S' ⊆ S: who
//! knows less learns no more, and a combination is at least as uncertain as each of its parts. With
//! guarantees of their own, the stronger rule's must also imply the weaker one's.
//!
//! `{A₁} ⇸ A₃` follows from `{A₁, A₂} ⇸ A₃`; nothing else of the two.

use hedgerow_table::Ratio;

use super::{AttributeSet, Rule};
use crate::Model;

/// A rule that another makes superfluous: their positions among the rules given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Implied {
    pub rule: usize,
    pub by: usize,
}

/// The rest of a set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The positions of an irreducible set that implies all, ascending.
    pub kept: Vec<usize>,
    /// Every other rule with one of the kept ones that implies it.
    pub implied: Vec<Implied>,
}

impl Rule {
    pub fn follows_from(&self, stronger: &Rule) -> bool {
        self.know.is_subset(stronger.know) && self.is_met_by(stronger.protect, &stronger.require)
    }

    /// Whether guarantees given for some of what this rule protects are enough for it.
    pub(super) fn is_met_by(&self, protect: AttributeSet, given: &[Model]) -> bool {
        let apart = self.protect != protect;
        protect.is_subset(self.protect)
            && self.require.iter().all(|required| {
                given.iter().any(|given| implies(given, required)) && (!apart || survives_combination(required))
            })
    }
}

/// Of rules that imply each other the first stays.
pub fn reduce(rules: &[Rule]) -> Reduced {
    let beats = |one: usize, other: usize| {
        one != other
            && rules[other].follows_from(&rules[one])
            && (one < other || !rules[one].follows_from(&rules[other]))
    };
    let kept: Vec<usize> = (0..rules.len()).filter(|&rule| !(0..rules.len()).any(|by| beats(by, rule))).collect();
    let implied = (0..rules.len()).filter(|rule| !kept.contains(rule)).filter_map(|rule| {
        let by = kept.iter().copied().find(|&by| beats(by, rule))?;
        Some(Implied { rule, by })
    });
    let implied = implied.collect();
    Reduced { kept, implied }
}

/// Whether a combination of attributes keeps the guarantee whenever one of them does: counting
/// values, shares and entropy can only gain from a finer distribution. A distance from the table's
/// distribution, and shares of named values, need not.
fn survives_combination(model: &Model) -> bool {
    matches!(
        model,
        Model::DistinctLDiversity { .. } | Model::FrequencyLDiversity { .. } | Model::EntropyLDiversity { .. }
    )
}

/// Whether every class that keeps `given` keeps `required`.
fn implies(given: &Model, required: &Model) -> bool {
    let at_least = |one: Ratio, other: Ratio| {
        u128::from(one.numerator) * u128::from(other.denominator)
            >= u128::from(other.numerator) * u128::from(one.denominator)
    };
    match (given, required) {
        (Model::KAnonymity { k: given }, Model::KAnonymity { k: required }) => given >= required,
        (Model::DistinctLDiversity { l: given }, Model::DistinctLDiversity { l: required }) => given >= required,
        // The largest share is at most 1/l, so the entropy is at least log l, and at least ⌈l⌉
        // values occur.
        (
            Model::FrequencyLDiversity { l: given },
            Model::FrequencyLDiversity { l: required } | Model::EntropyLDiversity { l: required },
        )
        | (Model::EntropyLDiversity { l: given }, Model::EntropyLDiversity { l: required }) => {
            at_least(*given, *required)
        }
        (
            Model::FrequencyLDiversity { l: given } | Model::EntropyLDiversity { l: given },
            Model::DistinctLDiversity { l: required },
        ) => given.ceil() >= *required,
        (
            Model::TCloseness { t: given, distance: by, order: of },
            Model::TCloseness { t: required, distance, order },
        ) => by == distance && of == order && at_least(*required, *given),
        (given, required) => given == required,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(know: &[usize], protect: &[usize], l: u64) -> Rule {
        let set = |attributes: &[usize]| attributes.iter().copied().collect::<AttributeSet>();
        Rule { know: set(know), protect: set(protect), require: vec![Model::DistinctLDiversity { l }] }
    }

    #[test]
    fn the_example_of_definition_2() {
        let reduced = reduce(&[rule(&[1], &[3], 2), rule(&[1, 2], &[3], 2)]);
        assert_eq!(reduced, Reduced { kept: vec![1], implied: vec![Implied { rule: 0, by: 1 }] });
    }

    #[test]
    fn more_attributes_on_the_right_are_weaker() {
        let reduced = reduce(&[rule(&[0], &[1], 2), rule(&[0], &[1, 2], 2), rule(&[0, 3], &[1, 2], 2)]);
        assert_eq!(reduced.kept, [0, 2]);
        assert_eq!(reduced.implied, [Implied { rule: 1, by: 0 }]);
    }

    #[test]
    fn a_weaker_guarantee_implies_nothing_stronger() {
        let reduced = reduce(&[rule(&[0, 1], &[2], 2), rule(&[0], &[2], 3)]);
        assert_eq!(reduced.kept, [0, 1]);
        let frequency = Model::FrequencyLDiversity { l: Ratio::from_decimal(2.5).unwrap() };
        assert!(implies(&frequency, &Model::DistinctLDiversity { l: 3 }));
        assert!(!implies(&Model::DistinctLDiversity { l: 3 }, &frequency));
        assert!(implies(&frequency, &Model::EntropyLDiversity { l: Ratio::integer(2) }));
    }

    #[test]
    fn the_same_rule_twice_is_kept_once() {
        let reduced = reduce(&[rule(&[0], &[1], 2), rule(&[0], &[1], 2)]);
        assert_eq!(reduced, Reduced { kept: vec![0], implied: vec![Implied { rule: 1, by: 0 }] });
    }

    #[test]
    fn closeness_of_a_part_says_nothing_of_the_combination() {
        let close = |protect: &[usize]| Rule {
            require: vec![Model::TCloseness {
                t: Ratio::from_decimal(0.2).unwrap(),
                distance: crate::Distance::Equal,
                order: None,
            }],
            ..rule(&[0], protect, 2)
        };
        assert_eq!(reduce(&[close(&[1]), close(&[1, 2])]).kept, [0, 1]);
    }
}
