//! Reading a table: CSV and TSV, Parquet, newline-delimited JSON; plain, gzip or zstd.
//!
//! All formats go the same way. Workers turn their share of the source into codes over dictionaries of their own; at
//! the end the dictionaries are merged, typed and sorted, and the codes rewritten. Since the final dictionary is
//! sorted, the table does not depend on which worker read what.
//!
//! What a reader may rely on:
//! - Leading and trailing spaces belong to the value. A quote opens a quoted field only as the field's first byte;
//!   elsewhere it is an ordinary character.
//! - LF and CRLF end a line; a carriage return alone, outside quotes, is refused.
//! - An empty line is skipped when there are several columns. With a single column it is a row whose text is empty,
//!   since nothing tells it apart from one.
//! - Every line of a CSV file has as many fields as its header; lines are counted as an editor counts them.
//! - Strings of a Parquet or JSON source are typed as the same texts in a CSV file would be.

mod assemble;
mod blocks;
mod build;
mod csv;
mod format;
mod header;
mod interner;
mod marks;
mod ndjson;
mod parquet;
mod source;
mod workers;

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;

pub use build::{Cells, TableBuilder};
pub use format::Format;

use crate::{Kind, NoProgress, Progress, Table, TableError};
use source::Source;

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
    /// Only these columns are kept. A name that the file lacks is ignored: the caller knows `Table::header`.
    pub only: Option<HashSet<String>>,
    /// Told the bytes of the file as they are read.
    pub progress: &'a dyn Progress,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions {
            format: None,
            delimiter: None,
            quote: None,
            nulls: vec![String::new()],
            kinds: HashMap::new(),
            only: None,
            progress: &NoProgress,
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
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

impl ReadOptions<'_> {
    fn wants(&self, column: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(column))
    }
}

/// What a source may hold. The block size is a matter of speed alone; tests make it tiny, so that blocks end anywhere.
#[derive(Debug, Clone, Copy)]
struct Limits {
    block_bytes: usize,
    field_bytes: usize,
    record_bytes: usize,
    columns: usize,
    rows: usize,
}

const LIMITS: Limits = Limits {
    // A block and the codes made of it stay in a core's own cache.
    block_bytes: 1 << 20,
    field_bytes: 16 << 20,
    record_bytes: 64 << 20,
    columns: 10_000,
    rows: u32::MAX as usize - 1,
};

/// Reads a whole table from a file.
pub fn read_table(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let format = match options.format {
        Some(format) => format,
        None => Format::of(path)?,
    };
    let open = || Source::open(path, options.progress);
    match format {
        Format::Csv | Format::Tsv => csv::read(&open, path, options, format, &LIMITS),
        Format::Ndjson => ndjson::read(&open, path, options, &LIMITS),
        Format::Parquet => parquet::read(path, options, &LIMITS),
    }
}

/// Reads CSV from memory; `name` stands for the file in errors.
pub fn read_csv_bytes(name: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let format = options.format.unwrap_or(Format::Csv);
    let open = || Source::wrap(name, Cursor::new(bytes), bytes.len() as u64, options.progress);
    csv::read(&open, name, options, format, &LIMITS)
}

#[cfg(test)]
mod tests;
