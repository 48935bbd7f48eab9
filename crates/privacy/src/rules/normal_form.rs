//! Guardian normal form: whether published tables keep rules by their schemas alone (Jin and others
//! 2010, definitions 3 to 5).
//!
//! Attributes are vertices, joined when some table holds both. `Q ⇸ S` is kept when S cannot be
//! reached from Q, or when a *guardian* table exists. A table with attributes A guards the rule
//! when it holds S; when it keeps `W ⇸ S` by itself, W being what of Q it holds and what else it
//! holds that the other tables connect with Q; and when S, taken out of it, can no longer be
//! reached from Q. All knowledge then has to pass the one table that is anonymized against it.
//!
//! The lemma behind it is exact where the guardian is bucketized. What is reachable from Q without
//! the guardian's S and what is reachable from S have no attribute in common; of all tables that
//! agree with the release, every arrangement of one side goes with equally many of the other, so
//! that within a bucket S is spread as the bucket's counts say, whatever else is published. Two
//! things are taken for granted: that S alone is harmless ([`super::feasibility`]), and that a
//! table's guard is a guard against all its other attributes or against at least those in W.
//!
//! A dependency that the attacker knows is given as one more table without any guard: no worse can
//! be known.
//!
//! Cost: for each rule and table a few closures over the tables, each a handful of bit operations.

use super::{AttributeSet, Rule};
use crate::Model;

/// One published table: what it holds, and against what it is anonymized.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    pub attributes: AttributeSet,
    pub guards: Vec<Guard>,
}

/// Within its table alone, `know ⇸ protect` holds with these guarantees.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    pub know: AttributeSet,
    pub protect: AttributeSet,
    pub require: Vec<Model>,
}

/// How a rule stands with some published tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NormalFormStanding {
    /// Nothing connects what is known with what is protected.
    NotReachable,
    /// The position of the guardian table.
    Guarded(usize),
    /// A way from what is known to what is protected that no guardian closes.
    Broken(Vec<Hop>),
}

impl NormalFormStanding {
    pub fn is_kept(&self) -> bool {
        !matches!(self, NormalFormStanding::Broken(_))
    }
}

/// One step of a way: two attributes of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    pub from: usize,
    pub table: usize,
    pub to: usize,
}

/// How every rule stands, in the order of the rules.
pub fn standings(rules: &[Rule], schemas: &[Schema]) -> Vec<NormalFormStanding> {
    rules.iter().map(|rule| standing(rule, schemas)).collect()
}

fn standing(rule: &Rule, schemas: &[Schema]) -> NormalFormStanding {
    let reached = reach(rule.know, schemas.iter().map(|schema| schema.attributes));
    // One attribute that stays hidden hides the combination.
    if !rule.protect.is_subset(reached) {
        return NormalFormStanding::NotReachable;
    }
    let mut open_way = None;
    for (table, schema) in schemas.iter().enumerate() {
        for guard in schema.guards.iter().filter(|guard| keeps_alone(rule, schemas, table, guard)) {
            let tables = || without(schemas, table, guard.protect);
            let left = reach(rule.know, tables());
            if !left.meets(guard.protect) {
                return NormalFormStanding::Guarded(table);
            }
            open_way = open_way.or_else(|| Some(way(rule.know, left & guard.protect, tables())));
        }
    }
    let all = schemas.iter().map(|schema| schema.attributes);
    NormalFormStanding::Broken(open_way.unwrap_or_else(|| way(rule.know, rule.protect, all)))
}

/// Conditions (i) and (ii): the table holds what the guard protects, and the guard reaches as far
/// as the rule needs.
fn keeps_alone(rule: &Rule, schemas: &[Schema], table: usize, guard: &Guard) -> bool {
    let attributes = schemas[table].attributes;
    if !guard.protect.is_subset(attributes) || !rule.is_met_by(guard.protect, &guard.require) {
        return false;
    }
    let others = schemas.iter().enumerate().filter(|(other, _)| *other != table).map(|(_, schema)| schema.attributes);
    let known_here = (reach(rule.know, others) & attributes) - guard.protect;
    known_here.is_subset(guard.know)
}

/// The tables after some attributes are taken out of one of them.
fn without(schemas: &[Schema], table: usize, taken: AttributeSet) -> impl Iterator<Item = AttributeSet> + Clone {
    let of = move |(index, schema): (usize, &Schema)| {
        if index == table { schema.attributes - taken } else { schema.attributes }
    };
    schemas.iter().enumerate().map(of)
}

/// Everything connected with some attributes, these included.
fn reach(from: AttributeSet, tables: impl Iterator<Item = AttributeSet> + Clone) -> AttributeSet {
    let mut reached = from;
    loop {
        let next = tables.clone().filter(|table| table.meets(reached)).fold(reached, |all, table| all | table);
        if next == reached {
            return reached;
        }
        reached = next;
    }
}

/// A shortest way, found breadth first; empty when there is none.
fn way(from: AttributeSet, to: AttributeSet, tables: impl Iterator<Item = AttributeSet> + Clone) -> Vec<Hop> {
    let mut hops: Vec<Hop> = Vec::new();
    let mut seen = from;
    let mut queue: std::collections::VecDeque<usize> = from.iter().collect();
    while let Some(attribute) = queue.pop_front() {
        for (table, attributes) in tables.clone().enumerate().filter(|(_, attributes)| attributes.contains(attribute)) {
            for next in (attributes - seen).iter() {
                hops.push(Hop { from: attribute, table, to: next });
                if to.contains(next) {
                    return back_from(next, from, &hops);
                }
                queue.push_back(next);
            }
            seen = seen | attributes;
        }
    }
    Vec::new()
}

fn back_from(end: usize, start: AttributeSet, hops: &[Hop]) -> Vec<Hop> {
    let mut path = Vec::new();
    let mut at = end;
    while !start.contains(at) {
        let Some(&hop) = hops.iter().find(|hop| hop.to == at) else { break };
        path.push(hop);
        at = hop.from;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSPITAL: usize = 0;
    const AGE: usize = 1;
    const GENDER: usize = 2;
    const ZIPCODE: usize = 3;
    const RACE: usize = 4;
    const ICD: usize = 5;

    fn set(attributes: &[usize]) -> AttributeSet {
        attributes.iter().copied().collect()
    }

    fn required() -> Vec<Model> {
        vec![Model::DistinctLDiversity { l: 2 }]
    }

    fn rules() -> Vec<Rule> {
        let rule = |know: &[usize], protect| Rule { know: set(know), protect: set(&[protect]), require: required() };
        vec![rule(&[AGE, ICD], RACE), rule(&[GENDER, ICD], ZIPCODE), rule(&[HOSPITAL, RACE], ZIPCODE)]
    }

    fn table(attributes: &[usize], guard: Option<(&[usize], usize)>) -> Schema {
        let guard =
            guard.map(|(know, protect)| Guard { know: set(know), protect: set(&[protect]), require: required() });
        Schema { attributes: set(attributes), guards: guard.into_iter().collect() }
    }

    #[test]
    fn table_3_is_in_normal_form() {
        let schemas = [table(&[HOSPITAL, AGE, GENDER, ICD], None), table(&[RACE, ZIPCODE], Some((&[RACE], ZIPCODE)))];
        let expected =
            [NormalFormStanding::NotReachable, NormalFormStanding::NotReachable, NormalFormStanding::Guarded(1)];
        assert_eq!(standings(&rules(), &schemas), expected);
    }

    #[test]
    fn table_4_guards_rule_1_and_breaks_rule_2() {
        let schemas = [
            table(&[GENDER, ICD, HOSPITAL], Some((&[ICD, GENDER], HOSPITAL))),
            table(&[AGE, HOSPITAL, ZIPCODE], Some((&[HOSPITAL], ZIPCODE))),
            table(&[AGE, HOSPITAL, GENDER, RACE], Some((&[AGE, HOSPITAL, GENDER], RACE))),
            table(&[AGE, ZIPCODE], None),
        ];
        let found = standings(&rules(), &schemas);
        assert_eq!(found[0], NormalFormStanding::Guarded(2));
        let way = [Hop { from: GENDER, table: 0, to: HOSPITAL }, Hop { from: HOSPITAL, table: 1, to: ZIPCODE }];
        assert_eq!(found[1], NormalFormStanding::Broken(way.to_vec()));
    }

    #[test]
    fn a_weaker_guard_does_not_guard() {
        let mut schema = table(&[RACE, ZIPCODE], Some((&[RACE], ZIPCODE)));
        let mut rule = rules()[2].clone();
        rule.require = vec![Model::DistinctLDiversity { l: 3 }];
        let way = NormalFormStanding::Broken(vec![Hop { from: RACE, table: 0, to: ZIPCODE }]);
        let rules = [rule];
        assert_eq!(standings(&rules, std::slice::from_ref(&schema)), [way]);
        schema.guards[0].require = vec![Model::FrequencyLDiversity { l: hedgerow_table::Ratio::integer(3) }];
        assert_eq!(standings(&rules, &[schema]), [NormalFormStanding::Guarded(0)]);
    }

    #[test]
    fn one_hidden_attribute_hides_a_combination() {
        let both = [Rule { know: set(&[AGE]), protect: set(&[RACE, ZIPCODE]), require: required() }];
        let schemas = [table(&[AGE, RACE], None), table(&[ZIPCODE], None)];
        assert_eq!(standings(&both, &schemas), [NormalFormStanding::NotReachable]);
        let guarded = [table(&[AGE, RACE], None), table(&[AGE, ZIPCODE], Some((&[AGE], ZIPCODE)))];
        assert_eq!(standings(&both, &guarded), [NormalFormStanding::Guarded(1)]);
    }
}
