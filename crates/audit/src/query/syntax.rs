//! The clauses of a query. Clauses that no release can answer are refused by name where they stand:
//! an answer that left one out in silence would be a wrong answer.
//!
//! A descent by hand: the language is a dozen rules, and a grammar of all of SQL was a twentieth of
//! building the command.

use hedgerow_table::InputError;

use super::parser::{EXAMPLE, Parser, RESERVED, is_one_of, shown};
use super::refusal::refuse;
use super::token::{Token, tokens};
use super::tree::{Expression, Item, Limit, Select};

/// The longest SQL that is read, in bytes.
pub const SQL_MAX: usize = 16 << 10;

/// Words after a table that begin a join.
const JOINS: [&str; 8] = ["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "LATERAL"];

impl Select {
    /// Reads one SELECT.
    pub fn parse(sql: &str) -> Result<Select, InputError> {
        if sql.len() > SQL_MAX {
            return refuse(format!("longer than {SQL_MAX} bytes"), "write a shorter query");
        }
        let tokens = tokens(sql)?;
        let statements =
            tokens.split(|token| *token == Token::Sign(";")).filter(|statement| !statement.is_empty()).count();
        if statements != 1 {
            return refuse(format!("{statements} statements; one is answered"), "write one SELECT at a time");
        }
        let only = tokens.into_iter().filter(|token| *token != Token::Sign(";")).collect();
        Parser { tokens: only, at: 0, depth: 0 }.select()
    }

    /// The same from words and signs that another reader of SQL has separated.
    pub fn from_tokens(tokens: Vec<Token>) -> Result<Select, InputError> {
        Parser { tokens, at: 0, depth: 0 }.select()?.of_bounded_length()
    }
}

impl Parser {
    fn select(mut self) -> Result<Select, InputError> {
        self.begin()?;
        let items = self.items()?;
        self.refuse_at("INTO", "INTO", "redirect the output instead")?;
        self.from()?;
        let condition = if self.take("WHERE") { Some(self.expression()?) } else { None };
        let groups = self.groups()?;
        let having = if self.take("HAVING") { Some(self.expression()?) } else { None };
        self.refuse_at("WINDOW", "WINDOW", "use GROUP BY")?;
        self.refuse_at("QUALIFY", "QUALIFY", "use GROUP BY")?;
        let order = self.order()?;
        let limit = self.limit()?;
        self.refuse_at("OFFSET", "OFFSET", "use LIMIT alone")?;
        self.refuse_at("FETCH", "FETCH", "use LIMIT")?;
        self.refuse_at("FOR", "FOR", "omit it")?;
        if ["UNION", "EXCEPT", "INTERSECT"].iter().any(|word| self.is(word)) {
            return refuse("UNION, EXCEPT and INTERSECT are not answered", "query twice, or use OR in WHERE");
        }
        match self.peek() {
            None => Ok(Select { items, condition, groups, having, order, limit }),
            Some(token) => refuse(format!("{} is not understood where it stands", shown(token)), EXAMPLE),
        }
    }

    fn begin(&mut self) -> Result<(), InputError> {
        const CHANGES: [&str; 9] =
            ["INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "MERGE", "TRUNCATE", "REPLACE"];
        self.refuse_at("WITH", "WITH", "query the release directly")?;
        if CHANGES.iter().any(|word| self.is(word)) {
            return refuse("only SELECT is answered: a release cannot be changed", "begin with SELECT");
        }
        if self.is_sign("(") {
            return refuse("only a plain SELECT is answered", "begin with SELECT, without parentheses around it");
        }
        self.expect("SELECT")?;
        self.take("ALL");
        self.refuse_at("DISTINCT", "DISTINCT", "use GROUP BY, which also counts them")?;
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
            return refuse("a subquery in FROM is not answered", "query the release directly: FROM data");
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
        self.refuse_at("WITH", "ROLLUP, CUBE or TOTALS", "request each grouping by itself")?;
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

    fn limit(&mut self) -> Result<Limit, InputError> {
        if !self.take("LIMIT") || self.take("ALL") {
            return Ok(Limit::All);
        }
        let limit = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok().map(Limit::Rows),
            Some(Token::Parameter(number)) => Some(Limit::Parameter(*number)),
            _ => None,
        };
        let Some(limit) = limit else { return refuse("LIMIT takes a whole number", "write LIMIT 10") };
        self.at += 1;
        if self.is_sign(",") {
            return refuse("LIMIT with two numbers is not answered", "write LIMIT 10");
        }
        Ok(limit)
    }
}
