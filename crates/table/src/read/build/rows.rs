//! Rows of a database: cells of declared kinds, one row after the other.

use super::{Growing, Problem, TableBuilder, check_text};
use crate::date::Date;
use crate::read::LIMITS;
use crate::read::interner::ABSENT;
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
    /// [`TableBuilder::finish`], since the options may declare another kind.
    pub fn push_cells(&mut self, cells: &[Cell<'_>]) -> Result<(), TableError> {
        if cells.len() != self.columns.len() {
            let problem = format!("{} cells for {} columns", cells.len(), self.columns.len());
            return Err(TableError::Internal(problem));
        }
        self.check_rows(1)?;
        for (column, cell) in self.columns.iter().zip(cells) {
            self.check_cell(*cell).map_err(|problem| self.refuse(self.rows, column, problem))?;
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let code = column.code_of(*cell);
            column.push(code);
        }
        self.rows += 1;
        Ok(())
    }

    fn check_cell(&self, cell: Cell<'_>) -> Result<(), Problem> {
        match cell {
            Cell::Text(text) => check_text(text, &self.limits),
            Cell::Float(value) if !value.is_finite() => {
                Err((format!("`{value}` is no number"), "store a value that is unknown as NULL"))
            }
            _ => Ok(()),
        }
    }
}

impl Growing {
    /// Numbers are looked up by their bits only where the column can hold no others.
    fn code_of(&mut self, cell: Cell<'_>) -> u32 {
        match (cell, self.kind) {
            (Cell::Missing, _) => ABSENT,
            (Cell::Integer(value), Some(Kind::Integer)) => self.number(value as u64, &value),
            (Cell::Float(value), Some(Kind::Float)) => self.number(value.to_bits(), &value),
            (Cell::Date(day), Some(Kind::Date)) => self.number(day as u64, &Date(day)),
            (Cell::Integer(value), _) => self.dictionary.code(value.to_string().as_bytes()),
            (Cell::Float(value), _) => self.dictionary.code(value.to_string().as_bytes()),
            (Cell::Date(day), _) => self.dictionary.code(Date(day).to_string().as_bytes()),
            (Cell::Text(text), _) => self.dictionary.code(text.as_bytes()),
        }
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
    fn what_a_kind_cannot_take_is_refused_with_its_row() {
        let error = table(Some(Kind::Integer), &[Cell::Integer(1), Cell::Text("x")]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: row 2, column x: `x` is not an integer"), "{error}");
        let error = table(Some(Kind::Float), &[Cell::Float(f64::NAN)]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: row 1, column x: `NaN` is no number"), "{error}");
        let error = table(Some(Kind::Float), &[]).unwrap_err().to_string();
        assert!(error.starts_with("people.db: there are no rows"), "{error}");
    }
}
