//! The pages of a column, as most programs write them: positions in a dictionary, or plain values.
//!
//! A value of a dictionary is coded when a cell first has it, and every further cell costs one look
//! into a list. A value that no cell has, which data frames leave behind when rows are filtered,
//! does not enter the table.

use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageReader};

use super::cells::{ColumnCoder, ColumnRefusal, ParquetValue, Unfit};
use super::hybrid::{Damaged, Hybrid};

const BATCH_ROWS: usize = 1 << 14;

/// How the cells of a column are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    pub(super) physical: Physical,
    /// Bytes of a value, where the type has a length.
    pub(super) length: usize,
    /// Whether a cell may be without a value.
    pub(super) optional: bool,
}

/// Why the pages were not read to their end.
#[derive(Debug)]
pub(super) enum Stop {
    /// In an encoding that is not read here.
    OtherEncoding,
    Refusal(ColumnRefusal),
}

impl From<ColumnRefusal> for Stop {
    fn from(refusal: ColumnRefusal) -> Stop {
        Stop::Refusal(refusal)
    }
}

impl From<Damaged> for Stop {
    fn from(_: Damaged) -> Stop {
        Stop::Refusal(ColumnRefusal::Damaged)
    }
}

/// Codes all cells of a row group's column, which must be as many as the group has rows. Where that
/// is strict, pages hold nothing but these, and dictionaries no value that no cell has.
pub(super) fn take(
    coder: &mut ColumnCoder,
    stored: Stored,
    pages: &mut dyn PageReader,
    rows: usize,
    strict: bool,
) -> Result<(), Stop> {
    let mut dictionary: Option<Dictionary> = None;
    let mut taking = Taking { coder, rows, done: 0, levels: Vec::new(), positions: Vec::new(), codes: Vec::new() };
    while let Some(page) = pages.get_next_page().map_err(ColumnRefusal::File)? {
        if page.is_dictionary_page() {
            dictionary = Some(Dictionary::new(page, stored)?);
        } else {
            let spent = taking.take_page(PageCells::of(&page, stored)?, dictionary.as_mut())?;
            if strict && !spent {
                return Err(ColumnRefusal::Unused.into());
            }
        }
    }
    if strict && dictionary.is_some_and(|dictionary| !dictionary.is_used()) {
        return Err(ColumnRefusal::Unused.into());
    }
    if taking.done == rows { Ok(()) } else { Err(ColumnRefusal::Rows.into()) }
}

/// The cells of one page.
struct PageCells<'a> {
    rows: usize,
    /// For each cell whether it has a value; `None` when all have.
    levels: Option<Hybrid<'a>>,
    values: PageValues<'a>,
}

enum PageValues<'a> {
    Positions(Hybrid<'a>),
    Plain(Plain<'a>),
}

impl<'a> PageCells<'a> {
    fn of(page: &'a Page, stored: Stored) -> Result<PageCells<'a>, Stop> {
        let bytes: &'a [u8] = page.buffer();
        let (levels, values): (&[u8], &[u8]) = match page {
            Page::DataPage { def_level_encoding, .. } if stored.optional => {
                if *def_level_encoding != Encoding::RLE {
                    return Err(Stop::OtherEncoding);
                }
                let (length, rest) = bytes.split_first_chunk::<4>().ok_or(Damaged)?;
                rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(Damaged)?
            }
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                let rest = bytes.get(*rep_levels_byte_len as usize..).ok_or(Damaged)?;
                rest.split_at_checked(*def_levels_byte_len as usize).ok_or(Damaged)?
            }
            _ => (&[], bytes),
        };
        let values = match page.encoding() {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                // A page of nothing but nulls may end here.
                let (width, packed) = values.split_first().unwrap_or((&0, &[]));
                PageValues::Positions(Hybrid::new(packed, u32::from(*width)).ok_or(Damaged)?)
            }
            Encoding::PLAIN => PageValues::Plain(Plain { bytes: values, stored, bit: 0 }),
            _ => return Err(Stop::OtherEncoding),
        };
        let levels = if stored.optional { Hybrid::new(levels, 1) } else { None };
        Ok(PageCells { rows: page.num_values() as usize, levels, values })
    }
}

/// Values one after the other.
struct Plain<'a> {
    bytes: &'a [u8],
    stored: Stored,
    /// How many bits of the first byte are behind; only booleans are that small.
    bit: u32,
}

impl<'a> Plain<'a> {
    fn next(&mut self) -> Option<ParquetValue<'a>> {
        Some(match self.stored.physical {
            Physical::BOOLEAN => {
                let truth = self.bytes.first()? >> self.bit & 1 == 1;
                self.bit += 1;
                if self.bit == 8 {
                    self.bit = 0;
                    self.bytes = &self.bytes[1..];
                }
                ParquetValue::Boolean(truth)
            }
            Physical::INT32 => ParquetValue::Int32(i32::from_le_bytes(self.chunk()?)),
            Physical::INT64 => ParquetValue::Int64(i64::from_le_bytes(self.chunk()?)),
            Physical::INT96 => ParquetValue::Int96(self.chunk()?),
            Physical::FLOAT => ParquetValue::Float(f32::from_le_bytes(self.chunk()?)),
            Physical::DOUBLE => ParquetValue::Double(f64::from_le_bytes(self.chunk()?)),
            Physical::BYTE_ARRAY => {
                let length = u32::from_le_bytes(self.chunk()?);
                ParquetValue::Bytes(self.slice(length as usize)?)
            }
            // A value without bytes could stand any number of times in an empty page.
            Physical::FIXED_LEN_BYTE_ARRAY if self.stored.length == 0 => return None,
            Physical::FIXED_LEN_BYTE_ARRAY => ParquetValue::Bytes(self.slice(self.stored.length)?),
        })
    }

    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*chunk)
    }

    fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (slice, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(slice)
    }
}

/// A code that no value has.
const UNCODED: u32 = u32::MAX;

struct Dictionary {
    page: Page,
    stored: Stored,
    /// Where each value begins.
    starts: Vec<usize>,
    /// The code of each value that a cell has had.
    codes: Vec<u32>,
}

impl Dictionary {
    fn new(page: Page, stored: Stored) -> Result<Dictionary, Stop> {
        let plain = matches!(page.encoding(), Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
        if !plain || stored.physical == Physical::BOOLEAN {
            return Err(Stop::OtherEncoding);
        }
        let mut starts = Vec::new();
        let mut values = Plain { bytes: page.buffer(), stored, bit: 0 };
        for _ in 0..page.num_values() {
            starts.push(page.buffer().len() - values.bytes.len());
            values.next().ok_or(Damaged)?;
        }
        Ok(Dictionary { codes: vec![UNCODED; starts.len()], page, stored, starts })
    }

    /// Whether cells have every value, and the page holds nothing else.
    fn is_used(&self) -> bool {
        let last = self.starts.last().map(|&start| {
            let mut values = Plain { bytes: &self.page.buffer()[start..], stored: self.stored, bit: 0 };
            values.next();
            values.bytes.len()
        });
        last.unwrap_or(self.page.buffer().len()) == 0 && !self.codes.contains(&UNCODED)
    }

    fn value(&self, position: usize) -> Option<ParquetValue<'_>> {
        Plain { bytes: &self.page.buffer()[self.starts[position]..], stored: self.stored, bit: 0 }.next()
    }
}

struct Taking<'a> {
    coder: &'a mut ColumnCoder,
    rows: usize,
    done: usize,
    levels: Vec<u32>,
    positions: Vec<u32>,
    /// The codes of the cells that have a value.
    codes: Vec<u32>,
}

impl Taking<'_> {
    /// Says whether the page holds nothing else.
    fn take_page(&mut self, mut cells: PageCells<'_>, mut dictionary: Option<&mut Dictionary>) -> Result<bool, Stop> {
        if cells.rows > self.rows - self.done {
            return Err(ColumnRefusal::Rows.into());
        }
        let mut left = cells.rows;
        while left > 0 {
            let rows = left.min(BATCH_ROWS);
            self.levels.clear();
            let mut present = rows;
            if let Some(levels) = &mut cells.levels {
                levels.take(rows, &mut self.levels)?;
                present = self.levels.iter().filter(|&&level| level > 0).count();
            }
            self.codes.clear();
            match &mut cells.values {
                PageValues::Positions(positions) => {
                    self.positions.clear();
                    positions.take(present, &mut self.positions)?;
                    if present > 0 {
                        self.code_positions(dictionary.as_deref_mut().ok_or(Damaged)?)?;
                    }
                }
                PageValues::Plain(values) => self.code_values(values, present)?,
            }
            if present == rows {
                self.coder.extend(&self.codes);
            } else {
                self.coder.extend_sparse(&self.codes, self.levels.iter().map(|&level| level > 0));
            }
            self.done += rows;
            left -= rows;
        }
        let values = match &cells.values {
            PageValues::Positions(positions) => positions.is_spent(),
            // The last byte of truths may be begun.
            PageValues::Plain(values) => values.bytes.len() <= usize::from(values.bit > 0),
        };
        Ok(values && cells.levels.is_none_or(|levels| levels.is_spent()))
    }

    fn code_positions(&mut self, dictionary: &mut Dictionary) -> Result<(), Stop> {
        for index in 0..self.positions.len() {
            let position = self.positions[index] as usize;
            let mut code = *dictionary.codes.get(position).ok_or(Damaged)?;
            if code == UNCODED {
                let value = dictionary.value(position).ok_or(Damaged)?;
                code = self.coder.code_of(value).map_err(|unfit| self.refuse(index, unfit))?;
                dictionary.codes[position] = code;
            }
            self.codes.push(code);
        }
        Ok(())
    }

    fn code_values(&mut self, values: &mut Plain<'_>, present: usize) -> Result<(), Stop> {
        for index in 0..present {
            let value = values.next().ok_or(Damaged)?;
            let code = self.coder.code_of(value).map_err(|unfit| self.refuse(index, unfit))?;
            self.codes.push(code);
        }
        Ok(())
    }

    /// `index` counts the cells of the batch that have a value.
    fn refuse(&self, index: usize, unfit: Unfit) -> Stop {
        let with_value = self.levels.iter().enumerate().filter(|(_, level)| **level > 0).map(|(row, _)| row);
        let row = if self.levels.is_empty() { index } else { with_value.clone().nth(index).unwrap_or(index) };
        ColumnRefusal::cell(self.done + row, unfit).into()
    }
}
