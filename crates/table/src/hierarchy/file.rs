//! A hierarchy written out in a file, in ARX's layout: one row per leaf, `leaf;level 1;…;top`, no
//! header.
//!
//! The file may know more leaves than the data holds; they count as leaves and appear in the
//! covers, because what a label stands for must not depend on who is in the data. A row whose leaf
//! is one of the texts for a missing value is for the missing value; without such a row the missing
//! value stays by itself until the top.

use std::borrow::Cow;
use std::path::Path;

use hashbrown::HashMap;

use super::file_cover::{self, Leaves};
use super::levels::{self, missing_label};
use super::subject::{Subject, shown};
use super::{LEVELS_MAX, Label, LeavesUnder, Level};
use crate::error::{InputError, TableError};
use crate::records::{Records, detect_delimiter, read_text};

const BYTES_MAX: u64 = 64 << 20;
const ROWS_MAX: usize = 1_000_000;
/// How many of the values that a file lacks an error names.
const LACKING_SHOWN: usize = 5;

/// The levels, and how many leaves there are in all.
pub(super) fn build(path: &Path, subject: &Subject<'_>) -> Result<(Vec<Level>, u64), TableError> {
    let file = HierarchyFile { path, subject };
    file.check_exists()?;
    let text = read_text(path, BYTES_MAX)?;
    let rows = file.rows(&text)?;
    file.levels(&rows)
}

/// The levels above one that is released in place of the values, whose labels are the leaves then;
/// and which leaves of the file lie under each.
pub(super) fn build_above(
    path: &Path,
    level: usize,
    subject: &Subject<'_>,
    nulls: &[String],
) -> Result<(Vec<Level>, u64, LeavesUnder), TableError> {
    let file = HierarchyFile { path, subject };
    file.check_exists()?;
    let text = read_text(path, BYTES_MAX)?;
    let rows = file.rows(&text)?;
    let mut under = LeavesUnder::new();
    let mut above = LevelRows { width: rows.width - level, cells: Vec::new(), lines: Vec::new() };
    for row in 0..rows.len() {
        let label = rows.cell(row, level);
        if !under.contains_key(label) {
            above.lines.push(rows.line(row));
            above.cells.extend((level..rows.width).map(|level| Cow::Owned(rows.cell(row, level).to_owned())));
        }
        let leaf = rows.cell(row, 0);
        let leaf = if nulls.iter().any(|null| null == leaf) { "" } else { leaf };
        under.entry_ref(label).or_default().push(leaf.to_owned());
    }
    let (levels, leaves) = file.levels(&above)?;
    Ok((levels, leaves, under))
}

/// The leaves that a file lists: all possible values, independent of the data.
pub(super) fn leaves(path: &Path, subject: &Subject<'_>) -> Result<Vec<String>, TableError> {
    let file = HierarchyFile { path, subject };
    file.check_exists()?;
    let text = read_text(path, BYTES_MAX)?;
    let rows = file.rows(&text)?;
    Ok((0..rows.len()).map(|row| rows.cell(row, 0).to_owned()).collect())
}

/// The file whose rows are being checked, for the errors about it.
pub(super) struct HierarchyFile<'a> {
    path: &'a Path,
    pub(super) subject: &'a Subject<'a>,
}

/// The rows of a file: all of one width, their cells in one list.
pub(super) struct LevelRows<'a> {
    width: usize,
    cells: Vec<Cow<'a, str>>,
    lines: Vec<u64>,
}

impl LevelRows<'_> {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn cell(&self, row: usize, level: usize) -> &str {
        &self.cells[row * self.width + level]
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }
}

/// The labels of one column of the file.
struct Names {
    texts: Vec<String>,
    /// For each row, which of the texts it has.
    of_row: Vec<u32>,
    /// For each text, the first row that has it.
    first_row: Vec<usize>,
}

impl HierarchyFile<'_> {
    /// The levels, and how many leaves there are in all.
    fn levels(&self, rows: &LevelRows<'_>) -> Result<(Vec<Level>, u64), TableError> {
        let domain = self.subject.domain;
        let leaves = Leaves::of(self, rows)?;
        let coarser = self.coarser_levels(rows)?;
        let row_of_code = self.rows_of_values(&leaves)?;
        self.check_top(rows, &coarser, &leaves)?;
        self.check_labels(rows, &coarser, &leaves)?;

        let missing_apart = domain.missing_code().is_some() && leaves.missing_row.is_none();
        let mut built = vec![levels::values(domain)];
        for (index, names) in coarser.iter().enumerate() {
            let is_top = index + 1 == coarser.len();
            built.push(level(names, &row_of_code, &leaves, is_top, missing_apart));
        }
        Ok((built, rows.len() as u64 + u64::from(missing_apart)))
    }

    pub(super) fn refuse_line<T>(&self, line: u64, problem: String, hint: impl Into<String>) -> Result<T, TableError> {
        Err(InputError::at_line(self.path, line, self.subject.about(problem), hint).into())
    }

    fn refuse<T>(&self, problem: String, hint: impl Into<String>) -> Result<T, TableError> {
        Err(TableError::input(self.path.display().to_string(), self.subject.about(problem), hint))
    }

    /// A path that leads nowhere is a mistake in the policy, not of the machine.
    fn check_exists(&self) -> Result<(), TableError> {
        let found = match std::fs::metadata(self.path) {
            Ok(metadata) if metadata.is_dir() => "is a directory",
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist",
            _ => return Ok(()),
        };
        let problem = format!("the hierarchy file {} {found}", self.path.display());
        self.subject.refuse(problem, "give the path of a hierarchy file, relative to the policy")
    }

    fn rows<'a>(&self, text: &'a str) -> Result<LevelRows<'a>, TableError> {
        let mut rows = LevelRows { width: 0, cells: Vec::new(), lines: Vec::new() };
        for record in Records::new(text, detect_delimiter(text)) {
            let record = record.map_err(|malformed| malformed.in_file(self.path))?;
            let width = record.fields.len();
            if rows.lines.is_empty() {
                rows.width = width;
            }
            if width > LEVELS_MAX + 1 {
                let problem = format!("the row has {} levels; at most {LEVELS_MAX} are accepted", width - 1);
                return self.refuse_line(record.line, problem, "omit some of the levels");
            }
            if width != rows.width {
                let problem = format!(
                    "the row of {} has {width} columns, but line {} has {}",
                    shown(&record.fields[0]),
                    rows.lines[0],
                    rows.width
                );
                return self.refuse_line(record.line, problem, "give every row a leaf and one label per level");
            }
            if rows.lines.len() == ROWS_MAX {
                let problem = format!("the file has more than {ROWS_MAX} rows");
                return self.refuse_line(record.line, problem, "group the values in the data first");
            }
            if let Some(level) = (1..width).find(|level| record.fields[*level].is_empty()) {
                let problem = format!("the row of {} has no label on level {level}", shown(&record.fields[0]));
                return self.refuse_line(
                    record.line,
                    problem,
                    "fill it in; a value that stays as it is repeats its text",
                );
            }
            rows.lines.push(record.line);
            rows.cells.extend(record.fields);
        }
        if rows.lines.is_empty() {
            return self.refuse("the file is empty".to_owned(), "write one row per value: leaf;level 1;…;*");
        }
        Ok(rows)
    }

    /// The labels of every level above the leaves, each level checked to be a coarsening of the one
    /// below.
    fn coarser_levels(&self, rows: &LevelRows<'_>) -> Result<Vec<Names>, TableError> {
        let mut levels: Vec<Names> = Vec::new();
        for level in 1..rows.width {
            let names = names(rows, level);
            if let Some(below) = levels.last() {
                self.check_coarser(rows, level, below, &names)?;
            }
            levels.push(names);
        }
        Ok(levels)
    }

    fn check_coarser(
        &self,
        rows: &LevelRows<'_>,
        level: usize,
        below: &Names,
        names: &Names,
    ) -> Result<(), TableError> {
        for (row, (&fine, &coarse)) in below.of_row.iter().zip(&names.of_row).enumerate() {
            let first = below.first_row[fine as usize];
            if names.of_row[first] != coarse {
                let problem = format!(
                    "level {level} is not a coarsening: {} on level {} becomes {} here but {} on line {}",
                    shown(&below.texts[fine as usize]),
                    level - 1,
                    shown(rows.cell(row, level)),
                    shown(rows.cell(first, level)),
                    rows.line(first)
                );
                let hint = format!("rows that share a label on level {} must share it on every later one", level - 1);
                return self.refuse_line(rows.line(row), problem, hint);
            }
        }
        Ok(())
    }

    /// For each value present, the row of its leaf.
    fn rows_of_values(&self, leaves: &Leaves) -> Result<Vec<usize>, TableError> {
        let domain = self.subject.domain;
        let found = leaves.rows_of(domain);
        let lacking: Vec<u32> = (0..).zip(&found).filter(|(_, row)| row.is_none()).map(|(code, _)| code).collect();
        if lacking.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let named: Vec<String> = lacking.iter().take(LACKING_SHOWN).map(|code| shown(&domain.text(*code))).collect();
        let problem = format!(
            "the file lacks {} {} that the data holds: {}{}",
            lacking.len(),
            if lacking.len() == 1 { "value" } else { "values" },
            named.join(", "),
            if lacking.len() > LACKING_SHOWN { ", …" } else { "" }
        );
        let spaced = lacking
            .iter()
            .take(LACKING_SHOWN)
            .map(|code| domain.text(*code))
            .find_map(|text| leaves.but_for_spaces(&text));
        match spaced {
            Some((leaf, line)) => {
                let hint = format!("line {line} has {}, which differs in spaces only", shown(&leaf));
                self.refuse(problem, hint)
            }
            None => self.refuse(problem, "add a row for each, or list what stands for a missing value in `null`"),
        }
    }

    /// A label that reads as a value must stand for that value and no other: `M` under the label
    /// `F` would be read as a woman.
    fn check_labels(&self, rows: &LevelRows<'_>, coarser: &[Names], leaves: &Leaves) -> Result<(), TableError> {
        for (level, names) in (1..).zip(coarser) {
            let leaf_of_name: Vec<Option<usize>> = names.texts.iter().map(|text| leaves.row_of(text)).collect();
            for (row, &name) in names.of_row.iter().enumerate() {
                let Some(leaf) = leaf_of_name[name as usize].filter(|leaf| *leaf != row) else { continue };
                let problem = format!(
                    "the label {} of {} on level {level} is the value of line {}",
                    shown(rows.cell(row, level)),
                    shown(rows.cell(row, 0)),
                    rows.line(leaf)
                );
                let hint = "name a group by a text that is not itself a value, such as `F or M`";
                return self.refuse_line(rows.line(row), problem, hint);
            }
        }
        Ok(())
    }

    fn check_top(&self, rows: &LevelRows<'_>, coarser: &[Names], leaves: &Leaves) -> Result<(), TableError> {
        let hint = "add a last column with the same label, such as `*`, in every row";
        let Some(top) = coarser.last() else {
            // The leaves are all there is, so the only hierarchy of this kind is one leaf for one
            // value.
            let apart = self.subject.domain.missing_code().is_some() && leaves.missing_row.is_none();
            if rows.len() + usize::from(apart) > 1 {
                return self.refuse("the file has one column, so the values have no common top".to_owned(), hint);
            }
            return Ok(());
        };
        if let Some(&second) = top.first_row.get(1) {
            let problem = format!(
                "the values have no common top: the last level, {}, has {} here and {} on line {}",
                rows.width - 1,
                shown(&top.texts[1]),
                shown(&top.texts[0]),
                rows.line(top.first_row[0])
            );
            return self.refuse_line(rows.line(second), problem, hint);
        }
        self.subject.refuse_star(&top.texts[0])
    }
}

fn names(rows: &LevelRows<'_>, level: usize) -> Names {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut names = Names { texts: Vec::new(), of_row: Vec::with_capacity(rows.len()), first_row: Vec::new() };
    for row in 0..rows.len() {
        let text = rows.cell(row, level);
        let number = *numbers.entry(text).or_insert_with(|| {
            names.texts.push(text.to_owned());
            names.first_row.push(row);
            names.texts.len() as u32 - 1
        });
        names.of_row.push(number);
    }
    names
}

/// One level above the leaves, its labels numbered by the first value of the data under each.
fn level(names: &Names, row_of_code: &[usize], leaves: &Leaves, is_top: bool, missing_apart: bool) -> Level {
    const UNSEEN: u32 = u32::MAX;
    let mut number_of_name = vec![UNSEEN; names.texts.len()];
    let mut used: Vec<u32> = Vec::new();
    let mut number = |name: u32, used: &mut Vec<u32>| {
        let number = &mut number_of_name[name as usize];
        if *number == UNSEEN {
            *number = used.len() as u32;
            used.push(name);
        }
        *number
    };
    let mut map: Vec<u32> = row_of_code.iter().map(|row| number(names.of_row[*row], &mut used)).collect();
    if let Some(row) = leaves.missing_row_in_use {
        map.push(number(names.of_row[row], &mut used));
    }
    if is_top {
        // The top is there even when the data is empty.
        let top = number(0, &mut used);
        if missing_apart {
            map.push(top);
        }
    }
    let covers_missing = is_top && missing_apart;
    let mut rows_under: Vec<Vec<usize>> = vec![Vec::new(); used.len()];
    for (row, &name) in names.of_row.iter().enumerate() {
        if let Some(rows) = rows_under.get_mut(number_of_name[name as usize] as usize) {
            rows.push(row);
        }
    }
    let describe = |(name, rows): (&u32, &Vec<usize>)| {
        if !is_top && leaves.missing_row.is_some_and(|missing| *rows == [missing]) {
            return missing_label();
        }
        Label {
            text: names.texts[*name as usize].clone(),
            cover: file_cover::cover(leaves, rows, covers_missing),
            leaves: rows.len() as u64 + u64::from(covers_missing),
        }
    };
    let mut labels: Vec<Label> = used.iter().zip(&rows_under).map(describe).collect();
    if missing_apart && !is_top {
        map.push(labels.len() as u32);
        labels.push(missing_label());
    }
    Level { map, labels }
}

#[cfg(test)]
mod tests;
