//! The attacker's means: the tables that were released, and what is known beside them.

use hedgerow_release::classes::ReleasedClasses;
use hedgerow_release::{Codebook, JointShare, Spelling};
use hedgerow_table::{Progress, Table};

/// The attacker's knowledge of the columns that the people's table lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// Nothing: the attacker has the list and no more.
    #[default]
    Listed,
    /// All of them, of everyone: the attacker knows who is in which class, the auditor does not.
    All,
}

/// One released table among those that are audited together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Released<'a> {
    pub(crate) name: &'a str,
    pub(crate) classes: &'a ReleasedClasses,
    /// Rows of the source that are not in it, where a manifest says so.
    pub(crate) suppressed: u64,
    /// Rows may stand for no person.
    pub(crate) counterfeit: bool,
    /// Releases of one custodian have the same number.
    pub(crate) custodian: Option<usize>,
    /// The rows behind the classes, where they show the sensitive values beside the labels.
    pub(crate) rows: Option<&'a Table>,
    /// The columns of the rows that number units.
    pub(crate) units: &'a [String],
    /// The covers of coarser values.
    pub(crate) codebook: Option<&'a Codebook>,
    /// Our texts for those of the rows.
    pub(crate) spelling: Option<&'a Spelling>,
}

/// The attacker's knowledge beside the tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attacker<'a> {
    pub(crate) people: Option<&'a Table>,
    pub(crate) columns: Columns,
    /// The prior of each value, by its text; every world counts the same when empty.
    pub(crate) prior: &'a [(String, f64)],
    /// How attributes of several tables go together, for who has no list of people.
    pub(crate) joint: &'a [JointShare],
    pub(crate) progress: &'a dyn Progress,
}
