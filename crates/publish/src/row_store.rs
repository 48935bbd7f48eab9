//! Where the rows are (in memory, on the disk, in a database, on a cluster), and what the driver
//! does differently there: how rows are counted before the search, written, and read back.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use hedgerow_draft::bind::{Bound, refuse_cluster, source_options};
use hedgerow_draft::coarsen::{self, Coarsened};
use hedgerow_draft::dependencies::Dependencies;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::TableFormat;
use hedgerow_policy::Policy;
use hedgerow_release::ReadBy;
use hedgerow_table::engine::Embedded;
use hedgerow_table::read::{HeldTable, ReadOptions, read_table};
use hedgerow_table::{Column, Counted, Engine, InputError, Progress, Spill, Table, TableError};
use rand::rngs::StdRng;

use crate::catalog::Gate;
use crate::foreseen;
use crate::out_of_core::{self, Outside};
use crate::remote::{self, Remote};
use crate::repeating;
use crate::singling_out;
use crate::write::{self, Written};

/// Where the rows come from.
#[derive(Clone, Copy, Default)]
pub enum RowSource<'a> {
    /// The file that the policy names.
    #[default]
    Policy,
    /// Rows in memory. The policy's `[source]` is not read; its path is only a name in messages.
    Table(&'a Table),
    /// Another reader of what the policy names, such as a database or a cluster.
    Open(&'a OpenRows<'a>),
}

pub type OpenRows<'a> = dyn Fn(&ReadOptions<'_>) -> Result<RowStore<'a>, TableError> + 'a;

impl std::fmt::Debug for RowSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RowSource::Policy => "Policy",
            RowSource::Table(_) => "Table",
            RowSource::Open(_) => "Open",
        })
    }
}

impl<'a> From<&'a Table> for RowSource<'a> {
    fn from(table: &'a Table) -> Self {
        RowSource::Table(table)
    }
}

impl<'a> RowSource<'a> {
    /// Opens the released attributes, and the columns named in addition.
    pub(crate) fn open(
        self,
        policy: &Policy,
        also: &HashSet<String>,
        progress: &dyn Progress,
    ) -> Result<RowStore<'a>, TableError> {
        let options = || ReadOptions { if_few: repeating::names(policy), ..source_options(policy, also, progress) };
        match self {
            RowSource::Policy => {
                refuse_cluster(policy)?;
                Ok(RowStore::Memory(Cow::Owned(read_table(&policy.source.path, &options())?)))
            }
            RowSource::Table(table) => Ok(RowStore::Memory(Cow::Borrowed(table))),
            RowSource::Open(open) => open(&options()),
        }
    }
}

/// The rows of a source, where they are.
pub enum RowStore<'a> {
    Memory(Cow<'a, Table>),
    /// On the disk or in a database: they pass by in chunks, and spill within a limit of memory.
    Outside(Box<dyn Engine + 'a>, &'a Spill),
    /// On a cluster, which counts, recodes and writes them itself.
    Remote(Box<dyn Remote + 'a>),
}

impl std::fmt::Debug for RowStore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RowStore::Memory(_) => "Memory",
            RowStore::Outside(..) => "Outside",
            RowStore::Remote(_) => "Remote",
        })
    }
}

/// The input of the search: the table itself, or its distinct rows with their counts.
#[derive(Debug)]
pub(crate) enum Searchable<'a> {
    Rows(&'a Table),
    Distinct(Counted),
}

impl Searchable<'_> {
    pub(crate) fn table(&self) -> &Table {
        match self {
            Searchable::Rows(table) => table,
            Searchable::Distinct(counted) => &counted.table,
        }
    }
}

impl<'a> RowStore<'a> {
    /// Rows that were read within a limit of memory.
    pub fn held(held: HeldTable, spill: &'a Spill) -> RowStore<'a> {
        match held {
            HeldTable::Memory(table) => RowStore::Memory(Cow::Owned(table)),
            HeldTable::Outside(engine) => RowStore::Outside(engine, spill),
        }
    }

    /// A warning about an identifier that repeats where rules count rows. Nothing else looks at
    /// identifiers: but for the columns that are `also` read, they are not in memory afterwards.
    pub(crate) fn take_identifiers(
        &mut self,
        policy: &Policy,
        also: &HashSet<String>,
        progress: &dyn Progress,
    ) -> Result<Option<InputError>, TableError> {
        match self {
            RowStore::Memory(table) => {
                let warning = match repeating::may_repeat(policy, table) {
                    true => repeating::examine(policy, &Embedded::new(table), progress)?,
                    false => None,
                };
                if let Cow::Owned(table) = table {
                    let names = repeating::names(policy);
                    table.columns.retain(|column| !names.contains(&column.name) || also.contains(&column.name));
                }
                Ok(warning)
            }
            RowStore::Outside(engine, _) => repeating::examine(policy, engine.as_ref(), progress),
            RowStore::Remote(_) => Ok(None),
        }
    }

    /// The columns in memory that a policy makes coarser, as they are in the source.
    pub(crate) fn made_coarser(&self, policy: &Policy) -> Vec<Column> {
        let RowStore::Memory(table) = self else { return Vec::new() };
        let made_coarser = policy.attributes.iter().filter(|attribute| attribute.coarsen.is_some());
        made_coarser.filter_map(|attribute| table.column(&attribute.name).cloned()).collect()
    }

    /// The rows with the coarser values that a policy declares.
    pub(crate) fn coarsened(self, policy: &Policy) -> Result<(RowStore<'a>, Coarsened), TableError> {
        if !coarsen::declares(policy) {
            return Ok((self, Coarsened::default()));
        }
        match self {
            RowStore::Memory(table) => {
                let (table, coarsened) = coarsen::coarsen_table(policy, table)?;
                Ok((RowStore::Memory(table), coarsened))
            }
            RowStore::Outside(engine, spill) => {
                let (engine, coarsened) = coarsen::coarsen_engine(policy, engine)?;
                Ok((RowStore::Outside(engine, spill), coarsened))
            }
            RowStore::Remote(_) => Err(coarsen::refuse_elsewhere(policy).into()),
        }
    }

    pub(crate) fn in_memory(&self) -> bool {
        matches!(self, RowStore::Memory(_))
    }

    /// Rows that are on the disk, in whole or in part.
    pub(crate) fn outside(&self) -> Option<(&dyn Engine, &Spill)> {
        match self {
            RowStore::Outside(engine, spill) => Some((engine.as_ref(), spill)),
            RowStore::Memory(_) | RowStore::Remote(_) => None,
        }
    }

    /// The input of the search. A policy that needs rows in memory which are not there is refused.
    pub(crate) fn searchable(
        &self,
        policy: &Policy,
        gate: &Gate,
        progress: &dyn Progress,
    ) -> Result<Searchable<'_>, PublishError> {
        let engine: &dyn Engine = match self {
            RowStore::Memory(table) => return Ok(Searchable::Rows(table)),
            RowStore::Outside(engine, spill) => {
                out_of_core::refuse(policy, gate, engine.as_ref(), spill)?;
                let enough = foreseen::enough_to_hold(policy, gate, engine.profile(), spill);
                let counted = out_of_core::counted(policy, engine.as_ref(), Some(enough), progress)?;
                return Ok(Searchable::Distinct(counted));
            }
            RowStore::Remote(remote) => {
                remote::refuse(policy, gate)?;
                remote.as_ref()
            }
        };
        Ok(Searchable::Distinct(out_of_core::counted(policy, engine, None, progress)?))
    }

    /// Warnings about columns that single individuals out.
    pub(crate) fn singling_out(
        &self,
        policy: &Policy,
        searched: &Searchable<'_>,
        progress: &dyn Progress,
    ) -> Result<Vec<InputError>, PublishError> {
        let engine: &dyn Engine = match self {
            RowStore::Memory(table) => return Ok(singling_out::examine(policy, table)?),
            RowStore::Outside(engine, _) => engine.as_ref(),
            RowStore::Remote(remote) => remote.as_ref(),
        };
        match searched {
            Searchable::Distinct(counted) => Ok(singling_out::examine_outside(policy, engine, counted, progress)?),
            Searchable::Rows(table) => Ok(singling_out::examine(policy, table)?),
        }
    }

    /// The consequences of attackers' knowledge.
    pub(crate) fn dependencies(&self, policy: &Policy, progress: &dyn Progress) -> Result<Dependencies, TableError> {
        match self {
            RowStore::Memory(table) => Dependencies::of_table(policy, table, progress),
            RowStore::Outside(engine, _) => {
                let mut found = Dependencies::examine(policy, engine.as_ref(), progress)?;
                found.keep_texts(engine.as_ref(), progress)?;
                Ok(found)
            }
            RowStore::Remote(remote) => {
                let mut found = Dependencies::examine(policy, remote.as_ref(), progress)?;
                found.keep_texts(remote.as_ref(), progress)?;
                Ok(found)
            }
        }
    }

    /// Writes all tables of a draft and its codebook below `root`.
    pub(crate) fn write(
        &self,
        mut draft: Draft<'_>,
        bound: &Bound<'_>,
        root: &Path,
        format: TableFormat,
        rng: &mut StdRng,
        progress: &dyn Progress,
    ) -> Result<Written, PublishError> {
        let outside = match self {
            RowStore::Memory(_) => None,
            RowStore::Outside(engine, spill) => Some(Outside::new(engine.as_ref(), spill, bound, &mut draft)?),
            RowStore::Remote(remote) => {
                return write::write_elsewhere(&mut draft, bound, remote.as_ref(), root, rng, progress);
            }
        };
        Ok(write::write(draft.tables, &draft.codebook, root, format, outside, rng, progress)?)
    }

    /// How a release that does not fit in memory is read back.
    pub(crate) fn read_by(&self) -> Option<ReadBy<'_>> {
        match self {
            RowStore::Memory(_) => None,
            RowStore::Outside(_, spill) => Some(ReadBy::Spill(spill)),
            RowStore::Remote(remote) => Some(ReadBy::Counter(remote.as_ref())),
        }
    }

    /// Bytes that were put into temporary files.
    pub(crate) fn spilled(&self) -> u64 {
        match self {
            RowStore::Outside(_, spill) => spill.written(),
            RowStore::Memory(_) | RowStore::Remote(_) => 0,
        }
    }
}
