//! What a kind of release shows to a query: rows of labels, or rows and sensitive values that share
//! buckets.

use std::borrow::Cow;

use hedgerow_release::cloned::Cloned;
use hedgerow_table::Table;

use super::buckets::Sizes;

#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Labels(Cow<'a, Table>),
    /// Quasi-identifiers and `group`; `group`, sensitive attributes and `count`.
    Buckets(Cow<'a, Table>, Cow<'a, Table>, Sizes),
}

/// One table of a release, as a query sees it.
#[derive(Debug)]
pub(crate) struct Queryable<'a> {
    /// The folder of a sub-table; empty where the release is one table.
    pub(crate) folder: &'a str,
    pub(crate) rows: Rows<'a>,
    /// The micro-statistics of a cloned release.
    pub(crate) statistics: Option<&'a Cloned>,
}

impl<'a> Queryable<'a> {
    /// The whole of a release.
    pub(crate) fn whole(rows: Rows<'a>) -> Vec<Queryable<'a>> {
        vec![Queryable { folder: "", rows, statistics: None }]
    }
}
