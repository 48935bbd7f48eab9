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
    /// Some of its values are of no person.
    pub(crate) counterfeit: bool,
    /// It describes the people of several classes by statistics.
    pub(crate) statistics: bool,
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
    /// The rows of a bucketized table.
    pub(crate) by_bucket: Option<BucketRows<'a>>,
    /// Where one table is divided into several, which of them it is.
    pub(crate) part: Part,
    /// The class of each row, where cells alone do not tell it.
    pub(crate) class_of: Option<&'a [u32]>,
    /// The link between the parts of a bucketized table.
    pub(crate) group: Option<BucketGroups<'a>>,
}

impl<'a> Released<'a> {
    /// A table of which nothing else is known.
    pub(crate) fn of(name: &'a str, classes: &'a ReleasedClasses) -> Released<'a> {
        Released {
            name,
            classes,
            suppressed: 0,
            counterfeit: false,
            statistics: false,
            custodian: None,
            rows: None,
            units: &[],
            codebook: None,
            spelling: None,
            by_bucket: None,
            part: Part::Whole,
            class_of: None,
            group: None,
        }
    }
}

/// Which part of a release a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// No release: the values by which the attacker knows people.
    List,
    /// The rows of a bucketized table, each with the number of its bucket.
    Rows,
    /// Its counts, by the same number.
    Counts,
}

/// The rows of a bucketized table as it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BucketRows<'a> {
    pub(crate) rows: &'a Table,
    /// Empty where not every row has one.
    pub(crate) bucket_of_row: &'a [u32],
    /// The number that stands for each bucket.
    pub(crate) numbers: &'a [i64],
}

/// The numbers of buckets as a column that two tables have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BucketGroups<'a> {
    pub(crate) name: &'a str,
    pub(crate) of_class: &'a [u32],
    pub(crate) numbers: &'a [i64],
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
