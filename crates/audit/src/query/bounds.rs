//! Bounds on the work for an answer, for servers that answer statements of clients they do not
//! trust.

use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_table::{InputError, TableError};

/// The limits of an answer.
pub struct Bounds<'a> {
    /// The most lines of the answer.
    pub lines_max: usize,
    /// The most bytes of memory, as far as they depend on the statement.
    pub bytes_max: usize,
    /// Whether the answer is no longer wanted; called from several threads, and often.
    pub canceled: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bounds({} lines, {} bytes)", self.lines_max, self.bytes_max)
    }
}

impl Bounds<'_> {
    pub(super) const NONE: Bounds<'static> =
        Bounds { lines_max: usize::MAX, bytes_max: usize::MAX, canceled: &|| false };
}

/// The bounds of one answer, and what it has used of them.
pub(super) struct Meter<'a> {
    bounds: &'a Bounds<'a>,
    bytes: AtomicUsize,
}

impl<'a> Meter<'a> {
    pub(super) fn new(bounds: &'a Bounds<'a>) -> Meter<'a> {
        Meter { bounds, bytes: AtomicUsize::new(0) }
    }

    /// Counts memory; false when the work should stop.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) <= self.bounds.bytes_max
    }

    /// Whether the work should stop.
    pub(super) fn is_over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.bounds.bytes_max || (self.bounds.canceled)()
    }

    pub(super) fn check_lines(&self, lines: usize) -> Result<(), AnswerError> {
        if lines <= self.bounds.lines_max { Ok(()) } else { Err(AnswerError::TooManyLines(self.bounds.lines_max)) }
    }

    /// An error when the work was stopped, or has to be.
    pub(super) fn check(&self) -> Result<(), AnswerError> {
        match self.is_over() {
            false => Ok(()),
            true if (self.bounds.canceled)() => Err(AnswerError::Table(TableError::Canceled)),
            true => Err(AnswerError::TooManyBytes(self.bounds.bytes_max)),
        }
    }
}

/// Why a query was not answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The statement is not one that is answered, or the answer was canceled.
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("the answer has more than {0} rows")]
    TooManyLines(usize),
    #[error("the answer takes more than {0} bytes of memory")]
    TooManyBytes(usize),
}

impl From<InputError> for AnswerError {
    fn from(error: InputError) -> AnswerError {
        AnswerError::Table(error.into())
    }
}

impl From<AnswerError> for TableError {
    fn from(error: AnswerError) -> TableError {
        match error {
            AnswerError::Table(error) => error,
            other => TableError::input("SQL", other.to_string(), "use LIMIT, GROUP BY or fewer columns"),
        }
    }
}
