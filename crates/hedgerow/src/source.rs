//! Where the private rows come from.

use std::borrow::Cow;

use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_table::Table;

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
    /// The rows, without the policy's identifiers where they are read from its file.
    pub(crate) fn read(self, policy: &Policy, monitor: &Monitor<'_>) -> Result<Cow<'a, Table>, Error> {
        Ok(match self {
            Source::Policy => Cow::Owned(read_source(policy, monitor)?),
            Source::Table(table) => Cow::Borrowed(table),
        })
    }
}

impl<'a> From<&'a Table> for Source<'a> {
    fn from(table: &'a Table) -> Source<'a> {
        Source::Table(table)
    }
}
