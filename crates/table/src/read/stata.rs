//! Stata files, of Stata 8 (release 113 of the format) to Stata 18 (release 119).
//!
//! A number with a value label is read as the label's text, a date as a date, whatever format shows
//! it; `.` and `.a` to `.z` are missing. The file is read section by section: no length that it
//! states is believed beyond the bytes that it has.
//!
//! The format is published by StataCorp (`help dta` in Stata).

mod header;
mod labels;
mod section;

use std::path::Path;

use hashbrown::HashMap;

use super::build::TableBuilder;
use super::part::CodedFile;
use super::source::open_file;
use super::{ReadLimits, ReadOptions};
use crate::TableError;
use crate::date::Date;
use header::{Header, Type, Variable};
use labels::StataLabels;
use section::{Damage, Section};

/// How often a reader looks whether the work was canceled.
const ROWS_BETWEEN_CHECKS: usize = 4096;
/// 1960-01-01, from which Stata counts, in days from 1970-01-01.
const EPOCH_DAYS: i64 = -3653;
const DAY_MS: i64 = 86_400_000;

pub(super) fn read<'a>(
    path: &'a Path,
    options: &ReadOptions,
    limits: &ReadLimits,
) -> Result<CodedFile<'a>, TableError> {
    let (file, length) = open_file(path)?;
    options.progress.stage("read", Some(length));
    let mut section = Section::new(file, length);
    let refuse = |damage: Damage| damage.refuse(path);
    let header = Header::read(&mut section).map_err(refuse)?;
    let names: Vec<String> = header.variables.iter().map(|variable| variable.name.clone()).collect();
    let mut table = TableBuilder::of_stored_values(names, &path.display().to_string(), limits)?;
    super::csv::check_rows(path, usize::try_from(header.rows).unwrap_or(usize::MAX), limits)?;
    let labels = StataLabels::read(&header, &mut section).map_err(refuse)?;
    let long_texts = read_long_texts(&header, &mut section).map_err(refuse)?;
    let wanted: Vec<bool> = header.variables.iter().map(|variable| options.wants(&variable.name)).collect();
    let width: usize = header.variables.iter().map(|variable| variable.kind.width()).sum();
    section.go_to(header.data).map_err(refuse)?;
    for row in 0..header.rows {
        if (row as usize).is_multiple_of(ROWS_BETWEEN_CHECKS) {
            options.progress.check()?;
        }
        let record = section.take(width).map_err(refuse)?;
        let mut at = 0;
        let mut texts = Vec::with_capacity(header.variables.len());
        for (variable, wanted) in header.variables.iter().zip(&wanted) {
            let bytes = &record[at..at + variable.kind.width()];
            at += bytes.len();
            let cell = if *wanted { cell(&header, variable, &labels, &long_texts, bytes) } else { Ok(None) };
            texts.push(match cell {
                // No file is refused for a column that is only looked at.
                Err(_) if !options.names(&variable.name) => None,
                cell => cell.map_err(|damage| damage.in_cell(path, row, &variable.name))?,
            });
        }
        table.push_record(texts)?;
    }
    options.progress.advance(length);
    let mut part = table.into_part(options, Box::new(move |row| format!("{}: row {}", path.display(), row + 1)))?;
    part.warnings.extend(labels.warnings(path));
    Ok(part)
}

/// By variable and row, both from 1.
type LongTexts = HashMap<(u64, u64), String>;

fn cell(
    header: &Header,
    variable: &Variable,
    labels: &StataLabels,
    long_texts: &LongTexts,
    bytes: &[u8],
) -> Result<Option<String>, Damage> {
    let number = |value: Option<i64>| {
        value.map(|value| {
            labels
                .text(variable, value)
                .map_or_else(|| moment(variable, value as f64, value.to_string()), str::to_owned)
        })
    };
    // The highest values of each type stand for missing ones.
    let real = |value: f64, shortest: String| match labels.text(variable, value as i64).filter(|_| value.fract() == 0.0)
    {
        Some(label) => label.to_owned(),
        None => moment(variable, value, shortest),
    };
    Ok(match variable.kind {
        Type::Byte => number(Some(i64::from(bytes[0] as i8)).filter(|&value| value <= 100)),
        Type::Int => number(Some(header.order.signed(bytes)).filter(|&value| value <= 32_740)),
        Type::Long => number(Some(header.order.signed(bytes)).filter(|&value| value <= 2_147_483_620)),
        Type::Float => {
            let value = f32::from_bits(header.order.unsigned(bytes) as u32);
            (value.is_finite() && value < 2f32.powi(127)).then(|| real(f64::from(value), value.to_string()))
        }
        Type::Double => {
            let value = f64::from_bits(header.order.unsigned(bytes));
            (value.is_finite() && value < 2f64.powi(1023)).then(|| real(value, value.to_string()))
        }
        Type::Text(_) => Some(header.text(bytes)?).filter(|text| !text.is_empty()),
        Type::LongText => match header.long_text_at(bytes) {
            (0, 0) => None,
            at => Some(long_texts.get(&at).ok_or(Damage("a long text is missing"))?.clone()).filter(|t| !t.is_empty()),
        },
    })
}

/// A number as its format shows it: days, months and so on since 1960.
fn moment(variable: &Variable, value: f64, plain: String) -> String {
    if value.fract() != 0.0 && !variable.format.starts_with("%tc") {
        return plain;
    }
    let periods = |per_year: i64| {
        let value = value as i64;
        (1960 + value.div_euclid(per_year), value.rem_euclid(per_year) + 1)
    };
    let unit = match variable.format.strip_prefix("%t").or(variable.format.strip_prefix("%-t")) {
        Some(unit) => unit.chars().next(),
        None if variable.format.starts_with("%d") || variable.format.starts_with("%-d") => Some('d'),
        None => None,
    };
    let day = |days: i64| i32::try_from(days.checked_add(EPOCH_DAYS)?).ok().map(|days| Date(days).to_string());
    let found = match unit {
        Some('d') => day(value as i64),
        Some('c' | 'C') => day((value as i64).div_euclid(DAY_MS)).map(|day| {
            let ms = (value as i64).rem_euclid(DAY_MS);
            let (seconds, ms) = (ms / 1000, ms % 1000);
            let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            match (seconds, ms) {
                (0, 0) => day,
                (_, 0) => format!("{day}T{time}"),
                _ => format!("{day}T{time}.{ms:03}"),
            }
        }),
        Some('m') => Some(periods(12)).map(|(year, month)| format!("{year:04}-{month:02}")),
        Some('q') => Some(periods(4)).map(|(year, quarter)| format!("{year:04}-Q{quarter}")),
        Some('h') => Some(periods(2)).map(|(year, half)| format!("{year:04}-H{half}")),
        Some('w') => Some(periods(52)).map(|(year, week)| format!("{year:04}-W{week:02}")),
        _ => None,
    };
    found.unwrap_or(plain)
}

/// The texts of unlimited length, which Stata stores behind the rows.
fn read_long_texts(header: &Header, section: &mut Section) -> Result<LongTexts, Damage> {
    let mut texts = LongTexts::new();
    let Some(place) = header.long_texts else { return Ok(texts) };
    if header.variables.iter().all(|variable| variable.kind != Type::LongText) {
        return Ok(texts);
    }
    section.go_to(place)?;
    section.expect(b"<strls>")?;
    while section.take(3)? == b"GSO" {
        let variable = header.order.unsigned(section.take(4)?);
        let row = header.order.unsigned(section.take(if header.release == 117 { 4 } else { 8 })?);
        let is_text = section.take(1)? == [130];
        let length = header.order.unsigned(section.take(4)?);
        let bytes = section.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        if is_text {
            texts.insert((variable, row), header.text(bytes)?);
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests;
