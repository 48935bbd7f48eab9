//! A query as it was written: what SQL can request of a release, before names are looked up.

use crate::estimate::predicate::Comparison;

/// Signs of arithmetic: answered within aggregates and over them, refused elsewhere.
pub(super) const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];

/// A SELECT that was read once: it can be answered from any release, and be sent as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub(super) items: Vec<Item>,
    pub(super) condition: Option<Expression>,
    pub(super) groups: Vec<Expression>,
    pub(super) having: Option<Expression>,
    /// Each with whether it is descending.
    pub(super) order: Vec<(Expression, bool)>,
    pub(super) limit: Limit,
}

/// How many rows LIMIT leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    All,
    Rows(usize),
    /// The number of a parameter.
    Parameter(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Everything,
    One { expression: Expression, alias: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    /// A name, perhaps with that of the table before a dot.
    Name {
        name: String,
        quoted: bool,
    },
    Number(String),
    Text(String),
    Boolean(bool),
    Null,
    /// A value that comes later: its number, from 1.
    Parameter(usize),
    Nested(Box<Expression>),
    Minus(Box<Expression>),
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Compared(Box<Expression>, Comparison, Box<Expression>),
    Between {
        of: Box<Expression>,
        low: Box<Expression>,
        high: Box<Expression>,
        negated: bool,
    },
    Among {
        of: Box<Expression>,
        list: Vec<Expression>,
        negated: bool,
    },
    Missing {
        of: Box<Expression>,
        negated: bool,
    },
    Like {
        of: Box<Expression>,
        pattern: Box<Expression>,
        escape: Option<Box<Expression>>,
        any_case: bool,
        negated: bool,
    },
    /// Operands joined by arithmetic, and by operators that are not answered.
    Combined {
        parts: Vec<Expression>,
        operators: Vec<&'static str>,
    },
    Call(Call),
    /// Each condition with its result, and what is left.
    Case {
        branches: Vec<(Expression, Expression)>,
        otherwise: Option<Box<Expression>>,
    },
    /// An expression that is understood, but never answered: its name.
    Other(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// In capitals.
    pub(super) name: String,
    pub(super) distinct: bool,
    pub(super) argument: Argument,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Everything,
    One(Box<Expression>),
    /// An expression and a share, as quantiles take them.
    WithShare(Box<Expression>, Box<Expression>),
    /// None, several, or of a function that is not answered anyway.
    Other,
}

impl Expression {
    /// As it is written, for a heading.
    pub(super) fn shown(&self) -> String {
        match self {
            Expression::Name { name, .. } => name.clone(),
            Expression::Number(text) => text.clone(),
            Expression::Text(text) => format!("'{text}'"),
            Expression::Null => "NULL".to_owned(),
            Expression::Parameter(number) => format!("${number}"),
            Expression::Nested(inner) => format!("({})", inner.shown()),
            Expression::Minus(inner) => format!("-{}", inner.shown()),
            Expression::Combined { parts, operators } => {
                let mut parts = parts.iter().map(Expression::shown);
                let first = parts.next().unwrap_or_default();
                operators.iter().zip(parts).fold(first, |text, (sign, part)| format!("{text} {sign} {part}"))
            }
            Expression::Call(Call { name, distinct, argument }) => {
                let of = match argument {
                    Argument::Everything => "*".to_owned(),
                    Argument::One(of) => of.shown(),
                    Argument::WithShare(of, share) => format!("{}, {}", of.shown(), share.shown()),
                    Argument::Other => "…".to_owned(),
                };
                if *distinct { format!("{name}(DISTINCT {of})") } else { format!("{name}({of})") }
            }
            Expression::Case { .. } => "CASE … END".to_owned(),
            _ => "…".to_owned(),
        }
    }

    /// Its name; the expression itself may be long.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Expression::Name { .. } => "a name",
            Expression::Number(_) | Expression::Text(_) | Expression::Boolean(_) | Expression::Null => "a value",
            Expression::Parameter(_) => "a parameter without a value",
            Expression::Nested(inner) => inner.kind(),
            Expression::Minus(_) | Expression::Not(_) => "an operator before an expression",
            Expression::Combined { operators, .. } if operators.iter().all(|sign| ARITHMETIC.contains(sign)) => {
                "arithmetic"
            }
            Expression::Call(call) if call.name == "CAST" => "CAST",
            Expression::Call(_) => "a function",
            Expression::Case { .. } => "CASE",
            Expression::Other(name) => name,
            _ => "a combination of expressions",
        }
    }
}
