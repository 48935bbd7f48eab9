//! The cells of one column as codes. A number is looked up by its bits; only a value that is new is written out
//! as text, so that all formats meet in the same dictionary.

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
use crate::read::assemble::widen;
use crate::read::interner::{ABSENT, Interner};

const BATCH_ROWS: usize = 1 << 14;

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// The day count of 1970-01-01 in the calendar of the oldest timestamps.
const JULIAN_DAY_OF_EPOCH: i64 = 2_440_588;

/// Why a column cannot be read.
#[derive(Debug)]
pub(super) enum Refusal {
    File(ParquetError),
    /// The column has another number of rows than its row group declares.
    Rows,
    /// A value that has no place in a table, and its row in the row group.
    Cell {
        row: usize,
        problem: String,
        hint: &'static str,
    },
}

/// What is wrong with a cell, and what to do.
type Unfit = (String, &'static str);

pub(super) struct ColumnCoder {
    cells: CellType,
    longest: usize,
    dictionary: Interner,
    /// Codes of numbers met before, by their bits.
    numbers: HashMap<i128, u32, foldhash::fast::RandomState>,
    codes: Codes,
}

impl ColumnCoder {
    pub(super) fn new(cells: CellType, longest: usize) -> ColumnCoder {
        ColumnCoder {
            cells,
            longest,
            dictionary: Interner::new(),
            numbers: HashMap::default(),
            codes: Codes::with_capacity(1, 0),
        }
    }

    /// The codes since the last call.
    pub(super) fn take_codes(&mut self) -> Codes {
        std::mem::replace(&mut self.codes, Codes::with_capacity(self.dictionary.cardinality(), 0))
    }

    pub(super) fn into_dictionary(self) -> Interner {
        self.dictionary
    }

    /// Codes all cells of a row group's column, which must be as many as the group has rows.
    pub(super) fn take(&mut self, column: ColumnReader, rows: usize) -> Result<(), Refusal> {
        let cells = self.cells;
        match column {
            ColumnReader::BoolColumnReader(reader) => self
                .drain(reader, rows, |coder, &truth| Ok(coder.dictionary.code(if truth { b"true" } else { b"false" }))),
            ColumnReader::Int32ColumnReader(reader) => match cells {
                CellType::Unsigned => {
                    self.drain(reader, rows, |coder, &value| Ok(coder.code_of_integer(i64::from(value as u32))))
                }
                CellType::Date => self.drain(reader, rows, |coder, &days| {
                    Ok(coder.code_of_number(i128::from(days), || Date(days).to_string()))
                }),
                _ => self.drain(reader, rows, |coder, &value| Ok(coder.code_of_whole(i64::from(value)))),
            },
            ColumnReader::Int64ColumnReader(reader) => match cells {
                CellType::Unsigned => self.drain(reader, rows, |coder, &value| {
                    Ok(coder.code_of_number(i128::from(value as u64), || (value as u64).to_string()))
                }),
                _ => self.drain(reader, rows, |coder, &value| Ok(coder.code_of_whole(value))),
            },
            ColumnReader::Int96ColumnReader(reader) => {
                self.drain(reader, rows, |coder, value| coder.code_of_int96(value))
            }
            ColumnReader::FloatColumnReader(reader) => {
                self.drain(reader, rows, |coder, &value| coder.code_of_float(value))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.drain(reader, rows, |coder, &value| coder.code_of_float(value))
            }
            ColumnReader::ByteArrayColumnReader(reader) => match cells {
                CellType::Decimal { scale } => {
                    self.drain(reader, rows, |coder, bytes| coder.code_of_decimal(bytes.data(), scale))
                }
                _ => self.drain(reader, rows, |coder, bytes| coder.code_of_text(bytes.data())),
            },
            ColumnReader::FixedLenByteArrayColumnReader(reader) => match cells {
                CellType::Decimal { scale } => {
                    self.drain(reader, rows, |coder, bytes| coder.code_of_decimal(bytes.data(), scale))
                }
                _ => self.drain(reader, rows, |coder, bytes| coder.code_of_half(bytes.data())),
            },
        }
    }

    /// Reads a column to its end, batch by batch. A cell without a value has a lower definition level than one with.
    fn drain<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        code: impl Fn(&mut ColumnCoder, &T::T) -> Result<u32, Unfit>,
    ) -> Result<(), Refusal> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let mut done = 0;
        loop {
            levels.clear();
            values.clear();
            let (records, present, _) =
                reader.read_records(BATCH_ROWS, Some(&mut levels), None, &mut values).map_err(Refusal::File)?;
            if records == 0 {
                return if done == rows { Ok(()) } else { Err(Refusal::Rows) };
            }
            if done + records > rows {
                return Err(Refusal::Rows);
            }
            let mut present = values[..present].iter();
            for row in 0..records {
                let value = if levels.is_empty() || levels[row] > 0 { present.next() } else { None };
                let code = value.map(|value| code(self, value)).transpose().map_err(|(problem, hint)| {
                    // The first row that fails, though the column goes on.
                    Refusal::Cell { row: done + row, problem, hint }
                })?;
                self.push(code.unwrap_or(ABSENT));
            }
            done += records;
        }
    }

    fn push(&mut self, code: u32) {
        self.dictionary.absent |= code == ABSENT;
        widen(&mut self.codes, self.dictionary.cardinality());
        self.codes.push(code);
    }

    fn code_of_number(&mut self, bits: i128, text: impl FnOnce() -> String) -> u32 {
        let dictionary = &mut self.dictionary;
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

    fn code_of_int96(&mut self, value: &Int96) -> Result<u32, Unfit> {
        let &[low, high, day] = value.data() else {
            return Err(unfit("a timestamp of another length than twelve bytes"));
        };
        let nanos = u64::from(high) << 32 | u64::from(low);
        let days = i64::from(day) - JULIAN_DAY_OF_EPOCH;
        let nanos = i64::try_from(nanos).ok().filter(|nanos| (0..NANOS_PER_DAY).contains(nanos));
        let Some(nanos) = nanos else { return Err(unfit("a timestamp with more than a day in its hours")) };
        let bits = i128::from(days) << 64 | i128::from(nanos);
        Ok(self.code_of_number(bits, || texts::moment(days, nanos, 9, false).unwrap_or_default()))
    }

    fn code_of_float<F: Into<f64> + Display + Copy>(&mut self, value: F) -> Result<u32, Unfit> {
        let wide: f64 = value.into();
        if !wide.is_finite() {
            let hint = "store a value that is unknown or out of range as null";
            return Err((format!("`{value}` is no number"), hint));
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

fn unfit(problem: &str) -> Unfit {
    (problem.to_owned(), "mend the value, or leave the column out")
}
