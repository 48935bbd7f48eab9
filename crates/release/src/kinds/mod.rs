//! The kinds of releases, one file each: its tables in memory, how they are read back, and where
//! they contradict one another.
//!
//! A kind is added as one more file here, with a [`Shape`] by which it is recognized and a variant
//! of [`ReleaseTables`].

pub mod bucketized;
pub mod cloned;
pub mod combined;
pub mod decomposed;
pub mod generalized;

use std::path::Path;

use hedgerow_table::{Domain, Progress, Table, TableError};

use crate::classes::ReleasedClasses;
use crate::codebook::Codebook;
use crate::shape::Shape;
use bucketized::Bucketized;
use cloned::Cloned;
use decomposed::Decomposed;
use generalized::{Generalized, Within};

/// The tables of a release, each read once.
#[derive(Debug, Clone, PartialEq)]
pub enum ReleaseTables {
    Generalized(Generalized),
    Bucketized(Box<Bucketized>),
    Cloned(Box<Cloned>),
    Decomposed(Decomposed),
}

/// The interface of every kind of release.
pub(crate) trait ReleasedKind {
    /// Released rows; counterfeits are not among them.
    fn rows(&self) -> u64;

    /// The values that a released attribute takes.
    fn domain(&self, attribute: &str) -> Option<&Domain>;

    /// The same in every table that has the attribute.
    fn domains(&self, attribute: &str) -> Vec<&Domain> {
        self.domain(attribute).into_iter().collect()
    }

    /// The quasi attributes with the labels that occur: each must have an entry in the codebook.
    fn labels(&self) -> Vec<(&str, Vec<String>)>;

    /// All attributes that the codebook may explain, with the texts that rows have.
    fn occurring(&self) -> Vec<(&str, Vec<String>)> {
        self.labels()
    }

    /// Whether roles apply: each attribute is either known or protected. Not where one rule
    /// protects what another takes as known.
    fn has_roles(&self) -> bool {
        true
    }

    /// The attributes that the codebook may explain.
    fn explainable(&self) -> Vec<&str> {
        self.labels().into_iter().map(|(attribute, _)| attribute).collect()
    }

    /// Where the tables contradict one another, given what their labels cover.
    fn contradictions_with(&self, _codebook: &Codebook) -> Vec<String> {
        Vec::new()
    }

    /// The sensitive attributes, where rows show them beside their labels.
    fn sensitive_in_rows(&self) -> Option<(&Table, &[String])> {
        None
    }

    /// The classes of every table. `place` names the release in errors.
    fn classes(&self, codebook: &Codebook, place: &str) -> Result<Vec<ReleasedClasses>, TableError>;
}

impl ReleaseTables {
    /// Reads the tables of a shape as they stand, and says where they contradict one another.
    pub(crate) fn read(
        directory: &Path,
        shape: Shape<'_>,
        within: Option<Within<'_>>,
        progress: &dyn Progress,
    ) -> Result<(ReleaseTables, Vec<String>), TableError> {
        Ok(match shape {
            Shape::Generalized { data } => {
                let table = match within {
                    Some(within) => Generalized::read_within(directory, data, within, progress)?,
                    None => Generalized::read(directory, data, progress)?,
                };
                (ReleaseTables::Generalized(table), Vec::new())
            }
            Shape::Bucketized { quasi, sensitive } => {
                let by = within.map(|within| within.by);
                let (tables, problems) = Bucketized::examine_within(directory, quasi, sensitive, by, progress)?;
                (ReleaseTables::Bucketized(Box::new(tables)), problems)
            }
            Shape::Cloned { statistics, sensitive } => {
                let (tables, problems) = Cloned::examine(directory, statistics, sensitive, progress)?;
                (ReleaseTables::Cloned(Box::new(tables)), problems)
            }
            Shape::Decomposed { tables } => {
                let (tables, problems) = Decomposed::examine(directory, tables, progress)?;
                (ReleaseTables::Decomposed(tables), problems)
            }
        })
    }

    pub(crate) fn kind(&self) -> &dyn ReleasedKind {
        match self {
            ReleaseTables::Generalized(tables) => tables,
            ReleaseTables::Bucketized(tables) => tables.as_ref(),
            ReleaseTables::Cloned(tables) => tables.as_ref(),
            ReleaseTables::Decomposed(tables) => tables,
        }
    }
}

/// The cover of a label of a quasi attribute: as the codebook has it, else as the label itself
/// reads.
pub(crate) fn covers(codebook: &Codebook) -> impl FnMut(&str, &str) -> hedgerow_table::Cover + '_ {
    |attribute, label| match codebook.cover(attribute, label) {
        Some(cover) => cover.clone(),
        None => crate::notation::cover_of_label(label),
    }
}

/// The labels of a column.
pub(crate) fn texts(domain: &Domain) -> Vec<String> {
    (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect()
}
