//! Arithmetic over aggregates, and HAVING: a group is kept where the condition can hold for it, and
//! the answer says whether it certainly does: whether in every table behind the release the group
//! is there and the condition is true of it.
//!
//! The bounds of a calculation are those of interval arithmetic over the bounds of its aggregates:
//! they hold, and may be wider than needed.

use hedgerow_table::InputError;

use super::amount::{Operator, Range, folded, number};
use super::answer::Estimate;
use super::division::NumberType;
use super::refusal::refuse;
use super::tree::Expression;
use crate::estimate::predicate::Comparison;

/// Takes a call and gives the place of its aggregate, and its type.
type TakeCall<'a> = dyn FnMut(&Expression) -> Result<(usize, NumberType), InputError> + 'a;

/// A number for each group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Calculation {
    Number(f64, NumberType),
    /// By its place among the aggregates of the query.
    Aggregate(usize, NumberType),
    Combined(Box<Calculation>, Operator, Box<Calculation>),
}

impl Calculation {
    /// Reads one; `aggregate` takes the calls in it.
    pub(super) fn read(expression: &Expression, aggregate: &mut TakeCall<'_>) -> Result<Calculation, InputError> {
        match expression {
            Expression::Nested(inner) => Calculation::read(inner, aggregate),
            Expression::Number(text) => Ok(Calculation::Number(number(text)?, NumberType::of_literal(text))),
            Expression::Minus(inner) => {
                let inner = Calculation::read(inner, aggregate)?;
                let zero = Box::new(Calculation::Number(0.0, NumberType::Integer));
                Ok(Calculation::Combined(zero, Operator::Minus, Box::new(inner)))
            }
            Expression::Combined { parts, operators } => {
                let parts =
                    parts.iter().map(|part| Calculation::read(part, aggregate)).collect::<Result<Vec<_>, _>>()?;
                folded(parts, operators, |left, by, right| Calculation::Combined(Box::new(left), by, Box::new(right)))
            }
            Expression::Call(_) => {
                let (place, number) = aggregate(expression)?;
                Ok(Calculation::Aggregate(place, number))
            }
            Expression::Name { .. } => {
                refuse("a column among aggregates", "calculate within the aggregate, or use WHERE for a column")
            }
            other => refuse(
                format!("{} stands where an aggregate is expected", other.kind()),
                "calculate with aggregates, numbers and + - * /",
            ),
        }
    }

    pub(super) fn contains_aggregate(expression: &Expression) -> bool {
        match expression {
            Expression::Nested(inner) | Expression::Minus(inner) => Calculation::contains_aggregate(inner),
            Expression::Combined { parts, .. } => parts.iter().any(Calculation::contains_aggregate),
            Expression::Call(_) => true,
            _ => false,
        }
    }

    /// The places of the aggregates in it.
    pub(crate) fn aggregates(&self) -> Vec<usize> {
        match self {
            Calculation::Number(..) => Vec::new(),
            Calculation::Aggregate(place, _) => vec![*place],
            Calculation::Combined(left, _, right) => [left.aggregates(), right.aggregates()].concat(),
        }
    }

    /// From the aggregates of a group.
    pub(crate) fn of(&self, found: &[Aggregated]) -> Estimate {
        match self {
            Calculation::Aggregate(place, _) => found[*place].estimate,
            _ => match self.range(found) {
                Some(Range { mean, low, high, .. }) => {
                    // Rounding may put what is expected next to its bounds.
                    let estimate = if mean < low { low } else { mean };
                    let estimate = if estimate > high { high } else { estimate };
                    Estimate { estimate, certain: low, possible: high, whole: [None; 3] }
                }
                None => Estimate { estimate: f64::NAN, certain: f64::NAN, possible: f64::NAN, whole: [None; 3] },
            },
        }
    }

    /// `None` where the result is not a number: an aggregate of no rows, or a division by zero.
    fn range(&self, found: &[Aggregated]) -> Option<Range> {
        match self {
            Calculation::Number(value, number) => Some(Range::point(*value, *number)),
            Calculation::Aggregate(place, number) => {
                let Aggregated { estimate: Estimate { estimate, certain, possible, .. }, defined } = found[*place];
                let is_number = !certain.is_nan() && !possible.is_nan();
                let (mean, low, high) = (estimate, certain, possible);
                is_number.then_some(Range { mean, low, high, number: *number, defined })
            }
            Calculation::Combined(left, by, right) => {
                let (left, right) = (left.range(found)?, right.range(found)?);
                let range = left.combined(*by, right)?;
                // It is calculated once, with what is expected of the aggregates.
                let is_whole = *by == Operator::Over && range.number == NumberType::Integer;
                Some(if is_whole { Range { mean: without_fraction(left.mean / right.mean), ..range } } else { range })
            }
        }
    }
}

/// Sums of shares round: what is next to a whole number is meant to be that.
fn without_fraction(quotient: f64) -> f64 {
    let nearest = quotient.round();
    if (quotient - nearest).abs() <= 1e-9 * quotient.abs().max(1.0) { nearest } else { quotient.trunc() }
}

/// An aggregate of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Aggregated {
    pub(crate) estimate: Estimate,
    /// Whether it is a number in every table: the sum and the like of no values is none.
    pub(crate) defined: bool,
}

/// Whether something holds: for the estimates, for every table, for some table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TruthBounds {
    pub(crate) likely: bool,
    pub(crate) certain: bool,
    pub(crate) possible: bool,
}

impl TruthBounds {
    /// In one word, as an answer shows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            TruthBounds { certain: true, .. } => "certain",
            TruthBounds { likely: true, .. } => "likely",
            _ => "possible",
        }
    }
}

/// The condition of HAVING.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Having {
    Compared(Calculation, Comparison, Calculation),
    All(Vec<Having>),
    Any(Vec<Having>),
}

impl Having {
    pub(super) fn read(
        expression: &Expression,
        negated: bool,
        aggregate: &mut TakeCall<'_>,
    ) -> Result<Having, InputError> {
        match expression {
            Expression::Nested(inner) => Having::read(inner, negated, aggregate),
            Expression::Not(inner) => Having::read(inner, !negated, aggregate),
            Expression::All(parts) | Expression::Any(parts) => {
                let all = matches!(expression, Expression::All(_)) != negated;
                let parts =
                    parts.iter().map(|part| Having::read(part, negated, aggregate)).collect::<Result<Vec<_>, _>>()?;
                Ok(if all { Having::All(parts) } else { Having::Any(parts) })
            }
            Expression::Compared(left, by, right) => {
                let (left, right) = (Calculation::read(left, aggregate)?, Calculation::read(right, aggregate)?);
                Ok(Having::Compared(left, if negated { by.negated() } else { *by }, right))
            }
            Expression::Between { of, low, high, negated: not } => {
                let of = Calculation::read(of, aggregate)?;
                let (low, high) = (Calculation::read(low, aggregate)?, Calculation::read(high, aggregate)?);
                let negated = negated != *not;
                let by = |by: Comparison| if negated { by.negated() } else { by };
                let parts = vec![
                    Having::Compared(of.clone(), by(Comparison::GreaterOrEqual), low),
                    Having::Compared(of, by(Comparison::LessOrEqual), high),
                ];
                Ok(if negated { Having::Any(parts) } else { Having::All(parts) })
            }
            other => refuse(
                format!("{} is not answered in HAVING", other.kind()),
                "compare aggregates with numbers, such as HAVING COUNT(*) >= 10; conditions on columns belong into WHERE",
            ),
        }
    }

    /// The places of the aggregates in it.
    pub(crate) fn aggregates(&self) -> Vec<usize> {
        match self {
            Having::All(parts) | Having::Any(parts) => parts.iter().flat_map(Having::aggregates).collect(),
            Having::Compared(left, _, right) => [left.aggregates(), right.aggregates()].concat(),
        }
    }

    /// `rows` is the place of COUNT(*), where a group is there only if it has rows: in a table in
    /// which it is not, nothing holds for it.
    pub(crate) fn stands_in_group(&self, found: &[Aggregated], rows: Option<usize>) -> TruthBounds {
        let Some(rows) = rows else { return self.stands(found) };
        let count = found[rows].estimate;
        let mut there = found.to_vec();
        there[rows].estimate.certain = count.certain.max(1.0);
        let TruthBounds { likely, certain, possible } = self.stands(&there);
        // Less than half a row is expected: more likely than not the group is not there.
        let likely_there = count.estimate.is_nan() || count.estimate >= 0.5;
        TruthBounds { likely: likely && likely_there, certain: certain && count.certain >= 1.0, possible }
    }

    /// In a group that is there.
    fn stands(&self, found: &[Aggregated]) -> TruthBounds {
        let all = |parts: &[Having], with: fn(bool, bool) -> bool, start: bool| {
            let start = TruthBounds { likely: start, certain: start, possible: start };
            parts.iter().map(|part| part.stands(found)).fold(start, |all, part| TruthBounds {
                likely: with(all.likely, part.likely),
                certain: with(all.certain, part.certain),
                possible: with(all.possible, part.possible),
            })
        };
        match self {
            Having::All(parts) => all(parts, |a, b| a && b, true),
            Having::Any(parts) => all(parts, |a, b| a || b, false),
            Having::Compared(left, by, right) => compared(left.range(found), *by, right.range(found)),
        }
    }
}

/// A comparison with what is not there is not true.
fn compared(left: Option<Range>, by: Comparison, right: Option<Range>) -> TruthBounds {
    let (Some(left), Some(right)) = (left, right) else {
        return TruthBounds { likely: false, certain: false, possible: false };
    };
    let (lowest, highest) = (left.low - right.high, left.high - right.low);
    // Two that are infinite may differ by anything.
    let (lowest, highest) = (
        if lowest.is_nan() { f64::NEG_INFINITY } else { lowest },
        if highest.is_nan() { f64::INFINITY } else { highest },
    );
    let expected = left.mean - right.mean;
    let (certain, possible) = match by {
        Comparison::Less => (highest < 0.0, lowest < 0.0),
        Comparison::LessOrEqual => (highest <= 0.0, lowest <= 0.0),
        Comparison::Greater => (lowest > 0.0, highest > 0.0),
        Comparison::GreaterOrEqual => (lowest >= 0.0, highest >= 0.0),
        Comparison::Equal => (lowest == 0.0 && highest == 0.0, lowest <= 0.0 && highest >= 0.0),
        Comparison::Different => (lowest > 0.0 || highest < 0.0, !(lowest == 0.0 && highest == 0.0)),
    };
    let likely = match by {
        Comparison::Less => expected < 0.0,
        Comparison::LessOrEqual => expected <= 0.0,
        Comparison::Greater => expected > 0.0,
        Comparison::GreaterOrEqual => expected >= 0.0,
        Comparison::Equal => expected == 0.0,
        Comparison::Different => expected != 0.0 && !expected.is_nan(),
    };
    TruthBounds { likely, certain: certain && left.defined && right.defined, possible }
}
