//! A table from values in memory: typed columns, or records of texts as a program or a database
//! hands them over.
//!
//! The cells are coded as those of a file are. Texts are typed as the same texts in a CSV file
//! would be; numbers and dates keep the type they come with, unless the options declare another.
//! The kinds are settled in [`TableBuilder::finish`], so that the cells can be gathered before it
//! is known how they are to be read.

use std::fmt::Display;

use hashbrown::HashMap;

use super::assemble::{AssembleError, Gathered, WorkerCodes, assemble, widen};
use super::header::{check_names, shorten};
use super::interner::{ABSENT, Interner};
use super::part::CodedFile;
use super::{LIMITS, ReadLimits, ReadOptions};
use crate::date::Date;
use crate::spill::Kept;
use crate::{Codes, Kind, Table, TableError};

mod rows;

pub use rows::Cell;

/// The place of an error that concerns no single cell.
const PLACE: &str = "table in memory";

/// The cells of one column; `None` is missing.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnCells {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Finite numbers only.
    Floats(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Days since 1970-01-01.
    Dates(Vec<Option<i32>>),
    /// Read as the texts `true` and `false`.
    Booleans(Vec<Option<bool>>),
    /// Texts that occur often: each cell is a position among `values`.
    Dictionary { values: Vec<String>, codes: Vec<Option<u32>> },
}

impl ColumnCells {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            ColumnCells::Integers(cells) => cells.len(),
            ColumnCells::Floats(cells) => cells.len(),
            ColumnCells::Texts(cells) => cells.len(),
            ColumnCells::Dates(cells) => cells.len(),
            ColumnCells::Booleans(cells) => cells.len(),
            ColumnCells::Dictionary { codes, .. } => codes.len(),
        }
    }

    /// Whether it is empty: without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind that the type declares; `None` where the texts decide.
    fn kind(&self) -> Option<Kind> {
        match self {
            ColumnCells::Integers(_) => Some(Kind::Integer),
            ColumnCells::Floats(_) => Some(Kind::Float),
            ColumnCells::Dates(_) => Some(Kind::Date),
            ColumnCells::Booleans(_) => Some(Kind::Category),
            ColumnCells::Texts(_) | ColumnCells::Dictionary { .. } => None,
        }
    }

    /// The first row that cannot be taken.
    fn check(&self, limits: &ReadLimits) -> Result<(), (usize, CellProblem)> {
        match self {
            ColumnCells::Integers(_) | ColumnCells::Dates(_) | ColumnCells::Booleans(_) => Ok(()),
            ColumnCells::Floats(cells) => check_each(cells, |value| {
                let hint = "give a value that is unknown as `None`";
                if value.is_finite() { Ok(()) } else { Err((format!("`{value}` is not a number"), hint)) }
            }),
            ColumnCells::Texts(cells) => check_each(cells, |text| check_text(text, limits)),
            ColumnCells::Dictionary { values, codes } => {
                let values_checked: Vec<Result<(), CellProblem>> =
                    values.iter().map(|value| check_text(value, limits)).collect();
                check_each(codes, |&position| {
                    let outside = || {
                        let problem = format!("position {position} in a dictionary of {} values", values.len());
                        Err((problem, "positions count from 0 and stay below the number of values"))
                    };
                    values_checked.get(position as usize).cloned().unwrap_or_else(outside)
                })
            }
        }
    }
}

impl From<Vec<Option<i64>>> for ColumnCells {
    fn from(cells: Vec<Option<i64>>) -> ColumnCells {
        ColumnCells::Integers(cells)
    }
}

impl From<Vec<i64>> for ColumnCells {
    fn from(cells: Vec<i64>) -> ColumnCells {
        ColumnCells::Integers(cells.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<f64>>> for ColumnCells {
    fn from(cells: Vec<Option<f64>>) -> ColumnCells {
        ColumnCells::Floats(cells)
    }
}

impl From<Vec<f64>> for ColumnCells {
    fn from(cells: Vec<f64>) -> ColumnCells {
        ColumnCells::Floats(cells.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<String>>> for ColumnCells {
    fn from(cells: Vec<Option<String>>) -> ColumnCells {
        ColumnCells::Texts(cells)
    }
}

impl From<Vec<String>> for ColumnCells {
    fn from(cells: Vec<String>) -> ColumnCells {
        ColumnCells::Texts(cells.into_iter().map(Some).collect())
    }
}

impl From<Vec<&str>> for ColumnCells {
    fn from(cells: Vec<&str>) -> ColumnCells {
        ColumnCells::Texts(cells.into_iter().map(|cell| Some(cell.to_owned())).collect())
    }
}

impl From<Vec<bool>> for ColumnCells {
    fn from(cells: Vec<bool>) -> ColumnCells {
        ColumnCells::Booleans(cells.into_iter().map(Some).collect())
    }
}

/// A table that grows by records or by batches of columns.
#[derive(Debug, Clone)]
pub struct TableBuilder {
    columns: Vec<GrowingColumn>,
    rows: usize,
    limits: ReadLimits,
    /// Whether texts are as people write them, and not numbers that a program stored.
    is_text: bool,
    /// Where the cells come from, for errors.
    place: String,
}

impl TableBuilder {
    /// A table without rows. No name may be empty or occur twice.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Result<TableBuilder, TableError> {
        TableBuilder::with_limits(names, PLACE, LIMITS)
    }

    /// A table whose numbers are written as a program writes them.
    pub(super) fn of_stored_values(
        names: Vec<String>,
        place: &str,
        limits: &ReadLimits,
    ) -> Result<TableBuilder, TableError> {
        let builder = TableBuilder::with_limits(names, place, *limits)?;
        Ok(TableBuilder { is_text: false, ..builder })
    }

    pub(super) fn with_limits<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        place: &str,
        limits: ReadLimits,
    ) -> Result<TableBuilder, TableError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        check_names(place, &names, &limits)?;
        let columns = names.into_iter().map(GrowingColumn::new).collect();
        Ok(TableBuilder { columns, rows: 0, limits, is_text: true, place: place.to_owned() })
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the codes gathered so far.
    pub fn bytes(&self) -> u64 {
        self.columns.iter().map(|column| column.codes.bytes() as u64).sum()
    }

    #[cfg(feature = "rare-formats")]
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Appends one row, one text per column; `None` is missing. A record that is refused changes
    /// nothing.
    pub fn push_record<T: AsRef<str>>(
        &mut self,
        record: impl IntoIterator<Item = Option<T>>,
    ) -> Result<(), TableError> {
        let record: Vec<Option<T>> = record.into_iter().collect();
        if record.len() != self.columns.len() {
            let problem = format!("{} values for {} columns", record.len(), self.columns.len());
            let place = format!("row {}", self.rows + 1);
            return Err(TableError::input(place, problem, "give every row one value or `None` per column"));
        }
        self.check_rows(1)?;
        for (column, text) in self.columns.iter().zip(&record) {
            column.check_kind(None)?;
            let Some(text) = text else { continue };
            check_text(text.as_ref(), &self.limits).map_err(|problem| self.refuse(self.rows, column, problem))?;
        }
        for (column, text) in self.columns.iter_mut().zip(&record) {
            let code = text.as_ref().map_or(ABSENT, |text| column.dictionary.code(text.as_ref().as_bytes()));
            column.push(code);
            column.typed = true;
        }
        self.rows += 1;
        Ok(())
    }

    /// Appends rows given as columns of equal length, in the order of the names. A batch that is
    /// refused changes no row.
    pub fn push_columns(&mut self, batch: Vec<ColumnCells>) -> Result<(), TableError> {
        if batch.len() != self.columns.len() {
            let problem = format!("{} columns for {} names", batch.len(), self.columns.len());
            return Err(TableError::input(&self.place, problem, "give one column per name"));
        }
        let rows = batch.first().map_or(0, ColumnCells::len);
        for (column, cells) in self.columns.iter().zip(&batch) {
            if cells.len() != rows {
                let place = format!("column {}", column.name);
                let problem = format!("{} rows, where column {} has {rows}", cells.len(), self.columns[0].name);
                return Err(TableError::input(place, problem, "give every column the same number of rows"));
            }
            column.check_kind(cells.kind())?;
        }
        self.check_rows(rows)?;
        for (column, cells) in self.columns.iter().zip(&batch) {
            cells.check(&self.limits).map_err(|(row, problem)| self.refuse(self.rows + row, column, problem))?;
        }
        for (column, cells) in self.columns.iter_mut().zip(&batch) {
            column.kind = cells.kind();
            column.typed |= rows > 0;
            column.append(cells);
        }
        self.rows += rows;
        Ok(())
    }

    /// The table: kinds inferred or declared, domains sorted, texts that count as missing missing.
    /// Of the options, `nulls`, `kinds`, `numbers`, `date_formats` and `only` apply; the others are
    /// about files.
    pub fn finish(self, options: &ReadOptions) -> Result<Table, TableError> {
        let place = self.place.clone();
        let CodedFile { header, columns, rows, .. } = self.into_part(options, Box::new(|_| String::new()))?;
        assemble(header, columns, rows, &place, options).map_err(|error| match error {
            AssembleError::Table(error) => error,
            AssembleError::Unfit(unfit) => {
                TableError::input(cell_place(&place, unfit.row, unfit.column()), unfit.value_problem(), unfit.hint())
            }
        })
    }

    /// The cells of the wanted columns, to be typed together with others.
    pub(super) fn into_part<'a>(
        self,
        options: &ReadOptions,
        place_of: Box<dyn Fn(usize) -> String + 'a>,
    ) -> Result<CodedFile<'a>, TableError> {
        let rows = self.rows;
        if rows == 0 {
            return Err(TableError::input(
                self.place,
                "the table has no rows",
                "a table needs at least one row of data",
            ));
        }
        let header: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        let wanted = self.columns.into_iter().filter(|column| options.wants(&column.name));
        let gathered = wanted.map(|column| Gathered {
            name: column.name,
            kind: column.kind,
            is_text: self.is_text && column.kind.is_none(),
            dictionaries: vec![Some(column.dictionary)],
            pieces: vec![WorkerCodes { worker: 0, rows, codes: Some(Kept::Memory(column.codes)) }],
        });
        Ok(CodedFile { header, columns: gathered.collect(), rows, warnings: Vec::new(), place_of })
    }

    fn check_rows(&self, more: usize) -> Result<(), TableError> {
        if self.rows.checked_add(more).is_some_and(|rows| rows <= self.limits.rows) {
            return Ok(());
        }
        let problem = format!("more than {} rows", self.limits.rows);
        Err(TableError::input(&self.place, problem, "divide the data into parts"))
    }

    fn refuse(&self, row: usize, column: &GrowingColumn, (problem, hint): CellProblem) -> TableError {
        TableError::input(cell_place(&self.place, row, &column.name), problem, hint)
    }
}

impl Table {
    /// A table from named columns of equal length.
    ///
    /// ```
    /// use hedgerow_table::{ColumnCells, Table, read::ReadOptions};
    ///
    /// let age = ColumnCells::from(vec![Some(31), None]);
    /// let sex = ColumnCells::from(vec!["f", "m"]);
    /// let columns = [("age", age), ("sex", sex)];
    /// let table = Table::from_columns(columns, &ReadOptions::default())?;
    /// assert_eq!(table.column("age").unwrap().text(0), "31");
    /// # Ok::<(), hedgerow_table::TableError>(())
    /// ```
    pub fn from_columns<N: Into<String>>(
        columns: impl IntoIterator<Item = (N, ColumnCells)>,
        options: &ReadOptions,
    ) -> Result<Table, TableError> {
        let (names, cells): (Vec<String>, Vec<ColumnCells>) =
            columns.into_iter().map(|(name, cells)| (name.into(), cells)).unzip();
        let mut builder = TableBuilder::new(names)?;
        builder.push_columns(cells)?;
        builder.finish(options)
    }

    /// A table from records of texts, typed as a CSV file with the same texts would be.
    ///
    /// ```
    /// use hedgerow_table::{Table, read::ReadOptions};
    ///
    /// let records = [[Some("31"), Some("f")], [None, Some("m")]];
    /// let table = Table::from_records(["age", "sex"], records, &ReadOptions::default())?;
    /// assert_eq!(table.rows, 2);
    /// # Ok::<(), hedgerow_table::TableError>(())
    /// ```
    pub fn from_records<N: Into<String>, T: AsRef<str>, R: IntoIterator<Item = Option<T>>>(
        names: impl IntoIterator<Item = N>,
        records: impl IntoIterator<Item = R>,
        options: &ReadOptions,
    ) -> Result<Table, TableError> {
        let mut builder = TableBuilder::new(names)?;
        records.into_iter().try_for_each(|record| builder.push_record(record))?;
        builder.finish(options)
    }
}

/// Where a cell is: its row and column, and the source where it has a name of its own.
fn cell_place(place: &str, row: usize, column: &str) -> String {
    let cell = format!("row {}, column {column}", row + 1);
    if place == PLACE { cell } else { format!("{place}: {cell}") }
}

/// The problem with a cell, and a hint.
type CellProblem = (String, &'static str);

#[derive(Debug, Clone)]
struct GrowingColumn {
    name: String,
    kind: Option<Kind>,
    /// Whether a row has settled the kind.
    typed: bool,
    dictionary: Interner,
    /// Codes of numbers met before, by their bits. A column holds numbers of one type.
    numbers: HashMap<u64, u32, foldhash::fast::RandomState>,
    codes: Codes,
}

impl GrowingColumn {
    fn new(name: String) -> GrowingColumn {
        GrowingColumn {
            name,
            kind: None,
            typed: false,
            dictionary: Interner::new(),
            numbers: HashMap::default(),
            codes: Codes::with_capacity(1, 0),
        }
    }

    fn check_kind(&self, kind: Option<Kind>) -> Result<(), TableError> {
        if !self.typed || self.kind == kind {
            return Ok(());
        }
        let name = |kind: Option<Kind>| kind.map_or("text", Kind::name);
        let problem = format!("{} cells after {} cells", name(kind), name(self.kind));
        Err(TableError::input(format!("column {}", self.name), problem, "give a column one type in all batches"))
    }

    fn push(&mut self, code: u32) {
        self.dictionary.absent |= code == ABSENT;
        widen(&mut self.codes, self.dictionary.cardinality());
        self.codes.push(code);
    }

    /// Appends cells that were checked.
    fn append(&mut self, cells: &ColumnCells) {
        match cells {
            ColumnCells::Integers(cells) => self.each(cells, |column, value| column.number(*value as u64, value)),
            ColumnCells::Floats(cells) => self.each(cells, |column, value| column.number(value.to_bits(), value)),
            ColumnCells::Dates(cells) => self.each(cells, |column, &day| column.number(day as u64, &Date(day))),
            ColumnCells::Booleans(cells) => {
                self.each(cells, |column, &truth| column.dictionary.code(if truth { b"true" } else { b"false" }));
            }
            ColumnCells::Texts(cells) => self.each(cells, |column, text| column.dictionary.code(text.as_bytes())),
            ColumnCells::Dictionary { values, codes } => {
                // A value that no cell has does not enter the table, so it is coded when a cell
                // first has it.
                let mut known: Vec<Option<u32>> = vec![None; values.len()];
                self.each(codes, |column, &position| {
                    let position = position as usize;
                    *known[position].get_or_insert_with(|| column.dictionary.code(values[position].as_bytes()))
                });
            }
        }
    }

    fn each<T>(&mut self, cells: &[Option<T>], mut code: impl FnMut(&mut GrowingColumn, &T) -> u32) {
        for cell in cells {
            let code = cell.as_ref().map_or(ABSENT, |value| code(self, value));
            self.push(code);
        }
    }

    fn number(&mut self, bits: u64, value: &dyn Display) -> u32 {
        let dictionary = &mut self.dictionary;
        *self.numbers.entry(bits).or_insert_with(|| dictionary.code(value.to_string().as_bytes()))
    }
}

fn check_each<T>(
    cells: &[Option<T>],
    check: impl Fn(&T) -> Result<(), CellProblem>,
) -> Result<(), (usize, CellProblem)> {
    let check =
        |(row, cell): (usize, &Option<T>)| cell.as_ref().map_or(Ok(()), &check).map_err(|problem| (row, problem));
    cells.iter().enumerate().try_for_each(check)
}

fn check_text(text: &str, limits: &ReadLimits) -> Result<(), CellProblem> {
    if text.len() > limits.field_bytes {
        return Err((format!("a text of over {} bytes", limits.field_bytes), "omit the column, or shorten the text"));
    }
    if text.contains('\0') {
        return Err((format!("`{}` holds a NUL character", shorten(text)), "take it out of the text"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
