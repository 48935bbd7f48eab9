//! From the workers' pieces to columns: dictionaries merged, typed and sorted, codes rewritten to
//! the narrowest width.

use std::ops::Range;

use super::ReadOptions;
use super::header::shorten;
use super::interner::Interner;
use super::reading::{ColumnReading, Doubt};
use crate::domain::Typed;
use crate::spill::{Kept, SpillFile};
use crate::{Codes, Column, Domain, InputError, Kind, Table, TableError, Values, parallel, with_codes};

/// One column as the workers left it.
pub(super) struct Gathered {
    pub(super) name: String,
    /// The kind that the source itself declares; the options' kind goes before it.
    pub(super) kind: Option<Kind>,
    /// Whether the cells are texts as people write them, and not numbers that a program stored.
    pub(super) is_text: bool,
    /// One per worker; `None` if that worker never met the column.
    pub(super) dictionaries: Vec<Option<Interner>>,
    /// In the order of the rows.
    pub(super) pieces: Vec<WorkerCodes>,
}

#[derive(Debug)]
pub(super) struct WorkerCodes {
    pub(super) worker: usize,
    pub(super) rows: usize,
    /// Codes of that worker's dictionary; `None` when every cell is absent.
    pub(super) codes: Option<Kept>,
}

/// The first cell whose text a declared kind cannot take.
#[derive(Debug)]
pub(super) struct Unfit {
    pub(super) row: usize,
    column: String,
    kind: Kind,
    date_format: Option<String>,
    /// Whether the text means a value, and is not how a release writes it.
    is_odd: bool,
    text: String,
}

impl Unfit {
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    pub(super) fn problem(&self) -> String {
        format!("column `{}`: {}", self.column, self.value_problem())
    }

    /// The problem, for a place that already names the column.
    pub(super) fn value_problem(&self) -> String {
        let article = if self.kind == Kind::Integer { "an" } else { "a" };
        if self.is_odd {
            return format!("`{}` is not how a release writes {article} {}", shorten(&self.text), self.kind.name());
        }
        let format = self.date_format.as_ref().map(|format| format!(" in the format `{format}`")).unwrap_or_default();
        format!("`{}` is not {article} {}{format}", shorten(&self.text), self.kind.name())
    }

    pub(super) fn hint(&self) -> &'static str {
        match self.kind {
            _ if self.is_odd => "what a value is written with beside itself is not checked: do not trust this table",
            Kind::Date if self.date_format.is_none() => {
                "declare the `date-format`, or write dates as 2024-01-31; a text that means no date can count as missing \
                 (`null`)"
            }
            _ => "mend the value, count the text as missing (null), or declare another type",
        }
    }
}

#[derive(Debug)]
pub(super) enum AssembleError {
    Unfit(Unfit),
    Table(TableError),
}

impl From<TableError> for AssembleError {
    fn from(error: TableError) -> AssembleError {
        AssembleError::Table(error)
    }
}

fn internal(what: &str) -> AssembleError {
    AssembleError::Table(TableError::Internal(what.to_owned()))
}

/// `columns` in the order of the header.
pub(super) fn assemble(
    header: Vec<String>,
    columns: Vec<Gathered>,
    rows: usize,
    place: &str,
    options: &ReadOptions,
) -> Result<Table, AssembleError> {
    let (columns, warnings) = settle_all(columns, place, options, |column| column.into_column(rows, options.file()))?;
    Ok(Table { columns, rows, header, warnings })
}

/// A column, `None` where it has no values, with a warning about it.
type Outcome<T> = Result<Option<(T, Option<InputError>)>, AssembleError>;

/// The columns, made once their values are known, and warnings. The first cell that does not fit
/// wins, whichever column it is in.
pub(super) fn settle_all<T: Send>(
    columns: Vec<Gathered>,
    place: &str,
    options: &ReadOptions,
    finish: impl Fn(Settled) -> Result<T, AssembleError> + Sync,
) -> Result<(Vec<T>, Vec<InputError>), AssembleError> {
    let settle_one = |column: Gathered| {
        let Some((column, doubt)) = settle(column, options)? else { return Ok(None) };
        let warn = |(problem, hint)| InputError::new(place, format!("column `{}` {problem}", column.name), hint);
        let warning = doubt.map(warn);
        Ok(Some((finish(column)?, warning)))
    };
    let mut outcomes: Vec<Outcome<T>> = parallel::map_items(columns, |_, column| settle_one(column));
    let first_unfit = outcomes
        .iter()
        .enumerate()
        .filter_map(|(index, outcome)| match outcome {
            Err(AssembleError::Unfit(unfit)) => Some((unfit.row, index)),
            _ => None,
        })
        .min();
    if let Some((_, index)) = first_unfit
        && let Err(error) = outcomes.swap_remove(index)
    {
        return Err(error);
    }
    let (mut finished, mut warnings) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        let Some((column, warning)) = outcome? else { continue };
        finished.push(column);
        warnings.extend(warning);
    }
    Ok((finished, warnings))
}

/// A column whose values are known: its pieces, and for every worker the way from its codes to
/// those of the domain.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) name: String,
    pub(super) domain: Domain,
    maps: Vec<Vec<u32>>,
    pieces: Vec<WorkerCodes>,
}

impl Settled {
    fn into_column(self, rows: usize, file: Option<&SpillFile>) -> Result<Column, AssembleError> {
        let Settled { name, domain, maps, pieces } = self;
        let rows = if pieces.is_empty() { 0 } else { rows };
        let mut codes = Codes::with_capacity(domain.cardinality(), rows);
        let missing_code = domain.missing_code().unwrap_or(0);
        for piece in pieces {
            let from = match piece.codes {
                Some(Kept::Memory(codes)) => Some(codes),
                Some(kept @ Kept::Disk(_)) => Some(kept.load(file, 0..piece.rows)?),
                None => None,
            };
            append(&mut codes, piece.rows, from, &maps[piece.worker], missing_code);
        }
        Ok(Column { name, domain, codes })
    }

    /// The codes of some rows.
    pub(super) fn codes(&self, file: &SpillFile, rows: Range<usize>) -> Result<Codes, TableError> {
        let mut codes = Codes::with_capacity(self.domain.cardinality(), rows.len());
        let missing_code = self.domain.missing_code().unwrap_or(0);
        let mut first = 0;
        for piece in &self.pieces {
            let range = rows.start.max(first) - first..rows.end.min(first + piece.rows).saturating_sub(first);
            first += piece.rows;
            if range.start < range.end {
                let from = piece.codes.as_ref().map(|kept| kept.load(Some(file), range.clone())).transpose()?;
                append(&mut codes, range.len(), from, &self.maps[piece.worker], missing_code);
            }
            if first >= rows.end {
                break;
            }
        }
        Ok(codes)
    }
}

/// `None` for a column that is wanted only where it has few values, and has more.
fn settle(column: Gathered, options: &ReadOptions) -> Result<Option<(Settled, Option<Doubt>)>, AssembleError> {
    let Gathered { name, kind, is_text, dictionaries, pieces } = column;
    let (merged, mut maps) = merge(dictionaries);
    if merged.exceeds(options.values_max(&name)) {
        if !options.names(&name) {
            return Ok(None);
        }
        let domain = Domain::new(Values::Category(Vec::new()), false);
        return Ok(Some((Settled { name, domain, maps: Vec::new(), pieces: Vec::new() }, None)));
    }
    let absent = merged.absent || pieces.iter().any(|piece| piece.codes.is_none() && piece.rows > 0);
    let (texts, ends) = merged.into_texts().ok_or_else(|| internal("a dictionary text is not UTF-8"))?;
    let text_of = |code: u32| &texts[ends[code as usize - 1]..ends[code as usize]];
    let is_null = |code: u32| options.nulls.iter().any(|null| null == text_of(code));
    let present: Vec<u32> = (1..ends.len() as u32).filter(|&code| !is_null(code)).collect();
    let missing = absent || present.len() + 1 < ends.len();
    let present_texts: Vec<&str> = present.iter().map(|&code| text_of(code)).collect();
    let reading = ColumnReading::new(&name, kind, is_text, options);
    let typed = reading.typed(&present_texts, missing).and_then(|typed| {
        match options.as_released && reading.declared().is_some() {
            // A number that a program stored has one text, whatever its width.
            true if is_text || typed.domain.kind() == Kind::Date => match odd_text(&present_texts, &typed) {
                Some(position) => Err(position),
                None => Ok(typed),
            },
            _ => Ok(typed),
        }
    });
    let typed = match typed {
        Ok(typed) => typed,
        Err(position) => {
            let kind = reading.declared().ok_or_else(|| internal("an inferred kind does not fit"))?;
            let mut unfit = vec![false; ends.len()];
            present.iter().for_each(|&code| unfit[code as usize] = !reading.takes(text_of(code)));
            let is_odd = !unfit.contains(&true);
            unfit[present[position] as usize] |= is_odd;
            let found = first_cell(&pieces, &maps, &unfit, options.file())?;
            let (row, code) = found.unwrap_or((0, present[position]));
            let text = text_of(code).to_owned();
            let date_format = reading.date_format().map(ToString::to_string);
            return Err(AssembleError::Unfit(Unfit { row, column: name, kind, date_format, is_odd, text }));
        }
    };
    let doubt = reading.doubt(&present_texts, &typed);
    let Typed { domain, codes: ranks, .. } = typed;
    let mut finals = vec![domain.missing_code().unwrap_or(0); ends.len()];
    present.iter().zip(&ranks).for_each(|(&code, &rank)| finals[code as usize] = rank);
    for map in &mut maps {
        map.iter_mut().for_each(|code| *code = finals[*code as usize]);
    }
    Ok(Some((Settled { name, domain, maps, pieces }, doubt)))
}

/// The first text that is not the one which its value is written with. Every value has one in a
/// release: a time of day behind a date, or zeros behind a number, could say something else.
fn odd_text(texts: &[&str], typed: &Typed) -> Option<usize> {
    let mut pairs = texts.iter().zip(&typed.codes);
    pairs.position(|(text, &code)| typed.domain.text(code) != *text)
}

/// All texts in one dictionary, and for each worker the way from its codes to the merged ones.
fn merge(dictionaries: Vec<Option<Interner>>) -> (Interner, Vec<Vec<u32>>) {
    let mut maps: Vec<Vec<u32>> = dictionaries.iter().map(|_| Vec::new()).collect();
    let mut merged: Option<Interner> = None;
    for (dictionary, map) in dictionaries.into_iter().zip(&mut maps) {
        let Some(dictionary) = dictionary else { continue };
        match &mut merged {
            Some(merged) => *map = merged.absorb(dictionary),
            None => {
                *map = (0..dictionary.cardinality() as u32).collect();
                merged = Some(dictionary);
            }
        }
    }
    (merged.unwrap_or_else(Interner::new), maps)
}

/// The first row whose merged code is marked, and that code.
fn first_cell(
    pieces: &[WorkerCodes],
    maps: &[Vec<u32>],
    marked: &[bool],
    file: Option<&SpillFile>,
) -> Result<Option<(usize, u32)>, TableError> {
    let mut row = 0;
    for piece in pieces {
        let map = &maps[piece.worker];
        let codes = piece.codes.as_ref().map(|kept| kept.load(file, 0..piece.rows)).transpose()?;
        for (index, code) in codes.iter().flat_map(Codes::iter).enumerate() {
            let merged = map[code as usize];
            if marked[merged as usize] {
                return Ok(Some((row + index, merged)));
            }
        }
        row += piece.rows;
    }
    Ok(None)
}

/// Puts codes at the end, each as `map` has it; `None` is as many missing cells.
fn append(codes: &mut Codes, rows: usize, from: Option<Codes>, map: &[u32], missing_code: u32) {
    let Some(from) = from else {
        match codes {
            Codes::U8(to) => to.resize(to.len() + rows, missing_code as u8),
            Codes::U16(to) => to.resize(to.len() + rows, missing_code as u16),
            Codes::U32(to) => to.resize(to.len() + rows, missing_code),
        }
        return;
    };
    with_codes!(from, from => match codes {
        Codes::U8(to) => to.extend(from.iter().map(|&code| map[code as usize] as u8)),
        Codes::U16(to) => to.extend(from.iter().map(|&code| map[code as usize] as u16)),
        Codes::U32(to) => to.extend(from.iter().map(|&code| map[code as usize])),
    });
}

/// Lets a column of codes hold codes up to `cardinality`, which may have grown since it was made.
pub(super) fn widen(codes: &mut Codes, cardinality: usize) {
    let wide = match codes {
        Codes::U8(narrow) if cardinality > 1 << 8 => narrow.iter().map(|&code| u32::from(code)).collect(),
        Codes::U16(narrow) if cardinality > 1 << 16 => narrow.iter().map(|&code| u32::from(code)).collect::<Vec<u32>>(),
        _ => return,
    };
    *codes = Codes::from_iter(cardinality, wide);
}
