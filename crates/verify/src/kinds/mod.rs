//! The tables of a release, read back from its directory and judged: one file for each kind of release.
//!
//! A kind is added as one more file with a [`Released`], one more [`Shape`], and one more line in [`read`]; the gate and
//! `check` know no kinds.

mod bucketized;
mod cloned;
mod decomposed;
mod generalized;

use std::fmt::Debug;
use std::path::Path;

use hedgerow_release::manifest::Manifest;
use hedgerow_release::shape::Shape;
use hedgerow_table::{Column, Domain, Progress, TableError};

use crate::check::{Checked, NamedRule};

pub use bucketized::refused_in_buckets;
pub use cloned::refused_in_clones;

/// A release as a stranger sees it, without its manifest.
pub trait Released: Debug {
    /// The values that a released attribute takes.
    fn domain(&self, attribute: &str) -> Option<&Domain>;

    /// The quasi attributes: every value in them must have an entry in the codebook.
    fn quasi(&self) -> Vec<&Column>;

    /// Where the tables contradict one another.
    fn contradictions(&self) -> &[String];

    /// What the tables reach. A rule that tables of this kind cannot be judged by is refused.
    fn judge(&self, rules: &[NamedRule]) -> Result<Checked, TableError>;
}

/// Reads the tables that a manifest lists; trusts it in nothing but their names, columns and types.
pub fn read(directory: &Path, manifest: &Manifest, progress: &dyn Progress) -> Result<Box<dyn Released>, TableError> {
    match Shape::of_release(directory, manifest)? {
        Shape::Generalized { data } => Ok(Box::new(generalized::Generalized::read(directory, data, progress)?)),
        Shape::Bucketized { quasi, sensitive } => {
            Ok(Box::new(bucketized::Buckets::read(directory, quasi, sensitive, progress)?))
        }
        Shape::Cloned { .. } => Ok(Box::new(cloned::Clones::read(directory, manifest, progress)?)),
        Shape::Decomposed { .. } => Ok(Box::new(decomposed::Decomposed::read(directory, manifest, progress)?)),
    }
}
