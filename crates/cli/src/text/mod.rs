//! Reports as text: tables aligned for a person. Programs read the same reports as JSON.

pub(crate) mod answer;
mod audit;
mod compared;
mod decomposed;
mod measures;

pub(crate) use audit::AuditText;
pub(crate) use compared::ComparedText;
pub(crate) use measures::MeasuresText;

/// The sizes of classes, for a line of text: `3 to 8 rows`, or `2 rows` if all are equal.
pub(crate) fn row_range(min: u64, max: u64) -> String {
    match (min, max) {
        (1, 1) => "1 row".to_owned(),
        (min, max) if min == max => format!("{min} rows"),
        (min, max) => format!("{min} to {max} rows"),
    }
}
