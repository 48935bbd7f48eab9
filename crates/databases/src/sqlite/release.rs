//! Releases in a file of their own: built beside it, and moved into place.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use hedgerow_table::read::Cell;
use hedgerow_table::whole::Partial;
use hedgerow_table::{InputError, Kind, Refusal, TableError};
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
        let hint = "name another file, or permit the release to be replaced";
        return Err(InputError::new(place, "exists already", hint).refusing(Refusal::ReleaseExists).into());
    }
    let foreign = || -> TableError {
        let hint = "only a release can be replaced; name another file";
        InputError::new(parameters.shown(), "exists and is not a release", hint).refusing(Refusal::NotARelease).into()
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

pub(crate) fn write(
    parameters: &Parameters<'_>,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<(), TableError> {
    // Something may have been put there while the release was made.
    prepare(parameters, overwrite)?;
    let (place, path) = (parameters.shown(), parameters.sqlite_path());
    let moved = |error| TableError::io(&path, error);
    let partial = Partial::file(&path).map_err(moved)?;
    create(partial.path(), &place, &path, write)?;
    partial.place().map_err(moved)
}

/// Makes a new file. `path` and `place` name it in errors.
fn create(
    file: &Path,
    place: &str,
    path: &Path,
    write: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let failed = |error: rusqlite::Error| failure(place, path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.execute_batch("PRAGMA synchronous = FULL; BEGIN IMMEDIATE").map_err(failed)?;
    write(&mut Tables { connection: &connection, place, path })?;
    connection.execute_batch("COMMIT").map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))
}

/// Whether a file has other bytes than its tables have when they are written again, into the folder
/// `into`. Pages have room between and behind their rows that SQLite never reads: anything could be
/// there.
pub(crate) fn other_bytes(
    parameters: &Parameters<'_>,
    into: &Path,
    write: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<Option<String>, TableError> {
    let (place, path, again) = (parameters.shown(), parameters.sqlite_path(), into.join(AGAIN));
    let outcome = match create(&again, &place, &path, write) {
        Ok(()) => same_bytes(&path, &again).map_err(|error| TableError::io(&path, error)).map(|same| match same {
            true => None,
            false => Some("the file holds other bytes than its tables have when they are written again".to_owned()),
        }),
        Err(TableError::Input(error)) => Ok(Some(format!("its tables cannot be written again: {}", error.problem))),
        Err(error) => Err(error),
    };
    fs::remove_file(&again).map_err(|error| TableError::io(&again, error))?;
    outcome
}

/// The file that a release is written to again.
const AGAIN: &str = ".again.db";
/// The version of SQLite that wrote a file, in its header.
const VERSION: std::ops::Range<usize> = 96..100;

fn same_bytes(one: &Path, other: &Path) -> std::io::Result<bool> {
    if fs::metadata(one)?.len() != fs::metadata(other)?.len() {
        return Ok(false);
    }
    let chunks = |path: &Path| -> std::io::Result<_> { Ok(std::io::BufReader::new(fs::File::open(path)?)) };
    let (mut one, mut other) = (chunks(one)?, chunks(other)?);
    let (mut ours, mut theirs) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_first = true;
    loop {
        let length = one.read(&mut ours)?;
        if length == 0 {
            return Ok(true);
        }
        other.read_exact(&mut theirs[..length])?;
        if is_first && length >= VERSION.end {
            ours[VERSION].copy_from_slice(&theirs[VERSION]);
        }
        if ours[..length] != theirs[..length] {
            return Ok(false);
        }
        is_first = false;
    }
}

pub(crate) fn fetch(
    parameters: &Parameters<'_>,
    fetch: impl FnOnce(&mut dyn Store) -> Result<Vec<String>, TableError>,
) -> Result<Vec<String>, TableError> {
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

    /// Numbers in the header of the file that programs may set to anything, and bytes that SQLite
    /// does not read: each could say something about a person.
    fn numbers_of_others(&self) -> Result<Vec<String>, TableError> {
        let failed = |error| TableError::io(self.path, error);
        let mut header = [0u8; HEADER_BYTES];
        let mut file = fs::File::open(self.path).map_err(failed)?;
        file.read_exact(&mut header).map_err(failed)?;
        let mut found = Vec::new();
        for (name, bytes) in UNUSED {
            if header[bytes].iter().any(|byte| *byte != 0) {
                found.push(format!("the header of the file has another {name} than 0"));
            }
        }
        let number = |pragma: &str| self.connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
        let size = number("PRAGMA page_size").map_err(|error| self.failed(error))?;
        let pages = number("PRAGMA page_count").map_err(|error| self.failed(error))?;
        let length = file.metadata().map_err(failed)?.len();
        if u64::try_from(size.saturating_mul(pages)) != Ok(length) {
            found.push("the file is longer than its tables, or shorter".to_owned());
        }
        Ok(found)
    }

    /// The rows of a table are numbered from 1 on, in the order in which they were inserted. Other
    /// numbers could be those of people.
    fn numbered_otherwise(&self, table: &str, columns: &[&str]) -> Result<Option<String>, TableError> {
        // Where columns hide them, the bytes of the file still show them.
        let Some(rowid) = rowid(columns) else { return Ok(None) };
        let statement =
            format!("SELECT COUNT(*), COALESCE(MIN({rowid}), 1), COALESCE(MAX({rowid}), 0) FROM {}", identifier(table));
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
        match self.connection.query_row(&statement, [], read) {
            Ok((rows, first, last)) if (first, last) == (1, rows) => Ok(None),
            Ok((rows, ..)) => Ok(Some(format!("the rows of `{table}` are not numbered from 1 to {rows}"))),
            // A table that is not there is reported when it is read.
            Err(rusqlite::Error::SqlInputError { .. } | rusqlite::Error::SqliteFailure(..)) => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }
}

/// The header of a file, and what no release writes there: the name of each number, and its bytes.
const HEADER_BYTES: usize = 100;
const UNUSED: [(&str, std::ops::Range<usize>); 5] = [
    ("space reserved on each page", 20..21),
    ("suggested cache size", 48..52),
    ("`user_version`", 60..64),
    ("`application_id`", 68..72),
    ("reserved number", 72..92),
];

/// The name by which a table's own numbers are read; a column of that name hides them.
fn rowid(columns: &[&str]) -> Option<&'static str> {
    let is_hidden = |name: &&str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].into_iter().find(|name| !is_hidden(name))
}

fn listed(columns: &[&str]) -> String {
    columns.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
}

/// SQLite keeps the text of a statement: two tables with the same text have the same columns.
fn create_statement(table: &str, columns: &[(&str, Kind)]) -> String {
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
    format!("CREATE TABLE {} ({})", identifier(table), columns.join(", "))
}

impl Store for Tables<'_> {
    fn create(&mut self, table: &str, columns: &[(&str, Kind)]) -> Result<(), TableError> {
        let statement = create_statement(table, columns);
        self.connection.execute_batch(&statement).map_err(|error| self.failed(error))
    }

    fn undescribed(&mut self, tables: &[(&str, Vec<(&str, Kind)>)]) -> Result<Vec<String>, TableError> {
        let mut found = Vec::new();
        let schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
        let mut schema = self.connection.prepare(schema).map_err(|error| self.failed(error))?;
        let mut rows = schema.query([]).map_err(|error| self.failed(error))?;
        while let Some(row) = rows.next().map_err(|error| self.failed(error))? {
            let text = |index| row.get::<_, Option<String>>(index).map_err(|error| self.failed(error));
            let (kind, name, sql) = (text(0)?.unwrap_or_default(), text(1)?.unwrap_or_default(), text(2)?);
            match tables.iter().find(|(table, _)| *table == name && kind == "table") {
                None => found.push(format!("the {kind} `{name}` is not in the manifest, and was not checked")),
                Some((table, columns)) if sql != Some(create_statement(table, columns)) => {
                    found.push(format!("the table `{name}` is not declared as the manifest describes it"));
                }
                Some(_) => {}
            }
        }
        let free: i64 = (self.connection)
            .query_row("PRAGMA freelist_count", [], |row| row.get(0))
            .map_err(|error| self.failed(error))?;
        if free > 0 {
            found.push(format!("the file has {free} unused pages, which keep what was deleted from it"));
        }
        found.extend(self.numbers_of_others()?);
        for (table, columns) in tables {
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            found.extend(self.numbered_otherwise(table, &names)?);
        }
        Ok(found)
    }

    fn insert(&mut self, table: &str, columns: &[&str], give: &mut GiveRows<'_>) -> Result<(), TableError> {
        let marks = vec!["?"; columns.len()].join(", ");
        let statement = format!("INSERT INTO {} ({}) VALUES ({marks})", identifier(table), listed(columns));
        let mut statement = self.connection.prepare(&statement).map_err(|error| self.failed(error))?;
        give(&mut |cells| {
            let values = rusqlite::params_from_iter(cells.iter().map(SqliteValue));
            statement.execute(values).map(|_| ()).map_err(|error| self.failed(error))
        })
    }

    fn read(&mut self, table: &str, columns: &[&str], take: &mut TakeRow<'_>) -> Result<(), TableError> {
        let order = rowid(columns).map_or_else(String::new, |rowid| format!(" ORDER BY {rowid}"));
        let statement = format!("SELECT {} FROM {}{order}", listed(columns), identifier(table));
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
struct SqliteValue<'c>(&'c Cell<'c>);

impl ToSql for SqliteValue<'_> {
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
