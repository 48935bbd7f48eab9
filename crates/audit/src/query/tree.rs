//! A query as it was written: what SQL can request of a release, before names are looked up.

use crate::estimate::predicate::Comparison;

/// Signs of arithmetic: read, to be refused by name, never answered.
pub(super) const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];

#[derive(Debug)]
pub(super) struct Select {
    pub(super) items: Vec<Item>,
    pub(super) condition: Option<Expression>,
    pub(super) groups: Vec<Expression>,
    /// Each with whether it is descending.
    pub(super) order: Vec<(Expression, bool)>,
    pub(super) limit: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Item {
    Everything,
    One { expression: Expression, alias: Option<String> },
}

#[derive(Debug)]
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
    /// Operands joined by operators that are not answered.
    Combined {
        parts: Vec<Expression>,
        operators: Vec<&'static str>,
    },
    Call(Call),
    /// What is understood, but never answered: what it is called.
    Other(&'static str),
}

#[derive(Debug)]
pub(super) struct Call {
    /// In capitals.
    pub(super) name: String,
    pub(super) argument: Argument,
}

#[derive(Debug)]
pub(super) enum Argument {
    Everything,
    One(Box<Expression>),
    /// None, several, or of a function that is not answered anyway.
    Other,
}

impl Expression {
    /// What it is called; the expression itself may be long.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Expression::Name { .. } => "a name",
            Expression::Number(_) | Expression::Text(_) | Expression::Boolean(_) | Expression::Null => "a value",
            Expression::Nested(inner) => inner.kind(),
            Expression::Minus(_) | Expression::Not(_) => "an operator before an expression",
            Expression::Combined { operators, .. } if operators.iter().all(|sign| ARITHMETIC.contains(sign)) => {
                "arithmetic"
            }
            Expression::Call(call) if call.name == "CAST" => "CAST",
            Expression::Call(_) => "a function",
            Expression::Other(name) => name,
            _ => "a combination of expressions",
        }
    }
}
