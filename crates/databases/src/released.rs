//! A release in a database: one table for each of its tables under the name that the manifest gives
//! it, the codebook among them, and the manifest itself as one text in the table `datapackage`.
//!
//! A release is written from a directory that was verified, in one transaction. Before that is
//! committed every table is read back and compared with what was verified. Reading a release gives
//! the same files again.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use hedgerow_config::{Address, Engine};
use hedgerow_release::manifest::{FILE_NAME, Manifest, Resource};
use hedgerow_release::quoting::write_record;
use hedgerow_release::read::read_released;
use hedgerow_table::date::Date;
use hedgerow_table::read::Cell;
use hedgerow_table::records::{Records, read_text};
use hedgerow_table::{Column, Kind, NoProgress, Progress, Table, TableError, Values};

use crate::parameters::Parameters;
use crate::{postgres, sqlite};

/// The table with the manifest, and its column.
pub(crate) const MANIFEST: &str = "datapackage";
pub(crate) const MANIFEST_COLUMN: &str = "json";

const CODEBOOK: &str = "codebook";
const CODEBOOK_BYTES_MAX: u64 = 512 << 20;
const MANIFEST_BYTES_MAX: u64 = 256 << 20;
/// Rows between two looks at whether to go on.
const ROWS_AT_ONCE: usize = 1 << 12;

/// Takes one row of cells.
pub(crate) type TakeRow<'t> = dyn FnMut(&[Cell<'_>]) -> Result<(), TableError> + 't;
/// Hands all rows on, one after the other.
pub(crate) type GiveRows<'g> = dyn FnMut(&mut TakeRow<'_>) -> Result<(), TableError> + 'g;

/// The tables of one release, within one transaction.
pub(crate) trait Store {
    fn create(&mut self, table: &str, columns: &[(&str, Kind)]) -> Result<(), TableError>;
    fn insert(&mut self, table: &str, columns: &[&str], give: &mut GiveRows<'_>) -> Result<(), TableError>;
    /// The objects besides exactly these tables with exactly these columns, one line each.
    fn undescribed(&mut self, tables: &[(&str, Vec<(&str, Kind)>)]) -> Result<Vec<String>, TableError>;
    /// In the order in which the rows were inserted.
    fn read(&mut self, table: &str, columns: &[&str], take: &mut TakeRow<'_>) -> Result<(), TableError>;
}

/// Where in a database a release is written.
#[derive(Debug, Clone)]
pub struct Destination {
    address: Address,
    overwrite: bool,
}

impl Destination {
    /// Refuses early what cannot be written to: so that a long search is not lost to it.
    pub fn prepare(address: Address, overwrite: bool) -> Result<Destination, TableError> {
        let parameters = Parameters::of(&address)?;
        match address.engine() {
            Engine::Postgres => postgres::release::prepare(&parameters, overwrite)?,
            Engine::Sqlite => sqlite::release::prepare(&parameters, overwrite)?,
        }
        Ok(Destination { address, overwrite })
    }

    /// The address, without a password.
    pub fn shown(&self) -> String {
        self.address.to_string()
    }

    /// Writes the release of a directory, all of it or nothing.
    pub fn write(&self, directory: &Path, progress: &dyn Progress) -> Result<(), TableError> {
        let parameters = Parameters::of(&self.address)?;
        let place = self.shown();
        let write = |store: &mut dyn Store| write(store, directory, &place, progress);
        match self.address.engine() {
            Engine::Postgres => postgres::release::write(&parameters, self.overwrite, write),
            Engine::Sqlite => sqlite::release::write(&parameters, self.overwrite, write),
        }
    }
}

/// Writes the files of a release in a database into an empty directory. What the database holds
/// beside it is listed: no file has it, and a check would not find it.
pub fn fetch(address: &Address, into: &Path, progress: &dyn Progress) -> Result<Vec<String>, TableError> {
    let parameters = Parameters::of(address)?;
    let place = address.to_string();
    let fetch = |store: &mut dyn Store| fetch_from(store, into, &place, progress);
    match address.engine() {
        Engine::Postgres => postgres::release::fetch(&parameters, fetch),
        Engine::Sqlite => {
            let mut undescribed = sqlite::release::fetch(&parameters, fetch)?;
            if undescribed.is_empty() {
                let again = |store: &mut dyn Store| write(store, into, &place, progress);
                undescribed.extend(sqlite::release::other_bytes(&parameters, into, again)?);
            }
            Ok(undescribed)
        }
    }
}

/// The names of a release's tables, of which it has exactly these.
pub(crate) fn tables_of(manifest: &str, place: &str) -> Result<Vec<String>, TableError> {
    let manifest = Manifest::parse(manifest.as_bytes(), place)?;
    Ok(manifest.resources.into_iter().map(|resource| resource.name).chain([MANIFEST.to_owned()]).collect())
}

/// The text of the manifest; `None` where there is none.
pub(crate) fn manifest_text(store: &mut dyn Store) -> Result<Option<String>, TableError> {
    Ok(manifest_rows(store)?.0)
}

/// The text in the first row of the manifest's table, and how many rows there are.
fn manifest_rows(store: &mut dyn Store) -> Result<(Option<String>, u64), TableError> {
    let (mut text, mut rows) = (None, 0);
    store.read(MANIFEST, &[MANIFEST_COLUMN], &mut |cells| {
        rows += 1;
        if let ([cell @ (Cell::Text(_) | Cell::Bytes(_))], 1) = (cells, rows) {
            text = text_of(cell);
        }
        Ok(())
    })?;
    Ok((text, rows))
}

fn write(store: &mut dyn Store, directory: &Path, place: &str, progress: &dyn Progress) -> Result<(), TableError> {
    let manifest = Manifest::read(directory)?;
    let text = read_text(&directory.join(FILE_NAME), MANIFEST_BYTES_MAX)?;
    store.create(MANIFEST, &[(MANIFEST_COLUMN, Kind::Category)])?;
    store.insert(MANIFEST, &[MANIFEST_COLUMN], &mut |take| take(&[Cell::Text(&text)]))?;
    let differs = |table: &str| {
        let problem = format!("the table `{table}` reads back from the database differently from what was written");
        TableError::Io { path: PathBuf::from(place), source: std::io::Error::other(problem) }
    };
    if manifest_text(store)?.as_deref() != Some(&text) {
        return Err(differs(MANIFEST));
    }
    for resource in &manifest.resources {
        let content = TableContent::read(directory, resource)?;
        let columns = columns_of(resource);
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        store.create(&resource.name, &columns)?;
        store.insert(&resource.name, &names, &mut |take| {
            let mut cells = Vec::new();
            for row in 0..content.rows() {
                if row % ROWS_AT_ONCE == 0 {
                    progress.check()?;
                }
                content.cells(row, &mut cells);
                take(&cells)?;
            }
            Ok(())
        })?;
        let (mut row, mut cells) = (0, Vec::new());
        store.read(&resource.name, &names, &mut |found| {
            if row == content.rows() {
                return Err(differs(&resource.name));
            }
            content.cells(row, &mut cells);
            row += 1;
            let same = found.len() == cells.len()
                && found.iter().zip(&cells).all(|(found, cell)| text_of(found) == text_of(cell));
            if same { Ok(()) } else { Err(differs(&resource.name)) }
        })?;
        if row != content.rows() {
            return Err(differs(&resource.name));
        }
    }
    Ok(())
}

fn fetch_from(
    store: &mut dyn Store,
    into: &Path,
    place: &str,
    progress: &dyn Progress,
) -> Result<Vec<String>, TableError> {
    let (text, rows) = manifest_rows(store)?;
    let Some(text) = text else {
        let hint = "name the schema or the file that a release was published to";
        return Err(TableError::input(place, "holds no manifest of a release", hint));
    };
    let path = into.join(FILE_NAME);
    fs::write(&path, &text).map_err(|error| TableError::io(&path, error))?;
    let resources = Manifest::read(into)?.resources;
    let mut tables: Vec<(&str, Vec<(&str, Kind)>)> =
        resources.iter().map(|resource| (resource.name.as_str(), columns_of(resource))).collect();
    tables.push((MANIFEST, vec![(MANIFEST_COLUMN, Kind::Category)]));
    let mut undescribed = store.undescribed(&tables)?;
    if rows != 1 {
        undescribed.push(format!("the table `{MANIFEST}` has {rows} rows in place of 1"));
    }
    for resource in &resources {
        let empty = fetch_table(store, resource, into, place, progress)?;
        if empty > 0 {
            // A reader of files would not see that they differ from missing ones.
            undescribed.push(format!("the table `{}` has {empty} empty texts where a release has NULL", resource.name));
        }
    }
    Ok(undescribed)
}

/// The columns of a table as the manifest lists them.
fn columns_of(resource: &Resource) -> Vec<(&str, Kind)> {
    let fields = resource.schema.fields.iter();
    fields.map(|field| (field.name.as_str(), field.table_kind().unwrap_or(Kind::Category))).collect()
}

/// Writes a table of a release to its file, and counts the empty texts in it.
fn fetch_table(
    store: &mut dyn Store,
    resource: &Resource,
    into: &Path,
    place: &str,
    progress: &dyn Progress,
) -> Result<u64, TableError> {
    let relative = Path::new(&resource.path);
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if resource.path.is_empty() || !is_plain || resource.format != "csv" {
        let problem =
            format!("the manifest names `{}`, which is not a table of a release in a database", resource.path);
        return Err(TableError::input(
            place,
            problem,
            "do not use this release, and ask the publisher for a corrected one",
        ));
    }
    let path = into.join(relative);
    let failed = |error| TableError::io(&path, error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut out = BufWriter::new(File::create_new(&path).map_err(failed)?);
    let names: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
    write_record(&mut out, &names).map_err(failed)?;
    let (mut rows, mut empty) = (0, 0);
    store.read(&resource.name, &names, &mut |cells| {
        rows += 1;
        empty += cells.iter().filter(|cell| matches!(cell, Cell::Text("") | Cell::Bytes(b""))).count() as u64;
        if rows % ROWS_AT_ONCE == 0 {
            progress.check()?;
        }
        let texts: Option<Vec<String>> = cells.iter().map(text_of).collect();
        let hint = "do not use this release, and ask the publisher for a corrected one";
        let problem = || TableError::input(place, "a text that is not UTF-8", hint);
        let texts = texts.ok_or_else(problem)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        write_record(&mut out, &texts).map_err(failed)
    })?;
    out.flush().map_err(failed)?;
    Ok(empty)
}

/// As a release writes it; `None` if it is not text.
fn text_of(cell: &Cell<'_>) -> Option<String> {
    Some(match cell {
        Cell::Missing => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Date(day) => Date(*day).to_string(),
        Cell::Text(text) => (*text).to_owned(),
        Cell::Bytes(text) => std::str::from_utf8(text).ok()?.to_owned(),
    })
}

/// One table of a release in a directory.
#[derive(Debug)]
enum TableContent {
    Table(Table),
    /// The codebook, which may be empty.
    Records(Vec<Vec<String>>),
}

impl TableContent {
    fn read(directory: &Path, resource: &Resource) -> Result<TableContent, TableError> {
        if resource.name != CODEBOOK {
            return Ok(TableContent::Table(read_released(directory, resource, &NoProgress)?));
        }
        let path = directory.join(&resource.path);
        let text = read_text(&path, CODEBOOK_BYTES_MAX)?;
        let mut records = Vec::new();
        for record in Records::new(&text, b',') {
            let record = record.map_err(|malformed| malformed.in_file(&path))?;
            records.push(record.fields.into_iter().map(|field| field.into_owned()).collect());
        }
        // The first is the header.
        records.drain(..records.len().min(1));
        Ok(TableContent::Records(records))
    }

    fn rows(&self) -> usize {
        match self {
            TableContent::Table(table) => table.rows,
            TableContent::Records(records) => records.len(),
        }
    }

    fn cells<'c>(&'c self, row: usize, cells: &mut Vec<Cell<'c>>) {
        cells.clear();
        match self {
            TableContent::Table(table) => cells.extend(table.columns.iter().map(|column| cell_of(column, row))),
            TableContent::Records(records) => cells.extend(records[row].iter().map(|text| match text.as_str() {
                "" => Cell::Missing,
                text => Cell::Text(text),
            })),
        }
    }
}

fn cell_of(column: &Column, row: usize) -> Cell<'_> {
    let code = column.codes.get(row) as usize;
    let cell = match column.domain.values() {
        Values::Integer(values) => values.get(code).map(|value| Cell::Integer(*value)),
        Values::Float(values) => values.get(code).map(|value| Cell::Float(*value)),
        Values::Date(values) => values.get(code).map(|day| Cell::Date(day.0)),
        Values::Category(values) => values.get(code).map(|text| Cell::Text(text)),
    };
    cell.unwrap_or(Cell::Missing)
}
