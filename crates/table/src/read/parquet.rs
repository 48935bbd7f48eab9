//! Parquet, one column of one row group after the other: each worker takes the next free one.
//!
//! Numbers and dates keep the type that the file declares. Strings are typed as the same texts in a
//! CSV file would be. Columns that are not wanted are not decoded.

mod again;
mod beside;
mod cell_type;
mod cells;
mod compact;
mod counted;
mod frame;
mod hybrid;
mod page_headers;
mod pages;
mod recount;
mod sizes;
#[cfg(test)]
pub(super) mod tests;
mod texts;
mod writer;

use std::fmt::Display;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedRowGroupReader;

use super::assemble::{Gathered, WorkerCodes};
use super::csv::{check_rows, no_rows};
use super::header::check_names;
use super::part::CodedFile;
use super::source::open_file;
use super::{ReadLimits, ReadOptions};
use crate::spill::Kept;
use crate::{InputError, TableError};
pub use again::released_schema;
pub use beside::beside_cells;
pub(super) use cell_type::CellType;
pub(super) use cells::ColumnCoder;
use cells::ColumnRefusal;
#[cfg(feature = "arrow")]
pub(super) use cells::{ParquetValue, Unfit};
use pages::{Stop, Stored};
pub use writer::CREATED_BY;

pub(super) fn read<'a>(
    path: &'a Path,
    options: &'a ReadOptions<'a>,
    limits: &ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let (file, length) = open_file(path)?;
    options.progress.stage("read", Some(length));
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| not_parquet(path, error))?;
    let roots = metadata.file_metadata().schema_descr().root_schema().get_fields();
    let header: Vec<String> = roots.iter().map(|root| root.name().to_owned()).collect();
    check_names(&path.display().to_string(), &header, limits)?;
    let (wanted, warnings) = wanted_columns(path, &metadata, options)?;
    let rows = declared_rows(path, metadata.row_groups())?;
    check_rows(path, rows, limits)?;
    if rows == 0 {
        return Err(no_rows(path));
    }
    let reading = ParquetReading { path, metadata: &metadata, wanted: &wanted, options, limits };
    let columns = gather(reading.read_chunks()?, &wanted);
    let place_of = move |row| format!("{}: row {}", path.display(), row + 1);
    Ok(CodedFile { header, columns, rows, warnings, place_of: Box::new(place_of) })
}

/// A column to read.
struct WantedColumn {
    name: String,
    cells: CellType,
    /// Its place among the columns that a file stores: a column of several parts takes several
    /// places.
    leaf: usize,
    stored: Stored,
}

/// The columns to read, and warnings about those that no table can hold. Such a column is skipped,
/// unless it was named.
fn wanted_columns(
    path: &Path,
    metadata: &ParquetMetaData,
    options: &ReadOptions,
) -> Result<(Vec<WantedColumn>, Vec<InputError>), TableError> {
    let schema = metadata.file_metadata().schema_descr();
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    let roots = schema.root_schema().get_fields().iter().enumerate();
    for (index, root) in roots.filter(|(_, root)| options.wants(root.name())) {
        let cells = match CellType::of(root) {
            Ok(cells) => cells,
            Err(_) if !options.names(root.name()) => continue,
            Err(found) => {
                let hint = "a table holds single values: omit the column, or store it as numbers, text or dates";
                let problem = format!("column `{}` has the type {found}, which cannot be read", root.name());
                skipped.push(InputError::new(path.display().to_string(), problem, hint));
                continue;
            }
        };
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == index);
        let leaf = leaf.ok_or_else(|| TableError::Internal("a column of a Parquet file has no cells".to_owned()))?;
        let column = schema.column(leaf);
        let stored = Stored {
            physical: column.physical_type(),
            length: usize::try_from(column.type_length()).unwrap_or(0),
            optional: column.max_def_level() > 0,
        };
        wanted.push(WantedColumn { name: root.name().to_owned(), cells, leaf, stored });
    }
    match skipped.first() {
        Some(error) if options.only.is_some() || wanted.is_empty() => Err(error.clone().into()),
        _ => Ok((wanted, skipped)),
    }
}

/// The rows of all groups, by what the file says of itself.
fn declared_rows(path: &Path, groups: &[RowGroupMetaData]) -> Result<usize, TableError> {
    let add = |sum: usize, group: &RowGroupMetaData| sum.checked_add(usize::try_from(group.num_rows()).ok()?);
    let rows = groups.iter().try_fold(0, add);
    rows.ok_or_else(|| not_parquet(path, "impossible numbers of rows"))
}

fn is_placed(column: &ColumnChunkMetaData) -> bool {
    let places = [Some(column.data_page_offset()), column.dictionary_page_offset(), Some(column.compressed_size())];
    places.into_iter().flatten().all(|place| place >= 0)
}

fn not_parquet(path: &Path, error: impl Display) -> TableError {
    let problem = format!("not a sound Parquet file ({error})");
    let hint = "check the suffix; Parquet is compressed within and cannot be read through gzip or zstd";
    TableError::input(path.display().to_string(), problem, hint)
}

struct ParquetReading<'a> {
    path: &'a Path,
    metadata: &'a ParquetMetaData,
    wanted: &'a [WantedColumn],
    options: &'a ReadOptions<'a>,
    limits: &'a ReadLimits,
}

struct Worker {
    coders: Vec<ColumnCoder>,
    chunks: Vec<CodedChunk>,
    file: File,
}

/// The cells of one column in one row group.
struct CodedChunk {
    group: usize,
    column: usize,
    rows: usize,
    codes: Kept,
}

impl ParquetReading<'_> {
    /// The error of the earliest chunk wins, as chunks are taken in order and finished once taken.
    fn read_chunks(&self) -> Result<Vec<Worker>, TableError> {
        let count = self.metadata.num_row_groups() * self.wanted.len();
        let next = AtomicUsize::new(0);
        let finished = Mutex::new(Vec::new());
        let first_error: Mutex<Option<(usize, TableError)>> = Mutex::new(None);
        let fail = |chunk: usize, error: TableError| {
            next.fetch_max(count, Ordering::Relaxed);
            let mut first = first_error.lock().expect("no worker panics here");
            if first.as_ref().is_none_or(|(earliest, _)| chunk < *earliest) {
                *first = Some((chunk, error));
            }
        };
        let run = || {
            // Opened anew: a cloned handle shares its position with the others, and workers would
            // read each other's bytes.
            let file = match File::open(self.path) {
                Ok(file) => file,
                Err(error) => return fail(0, TableError::io(self.path, error)),
            };
            let mut worker = Worker { coders: self.coders(), chunks: Vec::new(), file };
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= count {
                    break;
                }
                let read = self.read_chunk(chunk / self.wanted.len(), chunk % self.wanted.len(), &mut worker);
                if let Err(error) = read.and_then(|()| self.options.progress.check()) {
                    fail(chunk, error);
                }
            }
            finished.lock().expect("no worker panics here").push(worker);
        };
        rayon::scope(|scope| (0..rayon::current_num_threads().min(count)).for_each(|_| scope.spawn(|_| run())));
        match first_error.into_inner().expect("no worker panics here") {
            Some((_, error)) => Err(error),
            None => Ok(finished.into_inner().expect("no worker panics here")),
        }
    }

    fn coders(&self) -> Vec<ColumnCoder> {
        let coder = |column: &WantedColumn| {
            ColumnCoder::new(column.cells, self.limits).forgetting_beyond(self.options.values_max(&column.name))
        };
        self.wanted.iter().map(coder).collect()
    }

    fn read_chunk(&self, index: usize, column: usize, worker: &mut Worker) -> Result<(), TableError> {
        let (wanted, coder) = (&self.wanted[column], &mut worker.coders[column]);
        let file = worker.file.try_clone().map_err(|error| TableError::io(self.path, error))?;
        let group = self.metadata.row_group(index);
        let rows = declared_rows(self.path, std::slice::from_ref(group))?;
        let properties = Arc::new(ReaderProperties::builder().build());
        let reader = SerializedRowGroupReader::new(Arc::new(file), group, None, properties)
            .map_err(|error| not_parquet(self.path, error))?;
        if !is_placed(group.column(wanted.leaf)) {
            return Err(not_parquet(self.path, format!("column `{}` lies outside of the file", wanted.name)));
        }
        // The decoders assert what a damaged file may break.
        let strict = self.options.as_released;
        let taken = catch_unwind(AssertUnwindSafe(|| take(&reader, wanted, rows, strict, coder)));
        match taken {
            // A value that cannot be read matters where the column was asked for.
            Ok(Err(ColumnRefusal::Cell { .. })) if !self.options.names(&wanted.name) => coder.forget(),
            Ok(taken) => taken.map_err(|refusal| self.refuse(index, wanted, refusal))?,
            Err(_) => return Err(not_parquet(self.path, format!("column `{}` cannot be decoded", wanted.name))),
        }
        let codes = self.options.keep(coder.take_codes())?;
        worker.chunks.push(CodedChunk { group: index, column, rows, codes });
        self.options.progress.advance(u64::try_from(group.column(wanted.leaf).compressed_size()).unwrap_or(0));
        Ok(())
    }

    fn refuse(&self, group: usize, column: &WantedColumn, refusal: ColumnRefusal) -> TableError {
        let name = &column.name;
        match refusal {
            ColumnRefusal::File(error) => not_parquet(self.path, format!("column `{name}`: {error}")),
            ColumnRefusal::Damaged => not_parquet(self.path, format!("column `{name}` has a damaged page")),
            ColumnRefusal::Unused => not_parquet(
                self.path,
                format!("column `{name}` holds more than its cells, or in a way that no release has"),
            ),
            ColumnRefusal::Rows => {
                not_parquet(self.path, format!("column `{name}` has fewer or more rows than declared"))
            }
            ColumnRefusal::Cell { row, problem, hint } => {
                let before: i64 = self.metadata.row_groups()[..group].iter().map(|group| group.num_rows()).sum();
                let place = format!("{}: row {}", self.path.display(), before as usize + row + 1);
                TableError::input(place, format!("column `{name}`: {problem}"), hint)
            }
        }
    }
}

/// The codes of a chunk: quickly from the pages as most programs write them, else in whatever
/// encoding they are.
fn take(
    reader: &SerializedRowGroupReader<'_, File>,
    wanted: &WantedColumn,
    rows: usize,
    strict: bool,
    coder: &mut ColumnCoder,
) -> Result<(), ColumnRefusal> {
    let mut pages = reader.get_column_page_reader(wanted.leaf).map_err(ColumnRefusal::File)?;
    match pages::take(coder, wanted.stored, pages.as_mut(), rows, strict) {
        Ok(()) => Ok(()),
        Err(Stop::Refusal(refusal)) => Err(refusal),
        // What its pages hold beside the cells is not seen.
        Err(Stop::OtherEncoding) if strict => Err(ColumnRefusal::Unused),
        Err(Stop::OtherEncoding) => {
            // What was coded so far is coded again.
            coder.take_codes();
            coder.take(reader.get_column_reader(wanted.leaf).map_err(ColumnRefusal::File)?, rows)
        }
    }
}

fn gather(workers: Vec<Worker>, wanted: &[WantedColumn]) -> Vec<Gathered> {
    let new_column = |column: &WantedColumn| Gathered {
        name: column.name.clone(),
        kind: column.cells.kind(),
        is_text: column.cells == CellType::Text,
        dictionaries: Vec::new(),
        pieces: Vec::new(),
    };
    let mut columns: Vec<Gathered> = wanted.iter().map(new_column).collect();
    let mut chunks = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        chunks.extend(worker.chunks.into_iter().map(|chunk| (number, chunk)));
        for (column, coder) in columns.iter_mut().zip(worker.coders) {
            column.dictionaries.push(Some(coder.into_dictionary()));
        }
    }
    chunks.sort_unstable_by_key(|(_, chunk)| chunk.group);
    for (worker, CodedChunk { column, rows, codes, .. }) in chunks {
        columns[column].pieces.push(WorkerCodes { worker, rows, codes: Some(codes) });
    }
    columns
}
