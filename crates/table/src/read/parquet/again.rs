//! The footer of a file that `hedgerow` wrote, written again from the names of its columns and from
//! its pages. Readers of cells look at few of a footer's numbers; each of the others could be any.
//!
//! Places are counted from the beginning of the file, so that no byte is between its columns. A
//! page header is compared with the one way in which `hedgerow` writes it, and the bytes behind it
//! are one compressed frame ([`super::frame`]). Which of the many ways to compress a page was taken
//! is not judged: it changes from version to version of the compressor.

use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, EncodingMask, LogicalType, PageType, Repetition, Type as Physical, ZstdLevel,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, PageEncodingStats, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use super::page_headers::{ColumnPages, PageKind};
use super::writer::CREATED_BY;
use crate::Kind;

/// The version of the format that readers must know.
const FORMAT: i32 = 1;

/// The columns of a released table as Parquet declares them: numbers and dates as such, all else as
/// text, and every cell may be missing.
pub fn released_schema<'a>(columns: impl IntoIterator<Item = (&'a str, Kind)>) -> Result<TypePtr, ParquetError> {
    let field = |(name, kind): (&str, Kind)| {
        let (physical, logical) = match kind {
            Kind::Integer => (Physical::INT64, None),
            Kind::Float => (Physical::DOUBLE, None),
            Kind::Date => (Physical::INT32, Some(LogicalType::Date)),
            Kind::Category => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical);
        builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.into_iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("release").with_fields(fields).build().map(Arc::new)
}

/// The end of a file that `hedgerow` wrote with these columns and pages: its footer, and what
/// follows. `None` where it writes no such columns, or bytes are between the pages.
pub(super) fn tail_again(
    metadata: &ParquetMetaData,
    groups: &[Vec<ColumnPages>],
    start: u64,
    end: u64,
) -> Result<Option<Vec<u8>>, ParquetError> {
    let Some(columns) = columns_of(metadata.file_metadata().schema_descr().root_schema()) else { return Ok(None) };
    let schema = Arc::new(SchemaDescriptor::new(released_schema(columns)?));
    let mut reached = start;
    for column in groups.iter().flatten() {
        if column.start != reached || !column.are_released {
            return Ok(None);
        }
        reached += column.bytes;
    }
    let fits = groups.iter().all(|group| group.len() == schema.num_columns());
    if reached != end || !fits || i16::try_from(groups.len()).is_err() {
        return Ok(None);
    }
    let again = |(place, group): (usize, &Vec<ColumnPages>)| group_again(&schema, place, group);
    let groups: Vec<RowGroupMetaData> = groups.iter().enumerate().map(again).collect::<Result<_, _>>()?;
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let file = FileMetaData::new(FORMAT, rows, Some(CREATED_BY.to_owned()), None, schema, None);
    let mut tail = Vec::new();
    ParquetMetaDataWriter::new(&mut tail, &ParquetMetaData::new(file, groups)).finish()?;
    Ok(Some(tail))
}

/// The columns of a schema, unless one is of a type that no release has.
fn columns_of(root: &Type) -> Option<Vec<(&str, Kind)>> {
    let column = |column: &TypePtr| match column.as_ref() {
        Type::PrimitiveType { .. } => match column.get_physical_type() {
            Physical::INT64 => Some(Kind::Integer),
            Physical::DOUBLE => Some(Kind::Float),
            Physical::INT32 => Some(Kind::Date),
            Physical::BYTE_ARRAY => Some(Kind::Category),
            _ => None,
        },
        Type::GroupType { .. } => None,
    };
    root.get_fields().iter().map(|field| Some((field.name(), column(field)?))).collect()
}

fn group_again(
    schema: &SchemaDescPtr,
    place: usize,
    columns: &[ColumnPages],
) -> Result<RowGroupMetaData, ParquetError> {
    let first = columns.first();
    let again = |(column, pages): (usize, &ColumnPages)| column_again(schema, column, pages);
    RowGroupMetaData::builder(schema.clone())
        .set_column_metadata(columns.iter().enumerate().map(again).collect::<Result<_, _>>()?)
        .set_total_byte_size(columns.iter().map(|column| number(column.plain_bytes)).sum())
        .set_num_rows(first.map_or(0, |column| number(column.cells())))
        .set_ordinal(place as i16)
        .set_file_offset(first.map_or(0, |column| number(column.start)))
        .build()
}

fn column_again(
    schema: &SchemaDescPtr,
    place: usize,
    pages: &ColumnPages,
) -> Result<ColumnChunkMetaData, ParquetError> {
    // Whether cells are missing is written in runs.
    let mut encodings = vec![Encoding::RLE];
    let mut used: Vec<PageEncodingStats> = Vec::new();
    for page in &pages.in_order {
        let (kind, encoding) = match page {
            PageKind::Dictionary => (PageType::DICTIONARY_PAGE, Encoding::PLAIN),
            PageKind::Positions => (PageType::DATA_PAGE, Encoding::RLE_DICTIONARY),
            PageKind::Values => (PageType::DATA_PAGE, Encoding::PLAIN),
        };
        encodings.push(encoding);
        match used.last_mut().filter(|last| (last.page_type, last.encoding) == (kind, encoding)) {
            Some(last) => last.count += 1,
            None => used.push(PageEncodingStats { page_type: kind, encoding, count: 1 }),
        }
    }
    ColumnChunkMetaData::builder(schema.column(place))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
        .set_page_encoding_stats(used)
        .set_num_values(number(pages.cells()))
        .set_total_compressed_size(number(pages.bytes))
        .set_total_uncompressed_size(number(pages.plain_bytes))
        .set_data_page_offset(pages.of_cells.first().map_or(0, |page| number(page.place)))
        .set_dictionary_page_offset((pages.dictionaries > 0).then_some(number(pages.start)))
        .build()
}

/// No file is as long as this type allows.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
