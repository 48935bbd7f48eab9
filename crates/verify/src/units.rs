//! Units in a table that is checked: counted where its columns say whom a row is about, else taken
//! from the publisher or left open.

use hedgerow_privacy::judge::Achieved;
use hedgerow_privacy::{Judge, KnownRows, UnitRows, UnitTerms};
use hedgerow_table::frequency::FrequencySet;
use hedgerow_table::{Codes, Column, InputError, Table, TableError};

use crate::check::{CountedUnits, NamedRule};

/// The units that the rows of a table are about.
pub(crate) struct UnitsOfTable {
    of_row: Vec<u32>,
    pub(crate) count: usize,
    linked: bool,
}

/// The units that the rules count by columns of the table; all rules name the same.
pub(crate) fn of_table(
    table: &Table,
    counted_once: bool,
    rules: &[NamedRule],
    place: &str,
) -> Result<Option<UnitsOfTable>, TableError> {
    let mut named = rules.iter().filter_map(|rule| match rule.units.as_ref().map(|units| &units.counted) {
        Some(CountedUnits::Columns { names, linked }) => Some((names, *linked)),
        _ => None,
    });
    let Some((names, linked)) = named.next() else { return Ok(None) };
    if counted_once {
        let problem = "units are counted from the rows themselves, and only distinct rows are in memory";
        return Err(TableError::input(place, problem, "allow more memory"));
    }
    let mut columns: Vec<&Column> = Vec::new();
    for name in names {
        columns.push(table.column(name).ok_or_else(|| {
            let hint = format!("the table has: {}", table.header.join(", "));
            InputError::new(place, format!("the table has no column `{name}`, which says whom a row is about"), hint)
        })?);
    }
    let missing = |column: &&&Column| {
        column.domain.missing_code().is_some_and(|missing| column.codes.iter().any(|code| code == missing))
    };
    if let Some(column) = columns.iter().find(missing) {
        let problem = format!("`{}` is missing in some rows, so that nothing says whom they are about", column.name);
        return Err(TableError::input(place, problem, "fill it in, or remove these rows"));
    }
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let (of_row, count) = hedgerow_privacy::units::numbered(&codes, table.rows);
    Ok(Some(UnitsOfTable { of_row, count, linked }))
}

impl UnitsOfTable {
    /// The level of every guarantee over the units of the table.
    pub(crate) fn achieved<const W: usize>(
        &self,
        judge: &Judge,
        rules: &[NamedRule],
        set: &FrequencySet<W>,
        columns: &[&Codes],
        missing: Vec<Option<u32>>,
    ) -> Vec<Vec<Achieved>> {
        let known = |rule: &NamedRule| rule.units.as_ref().map_or(KnownRows::One, |units| units.rows);
        let vary = |protect: Option<usize>| {
            protect.is_some_and(|protect| UnitRows::has_several_values(&self.of_row, self.count, columns[protect]))
        };
        let terms = UnitTerms {
            rows: rules.iter().map(known).collect(),
            missing,
            several_values: judge.rules().iter().map(|rule| vary(rule.protect)).collect(),
            linked: self.linked,
            allowed: 0,
        };
        let rows = UnitRows::new(judge, set, columns, &self.of_row, self.count);
        judge.achieved_over_units(&terms, set, &rows, &vec![true; self.count])
    }
}

/// Takes the worse of rows and units, for the rules that count units by columns.
pub(crate) fn combine(achieved: &mut [Vec<Achieved>], rules: &[NamedRule], over_units: &[Vec<Achieved>]) {
    for ((achieved, rule), over_units) in achieved.iter_mut().zip(rules).zip(over_units) {
        let by_columns = rule.units.as_ref().is_some_and(|units| matches!(units.counted, CountedUnits::Columns { .. }));
        for (achieved, over_units) in achieved.iter_mut().zip(over_units).filter(|_| by_columns) {
            achieved.take_worse(over_units);
        }
    }
}

/// Takes the worse of rows and of what the publisher counted.
pub(crate) fn combine_stated(achieved: &mut [Vec<Achieved>], rules: &[NamedRule]) {
    for (achieved, rule) in achieved.iter_mut().zip(rules) {
        if let Some(CountedUnits::Stated(stated)) = rule.units.as_ref().map(|units| &units.counted) {
            achieved.iter_mut().zip(stated).for_each(|(achieved, stated)| achieved.take_worse(stated));
        }
    }
}
