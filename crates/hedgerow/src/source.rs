//! Where the private rows come from.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_config::{Address, Database};
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::Rows;
use hedgerow_publish::bind::{refuse_cluster, source_options};
use hedgerow_table::read::{Held, ReadOptions, read_table, read_within};
use hedgerow_table::{Spill, Table, TableError};

use crate::{Error, Monitor};

/// Where the private rows come from.
#[derive(Debug, Clone, Copy, Default)]
pub enum Source<'a> {
    /// What `[source]` of the policy names.
    #[default]
    Policy,
    /// Rows that are in memory already, with columns under the policy's names: see
    /// [`Table::from_records`] and [`Table::from_columns`].
    Table(&'a Table),
}

impl<'a> Source<'a> {
    /// The rows, without the policy's identifiers where they are read from what it names.
    pub(crate) fn read(self, policy: &Policy, monitor: &Monitor<'_>) -> Result<Cow<'a, Table>, Error> {
        Ok(match self {
            Source::Policy => Cow::Owned(read_source(policy, &source_options(policy, &HashSet::new(), monitor))?),
            Source::Table(table) => Cow::Borrowed(table),
        })
    }
}

impl<'a> From<&'a Table> for Source<'a> {
    fn from(table: &'a Table) -> Source<'a> {
        Source::Table(table)
    }
}

/// What `[source]` of a policy names: a file, several, or a database.
pub(crate) fn read_source(policy: &Policy, options: &ReadOptions<'_>) -> Result<Table, TableError> {
    refuse_cluster(policy)?;
    match &policy.source.database {
        Some(database) => hedgerow_databases::read(database, options),
        None => read_table(&policy.source.path, options),
    }
}

/// The same within a limit of memory.
pub(crate) fn read_source_within(
    policy: &Policy,
    options: &ReadOptions<'_>,
    spill: &Spill,
) -> Result<Rows<'static>, TableError> {
    refuse_cluster(policy)?;
    if let Some(database) = &policy.source.database {
        return Ok(match hedgerow_databases::read_within(database, options, spill)? {
            hedgerow_databases::Held::Memory(table) => Rows::Memory(Cow::Owned(table)),
            hedgerow_databases::Held::Outside(engine) => Rows::Outside(engine),
        });
    }
    Ok(match read_within(&policy.source.path, options, spill)? {
        Held::Memory(table) => Rows::Memory(Cow::Owned(table)),
        Held::Spilled(spilled) => Rows::Outside(Box::new(spilled)),
    })
}

/// Where a run spills that may take so much memory, or else half of what is free. `None` where
/// nothing is known of that: then all rows are held.
pub(crate) fn spill(policy: &Policy, destination: &Path, memory: Option<u64>) -> Option<Spill> {
    let folder = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = destination.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let allowed = memory.or_else(|| Some(free_bytes()? / 2))?;
    let spill = Spill::new(folder.as_deref().unwrap_or(beside), allowed);
    // Other methods need all rows in memory, so they hold codes for as long as they can. And where
    // nobody set a limit, the other half of what is free is a reserve.
    match policy.publish.method {
        Method::FullDomain | Method::Mondrian | Method::Anatomy if memory.is_some() && !policy.publish.improve => {
            Some(spill)
        }
        _ => Some(spill.holding_more()),
    }
}

/// Memory that a program can take without anything being swapped, as the system accounts for it.
fn free_bytes() -> Option<u64> {
    let kibibytes = |line: &str| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024);
    let account = std::fs::read_to_string("/proc/meminfo").ok()?;
    let free = account.lines().find_map(|line| kibibytes(line.strip_prefix("MemAvailable:")?))?;
    Some(free.min(free_in_group().unwrap_or(u64::MAX)))
}

/// What the control group of this process may still take, where it has a limit.
fn free_in_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Path::new("/sys/fs/cgroup").join(own);
    let bytes = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    Some(bytes("memory.max")?.saturating_sub(bytes("memory.current")?))
}

/// The table at a path or at the address of a database.
pub(crate) fn read(place: &Path, options: &ReadOptions<'_>) -> Result<Table, TableError> {
    match address(place) {
        Some(address) => hedgerow_databases::read(&Database { address, selection: None }, options),
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
