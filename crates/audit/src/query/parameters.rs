//! Values that come after a query was read.

use hedgerow_table::InputError;

use super::refusal::refuse;
use super::syntax::SQL_MAX;
use super::tree::{Argument, Expression, Item, Limit, Select};

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    Null,
    /// Digits, with a minus and a point where there are.
    Number(String),
    Text(String),
}

impl Select {
    /// How many parameters it takes: the largest number of one.
    pub fn parameters(&self) -> usize {
        let mut most = match self.limit {
            Limit::Parameter(number) => number,
            Limit::All | Limit::Rows(_) => 0,
        };
        // The walk changes what it finds, and this changes nothing.
        self.clone().each(&mut |expression| {
            if let Expression::Parameter(number) = expression {
                most = most.max(*number);
            }
        });
        most
    }

    /// The same query with values in place of its parameters.
    pub fn bound(&self, values: &[Parameter]) -> Result<Select, InputError> {
        let mut bound = self.clone();
        let value = |number: usize| number.checked_sub(1).and_then(|place| values.get(place));
        if let Limit::Parameter(number) = bound.limit {
            let rows = match value(number) {
                Some(Parameter::Number(text) | Parameter::Text(text)) => text.parse().ok(),
                Some(Parameter::Null) | None => None,
            };
            let Some(rows) = rows else { return refuse("LIMIT takes a whole number", "write LIMIT 10") };
            bound.limit = Limit::Rows(rows);
        }
        bound.each(&mut |expression| {
            if let Expression::Parameter(number) = expression
                && let Some(value) = value(*number)
            {
                *expression = written(value);
            }
        });
        bound.of_bounded_length()
    }

    /// Itself, unless its text is longer than what is read.
    pub(super) fn of_bounded_length(self) -> Result<Select, InputError> {
        match self.to_string().len() > SQL_MAX {
            true => refuse(format!("longer than {SQL_MAX} bytes"), "write a shorter query"),
            false => Ok(self),
        }
    }

    fn each(&mut self, change: &mut dyn FnMut(&mut Expression)) {
        for item in &mut self.items {
            match item {
                Item::Everything => {}
                Item::One { expression, alias: _ } => expression.each(change),
            }
        }
        let conditions = self.condition.iter_mut().chain(&mut self.having).chain(&mut self.groups);
        conditions.chain(self.order.iter_mut().map(|(expression, _)| expression)).for_each(|part| part.each(change));
    }
}

impl Expression {
    fn each(&mut self, change: &mut dyn FnMut(&mut Expression)) {
        change(self);
        match self {
            Expression::Name { .. }
            | Expression::Number(_)
            | Expression::Text(_)
            | Expression::Boolean(_)
            | Expression::Null
            | Expression::Parameter(_)
            | Expression::Other(_) => {}
            Expression::Nested(of) | Expression::Minus(of) | Expression::Not(of) | Expression::Missing { of, .. } => {
                of.each(change);
            }
            Expression::All(parts) | Expression::Any(parts) | Expression::Combined { parts, .. } => {
                parts.iter_mut().for_each(|part| part.each(change));
            }
            Expression::Compared(left, _, right) => {
                left.each(change);
                right.each(change);
            }
            Expression::Between { of, low, high, .. } => [of, low, high].into_iter().for_each(|part| part.each(change)),
            Expression::Among { of, list, .. } => {
                of.each(change);
                list.iter_mut().for_each(|part| part.each(change));
            }
            Expression::Like { of, pattern, escape, .. } => {
                [of, pattern].into_iter().chain(escape).for_each(|part| part.each(change));
            }
            Expression::Call(call) => match &mut call.argument {
                Argument::Everything | Argument::Other => {}
                Argument::One(of) => of.each(change),
                Argument::WithShare(of, share) => [of, share].into_iter().for_each(|part| part.each(change)),
            },
            Expression::Case { branches, otherwise } => {
                branches.iter_mut().for_each(|(condition, result)| {
                    condition.each(change);
                    result.each(change);
                });
                otherwise.iter_mut().for_each(|part| part.each(change));
            }
        }
    }
}

/// A value as a query has it: a number below zero is a minus and a number.
fn written(value: &Parameter) -> Expression {
    match value {
        Parameter::Null => Expression::Null,
        Parameter::Text(text) => Expression::Text(text.clone()),
        Parameter::Number(text) => match text.strip_prefix('-') {
            Some(digits) => Expression::Minus(Box::new(Expression::Number(digits.to_owned()))),
            None => Expression::Number(text.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::{Token, tokens};
    use super::*;

    /// With `?1` read as the first parameter.
    fn read(sql: &str) -> Select {
        let mut read = Vec::new();
        for token in tokens(sql).unwrap() {
            match (read.last(), token) {
                (Some(Token::Odd('?')), Token::Number(number)) => {
                    read.pop();
                    read.push(Token::Parameter(number.parse().unwrap()));
                }
                (_, token) => read.push(token),
            }
        }
        Select::from_tokens(read).unwrap()
    }

    #[test]
    fn values_take_the_place_of_parameters_everywhere() {
        let sql = "SELECT SUM(CASE WHEN a = ?1 THEN ?2 ELSE b * ?2 END), QUANTILE(b, ?3) FROM data WHERE a IN (?1, 'x') \
                   AND NOT (b BETWEEN ?2 AND ?4 OR a LIKE ?1 ESCAPE ?1 OR ?4 < b) GROUP BY a HAVING COUNT(*) > ?2 LIMIT ?5";
        let expected = "SELECT SUM(CASE WHEN a = 'it''s' THEN -7 ELSE b * -7 END), QUANTILE(b, 0.5) FROM data WHERE a IN \
                        ('it''s', 'x') AND NOT (b BETWEEN -7 AND NULL OR a LIKE 'it''s' ESCAPE 'it''s' OR NULL < b) \
                        GROUP BY a HAVING COUNT(*) > -7 LIMIT 3";
        let select = read(sql);
        assert_eq!(select.parameters(), 5);
        let number = |text: &str| Parameter::Number(text.to_owned());
        let text = |text: &str| Parameter::Text(text.to_owned());
        let values = [text("it's"), number("-7"), number("0.5"), Parameter::Null, text("3")];
        let bound = select.bound(&values).unwrap();
        assert_eq!(bound, Select::parse(expected).unwrap());
        assert_eq!(bound.parameters(), 0);
        assert!(select.bound(&values[..4]).is_err(), "LIMIT has no value");
        assert!(read("SELECT * FROM data LIMIT ?1").bound(&[text("many")]).is_err());
        let long = text(&"x".repeat(SQL_MAX));
        let refused = read("SELECT * FROM data WHERE a = ?1").bound(&[long]).unwrap_err();
        assert!(refused.problem.starts_with("longer"), "{refused}");
    }
}
