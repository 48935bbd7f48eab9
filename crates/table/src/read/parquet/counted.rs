//! The cells of a column of a Parquet file, counted page by page: the least and the greatest value,
//! and how many are missing.

use std::cmp::Ordering;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::page_headers::PageOfCells;

const BATCH_CELLS: u64 = 1 << 12;

/// The least and the greatest value.
type Ends<T> = (<T as DataType>::T, <T as DataType>::T);

/// The numbers that statistics have about cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counted {
    /// The least and the greatest value, as the format writes them; `None` without a value. What is
    /// not a number is neither.
    pub(super) ends: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) present: u64,
    pub(super) missing: u64,
    /// The lengths of texts, added up.
    pub(super) text_bytes: u64,
}

/// The cells of a column, and of each of its pages.
pub(super) struct CountedPages {
    pub(super) whole: Counted,
    pub(super) pages: Vec<Counted>,
}

pub(super) fn count(
    reader: ColumnReader,
    column: &ColumnChunkMetaData,
    pages: &[PageOfCells],
) -> Result<CountedPages, ParquetError> {
    let descriptor = column.column_descr();
    let is_decimal = descriptor.converted_type() == ConvertedType::DECIMAL
        || matches!(descriptor.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    let counting = Counting { pages, optional: descriptor.max_def_level() > 0 };
    match reader {
        ColumnReader::BoolColumnReader(reader) => counting.run(reader, bool::cmp),
        ColumnReader::Int32ColumnReader(reader) => counting.run(reader, i32::cmp),
        ColumnReader::Int64ColumnReader(reader) => counting.run(reader, i64::cmp),
        ColumnReader::FloatColumnReader(reader) => counting.run(reader, f32::total_cmp),
        ColumnReader::DoubleColumnReader(reader) => counting.run(reader, f64::total_cmp),
        ColumnReader::ByteArrayColumnReader(reader) => counting.run(reader, |a, b| a.data().cmp(b.data())),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            // The highest bit of a decimal is its sign.
            let flip = if is_decimal { 0x80 } else { 0 };
            let first = |bytes: &[u8]| bytes.first().map(|first| first ^ flip);
            counting.run(reader, |a, b| first(a.data()).cmp(&first(b.data())).then_with(|| a.data().cmp(b.data())))
        }
        ColumnReader::Int96ColumnReader(_) => Err(ParquetError::General("a release has no moments".to_owned())),
    }
}

/// Zero has one way to be written here: programs state the negative one as least.
pub(super) fn without_sign_of_zero(bytes: &[u8], physical: Physical) -> Vec<u8> {
    let is_float = matches!(physical, Physical::FLOAT | Physical::DOUBLE);
    let is_zero = bytes.split_last().is_some_and(|(last, rest)| last & 0x7f == 0 && rest.iter().all(|byte| *byte == 0));
    if is_float && is_zero { vec![0; bytes.len()] } else { bytes.to_vec() }
}

struct Counting<'a> {
    pages: &'a [PageOfCells],
    optional: bool,
}

impl Counting<'_> {
    fn run<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        order: impl Fn(&T::T, &T::T) -> Ordering,
    ) -> Result<CountedPages, ParquetError> {
        let (mut whole, mut ends) = (Counted::default(), None);
        let mut pages = Vec::with_capacity(self.pages.len());
        for page in self.pages {
            let (of_page, ends_of_page) = self.page(&mut reader, page.cells, &order)?;
            whole.present += of_page.present;
            whole.missing += of_page.missing;
            whole.text_bytes += of_page.text_bytes;
            for value in ends_of_page.into_iter().flat_map(|(least, greatest)| [least, greatest]) {
                widen(&mut ends, &value, &order);
            }
            pages.push(of_page);
        }
        whole.ends = ends.map(written::<T>);
        Ok(CountedPages { whole, pages })
    }

    fn page<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        mut left: u64,
        order: &impl Fn(&T::T, &T::T) -> Ordering,
    ) -> Result<(Counted, Option<Ends<T>>), ParquetError> {
        let is_text = T::get_physical_type() == Physical::BYTE_ARRAY;
        let (mut counted, mut ends) = (Counted::default(), None);
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        while left > 0 {
            levels.clear();
            values.clear();
            let levels = self.optional.then_some(&mut levels);
            let (cells, present, _) = reader.read_records(left.min(BATCH_CELLS) as usize, levels, None, &mut values)?;
            if cells == 0 {
                return Err(ParquetError::General("a page has fewer cells than it says".to_owned()));
            }
            left -= cells as u64;
            counted.present += present as u64;
            counted.missing += (cells - present) as u64;
            for value in &values {
                counted.text_bytes += if is_text { value.as_bytes().len() as u64 } else { 0 };
                widen(&mut ends, value, order);
            }
        }
        counted.ends = ends.clone().map(written::<T>);
        Ok((counted, ends))
    }
}

fn widen<V: Clone + PartialEq>(ends: &mut Option<(V, V)>, value: &V, order: impl Fn(&V, &V) -> Ordering) {
    #[expect(clippy::eq_op, reason = "what is not a number is not equal to itself")]
    let is_number = value == value;
    match ends {
        _ if !is_number => {}
        None => *ends = Some((value.clone(), value.clone())),
        Some((least, _)) if order(value, least).is_lt() => *least = value.clone(),
        Some((_, greatest)) if order(value, greatest).is_gt() => *greatest = value.clone(),
        Some(_) => {}
    }
}

fn written<T: DataType>((least, greatest): Ends<T>) -> (Vec<u8>, Vec<u8>) {
    let physical = T::get_physical_type();
    (without_sign_of_zero(least.as_bytes(), physical), without_sign_of_zero(greatest.as_bytes(), physical))
}
