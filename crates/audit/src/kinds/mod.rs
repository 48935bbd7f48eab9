//! The kinds of releases, one file each: how each is measured, and what its tables show to an
//! adversary. A kind is added as one more file here, and a line in [`kind`].

pub(crate) mod bucketized;
pub(crate) mod cloned;
pub(crate) mod decomposed;
pub(crate) mod generalized;

use hedgerow_release::bucketized::GROUP;
use hedgerow_release::{Release, ReleaseTables, ReleasedClasses, Spelling};
use hedgerow_table::{Column, Progress, Table, TableError};

use crate::adversaries::intersection::{SubTable, is_exact};
use crate::attribute::QuasiSource;
use crate::comparison::Comparison;
use crate::max_likelihood::CountQueries;
use crate::measures::Measures;
use crate::query::rows::Queryable;
use crate::query_error::QueryOptions;
use crate::singled_out::singled_out;

/// The private table that a release was made from, as its policy describes it.
#[derive(Debug)]
pub struct SourceTable<'a> {
    /// As read under the policy: the domain of a column holds the values that occur and no others.
    pub table: &'a Table,
    /// Every quasi-identifier, in the order of the policy.
    pub quasi: Vec<QuasiSource<'a>>,
    /// The sensitive attributes.
    pub sensitive: Vec<&'a str>,
    /// The required k, or 1.
    pub k: u64,
}

/// The queries by which a release is measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasureOptions {
    /// Over one table.
    pub queries: QueryOptions,
    /// Over the most likely table behind the sub-tables of a decomposed release.
    pub combined: CountQueries,
}

/// The interface of a kind of release for the audit.
pub(crate) trait MeasuredKind {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError>;

    /// The source and the release attribute by attribute; empty where no row could be compared.
    fn compare(&self, _release: &Release, _source: &SourceTable<'_>) -> Result<Comparison, TableError> {
        Ok(Comparison::default())
    }

    /// The tables as an adversary joins them with others about the same people.
    fn joinable(&self, release: &Release) -> Result<Joinable, TableError>;

    /// The tables as a query sees them.
    fn queryable(&self) -> Vec<Queryable<'_>>;

    /// For each table whose classes lack rows, because their sensitive values are not released, the
    /// classes of all its rows by quasi-identifiers alone.
    fn all_rows(&self, release: &Release) -> Result<Vec<Option<ReleasedClasses>>, TableError> {
        let _ = release;
        Ok(Vec::new())
    }
}

/// Tables that can be compared value by value.
#[derive(Debug, Default)]
pub(crate) struct Joinable {
    pub(crate) tables: Vec<SubTable>,
    /// The tables that cannot: their labels cover several values.
    pub(crate) generalized: Vec<String>,
}

impl Joinable {
    /// The same tables in our texts.
    fn spelled(self, spelling: &Spelling) -> Joinable {
        Joinable { tables: self.tables.into_iter().map(|table| table.spelled(spelling)).collect(), ..self }
    }
}

/// The tables of released classes, and all attributes by row where these list more than the classes
/// do.
fn joinable_rows(name: &str, classes: &ReleasedClasses, rows: &Table, spelling: &Spelling) -> Joinable {
    if !classes.quasi.iter().all(is_exact) {
        return Joinable { tables: Vec::new(), generalized: vec![name.to_owned()] };
    }
    let mut tables = SubTable::of_classes(name, classes);
    if tables.len() != 1 || rows.columns.len() > classes.quasi.len() + 1 {
        let rows = SubTable::of_rows(name, &rows.columns.iter().collect::<Vec<_>>(), rows.rows);
        tables.push(rows.spelled(spelling));
    }
    Joinable { tables, generalized: Vec::new() }
}

/// For every bucket, its values with their counts.
type BucketValues = Vec<Vec<(String, u64)>>;

/// The attributes by row, and one by bucket. `classes` says what the labels cover.
fn joinable_buckets(
    name: &str,
    classes: &ReleasedClasses,
    rows: &Table,
    bucket_of_row: &[Option<u32>],
    values: Vec<(&str, BucketValues)>,
) -> Joinable {
    if !classes.quasi.iter().all(is_exact) {
        return Joinable { tables: Vec::new(), generalized: vec![name.to_owned()] };
    }
    let columns: Vec<&Column> = rows.columns.iter().filter(|column| column.name != GROUP).collect();
    let of = |(sensitive, values)| SubTable::of_buckets(name, &columns, bucket_of_row, sensitive, values);
    Joinable { tables: values.into_iter().map(of).collect(), generalized: Vec::new() }
}

/// The losses of a release and the remaining risks, compared with the table that it was made from.
pub fn measure(
    release: &Release,
    source: &SourceTable<'_>,
    options: &MeasureOptions,
    progress: &dyn Progress,
) -> Result<Measures, TableError> {
    let mut measures = kind(release).measure(release, source, options, progress)?;
    if let Measures::Table(measures) = &mut measures {
        measures.singled_out = singled_out(release);
    }
    Ok(measures)
}

pub(crate) fn kind(release: &Release) -> &dyn MeasuredKind {
    match release.tables() {
        ReleaseTables::Generalized(tables) => tables,
        ReleaseTables::Bucketized(tables) => tables.as_ref(),
        ReleaseTables::Cloned(tables) => tables.as_ref(),
        ReleaseTables::Decomposed(tables) => tables,
    }
}

/// Suppressed rows, as the manifest has them; a table without a manifest lacks what the source has
/// more.
fn rows_suppressed(release: &Release, source: &SourceTable<'_>) -> u64 {
    match release.manifest() {
        Some(manifest) => manifest.hedgerow.rows.suppressed,
        None => (source.table.rows as u64).saturating_sub(release.rows()),
    }
}
