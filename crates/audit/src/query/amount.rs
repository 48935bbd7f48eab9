//! The argument of an aggregate: a column, or arithmetic and CASE over columns.
//!
//! The bounds of an expression are those of interval arithmetic: every value that some table gives
//! lies within them, and an expression that names a column twice may have wider ones than needed.
//! For the estimate, what is combined is taken as independent.

use hedgerow_table::InputError;

use super::columns::{Columns, column_of, hyphen};
use super::comparison::Reader;
use super::condition::Condition;
use super::division::{NumberType, quotient};
use super::refusal::refuse;
use super::tree::{ARITHMETIC, Expression};
use crate::estimate::regions::{MISSING, Portion};

/// The most branches of all CASEs in a query.
const BRANCHES_MAX: usize = 256;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Amount {
    Number(f64, NumberType),
    Column(usize, NumberType),
    Combined(Box<Amount>, Operator, Box<Amount>),
    /// The first whose condition holds, else the last; nothing is missing.
    Case(Vec<(Condition, Amount)>, Option<Box<Amount>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Operator {
    pub(super) fn of(sign: &str) -> Option<Operator> {
        Some(match sign {
            "+" => Operator::Plus,
            "-" => Operator::Minus,
            "*" => Operator::Times,
            "/" => Operator::Over,
            _ => return None,
        })
    }
}

/// A number that is not known exactly: what is expected of it, and the least and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) number: NumberType,
    /// Whether it is a number in every table: nothing is missing, nothing divided by zero.
    pub(crate) defined: bool,
}

impl Range {
    pub(crate) fn point(value: f64, number: NumberType) -> Range {
        Range { mean: value, low: value, high: value, number, defined: true }
    }

    /// `None` where the result is never defined: a division by nothing but zero.
    pub(crate) fn combined(self, by: Operator, with: Range) -> Option<Range> {
        let number = self.number.combined(with.number);
        match (by, number) {
            (Operator::Over, NumberType::Integer) => quotient(self, with),
            (Operator::Over, NumberType::Mixed) => {
                // Either may be: within the one or the other.
                let real = Range { number, ..self.of_reals(by, with)? };
                let Some(whole) = quotient(self, with) else { return Some(real) };
                let (low, high) = (whole.low.min(real.low), whole.high.max(real.high));
                Some(Range { low, high, defined: whole.defined && real.defined, ..real })
            }
            _ => self.of_reals(by, with).map(|range| Range { number, ..range }),
        }
    }

    fn of_reals(self, by: Operator, with: Range) -> Option<Range> {
        let ends = |of: fn(f64, f64) -> f64| {
            let all =
                [of(self.low, with.low), of(self.low, with.high), of(self.high, with.low), of(self.high, with.high)];
            (all.into_iter().fold(f64::INFINITY, f64::min), all.into_iter().fold(f64::NEG_INFINITY, f64::max))
        };
        let (mean, (low, high)) = match by {
            Operator::Plus => (self.mean + with.mean, (self.low + with.low, self.high + with.high)),
            Operator::Minus => (self.mean - with.mean, (self.low - with.high, self.high - with.low)),
            // Nothing times the unbounded is nothing.
            Operator::Times => (self.mean * with.mean, ends(|a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b })),
            Operator::Over if with.low == 0.0 && with.high == 0.0 => return None,
            Operator::Over if with.low <= 0.0 && with.high >= 0.0 => {
                (self.mean / with.mean, (f64::NEG_INFINITY, f64::INFINITY))
            }
            Operator::Over => {
                let over = |a: f64, b: f64| if b.is_infinite() { 0.0 } else { a / b };
                (self.mean / with.mean, ends(over))
            }
        };
        let divides_by_zero = by == Operator::Over && with.low <= 0.0 && with.high >= 0.0;
        let defined = self.defined && with.defined && !divides_by_zero;
        let number = NumberType::Real;
        Some(Range { mean: if mean.is_finite() { mean } else { f64::NAN }, low, high, number, defined })
    }
}

impl Amount {
    /// The columns it looks at, ascending.
    pub(crate) fn columns(&self, predicates: &[(usize, crate::estimate::predicate::Predicate)]) -> Vec<usize> {
        let mut found = Vec::new();
        self.collect(predicates, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect(&self, predicates: &[(usize, crate::estimate::predicate::Predicate)], found: &mut Vec<usize>) {
        match self {
            Amount::Number(..) => {}
            Amount::Column(column, _) => found.push(*column),
            Amount::Combined(left, _, right) => {
                left.collect(predicates, found);
                right.collect(predicates, found);
            }
            Amount::Case(branches, last) => {
                for (condition, amount) in branches {
                    found.extend(condition.predicates().into_iter().map(|predicate| predicates[predicate as usize].0));
                    amount.collect(predicates, found);
                }
                last.iter().for_each(|last| last.collect(predicates, found));
            }
        }
    }

    /// The columns whose numbers it calculates with; those of conditions are not among them.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        match self {
            Amount::Number(..) => Vec::new(),
            Amount::Column(column, _) => vec![*column],
            Amount::Combined(left, _, right) => [left.numbers(), right.numbers()].concat(),
            Amount::Case(branches, last) => {
                let amounts = branches.iter().map(|(_, amount)| amount).chain(last.as_deref());
                amounts.flat_map(Amount::numbers).collect()
            }
        }
    }

    /// The type of its values; `None` where it has none.
    pub(crate) fn number(&self) -> Option<NumberType> {
        match self {
            Amount::Number(_, number) | Amount::Column(_, number) => Some(*number),
            Amount::Combined(left, _, right) => Some(left.number()?.combined(right.number()?)),
            Amount::Case(branches, last) => {
                let amounts = branches.iter().map(|(_, amount)| amount).chain(last.as_deref());
                amounts.filter_map(Amount::number).reduce(NumberType::or)
            }
        }
    }

    /// With every column in one region; `None` is missing. `holds` says which predicates do there.
    pub(crate) fn at<'p>(&self, part: &impl Fn(usize) -> &'p Portion, holds: &impl Fn(u32) -> bool) -> Option<Range> {
        match self {
            Amount::Number(value, number) => Some(Range::point(*value, *number)),
            Amount::Column(column, number) => {
                let part = part(*column);
                let Portion { mean, low, high, .. } = *part;
                (part.region != MISSING).then_some(Range { mean, low, high, number: *number, defined: true })
            }
            Amount::Combined(left, by, right) => left.at(part, holds)?.combined(*by, right.at(part, holds)?),
            Amount::Case(branches, last) => {
                let is_true =
                    |condition: &Condition| condition.given(&|predicate| Some(holds(predicate))) == Condition::True;
                match branches.iter().find(|(condition, _)| is_true(condition)) {
                    Some((_, amount)) => amount.at(part, holds),
                    None => last.as_ref()?.at(part, holds),
                }
            }
        }
    }
}

/// Reads an expression over columns; `None` for any other expression.
pub(super) fn read(
    expression: &Expression,
    columns: &Columns<'_>,
    reader: &mut Reader<'_, '_>,
) -> Result<Amount, InputError> {
    let read_inner = |inner: &Expression, reader: &mut Reader<'_, '_>| read(inner, columns, reader);
    match expression {
        Expression::Nested(inner) => read_inner(inner, reader),
        Expression::Number(text) => Ok(Amount::Number(number(text)?, NumberType::of_literal(text))),
        Expression::Minus(inner) => {
            let zero = Box::new(Amount::Number(0.0, NumberType::Integer));
            Ok(Amount::Combined(zero, Operator::Minus, Box::new(read_inner(inner, reader)?)))
        }
        Expression::Name { .. } => {
            let Some(column) = column_of(expression, columns)? else {
                return refuse("a name stands where a number is expected", "name a column of numbers");
            };
            let named = &columns.all[column];
            if !named.axis.kind.is_number() {
                let problem = format!("`{}` holds no numbers to calculate with", named.column.name);
                return refuse(problem, "count its values: COUNT(*) with GROUP BY");
            }
            Ok(Amount::Column(column, NumberType::of(named.axis.kind)))
        }
        Expression::Combined { parts, operators } => {
            if let Some(hint) = hyphen(expression, columns) {
                return refuse("arithmetic over a name that is not a column", hint);
            }
            let amounts = parts.iter().map(|part| read_inner(part, reader)).collect::<Result<Vec<_>, _>>()?;
            folded(amounts, operators, |left, by, right| Amount::Combined(Box::new(left), by, Box::new(right)))
        }
        Expression::Case { branches, otherwise } => {
            if branches.len() > BRANCHES_MAX {
                return refuse(format!("a CASE of more than {BRANCHES_MAX} branches"), "use fewer");
            }
            let mut read_branches = Vec::with_capacity(branches.len());
            for (condition, result) in branches {
                read_branches.push((reader.condition(condition, false)?, result_of(result, columns, reader)?));
            }
            let last = match otherwise {
                Some(last) if !matches!(**last, Expression::Null) => Some(Box::new(read_inner(last, reader)?)),
                _ => None,
            };
            let branches = read_branches;
            // THEN NULL: as if the branch were a CASE without any other.
            Ok(Amount::Case(branches, last))
        }
        other => refuse(
            format!("{} stands where a number is expected", other.kind()),
            "use columns, numbers, + - * / and CASE",
        ),
    }
}

fn result_of(
    expression: &Expression,
    columns: &Columns<'_>,
    reader: &mut Reader<'_, '_>,
) -> Result<Amount, InputError> {
    match expression {
        Expression::Null => Ok(Amount::Case(Vec::new(), None)),
        other => read(other, columns, reader),
    }
}

pub(super) fn number(text: &str) -> Result<f64, InputError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => refuse(format!("`{text}` is not a number"), "write a number such as 12 or 2.5"),
    }
}

/// Operators that bind tighter are combined first; equal ones from the left.
pub(super) fn folded<T>(
    parts: Vec<T>,
    operators: &[&'static str],
    combine: impl Fn(T, Operator, T) -> T,
) -> Result<T, InputError> {
    let mut signs = Vec::with_capacity(operators.len());
    for sign in operators {
        match Operator::of(sign) {
            Some(operator) => signs.push(operator),
            None if ARITHMETIC.contains(sign) => {
                return refuse(format!("the operator {sign} is not answered"), "use + - * and /");
            }
            None => return refuse(format!("the operator {sign} is not answered"), "use + - * and /"),
        }
    }
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return refuse("an expression without parts", "name a column") };
    let mut terms = vec![first];
    let mut sums = Vec::new();
    for (operator, part) in signs.into_iter().zip(parts) {
        match (operator, terms.pop()) {
            (Operator::Times | Operator::Over, Some(left)) => terms.push(combine(left, operator, part)),
            (_, left) => {
                terms.extend(left);
                terms.push(part);
                sums.push(operator);
            }
        }
    }
    let mut terms = terms.into_iter();
    let first = terms.next();
    let folded =
        first.map(|first| sums.into_iter().zip(terms).fold(first, |left, (by, right)| combine(left, by, right)));
    folded.map_or_else(|| refuse("an expression without parts", "name a column"), Ok)
}
