//! The part of SQL that can be asked, as a tree. Clauses that no release can answer are refused by name where they stand: an
//! answer that left one out in silence would be a wrong answer.
//!
//! A descent by hand: the language is a dozen rules, and a grammar of all of SQL was a twentieth of building the command.

use hedgerow_table::InputError;

use super::sql::refuse;
use super::token::{Token, tokens};
use crate::estimate::predicate::Comparison;

/// How deep SQL may nest.
const DEPTH_MAX: usize = 60;

const EXAMPLE: &str = "a question looks like: SELECT COUNT(*) FROM data WHERE age >= 30 AND sex = 'F'";

/// Words that begin a clause or join conditions: no name without quotes.
const RESERVED: [&str; 26] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FOR",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "WINDOW",
    "QUALIFY",
    "INTO",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "IN",
    "LIKE",
    "ILIKE",
    "IS",
    "AS",
];

/// Words after a table that begin a join.
const JOINS: [&str; 8] = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "LATERAL"];

/// Signs of arithmetic: read, to be told by name, never answered.
const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];
const OTHER_OPERATORS: [&str; 11] = ["||", "|>", "::", "->", "->>", "<<", ">>", "<=>", "==", "&", "|"];

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

/// Reads one SELECT.
pub(super) fn parse(sql: &str) -> Result<Select, InputError> {
    let tokens = tokens(sql)?;
    let statements = tokens.split(|token| *token == Token::Sign(";")).filter(|statement| !statement.is_empty()).count();
    if statements != 1 {
        return refuse(format!("{statements} statements; one is answered"), "ask one SELECT at a time");
    }
    let only = tokens.into_iter().filter(|token| *token != Token::Sign(";")).collect();
    Parser { tokens: only, at: 0, depth: 0 }.select()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn select(mut self) -> Result<Select, InputError> {
        self.begin()?;
        let items = self.items()?;
        self.refuse_at("INTO", "INTO", "redirect the output instead")?;
        self.from()?;
        let condition = if self.take("WHERE") { Some(self.expression()?) } else { None };
        let groups = self.groups()?;
        self.refuse_at("HAVING", "HAVING", "leave it out and read the groups you need from the answer")?;
        self.refuse_at("WINDOW", "WINDOW", "use GROUP BY")?;
        self.refuse_at("QUALIFY", "QUALIFY", "use GROUP BY")?;
        let order = self.order()?;
        let limit = self.limit()?;
        self.refuse_at("OFFSET", "OFFSET", "use LIMIT alone")?;
        self.refuse_at("FETCH", "FETCH", "use LIMIT")?;
        self.refuse_at("FOR", "FOR", "leave it out")?;
        if ["UNION", "EXCEPT", "INTERSECT"].iter().any(|word| self.is(word)) {
            return refuse("UNION, EXCEPT and INTERSECT are not answered", "ask twice, or use OR in WHERE");
        }
        match self.peek() {
            None => Ok(Select { items, condition, groups, order, limit }),
            Some(token) => refuse(format!("{} is not understood where it stands", shown(token)), EXAMPLE),
        }
    }

    fn begin(&mut self) -> Result<(), InputError> {
        const CHANGES: [&str; 9] =
            ["INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "MERGE", "TRUNCATE", "REPLACE"];
        self.refuse_at("WITH", "WITH", "ask about the release directly")?;
        if CHANGES.iter().any(|word| self.is(word)) {
            return refuse("only SELECT is answered: a release cannot be changed", "begin with SELECT");
        }
        if self.is_sign("(") {
            return refuse("only a plain SELECT is answered", "begin with SELECT, without parentheses around it");
        }
        self.expect("SELECT")?;
        self.take("ALL");
        self.refuse_at("DISTINCT", "DISTINCT", "use GROUP BY, which also tells how many there are")?;
        if self.is("TOP") && matches!(self.tokens.get(self.at + 1), Some(Token::Number(_))) {
            return refuse("TOP is not answered", "use LIMIT");
        }
        Ok(())
    }

    fn items(&mut self) -> Result<Vec<Item>, InputError> {
        let mut items = Vec::new();
        loop {
            let named = matches!(self.peek(), Some(Token::Word(_) | Token::Quoted(_)));
            let after = self.tokens.get(self.at + 1..self.at + 3);
            let of_table = named && after == Some(&[Token::Sign("."), Token::Sign("*")]);
            if of_table {
                self.at += 2;
            }
            if self.take_sign("*") {
                if matches!(self.peek(), Some(Token::Word(word)) if !is_one_of(word, &["FROM", "INTO"])) {
                    return refuse("a changed * is not answered", "name the columns you want");
                }
                items.push(Item::Everything);
            } else {
                let expression = self.expression()?;
                items.push(Item::One { expression, alias: self.alias()? });
            }
            if !self.take_sign(",") {
                return Ok(items);
            }
        }
    }

    /// Another name, after AS or without it.
    fn alias(&mut self) -> Result<Option<String>, InputError> {
        let must = self.take("AS");
        match self.peek() {
            Some(Token::Quoted(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(Some(name))
            }
            Some(Token::Word(word)) if !is_one_of(word, &RESERVED) && (must || !is_one_of(word, &JOINS)) => {
                let name = word.clone();
                self.at += 1;
                Ok(Some(name))
            }
            _ if must => self.unexpected("a name after AS"),
            _ => Ok(None),
        }
    }

    fn from(&mut self) -> Result<(), InputError> {
        let hint = "name one table: FROM data, or FROM release; a bucketized release counts as one table too";
        if self.peek().is_none() {
            return refuse("FROM is missing", hint);
        }
        self.expect("FROM")?;
        if self.is_sign("(") {
            return refuse("a subquery in FROM is not answered", "ask about the release directly: FROM data");
        }
        loop {
            match self.peek() {
                Some(Token::Word(word)) if !is_one_of(word, &RESERVED) => self.at += 1,
                Some(Token::Quoted(_) | Token::Text(_)) => self.at += 1,
                _ => return self.unexpected("the name of the release after FROM"),
            }
            if !self.take_sign(".") {
                break;
            }
        }
        if self.is_sign("(") {
            return refuse("only the release itself can stand after FROM", "write FROM data");
        }
        self.alias()?;
        if self.is_sign(",") {
            return refuse("a join of several tables is not answered", hint);
        }
        if JOINS.iter().any(|word| self.is(word)) {
            return refuse("JOIN is not answered", "a release is one table: name it alone after FROM");
        }
        Ok(())
    }

    fn groups(&mut self) -> Result<Vec<Expression>, InputError> {
        if !self.take("GROUP") {
            return Ok(Vec::new());
        }
        self.expect("BY")?;
        self.refuse_at("ALL", "GROUP BY ALL", "name the columns after GROUP BY")?;
        let groups = self.list()?;
        self.refuse_at("WITH", "ROLLUP, CUBE or TOTALS", "ask for each grouping by itself")?;
        Ok(groups)
    }

    fn order(&mut self) -> Result<Vec<(Expression, bool)>, InputError> {
        let hint = "sort by the name of an output column, or by its position: ORDER BY 2 DESC";
        let mut order = Vec::new();
        if !self.take("ORDER") {
            return Ok(order);
        }
        self.expect("BY")?;
        loop {
            self.refuse_at("ALL", "ORDER BY ALL", hint)?;
            let expression = self.expression()?;
            let descending = !self.take("ASC") && self.take("DESC");
            self.refuse_at("NULLS", "NULLS FIRST or NULLS LAST", hint)?;
            order.push((expression, descending));
            if !self.take_sign(",") {
                return Ok(order);
            }
        }
    }

    fn limit(&mut self) -> Result<Option<usize>, InputError> {
        if !self.take("LIMIT") || self.take("ALL") {
            return Ok(None);
        }
        let limit = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok(),
            _ => None,
        };
        let Some(limit) = limit else { return refuse("LIMIT takes a whole number", "write LIMIT 10") };
        self.at += 1;
        if self.is_sign(",") {
            return refuse("LIMIT with two numbers is not answered", "write LIMIT 10");
        }
        Ok(Some(limit))
    }

    fn list(&mut self) -> Result<Vec<Expression>, InputError> {
        let mut list = vec![self.expression()?];
        while self.take_sign(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    fn expression(&mut self) -> Result<Expression, InputError> {
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

    /// What is said of an operand.
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

    /// Operands joined by arithmetic and the like. None of it is answered, so that what binds tighter does not matter.
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
            "CASE" => return refuse("CASE is not answered", "in WHERE, join comparisons by AND, OR, NOT"),
            "EXISTS" => {
                return refuse("a subquery is not answered", "ask twice, and put the values you got into IN (…)");
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
        if !["COUNT", "SUM", "AVG"].contains(&name.as_str()) {
            self.skip_parentheses()?;
            return Ok(Expression::Call(Call { name, argument: Argument::Other }));
        }
        self.at += 1;
        self.refuse_at("DISTINCT", "DISTINCT", "use GROUP BY, which lists each value with its count")?;
        self.take("ALL");
        let argument = if self.take_sign("*") {
            Argument::Everything
        } else if self.is_sign(")") {
            Argument::Other
        } else {
            let mut list = self.list()?;
            match list.pop() {
                Some(only) if list.is_empty() => Argument::One(Box::new(only)),
                _ => Argument::Other,
            }
        };
        self.expect_sign(")")?;
        self.refuse_at("OVER", "OVER", "use GROUP BY")?;
        self.refuse_at("FILTER", "FILTER", "use WHERE")?;
        Ok(Expression::Call(Call { name, argument }))
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

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted))
    }

    fn is_sign(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted)
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.is(word);
        self.at += usize::from(there);
        there
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let there = self.is_sign(sign);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, word: &str) -> Result<(), InputError> {
        if self.take(word) { Ok(()) } else { self.unexpected(word) }
    }

    fn expect_sign(&mut self, sign: &str) -> Result<(), InputError> {
        if self.take_sign(sign) { Ok(()) } else { self.unexpected(sign) }
    }

    fn refuse_at(&self, word: &str, name: &str, hint: &str) -> Result<(), InputError> {
        if self.is(word) { refuse(format!("{name} is not answered"), hint) } else { Ok(()) }
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, InputError> {
        let found = self.peek().map_or("the text ends".to_owned(), |token| format!("there is {}", shown(token)));
        refuse(format!("{expected} is expected where {found}"), EXAMPLE)
    }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn shown(token: &Token) -> String {
    super::columns::shortened(&token.shown())
}
