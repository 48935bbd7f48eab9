//! Reading a table: CSV and TSV, newline-delimited JSON (plain, gzip or zstd), Parquet, Excel,
//! Stata.
//!
//! All formats go the same way. Workers turn their share of the source into codes over dictionaries
//! of their own; at the end the dictionaries are merged, typed and sorted, and the codes rewritten.
//! Since the final dictionary is sorted, the table does not depend on which worker read what.
//!
//! A caller may rely on:
//! - Leading and trailing spaces belong to the value. A quote opens a quoted field only as the
//!   field's first byte; elsewhere it is an ordinary character.
//! - LF and CRLF end a line; a carriage return alone, outside quotes, is refused.
//! - An empty line is skipped when there are several columns. With a single column it is a row
//!   whose text is empty, since it looks the same as one.
//! - Every line of a CSV file has as many fields as its header; lines are counted as an editor
//!   counts them.
//! - Strings of a Parquet or JSON source are typed as the same texts in a CSV file would be.

#[cfg(feature = "arrow")]
mod arrow;
mod assemble;
mod blocks;
mod build;
mod csv;
pub(crate) mod delimiter;
#[cfg(feature = "rare-formats")]
mod excel;
mod format;
mod header;
mod interner;
mod marks;
mod ndjson;
mod number_format;
mod parquet;
mod part;
mod reading;
mod source;
mod spilled;
#[cfg(feature = "rare-formats")]
mod stata;
mod workers;

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "arrow")]
pub use arrow::read_batches;
pub use build::{Cell, ColumnCells, TableBuilder};
pub use format::Format;
pub use number_format::NumberFormat;
pub use parquet::{CREATED_BY, beside_cells, released_schema};
pub use spilled::SpilledTable;

use crate::date_format::DateFormat;
use crate::engine::{Engine, ROWS_MAX};
use crate::spill::{Kept, SHORT_OF_MEMORY, Spill, SpillFile};
use crate::{Codes, Kind, NoProgress, Progress, Table, TableError};
use interner::TextsMax;
use part::{CodedFile, OverFiles};
use source::SourceBytes;

/// How to read a file. The default reads every column and infers everything.
#[derive(Clone)]
pub struct ReadOptions<'a> {
    /// By the file's suffix when `None`.
    pub format: Option<Format>,
    /// Detected among `,` `;` tab and `|` when `None`.
    pub delimiter: Option<u8>,
    /// `"` when `None`.
    pub quote: Option<u8>,
    /// Texts that count as missing. A JSON or Parquet null always does.
    pub nulls: Vec<String>,
    /// Declared kinds, by column; the others are inferred.
    pub kinds: HashMap<String, Kind>,
    /// How numbers are written in texts.
    pub numbers: NumberFormat,
    /// How dates are written, by column; such a column is one of dates. Other dates are written
    /// `2024-01-31`, and a moment such as `2024-01-31T09:30:00` is a date when the column is
    /// declared to be one.
    pub date_formats: HashMap<String, DateFormat>,
    /// How the dates of other columns of texts are written.
    pub date_format: Option<DateFormat>,
    /// Only these columns are kept. A name that the file lacks is ignored: the caller knows
    /// `Table::header`.
    pub only: Option<HashSet<String>>,
    /// Any other column than these is left without values and codes where it has more than
    /// [`FEW_VALUES`] different values, and does not take the memory of them. `None` reads every
    /// column in full.
    pub in_full: Option<HashSet<String>>,
    /// Columns of a file that are read beside `only`, as texts, where they have few values; else
    /// they are omitted. A database does not send them.
    pub if_few: HashSet<String>,
    /// Learns the bytes of the file as they are read.
    pub progress: &'a dyn Progress,
    /// Whether every text must be the one that a release writes for its value. The kinds must be
    /// declared.
    pub as_released: bool,
    /// Where codes go that do not fit in memory; set by [`read_within`].
    pub spill: Option<Arc<SpillFile>>,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions {
            format: None,
            delimiter: None,
            quote: None,
            nulls: vec![String::new()],
            kinds: HashMap::new(),
            numbers: NumberFormat::default(),
            date_formats: HashMap::new(),
            date_format: None,
            only: None,
            in_full: None,
            if_few: HashSet::new(),
            progress: &NoProgress,
            as_released: false,
            spill: None,
        }
    }
}

impl std::fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOptions")
            .field("format", &self.format)
            .field("delimiter", &self.delimiter)
            .field("quote", &self.quote)
            .field("nulls", &self.nulls)
            .field("kinds", &self.kinds)
            .field("numbers", &self.numbers)
            .field("date_formats", &self.date_formats)
            .field("date_format", &self.date_format)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

impl ReadOptions<'_> {
    /// Whether a column is kept, whatever its values.
    pub fn names(&self, column: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(column))
    }

    /// Whether a column of a file is read.
    fn wants(&self, column: &str) -> bool {
        self.names(column) || self.if_few.contains(column)
    }

    /// The declared kind of a column.
    fn kind(&self, column: &str) -> Option<Kind> {
        let few = Some(Kind::Category).filter(|_| !self.names(column));
        self.kinds.get(column).copied().or(few)
    }

    /// The same without progress.
    pub fn quiet(&self) -> ReadOptions<'static> {
        let ReadOptions {
            format,
            delimiter,
            quote,
            nulls,
            kinds,
            numbers,
            date_formats,
            date_format,
            only,
            in_full,
            if_few,
            ..
        } = self.clone();
        ReadOptions {
            format,
            delimiter,
            quote,
            nulls,
            kinds,
            numbers,
            date_formats,
            date_format,
            only,
            in_full,
            if_few,
            progress: &NoProgress,
            as_released: self.as_released,
            spill: self.spill.clone(),
        }
    }

    /// The most values of a column that is kept with them.
    fn values_max(&self, column: &str) -> TextsMax {
        match &self.in_full {
            _ if !self.names(column) => FEW_BESIDE,
            Some(in_full) if !in_full.contains(column) => TextsMax { texts: FEW_VALUES, ..TextsMax::UNLIMITED },
            _ => TextsMax::UNLIMITED,
        }
    }

    fn file(&self) -> Option<&SpillFile> {
        self.spill.as_deref()
    }

    /// Codes in memory, or on the disk where they do not fit.
    fn keep(&self, codes: Codes) -> Result<Kept, TableError> {
        match self.file() {
            Some(file) => file.keep(codes),
            None => Ok(Kept::Memory(codes)),
        }
    }

    fn keep_all(&self, columns: Vec<Codes>) -> Result<Vec<Kept>, TableError> {
        columns.into_iter().map(|codes| self.keep(codes)).collect()
    }
}

/// The different values of a column that is not needed in full.
pub const FEW_VALUES: usize = 1 << 16;

/// The most that is read of a column which is wanted only where it has few values.
const FEW_BESIDE: TextsMax = TextsMax { texts: 1 << 18, bytes: 1 << 24 };

/// The limits of a source. The block size is a matter of speed alone; tests make it tiny, so that
/// blocks end anywhere.
#[derive(Debug, Clone, Copy)]
struct ReadLimits {
    block_bytes: usize,
    field_bytes: usize,
    record_bytes: usize,
    columns: usize,
    rows: usize,
    /// Texts of a column that are found by keys.
    keys: usize,
}

const LIMITS: ReadLimits = ReadLimits {
    // A block and the codes made of it stay in a core's own cache.
    block_bytes: 1 << 20,
    field_bytes: 16 << 20,
    record_bytes: 64 << 20,
    columns: 10_000,
    rows: ROWS_MAX,
    keys: usize::MAX,
};

/// Texts of a column that are found by keys where memory is short.
const KEYS_WHEN_SHORT: usize = 1 << 15;

/// Reads a table from a file, from all files that match a pattern such as `parts/*.parquet`, or
/// from all files in a folder.
pub fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    read_parts(path, options, |part| part.into_table(path, options))
}

/// A table in memory, or an engine that holds its rows elsewhere: on the disk or in a database.
pub enum HeldTable {
    Memory(Table),
    Outside(Box<dyn Engine>),
}

impl std::fmt::Debug for HeldTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HeldTable::Memory(_) => "Memory",
            HeldTable::Outside(_) => "Outside",
        })
    }
}

/// Reads a table as [`read_table`] does, and keeps on the disk what does not fit in memory.
pub fn read_within(path: &Path, options: &ReadOptions, spill: &Spill) -> Result<HeldTable, TableError> {
    let file = Arc::new(spill.file());
    let options = ReadOptions { spill: Some(Arc::clone(&file)), ..options.clone() };
    read_parts(path, &options, |part| match file.is_used() {
        true => {
            let spilled = part.into_spilled(path, &options, Arc::clone(&file))?;
            spilled.counted(options.progress).map(|table| HeldTable::Outside(Box::new(table)))
        }
        false => part.into_table(path, &options).map(HeldTable::Memory),
    })
}

fn read_parts<T>(
    path: &Path,
    options: &ReadOptions,
    finish: impl FnOnce(CodedFile<'_>) -> Result<T, TableError>,
) -> Result<T, TableError> {
    let files = part::files(path)?;
    let format = match options.format {
        Some(format) => format,
        None => part::format_of(&files)?,
    };
    let [file] = files.as_slice() else {
        let progress = OverFiles::begin(&files, options.progress)?;
        let options = ReadOptions { progress: &progress, ..options.clone() };
        let parts = files.iter().map(|file| read_part(file, format, &options)).collect::<Result<_, _>>()?;
        return finish(part::join(&files, parts)?);
    };
    finish(read_part(file, format, options)?)
}

fn read_part<'a>(path: &'a Path, format: Format, options: &'a ReadOptions<'a>) -> Result<CodedFile<'a>, TableError> {
    let open = move || SourceBytes::open(path, options.progress);
    let is_short = options.file().is_some_and(|file| file.memory() < SHORT_OF_MEMORY);
    let limits = if is_short { ReadLimits { keys: KEYS_WHEN_SHORT, ..LIMITS } } else { LIMITS };
    match format {
        Format::Csv | Format::Tsv => csv::read(Box::new(open), path, options, format, limits),
        Format::Ndjson => ndjson::read(Box::new(open), path, options, limits),
        Format::Parquet => parquet::read(path, options, &limits),
        #[cfg(feature = "rare-formats")]
        Format::Excel => excel::read(path, options, &LIMITS),
        #[cfg(feature = "rare-formats")]
        Format::Stata => stata::read(path, options, &LIMITS),
        #[cfg(not(feature = "rare-formats"))]
        Format::Excel | Format::Stata => {
            let hint = "build with the feature `rare-formats`, or save the data as CSV or Parquet";
            Err(TableError::input(path.display().to_string(), "this build does not read Excel and Stata files", hint))
        }
    }
}

/// Reads CSV from memory; `name` stands for the file in errors.
pub fn read_csv_bytes(name: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let format = options.format.unwrap_or(Format::Csv);
    let open = || SourceBytes::wrap(name, Cursor::new(bytes), bytes.len() as u64, options.progress);
    csv::read(Box::new(open), name, options, format, LIMITS)?.into_table(name, options)
}

#[cfg(test)]
mod tests;
