//! Where the private rows come from.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_config::{Address, Database};
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::RowStore;
use hedgerow_publish::bind::{refuse_cluster, source_options};
use hedgerow_publish::coarsen::{Coarsened, coarsen_table};
use hedgerow_table::read::{ReadOptions, read_table, read_within};
use hedgerow_table::{Spill, Table, TableError};

use crate::{Error, Monitor, databases};

/// Where private rows come from: what a policy names, a file, or rows in memory.
///
/// ```
/// use hedgerow::{ReadOptions, Source, Table};
///
/// let by_policy = Source::of_policy();
/// let by_path = Source::from("patients.csv");
/// let records = [["31", "f"], ["52", "m"]].map(|record| record.map(Some));
/// let table = Table::from_records(["age", "sex"], records, &ReadOptions::default())?;
/// let in_memory = Source::from(&table);
/// # drop((by_policy, by_path, in_memory));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Source<'a>(Origin<'a>);

#[derive(Debug, Clone, Default)]
enum Origin<'a> {
    #[default]
    Policy,
    Path(PathBuf),
    Table(&'a Table),
    #[cfg(feature = "arrow")]
    Arrow(std::sync::Arc<Batches>),
}

/// Record batches of one schema.
#[cfg(feature = "arrow")]
#[derive(Debug)]
struct Batches {
    schema: arrow_schema::SchemaRef,
    batches: Vec<arrow_array::RecordBatch>,
}

/// How messages name rows that are in no file.
pub(crate) const IN_MEMORY: &str = "table in memory";

impl<'a> Source<'a> {
    /// The data that `[source]` of the policy names. This is the default.
    pub fn of_policy() -> Source<'a> {
        Source(Origin::Policy)
    }

    /// A file, several as a pattern such as `parts/*.parquet`, or the address of a database. It is
    /// read as `[source]` of the policy says, under another name.
    pub fn of_path(path: impl AsRef<Path>) -> Source<'a> {
        Source(Origin::Path(path.as_ref().to_path_buf()))
    }

    /// Rows of Arrow record batches, with columns under the policy's names. They are typed as the
    /// same columns of a Parquet file would be: dictionaries, integers, floats, decimals, dates,
    /// timestamps, booleans and strings keep their values, nulls are missing. A column that holds
    /// lists or structures is refused by name if the policy names it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
    /// use hedgerow::{Policy, Publish, Source};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let policy = Policy::load("../../examples/hospital/policy.toml")?;
    /// let age: ArrayRef = Arc::new(Int64Array::from(vec![31, 34, 52, 58]));
    /// let disease: ArrayRef = Arc::new(StringArray::from(vec!["flu", "cold", "flu", "gout"]));
    /// let batch = RecordBatch::try_from_iter([("age", age), ("disease", disease)])?;
    /// let rows = Source::from_arrow(RecordBatchIterator::new([Ok(batch.clone())], batch.schema()))?;
    /// let refused = Publish::new(&policy, folder.path().join("release")).source(rows).run();
    /// assert!(refused.unwrap_err().problem().contains("column"), "the policy names other columns too");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "arrow")]
    pub fn from_arrow(reader: impl arrow_array::RecordBatchReader) -> Result<Source<'a>, Error> {
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| {
            let hint = "correct what hands the batches over";
            TableError::input(IN_MEMORY, format!("the batches cannot be read: {error}"), hint)
        })?;
        Ok(Source(Origin::Arrow(std::sync::Arc::new(Batches { schema, batches }))))
    }

    /// The rows with the coarser values that the policy declares.
    pub(crate) fn read(&self, policy: &Policy, monitor: &Monitor<'_>) -> Result<Cow<'a, Table>, Error> {
        Ok(self.read_coarsened(policy, monitor)?.0)
    }

    /// The same rows, and how their values became coarser.
    pub(crate) fn read_coarsened(
        &self,
        policy: &Policy,
        monitor: &Monitor<'_>,
    ) -> Result<(Cow<'a, Table>, Coarsened), Error> {
        Ok(coarsen_table(policy, self.read_as_it_is(policy, monitor)?)?)
    }

    /// The rows without the policy's identifiers, where these are not in memory already.
    pub(crate) fn read_as_it_is(&self, policy: &Policy, monitor: &Monitor<'_>) -> Result<Cow<'a, Table>, Error> {
        Ok(self.read_as(Some(policy), &source_options(policy, &HashSet::new(), monitor))?)
    }

    /// The rows, read as the options say.
    pub(crate) fn read_as(
        &self,
        policy: Option<&Policy>,
        options: &ReadOptions<'_>,
    ) -> Result<Cow<'a, Table>, TableError> {
        match &self.0 {
            Origin::Policy => {
                let policy = policy.ok_or_else(|| {
                    let hint = "name the policy as well, or name a file";
                    TableError::input("source", "the rows are those of a policy, and no policy is given", hint)
                })?;
                refuse_unreadable(policy)?;
                Ok(Cow::Owned(match &policy.source.database {
                    Some(database) => databases::read(database, options)?,
                    None => read_table(&policy.source.path, options)?,
                }))
            }
            Origin::Path(path) => read(path, options).map(Cow::Owned),
            Origin::Table(table) => Ok(Cow::Borrowed(table)),
            #[cfg(feature = "arrow")]
            Origin::Arrow(rows) => {
                hedgerow_table::read::read_batches(&rows.schema, &rows.batches, IN_MEMORY, options).map(Cow::Owned)
            }
        }
    }

    /// The rows within a limit of memory; those in memory already stay there.
    pub(crate) fn read_within<'s>(
        &self,
        policy: &Policy,
        options: &ReadOptions<'_>,
        spill: &'s Spill,
    ) -> Result<RowStore<'s>, TableError>
    where
        'a: 's,
    {
        let (path, database) = match &self.0 {
            Origin::Policy => {
                refuse_unreadable(policy)?;
                (&policy.source.path, policy.source.database.clone())
            }
            Origin::Path(path) => (path, address(path).map(|address| Database { address, selection: None })),
            _ => return self.read_as(Some(policy), options).map(RowStore::Memory),
        };
        let held = match &database {
            Some(database) => databases::read_within(database, options, spill)?,
            None => read_within(path, options, spill)?,
        };
        Ok(RowStore::held(held, spill))
    }

    /// The table, where the rows are in memory in the form that publishing needs.
    pub(crate) fn table(&self) -> Option<&'a Table> {
        match self.0 {
            Origin::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The file or the address that was named.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.0 {
            Origin::Path(path) => Some(path),
            _ => None,
        }
    }

    /// How messages name it.
    pub(crate) fn shown(&self, policy: &Policy) -> String {
        match &self.0 {
            Origin::Policy => shown(&policy.source.path),
            Origin::Path(path) => shown(path),
            _ => IN_MEMORY.to_owned(),
        }
    }
}

impl<'a> From<&'a Table> for Source<'a> {
    fn from(table: &'a Table) -> Source<'a> {
        Source(Origin::Table(table))
    }
}

impl<'a> From<&Path> for Source<'a> {
    fn from(path: &Path) -> Source<'a> {
        Source::of_path(path)
    }
}

impl<'a> From<&PathBuf> for Source<'a> {
    fn from(path: &PathBuf) -> Source<'a> {
        Source::of_path(path)
    }
}

impl<'a> From<&str> for Source<'a> {
    fn from(path: &str) -> Source<'a> {
        Source::of_path(path)
    }
}

/// Where a run spills that may take this much memory, or else half of what is free. `None` where
/// the system does not say what is free: then all rows are held.
pub(crate) fn spill(policy: &Policy, destination: &Path, memory: Option<u64>) -> Option<Spill> {
    let folder = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = destination.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let allowed = memory.or_else(|| Some(hedgerow_table::memory::free_bytes()? / 2))?;
    let spill = Spill::new(folder.as_deref().unwrap_or(beside), allowed);
    // Other methods need all rows in memory, so they hold codes for as long as they can. And where
    // the caller set no limit, the other half of what is free is a reserve.
    match policy.publish.method {
        // Buckets take far more than the codes of their rows.
        Method::Anatomy if memory.is_some() => Some(spill.holding_less()),
        Method::FullDomain | Method::Mondrian if memory.is_some() && !policy.publish.improve => Some(spill),
        _ => Some(spill.holding_more()),
    }
}

/// Refuses a policy that names no source, or one that only another program reaches.
fn refuse_unreadable(policy: &Policy) -> Result<(), TableError> {
    if policy.source.is_absent() {
        let hint = "name the data, such as `[source]` with `path = \"patients.csv\"`";
        return Err(TableError::input(policy.source.place.clone(), "the policy names no source", hint));
    }
    Ok(refuse_cluster(policy)?)
}

/// Whether the rows that a policy names can be looked for: in files that are there, or in a
/// database.
pub(crate) fn is_here(policy: &Policy) -> bool {
    let path = &policy.source.path;
    let is_pattern = || path.to_str().is_some_and(|path| path.contains(['*', '?']));
    let is_somewhere = policy.source.database.is_some() || path.exists() || is_pattern();
    refuse_unreadable(policy).is_ok() && is_somewhere
}

/// The table at a path or at the address of a database.
pub(crate) fn read(place: &Path, options: &ReadOptions<'_>) -> Result<Table, TableError> {
    match address(place) {
        Some(address) => databases::read(&Database { address, selection: None }, options),
        None => read_table(place, options),
    }
}

/// The address of a database; `None` for a path.
pub(crate) fn address(place: &Path) -> Option<Address> {
    place.to_str().and_then(Address::parse)
}

/// A path or an address as it may be shown: without a password.
pub(crate) fn shown(place: &Path) -> String {
    address(place).map_or_else(|| place.display().to_string(), |address| address.to_string())
}
