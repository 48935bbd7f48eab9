//! Excel workbooks: the first sheet, whose first row names the columns.
//!
//! Numbers are read as stored, dates as dates, whatever format shows them. A row without any value
//! is skipped, as an empty line of a text file is. The sheet is read cell by cell: a cell far out
//! makes no table of a billion cells.

use std::io::{BufReader, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, Xlsx, XlsxError};

use super::build::TableBuilder;
use super::part::CodedFile;
use super::source::open_file;
use super::{ReadLimits, ReadOptions};
use crate::{InputError, TableError};

/// How often a reader looks whether the work was canceled.
const ROWS_BETWEEN_CHECKS: usize = 4096;

pub(super) fn read<'a>(
    path: &'a Path,
    options: &ReadOptions,
    limits: &ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let (file, length) = open_file(path)?;
    options.progress.stage("read", Some(length));
    // The decoder asserts what a damaged file may break.
    let read = catch_unwind(AssertUnwindSafe(|| read_first_sheet(BufReader::new(file), path, options, limits)));
    let part = read.unwrap_or_else(|_| Err(not_excel(path, "it cannot be decoded")))?;
    options.progress.advance(length);
    Ok(part)
}

fn read_first_sheet<'a>(
    file: impl Read + Seek,
    path: &'a Path,
    options: &ReadOptions,
    limits: &ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let mut workbook = Xlsx::new(file).map_err(|error| refuse(path, error))?;
    let is_sheet = |sheet: &&calamine::Sheet| sheet.typ == SheetType::WorkSheet;
    let names: Vec<String> = workbook.sheets_metadata().iter().filter(is_sheet).map(|s| s.name.clone()).collect();
    let Some((first, others)) = names.split_first() else { return Err(not_excel(path, "it has no sheet")) };
    let mut cells = workbook.worksheet_cells_reader(first).map_err(|error| refuse(path, error))?;
    let mut sheet = Sheet { path, name: first, limits, first_column: 0, table: None, row_numbers: Vec::new() };
    let mut row = SheetRow::default();
    while let Some(cell) = cells.next_cell().map_err(|error| refuse(path, error))? {
        let (number, column) = cell.get_position();
        let text = sheet.text(number, column, cell.get_value())?;
        if number != row.number {
            sheet.take(&row)?;
            if number < row.number {
                return Err(not_excel(path, "its rows are out of order"));
            }
            row = SheetRow { number, cells: std::mem::take(&mut row.cells) };
            row.cells.clear();
            if sheet.row_numbers.len().is_multiple_of(ROWS_BETWEEN_CHECKS) {
                options.progress.check()?;
            }
        }
        row.cells.extend(text.map(|text| (column, text)));
    }
    sheet.take(&row)?;
    let mut part = sheet.finish(options)?;
    if !others.is_empty() {
        let problem = format!("the sheet `{first}` is read; the workbook has {} more", others.len());
        let hint = "save the sheet that is meant as a file of its own, if it is another";
        part.warnings.push(InputError::new(path.display().to_string(), problem, hint));
    }
    Ok(part)
}

/// The cells of one row that have a value.
#[derive(Default)]
struct SheetRow {
    /// From 0.
    number: u32,
    cells: Vec<(u32, String)>,
}

struct Sheet<'a, 's> {
    path: &'a Path,
    name: &'s str,
    limits: &'s ReadLimits,
    first_column: u32,
    /// Once the row with the names was read.
    table: Option<TableBuilder>,
    /// The number of each row in the sheet, from 0.
    row_numbers: Vec<u32>,
}

impl<'a> Sheet<'a, '_> {
    fn place(&self, row: u32, column: u32) -> String {
        format!("{}: sheet {}, cell {}{}", self.path.display(), self.name, letters(column), u64::from(row) + 1)
    }

    fn text(&self, row: u32, column: u32, value: &DataRef<'_>) -> Result<Option<String>, TableError> {
        Ok(match value {
            DataRef::Empty => None,
            DataRef::Int(number) => Some(number.to_string()),
            DataRef::Float(number) => Some(number.to_string()),
            DataRef::String(text) => Some(text.clone()),
            DataRef::SharedString(text) => Some((*text).to_owned()),
            DataRef::Bool(truth) => Some(truth.to_string()),
            DataRef::DateTime(moment) => Some(moment_text(moment)),
            DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => Some(text.clone()),
            DataRef::Error(error) => {
                let hint = "mend the formula, or clear the cell if the value is unknown";
                return Err(TableError::input(
                    self.place(row, column),
                    format!("the cell holds the error {error}"),
                    hint,
                ));
            }
        })
    }

    fn take(&mut self, row: &SheetRow) -> Result<(), TableError> {
        let Some(&(first, _)) = row.cells.first() else { return Ok(()) };
        let Some(table) = &mut self.table else {
            return self.take_names(row, first);
        };
        let mut texts: Vec<Option<&str>> = vec![None; table.columns()];
        for (column, text) in &row.cells {
            let index = column.checked_sub(self.first_column).map(|index| index as usize);
            let Some(slot) = index.and_then(|index| texts.get_mut(index)) else {
                let problem = "the cell has a value, and its column has no name in the first row";
                return Err(TableError::input(
                    self.place(row.number, *column),
                    problem,
                    "name the column, or clear it",
                ));
            };
            *slot = Some(text);
        }
        let place = format!("{}: sheet {}: row {}", self.path.display(), self.name, u64::from(row.number) + 1);
        table.push_record(texts).map_err(|error| match error {
            TableError::Input(error) => TableError::input(place, error.problem, error.hint),
            other => other,
        })?;
        self.row_numbers.push(row.number);
        Ok(())
    }

    fn take_names(&mut self, row: &SheetRow, first: u32) -> Result<(), TableError> {
        let last = row.cells.iter().map(|(column, _)| *column).max().unwrap_or(first);
        let mut names = vec![String::new(); (last - first) as usize + 1];
        for (column, text) in &row.cells {
            names[(column - first) as usize] = text.clone();
        }
        self.first_column = first;
        let place = format!("{}: sheet {}: row {}", self.path.display(), self.name, u64::from(row.number) + 1);
        self.table = Some(TableBuilder::of_stored_values(names, &place, self.limits)?);
        Ok(())
    }

    fn finish(self, options: &ReadOptions) -> Result<CodedFile<'a>, TableError> {
        let place = self.path.display().to_string();
        let Some(table) = self.table else {
            let hint = "expected a row with the names of the columns, then the rows";
            return Err(TableError::input(place, format!("the sheet `{}` is empty", self.name), hint));
        };
        let place = format!("{place}: sheet {}", self.name);
        let place_of = move |row: usize| {
            let number = self.row_numbers.get(row).map_or(0, |number| u64::from(*number) + 1);
            format!("{place}, row {number}")
        };
        table.into_part(options, Box::new(place_of))
    }
}

/// A day alone as a date; a time span as the number that it is stored as.
fn moment_text(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        return moment.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, _, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

/// The name of a column, which is a number in base 26 without a zero.
fn letters(column: u32) -> String {
    let mut name = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        name.push(b'A' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    name.iter().rev().map(|&letter| char::from(letter)).collect()
}

fn refuse(path: &Path, error: XlsxError) -> TableError {
    match error {
        XlsxError::Password => {
            let hint = "save it without a password, or as .csv";
            TableError::input(path.display().to_string(), "the workbook is protected by a password", hint)
        }
        other => not_excel(path, &other.to_string()),
    }
}

fn not_excel(path: &Path, what: &str) -> TableError {
    let problem = format!("not a sound Excel workbook ({what})");
    TableError::input(path.display().to_string(), problem, "open it in Excel and save it as .xlsx again, or as .csv")
}

#[cfg(test)]
mod tests;
