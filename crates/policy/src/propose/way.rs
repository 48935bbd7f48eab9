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
