//! Which statements there are. A statement that is not in this list is refused by name, by what it
//! would do: one that writes, one that is not answered, or no SQL at all.

use hedgerow_audit::query::Select;
use sqlparser::tokenizer::Token;

use super::copy::CopyFormat;
use super::cursor::{Count, read_declare, read_fetch};
use super::refusal::{NOT_PERMITTED, READ_ONLY, SYNTAX, StatementRefusal, UNSUPPORTED};
use super::tokens::{self, dotted, is_release, name, reads_release, value, word};

#[derive(Debug, Clone)]
pub(super) enum Statement {
    /// A SELECT over the release.
    Release(Select),
    /// A SELECT over the catalog, or without a table.
    Catalog(Vec<Token>),
    Copy(Box<Statement>, CopyFormat),
    Set {
        name: String,
        value: Option<String>,
    },
    Show(String),
    Begin,
    Commit,
    Rollback,
    Savepoint,
    ReleaseSavepoint,
    RollbackTo,
    /// DISCARD, or RESET ALL.
    Discard(&'static str),
    /// A prepared statement, or all.
    Deallocate(Option<String>),
    /// A cursor, and whether it outlives its transaction.
    Declare {
        name: String,
        holds: bool,
        select: Box<Statement>,
    },
    /// Rows of a cursor, which MOVE leaves out.
    Fetch {
        name: String,
        count: Count,
        skips: bool,
    },
    /// A cursor, or all.
    Close(Option<String>),
}

const WRITES: &[&str] = &[
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "TRUNCATE",
    "CREATE",
    "ALTER",
    "DROP",
    "GRANT",
    "REVOKE",
    "COMMENT",
    "VACUUM",
    "REINDEX",
    "CLUSTER",
    "REFRESH",
    "IMPORT",
    "SECURITY",
    "LOCK",
    "REASSIGN",
    "ANALYZE",
    "CHECKPOINT",
    "LOAD",
    "NOTIFY",
];

const OTHERS: &[&str] = &["EXPLAIN", "PREPARE", "EXECUTE", "LISTEN", "UNLISTEN", "CALL", "DO", "TABLE", "VALUES"];

/// The most memory that a part of a SELECT's tree takes. None is written in less than a byte.
const PART_BYTES: usize = 128;

impl Statement {
    pub(super) fn read(tokens: Vec<Token>) -> Result<Statement, StatementRefusal> {
        let first = word(tokens.first());
        let second = word(tokens.get(1));
        let rest = tokens.get(1..).unwrap_or_default();
        match (first.as_str(), second.as_str()) {
            ("SELECT" | "WITH", _) => select(tokens),
            ("COPY", _) => read_copy(rest),
            ("SET", _) => read_set(rest),
            ("RESET", "ALL") => Ok(Statement::Discard("RESET")),
            ("RESET", _) => Ok(Statement::Set { name: setting(rest)?.0, value: None }),
            ("SHOW", _) => Ok(Statement::Show(setting(rest)?.0)),
            ("BEGIN" | "START", _) => match tokens.windows(2).any(|pair| is_pair(pair, "READ", "WRITE")) {
                true => {
                    Err(StatementRefusal::new(READ_ONLY, "a transaction that writes is refused", "BEGIN READ ONLY"))
                }
                false => Ok(Statement::Begin),
            },
            ("COMMIT" | "END", _) => Ok(Statement::Commit),
            ("ROLLBACK", _) if tokens.iter().any(|token| word(Some(token)) == "TO") => Ok(Statement::RollbackTo),
            ("ROLLBACK" | "ABORT", _) => Ok(Statement::Rollback),
            ("SAVEPOINT", _) => Ok(Statement::Savepoint),
            ("RELEASE", _) => Ok(Statement::ReleaseSavepoint),
            ("DISCARD", "ALL") => Ok(Statement::Discard("DISCARD ALL")),
            ("DEALLOCATE", "ALL") => Ok(Statement::Deallocate(None)),
            ("DEALLOCATE", _) => match name(tokens.last()) {
                Some(name) => Ok(Statement::Deallocate(Some(name))),
                None => Err(StatementRefusal::new(SYNTAX, "DEALLOCATE names no statement", "write DEALLOCATE ALL")),
            },
            ("DECLARE", _) => {
                let (name, holds, select) = read_declare(rest)?;
                if !matches!(word(select.first()).as_str(), "SELECT" | "WITH") {
                    return Err(StatementRefusal::new(
                        READ_ONLY,
                        "a cursor is for a SELECT",
                        "DECLARE name CURSOR FOR SELECT …",
                    ));
                }
                Ok(Statement::Declare { name, holds, select: Box::new(self::select(select)?) })
            }
            ("FETCH" | "MOVE", _) => {
                let (name, count) = read_fetch(rest)?;
                Ok(Statement::Fetch { name, count, skips: first == "MOVE" })
            }
            ("CLOSE", "ALL") => Ok(Statement::Close(None)),
            ("CLOSE", _) => match name(rest.first()) {
                Some(name) => Ok(Statement::Close(Some(name))),
                None => Err(StatementRefusal::new(SYNTAX, "CLOSE names no cursor", "write CLOSE ALL")),
            },
            (first, _) if WRITES.contains(&first) => {
                let problem = format!("cannot execute {first}: a release cannot be changed");
                Err(StatementRefusal::new(READ_ONLY, problem, "begin with SELECT"))
            }
            (first, _) if OTHERS.contains(&first) => Err(StatementRefusal::unsupported(first, "begin with SELECT")),
            _ => Err(StatementRefusal::new(
                SYNTAX,
                "this is not a statement that a release answers",
                "begin with SELECT",
            )),
        }
    }

    /// Whether it returns rows with a description.
    pub(super) fn has_rows(&self) -> bool {
        matches!(
            self,
            Statement::Release(_) | Statement::Catalog(_) | Statement::Show(_) | Statement::Fetch { skips: false, .. }
        )
    }

    /// The most memory that it takes beside its text.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Statement::Release(select) => select.to_string().len() * PART_BYTES,
            Statement::Catalog(tokens) => size_of_val(tokens.as_slice()),
            Statement::Copy(inner, _) | Statement::Declare { select: inner, .. } => inner.bytes(),
            _ => 0,
        }
    }

    /// The number of its parameters.
    pub(super) fn parameters(&self) -> Result<usize, StatementRefusal> {
        match self {
            Statement::Release(select) => Ok(select.parameters()),
            Statement::Catalog(tokens) => tokens::parameters(tokens),
            Statement::Copy(inner, _) | Statement::Declare { select: inner, .. } => inner.parameters(),
            _ => Ok(0),
        }
    }
}

fn select(tokens: Vec<Token>) -> Result<Statement, StatementRefusal> {
    match reads_release(&tokens) && word(tokens.first()) == "SELECT" {
        true => Ok(Statement::Release(tokens::select(&tokens)?)),
        false => Ok(Statement::Catalog(tokens)),
    }
}

fn is_pair(pair: &[Token], first: &str, second: &str) -> bool {
    word(pair.first()) == first && word(pair.get(1)) == second
}

/// The name of a setting, of which some are several words, and where it ends.
fn setting(tokens: &[Token]) -> Result<(String, usize), StatementRefusal> {
    let known = match (word(tokens.first()).as_str(), word(tokens.get(1)).as_str(), word(tokens.get(2)).as_str()) {
        ("TRANSACTION", "ISOLATION", "LEVEL") => Some(("transaction_isolation", 3)),
        ("TIME", "ZONE", _) => Some(("timezone", 2)),
        ("NAMES", ..) => Some(("client_encoding", 1)),
        ("SESSION", "AUTHORIZATION", _) | ("ROLE", ..) => {
            return Err(StatementRefusal::new(NOT_PERMITTED, "an analyst stays who they are", "connect as another"));
        }
        _ => None,
    };
    if let Some((name, end)) = known {
        return Ok((name.to_owned(), end));
    }
    match dotted(tokens, 0) {
        (parts, end) if !parts.is_empty() => Ok((parts.join("."), end)),
        _ => Err(StatementRefusal::new(SYNTAX, "no setting is named", "SHOW ALL lists those that there are")),
    }
}

fn read_set(tokens: &[Token]) -> Result<Statement, StatementRefusal> {
    let words: Vec<String> = tokens.iter().map(|token| word(Some(token))).collect();
    let is = |place: usize, wanted: &str| words.get(place).is_some_and(|word| word == wanted);
    // Characteristics of transactions: all are read only, and see one epoch.
    if is(0, "TRANSACTION") || is(0, "SESSION") && is(1, "CHARACTERISTICS") {
        return match tokens.windows(2).any(|pair| is_pair(pair, "READ", "WRITE")) {
            true => Err(StatementRefusal::new(READ_ONLY, "a transaction that writes is refused", "write READ ONLY")),
            false => Ok(Statement::Set { name: "transaction_read_only".to_owned(), value: Some("on".to_owned()) }),
        };
    }
    let from = usize::from(is(0, "LOCAL") || is(0, "SESSION") && !is(1, "AUTHORIZATION"));
    let tokens = &tokens[from..];
    let (name, end) = setting(tokens)?;
    let equal = tokens.get(end) == Some(&Token::Eq) || word(tokens.get(end)) == "TO";
    let values = tokens.get(end + usize::from(equal)..).unwrap_or_default();
    let values: Vec<&Token> = values.iter().filter(|token| !matches!(token, Token::Comma | Token::Minus)).collect();
    if values.len() == 1 && word(values.first().copied()) == "DEFAULT" {
        return Ok(Statement::Set { name, value: None });
    }
    let texts: Option<Vec<String>> = values.iter().map(|token| value(token)).collect();
    match texts {
        Some(texts) if !texts.is_empty() => Ok(Statement::Set { name, value: Some(texts.join(", ")) }),
        _ => Err(StatementRefusal::new(SYNTAX, format!("no value for {name}"), "write SET name = 'value'")),
    }
}

/// `(SELECT …) TO STDOUT`, or the release by its name.
fn read_copy(tokens: &[Token]) -> Result<Statement, StatementRefusal> {
    let mut depth = 0usize;
    let mut close = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(token, Token::RParen) {
            close = at;
            break;
        }
    }
    let (inner, end) = if tokens.first() == Some(&Token::LParen) && close > 0 {
        let inner = tokens[1..close].to_vec();
        if word(inner.first()) != "SELECT" && word(inner.first()) != "WITH" {
            return Err(StatementRefusal::new(READ_ONLY, "only a SELECT can be copied", "COPY (SELECT …) TO STDOUT"));
        }
        (select(inner)?, close + 1)
    } else {
        let (parts, end) = dotted(tokens, 0);
        let columns = if tokens.get(end) == Some(&Token::LParen) && close > end {
            tokens[end + 1..close].to_vec()
        } else {
            vec![Token::Mul]
        };
        if !is_release(&parts) {
            return Err(StatementRefusal::new(UNSUPPORTED, "only the release can be copied", "COPY data TO STDOUT"));
        }
        let end = if columns == [Token::Mul] { end } else { close + 1 };
        let mut all = vec![Token::make_keyword("SELECT")];
        all.extend(columns);
        all.extend([Token::make_keyword("FROM"), Token::make_word("data", None)]);
        (Statement::Release(tokens::select(&all)?), end)
    };
    match (word(tokens.get(end)).as_str(), word(tokens.get(end + 1)).as_str()) {
        ("TO", "STDOUT") => Ok(Statement::Copy(Box::new(inner), CopyFormat::read(&tokens[end + 2..])?)),
        ("FROM", _) => {
            Err(StatementRefusal::new(READ_ONLY, "COPY FROM writes: a release cannot be changed", "TO STDOUT"))
        }
        _ => Err(StatementRefusal::new(
            NOT_PERMITTED,
            "COPY to a file or program is refused",
            "COPY (SELECT …) TO STDOUT",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::statements;
    use super::*;

    fn read(sql: &str) -> Result<Statement, StatementRefusal> {
        Statement::read(statements(sql)?.swap_remove(0))
    }

    #[test]
    fn nothing_that_writes_can_be_reached() {
        let refused = [
            ("INSERT INTO data VALUES (1)", READ_ONLY),
            ("update data set age = 1", READ_ONLY),
            ("delete from data", READ_ONLY),
            ("create table t (a int)", READ_ONLY),
            ("drop table data", READ_ONLY),
            ("truncate data", READ_ONLY),
            ("explain analyze copy (select 1) to '/tmp/x'", UNSUPPORTED),
            ("EXPLAIN ANALYZE COPY data TO PROGRAM 'sh'", UNSUPPORTED),
            ("copy data to '/tmp/x'", NOT_PERMITTED),
            ("copy data to program 'sh'", NOT_PERMITTED),
            ("copy (select 1) to '/tmp/x'", NOT_PERMITTED),
            ("copy data from stdin", READ_ONLY),
            ("copy (insert into data values (1) returning 1) to stdout", READ_ONLY),
            ("do $$ begin end $$", UNSUPPORTED),
            ("prepare p as delete from data", UNSUPPORTED),
            ("begin read write", READ_ONLY),
            ("set transaction read write", READ_ONLY),
            ("set session characteristics as transaction read write", READ_ONLY),
            ("set role postgres", NOT_PERMITTED),
            ("set session authorization postgres", NOT_PERMITTED),
            ("lock table data", READ_ONLY),
            ("call f()", UNSUPPORTED),
            ("nonsense", SYNTAX),
            ("1", SYNTAX),
            ("\"SELECT\" 1", SYNTAX),
        ];
        for (sql, code) in refused {
            assert_eq!(read(sql).map_err(|refusal| refusal.code).unwrap_err(), code, "{sql}");
        }
    }

    #[test]
    fn what_clients_set_is_read() {
        let set = |sql: &str| match read(sql).unwrap() {
            Statement::Set { name, value } => (name, value),
            other => panic!("{sql}: {other:?}"),
        };
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(set("SET extra_float_digits = 3"), pair("extra_float_digits", "3"));
        assert_eq!(set("set DateStyle to ISO"), pair("datestyle", "ISO"));
        assert_eq!(set("SET SESSION statement_timeout TO '5s'"), pair("statement_timeout", "5s"));
        assert_eq!(set("SET search_path = a, public"), pair("search_path", "a, public"));
        assert_eq!(set("SET TIME ZONE 'UTC'"), pair("timezone", "UTC"));
        assert_eq!(set("SET NAMES 'utf8'"), pair("client_encoding", "utf8"));
        assert_eq!(set("SET hedgerow.epoch = 2"), pair("hedgerow.epoch", "2"));
        assert_eq!(set("SET jit TO DEFAULT"), ("jit".to_owned(), None));
        assert_eq!(set("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"), pair("transaction_read_only", "on"));
        assert!(
            matches!(read("show transaction isolation level").unwrap(), Statement::Show(name) if name == "transaction_isolation")
        );
        assert!(matches!(read("ROLLBACK TO SAVEPOINT \"_pg3_1\"").unwrap(), Statement::RollbackTo));
        assert!(read("SET").is_err() && read("SET a =").is_err() && read("SHOW").is_err());
    }

    #[test]
    fn what_is_copied_is_a_select() {
        let copied = |sql: &str| matches!(read(sql).unwrap(), Statement::Copy(inner, _) if matches!(*inner, Statement::Release(_)));
        assert!(copied("copy data to stdout") && copied("COPY public.data (age, sex) TO STDOUT WITH (FORMAT csv)"));
        assert!(copied("COPY (SELECT (age) FROM data) TO STDOUT (FORMAT binary)"));
        assert!(
            matches!(read("copy (select 1) to stdout csv header").unwrap(), Statement::Copy(inner, _) if matches!(*inner, Statement::Catalog(_)))
        );
    }
}
