//! The leaves of a hierarchy's file on the axis of their column, and what a label over some of them
//! covers.

use hashbrown::HashMap;

use super::file::{HierarchyFile, LevelRows};
use super::subject::shown;
use super::{Bound, Cover};
use crate::date::Date;
use crate::domain::{Domain, Kind, Values, parse_float, parse_integer};
use crate::error::TableError;

/// The leaf of each row, checked to be of the column's kind and there only once.
pub(super) struct Leaves {
    axis: CoverAxis,
    lines: Vec<u64>,
    /// The row of the missing value.
    pub(super) missing_row: Option<usize>,
    /// The same, when the data holds a missing value.
    pub(super) missing_row_in_use: Option<usize>,
}

enum CoverAxis {
    /// Each row's text, in the order of the file, and the row of each text.
    Texts(Vec<String>, HashMap<String, usize>),
    /// Each row's number or date (the missing value has none), the rows in ascending order, and
    /// each row's place among them.
    Bounds { kind: Kind, of_row: Vec<Option<Bound>>, ascending: Vec<usize>, place: Vec<usize> },
}

impl Leaves {
    pub(super) fn of(file: &HierarchyFile<'_>, rows: &LevelRows<'_>) -> Result<Leaves, TableError> {
        let domain = file.subject.domain;
        let missing_row = missing_row(file, rows)?;
        let axis = match domain.kind() {
            Kind::Category => texts(file, rows, missing_row)?,
            kind => bounds(file, rows, missing_row, kind)?,
        };
        let lines = (0..rows.len()).map(|row| rows.line(row)).collect();
        let missing_row_in_use = missing_row.filter(|_| domain.missing_code().is_some());
        Ok(Leaves { axis, lines, missing_row, missing_row_in_use })
    }

    /// For each value present, the row of its leaf.
    pub(super) fn rows_of(&self, domain: &Domain) -> Vec<Option<usize>> {
        match (&self.axis, domain.values()) {
            (CoverAxis::Texts(_, rows), Values::Category(values)) => {
                values.iter().map(|value| rows.get(value.as_ref()).copied()).collect()
            }
            (_, Values::Integer(values)) => values.iter().map(|x| self.row_at(Bound::Integer(*x))).collect(),
            (_, Values::Float(values)) => values.iter().map(|x| self.row_at(Bound::Float(*x))).collect(),
            (_, Values::Date(values)) => values.iter().map(|x| self.row_at(Bound::Date(*x))).collect(),
            (CoverAxis::Bounds { .. }, Values::Category(values)) => vec![None; values.len()],
        }
    }

    /// The row whose leaf a text stands for.
    pub(super) fn row_of(&self, text: &str) -> Option<usize> {
        match &self.axis {
            CoverAxis::Texts(_, rows) => rows.get(text).copied(),
            CoverAxis::Bounds { kind, .. } => parse_bound(*kind, text).and_then(|bound| self.row_at(bound)),
        }
    }

    fn row_at(&self, value: Bound) -> Option<usize> {
        let CoverAxis::Bounds { of_row, ascending, .. } = &self.axis else { return None };
        let place = ascending.partition_point(|row| of_row[*row].is_some_and(|bound| bound < value));
        ascending.get(place).copied().filter(|row| of_row[*row] == Some(value))
    }

    /// A leaf that would be the given text if it were not for spaces around it, and its line.
    pub(super) fn but_for_spaces(&self, text: &str) -> Option<(String, u64)> {
        let CoverAxis::Texts(texts, _) = &self.axis else { return None };
        let row = texts.iter().position(|leaf| leaf.trim() == text.trim())?;
        Some((texts[row].clone(), self.lines[row]))
    }

    /// The text of a row's leaf as the data would print it; the missing value's is empty.
    fn text(&self, row: usize) -> String {
        match &self.axis {
            CoverAxis::Texts(texts, _) => texts[row].clone(),
            CoverAxis::Bounds { of_row, .. } => of_row[row].map_or_else(String::new, |bound| bound.to_string()),
        }
    }
}

/// The cover of a label over these rows (in the order of the file), and of the missing value too
/// when `and_missing`.
///
/// Numbers and dates that are neighbors among all leaves of the file make an interval; a label that
/// also covers the missing value, which lies on no axis, lists its leaves.
pub(super) fn cover(leaves: &Leaves, rows: &[usize], and_missing: bool) -> Cover {
    let missing_inside = leaves.missing_row.is_some_and(|missing| rows.binary_search(&missing).is_ok());
    let mut ordered = rows.to_vec();
    if let CoverAxis::Bounds { kind, of_row, place, .. } = &leaves.axis {
        ordered.sort_by_key(|row| place[*row]);
        if let ([first, .., last] | [first @ last], false) = (ordered.as_slice(), missing_inside || and_missing)
            && let Some(cover) =
                run(*kind, of_row[*first], of_row[*last], rows.len() == place[*last] - place[*first] + 1)
        {
            return cover;
        }
    }
    let listed = ordered.iter().map(|row| leaves.text(*row)).chain(and_missing.then(String::new)).collect::<Vec<_>>();
    // Nothing but the missing value under a named label: only a top can come here.
    if listed.iter().all(String::is_empty) { Cover::Everything } else { Cover::Leaves(listed) }
}

fn run(kind: Kind, first: Option<Bound>, last: Option<Bound>, contiguous: bool) -> Option<Cover> {
    let (first, last) = (first?, last?);
    if first == last {
        return Some(Cover::Point(first));
    }
    // Between two floats there is always another, so only whole numbers and days make a run.
    let after = match last {
        _ if !contiguous || kind == Kind::Float => return None,
        Bound::Integer(value) => value.checked_add(1).map(Bound::Integer),
        // No text says the day after the last one: the end is open, and nothing lies there.
        Bound::Date(_) => last.first_after(kind),
        Bound::Float(_) => return None,
    };
    Some(Cover::Interval { low: Some(first), high: after })
}

fn missing_row(file: &HierarchyFile<'_>, rows: &LevelRows<'_>) -> Result<Option<usize>, TableError> {
    let mut found: Option<usize> = None;
    for row in 0..rows.len() {
        let leaf = rows.cell(row, 0);
        if file.subject.nulls.iter().any(|null| null == leaf) {
            if let Some(first) = found {
                let problem = format!(
                    "{} stands for a missing value, and so does {} on line {}",
                    shown(leaf),
                    shown(rows.cell(first, 0)),
                    rows.line(first)
                );
                return file.refuse_line(rows.line(row), problem, "keep one row for the missing value");
            }
            found = Some(row);
        } else if leaf.is_empty() {
            let hint = "fill in the leaf, or list \"\" in `null` of the source if the row is for missing values";
            return file.refuse_line(rows.line(row), "the row has no leaf".to_owned(), hint);
        }
    }
    Ok(found)
}

fn texts(file: &HierarchyFile<'_>, rows: &LevelRows<'_>, missing_row: Option<usize>) -> Result<CoverAxis, TableError> {
    let mut texts = Vec::with_capacity(rows.len());
    let mut row_of_text: HashMap<String, usize> = HashMap::with_capacity(rows.len());
    for row in 0..rows.len() {
        if Some(row) == missing_row {
            texts.push(String::new());
            continue;
        }
        let text = rows.cell(row, 0);
        if let Some(first) = row_of_text.insert(text.to_owned(), row) {
            return refuse_repeat(file, rows, first, row);
        }
        texts.push(text.to_owned());
    }
    Ok(CoverAxis::Texts(texts, row_of_text))
}

fn bounds(
    file: &HierarchyFile<'_>,
    rows: &LevelRows<'_>,
    missing_row: Option<usize>,
    kind: Kind,
) -> Result<CoverAxis, TableError> {
    let mut of_row = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        let text = rows.cell(row, 0);
        let bound = parse_bound(kind, text);
        if bound.is_none() && Some(row) != missing_row {
            let expected = match kind {
                Kind::Integer => "an integer",
                Kind::Float => "a number",
                _ => "a date such as 2000-01-31",
            };
            let problem = format!("the leaf {} is not {expected}, as the values in the data are", shown(text));
            let hint = "write it as the data does; list it in `null` of the source if it stands for a missing value";
            return file.refuse_line(rows.line(row), problem, hint);
        }
        of_row.push(bound.filter(|_| Some(row) != missing_row));
    }
    // The missing value, which has no bound, goes to the end.
    let mut ascending: Vec<usize> = (0..rows.len()).collect();
    ascending.sort_by(|a, b| match (of_row[*a], of_row[*b]) {
        (Some(x), Some(y)) => x.partial_cmp(&y).unwrap_or(std::cmp::Ordering::Equal),
        (x, y) => x.is_none().cmp(&y.is_none()),
    });
    for pair in ascending.windows(2) {
        if of_row[pair[0]].is_some() && of_row[pair[0]] == of_row[pair[1]] {
            return refuse_repeat(file, rows, pair[0], pair[1]);
        }
    }
    let mut place = vec![0; rows.len()];
    for (index, row) in ascending.iter().enumerate() {
        place[*row] = index;
    }
    if missing_row.is_some() {
        ascending.pop();
    }
    Ok(CoverAxis::Bounds { kind, of_row, ascending, place })
}

fn parse_bound(kind: Kind, text: &str) -> Option<Bound> {
    match kind {
        Kind::Integer => parse_integer(text).map(Bound::Integer),
        Kind::Float => parse_float(text).map(Bound::Float),
        _ => Date::parse_iso(text).map(Bound::Date),
    }
}

fn refuse_repeat<T>(
    file: &HierarchyFile<'_>,
    rows: &LevelRows<'_>,
    first: usize,
    second: usize,
) -> Result<T, TableError> {
    let differing = (1..rows.width()).find(|level| rows.cell(first, *level) != rows.cell(second, *level));
    let problem = match differing {
        Some(level) => format!(
            "the leaf {} is also on line {}, with {} on level {level} there and {} here",
            shown(rows.cell(second, 0)),
            rows.line(first),
            shown(rows.cell(first, level)),
            shown(rows.cell(second, level))
        ),
        None => format!("the leaf {} is also on line {}", shown(rows.cell(second, 0)), rows.line(first)),
    };
    file.refuse_line(rows.line(second), problem, "keep one row per leaf")
}
