//! A generalized release: one table, judged by the classes over what each rule's adversary knows.

use std::path::Path;

use hedgerow_release::manifest::Resource;
use hedgerow_release::read::{quasi_of, read_released};
use hedgerow_table::{Column, Domain, Progress, Table, TableError};

use super::Released;
use crate::check::{Checked, NamedRule, check_table};

#[derive(Debug)]
pub(super) struct Generalized {
    table: Table,
    quasi: Vec<String>,
    /// Names the table in errors.
    place: String,
}

impl Generalized {
    pub(super) fn read(directory: &Path, data: &Resource, progress: &dyn Progress) -> Result<Self, TableError> {
        let table = read_released(directory, data, progress)?;
        Ok(Generalized { table, quasi: quasi_of(data), place: directory.join(&data.path).display().to_string() })
    }
}

impl Released for Generalized {
    fn domain(&self, attribute: &str) -> Option<&Domain> {
        self.table.column(attribute).map(|column| &column.domain)
    }

    fn quasi(&self) -> Vec<&Column> {
        self.quasi.iter().filter_map(|name| self.table.column(name)).collect()
    }

    fn contradictions(&self) -> &[String] {
        &[]
    }

    fn judge(&self, rules: &[NamedRule]) -> Result<Checked, TableError> {
        check_table(&self.table, &self.quasi, rules, &self.place)
    }
}
