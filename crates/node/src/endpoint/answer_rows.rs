//! The result of a statement, before it is sent: columns with names and types, rows of values,
//! and the memory that they hold.

use super::budget::HeldBytes;
use super::copy::CopyFormat;
use super::kind::{SqlType, SqlValue};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) name: String,
    pub(super) kind: SqlType,
}

/// An answer as rows.
#[derive(Debug, Default)]
pub(super) struct AnswerRows {
    pub(super) headings: Vec<Heading>,
    pub(super) rows: Vec<Vec<SqlValue>>,
    /// Notes for the reader.
    pub(super) notes: Vec<String>,
    /// The memory that the rows take, where they are many.
    pub(super) held: Option<HeldBytes>,
}

/// The result of a statement.
#[derive(Debug)]
pub(super) enum StatementResult {
    /// With the first word of the tag that says how many rows were sent.
    Rows(AnswerRows, &'static str),
    Copy(AnswerRows, CopyFormat),
    Tag(String),
}
