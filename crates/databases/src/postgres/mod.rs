//! PostgreSQL: one read-only snapshot, streamed by binary `COPY`.

mod ahead;
mod cell_type;
mod connect;
mod copy;
pub(crate) mod engine;
mod password;
pub(crate) mod release;
mod tls;

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hedgerow_config::Selection;
use hedgerow_table::read::{Cell, HeldTable, ReadOptions};
use hedgerow_table::{InputError, Progress, Spill, Table, TableBuilder, TableError};
use postgres::Client;
use postgres::error::{DbError, SqlState};

use crate::parameters::Parameters;
use crate::{identifier, nested, no_table, only_table, select, wanted};
use ahead::ReadAhead;
use cell_type::PostgresType;
pub(crate) use connect::PostgresSession;
use copy::CopyRows;

/// Rows between two looks at whether to go on, and the time between two while none come.
const ROWS_AT_ONCE: usize = 1 << 12;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn read(
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
) -> Result<Table, TableError> {
    let table = read_up_to(u64::MAX, parameters, selection, options)?;
    table.ok_or_else(|| TableError::Internal("a table that fits no memory".to_owned()))
}

/// The table; where its codes do not fit in memory, an engine over a new snapshot.
pub(crate) fn read_within(
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
    spill: &Spill,
) -> Result<HeldTable, TableError> {
    match read_up_to(spill.held_max(), parameters, selection, options)? {
        Some(table) => Ok(HeldTable::Memory(table)),
        None => engine::open(parameters, selection, options, spill).map(HeldTable::Outside),
    }
}

/// `None` when the codes take more bytes.
fn read_up_to(
    bytes_max: u64,
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
) -> Result<Option<Table>, TableError> {
    options.progress.stage("read", None);
    let mut snapshot = Snapshot::open(parameters, selection, options)?;
    let all: Vec<usize> = (0..snapshot.columns.len()).collect();
    let mut builder = snapshot.builder(&all)?;
    let names: Vec<&str> = snapshot.columns.iter().map(|(name, _)| name.as_str()).collect();
    let (statement, types) = (select(&names, &snapshot.from), snapshot.types(&all));
    let mut is_too_large = false;
    let copied = snapshot.copy(&statement, types, options.progress, &mut |cells| {
        builder.push_cells(cells)?;
        is_too_large = builder.rows().is_multiple_of(ROWS_AT_ONCE) && builder.bytes() > bytes_max;
        if is_too_large { Err(TableError::Canceled) } else { Ok(()) }
    });
    if is_too_large {
        return Ok(None);
    }
    copied?;
    if builder.bytes() > bytes_max {
        return Ok(None);
    }
    let mut table = builder.finish(options)?;
    table.header = snapshot.header;
    table.warnings.extend(snapshot.skipped);
    Ok(Some(table))
}

/// A table or a query as it stands at one moment, in a transaction that ends with the connection.
#[derive(Debug)]
pub(crate) struct Snapshot {
    session: PostgresSession,
    place: String,
    /// The clause after `FROM`.
    from: String,
    header: Vec<String>,
    /// Those that are read.
    columns: Vec<(String, PostgresType)>,
    /// About those that no table can hold.
    skipped: Vec<InputError>,
}

impl Snapshot {
    fn open(
        parameters: &Parameters<'_>,
        selection: Option<&Selection>,
        options: &ReadOptions<'_>,
    ) -> Result<Snapshot, TableError> {
        let place = parameters.shown();
        let mut session = PostgresSession::open(parameters)?;
        let failed = |error: &postgres::Error| failure(&place, error);
        // Every digit of a float, so that different ones have different texts.
        let begin = "SET extra_float_digits = 3; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        session.client.batch_execute(begin).map_err(|error| failed(&error))?;
        let from = source(&mut session.client, selection, &place)?;
        let statement = session.client.prepare(&format!("SELECT * FROM {from}")).map_err(|error| failed(&error))?;
        let header: Vec<String> = statement.columns().iter().map(|column| column.name().to_owned()).collect();
        let found = statement.columns().iter();
        let found = found.map(|column| (column.name(), PostgresType::of(column.type_(), column.type_modifier())));
        let (columns, skipped) = wanted(found, &place, options)?;
        Ok(Snapshot { session, place, from, header, columns, skipped })
    }

    fn types(&self, columns: &[usize]) -> Vec<PostgresType> {
        columns.iter().map(|&index| self.columns[index].1).collect()
    }

    /// For rows of these columns.
    fn builder(&self, columns: &[usize]) -> Result<TableBuilder, TableError> {
        let declared = |&index: &usize| (self.columns[index].0.clone(), self.columns[index].1.kind());
        TableBuilder::of_rows(columns.iter().map(declared).collect(), &self.place)
    }

    /// Hands on all rows of a statement, whose columns have these types.
    fn copy(
        &mut self,
        statement: &str,
        types: Vec<PostgresType>,
        progress: &dyn Progress,
        take: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let Snapshot { session, place, columns, .. } = self;
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let (canceling, tls) = (session.client.cancel_token(), session.tls.clone());
        // Canceled at the server: else it would go on computing, or send all rows that are left.
        let cancel = || {
            let _ = canceling.cancel_query(tls.clone());
        };
        let statement = format!("COPY ({statement}) TO STDOUT (FORMAT binary)");
        let copied = watched(progress, &cancel, || {
            let stream = session.client.copy_out(&statement).map_err(|error| failure(place, &error))?;
            std::thread::scope(|scope| {
                let ahead = ReadAhead::new(scope, stream)
                    .map_err(|source| TableError::Io { path: PathBuf::from(place.as_str()), source })?;
                let copied = copy_rows(&mut CopyRows::new(ahead, types), progress, place, &names, take);
                if copied.is_err() {
                    cancel();
                }
                copied
            })
        });
        progress.check()?;
        copied
    }
}

/// All rows of a stream.
fn copy_rows(
    rows: &mut CopyRows<impl BufRead>,
    progress: &dyn Progress,
    place: &str,
    names: &[&str],
    take: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut count = 0usize;
    while rows.next(&mut *take).map_err(|stop| stop.explain(place, count, names))? {
        count += 1;
        if count.is_multiple_of(ROWS_AT_ONCE) {
            progress.advance(rows.take_bytes());
            progress.check()?;
        }
    }
    Ok(())
}

/// Runs `work`; calls `cancel` from another thread when it should end, since the client blocks
/// while the server computes.
fn watched<T>(progress: &dyn Progress, cancel: &(dyn Fn() + Sync), work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                if progress.is_canceled() {
                    return cancel();
                }
                std::thread::park_timeout(POLL_INTERVAL);
            }
        });
        let outcome = work();
        is_done.store(true, Ordering::Release);
        watching.thread().unpark();
        outcome
    })
}

/// The clause after `FROM`.
fn source(client: &mut Client, selection: Option<&Selection>, place: &str) -> Result<String, TableError> {
    let selection = match selection {
        Some(selection) => selection.clone(),
        None => only_table(place, &tables(client, place)?)?,
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
            let found = client.query(found, &[&table, &schema]).map_err(|error| failure(place, &error))?;
            let Some(row) = found.first() else {
                return Err(no_table(place, name, &tables(client, place)?));
            };
            let schema: String = row.get(0);
            Ok(format!("{}.{}", identifier(&schema), identifier(table)))
        }
    }
}

/// The tables and views that this user may read, those that need no schema without one.
fn tables(client: &mut Client, place: &str) -> Result<Vec<String>, TableError> {
    let found = "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END \
                 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT LIKE 'pg\\_%' \
                 AND n.nspname <> 'information_schema' AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1 LIMIT 1000";
    let found = client.query(found, &[]).map_err(|error| failure(place, &error))?;
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

/// The server's error, split by who can act on it. Its details may hold values of rows, so
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

/// The server's errors about connections, rights, names, syntax and resources. Its other messages
/// can quote a value of a row, and only their code is shown.
fn problem_of(answer: &DbError) -> String {
    const WITHOUT_VALUES: [&str; 9] = ["08", "25", "2B", "28", "3D", "42", "53", "57", "58"];
    let code = answer.code().code();
    match WITHOUT_VALUES.iter().any(|class| code.starts_with(class)) {
        true => answer.message().to_owned(),
        false => format!("the server stopped with the code {code} (SQLSTATE)"),
    }
}
