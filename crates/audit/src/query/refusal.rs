//! Refusals of a query: each names what is not answered and what to write instead.

use hedgerow_table::InputError;

/// The longest piece of a query that a message repeats, in characters.
const SHOWN_MAX: usize = 60;

pub(crate) fn refuse<T>(problem: impl Into<String>, hint: impl Into<String>) -> Result<T, InputError> {
    Err(InputError::new("SQL", problem, hint))
}

/// A piece of the query, cut where it is too long for a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
