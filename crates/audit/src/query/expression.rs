//! Conditions, operands and functions. What binds tighter is read deeper: OR, AND, NOT, what is
//! said of an operand, the operand.

use hedgerow_table::InputError;

use super::parser::{Parser, RESERVED, is_one_of, shown};
use super::refusal::refuse;
use super::token::Token;
use super::tree::{ARITHMETIC, Argument, Call, Expression};
use crate::estimate::predicate::Comparison;

/// How deep SQL may nest.
const DEPTH_MAX: usize = 60;

/// Read as well as arithmetic, to be refused by name, never answered.
const OTHER_OPERATORS: [&str; 11] = ["||", "|>", "::", "->", "->>", "<<", ">>", "<=>", "==", "&", "|"];

/// Functions whose arguments are read; others are refused by name.
pub(super) const FUNCTIONS: [&str; 16] = [
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "MEDIAN",
    "QUANTILE",
    "QUANTILE_CONT",
    "PERCENTILE_CONT",
    "STDDEV",
    "STDDEV_SAMP",
    "STDDEV_POP",
    "VARIANCE",
    "VAR_SAMP",
    "VAR_POP",
    "STDEV",
];

impl Parser {
    pub(super) fn list(&mut self) -> Result<Vec<Expression>, InputError> {
        let mut list = vec![self.expression()?];
        while self.take_sign(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    pub(super) fn expression(&mut self) -> Result<Expression, InputError> {
        self.deeper(|parser| {
            parser.joined("OR", Expression::Any, |parser| parser.joined("AND", Expression::All, Parser::negation))
        })
    }

    /// Chains such as `a OR b OR …` are one node, however long.
    fn joined(
        &mut self,
        by: &str,
        of: fn(Vec<Expression>) -> Expression,
        part: impl Fn(&mut Parser) -> Result<Expression, InputError>,
    ) -> Result<Expression, InputError> {
        let first = part(self)?;
        if !self.is(by) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(by) {
            parts.push(part(self)?);
        }
        Ok(of(parts))
    }

    fn negation(&mut self) -> Result<Expression, InputError> {
        if self.take("NOT") {
            return Ok(Expression::Not(Box::new(self.deeper(Parser::negation)?)));
        }
        let of = self.combined()?;
        self.predicate(of)
    }

    /// The predicate of an operand.
    fn predicate(&mut self, of: Expression) -> Result<Expression, InputError> {
        if let Some(by) = self.comparison() {
            let right = self.combined()?;
            if self.comparison().is_some() {
                return refuse("comparisons cannot follow one another", "write 20 <= age AND age < 30");
            }
            return Ok(Expression::Compared(Box::new(of), by, Box::new(right)));
        }
        if self.take("IS") {
            let negated = self.take("NOT");
            if self.take("NULL") {
                return Ok(Expression::Missing { of: Box::new(of), negated });
            }
            if self.take("DISTINCT") {
                self.expect("FROM")?;
                self.combined()?;
                return Ok(Expression::Other("IS DISTINCT FROM"));
            }
            if ["TRUE", "FALSE", "UNKNOWN"].into_iter().any(|word| self.take(word)) {
                return Ok(Expression::Other("IS TRUE, IS FALSE or IS UNKNOWN"));
            }
            return self.unexpected("NULL or NOT NULL after IS");
        }
        let negated = self.take("NOT");
        if self.take("BETWEEN") {
            let low = Box::new(self.combined()?);
            self.expect("AND")?;
            let high = Box::new(self.combined()?);
            return Ok(Expression::Between { of: Box::new(of), low, high, negated });
        }
        if self.take("IN") {
            if !self.is_sign("(") {
                return self.unexpected("( after IN");
            }
            if self.skip_subquery()? {
                return Ok(Expression::Other("a subquery"));
            }
            self.at += 1;
            let list = self.list()?;
            self.expect_sign(")")?;
            return Ok(Expression::Among { of: Box::new(of), list, negated });
        }
        if self.is("LIKE") || self.is("ILIKE") {
            let any_case = self.is("ILIKE");
            self.at += 1;
            if self.is("ANY") || self.is("ALL") {
                return refuse("this form of LIKE is not answered in WHERE", "join several LIKEs by OR");
            }
            let pattern = Box::new(self.combined()?);
            let escape = if self.take("ESCAPE") { Some(Box::new(self.combined()?)) } else { None };
            return Ok(Expression::Like { of: Box::new(of), pattern, escape, any_case, negated });
        }
        if ["SIMILAR", "RLIKE", "REGEXP"].iter().any(|word| self.is(word)) {
            return refuse("a regular expression is not answered in WHERE", "use LIKE");
        }
        if negated { self.unexpected("BETWEEN, IN or LIKE after NOT") } else { Ok(of) }
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let Some(Token::Sign(sign)) = self.peek() else { return None };
        let by = match *sign {
            "=" => Comparison::Equal,
            "<>" | "!=" => Comparison::Different,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        self.at += 1;
        Some(by)
    }

    /// Operands joined by arithmetic and the like, in a row: what binds tighter is
    /// combined first, where it is answered.
    fn combined(&mut self) -> Result<Expression, InputError> {
        let first = self.operand()?;
        let mut operators = Vec::new();
        let mut parts = vec![first];
        while let Some(Token::Sign(sign)) = self.peek()
            && (ARITHMETIC.contains(sign) || OTHER_OPERATORS.contains(sign))
        {
            operators.push(*sign);
            self.at += 1;
            parts.push(self.operand()?);
        }
        match parts.pop() {
            Some(only) if parts.is_empty() => Ok(only),
            last => {
                parts.extend(last);
                Ok(Expression::Combined { parts, operators })
            }
        }
    }

    fn operand(&mut self) -> Result<Expression, InputError> {
        if self.take_sign("-") {
            return Ok(Expression::Minus(Box::new(self.deeper(Parser::operand)?)));
        }
        if self.take_sign("+") {
            return self.deeper(Parser::operand);
        }
        if self.is_sign("(") {
            if self.skip_subquery()? {
                return Ok(Expression::Other("a subquery"));
            }
            self.at += 1;
            let mut list = self.list()?;
            self.expect_sign(")")?;
            return Ok(match list.pop() {
                Some(only) if list.is_empty() => Expression::Nested(Box::new(only)),
                _ => Expression::Other("a list of expressions"),
            });
        }
        let Some(token) = self.peek().cloned() else { return self.unexpected("a column or a value") };
        match token {
            Token::Number(text) => self.value(Expression::Number(text)),
            Token::Text(text) => self.value(Expression::Text(text)),
            Token::Parameter(number) => self.value(Expression::Parameter(number)),
            Token::Quoted(name) => self.name(name, true),
            Token::Word(word) => self.word(word),
            Token::Sign(_) | Token::Odd(_) => self.unexpected("a column or a value"),
        }
    }

    fn value(&mut self, value: Expression) -> Result<Expression, InputError> {
        self.at += 1;
        Ok(value)
    }

    fn word(&mut self, word: String) -> Result<Expression, InputError> {
        match word.to_uppercase().as_str() {
            "TRUE" => return self.value(Expression::Boolean(true)),
            "FALSE" => return self.value(Expression::Boolean(false)),
            "NULL" => return self.value(Expression::Null),
            "CASE" => return self.deeper(Parser::case),
            "EXISTS" => {
                return refuse("a subquery is not answered", "query twice, and put the values you got into IN (…)");
            }
            upper if is_one_of(upper, &RESERVED) => return self.unexpected("a column or a value"),
            _ => (),
        }
        if let Some(Token::Text(text)) = self.tokens.get(self.at + 1) {
            if !is_one_of(&word, &["DATE"]) {
                let hint = "write a number, a text in single quotes, or a date as DATE '2024-01-31'";
                return refuse(format!("{} before a text is not read", shown(&Token::Word(word))), hint);
            }
            let text = text.clone();
            self.at += 2;
            return Ok(Expression::Text(text));
        }
        self.name(word, false)
    }

    /// A name, one after that of the table, or a function.
    fn name(&mut self, mut name: String, mut quoted: bool) -> Result<Expression, InputError> {
        self.at += 1;
        if self.is_sign("(") && !quoted {
            return self.call(name.to_uppercase());
        }
        if self.take_sign(".") {
            (name, quoted) = match self.peek() {
                Some(Token::Word(word)) => (word.clone(), false),
                Some(Token::Quoted(name)) => (name.clone(), true),
                _ => return self.unexpected("a column after the dot"),
            };
            self.at += 1;
            if self.is_sign(".") || self.is_sign("(") {
                return refuse("a name of more than two parts is not read", "write the column alone");
            }
        }
        Ok(Expression::Name { name, quoted })
    }

    fn call(&mut self, name: String) -> Result<Expression, InputError> {
        if !FUNCTIONS.contains(&name.as_str()) {
            self.skip_parentheses()?;
            return Ok(Expression::Call(Call { name, distinct: false, argument: Argument::Other }));
        }
        self.at += 1;
        if name != "COUNT" {
            self.refuse_at("DISTINCT", "DISTINCT", "use COUNT(DISTINCT column), or GROUP BY, which lists each value")?;
        }
        let distinct = self.take("DISTINCT");
        self.take("ALL");
        let argument = if self.take_sign("*") {
            Argument::Everything
        } else if self.is_sign(")") {
            Argument::Other
        } else {
            let mut list = self.list()?;
            match (list.pop(), list.pop(), list.is_empty()) {
                (Some(only), None, _) => Argument::One(Box::new(only)),
                (Some(share), Some(of), true) => Argument::WithShare(Box::new(of), Box::new(share)),
                _ => Argument::Other,
            }
        };
        self.expect_sign(")")?;
        let argument = self.within_group(argument)?;
        self.refuse_at("OVER", "OVER", "use GROUP BY")?;
        self.refuse_at("FILTER", "FILTER", "use WHERE")?;
        Ok(Expression::Call(Call { name, distinct, argument }))
    }

    /// `PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age)`: the share stands before what it is of.
    fn within_group(&mut self, argument: Argument) -> Result<Argument, InputError> {
        if !self.take("WITHIN") {
            return Ok(argument);
        }
        self.expect("GROUP")?;
        self.expect_sign("(")?;
        self.expect("ORDER")?;
        self.expect("BY")?;
        let of = Box::new(self.expression()?);
        self.refuse_at("DESC", "DESC in WITHIN GROUP", "take the share from 1 instead")?;
        self.take("ASC");
        self.expect_sign(")")?;
        Ok(match argument {
            Argument::One(share) => Argument::WithShare(of, share),
            _ => Argument::Other,
        })
    }

    /// `CASE WHEN condition THEN result … ELSE result END`, or with one operand before WHEN.
    fn case(&mut self) -> Result<Expression, InputError> {
        self.at += 1;
        if !self.is("WHEN") {
            let hint = "write CASE WHEN age >= 65 THEN 1 ELSE 0 END";
            return refuse("CASE with an operand is not answered", hint);
        }
        let mut branches = Vec::new();
        while self.take("WHEN") {
            let condition = self.expression()?;
            self.expect("THEN")?;
            branches.push((condition, self.combined()?));
        }
        let otherwise = if self.take("ELSE") { Some(Box::new(self.combined()?)) } else { None };
        self.expect("END")?;
        Ok(Expression::Case { branches, otherwise })
    }

    /// Goes past a SELECT in parentheses, if one stands here.
    fn skip_subquery(&mut self) -> Result<bool, InputError> {
        let inner = self.tokens.get(self.at + 1);
        let there = matches!(inner, Some(Token::Word(word)) if is_one_of(word, &["SELECT", "WITH"]));
        if there {
            self.skip_parentheses()?;
        }
        Ok(there)
    }

    fn skip_parentheses(&mut self) -> Result<(), InputError> {
        let mut open = 0usize;
        while let Some(token) = self.peek() {
            match token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                _ => (),
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
        self.unexpected(")")
    }

    fn deeper(
        &mut self,
        read: impl Fn(&mut Parser) -> Result<Expression, InputError>,
    ) -> Result<Expression, InputError> {
        if self.depth == DEPTH_MAX {
            return refuse("nested too deeply", "use fewer parentheses and NOTs");
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }
}
