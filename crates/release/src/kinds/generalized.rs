//! A generalized release in memory: one table in which the quasi attributes carry labels.

use std::path::Path;

use hedgerow_table::{Domain, Progress, Table, TableError};

use super::{Kind, covers, texts};
use crate::classes::ReleasedClasses;
use crate::codebook::Codebook;
use crate::manifest::Resource;
use crate::read::{quasi_of, read_released, sensitive_of};

#[derive(Debug, Clone, PartialEq)]
pub struct Generalized {
    pub table: Table,
    /// The names of the quasi attributes.
    pub quasi: Vec<String>,
    /// The names of the sensitive attributes.
    pub sensitive: Vec<String>,
}

impl Generalized {
    pub(crate) fn read(directory: &Path, data: &Resource, progress: &dyn Progress) -> Result<Generalized, TableError> {
        let table = read_released(directory, data, progress)?;
        Ok(Generalized { table, quasi: quasi_of(data), sensitive: sensitive_of(data) })
    }

    pub(crate) fn classes_named(
        &self,
        name: &str,
        codebook: &Codebook,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        ReleasedClasses::of_generalized(name, &self.table, &self.quasi, &self.sensitive, covers(codebook), place)
    }
}

impl Kind for Generalized {
    fn rows(&self) -> u64 {
        self.table.rows as u64
    }

    fn domain(&self, attribute: &str) -> Option<&Domain> {
        self.table.column(attribute).map(|column| &column.domain)
    }

    fn labels(&self) -> Vec<(&str, Vec<String>)> {
        let quasi = self.quasi.iter().filter_map(|name| self.table.column(name));
        quasi.map(|column| (column.name.as_str(), texts(&column.domain))).collect()
    }

    fn classes(&self, codebook: &Codebook, place: &str) -> Result<Vec<ReleasedClasses>, TableError> {
        Ok(vec![self.classes_named("data", codebook, place)?])
    }

    fn sensitive_in_rows(&self) -> Option<(&Table, &[String])> {
        Some((&self.table, &self.sensitive))
    }
}
