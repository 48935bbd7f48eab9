//! SQLite: a file with tables whose columns declare types, and whose cells need not keep to them.
//!
//! The declared type of a column decides how it is read, never its first row. A cell that does not
//! fit is refused with its row. Where no type is declared, as for what a query computes, all texts
//! of the column together decide, as they do in a CSV file.

pub(crate) mod release;

use std::path::Path;

use hedgerow_config::Selection;
use hedgerow_table::read::{Cell, ReadOptions};
use hedgerow_table::{Kind, Table, TableBuilder, TableError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::parameters::Parameters;
use crate::{identifier, nested, no_table, only_table, select, wanted};

/// Rows between two looks at whether to go on.
const ROWS_AT_ONCE: usize = 1 << 12;

pub(crate) fn read(
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
) -> Result<Table, TableError> {
    let place = parameters.shown();
    options.progress.stage("read", None);
    let connection = open(parameters)?;
    let failed = |error: rusqlite::Error| failure(&place, &parameters.sqlite_path(), error);
    let from = source(&connection, selection, &place).map_err(|error| error.or(failed))?;
    let described = connection.prepare(&format!("SELECT * FROM {from}")).map_err(failed)?;
    let columns = described.columns();
    let header: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
    let found = columns.iter().map(|column| (column.name(), Declared::of(column.decl_type())));
    let (wanted, skipped) = wanted(found, &place, options)?;
    let kinds = wanted.iter().map(|(name, declared)| (name.clone(), declared.kind())).collect();
    let mut builder = TableBuilder::of_rows(kinds, &place)?;
    let names: Vec<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    let mut statement = connection.prepare(&select(&names, &from)).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let refuse = |column: usize, problem: &str| {
            let place = format!("{place}: row {}, column {}", builder.rows() + 1, names[column]);
            TableError::input(
                place,
                problem,
                "mend the value, store an unknown one as NULL, or leave it out by a query",
            )
        };
        let cell = |(index, (_, declared)): (usize, &(String, Declared))| {
            declared.cell(row, index).map_err(failed)?.map_err(|problem| refuse(index, problem))
        };
        let cells = wanted.iter().enumerate().map(cell).collect::<Result<Vec<_>, TableError>>()?;
        builder.push_cells(&cells)?;
        if builder.rows() % ROWS_AT_ONCE == 0 {
            options.progress.check()?;
        }
    }
    let mut table = builder.finish(options)?;
    table.header = header;
    table.warnings.extend(skipped);
    Ok(table)
}

/// How a column is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Boolean,
    As(Option<Kind>),
}

impl Declared {
    /// By the words that SQLite itself looks for, and those that other programs write.
    fn of(declared: Option<&str>) -> Result<Declared, String> {
        let whole = declared.unwrap_or_default().to_ascii_uppercase();
        let name = whole.split('(').next().unwrap_or_default().trim();
        let holds = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let is_integer = name.split_whitespace().any(|word| {
            matches!(word, "INTEGER" | "INT" | "INT2" | "INT4" | "INT8" | "SERIAL")
                || (word.ends_with("INT") && word != "POINT")
        });
        Ok(if holds(&["BLOB", "BINARY"]) {
            return Err(name.to_owned());
        } else if holds(&["BOOL"]) {
            Declared::Boolean
        } else if is_integer {
            Declared::As(Some(Kind::Integer))
        } else if holds(&["CHAR", "CLOB", "TEXT", "UUID", "DATETIME", "TIMESTAMP", "TIME"]) {
            Declared::As(Some(Kind::Category))
        } else if holds(&["DATE"]) {
            Declared::As(Some(Kind::Date))
        } else if holds(&["REAL", "FLOA", "DOUB"]) {
            Declared::As(Some(Kind::Float))
        } else {
            Declared::As(None)
        })
    }

    fn kind(self) -> Option<Kind> {
        match self {
            Declared::Boolean => Some(Kind::Category),
            Declared::As(kind) => kind,
        }
    }

    fn cell<'r>(self, row: &'r Row<'_>, index: usize) -> rusqlite::Result<Result<Cell<'r>, &'static str>> {
        Ok(match row.get_ref(index)? {
            ValueRef::Null => Ok(Cell::Missing),
            ValueRef::Integer(0) if self == Declared::Boolean => Ok(Cell::Text("false")),
            ValueRef::Integer(1) if self == Declared::Boolean => Ok(Cell::Text("true")),
            // Exactly: a float holds no larger integers one by one.
            ValueRef::Integer(value) if self.kind() == Some(Kind::Float) && value.unsigned_abs() <= 1 << 53 => {
                Ok(Cell::Float(value as f64))
            }
            ValueRef::Integer(value) => Ok(Cell::Integer(value)),
            ValueRef::Real(value) => Ok(Cell::Float(value)),
            ValueRef::Text(bytes) => Ok(Cell::Bytes(bytes)),
            ValueRef::Blob(_) => Err("a blob"),
        })
    }
}

/// Only to be read, whatever a query says.
fn open(parameters: &Parameters<'_>) -> Result<Connection, TableError> {
    let (place, path) = (parameters.shown(), parameters.sqlite_path());
    if !path.is_file() {
        let hint = "check the path and its spelling; it is relative to the policy";
        return Err(TableError::input(place, "the file does not exist", hint));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(|error| failure(&place, &path, error))?;
    // All statements see the same state.
    connection.execute_batch("BEGIN").map_err(|error| failure(&place, &path, error))?;
    Ok(connection)
}

/// An error of the database, or one that was explained already.
enum Either {
    Sqlite(rusqlite::Error),
    Table(TableError),
}

impl Either {
    fn or(self, explain: impl FnOnce(rusqlite::Error) -> TableError) -> TableError {
        match self {
            Either::Sqlite(error) => explain(error),
            Either::Table(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Either {
    fn from(error: rusqlite::Error) -> Either {
        Either::Sqlite(error)
    }
}

impl From<TableError> for Either {
    fn from(error: TableError) -> Either {
        Either::Table(error)
    }
}

/// The clause after `FROM`.
fn source(connection: &Connection, selection: Option<&Selection>, place: &str) -> Result<String, Either> {
    let tables = tables(connection)?;
    let selection = match selection {
        Some(selection) => selection.clone(),
        None => only_table(place, &tables)?,
    };
    match &selection {
        Selection::Query(query) => Ok(nested(query)),
        Selection::Table(name) => {
            let found = tables.iter().find(|table| table.eq_ignore_ascii_case(name));
            let found = found.ok_or_else(|| no_table(place, name, &tables))?;
            Ok(identifier(found))
        }
    }
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

/// The database's error, split by who can act on it.
fn failure(place: &str, path: &Path, error: rusqlite::Error) -> TableError {
    match error {
        rusqlite::Error::SqliteFailure(inner, message) => {
            let problem = message.unwrap_or_else(|| inner.to_string());
            match inner.code {
                ErrorCode::NotADatabase => {
                    TableError::input(place, "the file is not an SQLite database", "check that this is the right file")
                }
                ErrorCode::Unknown => TableError::input(place, problem, "try the query in sqlite3 first"),
                _ => TableError::io(path, std::io::Error::other(problem)),
            }
        }
        rusqlite::Error::SqlInputError { msg, .. } => TableError::input(place, msg, "try the query in sqlite3 first"),
        other => TableError::input(place, other.to_string(), "check the database and the query"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_are_read_by_their_words() {
        for (declared, kind) in [
            ("INTEGER", Some(Kind::Integer)),
            ("unsigned big int", Some(Kind::Integer)),
            ("tinyint(1)", Some(Kind::Integer)),
            ("VARCHAR(20)", Some(Kind::Category)),
            ("text", Some(Kind::Category)),
            ("DOUBLE PRECISION", Some(Kind::Float)),
            ("date", Some(Kind::Date)),
            ("datetime", Some(Kind::Category)),
            ("DECIMAL(10,2)", None),
            ("", None),
        ] {
            assert_eq!(Declared::of(Some(declared)), Ok(Declared::As(kind)), "{declared}");
        }
        assert_eq!(Declared::of(None), Ok(Declared::As(None)));
        assert_eq!(Declared::of(Some("boolean")), Ok(Declared::Boolean));
        assert_eq!(Declared::of(Some("blob")), Err("BLOB".to_owned()));
    }
}
