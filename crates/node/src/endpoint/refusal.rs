//! Refusals of a statement, each with its code of SQLSTATE, as PostgreSQL's clients expect them.

use hedgerow_table::TableError;

/// Why a statement is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatementRefusal {
    pub(super) code: &'static str,
    pub(super) problem: String,
    pub(super) hint: String,
}

pub(super) const UNSUPPORTED: &str = "0A000";
pub(super) const SYNTAX: &str = "42601";
pub(super) const READ_ONLY: &str = "25006";
pub(super) const UNKNOWN_TABLE: &str = "42P01";
pub(super) const UNKNOWN_COLUMN: &str = "42703";
pub(super) const UNKNOWN_FUNCTION: &str = "42883";
pub(super) const UNKNOWN_SETTING: &str = "42704";
pub(super) const BAD_VALUE: &str = "22023";
pub(super) const NOT_PERMITTED: &str = "42501";
pub(super) const CANCELED: &str = "57014";
pub(super) const TOO_MUCH: &str = "54000";
pub(super) const FAILED_TRANSACTION: &str = "25P02";
pub(super) const UNKNOWN_STATEMENT: &str = "26000";
pub(super) const UNKNOWN_PORTAL: &str = "34000";
pub(super) const PROTOCOL: &str = "08P01";
pub(super) const NOT_READY: &str = "57P03";
pub(super) const INTERNAL: &str = "XX000";
pub(super) const TOO_MANY: &str = "53400";
pub(super) const OUT_OF_MEMORY: &str = "53200";
pub(super) const TOO_MANY_CONNECTIONS: &str = "53300";
pub(super) const NOT_UTF8: &str = "22021";
pub(super) const NO_TRANSACTION: &str = "25P01";
pub(super) const FORWARD_ONLY: &str = "55000";

impl StatementRefusal {
    pub(super) fn new(code: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> StatementRefusal {
        StatementRefusal { code, problem: problem.into(), hint: hint.into() }
    }

    pub(super) fn unsupported(what: impl std::fmt::Display, hint: impl Into<String>) -> StatementRefusal {
        StatementRefusal::new(UNSUPPORTED, format!("{what} is not answered"), hint)
    }
}

/// Errors of the SQL reader name what they refuse.
impl From<TableError> for StatementRefusal {
    fn from(error: TableError) -> StatementRefusal {
        match error {
            TableError::Input(error) => {
                let unknown = error.problem.starts_with("the release has no column");
                StatementRefusal::new(if unknown { UNKNOWN_COLUMN } else { UNSUPPORTED }, error.problem, error.hint)
            }
            TableError::Canceled => {
                StatementRefusal::new(CANCELED, "the statement was canceled, or its time is over", "")
            }
            // Paths and the state of the disk are not shown to analysts.
            _ => StatementRefusal::new(INTERNAL, "the release cannot be read at this node", "ask its operator"),
        }
    }
}
