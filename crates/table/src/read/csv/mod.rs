//! Text with delimited fields. The header is read first; the rest is cut into blocks that workers
//! read on their own.

mod dialect;
mod records;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::assemble::{Gathered, WorkerCodes};
use super::blocks::{Block, Blocks, Quoting};
use super::delimiter::SAMPLE_BYTES;
use super::header::check_names;
use super::part::CodedFile;
use super::source::SourceBytes;
use super::workers::share;
use super::{Format, ReadLimits, ReadOptions};
use crate::spill::Kept;
use crate::{InputError, TableError};
use records::{FieldSlot, RecordReader, SKIPPED, Trouble};

pub(super) type OpenSource<'a> = dyn Fn() -> Result<SourceBytes<'a>, TableError> + 'a;

/// `open` is called again only to find the line of a value that its declared kind cannot take.
pub(super) fn read<'a>(
    open: Box<OpenSource<'a>>,
    path: &'a Path,
    options: &'a ReadOptions<'a>,
    format: Format,
    limits: ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let Begun { blocks, quoting, header } = begin(open()?, path, options, format, &limits)?;
    let slots = slots(&header, options);
    let rows = AtomicUsize::new(0);
    let kept = || header.iter().zip(&slots).filter(|(_, slot)| **slot != SKIPPED).map(|(name, _)| name);
    let new_worker = || {
        let mut reader = RecordReader::new(quoting, &slots, &limits);
        for (dictionary, name) in reader.dictionaries.iter_mut().zip(kept()) {
            dictionary.forget_beyond(options.values_max(name));
        }
        Worker { reader, blocks: Vec::new() }
    };
    let workers = share(blocks, new_worker, |worker: &mut Worker, block| {
        let read = worker.reader.read(block, usize::MAX).map_err(|trouble| refuse(path, block, trouble))?;
        let total = rows.fetch_add(read.rows, Ordering::Relaxed) + read.rows;
        let columns = options.keep_all(worker.reader.take_columns())?;
        worker.blocks.push(CodedBlock { index: block.index, rows: read.rows, columns });
        options.progress.check()?;
        check_rows(path, total, &limits)
    })?;
    let rows = rows.into_inner();
    if rows == 0 {
        return Err(no_rows(path));
    }
    let columns = gather(kept().cloned(), workers);
    let place_of = move |row| match line_of_row(&open, path, options, format, &limits, row) {
        Some(line) => format!("{}:{line}", path.display()),
        None => format!("{}: row {}", path.display(), row + 1),
    };
    Ok(CodedFile { header, columns, rows, warnings: Vec::new(), place_of: Box::new(place_of) })
}

pub(super) fn check_rows(path: &Path, rows: usize, limits: &ReadLimits) -> Result<(), TableError> {
    if rows <= limits.rows {
        return Ok(());
    }
    let problem = format!("more than {} rows", limits.rows);
    Err(TableError::input(path.display().to_string(), problem, "divide the data into parts"))
}

pub(super) fn no_rows(path: &Path) -> TableError {
    TableError::input(path.display().to_string(), "the table has no rows", "a table needs at least one row of data")
}

struct Begun<'a> {
    blocks: Blocks<'a>,
    quoting: Quoting,
    header: Vec<String>,
}

/// Reads up to the end of the header.
fn begin<'a>(
    source: SourceBytes<'a>,
    path: &Path,
    options: &ReadOptions,
    format: Format,
    limits: &ReadLimits,
) -> Result<Begun<'a>, TableError> {
    let source = super::source::skip_byte_order_mark(source)?;
    let (sample, mut source) = source.peek(SAMPLE_BYTES)?;
    let (stated, skipped) = dialect::stated(&sample).unzip();
    let skipped = skipped.unwrap_or(0);
    source.fill(&mut vec![0; skipped])?;
    let (sample, header_line) = (&sample[skipped..], 1 + u64::from(skipped > 0));
    let quoting = dialect::dialect(path, sample, format, stated, options)?;
    let mut blocks = Blocks::new(source, Some(quoting), limits).starting_at_line(header_line);
    let mut block = Block::default();
    if !blocks.next_into(&mut block)? {
        let hint = "expected a line with the names of the columns, then the rows";
        return Err(TableError::input(path.display().to_string(), "the file is empty", hint));
    }
    let (header, end) =
        records::texts_of_record(&block, quoting, limits).map_err(|trouble| refuse(path, &block, trouble))?;
    dialect::check_split(path, sample, &header, quoting)?;
    check_names(&format!("{}:{header_line}", path.display()), &header, limits)?;
    blocks.resume_after(&block, end);
    Ok(Begun { blocks, quoting, header })
}

fn slots(header: &[String], options: &ReadOptions) -> Vec<FieldSlot> {
    let mut free = 0..;
    header.iter().map(|name| if options.wants(name) { free.next().unwrap_or(SKIPPED) } else { SKIPPED }).collect()
}

struct Worker<'a> {
    reader: RecordReader<'a>,
    blocks: Vec<CodedBlock>,
}

struct CodedBlock {
    index: usize,
    rows: usize,
    columns: Vec<Kept>,
}

/// Turns workers' blocks of columns into columns of blocks.
fn gather(names: impl Iterator<Item = String>, workers: Vec<Worker>) -> Vec<Gathered> {
    let mut columns: Vec<Gathered> = names
        .map(|name| Gathered { name, kind: None, is_text: true, dictionaries: Vec::new(), pieces: Vec::new() })
        .collect();
    let mut blocks: Vec<(usize, CodedBlock)> = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        blocks.extend(worker.blocks.into_iter().map(|block| (number, block)));
        for (column, dictionary) in columns.iter_mut().zip(worker.reader.dictionaries) {
            column.dictionaries.push(Some(dictionary));
        }
    }
    blocks.sort_unstable_by_key(|(_, block)| block.index);
    for (worker, block) in blocks {
        for (column, codes) in columns.iter_mut().zip(block.columns) {
            column.pieces.push(WorkerCodes { worker, rows: block.rows, codes: Some(codes) });
        }
    }
    columns
}

fn refuse(path: &Path, block: &Block, trouble: Trouble) -> TableError {
    InputError::at_line(path, block.line_at(trouble.position), trouble.problem, trouble.hint).into()
}

/// The line on which a row begins, found by reading the source once more. `None` if it changed
/// meanwhile.
fn line_of_row(
    open: &OpenSource<'_>,
    path: &Path,
    options: &ReadOptions,
    format: Format,
    limits: &ReadLimits,
    row: usize,
) -> Option<u64> {
    let mut begun = begin(open().ok()?, path, options, format, limits).ok()?;
    let slots = vec![SKIPPED; begun.header.len()];
    let mut reader = RecordReader::new(begun.quoting, &slots, limits);
    let mut block = Block::default();
    let mut before = row;
    while begun.blocks.next_into(&mut block).ok()? {
        let read = reader.read(&block, before).ok()?;
        if read.position < block.bytes().len() {
            return Some(block.line_at(read.position));
        }
        before -= read.rows;
    }
    None
}

#[cfg(test)]
mod tests;
