//! WHERE as a tree of predicates without negations.
//!
//! SQL knows a third truth value, unknown, for comparisons with a missing value, and keeps the rows
//! for which the whole is true. Negations are pushed down to the comparisons first (De Morgan holds
//! for three values too). In a tree of AND and OR alone, the whole is true exactly when it is true
//! with "unknown" read as "false": so from here on two values do.

use crate::estimate::predicate::Predicate;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    True,
    False,
    /// The number of a predicate in [`Where::predicates`].
    Holds(u32),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// The condition of a query, and the predicates in it with the attribute that each is about.
#[derive(Debug, Clone)]
pub(crate) struct Where {
    pub(crate) condition: Condition,
    pub(crate) predicates: Vec<(usize, Predicate)>,
}

impl Condition {
    /// All of these, put simply.
    pub(crate) fn all(parts: impl IntoIterator<Item = Condition>) -> Condition {
        join(parts, Condition::False, Condition::True, Condition::All)
    }

    /// Any of these, put simply.
    pub(crate) fn any(parts: impl IntoIterator<Item = Condition>) -> Condition {
        join(parts, Condition::True, Condition::False, Condition::Any)
    }

    /// The rest of the condition when some predicates are decided.
    pub(crate) fn given(&self, decided: &impl Fn(u32) -> Option<bool>) -> Condition {
        match self {
            Condition::True | Condition::False => self.clone(),
            Condition::Holds(predicate) => match decided(*predicate) {
                Some(true) => Condition::True,
                Some(false) => Condition::False,
                None => self.clone(),
            },
            Condition::All(parts) => Condition::all(parts.iter().map(|part| part.given(decided))),
            Condition::Any(parts) => Condition::any(parts.iter().map(|part| part.given(decided))),
        }
    }

    /// The numbers of the predicates in it.
    pub(crate) fn predicates(&self) -> Vec<u32> {
        match self {
            Condition::True | Condition::False => Vec::new(),
            Condition::Holds(predicate) => vec![*predicate],
            Condition::All(parts) | Condition::Any(parts) => parts.iter().flat_map(Condition::predicates).collect(),
        }
    }

    pub(crate) fn mentions(&self, wanted: &impl Fn(u32) -> bool) -> bool {
        match self {
            Condition::True | Condition::False => false,
            Condition::Holds(predicate) => wanted(*predicate),
            Condition::All(parts) | Condition::Any(parts) => parts.iter().any(|part| part.mentions(wanted)),
        }
    }

    /// How many nodes the tree has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Condition::All(parts) | Condition::Any(parts) => 1 + parts.iter().map(Condition::size).sum::<usize>(),
            _ => 1,
        }
    }
}

fn join(
    parts: impl IntoIterator<Item = Condition>,
    decides: Condition,
    neutral: Condition,
    of: fn(Vec<Condition>) -> Condition,
) -> Condition {
    let mut kept: Vec<Condition> = Vec::new();
    for part in parts {
        if part == decides {
            return decides;
        }
        if part != neutral && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match kept.len() {
        0 => neutral,
        1 => kept.remove(0),
        _ => of(kept),
    }
}
