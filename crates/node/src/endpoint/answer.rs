//! Answers over an epoch, with the same numbers as `hedgerow query`: an estimate in
//! the place of each aggregate, and what is certain and possible as columns after the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow_audit::query::parts::Outline;
use hedgerow_audit::query::{self, Answer, AnswerCell, AnswerError, Bounds, ColumnKind, Select};
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_smc::Digest;
use hedgerow_table::progress::NoProgress;

use super::answer_rows::{AnswerRows, Heading};
use super::budget::HeldBytes;
use super::catalog::{CatalogColumn, Until};
use super::kind::{SqlType, SqlValue};
use super::refusal::{INTERNAL, NOT_READY, StatementRefusal, TOO_MUCH};
use crate::outlines::Outlines;
use crate::part::Common;
use crate::question::{Totals, Unanswered};

/// The most epochs whose releases are kept in memory.
const EPOCHS_MAX: usize = 4;

/// The limits of an answer, and its columns.
#[derive(Debug)]
pub(super) struct AnswerLimits {
    /// Whether what is certain and possible is shown.
    pub(super) bounds: bool,
    pub(super) rows_max: usize,
    pub(super) held: HeldBytes,
    pub(super) until: Until,
}

/// The epochs of this node, read once. They are never changed.
#[derive(Debug)]
pub(super) struct Epochs {
    data: PathBuf,
    outlines: Arc<Outlines>,
    terms: Digest,
    open: Mutex<BTreeMap<u64, Epoch>>,
}

/// The data of an epoch at this node.
#[derive(Debug, Clone)]
pub(super) enum Epoch {
    /// The release, from which it answers.
    Whole(Arc<Release>),
    /// Rows are apart: this says what columns there are, and all custodians answer.
    Apart(Arc<Outline>),
}

impl Epoch {
    pub(super) fn release(&self) -> &Release {
        match self {
            Epoch::Whole(release) => release,
            Epoch::Apart(outline) => outline.release(),
        }
    }
}

impl Epochs {
    pub(super) fn new(data: &Path, outlines: &Arc<Outlines>, terms: Digest) -> Epochs {
        let (data, outlines) = (data.to_path_buf(), Arc::clone(outlines));
        Epochs { data, outlines, terms, open: Mutex::new(BTreeMap::new()) }
    }

    pub(super) fn get(&self, number: u64) -> Result<Epoch, StatementRefusal> {
        let unread = || {
            StatementRefusal::new(INTERNAL, format!("epoch {number} cannot be read at this node"), "see its operator")
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(epoch) = open.get(&number) {
            return Ok(epoch.clone());
        }
        let epoch = match Common::read(&crate::query::folder(&self.data, number)).map_err(|_| unread())? {
            Some(common) if common.terms.0 != self.terms => {
                let problem = format!("epoch {number} was published under other terms than those of today");
                return Err(StatementRefusal::new(NOT_READY, problem, "its rows cannot be queried any more"));
            }
            Some(common) => Epoch::Apart(self.outlines.of(number, &common.classes).map_err(|_| unread())?),
            None => {
                let path = crate::query::place(&self.data, number);
                Epoch::Whole(Arc::new(Release::open(&path, &NoProgress).map_err(|_| unread())?))
            }
        };
        while open.len() >= EPOCHS_MAX {
            open.pop_first();
        }
        open.insert(number, epoch.clone());
        Ok(epoch)
    }
}

impl From<Unanswered> for StatementRefusal {
    fn from(unanswered: Unanswered) -> StatementRefusal {
        match unanswered {
            Unanswered::Refused(error) => error.into(),
            Unanswered::Failed { why, about } => {
                let hint = match about {
                    Some(name) => format!("all custodians answer together, and {name} did not: try again later"),
                    None => "try again later".to_owned(),
                };
                StatementRefusal::new(NOT_READY, why, hint)
            }
        }
    }
}

impl From<AnswerError> for StatementRefusal {
    fn from(error: AnswerError) -> StatementRefusal {
        match error {
            AnswerError::Table(error) => error.into(),
            other => StatementRefusal::new(TOO_MUCH, other.to_string(), "use LIMIT, GROUP BY or fewer columns"),
        }
    }
}

/// An answer from what all custodians counted.
pub(super) fn answer_totals(
    totals: &Totals,
    select: &Select,
    limits: AnswerLimits,
) -> Result<AnswerRows, StatementRefusal> {
    let answered = totals.with_release(|release| answer(release, select, limits));
    answered.unwrap_or_else(|| Err(StatementRefusal::new(INTERNAL, "the custodians counted what no rows have", "")))
}

/// The columns of the table `data`, for the catalog.
pub(super) fn columns(release: &Release) -> Vec<CatalogColumn> {
    let ReleaseTables::Generalized(released) = release.tables() else { return Vec::new() };
    let column = |column: &hedgerow_table::Column| {
        let values = release.codebook().labels(&column.name).len();
        let kind = if column.domain.kind().is_number() { SqlType::Numeric } else { SqlType::Text };
        let description = match values {
            0 => "as in the source".to_owned(),
            _ => format!("{values} labels; what each covers is in the release's codebook"),
        };
        CatalogColumn { name: column.name.clone(), kind, description }
    };
    released.table.columns.iter().map(column).collect()
}

/// Which columns an answer would have.
pub(super) fn describe(release: &Release, select: &Select, bounds: bool) -> Result<Vec<Heading>, StatementRefusal> {
    Ok(headings(&query::columns(release, select)?, bounds))
}

pub(super) fn answer(release: &Release, select: &Select, limits: AnswerLimits) -> Result<AnswerRows, StatementRefusal> {
    let AnswerLimits { bounds, rows_max, mut held, until } = limits;
    // The answer and its rows are in memory at the same time.
    let bytes_max = held.left() / 2;
    let canceled = || until.is_over();
    let bounds_of_answer = Bounds { lines_max: rows_max, bytes_max, canceled: &canceled };
    let answer = query::answer_within(release, select, &bounds_of_answer)?;
    let headings = headings(&answer.columns, bounds);
    held.add_headings(&headings)?;
    let mut rows = Vec::with_capacity(answer.lines.len());
    for cells in &answer.lines {
        let row = row(&answer, cells, bounds)?;
        held.add_row(&row)?;
        rows.push(row);
    }
    Ok(AnswerRows { headings, rows, notes: answer.notes, held: Some(held) })
}

fn headings(columns: &[query::AnswerColumn], bounds: bool) -> Vec<Heading> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for query::AnswerColumn { name, kind } in columns {
        let heading = |name: String, kind: SqlType| Heading { name, kind };
        match kind {
            ColumnKind::Label { number } => {
                first.push(heading(name.clone(), if *number { SqlType::Numeric } else { SqlType::Text }));
            }
            ColumnKind::Count | ColumnKind::Amount => {
                first.push(heading(name.clone(), SqlType::Float8));
                let kind = if *kind == ColumnKind::Count { SqlType::Int8 } else { SqlType::Float8 };
                last.extend(["certain", "possible"].map(|bound| heading(format!("{name}_{bound}"), kind)));
            }
            ColumnKind::Day => {
                first.push(heading(name.clone(), SqlType::Text));
                last.extend(["certain", "possible"].map(|bound| heading(format!("{name}_{bound}"), SqlType::Text)));
            }
            ColumnKind::Share => {
                last.extend([heading("certain".to_owned(), SqlType::Bool), heading(name.clone(), SqlType::Float8)]);
            }
        }
    }
    if bounds {
        first.append(&mut last);
    }
    first
}

fn row(answer: &Answer, cells: &[AnswerCell], bounds: bool) -> Result<Vec<SqlValue>, StatementRefusal> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    // What is unknown or unbounded is null, as in JSON.
    let finite = |value: f64| if value.is_finite() { SqlValue::Float(value) } else { SqlValue::Null };
    for (cell, column) in cells.iter().zip(&answer.columns) {
        match cell {
            AnswerCell::Label(None) => first.push(SqlValue::Null),
            AnswerCell::Label(Some(text)) => {
                let number = column.kind == (ColumnKind::Label { number: true });
                if number && text.parse::<f64>().is_err() {
                    return Err(StatementRefusal::new(INTERNAL, "a label in a column of numbers is not a number", ""));
                }
                first.push(SqlValue::Text(text.clone()));
            }
            AnswerCell::Estimate(found) if column.kind == ColumnKind::Day => {
                let day = |day: f64| query::day_of(day).map_or(SqlValue::Null, SqlValue::Text);
                first.push(day(found.estimate));
                last.extend([day(found.certain), day(found.possible)]);
            }
            AnswerCell::Estimate(found) => {
                first.push(finite(found.estimate));
                for bound in [found.certain, found.possible] {
                    last.push(match column.kind {
                        ColumnKind::Count if bound.is_finite() => SqlValue::Int(bound as i64),
                        _ => finite(bound),
                    });
                }
            }
            AnswerCell::Share { share, certain } => last.extend([SqlValue::Bool(*certain), finite(*share)]),
        }
    }
    if bounds {
        first.append(&mut last);
    }
    Ok(first)
}
