//! A node's folder: the journal in SQLite, the book of runs, and an epoch for every published run.
//!
//! ```text
//! journal.db           table `journal`, hash-chained; any SQLite reads it
//! book                 the book of runs: as private as the rows
//! epochs/1/release     an ordinary release; where rows stay apart, what `part.rs` says
//! epochs/1/ledger      what was opened on the way to it, for custodians and not for readers
//! epochs/.run-…        a release on its way
//! control              where the operator's commands are taken
//! ```

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags, Row, params};

use crate::clock;
use crate::hex;
use crate::journal::{Detail, Record, What, chain};
use crate::message::{Hex, RunId};
use crate::opened;
use crate::part::Part;
use crate::store::{Found, Store, StoreError};
use crate::terms::Terms;

/// The largest book that is read.
const BOOK_BYTES_MAX: u64 = 1 << 31;
/// The longest row of the journal that is read.
const DETAIL_BYTES_MAX: usize = 1 << 30;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS journal (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    at TEXT NOT NULL,
    what TEXT NOT NULL,
    run TEXT NOT NULL,
    who TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT";

#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    connection: Connection,
    terms: Arc<Terms>,
    /// The last row's number and hash.
    last: (u64, Hex<32>),
    /// Whether rows are also printed, for whoever collects logs.
    log: bool,
}

/// One row of the journal, as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub number: u64,
    pub record: Record,
    pub hash: Hex<32>,
}

impl Disk {
    pub fn open(folder: &Path, terms: Arc<Terms>, log: bool) -> Result<Disk, StoreError> {
        fs::create_dir_all(folder.join("epochs")).map_err(|error| io_error(folder, &error))?;
        make_private(folder)?;
        let path = folder.join("journal.db");
        let connection = Connection::open(&path).map_err(|error| sql_error(&path, &error))?;
        let set_up = || -> rusqlite::Result<()> {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            // A round of a large run takes megabytes: copying it into the file can wait.
            connection.pragma_update(None, "wal_autocheckpoint", 16_384)?;
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            connection.execute_batch(TABLE)
        };
        set_up().map_err(|error| sql_error(&path, &error))?;
        let last = verify(&path, &connection, |_| Ok(()))?;
        Ok(Disk { folder: folder.to_path_buf(), connection, terms, last, log })
    }

    fn staged(&self, run: RunId) -> PathBuf {
        self.folder.join("epochs").join(format!(".run-{run}"))
    }

    fn placed(&self, epoch: u64) -> PathBuf {
        self.folder.join("epochs").join(epoch.to_string())
    }

    /// What was opened in a run, a line for each entry.
    fn write_ledger(&self, run: RunId, path: &Path) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| io_error(path, &error);
        let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
        let sql = "SELECT detail FROM journal WHERE what = 'disclosed' AND run = ?1 ORDER BY number";
        let mut lines = || -> rusqlite::Result<std::io::Result<()>> {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query(params![run.to_string()])?;
            while let Some(row) = rows.next()? {
                let detail = row.get_ref(0)?.as_str()?;
                if let Err(error) = opened::write_lines(&mut out, detail) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        lines().map_err(|error| sql_error(path, &error))?.map_err(failed)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
    }
}

impl Store for Disk {
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        let path = self.folder.join("journal.db");
        let (mut number, mut hash) = self.last;
        let mut write = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            {
                let mut insert =
                    transaction.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
                for record in records {
                    number += 1;
                    hash = chain(&hash, number, record);
                    let run = record.run.map_or(String::new(), |run| run.to_string());
                    let (at, hash) = (clock::text(record.at), hash.to_string());
                    let what = record.what.name();
                    insert.execute(params![
                        number as i64,
                        record.at as i64,
                        at,
                        what,
                        run,
                        record.who,
                        record.detail.text(),
                        hash
                    ])?;
                }
            }
            transaction.commit()
        };
        write().map_err(|error| sql_error(&path, &error))?;
        self.last = (number, hash);
        if self.log {
            records
                .iter()
                .filter(|record| !matches!(record.what, What::Disclosed | What::Queried | What::Unanswered))
                .for_each(log);
        }
        Ok(())
    }

    fn history(&self) -> Result<Vec<Record>, StoreError> {
        let path = self.folder.join("journal.db");
        let read = || -> rusqlite::Result<Vec<Option<Line>>> {
            let sql = "SELECT number, at_ms, what, run, who, detail, hash FROM journal WHERE what NOT IN ('disclosed', 'queried', 'unanswered') \
                       ORDER BY number";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                lines.push(line(row)?);
            }
            Ok(lines)
        };
        let lines: Option<Vec<Line>> = read().map_err(|error| sql_error(&path, &error))?.into_iter().collect();
        let lines = lines.ok_or_else(|| StoreError(format!("{}: a row that no node wrote", path.display())))?;
        Ok(lines.into_iter().map(|line| line.record).collect())
    }

    fn book(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.folder.join("book");
        match fs::metadata(&path) {
            Ok(file) if file.len() > BOOK_BYTES_MAX => Err(StoreError(format!("{}: too large", path.display()))),
            Ok(_) => fs::read(&path).map(Some).map_err(|error| io_error(&path, &error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn save_book(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let (path, beside) = (self.folder.join("book"), self.folder.join("book.new"));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            sync_folder(&self.folder)
        };
        write().map_err(|error| io_error(&path, &error))
    }

    fn stage(&mut self, run: RunId, _: u64, found: &Found) -> Result<Result<(), String>, StoreError> {
        self.discard(run)?;
        let staged = self.staged(run);
        fs::create_dir(&staged).map_err(|error| io_error(&staged, &error))?;
        match found {
            Found::Whole { classes, rows } => {
                // What stands in the way of a release is about rows of all custodians: it names no
                // value.
                if let Err(error) = self.terms.release(classes, rows, staged.join("release")) {
                    return Ok(Err(crate::message::plain(&error.to_string())));
                }
            }
            Found::Part(part) => {
                if let Err(error) = self.terms.outline(&part.common.classes) {
                    return Ok(Err(crate::message::plain(&error.to_string())));
                }
                part.write(&staged).map_err(|error| io_error(&staged, &error))?;
            }
        }
        self.write_ledger(run, &staged.join("ledger"))?;
        sync_folder(&staged).map_err(|error| io_error(&staged, &error))?;
        Ok(Ok(()))
    }

    fn publish(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError> {
        let (staged, placed) = (self.staged(run), self.placed(epoch));
        if placed.is_dir() {
            return Ok(());
        }
        let moved = fs::rename(&staged, &placed).and_then(|()| sync_folder(&self.folder.join("epochs")));
        moved.map_err(|error| io_error(&placed, &error))
    }

    fn part(&self, epoch: u64) -> Result<Option<Part>, StoreError> {
        Part::read(&self.placed(epoch)).map_err(StoreError)
    }

    fn discard(&mut self, run: RunId) -> Result<(), StoreError> {
        let staged = self.staged(run);
        match fs::remove_dir_all(&staged) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error(&staged, &error)),
            _ => Ok(()),
        }
    }
}

/// Reads a journal without its node and verifies its chain; hands every row to `each`, and gives
/// the last number and hash.
pub fn read_journal(
    folder: &Path,
    each: impl FnMut(&Line) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    let path = folder.join("journal.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(|error| sql_error(&path, &error))?;
    verify(&path, &connection, each)
}

fn verify(
    path: &Path,
    connection: &Connection,
    mut each: impl FnMut(&Line) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    let mut last = (0, Hex([0; 32]));
    let mut read = || -> rusqlite::Result<Result<(), StoreError>> {
        let sql = "SELECT number, at_ms, what, run, who, detail, hash FROM journal ORDER BY number";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (number, before) = last;
            let Some(line) = line(row)? else { return Ok(Err(changed(path, number + 1))) };
            let expected = chain(&before, number + 1, &line.record);
            if line.number != number + 1 || line.hash != expected {
                return Ok(Err(changed(path, number + 1)));
            }
            if let Err(error) = each(&line) {
                return Ok(Err(error));
            }
            last = (line.number, line.hash);
        }
        Ok(Ok(()))
    };
    read().map_err(|error| sql_error(path, &error))??;
    Ok(last)
}

fn changed(path: &Path, number: u64) -> StoreError {
    StoreError(format!("{}: row {number} was changed, removed or put in by somebody else", path.display()))
}

/// A row; nothing where no node wrote it.
fn line(row: &Row<'_>) -> rusqlite::Result<Option<Line>> {
    let (number, at): (i64, i64) = (row.get(0)?, row.get(1)?);
    let (what, run): (String, String) = (row.get(2)?, row.get(3)?);
    let (who, detail, hash): (String, String, String) = (row.get(4)?, row.get(5)?, row.get(6)?);
    let parsed = move || {
        let what = What::from_name(&what)?;
        let run = if run.is_empty() { None } else { Some(Hex(hex::decode(&run)?)) };
        let detail = Detail::written(detail).within(DETAIL_BYTES_MAX)?;
        let record = Record { at: u64::try_from(at).ok()?, what, run, who, detail };
        Some(Line { number: u64::try_from(number).ok()?, record, hash: Hex(hex::decode(&hash)?) })
    };
    Ok(parsed())
}

/// One line for whoever collects logs: what the journal has, without opened values.
fn log(record: &Record) {
    let (what, who, detail) = (record.what.name(), &record.who, &record.detail);
    let run = record.run.map(|run| run.to_string());
    if matches!(record.what, What::Rejected | What::Refused | What::Aborted) {
        tracing::warn!(run, %who, %detail, "{what}");
    } else {
        tracing::info!(run, %who, %detail, "{what}");
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError(format!("{}: {error}", path.display()))
}

fn sql_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError(format!("{}: {error}", path.display()))
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The book is as private as the rows.
#[cfg(unix)]
fn make_private(folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(|error| io_error(folder, &error))
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
