//! SQL as a row of tokens. Signs that no query has are tokens too, to be refused by name.

use hedgerow_table::InputError;

use super::refusal::refuse;

/// A word or a sign of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A word without quotes: of the language, or a name.
    Word(String),
    /// A name in double quotes or backticks.
    Quoted(String),
    /// A text in single quotes.
    Text(String),
    Number(String),
    /// The number of a parameter, from 1.
    Parameter(usize),
    Sign(&'static str),
    /// A sign that SQL has no use for here.
    Odd(char),
}

/// Signs that mean something, longer ones before their beginnings.
const SIGNS: [&str; 28] = [
    "<=>", "->>", "<>", "!=", "<=", ">=", "==", "||", "|>", "::", "->", "<<", ">>", "(", ")", ",", ";", "*", "+", "-",
    "/", "%", "=", "<", ">", ".", "&", "|",
];

impl Token {
    /// A sign as it is written, of one character where SQL has no use for it here.
    pub fn sign(written: &str) -> Token {
        match SIGNS.iter().find(|sign| **sign == written) {
            Some(sign) => Token::Sign(sign),
            None => Token::Odd(written.chars().next().unwrap_or(' ')),
        }
    }

    /// As it was written, more or less: for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Word(text) | Token::Number(text) => text.clone(),
            Token::Quoted(text) => format!("\"{text}\""),
            Token::Text(text) => format!("'{text}'"),
            Token::Parameter(number) => format!("${number}"),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::Odd(sign) => sign.to_string(),
        }
    }
}

pub(super) fn tokens(sql: &str) -> Result<Vec<Token>, InputError> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(end) => (None, end + 4),
                None => return refuse("a comment that begins with /* does not end", "close it with */"),
            },
            '\'' => quoted(rest, first).map(|(text, length)| (Some(Token::Text(text)), length))?,
            '"' | '`' => quoted(rest, first).map(|(text, length)| (Some(Token::Quoted(text)), length))?,
            _ if first.is_alphabetic() || first == '_' => {
                let in_word = |character: char| character.is_alphanumeric() || character == '_';
                let length = rest.find(|character| !in_word(character)).unwrap_or(rest.len());
                (Some(Token::Word(rest[..length].to_owned())), length)
            }
            _ if first.is_ascii_digit()
                || first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()) =>
            {
                let length = number(rest)?;
                (Some(Token::Number(rest[..length].to_owned())), length)
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Some(Token::Sign(sign)), sign.len()),
                None => (Some(Token::Odd(first)), first.len_utf8()),
            },
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// The text in quotes, and the number of its bytes. A quote within is written twice.
fn quoted(rest: &str, quote: char) -> Result<(String, usize), InputError> {
    let mut text = String::new();
    let mut at = 1;
    while let Some(length) = rest[at..].find(quote) {
        text.push_str(&rest[at..at + length]);
        at += length + 1;
        if !rest[at..].starts_with(quote) {
            return Ok((text, at));
        }
        text.push(quote);
        at += 1;
    }
    refuse(format!("what begins with {quote} does not end"), format!("close it with {quote}"))
}

/// How many bytes a number takes: digits, a point, an exponent.
fn number(rest: &str) -> Result<usize, InputError> {
    let digits = |from: usize| from + rest[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if rest[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    match rest[end..].chars().next() {
        Some(next) if next.is_alphanumeric() || next == '_' => refuse(
            format!("{next} stands right after a number"),
            "put texts and dates in single quotes, names in double quotes",
        ),
        _ => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Token {
        Token::Word(text.to_owned())
    }

    #[test]
    fn texts_names_numbers_and_signs() {
        let read =
            tokens("a1_é<>'it''s' \"b \"\"c\" -- gone\n`d`/* gone\n */.5 1.e 2e+3x").map_err(|error| error.to_string());
        assert!(read.unwrap_err().contains("e stands right after a number"));
        let read = tokens("a1_é<>'it''s' \"b \"\"c\" -- gone\n`d`/* gone\n */.5 1. 2e+3;!=<=#").unwrap();
        let expected = [
            word("a1_é"),
            Token::Sign("<>"),
            Token::Text("it's".to_owned()),
            Token::Quoted("b \"c".to_owned()),
            Token::Quoted("d".to_owned()),
            Token::Number(".5".to_owned()),
            Token::Number("1.".to_owned()),
            Token::Number("2e+3".to_owned()),
            Token::Sign(";"),
            Token::Sign("!="),
            Token::Sign("<="),
            Token::Odd('#'),
        ];
        assert_eq!(read, expected);
        assert_eq!(tokens(" \n\t").unwrap(), []);
        for open in ["'a", "\"a", "`a", "'a''", "/* a", "SELECT 'x"] {
            assert!(tokens(open).unwrap_err().to_string().contains("does not end"), "{open}");
        }
    }
}
