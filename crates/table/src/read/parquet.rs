//! Parquet, row group by row group: each worker takes the next group that nobody has read.
//!
//! Numbers and dates keep the type that the file declares. Strings are typed as the same texts in a CSV file would
//! be. Columns that are not wanted are not decoded.

mod cells;

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::assemble::{AssembleError, Gathered, Piece, assemble};
use super::csv::{check_rows, no_rows};
use super::header::check_names;
use super::source::open_file;
use super::{Limits, ReadOptions};
use crate::{Codes, Kind, Table, TableError};
use cells::ColumnCoder;

const BATCH_ROWS: usize = 1 << 14;

pub(super) fn read(path: &Path, options: &ReadOptions, limits: &Limits) -> Result<Table, TableError> {
    let (file, length) = open_file(path)?;
    options.progress.stage("read", Some(length));
    let metadata =
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| not_parquet(path, &error))?;
    let schema = metadata.schema();
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    check_names(&path.display().to_string(), &header, limits)?;
    let wanted: Vec<usize> = (0..header.len()).filter(|&index| options.wants(&header[index])).collect();
    check_types(path, schema, &wanted)?;
    let groups = metadata.metadata().row_groups();
    let rows: usize = groups.iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum();
    check_rows(path, rows, limits)?;
    if rows == 0 {
        return Err(no_rows(path));
    }
    let reading = Reading { path, metadata: &metadata, wanted: &wanted, options, limits };
    let columns = gather(reading.read_groups()?, schema, &wanted);
    assemble(header, columns, rows, options).map_err(|error| match error {
        AssembleError::Internal(what) => TableError::Internal(what.to_owned()),
        AssembleError::Unfit(unfit) => {
            let place = format!("{}: row {}", path.display(), unfit.row + 1);
            TableError::input(place, unfit.problem(), unfit.hint())
        }
    })
}

/// The kind that a file's type declares; `None` where the texts decide.
fn kind_of(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(Kind::Float),
        DataType::Boolean => Some(Kind::Category),
        _ => None,
    }
}

fn check_types(path: &Path, schema: &Schema, wanted: &[usize]) -> Result<(), TableError> {
    for &index in wanted {
        let field = schema.field(index);
        if !cells::is_supported(field.data_type()) {
            let hint = "a table holds single values: leave the column out, or store it as numbers, text or dates";
            let problem = format!("column `{}` has the type {}, which cannot be read", field.name(), field.data_type());
            return Err(TableError::input(path.display().to_string(), problem, hint));
        }
    }
    Ok(())
}

fn not_parquet(path: &Path, error: &ParquetError) -> TableError {
    let problem = format!("not a sound Parquet file ({error})");
    let hint = "check the suffix; Parquet is compressed within and cannot be read through gzip or zstd";
    TableError::input(path.display().to_string(), problem, hint)
}

struct Reading<'a> {
    path: &'a Path,
    metadata: &'a ArrowReaderMetadata,
    wanted: &'a [usize],
    options: &'a ReadOptions<'a>,
    limits: &'a Limits,
}

struct Worker {
    coders: Vec<ColumnCoder>,
    groups: Vec<(usize, usize, Vec<Codes>)>,
}

impl Reading<'_> {
    /// The error of the earliest group wins, as groups are taken in order and finished once taken.
    fn read_groups(&self) -> Result<Vec<Worker>, TableError> {
        let count = self.metadata.metadata().num_row_groups();
        let next = AtomicUsize::new(0);
        let finished = Mutex::new(Vec::new());
        let first_error: Mutex<Option<(usize, TableError)>> = Mutex::new(None);
        let run = || {
            let mut worker = Worker { coders: self.coders(), groups: Vec::new() };
            loop {
                let group = next.fetch_add(1, Ordering::Relaxed);
                if group >= count {
                    break;
                }
                if let Err(error) = self.read_group(group, &mut worker) {
                    next.fetch_max(count, Ordering::Relaxed);
                    let mut first = first_error.lock().expect("no worker panics here");
                    if first.as_ref().is_none_or(|(earliest, _)| group < *earliest) {
                        *first = Some((group, error));
                    }
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
        let fields = self.wanted.iter().map(|&index| self.metadata.schema().field(index));
        fields.map(|field| ColumnCoder::new(field.name(), self.limits.field_bytes)).collect()
    }

    fn read_group(&self, group: usize, worker: &mut Worker) -> Result<(), TableError> {
        // Opened anew: a cloned handle shares its position with the others, and workers would read each other's bytes.
        let file = File::open(self.path).map_err(|error| TableError::io(self.path, error))?;
        let before: i64 = self.metadata.metadata().row_groups()[..group].iter().map(|group| group.num_rows()).sum();
        let projection = ProjectionMask::roots(self.metadata.parquet_schema(), self.wanted.iter().copied());
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(projection)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| not_parquet(self.path, &error))?;
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(|error| not_parquet(self.path, &error.into()))?;
            for (coder, array) in worker.coders.iter_mut().zip(batch.columns()) {
                coder.take(array).map_err(|refusal| {
                    let row = before as usize + rows + refusal.row + 1;
                    let place = format!("{}: row {row}", self.path.display());
                    TableError::input(place, refusal.problem, refusal.hint)
                })?;
            }
            rows += batch.num_rows();
        }
        let columns = worker.coders.iter_mut().map(ColumnCoder::take_codes).collect();
        worker.groups.push((group, rows, columns));
        let bytes = self.metadata.metadata().row_group(group).compressed_size();
        self.options.progress.advance(u64::try_from(bytes).unwrap_or(0));
        Ok(())
    }
}

fn gather(workers: Vec<Worker>, schema: &Schema, wanted: &[usize]) -> Vec<Gathered> {
    let new_column = |&index: &usize| {
        let field = schema.field(index);
        let kind = kind_of(field.data_type());
        Gathered { name: field.name().clone(), kind, dictionaries: Vec::new(), pieces: Vec::new() }
    };
    let mut columns: Vec<Gathered> = wanted.iter().map(new_column).collect();
    let mut groups = Vec::new();
    for (number, worker) in workers.into_iter().enumerate() {
        groups.extend(worker.groups.into_iter().map(|(group, rows, codes)| (group, number, rows, codes)));
        for (column, coder) in columns.iter_mut().zip(worker.coders) {
            column.dictionaries.push(Some(coder.into_dictionary()));
        }
    }
    groups.sort_unstable_by_key(|(group, ..)| *group);
    for (_, worker, rows, codes) in groups {
        for (column, codes) in columns.iter_mut().zip(codes) {
            column.pieces.push(Piece { worker, rows, codes: Some(codes) });
        }
    }
    columns
}
