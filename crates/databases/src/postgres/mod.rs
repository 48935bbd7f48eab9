//! PostgreSQL: one read-only snapshot, streamed by binary `COPY`.

mod cell_type;
mod connect;
mod copy;
mod password;
pub(crate) mod release;
mod tls;

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hedgerow_config::Selection;
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{InputError, Progress, Table, TableBuilder, TableError};
use postgres::IsolationLevel;
use postgres::error::{DbError, SqlState};

use crate::parameters::Parameters;
use crate::{identifier, nested, no_table, only_table, select};
use cell_type::CellType;
pub(crate) use connect::Session;
use copy::Rows;

/// Rows between two looks at whether to go on, and the time between two while none come.
const ROWS_AT_ONCE: usize = 1 << 12;
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn read(
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
) -> Result<Table, TableError> {
    let place = parameters.shown();
    options.progress.stage("read", None);
    let mut session = Session::open(parameters)?;
    let failed = |error: &postgres::Error| failure(&place, error);
    let (canceling, tls) = (session.client.cancel_token(), session.tls.clone());
    let snapshot = session.client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let mut snapshot = snapshot.start().map_err(|error| failed(&error))?;
    let from = source(&mut snapshot, selection, &place)?;
    let statement = snapshot.prepare(&format!("SELECT * FROM {from}")).map_err(|error| failed(&error))?;
    let header: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    for column in statement.columns().iter().filter(|column| options.wants(column.name())) {
        match CellType::of(column.type_(), column.type_modifier()) {
            Ok(cells) => wanted.push((column.name(), cells)),
            Err(found) => {
                let problem = format!("column `{}` has the type {found}, which cannot be read", column.name());
                let hint = "a table holds single values: omit the column, or let a query turn it into text, a number or a date";
                skipped.push(InputError::new(&place, problem, hint));
            }
        }
    }
    match skipped.first() {
        Some(error) if options.only.is_some() || wanted.is_empty() => return Err(error.clone().into()),
        _ => {}
    }
    if wanted.is_empty() {
        return Err(no_column(&place));
    }
    let columns = wanted.iter().map(|(name, cells)| ((*name).to_owned(), cells.kind())).collect();
    let mut builder = TableBuilder::of_rows(columns, &place)?;
    let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    let types: Vec<CellType> = wanted.iter().map(|(_, cells)| *cells).collect();
    let statement = format!("COPY ({}) TO STDOUT (FORMAT binary)", select(&names, &from));
    // Canceled at the server: else it would go on computing, or send all rows that are left.
    let cancel = || {
        let _ = canceling.cancel_query(tls.clone());
    };
    let copied = watched(options.progress, &cancel, || {
        let stream = snapshot.copy_out(&statement).map_err(|error| failed(&error))?;
        let mut rows = Rows::new(stream, types);
        let copied = copy(&mut rows, &mut builder, options.progress, &place, &names);
        if copied.is_err() {
            cancel();
        }
        copied
    });
    options.progress.check()?;
    copied?;
    snapshot.commit().map_err(|error| failed(&error))?;
    let mut table = builder.finish(options)?;
    table.header = header;
    table.warnings.extend(skipped);
    Ok(table)
}

/// All rows of a stream into a table.
fn copy(
    rows: &mut Rows<impl BufRead>,
    builder: &mut TableBuilder,
    progress: &dyn Progress,
    place: &str,
    names: &[&str],
) -> Result<(), TableError> {
    while rows.next(|cells| builder.push_cells(cells)).map_err(|stop| stop.explain(place, builder.rows(), names))? {
        if builder.rows().is_multiple_of(ROWS_AT_ONCE) {
            progress.advance(rows.take_bytes());
            progress.check()?;
        }
    }
    Ok(())
}

/// Runs `work`; calls `cancel` from another thread when it should end, since a server that computes
/// lets nobody look.
fn watched<T>(progress: &dyn Progress, cancel: &(dyn Fn() + Sync), work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                if progress.is_canceled() {
                    return cancel();
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
        });
        let outcome = work();
        is_done.store(true, Ordering::Release);
        watching.thread().unpark();
        outcome
    })
}

pub(crate) fn no_column(place: &str) -> TableError {
    TableError::input(place, "no column of the policy is there", "check the table and the names of the attributes")
}

/// What stands after `FROM`.
fn source(
    snapshot: &mut postgres::Transaction<'_>,
    selection: Option<&Selection>,
    place: &str,
) -> Result<String, TableError> {
    let selection = match selection {
        Some(selection) => selection.clone(),
        None => only_table(place, &tables(snapshot, place)?)?,
    };
    match &selection {
        Selection::Query(query) => Ok(nested(query)),
        Selection::Table(name) => {
            let (schema, table) = match name.split_once('.') {
                Some((schema, table)) => (Some(schema), table),
                None => (None, name.as_str()),
            };
            let found = "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                         WHERE c.relname = $1 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') \
                         AND (n.nspname = $2 OR $2 IS NULL AND pg_table_is_visible(c.oid))";
            let found = snapshot.query(found, &[&table, &schema]).map_err(|error| failure(place, &error))?;
            let Some(row) = found.first() else {
                return Err(no_table(place, name, &tables(snapshot, place)?));
            };
            let schema: String = row.get(0);
            Ok(format!("{}.{}", identifier(&schema), identifier(table)))
        }
    }
}

/// The tables and views that this user may read, those that need no schema without one.
fn tables(snapshot: &mut postgres::Transaction<'_>, place: &str) -> Result<Vec<String>, TableError> {
    let found = "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END \
                 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT LIKE 'pg\\_%' \
                 AND n.nspname <> 'information_schema' AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1 LIMIT 1000";
    let found = snapshot.query(found, &[]).map_err(|error| failure(place, &error))?;
    Ok(found.iter().map(|row| row.get(0)).collect())
}

const PASSWORD_HINT: &str =
    "set PGPASSWORD, or write a line into the file ~/.pgpass (mode 0600); check the user in the address";

/// An error with all its causes: what it says itself is little.
fn with_causes(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    text
}

/// What the server answered, split by who can act on it. Its details may hold values of rows, so
/// only its message is shown.
pub(crate) fn failure(place: &str, error: &postgres::Error) -> TableError {
    let Some(answer) = error.as_db_error() else {
        let problem = with_causes(error);
        if problem.contains("password missing") {
            return TableError::input(place, "the server asks for a password", PASSWORD_HINT);
        }
        return TableError::Io { path: PathBuf::from(place), source: std::io::Error::other(problem) };
    };
    let hint = match answer.code() {
        code if code.code().starts_with("28") => PASSWORD_HINT,
        code if *code == SqlState::INVALID_CATALOG_NAME => "check the name of the database in the address",
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => "ask for the right to read it, or connect as another user",
        code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => "a source is only read: let the query be a SELECT",
        code if code.code().starts_with("42") => "try the query in psql first",
        code if code.code().starts_with("22") => {
            "the query computes what some value does not allow: try it in psql first"
        }
        _ => {
            let problem = std::io::Error::other(problem_of(answer));
            return TableError::Io { path: PathBuf::from(place), source: problem };
        }
    };
    TableError::input(place, problem_of(answer), hint)
}

/// What the server says of connections, rights, names, syntax and resources. Its other messages can
/// quote a value of a row, and only their code is shown.
fn problem_of(answer: &DbError) -> String {
    const WITHOUT_VALUES: [&str; 9] = ["08", "25", "2B", "28", "3D", "42", "53", "57", "58"];
    let code = answer.code().code();
    match WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
        true => answer.message().to_owned(),
        false => format!("the server stopped with the code {code} (SQLSTATE)"),
    }
}
