//! Rows under `*` and HAVING: they can be of any group, and are judged as a group of their own. A
//! note says so, since no line does where HAVING keeps them out.

use std::collections::BTreeMap;

use super::buckets::UNKNOWN_VALUE;
use super::columns::Columns;
use crate::estimate::axis::Under;

/// The columns in groups of which `*` stands, each with whether all such groups are listed.
#[derive(Debug, Default)]
pub(super) struct UnderTop(BTreeMap<usize, bool>);

impl UnderTop {
    /// Takes a group of rows by its labels of the columns that are grouped by.
    pub(super) fn see(&mut self, grouped: &[usize], group: &[u32], columns: &Columns<'_>, is_listed: bool) {
        for (&column, &code) in grouped.iter().zip(group) {
            let under = columns.all[column].axis.under.get(code as usize);
            if code == UNKNOWN_VALUE || matches!(under, Some(Under::Everything)) {
                *self.0.entry(column).or_insert(true) &= is_listed;
            }
        }
    }

    pub(super) fn notes(&self, columns: &Columns<'_>) -> Vec<String> {
        let note = |(column, is_listed): (&usize, &bool)| {
            let unlisted = if *is_listed { "" } else { ", which is not listed" };
            format!(
                "rows under `*` of `{}` can be of any group: HAVING judges them as one of their own{unlisted}",
                columns.all[*column].column.name
            )
        };
        self.0.iter().map(note).collect()
    }
}
