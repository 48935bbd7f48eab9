//! The column that a hierarchy is being built for, and how a refusal speaks about it.

use crate::domain::{Domain, Kind, Values, parse_float};
use crate::error::TableError;

/// The longest value an error repeats, in characters: a field can be megabytes long.
const SHOWN_MAX: usize = 60;

pub(super) struct Subject<'a> {
    pub(super) attribute: &'a str,
    /// Where the policy declares the hierarchy.
    pub(super) place: &'a str,
    pub(super) domain: &'a Domain,
    pub(super) nulls: &'a [String],
}

impl Subject<'_> {
    pub(super) fn refuse<T>(&self, problem: impl AsRef<str>, hint: impl Into<String>) -> Result<T, TableError> {
        Err(TableError::input(self.place, self.about(problem), hint))
    }

    /// A problem as a sentence that names the attribute.
    pub(super) fn about(&self, problem: impl AsRef<str>) -> String {
        format!("attribute `{}`: {}", self.attribute, problem.as_ref())
    }

    /// A column without a single value fits any hierarchy: all its cells are missing.
    pub(super) fn is_of(&self, kinds: &[Kind]) -> bool {
        self.domain.present() == 0 || kinds.contains(&self.domain.kind())
    }

    /// An empty cell that is written out is a missing one, so an empty text cannot be a value too.
    pub(super) fn refuse_empty_text(&self) -> Result<(), TableError> {
        match self.domain.values() {
            Values::Category(values) if values.first().is_some_and(|value| value.is_empty()) => self.refuse(
                "the data holds empty cells that do not count as missing",
                "list the empty text \"\" in `null` of the source",
            ),
            _ => Ok(()),
        }
    }

    /// A `*` that is written out must mean the top and nothing else.
    pub(super) fn refuse_star(&self, top: &str) -> Result<(), TableError> {
        if top == "*" && self.domain.kind() == Kind::Category && self.domain.code_of(top).is_some() {
            return self.refuse(
                "the data holds the value `*`, which is also the label of the top level",
                "list \"*\" in `null` of the source if it stands for a missing value; otherwise rename it in the data",
            );
        }
        Ok(())
    }

    /// Refuses a hierarchy of intervals for a column that has no number axis, and finds out why it
    /// has none.
    pub(super) fn refuse_not_a_number<T>(&self, family: &str) -> Result<T, TableError> {
        let Values::Category(values) = self.domain.values() else {
            let problem = format!("`{family}` needs a column of numbers, but this one holds dates");
            return self.refuse(problem, "use `dates`, `breaks` with dates as cut points, or a hierarchy file");
        };
        let problem = format!("`{family}` needs a column of numbers, but this one was read as text");
        let others = "use `mask` or a hierarchy file";
        let Some(odd) = values.iter().find(|value| parse_float(value).is_none()) else {
            return self.refuse(problem, format!("declare the column as integer or float; or {others}"));
        };
        if values.iter().all(|value| parse_float(value).is_none()) {
            return self.refuse(format!("{problem}, for example {}", shown(odd)), others);
        }
        self.refuse(
            format!("{problem} because of values such as {}", shown(odd)),
            format!("list {} in `null` of the source if it stands for a missing value; otherwise {others}", shown(odd)),
        )
    }
}

/// A value as an error shows it.
pub(super) fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => format!("`{}…`", &value[..cut]),
        None => format!("`{value}`"),
    }
}
