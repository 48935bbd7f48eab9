//! Databases, behind the feature `databases`. Without it, an address of a database is refused.

#[cfg(feature = "databases")]
pub(crate) use hedgerow_databases::{Destination, divided, fetch, read, read_within};

#[cfg(not(feature = "databases"))]
pub(crate) use absent::{Destination, divided, fetch, read, read_within};

#[cfg(not(feature = "databases"))]
mod absent {
    use std::path::Path;

    use hedgerow_config::{Address, Database, Selection};
    use hedgerow_table::read::{HeldTable, ReadOptions};
    use hedgerow_table::{InputError, Progress, Spill, Table, TableError};

    fn refuse<T>(address: &Address) -> Result<T, TableError> {
        let hint = "build with the feature `databases`, or name a file";
        Err(InputError::new(address.to_string(), "this build does not connect to databases", hint).into())
    }

    pub(crate) fn read(database: &Database, _: &ReadOptions<'_>) -> Result<Table, TableError> {
        refuse(&database.address)
    }

    pub(crate) fn read_within(database: &Database, _: &ReadOptions<'_>, _: &Spill) -> Result<HeldTable, TableError> {
        refuse(&database.address)
    }

    pub(crate) fn divided(address: &Address) -> Result<(String, Option<Selection>), TableError> {
        refuse(address)
    }

    pub(crate) fn fetch(address: &Address, _: &Path, _: &dyn Progress) -> Result<Vec<String>, TableError> {
        refuse(address)
    }

    /// Never made: preparing one is refused.
    pub(crate) enum Destination {}

    impl Destination {
        pub(crate) fn prepare(address: Address, _overwrite: bool) -> Result<Destination, TableError> {
            refuse(&address)
        }

        pub(crate) fn write(&self, _: &Path, _: &dyn Progress) -> Result<(), TableError> {
            match *self {}
        }
    }
}
