//! WHERE, read: a tree of AND, OR and NOT over comparisons of one column with values.
//!
//! Values are compared as the column's kind requires: numbers as numbers, dates as days, everything
//! else as text by its bytes. A value that is a label of the column, such as `'20 to 29'`, stands
//! for what the label covers.

use hedgerow_table::date::Date;
use hedgerow_table::spelling::nearest;
use hedgerow_table::{Bound, InputError, Kind};

use super::columns::{Columns, column_of, hyphen};
use super::condition::Condition;
use super::refusal::{refuse, shortened};
use super::tree::Expression;
use crate::estimate::axis::Under;
use crate::estimate::declared::Masks;
use crate::estimate::like::Like;
use crate::estimate::mask;
use crate::estimate::predicate::{Comparison, Predicate};

/// The most predicates in a WHERE.
const PREDICATES_MAX: usize = 4096;

/// The most notes about one query.
const NOTES_MAX: usize = 5;

pub(super) struct Reader<'a, 'c> {
    columns: &'a Columns<'c>,
    pub(super) predicates: Vec<(usize, Predicate)>,
    pub(super) notes: Vec<String>,
}

/// A value as it is written.
enum Literal {
    Number(String),
    Text(String),
}

impl<'a, 'c> Reader<'a, 'c> {
    pub(super) fn new(columns: &'a Columns<'c>) -> Reader<'a, 'c> {
        Reader { columns, predicates: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn condition(&mut self, expression: &Expression, negated: bool) -> Result<Condition, InputError> {
        match expression {
            Expression::Nested(inner) => self.condition(inner, negated),
            Expression::Not(inner) => self.condition(inner, !negated),
            Expression::All(parts) | Expression::Any(parts) => {
                let all = matches!(expression, Expression::All(_)) != negated;
                let parts = parts.iter().map(|part| self.condition(part, negated)).collect::<Result<Vec<_>, _>>()?;
                Ok(if all { Condition::all(parts) } else { Condition::any(parts) })
            }
            Expression::Boolean(value) => Ok(if *value != negated { Condition::True } else { Condition::False }),
            Expression::Number(_) | Expression::Text(_) | Expression::Null | Expression::Parameter(_) => {
                refuse("a value alone is not a condition", "compare a column with it")
            }
            Expression::Compared(left, by, right) => self.compared(left, *by, right, negated),
            Expression::Combined { operators, .. } => {
                let hint = hyphen(expression, self.columns)
                    .unwrap_or_else(|| "use =, <>, <, <=, >, >=, BETWEEN, IN or LIKE".to_owned());
                refuse(format!("the operator {} is not answered in WHERE", operators[0]), hint)
            }
            Expression::Between { of, low, high, negated: not } => self.between(of, low, high, negated != *not),
            Expression::Among { of, list, negated: not } => self.listed(of, list, negated != *not),
            Expression::Missing { of, negated: not } => self.missing(of, negated != *not),
            Expression::Like { of, pattern, escape, any_case, negated: not } => {
                self.like(of, pattern, escape.as_deref(), *any_case, negated != *not)
            }
            Expression::Name { .. } => match column_of(expression, self.columns)? {
                Some(column) => refuse(
                    format!("the column `{}` alone is not a condition", self.columns.all[column].column.name),
                    "compare it with a value",
                ),
                None => refuse("a name alone is not a condition", "compare a column with a value"),
            },
            Expression::Other("a subquery") => {
                refuse("a subquery is not answered", "query twice, and put the values you got into IN (…)")
            }
            Expression::Minus(_) | Expression::Call(_) | Expression::Case { .. } | Expression::Other(_) => refuse(
                format!("{} is not answered in WHERE", expression.kind()),
                "compare columns with values by =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL; join by AND, OR, NOT",
            ),
        }
    }

    fn holds(&mut self, column: usize, predicate: Predicate) -> Result<Condition, InputError> {
        let number = match self.predicates.iter().position(|known| *known == (column, predicate.clone())) {
            Some(number) => number,
            None => {
                if self.predicates.len() == PREDICATES_MAX {
                    return refuse(format!("more than {PREDICATES_MAX} comparisons"), "use IN (…) or BETWEEN");
                }
                self.predicates.push((column, predicate));
                self.predicates.len() - 1
            }
        };
        Ok(Condition::Holds(number as u32))
    }

    fn column(&self, expression: &Expression) -> Result<usize, InputError> {
        if let Some(column) = column_of(expression, self.columns)? {
            return Ok(column);
        }
        let hint = hyphen(expression, self.columns)
            .unwrap_or_else(|| format!("compare a column with values; the columns are {}", self.columns.listed()));
        refuse(format!("{} stands where a column is expected", expression.kind()), hint)
    }

    fn compared(
        &mut self,
        left: &Expression,
        by: Comparison,
        right: &Expression,
        negated: bool,
    ) -> Result<Condition, InputError> {
        let by = if negated { by.negated() } else { by };
        let is_value = |expression: &Expression| literal(expression).is_ok();
        let (column, by, value) = match (is_value(left), is_value(right)) {
            (false, true) => (self.column(left)?, by, right),
            (true, false) => (self.column(right)?, by.mirrored(), left),
            (true, true) => return refuse("two values are compared with each other", "compare a column with a value"),
            (false, false) => {
                self.column(left)?;
                if column_of(right, self.columns)?.is_some() {
                    return refuse("two columns are compared with each other", "compare a column with a value");
                }
                literal(right)?;
                return refuse("no value to compare with", "compare a column with a value");
            }
        };
        let value = literal(value)?;
        if let Some(under) = self.label(column, &value) {
            return match by {
                Comparison::Equal | Comparison::Different => self.within(column, &under, by == Comparison::Different),
                _ => {
                    let problem = "a label has no order";
                    refuse(problem, "compare by = or <>, or with a value instead of a label")
                }
            };
        }
        let predicate = match self.columns.all[column].axis.kind {
            Kind::Category => {
                let text = value.text().to_owned();
                if matches!(by, Comparison::Equal | Comparison::Different) {
                    self.note_unknown(column, &text);
                }
                match self.of_digits(column, &text) {
                    Some((kind, bound)) => Predicate::OfDigits(kind, Box::new(Predicate::Compare(by, bound))),
                    None => Predicate::CompareText(by, text),
                }
            }
            _ => Predicate::Compare(by, self.bound(column, &value)?),
        };
        self.holds(column, predicate)
    }

    fn between(
        &mut self,
        expression: &Expression,
        low: &Expression,
        high: &Expression,
        negated: bool,
    ) -> Result<Condition, InputError> {
        let column = self.column(expression)?;
        let (low, high) = (literal(low)?, literal(high)?);
        let by = |comparison: Comparison| if negated { comparison.negated() } else { comparison };
        let (from, to) = (by(Comparison::GreaterOrEqual), by(Comparison::LessOrEqual));
        let ends = self.of_digits(column, low.text()).zip(self.of_digits(column, high.text()));
        let (from, to) = if let Some(((kind, low), (_, high))) = ends {
            let of = |by: Comparison, bound: Bound| Predicate::OfDigits(kind, Box::new(Predicate::Compare(by, bound)));
            (of(from, low), of(to, high))
        } else if self.columns.all[column].axis.kind == Kind::Category {
            (Predicate::CompareText(from, low.text().to_owned()), Predicate::CompareText(to, high.text().to_owned()))
        } else {
            (Predicate::Compare(from, self.bound(column, &low)?), Predicate::Compare(to, self.bound(column, &high)?))
        };
        let parts = [self.holds(column, from)?, self.holds(column, to)?];
        Ok(if negated { Condition::any(parts) } else { Condition::all(parts) })
    }

    fn listed(&mut self, expression: &Expression, list: &[Expression], negated: bool) -> Result<Condition, InputError> {
        let column = self.column(expression)?;
        let (mut texts, mut numbers, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let kind = self.columns.all[column].axis.kind;
        for value in list {
            let value = literal(value)?;
            if let Some(under) = self.label(column, &value) {
                parts.push(self.within(column, &under, negated)?);
            } else if kind == Kind::Category {
                self.note_unknown(column, value.text());
                match self.of_digits(column, value.text()) {
                    Some((_, bound)) => numbers.push(bound),
                    None => texts.push(value.text().to_owned()),
                }
            } else {
                numbers.push(self.bound(column, &value)?);
            }
        }
        texts.sort_unstable();
        texts.dedup();
        if let Some(digits) = self.columns.all[column].axis.digits.filter(|_| !numbers.is_empty()) {
            let among = Predicate::Numbers { among: std::mem::take(&mut numbers), negated };
            parts.push(self.holds(column, Predicate::OfDigits(digits, Box::new(among)))?);
        }
        let rest = if kind == Kind::Category {
            Predicate::Texts { among: texts, negated }
        } else {
            Predicate::Numbers { among: numbers, negated }
        };
        parts.push(self.holds(column, rest)?);
        Ok(if negated { Condition::all(parts) } else { Condition::any(parts) })
    }

    fn missing(&mut self, expression: &Expression, negated: bool) -> Result<Condition, InputError> {
        let column = self.column(expression)?;
        self.holds(column, if negated { Predicate::Present } else { Predicate::Missing })
    }

    fn like(
        &mut self,
        expression: &Expression,
        pattern: &Expression,
        escape: Option<&Expression>,
        any_case: bool,
        negated: bool,
    ) -> Result<Condition, InputError> {
        let column = self.column(expression)?;
        let named = &self.columns.all[column];
        if named.axis.kind != Kind::Category {
            let problem =
                format!("LIKE compares texts, and `{}` holds {}", named.column.name, kind_name(named.axis.kind));
            return refuse(problem, "use BETWEEN, or < and >");
        }
        let hint = "write LIKE '021%': % stands for any text, _ for one character";
        let Literal::Text(pattern) = literal(pattern)? else { return refuse("LIKE takes a text", hint) };
        let escape = match escape.map(literal).transpose()? {
            None => None,
            Some(text) => match (text.text().chars().next(), text.text().chars().count()) {
                (Some(character), 1) => Some(character),
                _ => return refuse("ESCAPE takes one character", hint),
            },
        };
        let Some(pattern) = Like::new(&pattern, escape, any_case) else {
            return refuse("the pattern of LIKE ends in its escape character", hint);
        };
        self.holds(column, Predicate::Like { pattern, negated })
    }

    /// The cover of a label, if the value is a label and not a value of the column.
    fn label(&self, column: usize, value: &Literal) -> Option<Under> {
        let Literal::Text(text) = value else { return None };
        let named = &self.columns.all[column];
        if named.axis.texts.contains(text) || parse(named.axis.kind, text).is_some() {
            return None;
        }
        let code = named.column.domain.code_of(text)?;
        let under = named.axis.under[code as usize].clone();
        let is_label = match under {
            Under::Missing | Under::Everything | Under::SubClass(_) => false,
            // What may be a value is compared as one.
            Under::Mask(_) => named.axis.masks != Masks::Perhaps,
            _ => true,
        };
        is_label.then_some(under)
    }

    /// That a value lies under a label.
    fn within(&mut self, column: usize, under: &Under, negated: bool) -> Result<Condition, InputError> {
        let by = |comparison: Comparison| if negated { comparison.negated() } else { comparison };
        let whole = |value: i64| match self.columns.all[column].axis.kind {
            Kind::Date => Bound::Date(Date(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)),
            _ => Bound::Integer(value),
        };
        let ends = match under {
            Under::Integers(first, last) => [
                first.map(|first| Predicate::Compare(by(Comparison::GreaterOrEqual), whole(first))),
                last.map(|last| Predicate::Compare(by(Comparison::LessOrEqual), whole(last))),
            ],
            Under::Real(low, high) => [
                low.map(|low| Predicate::Compare(by(Comparison::GreaterOrEqual), Bound::Float(low))),
                high.map(|high| Predicate::Compare(by(Comparison::Less), Bound::Float(high))),
            ],
            Under::Numbers(values, _) => [Some(Predicate::Numbers { among: values.clone(), negated }), None],
            Under::Texts(texts, _) => {
                let known = &self.columns.all[column].axis.texts;
                let mut among: Vec<String> = texts.iter().map(|text| known[*text as usize].clone()).collect();
                among.sort_unstable();
                [Some(Predicate::Texts { among, negated }), None]
            }
            Under::Mask(mask) => [Some(Predicate::Like { pattern: Like::of_mask(mask), negated }), None],
            Under::Missing | Under::Everything | Under::SubClass(_) => [None, None],
        };
        let parts = ends.into_iter().flatten().map(|end| self.holds(column, end)).collect::<Result<Vec<_>, _>>()?;
        Ok(if negated { Condition::any(parts) } else { Condition::all(parts) })
    }

    /// A value of a column whose labels mask the digits of numbers: it is compared as a number.
    fn of_digits(&self, column: usize, text: &str) -> Option<(Kind, Bound)> {
        let kind = self.columns.all[column].axis.digits?;
        Some((kind, parse(kind, text)?))
    }

    fn bound(&self, column: usize, value: &Literal) -> Result<Bound, InputError> {
        let named = &self.columns.all[column];
        let (kind, name) = (named.axis.kind, &named.column.name);
        if let Some(bound) = parse(kind, value.text()) {
            return Ok(bound);
        }
        // The names of sub-classes of a cloned release do not occur in queries.
        let statistics = matches!(named.axis.under.first(), Some(Under::SubClass(_)));
        let labels = if statistics { 0 } else { named.column.domain.present() as u32 };
        let labels = (0..labels).map(|code| named.column.domain.text(code)).collect::<Vec<_>>();
        let near = nearest(value.text(), labels.iter().map(String::as_str))
            .map_or(String::new(), |near| format!("; the nearest label is '{near}'"));
        let hint = match kind {
            Kind::Date => format!("write a date as '2024-01-31'{near}"),
            _ => format!("write a number such as 30 or 2.5{near}"),
        };
        refuse(
            format!("'{}' is compared with `{name}`, which holds {}", shortened(value.text()), kind_name(kind)),
            hint,
        )
    }

    /// Says so when a text is nowhere in the release; most often it is misspelled. Where a label
    /// covers everything it may be there all the same.
    fn note_unknown(&mut self, column: usize, text: &str) {
        let named = &self.columns.all[column];
        let is_under = |under: &Under| matches!(under, Under::Mask(mask) if mask::matches(mask, text));
        let known = &named.axis.texts;
        if self.notes.len() == NOTES_MAX
            || known.is_empty()
            || known.iter().any(|known| known == text)
            || named.axis.under.iter().any(is_under)
        {
            return;
        }
        let near = nearest(text, known.iter().map(String::as_str))
            .map_or(String::new(), |near| format!("; the nearest is '{near}'"));
        let (name, text) = (&named.column.name, shortened(text));
        self.notes.push(match named.axis.under.contains(&Under::Everything) {
            false => format!("no value of `{name}` is '{text}'{near}"),
            true => format!("the codebook names no value '{text}' of `{name}`; only `*` may cover it{near}"),
        });
    }
}

impl Literal {
    fn text(&self) -> &str {
        match self {
            Literal::Number(text) | Literal::Text(text) => text,
        }
    }
}

fn literal(expression: &Expression) -> Result<Literal, InputError> {
    let hint = "write a number, a text in single quotes, or a date as DATE '2024-01-31'";
    match expression {
        Expression::Nested(inner) => literal(inner),
        Expression::Minus(inner) => match literal(inner)? {
            Literal::Number(text) if !text.starts_with('-') => Ok(Literal::Number(format!("-{text}"))),
            _ => refuse("a minus before something that is not a number", hint),
        },
        Expression::Number(text) => Ok(Literal::Number(text.clone())),
        Expression::Text(text) => Ok(Literal::Text(text.clone())),
        Expression::Null => refuse("a comparison with NULL is never true", "write IS NULL or IS NOT NULL"),
        Expression::Boolean(_) => refuse("this way of writing a value is not read", hint),
        Expression::Other("a subquery") => {
            refuse("a subquery is not answered", "query twice, and write the value you got")
        }
        other => refuse(format!("{} stands where a value is expected", other.kind()), hint),
    }
}

/// A value of a kind that has an order, written as SQL writes it.
fn parse(kind: Kind, text: &str) -> Option<Bound> {
    match kind {
        Kind::Category => None,
        Kind::Date => Date::parse_iso(text).map(Bound::Date),
        Kind::Integer | Kind::Float => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
            let starts = text.trim_start_matches(['-', '+']);
            let numeric = starts.starts_with(|first: char| first.is_ascii_digit() || first == '.');
            numeric.then(|| text.parse::<i64>().map_or(Bound::Float(number), Bound::Integer))
        }
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "whole numbers",
        Kind::Float => "numbers",
        Kind::Date => "dates",
        Kind::Category => "texts",
    }
}
