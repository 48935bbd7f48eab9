//! Prepared statements, and portals: statements with their parameters, whose rows a client fetches
//! in pieces. A cursor that DECLARE makes is a portal too. The memory of all of them counts in the
//! budget of their connection.

use std::sync::Arc;

use super::answer_rows::{AnswerRows, Heading};
use super::budget::{Budget, HeldBytes, row_bytes};
use super::kind::SqlValue;
use super::refusal::{StatementRefusal, UNKNOWN_PORTAL, UNKNOWN_STATEMENT};
use super::statement::Statement;
use super::tokens::Parameter;

#[derive(Debug)]
pub(super) struct Prepared {
    /// Nothing for an empty statement.
    pub(super) statement: Option<Statement>,
    /// The number of each parameter's type.
    pub(super) types: Vec<u32>,
    _held: HeldBytes,
}

impl Prepared {
    /// Its name is the client's, and kept beside it: that is memory too.
    pub(super) fn new(
        name: &str,
        statement: Option<Statement>,
        given: &[u32],
        sql: &str,
        budget: &Budget,
    ) -> Result<Prepared, StatementRefusal> {
        let taken = statement.as_ref().map_or(Ok(0), Statement::parameters)?;
        let count = taken.max(given.len());
        let mut held = budget.hold();
        let read = statement.as_ref().map_or(0, Statement::bytes);
        held.add(name.len() + sql.len() + read + count * size_of::<u32>())?;
        // A type that a client leaves open is text, which is compared as the column requires.
        let types = (0..count).map(|place| given.get(place).copied().filter(|oid| *oid > 0).unwrap_or(25)).collect();
        Ok(Prepared { statement, types, _held: held })
    }
}

/// Rows that are not fetched yet.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) headings: Vec<Heading>,
    rows: std::vec::IntoIter<Vec<SqlValue>>,
    /// The first word of the tag that says how many rows were sent.
    pub(super) word: &'static str,
    held: Option<HeldBytes>,
}

impl Rest {
    pub(super) fn new(rows: AnswerRows, word: &'static str) -> Rest {
        Rest { headings: rows.headings, rows: rows.rows.into_iter(), word, held: rows.held }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// The next rows, with their memory: it is in use until they are sent.
    pub(super) fn fetch(&mut self, count: usize) -> (Vec<Vec<SqlValue>>, Option<HeldBytes>) {
        let rows: Vec<_> = self.rows.by_ref().take(count).collect();
        let bytes = rows.iter().map(|row| row_bytes(row)).sum();
        let held = self.held.as_mut().map(|held| held.split_off(bytes));
        if self.is_empty() {
            self.end();
        }
        (rows, held)
    }

    /// The rows are gone; the portal and the names of its columns may stay for long.
    fn end(&mut self) {
        self.rows = Vec::new().into_iter();
        if let Some(held) = &mut self.held {
            held.keep_headings(&self.headings);
        }
    }
}

impl Iterator for Rest {
    type Item = Vec<SqlValue>;

    fn next(&mut self) -> Option<Vec<SqlValue>> {
        let row = self.rows.next();
        if row.is_none() {
            self.end();
        }
        row
    }
}

#[derive(Debug)]
pub(super) struct Portal {
    /// Nothing for a cursor, which was executed when it was declared.
    pub(super) prepared: Option<Arc<Prepared>>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) formats: Vec<u16>,
    /// Once it was executed.
    pub(super) rest: Option<Rest>,
    /// Whether it outlives its transaction.
    pub(super) holds: bool,
    /// Of its name and parameters; the rows have their own.
    _held: HeldBytes,
}

impl Portal {
    pub(super) fn new(
        name: &str,
        prepared: Arc<Prepared>,
        parameters: Vec<Parameter>,
        formats: Vec<u16>,
        budget: &Budget,
    ) -> Result<Portal, StatementRefusal> {
        let text = |parameter: &Parameter| size_of::<Parameter>() + parameter.text.as_ref().map_or(0, String::capacity);
        let mut held = budget.hold();
        held.add(name.len() + parameters.iter().map(text).sum::<usize>() + size_of_val(formats.as_slice()))?;
        Ok(Portal { prepared: Some(prepared), parameters, formats, rest: None, holds: false, _held: held })
    }

    pub(super) fn cursor(
        name: &str,
        rows: AnswerRows,
        holds: bool,
        budget: &Budget,
    ) -> Result<Portal, StatementRefusal> {
        let rest = Some(Rest::new(rows, "FETCH"));
        let mut held = budget.hold();
        held.add(name.len())?;
        Ok(Portal { prepared: None, parameters: Vec::new(), formats: Vec::new(), rest, holds, _held: held })
    }
}

pub(super) fn no_statement(name: &str) -> StatementRefusal {
    let name: String = name.chars().take(60).collect();
    StatementRefusal::new(UNKNOWN_STATEMENT, format!("there is no prepared statement \"{name}\""), "")
}

pub(super) fn no_portal(name: &str) -> StatementRefusal {
    let name: String = name.chars().take(60).collect();
    StatementRefusal::new(UNKNOWN_PORTAL, format!("there is no portal or cursor \"{name}\""), "")
}
