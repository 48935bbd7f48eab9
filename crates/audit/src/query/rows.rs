//! The tables of a release that a query reads: rows of labels, or rows and sensitive values that
//! share buckets.

use std::borrow::Cow;

use hedgerow_release::cloned::Cloned;
use hedgerow_table::Table;

#[derive(Debug)]
pub(crate) enum QueriedRows<'a> {
    Labels(Cow<'a, Table>),
    /// Quasi-identifiers and `group`; `group`, sensitive attributes and `count`.
    Buckets(Cow<'a, Table>, Cow<'a, Table>, Sizes),
}

/// How many values a bucket has, compared with its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// As many as rows.
    Equal,
    /// More than rows where some are of counterfeits.
    WithCounterfeits,
    /// As many as rows; rows without a bucket have no released value.
    WithRowsWithoutValues,
}

/// One table of a release, as a query sees it.
#[derive(Debug)]
pub(crate) struct Queryable<'a> {
    /// The folder of a sub-table; empty where the release is one table.
    pub(crate) folder: &'a str,
    pub(crate) rows: QueriedRows<'a>,
    /// The micro-statistics of a cloned release.
    pub(crate) statistics: Option<&'a Cloned>,
}

impl<'a> Queryable<'a> {
    /// The whole of a release.
    pub(crate) fn whole(rows: QueriedRows<'a>) -> Vec<Queryable<'a>> {
        vec![Queryable { folder: "", rows, statistics: None }]
    }
}
