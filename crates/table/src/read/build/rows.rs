//! Rows of a database: cells of declared kinds, one row after the other.

use super::{CellProblem, GrowingColumn, TableBuilder, check_text};
use crate::date::Date;
use crate::read::interner::ABSENT;
use crate::read::{LIMITS, ReadLimits};
use crate::{Kind, TableError};

/// One cell of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    Missing,
    Integer(i64),
    /// A finite number.
    Float(f64),
    /// Days since 1970-01-01.
    Date(i32),
    Text(&'a str),
    /// A text as it was received: it is checked when a column first meets it.
    Bytes(&'a [u8]),
}

impl TableBuilder {
    /// A table without rows whose source declares the kind of each column; where it does not, all
    /// texts of the column together decide. `place` names the source in errors.
    ///
    /// ```
    /// use hedgerow_table::read::{Cell, ReadOptions};
    /// use hedgerow_table::{Kind, TableBuilder};
    ///
    /// let columns = vec![("zip".to_owned(), Some(Kind::Category))];
    /// let mut builder = TableBuilder::of_rows(columns, "people.db")?;
    /// builder.push_cells(&[Cell::Text("10001")])?;
    /// let table = builder.finish(&ReadOptions::default())?;
    /// assert_eq!(table.columns[0].domain.kind(), Kind::Category);
    /// # Ok::<(), hedgerow_table::TableError>(())
    /// ```
    pub fn of_rows(columns: Vec<(String, Option<Kind>)>, place: &str) -> Result<TableBuilder, TableError> {
        let (names, kinds): (Vec<String>, Vec<Option<Kind>>) = columns.into_iter().unzip();
        let mut builder = TableBuilder::of_stored_values(names, place, &LIMITS)?;
        for (column, kind) in builder.columns.iter_mut().zip(kinds) {
            column.kind = kind;
        }
        Ok(builder)
    }

    /// Appends one row. A cell that its column's kind cannot take is found by
    /// [`TableBuilder::finish`], since the options may declare another kind. After an error the
    /// builder is of no use.
    pub fn push_cells(&mut self, cells: &[Cell<'_>]) -> Result<(), TableError> {
        if cells.len() != self.columns.len() {
            let problem = format!("{} cells for {} columns", cells.len(), self.columns.len());
            return Err(TableError::Internal(problem));
        }
        self.check_rows(1)?;
        for (place, cell) in cells.iter().enumerate() {
            let column = &mut self.columns[place];
            match column.code_of(*cell, &self.limits) {
                Ok(code) => column.push(code),
                Err(problem) => return Err(self.refuse(self.rows, &self.columns[place], problem)),
            }
        }
        self.rows += 1;
        Ok(())
    }
}

impl GrowingColumn {
    /// Numbers are looked up by their bits only where the column can hold no others.
    fn code_of(&mut self, cell: Cell<'_>, limits: &ReadLimits) -> Result<u32, CellProblem> {
        Ok(match (cell, self.kind) {
            (Cell::Missing, _) => ABSENT,
            (Cell::Float(value), _) if !value.is_finite() => {
                return Err((format!("`{value}` is not a number"), "store a value that is unknown as NULL"));
            }
            (Cell::Integer(value), Some(Kind::Integer)) => self.number(value as u64, &value),
            (Cell::Float(value), Some(Kind::Float)) => self.number(value.to_bits(), &value),
            (Cell::Date(day), Some(Kind::Date)) => self.number(day as u64, &Date(day)),
            (Cell::Integer(value), _) => self.dictionary.code(value.to_string().as_bytes()),
            (Cell::Float(value), _) => self.dictionary.code(value.to_string().as_bytes()),
            (Cell::Date(day), _) => self.dictionary.code(Date(day).to_string().as_bytes()),
            (Cell::Text(text), _) => self.code_of_text(text.as_bytes(), limits)?,
            (Cell::Bytes(text), _) => self.code_of_text(text, limits)?,
        })
    }

    /// Most texts were met before, and these were checked.
    fn code_of_text(&mut self, text: &[u8], limits: &ReadLimits) -> Result<u32, CellProblem> {
        if let Some(code) = self.dictionary.known(text) {
            return Ok(code);
        }
        let hint = "store texts in UTF-8, or leave the column out by a query";
        let checked = std::str::from_utf8(text).map_err(|_| ("a text that is not UTF-8".to_owned(), hint))?;
        check_text(checked, limits)?;
        Ok(self.dictionary.code(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;
    use crate::read::ReadOptions;

    fn table(kind: Option<Kind>, cells: &[Cell<'_>]) -> Result<Table, TableError> {
        let mut builder = TableBuilder::of_rows(vec![("x".to_owned(), kind)], "people.db").unwrap();
        cells.iter().try_for_each(|&cell| builder.push_cells(&[cell]))?;
        builder.finish(&ReadOptions::default())
    }

    fn texts(table: &Table) -> Vec<String> {
        (0..table.rows).map(|row| table.columns[0].text(row)).collect()
    }

    #[test]
    fn the_declared_kind_holds_whatever_the_values_look_like() {
        let found = table(Some(Kind::Category), &[Cell::Text("7"), Cell::Text("8")]).unwrap();
        assert_eq!(found.columns[0].domain.kind(), Kind::Category);
        let found = table(None, &[Cell::Text("7"), Cell::Text("8")]).unwrap();
        assert_eq!(found.columns[0].domain.kind(), Kind::Integer, "undeclared: the texts decide");
        let found = table(Some(Kind::Float), &[Cell::Float(1.0), Cell::Integer(1), Cell::Missing]).unwrap();
        assert_eq!(
            (found.columns[0].domain.kind(), texts(&found)),
            (Kind::Float, vec!["1".into(), "1".into(), "".into()])
        );
        let found = table(Some(Kind::Date), &[Cell::Date(0), Cell::Text("2024-01-31")]).unwrap();
        assert_eq!(texts(&found), ["1970-01-01", "2024-01-31"]);
    }

    #[test]
    fn values_of_another_kind_are_refused_with_their_row() {
        let error = table(Some(Kind::Integer), &[Cell::Integer(1), Cell::Text("x")]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: row 2, column x: `x` is not an integer"), "{error}");
        let error = table(Some(Kind::Float), &[Cell::Float(f64::NAN)]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: row 1, column x: `NaN` is not a number"), "{error}");
        let bytes = [Cell::Bytes(b"a"), Cell::Bytes(b"a"), Cell::Bytes(b"a\xff")];
        let error = table(None, &bytes).unwrap_err().to_string();
        assert!(error.starts_with("people.db: row 3, column x: a text that is not UTF-8"), "{error}");
        let error = table(None, &[Cell::Bytes(b"a"), Cell::Bytes(b"a\0")]).unwrap_err().to_string();
        assert!(error.contains("row 2, column x") && error.contains("NUL"), "{error}");
        let error = table(Some(Kind::Float), &[]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: the table has no rows"), "{error}");
    }
}
