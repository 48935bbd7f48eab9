//! The tables that clients read before they query a database: `pg_catalog` and
//! `information_schema`, as tables of an SQLite database in memory that one connection has for
//! itself. Statements are rewritten on the syntax tree (`rewrite`), so that only tables and
//! functions of a list are reached, and nothing but this database is.

mod access;
mod content;
mod functions;
mod naming;
mod patterns;
mod rewrite;
mod tables;
#[cfg(test)]
mod tests;
mod type_names;
mod watch;

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sqlparser::ast::{Expr, Query};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::answer_rows::{AnswerRows, Heading};
use super::budget::HeldBytes;
use super::kind::{SqlType, SqlValue};
use super::refusal::{
    CANCELED, INTERNAL, NOT_PERMITTED, SYNTAX, StatementRefusal, TOO_MUCH, UNKNOWN_COLUMN, UNKNOWN_FUNCTION,
    UNSUPPORTED,
};
use super::tokens::Parameter;
use rewrite::Bound;
use tables::CatalogTables;

use content::Names;
pub(super) use content::{CatalogColumn, CatalogContent};
pub(super) use watch::Until;
use watch::Watch;

/// How deep a statement may be nested.
const DEPTH_MAX: usize = 60;
/// The longest text in a statement over the catalog, in bytes; for an auditor, whose journal has
/// longer ones, more.
const TEXT_BYTES_MAX: i32 = 64 << 10;
const JOURNAL_TEXT_BYTES_MAX: i32 = 1 << 20;
/// After this many steps of SQLite, the time and the memory of a statement are looked at.
const STEPS: i32 = 500;
/// The memory that a statement may take in SQLite, beside that of its answer.
const WORK_BYTES_MAX: usize = 64 << 20;

pub(super) struct SystemCatalog {
    connection: Connection,
    tables: CatalogTables,
    watch: Watch,
    /// The memory of the journal's copy.
    _held: Option<HeldBytes>,
}

impl std::fmt::Debug for SystemCatalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Catalog")
    }
}

impl SystemCatalog {
    pub(super) fn new(
        content: &CatalogContent,
        setting: impl Fn(&str) -> Option<String> + Send + 'static,
        held: Option<HeldBytes>,
    ) -> Result<SystemCatalog, StatementRefusal> {
        let tables = if content.journal.is_some() { CatalogTables::with_journal() } else { CatalogTables::default() };
        let watch = Watch::default();
        let names = Arc::new(Names::new(&tables, content, watch.clone()));
        let text_bytes_max = if content.journal.is_some() { JOURNAL_TEXT_BYTES_MAX } else { TEXT_BYTES_MAX };
        let build = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_in_memory()?;
            connection.execute_batch(
                // Nothing is written to the disk, also not while a statement sorts.
                "PRAGMA temp_store = MEMORY;
                 ATTACH ':memory:' AS pg_catalog; ATTACH ':memory:' AS information_schema; ATTACH ':memory:' AS public;
                 PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;",
            )?;
            connection.execute_batch(&tables.create())?;
            content::fill(&connection, &tables, content)?;
            functions::register(&connection, &names, &content.user, setting)?;
            use rusqlite::config::DbConfig;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
            connection.execute_batch("PRAGMA query_only = ON;")?;
            use rusqlite::limits::Limit;
            for (limit, most) in [
                (Limit::SQLITE_LIMIT_LENGTH, text_bytes_max),
                (Limit::SQLITE_LIMIT_ATTACHED, 3),
                (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
                (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 18),
                (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
                (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
                (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            ] {
                connection.set_limit(limit, most)?;
            }
            connection.authorizer(Some(access::authorizer(&tables)));
            Ok(connection)
        };
        let connection = build().map_err(|error| StatementRefusal::new(INTERNAL, error.to_string(), ""))?;
        Ok(SystemCatalog { connection, tables, watch, _held: held })
    }

    /// Answers a statement, or says which columns its answer has.
    pub(super) fn answer(
        &self,
        tokens: &[Token],
        parameters: &[Parameter],
        most: Option<(usize, HeldBytes)>,
        until: &Until,
    ) -> Result<AnswerRows, StatementRefusal> {
        let mut query = Parser::new(&PostgreSqlDialect {}).with_recursion_limit(DEPTH_MAX).with_tokens(tokens.to_vec());
        let mut parsed = query.parse_query().map_err(not_read)?;
        if query.peek_token().token != Token::EOF {
            return Err(StatementRefusal::new(
                SYNTAX,
                "the statement does not end where it should",
                "write one SELECT",
            ));
        }
        let shown = naming::columns(&parsed);
        let bound = rewrite::rewrite(&mut parsed, &self.tables, parameters)?;
        // Rows of the answer take up to twice what is counted, while their list grows.
        let answer_bytes = most.as_ref().map_or(0, |(_, held)| 2 * held.left());
        self.watch.begin(until, WORK_BYTES_MAX.saturating_add(answer_bytes));
        let watch = self.watch.clone();
        self.connection.progress_handler(STEPS, Some(move || watch.is_over()));
        let answered = self.run(&parsed.to_string(), &bound, shown, most);
        self.connection.progress_handler(0, None::<fn() -> bool>);
        let answered = answered.map_err(|refusal| self.watch.reason().unwrap_or(refusal));
        self.watch.end();
        answered
    }

    fn run(
        &self,
        sql: &str,
        bound: &[Bound],
        shown: Option<Vec<(String, Option<SqlType>)>>,
        most: Option<(usize, HeldBytes)>,
    ) -> Result<AnswerRows, StatementRefusal> {
        let mut statement = self.connection.prepare(sql).map_err(|error| refused(&error))?;
        if !statement.readonly() {
            return Err(StatementRefusal::new(INTERNAL, "a statement over the catalog would write", ""));
        }
        let mut headings: Vec<Heading> = (statement.columns().iter())
            .map(|column| Heading {
                name: column.name().to_owned(),
                kind: column.decl_type().map_or(SqlType::Text, tables::kind),
            })
            .collect();
        if let Some(shown) = shown.filter(|shown| shown.len() == headings.len()) {
            for (heading, (name, kind)) in headings.iter_mut().zip(shown) {
                heading.name = name;
                heading.kind = kind.unwrap_or(heading.kind);
            }
        }
        let Some((rows_max, mut held)) = most else { return Ok(AnswerRows { headings, ..AnswerRows::default() }) };
        held.add_headings(&headings)?;
        for (number, value) in (1..).zip(bound) {
            // A value of a part that was taken out has no place.
            if let Ok(Some(place)) = statement.parameter_index(&format!("$b{number}")) {
                statement.raw_bind_parameter(place, value).map_err(|error| refused(&error))?;
            }
        }
        let mut rows = Vec::new();
        let mut found = statement.raw_query();
        while let Some(row) = found.next().map_err(|error| refused(&error))? {
            if rows.len() == rows_max {
                return Err(StatementRefusal::new(TOO_MUCH, format!("more than {rows_max} rows"), "use LIMIT"));
            }
            let cells: Vec<SqlValue> =
                (0..headings.len()).map(|place| row.get_ref(place).map_or(SqlValue::Null, value)).collect();
            held.add_row(&cells)?;
            rows.push(cells);
        }
        Ok(AnswerRows { headings, rows, notes: Vec::new(), held: Some(held) })
    }
}

fn value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(value) => SqlValue::Int(value),
        ValueRef::Real(value) => SqlValue::Float(value),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => SqlValue::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

impl rusqlite::ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(match self {
            Bound::Null => rusqlite::types::Null.into(),
            Bound::Int(value) => (*value).into(),
            Bound::Real(value) => (*value).into(),
            Bound::Text(text) => text.as_str().into(),
        })
    }
}

fn not_read(error: sqlparser::parser::ParserError) -> StatementRefusal {
    StatementRefusal::new(SYNTAX, error.to_string().chars().take(200).collect::<String>(), "")
}

fn parse(text: &str) -> Result<Box<Query>, StatementRefusal> {
    let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text);
    parser.and_then(|mut parser| parser.parse_query()).map_err(not_read)
}

fn parse_expression(text: &str) -> Result<Expr, StatementRefusal> {
    let parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text);
    parser.and_then(|mut parser| parser.parse_expr()).map_err(not_read)
}

/// Errors of SQLite, in PostgreSQL's codes.
fn refused(error: &rusqlite::Error) -> StatementRefusal {
    let text: String = error.to_string().chars().take(120).collect();
    if let rusqlite::Error::SqliteFailure(failure, _) = error
        && failure.code == rusqlite::ErrorCode::OperationInterrupted
    {
        return StatementRefusal::new(CANCELED, "the statement was canceled, or its time is over", "");
    }
    let code = if let rusqlite::Error::SqliteFailure(failure, _) = error
        && failure.code == rusqlite::ErrorCode::AuthorizationForStatementDenied
    {
        NOT_PERMITTED
    } else if text.contains("no such column") || text.contains("ambiguous column") {
        UNKNOWN_COLUMN
    } else if text.contains("no such function") || text.contains("wrong number of arguments") {
        UNKNOWN_FUNCTION
    } else if text.contains("syntax error") {
        SYNTAX
    } else {
        UNSUPPORTED
    };
    StatementRefusal::new(code, format!("this statement over the catalog is not answered: {text}"), "")
}
