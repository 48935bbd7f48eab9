//! The condition of a query on one attribute. Every predicate is positive: it is true or it is not,
//! and of SQL's third truth value it makes "not true". Negations are therefore predicates of their
//! own, which a missing value does not fulfil either.

use std::cmp::Ordering;

use hedgerow_table::{Bound, Kind};

use super::like::Like;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Predicate {
    /// `IS NULL`.
    Missing,
    /// `IS NOT NULL`.
    Present,
    Compare(Comparison, Bound),
    CompareText(Comparison, String),
    /// Both ends inclusive.
    Between(Bound, Bound),
    /// Among these numbers or dates, or among none of them.
    Numbers {
        among: Vec<Bound>,
        negated: bool,
    },
    /// Among these texts (sorted), or among none of them.
    Texts {
        among: Vec<String>,
        negated: bool,
    },
    /// One of these texts (sorted), or missing.
    TextsOrMissing(Vec<String>),
    Like {
        pattern: Like,
        negated: bool,
    },
    /// A predicate on numbers of this kind, in a column whose labels mask their digits.
    OfDigits(Kind, Box<Predicate>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order == Ordering::Equal,
            Comparison::Different => order != Ordering::Equal,
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            Comparison::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// The predicate that is true of a present value exactly when this one is not.
    pub(crate) fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::Different,
            Comparison::Different => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }

    /// The same with its sides exchanged.
    pub(crate) fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

impl Predicate {
    /// Of a number or date that is there.
    pub(crate) fn holds_for_number(&self, value: Bound) -> bool {
        let within = |low: &Bound, high: &Bound| *low <= value && value <= *high;
        match self {
            Predicate::Present => true,
            Predicate::Compare(comparison, with) => {
                value.partial_cmp(with).is_some_and(|order| comparison.holds(order))
            }
            Predicate::Between(low, high) => within(low, high),
            Predicate::Numbers { among, negated } => among.contains(&value) != *negated,
            Predicate::OfDigits(_, of) => of.holds_for_number(value),
            _ => false,
        }
    }

    /// Of a text that is there.
    pub(crate) fn holds_for_text(&self, value: &str) -> bool {
        let found = |among: &[String]| among.binary_search_by(|text| text.as_str().cmp(value)).is_ok();
        match self {
            Predicate::Present => true,
            Predicate::CompareText(comparison, with) => comparison.holds(value.cmp(with.as_str())),
            Predicate::Texts { among, negated } => found(among) != *negated,
            Predicate::TextsOrMissing(among) => found(among),
            Predicate::Like { pattern, negated } => pattern.matches(value) != *negated,
            Predicate::OfDigits(_, of) => Bound::parse(value).is_some_and(|value| of.holds_for_number(value)),
            _ => false,
        }
    }

    /// Whether it holds for all numbers from `low` to `high`, or for none; `None` when it depends.
    pub(super) fn over(&self, low: f64, high: f64) -> Option<bool> {
        let ends = [low, high].map(|end| self.holds_for_number(Bound::Float(end)));
        let is_inside = |bound: Bound| Bound::Float(low) <= bound && bound <= Bound::Float(high);
        (!self.numbers().into_iter().any(is_inside) && ends[0] == ends[1]).then_some(ends[0])
    }

    pub(crate) fn holds_for_missing(&self) -> bool {
        matches!(self, Predicate::Missing | Predicate::TextsOrMissing(_))
    }

    /// The numbers and dates it names: it does not change between two of them.
    pub(crate) fn numbers(&self) -> Vec<Bound> {
        match self {
            Predicate::Compare(_, with) => vec![*with],
            Predicate::Between(low, high) => vec![*low, *high],
            Predicate::Numbers { among, .. } => among.clone(),
            Predicate::OfDigits(_, of) => of.numbers(),
            _ => Vec::new(),
        }
    }

    /// The texts it names.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Predicate::CompareText(_, with) => vec![with],
            Predicate::Texts { among, .. } | Predicate::TextsOrMissing(among) => {
                among.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        }
    }
}
