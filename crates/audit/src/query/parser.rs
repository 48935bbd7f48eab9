//! A position in a row of tokens, and the steps that every clause takes from it.

use hedgerow_table::InputError;

use super::refusal::{refuse, shortened};
use super::token::Token;

pub(super) const EXAMPLE: &str = "a query looks like: SELECT COUNT(*) FROM data WHERE age >= 30 AND sex = 'F'";

/// Words that begin a clause or join conditions: no name without quotes.
pub(super) const RESERVED: [&str; 30] = [
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
    "WHEN",
    "THEN",
    "ELSE",
    "END",
];

pub(super) struct Parser {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl Parser {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn is(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted))
    }

    pub(super) fn is_sign(&self, wanted: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted)
    }

    pub(super) fn take(&mut self, word: &str) -> bool {
        let there = self.is(word);
        self.at += usize::from(there);
        there
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let there = self.is_sign(sign);
        self.at += usize::from(there);
        there
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), InputError> {
        if self.take(word) { Ok(()) } else { self.unexpected(word) }
    }

    pub(super) fn expect_sign(&mut self, sign: &str) -> Result<(), InputError> {
        if self.take_sign(sign) { Ok(()) } else { self.unexpected(sign) }
    }

    pub(super) fn refuse_at(&self, word: &str, name: &str, hint: &str) -> Result<(), InputError> {
        if self.is(word) { refuse(format!("{name} is not answered"), hint) } else { Ok(()) }
    }

    pub(super) fn unexpected<T>(&self, expected: &str) -> Result<T, InputError> {
        let found = self.peek().map_or("the text ends".to_owned(), |token| format!("there is {}", shown(token)));
        refuse(format!("{expected} is expected where {found}"), EXAMPLE)
    }
}

pub(super) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

pub(super) fn shown(token: &Token) -> String {
    shortened(&token.shown())
}
