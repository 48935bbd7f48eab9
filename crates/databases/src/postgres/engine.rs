//! PostgreSQL as an engine: it counts distinct rows by `GROUP BY`, so that only these travel for
//! the search, and the rows themselves once, when the release is written. All statements see one
//! snapshot.
//!
//! Rows are grouped by what a reader would see, and never by what the server takes for equal: `0`
//! and `-0` are equal floats, and a collation may ignore case. What is one value to a reader is
//! added up here.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hedgerow_config::Selection;
use hedgerow_table::engine::{
    CHUNK_ROWS, CodeChunk, ColumnProfile, Distinct, Engine, EngineAnswer, TableProfile, Visit,
};
use hedgerow_table::frequency::{FrequencySet, Layout};
use hedgerow_table::read::{Cell, ReadOptions};
use hedgerow_table::{Codes, Progress, Spill, Table, TableBuilder, TableError, with_words};

use super::Snapshot;
use crate::identifier;
use crate::parameters::Parameters;
use crate::postgres::cell_type::PostgresType;

/// Bytes that a search takes for each distinct row.
const SEARCH_BYTES: u64 = 72;

/// A table that stays in its database.
#[derive(Debug)]
pub(crate) struct PostgresTable {
    snapshot: Mutex<Snapshot>,
    /// As every chunk is read: with the kinds that all values together have.
    options: ReadOptions<'static>,
    profile: TableProfile,
    distinct_max: usize,
}

pub(crate) fn open(
    parameters: &Parameters<'_>,
    selection: Option<&Selection>,
    options: &ReadOptions<'_>,
    spill: &Spill,
) -> Result<Box<dyn Engine>, TableError> {
    options.progress.stage("read", None);
    let mut snapshot = Snapshot::open(parameters, selection, options)?;
    let (header, warnings) = (snapshot.header.clone(), snapshot.skipped.clone());
    let mut profile = TableProfile { rows: 0, header, columns: Vec::new(), warnings };
    for column in 0..snapshot.columns.len() {
        let (found, values) = profile_of(&mut snapshot, column, options)?;
        profile.columns.push(found);
        profile.warnings.extend(values.warnings);
    }
    profile.rows = profile.columns.first().map_or(0, |column| column.counts.iter().sum::<u64>() as usize);
    let kinds = profile.columns.iter().map(|column| (column.name.clone(), column.domain.kind()));
    let kinds: HashMap<_, _> = kinds.collect();
    let options = ReadOptions { kinds, ..options.quiet() };
    let distinct_max = usize::try_from(spill.memory() / SEARCH_BYTES).unwrap_or(usize::MAX);
    Ok(Box::new(PostgresTable { snapshot: Mutex::new(snapshot), options, profile, distinct_max }))
}

/// The values of a column with their counts, and the small table that they were read as.
fn profile_of(
    snapshot: &mut Snapshot,
    column: usize,
    options: &ReadOptions<'_>,
) -> Result<(ColumnProfile, Table), TableError> {
    let mut builder = snapshot.builder(&[column])?;
    let mut rows_of = Vec::new();
    grouped(snapshot, &[column], options.progress, &mut |cells, rows| {
        rows_of.push(rows);
        builder.push_cells(cells)
    })?;
    let table = builder.finish(options)?;
    let [found] = table.columns.as_slice() else {
        return Err(TableError::Internal("a column was read as several".to_owned()));
    };
    // Several texts can be one value, such as those that count as missing.
    let mut counts = vec![0u64; found.domain.cardinality()];
    for (code, rows) in found.codes.iter().zip(rows_of) {
        counts[code as usize] += rows;
    }
    Ok((ColumnProfile { name: found.name.clone(), domain: found.domain.clone(), counts }, table))
}

/// Takes the values of a group and the number of its rows.
type Take<'t> = dyn FnMut(&[Cell<'_>], u64) -> Result<(), TableError> + 't;

/// Hands on the distinct rows over some columns, each with the number of its rows.
fn grouped(
    snapshot: &mut Snapshot,
    columns: &[usize],
    progress: &dyn Progress,
    take: &mut Take<'_>,
) -> Result<(), TableError> {
    let expressions = columns.iter().map(|&index| expressions(&snapshot.columns[index].0, snapshot.columns[index].1));
    let (shown, keys): (Vec<String>, Vec<String>) = expressions.unzip();
    let statement =
        format!("SELECT {}, count(*) FROM {} GROUP BY {}", shown.join(", "), snapshot.from, keys.join(", "));
    let mut types = snapshot.types(columns);
    types.push(PostgresType::Int8);
    snapshot.copy(&statement, types, progress, &mut |cells| match cells {
        [values @ .., Cell::Integer(rows)] => take(values, u64::try_from(*rows).unwrap_or(0)),
        _ => Err(TableError::Internal("a group without a count".to_owned())),
    })
}

/// A column as it is selected, and by what it is grouped.
fn expressions(name: &str, cells: PostgresType) -> (String, String) {
    let column = identifier(name);
    match cells {
        PostgresType::Text => {
            let text = format!("{column}::text COLLATE \"C\"");
            (text.clone(), text)
        }
        // All that have one text are one number, to the last bit.
        PostgresType::Numeric(_) | PostgresType::Float4 | PostgresType::Float8 => {
            (format!("min({column})"), format!("{column}::text"))
        }
        PostgresType::Padded => {
            let text = format!("{column} COLLATE \"C\"");
            (text.clone(), text)
        }
        _ => (column.clone(), column),
    }
}

impl PostgresTable {
    /// Rows as codes of the profile's domains.
    fn recoded(&self, builder: TableBuilder, columns: &[usize]) -> Result<CodeChunk, TableError> {
        let table = builder.finish(&self.options)?;
        let mut chunk = Vec::with_capacity(columns.len());
        for &index in columns {
            let whole = &self.profile.columns[index];
            let part = table.column(&whole.name);
            let part = part.ok_or_else(|| TableError::Internal("a column was not read".to_owned()))?;
            let code = |code: u32| match part.domain.missing_code() == Some(code) {
                true => whole.domain.missing_code(),
                false => whole.domain.code_of(&part.domain.text(code)),
            };
            let map: Option<Vec<u32>> = (0..part.domain.cardinality() as u32).map(code).collect();
            let map = map.ok_or_else(|| TableError::Internal("a row has a value that no group had".to_owned()))?;
            chunk.push(part.codes.mapped(&map, whole.domain.cardinality()));
        }
        Ok(chunk)
    }
}

impl PostgresTable {
    /// Groups that are one row to a reader are one: several texts can be the same number, or
    /// missing.
    fn added_up(&self, distinct: Distinct, columns: &[usize]) -> EngineAnswer<Distinct> {
        let cardinality = |&index: &usize| self.profile.columns[index].domain.cardinality();
        let cardinalities: Vec<usize> = columns.iter().map(cardinality).collect();
        let Some(layout) = Layout::new(&cardinalities) else {
            return EngineAnswer::Unsupported("there are too many attributes to compare rows by".to_owned());
        };
        with_words!(layout.words(), W => {
            let codes: Vec<&Codes> = distinct.columns.iter().collect();
            let set = FrequencySet::<W>::of_counted_rows(&layout, &codes, &distinct.counts);
            let column = |place: usize| {
                let field = layout.field(place);
                Codes::from_iter(cardinalities[place], set.keys().iter().map(|key| field.get(key)))
            };
            EngineAnswer::Exact(Distinct { columns: (0..columns.len()).map(column).collect(), counts: set.counts().to_vec() })
        })
    }
}

impl Engine for PostgresTable {
    fn profile(&self) -> &TableProfile {
        &self.profile
    }

    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
        if columns.is_empty() {
            return Ok(EngineAnswer::Exact(Distinct { columns: Vec::new(), counts: vec![self.profile.rows as u32] }));
        }
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let empty = |&index: &usize| Codes::with_capacity(self.profile.columns[index].domain.cardinality(), 0);
        let mut distinct = Distinct { columns: columns.iter().map(empty).collect(), counts: Vec::new() };
        let fresh = snapshot.builder(columns)?;
        let mut builder = fresh.clone();
        let put = |builder: TableBuilder, distinct: &mut Distinct| {
            for (column, codes) in distinct.columns.iter_mut().zip(self.recoded(builder, columns)?) {
                column.extend(&codes, 0..codes.len());
            }
            Ok::<(), TableError>(())
        };
        let most = self.distinct_max;
        grouped(&mut snapshot, columns, progress, &mut |cells, rows| {
            if distinct.counts.len() == most {
                let problem = format!(
                    "the table has more than {most} distinct rows; with the memory of the search they exceed the limit"
                );
                let hint = "allow more memory, or let rules know and protect fewer attributes";
                return Err(TableError::input("memory", problem, hint));
            }
            distinct.counts.push(u32::try_from(rows).unwrap_or(u32::MAX));
            builder.push_cells(cells)?;
            if builder.rows() == CHUNK_ROWS {
                put(std::mem::replace(&mut builder, fresh.clone()), &mut distinct)?;
            }
            Ok(())
        })?;
        if builder.rows() > 0 {
            put(builder, &mut distinct)?;
        }
        drop(snapshot);
        Ok(self.added_up(distinct, columns))
    }

    fn scan(
        &self,
        columns: &[usize],
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<EngineAnswer<()>, TableError> {
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = snapshot.builder(columns)?;
        let mut builder = fresh.clone();
        let names: Vec<&str> = columns.iter().map(|&index| self.profile.columns[index].name.as_str()).collect();
        let (statement, types) = (crate::select(&names, &snapshot.from), snapshot.types(columns));
        snapshot.copy(&statement, types, progress, &mut |cells| {
            builder.push_cells(cells)?;
            if builder.rows() == CHUNK_ROWS {
                visit(vec![self.recoded(std::mem::replace(&mut builder, fresh.clone()), columns)?])?;
            }
            Ok(())
        })?;
        if builder.rows() > 0 {
            visit(vec![self.recoded(builder, columns)?])?;
        }
        Ok(EngineAnswer::Exact(()))
    }
}
