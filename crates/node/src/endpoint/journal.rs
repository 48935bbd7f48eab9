//! The journal as a table for auditors: everything that happened at this node. What a run opened to
//! its custodians is for them alone, so that of these rows the detail stays out.

use std::path::Path;

use rusqlite::types::Value;

use super::budget::HeldBytes;
use super::refusal::{INTERNAL, StatementRefusal, TOO_MUCH};
use crate::disk::{self, JournalRow};
use crate::journal::What;
use crate::store::StoreError;

/// The table's columns with their types.
pub(super) const COLUMNS: [(&str, &str); 7] = [
    ("number", "int8"),
    ("at", "text"),
    ("what", "text"),
    ("run", "text"),
    ("who", "text"),
    ("detail", "text"),
    ("hash", "text"),
];

/// Above it, the file itself is to be read.
const ROWS_MAX: usize = 1_000_000;

pub(super) type JournalTableRow = [Value; COLUMNS.len()];

/// All rows, after the chain of hashes was verified. Their memory counts in `held`.
pub(super) fn read(data: &Path, held: &mut HeldBytes) -> Result<Vec<JournalTableRow>, StatementRefusal> {
    let (mut rows, mut refused) = (Vec::new(), None);
    let mut add = |line: &JournalRow| {
        let bytes = size_of::<JournalTableRow>() + line.record.detail.text().len() + line.record.who.len();
        // Once here, and once in the catalog.
        if rows.len() == ROWS_MAX {
            return Err(StoreError(String::new()));
        }
        if let Err(refusal) = held.add(2 * bytes) {
            refused = Some(StatementRefusal { hint: "read journal.db itself".to_owned(), ..refusal });
            return Err(StoreError(String::new()));
        }
        rows.push(row(line));
        Ok(())
    };
    let read = disk::read_journal(data, &mut add);
    if let Some(refusal) = refused {
        return Err(refusal);
    }
    match read {
        Ok(_) => Ok(rows),
        Err(_) if rows.len() == ROWS_MAX => Err(StatementRefusal::new(
            TOO_MUCH,
            format!("the journal has more than {ROWS_MAX} rows"),
            "read journal.db itself",
        )),
        Err(_) => {
            let hint = "at the node, `hedgerow-node journal` says where";
            Err(StatementRefusal::new(INTERNAL, "the journal cannot be read, or its chain of hashes is broken", hint))
        }
    }
}

fn row(line: &JournalRow) -> JournalTableRow {
    let record = &line.record;
    let text = |text: String| Value::Text(text);
    let detail = match record.what {
        What::Disclosed => Value::Null,
        _ => text(record.detail.to_string()),
    };
    [
        Value::Integer(i64::try_from(line.number).unwrap_or(i64::MAX)),
        text(crate::clock::text(record.at)),
        text(record.what.name().to_owned()),
        record.run.map_or(Value::Null, |run| text(run.to_string())),
        text(record.who.clone()),
        detail,
        text(line.hash.to_string()),
    ]
}
