//! The cells of one column as codes. A number is looked up by its bits; only a value that is new is
//! written out as text, so that all formats meet in the same dictionary.

use std::fmt::Display;

use hashbrown::HashMap;
use parquet::basic::TimeUnit;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int96};
use parquet::errors::ParquetError;

use super::cell_type::CellType;
use super::texts;
use crate::Codes;
use crate::date::Date;
use crate::read::ReadLimits;
use crate::read::assemble::widen;
use crate::read::interner::{ABSENT, Interner, TextsMax};

const BATCH_ROWS: usize = 1 << 14;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// The day count of 1970-01-01 in the calendar of the oldest timestamps.
const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;

/// Why a column cannot be read.
#[derive(Debug)]
pub(super) enum ColumnRefusal {
    File(ParquetError),
    /// A page does not hold what its header says.
    Damaged,
    /// A page holds more than its cells.
    Unused,
    /// The column has another number of rows than its row group declares.
    Rows,
    /// A value that has no place in a table, and its row in the row group.
    Cell {
        row: usize,
        problem: String,
        hint: &'static str,
    },
}

impl ColumnRefusal {
    pub(super) fn cell(row: usize, (problem, hint): Unfit) -> ColumnRefusal {
        ColumnRefusal::Cell { row, problem, hint }
    }
}

/// The problem with a cell, and a hint.
pub(in crate::read) type Unfit = (String, &'static str);

/// A value in one of Parquet's physical types.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) enum ParquetValue<'a> {
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Int96([u8; 12]),
    Float(f32),
    Double(f64),
    /// A text, or what else is stored as bytes.
    Bytes(&'a [u8]),
}

pub(in crate::read) struct ColumnCoder {
    cells: CellType,
    longest: usize,
    dictionary: Interner,
    /// Codes of numbers met before, by their bits.
    numbers: HashMap<i128, u32, foldhash::fast::RandomState>,
    codes: Codes,
}

impl ColumnCoder {
    pub(in crate::read) fn new(cells: CellType, limits: &ReadLimits) -> ColumnCoder {
        ColumnCoder {
            cells,
            longest: limits.field_bytes,
            dictionary: Interner::with_keys(limits.keys),
            numbers: HashMap::default(),
            codes: Codes::with_capacity(1, 0),
        }
    }

    /// Forgets all values when there are more than this.
    pub(super) fn forgetting_beyond(mut self, values_max: TextsMax) -> ColumnCoder {
        self.dictionary.forget_beyond(values_max);
        self
    }

    /// Forgets all values, as if there were too many.
    pub(super) fn forget(&mut self) {
        self.dictionary.forget();
    }

    /// The codes since the last call.
    pub(in crate::read) fn take_codes(&mut self) -> Codes {
        std::mem::replace(&mut self.codes, Codes::with_capacity(self.dictionary.cardinality(), 0))
    }

    pub(in crate::read) fn into_dictionary(self) -> Interner {
        self.dictionary
    }

    /// Codes all cells of a row group's column in any encoding, by way of the library's own
    /// decoders.
    pub(super) fn take(&mut self, column: ColumnReader, rows: usize) -> Result<(), ColumnRefusal> {
        match column {
            ColumnReader::BoolColumnReader(reader) => self.drain(reader, rows, |&truth| ParquetValue::Boolean(truth)),
            ColumnReader::Int32ColumnReader(reader) => self.drain(reader, rows, |&value| ParquetValue::Int32(value)),
            ColumnReader::Int64ColumnReader(reader) => self.drain(reader, rows, |&value| ParquetValue::Int64(value)),
            ColumnReader::Int96ColumnReader(reader) => {
                self.drain(reader, rows, |value| ParquetValue::Int96(int96_bytes(value)))
            }
            ColumnReader::FloatColumnReader(reader) => self.drain(reader, rows, |&value| ParquetValue::Float(value)),
            ColumnReader::DoubleColumnReader(reader) => self.drain(reader, rows, |&value| ParquetValue::Double(value)),
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.drain(reader, rows, |bytes| ParquetValue::Bytes(bytes.data()))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.drain(reader, rows, |bytes| ParquetValue::Bytes(bytes.data()))
            }
        }
    }

    /// Reads a column to its end, batch by batch. A cell without a value has a lower definition
    /// level than one with.
    fn drain<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        value_of: impl Fn(&T::T) -> ParquetValue<'_>,
    ) -> Result<(), ColumnRefusal> {
        let (mut levels, mut values, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        let mut done = 0;
        loop {
            levels.clear();
            values.clear();
            codes.clear();
            let (records, present, _) =
                reader.read_records(BATCH_ROWS, Some(&mut levels), None, &mut values).map_err(ColumnRefusal::File)?;
            if records == 0 {
                return if done == rows { Ok(()) } else { Err(ColumnRefusal::Rows) };
            }
            if done + records > rows {
                return Err(ColumnRefusal::Rows);
            }
            for (index, value) in values[..present].iter().enumerate() {
                let code = self.code_of(value_of(value)).map_err(|unfit| {
                    let mut with_value = (0..records).filter(|&row| levels.is_empty() || levels[row] > 0);
                    ColumnRefusal::cell(done + with_value.nth(index).unwrap_or(index), unfit)
                })?;
                codes.push(code);
            }
            if levels.is_empty() {
                self.extend(&codes);
            } else {
                self.extend_sparse(&codes, levels.iter().map(|&level| level > 0));
            }
            done += records;
        }
    }

    /// Appends cells that all have a value.
    pub(in crate::read) fn extend(&mut self, codes: &[u32]) {
        widen(&mut self.codes, self.dictionary.cardinality());
        match &mut self.codes {
            Codes::U8(column) => column.extend(codes.iter().map(|&code| code as u8)),
            Codes::U16(column) => column.extend(codes.iter().map(|&code| code as u16)),
            Codes::U32(column) => column.extend_from_slice(codes),
        }
    }

    /// Appends cells of which only some have a value, `codes` being theirs.
    pub(in crate::read) fn extend_sparse(&mut self, codes: &[u32], has_value: impl Iterator<Item = bool>) {
        widen(&mut self.codes, self.dictionary.cardinality());
        let mut codes = codes.iter();
        for has_value in has_value {
            let code = if has_value { codes.next().copied().unwrap_or(ABSENT) } else { ABSENT };
            self.dictionary.absent |= code == ABSENT;
            self.codes.push(code);
        }
    }

    /// The code of a value, which is written out as text when it is new.
    pub(in crate::read) fn code_of(&mut self, value: ParquetValue<'_>) -> Result<u32, Unfit> {
        match (value, self.cells) {
            (ParquetValue::Boolean(truth), _) => Ok(self.dictionary.code(if truth { b"true" } else { b"false" })),
            (ParquetValue::Int32(value), CellType::Unsigned) => Ok(self.code_of_integer(i64::from(value as u32))),
            (ParquetValue::Int32(days), CellType::Date) => {
                Ok(self.code_of_number(i128::from(days), || Date(days).to_string()))
            }
            (ParquetValue::Int32(value), _) => Ok(self.code_of_whole(i64::from(value))),
            (ParquetValue::Int64(value), CellType::Unsigned) => {
                Ok(self.code_of_number(i128::from(value as u64), || (value as u64).to_string()))
            }
            (ParquetValue::Int64(value), _) => Ok(self.code_of_whole(value)),
            (ParquetValue::Int96(bytes), _) => self.code_of_int96(bytes),
            (ParquetValue::Float(value), _) => self.code_of_float(value),
            (ParquetValue::Double(value), _) => self.code_of_float(value),
            (ParquetValue::Bytes(bytes), CellType::Decimal { scale }) => self.code_of_decimal(bytes, scale),
            (ParquetValue::Bytes(bytes), CellType::Half) => self.code_of_half(bytes),
            (ParquetValue::Bytes(text), _) => self.code_of_text(text),
        }
    }

    fn code_of_number(&mut self, bits: i128, text: impl FnOnce() -> String) -> u32 {
        let dictionary = &mut self.dictionary;
        if dictionary.is_over() {
            self.numbers = HashMap::default();
            return ABSENT;
        }
        *self.numbers.entry(bits).or_insert_with(|| dictionary.code(text().as_bytes()))
    }

    fn code_of_integer(&mut self, value: i64) -> u32 {
        self.code_of_number(i128::from(value), || value.to_string())
    }

    /// A whole number, or what one stands for.
    fn code_of_whole(&mut self, value: i64) -> u32 {
        match self.cells {
            CellType::Decimal { scale } => {
                self.code_of_number(i128::from(value), || texts::decimal(&value.to_be_bytes(), scale))
            }
            CellType::Timestamp { unit, zoned } => {
                let (per_day, decimals) = match unit {
                    TimeUnit::MILLIS => (86_400_000, 3),
                    TimeUnit::MICROS => (86_400_000_000, 6),
                    TimeUnit::NANOS => (NANOS_PER_DAY, 9),
                };
                let nanos = value.rem_euclid(per_day) * (NANOS_PER_DAY / per_day);
                let text = || texts::moment(value.div_euclid(per_day), nanos, decimals, zoned);
                // Beyond the calendar's range the count itself is still exact.
                self.code_of_number(i128::from(value), || text().unwrap_or_else(|| value.to_string()))
            }
            _ => self.code_of_integer(value),
        }
    }

    /// The nanoseconds of a day, then the day.
    fn code_of_int96(&mut self, bytes: [u8; 12]) -> Result<u32, Unfit> {
        let bits = bytes.iter().rev().fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
        let days = (bits >> 64) as i64 - JULIAN_DAY_OF_EPOCH;
        let nanos = i64::try_from(bits as u64).ok().filter(|nanos| (0..NANOS_PER_DAY).contains(nanos));
        let Some(nanos) = nanos else { return Err(unfit("a timestamp with more than a day in its hours")) };
        let bits = i128::from(days) << 64 | i128::from(nanos);
        Ok(self.code_of_number(bits, || texts::moment(days, nanos, 9, false).unwrap_or_default()))
    }

    fn code_of_float<F: Into<f64> + Display + Copy>(&mut self, value: F) -> Result<u32, Unfit> {
        let wide: f64 = value.into();
        if !wide.is_finite() {
            let hint = "store a value that is unknown or out of range as null";
            return Err((format!("`{value}` is not a number"), hint));
        }
        Ok(self.code_of_number(i128::from(wide.to_bits()), || value.to_string()))
    }

    fn code_of_half(&mut self, bytes: &[u8]) -> Result<u32, Unfit> {
        match bytes {
            &[low, high] => self.code_of_float(texts::half(u16::from_le_bytes([low, high]))),
            _ => Err(unfit("a half-precision number of another length than two bytes")),
        }
    }

    fn code_of_decimal(&mut self, bytes: &[u8], scale: usize) -> Result<u32, Unfit> {
        if bytes.len() > texts::DECIMAL_BYTES_MAX {
            return Err(unfit("a decimal of over 76 digits"));
        }
        if bytes.len() > 16 {
            return Ok(self.dictionary.code(texts::decimal(bytes, scale).as_bytes()));
        }
        let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 16];
        wide[16 - bytes.len()..].copy_from_slice(bytes);
        Ok(self.code_of_number(i128::from_be_bytes(wide), || texts::decimal(bytes, scale)))
    }

    fn code_of_text(&mut self, text: &[u8]) -> Result<u32, Unfit> {
        if text.len() > self.longest {
            return Err(unfit(&format!("a text of over {} bytes", self.longest)));
        }
        if memchr::memchr(0, text).is_some() {
            return Err(unfit("a text with a NUL character"));
        }
        let known = self.dictionary.cardinality();
        let code = self.dictionary.code(text);
        // A text that is known was looked at when it was new.
        if self.dictionary.cardinality() > known && std::str::from_utf8(text).is_err() {
            return Err(unfit("a text that is not UTF-8"));
        }
        Ok(code)
    }
}

fn int96_bytes(value: &Int96) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (part, number) in bytes.chunks_exact_mut(4).zip(value.data()) {
        part.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn unfit(problem: &str) -> Unfit {
    (problem.to_owned(), "mend the value, or omit the column")
}
