//! A statement as a row of tokens: which kind it is, which table it reads, and, where it reads the
//! release, the same statement as `hedgerow query` reads it.

use hedgerow_audit::query::{self, Select};
use hedgerow_table::TableError;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::kind::SqlType;
use super::refusal::{SYNTAX, StatementRefusal, TOO_MUCH, UNSUPPORTED};

/// The table that a release is.
pub(super) const TABLE: &str = "data";
pub(super) const DATABASE: &str = "hedgerow";
pub(super) const SCHEMA: &str = "public";
/// The most tokens of a statement: a reader descends at most so far.
pub(super) const TOKENS_MAX: usize = 8000;

/// A parameter's value, with the number of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) oid: u32,
    pub(super) text: Option<String>,
}

/// The statements of a text, each without its semicolon; comments are gone.
pub(super) fn statements(sql: &str) -> Result<Vec<Vec<Token>>, StatementRefusal> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql)
        .tokenize()
        .map_err(|error| StatementRefusal::new(SYNTAX, error.message, "see docs/node.md for what is answered"))?;
    let kept = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect::<Vec<_>>();
    if kept.len() > TOKENS_MAX {
        return Err(StatementRefusal::new(
            TOO_MUCH,
            format!("more than {TOKENS_MAX} words and signs"),
            "write less at once",
        ));
    }
    let split = kept.split(|token| *token == Token::SemiColon);
    Ok(split.filter(|statement| !statement.is_empty()).map(<[Token]>::to_vec).collect())
}

/// A word without quotes, in upper case.
pub(super) fn word(token: Option<&Token>) -> String {
    match token {
        Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_uppercase(),
        _ => String::new(),
    }
}

/// A name, as SQL folds it.
pub(super) fn name(token: Option<&Token>) -> Option<String> {
    match token {
        Some(Token::Word(word)) if word.quote_style.is_none() => Some(word.value.to_lowercase()),
        Some(Token::Word(word)) => Some(word.value.clone()),
        _ => None,
    }
}

/// A text, a number or a word, as a value of SET.
pub(super) fn value(token: &Token) -> Option<String> {
    match token {
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => Some(text.clone()),
        Token::Number(text, _) => Some(text.clone()),
        Token::Word(word) => Some(word.value.clone()),
        _ => None,
    }
}

/// A name with dots, and where it ends.
pub(super) fn dotted(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut parts = Vec::new();
    while let Some(part) = name(tokens.get(at)) {
        parts.push(part);
        at += 1;
        if tokens.get(at) != Some(&Token::Period) {
            break;
        }
        at += 1;
    }
    (parts, at)
}

/// Whether a name with dots is that of the release.
pub(super) fn is_release(parts: &[String]) -> bool {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    matches!(parts.as_slice(), [TABLE] | [SCHEMA, TABLE] | [DATABASE, SCHEMA, TABLE])
}

/// Whether this is a plain SELECT over the release.
pub(super) fn reads_release(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth == 0 && word(Some(token)) == "FROM" => return is_release(&dotted(tokens, at + 1).0),
            _ => {}
        }
    }
    false
}

/// How many parameters a statement takes: the largest number after a dollar sign.
pub(super) fn parameters(tokens: &[Token]) -> Result<usize, StatementRefusal> {
    let mut most = 0;
    for token in tokens {
        if let Token::Placeholder(text) = token {
            most = most.max(number(text)?);
        }
    }
    Ok(most)
}

/// The number of `$1`.
pub(super) fn number(placeholder: &str) -> Result<usize, StatementRefusal> {
    let number = placeholder.strip_prefix('$').and_then(|digits| digits.parse().ok());
    let fits = number.filter(|number| (1..=TOKENS_MAX).contains(number));
    fits.ok_or_else(|| StatementRefusal::new(SYNTAX, "a parameter is not a dollar sign and a number", "write $1"))
}

/// A SELECT over the release: columns are named with at most their table, and values have no type
/// written after them.
pub(super) fn select(tokens: &[Token]) -> Result<Select, StatementRefusal> {
    let mut read = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let (next, is_value) = match token {
            Token::Word(_) => {
                // Schema and database say nothing more, and before a star not even the table does.
                let (parts, end) = dotted(tokens, at - 1);
                let star = parts.len() > 1 && tokens.get(end - 1) == Some(&Token::Period);
                at += 2 * parts.len().saturating_sub(if star { 1 } else { 2 });
                let Some(Token::Word(word)) = tokens.get(at - 1) else { continue };
                let name = word.value.clone();
                (if word.quote_style.is_some() { query::Token::Quoted(name) } else { query::Token::Word(name) }, false)
            }
            Token::Placeholder(placeholder) => (query::Token::Parameter(number(placeholder)?), true),
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => {
                (query::Token::Text(text.clone()), true)
            }
            Token::DollarQuotedString(quoted) => (query::Token::Text(quoted.value.clone()), true),
            Token::Number(digits, _) => (query::Token::Number(digits.clone()), true),
            Token::HexStringLiteral(_) | Token::UnicodeStringLiteral(_) | Token::NationalStringLiteral(_) => {
                return Err(StatementRefusal::new(UNSUPPORTED, "this notation of a text is not read", "write 'text'"));
            }
            other => (query::Token::sign(&other.to_string()), false),
        };
        read.push(next);
        if is_value && tokens.get(at) == Some(&Token::DoubleColon) {
            at = after_type(tokens, at + 1);
        }
    }
    Select::from_tokens(read).map_err(|error| TableError::from(error).into())
}

/// The query with the values of a client in place of its parameters.
pub(super) fn bound(select: &Select, parameters: &[Parameter]) -> Result<Select, StatementRefusal> {
    let values: Vec<query::Parameter> = parameters.iter().map(Parameter::value).collect();
    select.bound(&values).map_err(|error| TableError::from(error).into())
}

impl Parameter {
    /// A number where its type says so and it is one: never more of SQL than a value.
    fn value(&self) -> query::Parameter {
        let is_number = |value: &str| {
            let digits = value.strip_prefix('-').unwrap_or(value);
            digits.starts_with(|digit: char| digit.is_ascii_digit())
                && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        match &self.text {
            None => query::Parameter::Null,
            Some(text) if SqlType::is_number(self.oid) && is_number(text) => query::Parameter::Number(text.clone()),
            Some(text) => query::Parameter::Text(text.clone()),
        }
    }
}

/// Past the name of a type, such as `varchar(20)` or `pg_catalog.int4[]`.
fn after_type(tokens: &[Token], at: usize) -> usize {
    let (_, mut at) = dotted(tokens, at);
    if tokens.get(at) == Some(&Token::LParen) {
        while at < tokens.len() && tokens[at] != Token::RParen {
            at += 1;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str, parameters: &[Parameter]) -> String {
        let statements = statements(sql).unwrap();
        assert!(reads_release(&statements[0]), "{sql}");
        bound(&select(&statements[0]).unwrap(), parameters).unwrap().to_string()
    }

    #[test]
    fn tools_statements_become_those_of_query() {
        let metabase = "SELECT \"public\".\"data\".\"sex\" AS \"sex\", COUNT(*) AS \"count\" FROM \"public\".\"data\" \
                        GROUP BY \"public\".\"data\".\"sex\" -- a comment";
        let expected = "SELECT \"sex\" AS \"sex\", COUNT(*) AS \"count\" FROM data GROUP BY \"sex\"";
        assert_eq!(read(metabase, &[]), expected);
        let given = [(0, Some("O'Hara")), (23, Some("-40")), (25, Some("1 OR 1")), (0, None)];
        let given = given.map(|(oid, text)| Parameter { oid, text: text.map(str::to_owned) });
        let sql =
            "select count(*) from data where a = $1::VARCHAR(20) and b > $2 and c = $3 and d = $4 and e = '7'::int";
        let expected = "SELECT COUNT(*) FROM data WHERE a = 'O''Hara' AND b > - 40 AND c = '1 OR 1' AND d = NULL \
                        AND e = '7'";
        assert_eq!(read(sql, &given), expected);
        let few = Parameter { oid: 25, text: Some("5".to_owned()) };
        assert_eq!(read("select * from data limit $1::INTEGER", &[few]), "SELECT * FROM data LIMIT 5");
        let odd = Parameter { oid: 23, text: Some("1 OR 1".to_owned()) };
        assert!(read("select * from data where a = $1", &[odd]).contains("'1 OR 1'"), "never as SQL");
        assert_eq!(read("select public.data.* from data", &[]), "SELECT * FROM data");
        assert_eq!(
            read("select a from data where a in ('it''s', E'a\\'b', $$c'd$$)", &[]),
            "SELECT a FROM data WHERE a IN ('it''s', 'a''b', 'c''d')"
        );
        for sql in ["select a from data where a = x'ff'", "select a ~ 'b' from data", "select a from data limit 'x'"] {
            assert!(select(&statements(sql).unwrap()[0]).is_err(), "{sql}");
        }
    }

    #[test]
    fn the_release_is_read_under_its_name_only() {
        let reads = |sql: &str| reads_release(&statements(sql).unwrap()[0]);
        assert!(
            reads("select 1 from hedgerow.public.data")
                && reads("select 1 FROM Data")
                && reads("select 1 from \"data\"")
        );
        assert!(!reads("select 1 from \"Data\"") && !reads("select 1 from pg_class") && !reads("select 1"));
        assert!(!reads("select (select 1 from data)") && !reads("select 1 from (select 1 from data) s"));
    }

    #[test]
    fn statements_are_separated_where_they_end() {
        assert_eq!(statements("select ';'; ;select 2;").unwrap().len(), 2);
        assert!(statements("-- nothing").unwrap().is_empty());
        assert_eq!(statements("select 'open").unwrap_err().code, SYNTAX);
        assert_eq!(statements(&"1 ".repeat(TOKENS_MAX + 1)).unwrap_err().code, TOO_MUCH);
        assert_eq!(parameters(&statements("select $2, $11").unwrap()[0]).unwrap(), 11);
    }
}
