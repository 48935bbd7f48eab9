//! The released rows as Parquet: numbers and dates as such where they were not generalized, all
//! else as text.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use hedgerow_draft::rows::ReleasedColumn;
use hedgerow_table::read::{CREATED_BY, released_schema};
use hedgerow_table::{Kind, Progress, TableError, Values};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::{Flushing, InRandomOrder};

/// All rows are in the file when this returns; the disk may still be at work.
pub(crate) fn write_parquet(
    path: &Path,
    columns: &[ReleasedColumn<'_>],
    rows: &mut dyn InRandomOrder,
    progress: &dyn Progress,
) -> Result<Flushing, TableError> {
    let failed = |error: ParquetError| TableError::io(path, std::io::Error::other(error));
    let file = File::create_new(path).map_err(|error| TableError::io(path, error))?;
    let level = ZstdLevel::try_new(3).map_err(failed)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(CREATED_BY.to_owned())
        // Rows are in random order, where bounds of pages skip nothing; and all that a file holds
        // is checked.
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let schema = released_schema(columns.iter().map(|column| (column.name, column.kind))).map_err(failed)?;
    let cells = columns.iter().map(ParquetCells::new).collect::<Result<Vec<_>, _>>()?;
    let mut writer = SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties)).map_err(failed)?;
    rows.each(&mut |codes, buckets| {
        progress.check()?;
        let rows: Vec<u32> = buckets.concat();
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(failed)?;
        for (codes, cells) in codes.iter().zip(&cells) {
            let codes = rows.iter().map(|&row| codes.get(row as usize) as usize);
            let next = group.next_column().map_err(failed)?;
            let out = next.ok_or_else(|| TableError::Internal("a column too many for the file".to_owned()))?;
            cells.write(codes, out).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        progress.advance(rows.len() as u64);
        Ok(())
    })?;
    let out = writer.into_inner().map_err(failed)?;
    let file = out.into_inner().map_err(|error| TableError::io(path, error.into_error()))?;
    Ok(Flushing::of(file))
}

/// For every code of a column the value to store; `None` for a missing one.
enum ParquetCells {
    Integer(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Date(Vec<Option<i32>>),
    Text(Vec<Option<ByteArray>>),
}

impl ParquetCells {
    fn new(column: &ReleasedColumn<'_>) -> Result<ParquetCells, TableError> {
        fn or_missing<T>(values: impl Iterator<Item = T>) -> Vec<Option<T>> {
            values.map(Some).chain([None]).collect()
        }
        match (column.kind, column.domain.values()) {
            (Kind::Integer, Values::Integer(values)) => Ok(ParquetCells::Integer(or_missing(values.iter().copied()))),
            (Kind::Float, Values::Float(values)) => Ok(ParquetCells::Float(or_missing(values.iter().copied()))),
            (Kind::Date, Values::Date(values)) => Ok(ParquetCells::Date(or_missing(values.iter().map(|date| date.0)))),
            (Kind::Category, _) => {
                let stored = |text: &String| Some(ByteArray::from(text.as_str())).filter(|_| !text.is_empty());
                Ok(ParquetCells::Text(column.texts.iter().map(stored).collect()))
            }
            _ => Err(TableError::Internal(format!("column `{}` changed its kind", column.name))),
        }
    }

    fn write(&self, codes: impl Iterator<Item = usize>, out: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            ParquetCells::Integer(values) => write_column::<Int64Type>(values, codes, out),
            ParquetCells::Float(values) => write_column::<DoubleType>(values, codes, out),
            ParquetCells::Date(values) => write_column::<Int32Type>(values, codes, out),
            ParquetCells::Text(values) => write_column::<ByteArrayType>(values, codes, out),
        }
    }
}

/// A cell that is there has definition level 1 and a value; a missing one has level 0 and none.
fn write_column<T: DataType>(
    values: &[Option<T::T>],
    codes: impl Iterator<Item = usize>,
    mut out: SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let mut levels = Vec::new();
    let mut present = Vec::new();
    for code in codes {
        levels.push(i16::from(values[code].is_some()));
        present.extend(values[code].clone());
    }
    out.typed::<T>().write_batch(&present, Some(&levels), None)?;
    out.close()
}
