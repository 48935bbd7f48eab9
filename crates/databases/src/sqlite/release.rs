//! Releases in a file of their own: built beside it, and moved into place.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_table::read::Cell;
use hedgerow_table::{Kind, TableError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};

use super::{Declared, failure, open, tables};
use crate::identifier;
use crate::parameters::Parameters;
use crate::released::{GiveRows, MANIFEST, Store, TakeRow, manifest_text, tables_of};

pub(crate) fn prepare(parameters: &Parameters<'_>, overwrite: bool) -> Result<(), TableError> {
    let (place, path) = (parameters.shown(), parameters.sqlite_path());
    let Some(parent) = parent(&path) else {
        return Err(TableError::input(place, "not a name for a file", "name a new file, such as `sqlite:release.db`"));
    };
    if !parent.is_dir() {
        let problem = format!("the directory {} does not exist", parent.display());
        return Err(TableError::input(place, problem, "create it first, or name another file"));
    }
    if fs::symlink_metadata(&path).is_err() {
        return Ok(());
    }
    if !overwrite {
        return Err(TableError::input(
            place,
            "exists already",
            "name another file, or allow that a release is replaced",
        ));
    }
    let foreign = || {
        let hint = "only a release can be replaced; name another file";
        TableError::input(parameters.shown(), "exists and is not a release", hint)
    };
    let connection = open(parameters).map_err(|_| foreign())?;
    let mut found = tables(&connection).map_err(|_| foreign())?;
    if !found.iter().any(|table| table == MANIFEST) {
        return Err(foreign());
    }
    let text =
        manifest_text(&mut Tables { connection: &connection, place: &place, path: &path })?.ok_or_else(foreign)?;
    let mut expected = tables_of(&text, &place).map_err(|_| foreign())?;
    expected.sort_unstable();
    found.sort_unstable();
    if found == expected { Ok(()) } else { Err(foreign()) }
}

fn parent(path: &Path) -> Option<PathBuf> {
    path.file_name()?;
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_path_buf() })
}

/// A file beside the destination that goes when it was not moved into place.
struct Beside(PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let mut journal = self.0.clone().into_os_string();
        journal.push("-journal");
        let _ = fs::remove_file(journal);
    }
}

/// Removes what processes that no longer run have left for this destination. Whether one runs is
/// looked up in `/proc`: where there is none, nothing is touched.
fn clear_left(path: &Path, name: &str) {
    let prefix = format!(".{name}.partial-");
    let Some(entries) = parent(path).filter(|_| Path::new("/proc/self").exists()).and_then(|at| fs::read_dir(at).ok())
    else {
        return;
    };
    for entry in entries.flatten() {
        let process = entry.file_name().to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        // Our own number was there before us: it was given out twice.
        let is_dead =
            |process: u32| process == std::process::id() || !Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(is_dead) {
            drop(Beside(entry.path()));
        }
    }
}

pub(crate) fn write(
    parameters: &Parameters<'_>,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<(), TableError> {
    // Something may have been put there while the release was made.
    prepare(parameters, overwrite)?;
    let (place, path) = (parameters.shown(), parameters.sqlite_path());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = Beside(path.with_file_name(format!(".{name}.partial-{}", std::process::id())));
    clear_left(&path, &name);
    let failed = |error: rusqlite::Error| failure(&place, &path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&beside.0, flags).map_err(failed)?;
    connection.execute_batch("PRAGMA synchronous = FULL; BEGIN IMMEDIATE").map_err(failed)?;
    write(&mut Tables { connection: &connection, place: &place, path: &path })?;
    connection.execute_batch("COMMIT").map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    fs::rename(&beside.0, &path).map_err(|error| TableError::io(&path, error))?;
    // Best effort: some file systems do not let a directory be opened for syncing.
    let _ = parent(&path).map(|parent| fs::File::open(parent).and_then(|parent| parent.sync_all()));
    Ok(())
}

pub(crate) fn fetch(
    parameters: &Parameters<'_>,
    fetch: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let (place, path) = (parameters.shown(), parameters.sqlite_path());
    let connection = open(parameters)?;
    let found = tables(&connection).map_err(|error| failure(&place, &path, error))?;
    if !found.iter().any(|table| table == MANIFEST) {
        let hint = "name a file that a release was published to";
        return Err(TableError::input(place, "the database holds no release", hint));
    }
    fetch(&mut Tables { connection: &connection, place: &place, path: &path })
}

struct Tables<'t> {
    connection: &'t Connection,
    place: &'t str,
    path: &'t Path,
}

impl Tables<'_> {
    fn failed(&self, error: rusqlite::Error) -> TableError {
        failure(self.place, self.path, error)
    }
}

fn listed(columns: &[&str]) -> String {
    columns.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
}

impl Store for Tables<'_> {
    fn create(&mut self, table: &str, columns: &[(&str, Kind)]) -> Result<(), TableError> {
        let column = |(name, kind): &(&str, Kind)| {
            let declared = match kind {
                Kind::Integer => "INTEGER",
                Kind::Float => "REAL",
                Kind::Date => "DATE",
                Kind::Category => "TEXT",
            };
            format!("{} {declared}", identifier(name))
        };
        let columns: Vec<String> = columns.iter().map(column).collect();
        let statement = format!("CREATE TABLE {} ({})", identifier(table), columns.join(", "));
        self.connection.execute_batch(&statement).map_err(|error| self.failed(error))
    }

    fn insert(&mut self, table: &str, columns: &[&str], give: &mut GiveRows<'_>) -> Result<(), TableError> {
        let marks = vec!["?"; columns.len()].join(", ");
        let statement = format!("INSERT INTO {} ({}) VALUES ({marks})", identifier(table), listed(columns));
        let mut statement = self.connection.prepare(&statement).map_err(|error| self.failed(error))?;
        give(&mut |cells| {
            let values = rusqlite::params_from_iter(cells.iter().map(Value));
            statement.execute(values).map(|_| ()).map_err(|error| self.failed(error))
        })
    }

    fn read(&mut self, table: &str, columns: &[&str], take: &mut TakeRow<'_>) -> Result<(), TableError> {
        let statement = format!("SELECT {} FROM {} ORDER BY rowid", listed(columns), identifier(table));
        let mut statement = self.connection.prepare(&statement).map_err(|error| self.failed(error))?;
        let mut rows = statement.query([]).map_err(|error| self.failed(error))?;
        while let Some(row) = rows.next().map_err(|error| self.failed(error))? {
            let cell = |index: usize| {
                let found = Declared::As(None).cell(row, index).map_err(|error| self.failed(error))?;
                found.map_err(|problem| {
                    let problem = format!("column `{}` of `{table}` holds {problem}", columns[index]);
                    TableError::input(self.place, problem, "no release has that: do not trust this one")
                })
            };
            let cells = (0..columns.len()).map(cell).collect::<Result<Vec<_>, _>>()?;
            take(&cells)?;
        }
        Ok(())
    }
}

/// A cell as SQLite takes it. A date is its text.
struct Value<'c>(&'c Cell<'c>);

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Missing => ToSqlOutput::Borrowed(ValueRef::Null),
            Cell::Integer(value) => ToSqlOutput::from(*value),
            Cell::Float(value) => ToSqlOutput::from(*value),
            Cell::Date(day) => ToSqlOutput::from(hedgerow_table::date::Date(*day).to_string()),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(text) => ToSqlOutput::Borrowed(ValueRef::Text(text)),
        })
    }
}
