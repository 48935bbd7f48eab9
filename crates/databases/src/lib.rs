//! Where tables and releases lie in a database: PostgreSQL and SQLite.
//!
//! A database declares the types of its columns, so nothing is inferred from values where it does.
//! A table is read in one snapshot, and only the columns that are wanted leave the database. A
//! release is written in one transaction and read back before it is committed.
//!
//! Only this crate connects to anything, and only to the address that a user gave. An address may
//! hold a password: nothing here shows it.

mod parameters;
mod postgres;
mod released;
mod sqlite;

use hedgerow_config::{Address, Database, Engine, Selection};
use hedgerow_table::read::{HeldTable, ReadOptions};
use hedgerow_table::{InputError, Spill, Table, TableError};

pub use released::{Destination, fetch};

use parameters::Parameters;

/// Reads a table of a database, or the rows of a query on it.
pub fn read(database: &Database, options: &ReadOptions<'_>) -> Result<Table, TableError> {
    let parameters = Parameters::of(&database.address)?;
    let selection = selection_of(database, &parameters)?;
    match database.address.engine() {
        Engine::Postgres => postgres::read(&parameters, selection.as_ref(), options),
        Engine::Sqlite => sqlite::read(&parameters, selection.as_ref(), options),
    }
}

/// Reads as [`read`] does. A table in PostgreSQL that does not fit in memory stays there.
pub fn read_within(database: &Database, options: &ReadOptions<'_>, spill: &Spill) -> Result<HeldTable, TableError> {
    let parameters = Parameters::of(&database.address)?;
    let selection = selection_of(database, &parameters)?;
    match database.address.engine() {
        Engine::Postgres => postgres::read_within(&parameters, selection.as_ref(), options, spill),
        Engine::Sqlite => sqlite::read(&parameters, selection.as_ref(), options).map(HeldTable::Memory),
    }
}

fn selection_of(database: &Database, parameters: &Parameters<'_>) -> Result<Option<Selection>, TableError> {
    match (&database.selection, parameters.selection()) {
        (Some(_), Some(_)) => {
            let hint = "remove `table` and `query` from the address";
            Err(InputError::new(parameters.shown(), "the table is named twice", hint).into())
        }
        (Some(selection), None) => Ok(Some(selection.clone())),
        (None, selection) => Ok(selection),
    }
}

/// Columns with how their cells are read, and warnings about others.
type ReadableColumns<T> = (Vec<(String, T)>, Vec<InputError>);

/// The columns to read, and warnings about those that no table can hold, whose type is the error.
/// Such a column is skipped, unless it was named.
fn wanted<'c, T>(
    columns: impl Iterator<Item = (&'c str, Result<T, String>)>,
    place: &str,
    options: &ReadOptions<'_>,
) -> Result<ReadableColumns<T>, TableError> {
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    for (name, cells) in columns.filter(|(name, _)| options.names(name)) {
        match cells {
            Ok(cells) => wanted.push((name.to_owned(), cells)),
            Err(found) => {
                let problem = format!("column `{name}` has the type {found}, which cannot be read");
                let hint = "a table holds single values: omit the column, or let a query turn it into text, a number or a date";
                skipped.push(InputError::new(place, problem, hint));
            }
        }
    }
    match skipped.first() {
        Some(error) if options.only.is_some() || wanted.is_empty() => Err(error.clone().into()),
        None if wanted.is_empty() => {
            let hint = "check the table and the names of the attributes";
            Err(TableError::input(place, "no column of the policy is there", hint))
        }
        _ => Ok((wanted, skipped)),
    }
}

/// An address without a password and without what is read there, and the latter.
pub fn divided(address: &Address) -> Result<(String, Option<Selection>), TableError> {
    let selection = Parameters::of(address)?.selection();
    let shown = address.to_string();
    let Some((base, parameters)) = shown.split_once('?') else { return Ok((shown, selection)) };
    let is_other = |pair: &&str| !pair.starts_with("table=") && !pair.starts_with("query=");
    let kept: Vec<&str> = parameters.split('&').filter(is_other).collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    Ok((format!("{base}{mark}{}", kept.join("&")), selection))
}

/// A name within a statement.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The rows of these columns of a table or a query.
fn select(columns: &[&str], from: &str) -> String {
    let columns: Vec<String> = columns.iter().map(|name| identifier(name)).collect();
    format!("SELECT {} FROM {from}", columns.join(", "))
}

/// A query as a table within another one. A comment at its end must not swallow the parenthesis.
fn nested(query: &str) -> String {
    format!("({}\n) AS source", query.trim_end().trim_end_matches(';'))
}

/// The one table of a database that has one, when none was named.
fn only_table(place: &str, tables: &[String]) -> Result<Selection, TableError> {
    if let [table] = tables {
        return Ok(Selection::Table(table.clone()));
    }
    let hint = match tables {
        [] => "check that this is the right database, and that you may read its tables".to_owned(),
        _ => format!("name one of {}", listed(tables)),
    };
    Err(TableError::input(place, "the address names no table or query", hint))
}

/// A table that is not there.
fn no_table(place: &str, table: &str, tables: &[String]) -> TableError {
    let hint = match hedgerow_table::spelling::nearest(table, tables.iter().map(String::as_str)) {
        Some(name) => format!("did you mean `{name}`?"),
        None if tables.is_empty() => "check that this is the right database".to_owned(),
        None => format!("there are {}", listed(tables)),
    };
    TableError::input(place, format!("the database has no table `{table}`"), hint)
}

fn listed(tables: &[String]) -> String {
    const SHOWN_MAX: usize = 12;
    let shown: Vec<String> = tables.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    let more = if tables.len() > SHOWN_MAX { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
