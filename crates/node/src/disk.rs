//! A node's folder: the journal in SQLite, the book of runs, and an epoch for every published run.
//!
//! ```text
//! journal.db           table `journal`, hash-chained, and its signed head; any SQLite reads it
//! book                 the book of runs: as private as the rows
//! epochs/1/release     an ordinary release; where rows stay apart, what `part.rs` says
//! epochs/.run-…        a release on its way
//! ledgers/1            what was opened on the way to epoch 1: for custodians and not for readers
//! control              where the operator's commands are taken
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_smc::SigningKey;
use rusqlite::{Connection, OpenFlags, Row, params};
use sha2::{Digest as _, Sha256};

use crate::clock;
use crate::hex;
use crate::journal::{Detail, Record, What, chain, chain_texts};
use crate::message::{Hex, QuestionId, RunId, plain};
use crate::opened;
use crate::part::EpochPart;
use crate::store::{RunResult, Store, StoreError};
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
) STRICT;
CREATE TABLE IF NOT EXISTS head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT";

#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    connection: Connection,
    terms: Arc<Terms>,
    /// The last row's number and hash.
    last: (u64, Hex<32>),
    /// Signs the last row, so that a chain that was computed anew shows.
    key: Arc<SigningKey>,
    /// Whether rows are also printed, for a collector of logs.
    log: bool,
}

/// One row of the journal, as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRow {
    pub number: u64,
    pub record: Record,
    pub hash: Hex<32>,
}

impl Disk {
    pub fn open(folder: &Path, terms: Arc<Terms>, key: Arc<SigningKey>, log: bool) -> Result<Disk, StoreError> {
        for below in ["epochs", "ledgers"] {
            fs::create_dir_all(folder.join(below)).map_err(|error| io_error(folder, &error))?;
        }
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
        let last = verify(&path, &connection, Some(&key.public()), |_| Ok(()))?;
        Ok(Disk { folder: folder.to_path_buf(), connection, terms, last, key, log })
    }

    fn staged(&self, run: RunId) -> PathBuf {
        self.folder.join("epochs").join(format!(".run-{run}"))
    }

    fn placed(&self, epoch: u64) -> PathBuf {
        self.folder.join("epochs").join(epoch.to_string())
    }

    fn staged_ledger(&self, run: RunId) -> PathBuf {
        self.folder.join("ledgers").join(format!(".run-{run}"))
    }

    /// The opened values of a run, a line for each entry.
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
                let signature = Hex(self.key.sign(&head_bytes(number, &hash)));
                let mut head = transaction.prepare_cached("INSERT OR REPLACE INTO head VALUES (1, ?1, ?2, ?3)")?;
                head.execute(params![number as i64, hash.to_string(), signature.to_string()])?;
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
        let read = || -> rusqlite::Result<Vec<Option<JournalRow>>> {
            let sql = "SELECT number, at_ms, at, what, run, who, detail, hash FROM journal WHERE what NOT IN ('disclosed', 'queried', 'unanswered') \
                       ORDER BY number";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                lines.push(line(row)?);
            }
            Ok(lines)
        };
        let lines: Option<Vec<JournalRow>> = read().map_err(|error| sql_error(&path, &error))?.into_iter().collect();
        let lines = lines.ok_or_else(|| StoreError(format!("{}: a row that no node wrote", path.display())))?;
        Ok(lines.into_iter().map(|line| line.record).collect())
    }

    fn questions(&self, unix_ms: u64) -> Result<BTreeSet<QuestionId>, StoreError> {
        let path = self.folder.join("journal.db");
        let read = || -> rusqlite::Result<BTreeSet<QuestionId>> {
            let sql = "SELECT detail FROM journal WHERE what = 'queried' AND at_ms >= ?1";
            let mut statement = self.connection.prepare(sql)?;
            let since = i64::try_from(unix_ms).unwrap_or(i64::MAX);
            let details = statement.query_map(params![since], |row| row.get::<_, String>(0))?;
            let question =
                |detail: String| serde_json::from_value(Detail::written(detail).value()["question"].take()).ok();
            Ok(details.collect::<rusqlite::Result<Vec<String>>>()?.into_iter().filter_map(question).collect())
        };
        read().map_err(|error| sql_error(&path, &error))
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

    fn head(&self) -> (u64, Hex<32>) {
        self.last
    }

    fn hash_at(&self, number: u64) -> Result<Option<Hex<32>>, StoreError> {
        let path = self.folder.join("journal.db");
        let read = || -> rusqlite::Result<Option<String>> {
            let mut statement = self.connection.prepare_cached("SELECT hash FROM journal WHERE number = ?1")?;
            let mut rows = statement.query(params![i64::try_from(number).unwrap_or(-1)])?;
            rows.next()?.map(|row| row.get(0)).transpose()
        };
        let hash = read().map_err(|error| sql_error(&path, &error))?;
        Ok(hash.and_then(|hash| hex::decode(&hash)).map(Hex))
    }

    fn stage(&mut self, run: RunId, epoch: u64, found: &RunResult) -> Result<Result<Hex<32>, String>, StoreError> {
        self.discard(run)?;
        if self.placed(epoch).exists() {
            return Ok(Err(format!("its folder has an epoch {epoch} already, which its journal does not know")));
        }
        let staged = self.staged(run);
        fs::create_dir(&staged).map_err(|error| io_error(&staged, &error))?;
        match found {
            RunResult::Whole { classes, rows } => {
                // What stands in the way of a release is about rows of all custodians: it names no
                // value.
                if let Err(error) = self.terms.release(classes, rows, staged.join("release")) {
                    return Ok(Err(plain(&error.to_string())));
                }
            }
            RunResult::Part(part) => {
                if let Err(error) = self.terms.outline(&part.common.classes) {
                    return Ok(Err(plain(&error.to_string())));
                }
                part.write(&staged).map_err(|error| io_error(&staged, &error))?;
            }
        }
        self.write_ledger(run, &self.staged_ledger(run))?;
        sync_folder(&staged).map_err(|error| io_error(&staged, &error))?;
        let common = match found {
            RunResult::Whole { .. } => staged.join("release"),
            RunResult::Part(_) => staged.join(crate::part::OUTLINE),
        };
        hash_of(&common).map(|hash| Ok(Hex(hash))).map_err(|error| io_error(&common, &error))
    }

    fn publish(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError> {
        let (staged, placed) = (self.staged(run), self.placed(epoch));
        if placed.is_dir() {
            let foreign = format!("{}: a release that the journal does not know", placed.display());
            return if staged.exists() { Err(StoreError(foreign)) } else { Ok(()) };
        }
        let ledgers = self.folder.join("ledgers");
        match fs::rename(self.staged_ledger(run), ledgers.join(epoch.to_string())) {
            // A crash may have come between the two.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io_error(&ledgers, &error)),
            _ => sync_folder(&ledgers).map_err(|error| io_error(&ledgers, &error))?,
        }
        let moved = fs::rename(&staged, &placed).and_then(|()| sync_folder(&self.folder.join("epochs")));
        moved.map_err(|error| io_error(&placed, &error))
    }

    fn part(&self, epoch: u64) -> Result<Option<EpochPart>, StoreError> {
        EpochPart::read(&self.placed(epoch)).map_err(StoreError)
    }

    fn discard(&mut self, run: RunId) -> Result<(), StoreError> {
        let (staged, ledger) = (self.staged(run), self.staged_ledger(run));
        match fs::remove_file(&ledger) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io_error(&ledger, &error)),
            _ => {}
        }
        match fs::remove_dir_all(&staged) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error(&staged, &error)),
            _ => Ok(()),
        }
    }
}

/// The signed bytes of a journal's last row.
fn head_bytes(number: u64, hash: &Hex<32>) -> Vec<u8> {
    [&b"hedgerow journal head 1"[..], &number.to_le_bytes(), &hash.0].concat()
}

/// A hash over a file, or over all files of a folder with their names.
pub fn hash_of(path: &Path) -> std::io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(b"hedgerow release 1");
    if path.is_dir() {
        let mut names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>()?;
        names.sort_unstable();
        for name in names {
            let text = name.to_string_lossy();
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
            hash.update(hash_of(&path.join(&name))?);
        }
    } else {
        let mut file = File::open(path)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => hash.update(&buffer[..read]),
            }
        }
    }
    Ok(hash.finalize().into())
}

/// Reads a journal without its node and verifies its chain; hands every row to `each`, and gives
/// the last number and hash.
pub fn read_journal(
    folder: &Path,
    each: impl FnMut(&JournalRow) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    read_with(folder, None, each)
}

/// The same, and verifies that the last row is the one that the node signed. Rows that were removed
/// from the end together with their head are found by what peers know (`heads.rs`).
pub fn read_signed_journal(
    folder: &Path,
    signing_key: &[u8; 32],
    each: impl FnMut(&JournalRow) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    read_with(folder, Some(signing_key), each)
}

fn read_with(
    folder: &Path,
    signing_key: Option<&[u8; 32]>,
    each: impl FnMut(&JournalRow) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    let path = folder.join("journal.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(|error| sql_error(&path, &error))?;
    verify(&path, &connection, signing_key, each)
}

/// By name, how many statements the journal has since a time: for quotas, after a restart.
pub(crate) fn statements_since(folder: &Path, unix_ms: u64) -> Result<BTreeMap<String, u64>, StoreError> {
    let path = folder.join("journal.db");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let counted = || -> rusqlite::Result<BTreeMap<String, u64>> {
        let connection = Connection::open_with_flags(&path, flags)?;
        let sql = "SELECT who, count(*) FROM journal WHERE what = 'queried' AND at_ms >= ?1 GROUP BY who";
        let mut statement = connection.prepare(sql)?;
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
        statement.query_map(params![unix_ms as i64], row)?.collect()
    };
    counted().map_err(|error| sql_error(&path, &error))
}

fn verify(
    path: &Path,
    connection: &Connection,
    signing_key: Option<&[u8; 32]>,
    mut each: impl FnMut(&JournalRow) -> Result<(), StoreError>,
) -> Result<(u64, Hex<32>), StoreError> {
    let mut last = (0, Hex([0; 32]));
    let mut read = || -> rusqlite::Result<Result<(), StoreError>> {
        let sql = "SELECT number, at_ms, at, what, run, who, detail, hash FROM journal ORDER BY number";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (number, before) = last;
            let Some(line) = line(row)? else { return Ok(Err(not_ours(path, row, &before, number + 1)?)) };
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
    match signing_key {
        Some(key) if last.0 > 0 => verify_head(path, connection, key, last)?,
        Some(_) if read_head(connection).is_some() => {
            return Err(StoreError(format!("{}: a signed head, and no row: all rows were removed", path.display())));
        }
        _ => {}
    }
    Ok(last)
}

/// The signed head: number, hash and signature.
fn read_head(connection: &Connection) -> Option<(i64, String, String)> {
    let read = || -> rusqlite::Result<Option<(i64, String, String)>> {
        let mut statement = connection.prepare("SELECT number, hash, signature FROM head WHERE id = 1")?;
        let mut rows = statement.query([])?;
        rows.next()?.map(|row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).transpose()
    };
    read().ok().flatten()
}

/// The last row is the one that the node signed.
fn verify_head(path: &Path, connection: &Connection, key: &[u8; 32], last: (u64, Hex<32>)) -> Result<(), StoreError> {
    let (number, hash) = last;
    let Some((at, of, signature)) = read_head(connection) else {
        return Err(StoreError(format!(
            "{}: {number} rows without a signed head: a version of before signatures wrote them, or the head was \
             removed. Keep the folder, and start with an empty one: docs/operating.md, *Upgrade*",
            path.display()
        )));
    };
    let signed = hex::decode(&signature).map(|signature: [u8; 64]| {
        let same = u64::try_from(at) == Ok(number) && of == hash.to_string();
        same && hedgerow_smc::verifies(key, &head_bytes(number, &hash), &signature)
    });
    match signed {
        Some(true) => Ok(()),
        _ => Err(StoreError(format!(
            "{}: the last row, {number}, is not the one that this node signed: rows were removed, or the journal was \
             written anew",
            path.display()
        ))),
    }
}

fn changed(path: &Path, number: u64) -> StoreError {
    StoreError(format!("{}: row {number} was changed, removed or inserted", path.display()))
}

/// The problem with a row that this version does not read: a later one wrote it, or it was changed.
fn not_ours(path: &Path, row: &Row<'_>, before: &Hex<32>, number: u64) -> rusqlite::Result<StoreError> {
    let (at, what, run): (i64, String, String) = (row.get(1)?, row.get(3)?, row.get(4)?);
    let (who, detail, hash): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
    let whole = hash == chain_texts(before, number, at as u64, [&what, &run, &who, &detail]).to_string();
    if whole && What::from_name(&what).is_none() {
        let problem = format!("row {number} is of a kind that this version does not know (`{}`)", plain(&what));
        return Ok(StoreError(format!("{}: {problem}: a later version of the program wrote it", path.display())));
    }
    Ok(changed(path, number))
}

/// A row; `None` where no node wrote it.
fn line(row: &Row<'_>) -> rusqlite::Result<Option<JournalRow>> {
    let (number, at): (i64, i64) = (row.get(0)?, row.get(1)?);
    let (written_at, what, run): (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let (who, detail, hash): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
    let parsed = move || {
        // The hash is over the milliseconds, and people read the text.
        let at = u64::try_from(at).ok().filter(|at| clock::text(*at) == written_at)?;
        let what = What::from_name(&what)?;
        let run = if run.is_empty() { None } else { Some(Hex(hex::decode(&run)?)) };
        let detail = Detail::written(detail).within(DETAIL_BYTES_MAX)?;
        let record = Record { at, what, run, who, detail };
        Some(JournalRow { number: u64::try_from(number).ok()?, record, hash: Hex(hex::decode(&hash)?) })
    };
    Ok(parsed())
}

/// One line for a collector of logs: what the journal has, without opened values.
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
