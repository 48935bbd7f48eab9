//! A generalized release in memory: one table in which the quasi attributes carry labels.

use std::path::Path;

use hedgerow_table::read::HeldTable;
use hedgerow_table::{Counted, Domain, EngineAnswer, Progress, Spill, Table, TableError};

use super::{ReleasedKind, covers, texts};
use crate::classes::ReleasedClasses;
use crate::codebook::Codebook;
use crate::manifest::Resource;
use crate::read::{quasi_of, read_released, read_released_within, sensitive_of, units_of};

#[derive(Debug, Clone, PartialEq)]
pub struct Generalized {
    pub table: Table,
    /// The names of the quasi attributes.
    pub quasi: Vec<String>,
    /// The names of the sensitive attributes.
    pub sensitive: Vec<String>,
    /// The names of the columns that say which rows are of one unit.
    pub units: Vec<String>,
    /// Where equal rows are held once, because all do not fit in memory: how often each occurs.
    /// Such a table can be judged, and nothing else.
    pub counts: Option<Vec<u32>>,
}

/// How a table is read that may not fit in memory.
#[derive(Debug, Clone, Copy)]
pub struct Within<'a> {
    /// The attributes that rules look at, beside the quasi attributes.
    pub judged: &'a [&'a str],
    pub by: ReadBy<'a>,
}

/// The reader of a released table.
#[derive(Clone, Copy)]
pub enum ReadBy<'a> {
    /// This process, with what does not fit in memory on the disk.
    Spill(&'a Spill),
    /// Another machine: only counts come here.
    Counter(&'a dyn CountReleased),
}

impl std::fmt::Debug for ReadBy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ReadBy::Spill(_) => "Spill",
            ReadBy::Counter(_) => "Counter",
        })
    }
}

/// An engine that reads released tables where they were written, and counts their distinct rows.
pub trait CountReleased {
    /// The distinct rows of a table over the columns named. The table must have the columns that
    /// its schema lists, in order, and no others.
    fn count(
        &self,
        directory: &Path,
        table: &Resource,
        names: &[&str],
        progress: &dyn Progress,
    ) -> Result<Counted, TableError>;
}

impl Generalized {
    pub(crate) fn read(directory: &Path, data: &Resource, progress: &dyn Progress) -> Result<Generalized, TableError> {
        let table = read_released(directory, data, progress)?;
        let (quasi, sensitive, units) = (quasi_of(data), sensitive_of(data), units_of(data));
        Ok(Generalized { table, quasi, sensitive, units, counts: None })
    }

    /// As rules look at it, where it does not fit in memory.
    pub(crate) fn read_within(
        directory: &Path,
        data: &Resource,
        within: Within<'_>,
        progress: &dyn Progress,
    ) -> Result<Generalized, TableError> {
        let (quasi, sensitive, units) = (quasi_of(data), sensitive_of(data), units_of(data));
        let mut names: Vec<&str> = quasi.iter().map(String::as_str).collect();
        for name in within.judged.iter().copied().chain(units.iter().map(String::as_str)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let spill = match within.by {
            ReadBy::Spill(spill) => spill,
            ReadBy::Counter(counter) => {
                let Counted { table, counts, .. } = counter.count(directory, data, &names, progress)?;
                return Ok(Generalized { table, quasi, sensitive, units, counts: Some(counts) });
            }
        };
        let spilled = match read_released_within(directory, data, spill, progress)? {
            HeldTable::Memory(table) => return Ok(Generalized { table, quasi, sensitive, units, counts: None }),
            HeldTable::Outside(spilled) => spilled,
        };
        match Counted::of(spilled.as_ref(), &names, progress)? {
            EngineAnswer::Exact(Counted { table, counts, .. }) => {
                Ok(Generalized { table, quasi, sensitive, units, counts: Some(counts) })
            }
            EngineAnswer::Unsupported(why) => {
                let place = directory.join(&data.path).display().to_string();
                Err(TableError::input(place, why, "allow more memory"))
            }
        }
    }

    pub(crate) fn classes_named(
        &self,
        name: &str,
        codebook: &Codebook,
        place: &str,
    ) -> Result<ReleasedClasses, TableError> {
        if self.counts.is_some() {
            return Err(TableError::Internal("a release that is not in memory has no classes".to_owned()));
        }
        ReleasedClasses::of_generalized(name, &self.table, &self.quasi, &self.sensitive, covers(codebook), place)
    }
}

impl ReleasedKind for Generalized {
    fn rows(&self) -> u64 {
        match &self.counts {
            Some(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
            None => self.table.rows as u64,
        }
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
        self.counts.is_none().then_some((&self.table, self.sensitive.as_slice()))
    }
}
