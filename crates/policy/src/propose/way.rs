//! One way of generalizing a column, as the makers of hierarchies return it and the writer prints
//! it.

use hedgerow_table::hierarchy::{Bound, DateUnit};

/// How a column would be generalized.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// The value, then `*`.
    None,
    Widths(Vec<f64>),
    Breaks(Vec<Vec<Bound>>),
    Mask(usize),
    Dates(Vec<DateUnit>),
    /// The text of a file in ARX's layout, with this many levels below the top.
    File {
        text: String,
        levels: usize,
    },
}

impl Way {
    /// Levels between the values and the top.
    pub(super) fn levels(&self) -> usize {
        match self {
            Way::None => 0,
            Way::Widths(widths) => widths.len(),
            Way::Breaks(levels) => levels.len(),
            Way::Mask(characters) => characters.saturating_sub(1),
            Way::Dates(units) => units.len(),
            Way::File { levels, .. } => *levels,
        }
    }
}

/// A number as TOML has it: whole ones without a point, unless they are too large to be integers
/// there.
pub(super) fn number(bound: Bound) -> String {
    match bound {
        Bound::Integer(value) => value.to_string(),
        Bound::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{}", value as i64),
        Bound::Float(value) if (1e-5..1e15).contains(&value.abs()) => value.to_string(),
        Bound::Float(value) => format!("{value:e}"),
        Bound::Date(date) => date.to_string(),
    }
}
