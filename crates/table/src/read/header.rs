//! Column names that a policy can refer to: none empty, none twice.

use std::collections::HashMap;

use super::ReadLimits;
use crate::TableError;

/// `place` is the file, with the line where the format has lines.
pub(super) fn check_names(place: &str, names: &[String], limits: &ReadLimits) -> Result<(), TableError> {
    if names.len() > limits.columns {
        return Err(TableError::input(
            place,
            format!("{} columns; at most {} can be read", names.len(), limits.columns),
            "check the delimiter, or keep only the columns that are needed",
        ));
    }
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(TableError::input(
                place,
                format!("column {} of {} has no name", index + 1, names.len()),
                "give every column a name; an unnamed first column is often a row index written by a data frame",
            ));
        }
        if let Some(first) = seen.insert(name, index) {
            return Err(TableError::input(
                place,
                format!("columns {} and {} are both named `{}`", first + 1, index + 1, shorten(name)),
                "give every column a name of its own; if the first line is a row, put a line with the names before it",
            ));
        }
    }
    Ok(())
}

/// A text as it may stand in an error: its first 40 characters.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
