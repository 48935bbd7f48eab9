//! The engine that holds the rows, seen from a search: a table can be published from any engine
//! that answers these questions, and its rows never need to be in memory.
//!
//! An engine answers exactly or says that it cannot. Nothing is estimated, so that every engine
//! leads to the same release.

use std::ops::Range;

use crate::{Codes, Column, Domain, InputError, Progress, Table, TableError};

/// Rows of a chunk of a scan; the last one may have fewer.
pub const CHUNK_ROWS: usize = 1 << 16;

/// Rows of a table: counts have 32 bits, and so has the sum of all.
pub const ROWS_MAX: usize = u32::MAX as usize - 1;

/// The answer of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineAnswer<T> {
    Exact(T),
    /// And why.
    Unsupported(String),
}

/// The profile of a table: the columns, before rows are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct TableProfile {
    pub rows: usize,
    /// Every column of the source in order, also those that were not read.
    pub header: Vec<String>,
    pub columns: Vec<ColumnProfile>,
    pub warnings: Vec<InputError>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    pub name: String,
    pub domain: Domain,
    /// How many rows carry each code of the domain.
    pub counts: Vec<u64>,
}

/// Distinct rows over some columns, and how often each occurs: the answer to a `GROUP BY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distinct {
    /// In the order in which they were named.
    pub columns: Vec<Codes>,
    pub counts: Vec<u32>,
}

/// Some rows as codes of the profile's domains, column by column.
pub type CodeChunk = Vec<Codes>;

/// Takes the chunks of a scan, some at once, in the order of the rows.
pub type Visit<'v> = dyn FnMut(Vec<CodeChunk>) -> Result<(), TableError> + 'v;

/// The engine that holds the rows.
pub trait Engine {
    /// The columns with their values.
    fn profile(&self) -> &TableProfile;

    /// The distinct rows over some columns, by their positions in the profile.
    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError>;

    /// The bytes that distinct rows may take beside what a search makes of them.
    fn distinct_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// All rows once, with these columns: chunks of [`CHUNK_ROWS`] rows.
    fn scan(
        &self,
        columns: &[usize],
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<EngineAnswer<()>, TableError>;
}

/// A table whose equal rows are held once: all that a search on a frequency set looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Distinct rows. A column that they are not distinguished by has values and no codes.
    pub table: Table,
    /// How often each distinct row occurs.
    pub counts: Vec<u32>,
    /// All rows.
    pub rows: u64,
    /// For every column of the table, how many rows carry each of its codes.
    values: Vec<Vec<u64>>,
}

impl Counted {
    /// The distinct rows over the columns named; names that the table lacks are ignored.
    pub fn of(
        engine: &dyn Engine,
        names: &[&str],
        progress: &dyn Progress,
    ) -> Result<EngineAnswer<Counted>, TableError> {
        let profile = engine.profile();
        if profile.rows > ROWS_MAX {
            let problem = format!("the table has {} rows, and at most {ROWS_MAX} can be counted", profile.rows);
            let hint = "publish parts of it, such as years or regions, as releases of their own";
            return Err(TableError::input("source", problem, hint));
        }
        let position = |name: &&str| profile.columns.iter().position(|column| column.name == *name);
        let positions: Vec<usize> = names.iter().filter_map(position).collect();
        let distinct = match engine.distinct(&positions, progress)? {
            EngineAnswer::Exact(distinct) => distinct,
            EngineAnswer::Unsupported(why) => return Ok(EngineAnswer::Unsupported(why)),
        };
        let mut columns: Vec<Column> = Vec::with_capacity(profile.columns.len());
        for ColumnProfile { name, domain, .. } in &profile.columns {
            let codes = Codes::with_capacity(domain.cardinality(), 0);
            columns.push(Column { name: name.clone(), domain: domain.clone(), codes });
        }
        for (position, codes) in positions.into_iter().zip(distinct.columns) {
            columns[position].codes = codes;
        }
        let (header, warnings) = (profile.header.clone(), profile.warnings.clone());
        let table = Table { columns, rows: distinct.counts.len(), header, warnings };
        let values = profile.columns.iter().map(|column| column.counts.clone()).collect();
        Ok(EngineAnswer::Exact(Counted { table, counts: distinct.counts, rows: profile.rows as u64, values }))
    }

    /// How many rows carry each code of a column.
    pub fn values(&self, column: &str) -> Option<&[u64]> {
        let position = self.table.columns.iter().position(|other| other.name == column)?;
        self.values.get(position).map(Vec::as_slice)
    }
}

/// A table in memory.
#[derive(Debug)]
pub struct Embedded<'a> {
    table: &'a Table,
    profile: TableProfile,
}

impl<'a> Embedded<'a> {
    pub fn new(table: &'a Table) -> Embedded<'a> {
        let profile = |column: &Column| ColumnProfile {
            name: column.name.clone(),
            domain: column.domain.clone(),
            counts: column.counts(),
        };
        let profile = TableProfile {
            rows: table.rows,
            header: table.header.clone(),
            columns: table.columns.iter().map(profile).collect(),
            warnings: table.warnings.clone(),
        };
        Embedded { table, profile }
    }
}

impl Engine for Embedded<'_> {
    fn profile(&self) -> &TableProfile {
        &self.profile
    }

    fn distinct(&self, columns: &[usize], progress: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
        crate::frequency::distinct(self, columns, usize::MAX, progress)
    }

    fn scan(
        &self,
        columns: &[usize],
        progress: &dyn Progress,
        visit: &mut Visit<'_>,
    ) -> Result<EngineAnswer<()>, TableError> {
        scan_chunks(self.table.rows, progress, visit, |range| {
            Ok(columns.iter().map(|&column| self.table.columns[column].codes.slice(range.clone())).collect())
        })
    }
}

/// Chunks loaded at once, by all cores.
const CHUNKS_AT_ONCE: usize = 4;

/// Loads the chunks of a table one after the other, some at once.
pub(crate) fn scan_chunks(
    rows: usize,
    progress: &dyn Progress,
    visit: &mut Visit<'_>,
    load: impl Fn(Range<usize>) -> Result<CodeChunk, TableError> + Sync,
) -> Result<EngineAnswer<()>, TableError> {
    let chunks = rows.div_ceil(CHUNK_ROWS);
    for first in (0..chunks).step_by(CHUNKS_AT_ONCE) {
        progress.check()?;
        let loaded = crate::parallel::map((chunks - first).min(CHUNKS_AT_ONCE), |index| {
            let start = (first + index) * CHUNK_ROWS;
            load(start..rows.min(start + CHUNK_ROWS))
        });
        visit(loaded.into_iter().collect::<Result<_, _>>()?)?;
    }
    Ok(EngineAnswer::Exact(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;

    /// As a cluster would have them.
    struct Many(TableProfile);

    impl Engine for Many {
        fn profile(&self) -> &TableProfile {
            &self.0
        }

        fn distinct(&self, _: &[usize], _: &dyn Progress) -> Result<EngineAnswer<Distinct>, TableError> {
            Ok(EngineAnswer::Exact(Distinct { columns: Vec::new(), counts: vec![self.0.rows as u32] }))
        }

        fn scan(&self, _: &[usize], _: &dyn Progress, _: &mut Visit<'_>) -> Result<EngineAnswer<()>, TableError> {
            Ok(EngineAnswer::Unsupported(String::new()))
        }
    }

    #[test]
    fn rows_whose_counts_would_not_fit_are_refused() {
        let of = |rows| {
            let profile = TableProfile { rows, header: Vec::new(), columns: Vec::new(), warnings: Vec::new() };
            Counted::of(&Many(profile), &[], &NoProgress)
        };
        assert!(matches!(of(ROWS_MAX), Ok(EngineAnswer::Exact(counted)) if counted.counts == [u32::MAX - 1]));
        for rows in [ROWS_MAX + 1, u32::MAX as usize + 3] {
            let error = of(rows).unwrap_err().to_string();
            assert!(error.contains(&format!("{rows} rows, and at most 4294967294")), "{error}");
        }
    }
}
