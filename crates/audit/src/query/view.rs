//! A release as a query sees it: rows of labels, or rows and sensitive values that share buckets.
//! Each sub-table of a decomposed release is a view of its own.

use std::borrow::Cow;

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::cloned::Cloned;
use hedgerow_release::{Codebook, Release};
use hedgerow_table::{Column, TableError};

use super::rows::{QueriedRows, Queryable};
use crate::estimate::declared::{Declared, declared};
use crate::kinds::kind;

#[derive(Debug)]
pub(crate) struct QueryView<'a> {
    pub(crate) rows: QueriedRows<'a>,
    pub(crate) codebook: Cow<'a, Codebook>,
    /// The manifest's declaration of each column.
    pub(crate) declared: Vec<(String, Declared)>,
    /// The micro-statistics of a cloned release; the labels of its quasi-identifiers are then
    /// sub-classes.
    pub(crate) statistics: Option<&'a Cloned>,
    /// Rows of the source that no table shows.
    pub(crate) suppressed: u64,
}

impl<'a> QueryView<'a> {
    /// The views of a release, each under the name of its folder; one without a name where the
    /// release is one table. Rows come before buckets: they determine an answer better.
    pub(crate) fn of(release: &'a Release) -> Result<Vec<(&'a str, QueryView<'a>)>, TableError> {
        if let Some(problem) = release.contradictions().first() {
            let problem = format!("the release contradicts itself: {problem}");
            return Err(TableError::input(release.name(), problem, "`hedgerow check` lists every problem"));
        }
        let view = |folder: &'a str, rows: QueriedRows<'a>, statistics: Option<&'a Cloned>| QueryView {
            rows,
            codebook: Cow::Borrowed(release.codebook()),
            declared: declared(release, folder),
            statistics,
            suppressed: release.manifest().map_or(0, |manifest| manifest.hedgerow.rows.suppressed),
        };
        let mut views: Vec<(&str, QueryView<'a>)> = (kind(release).queryable().into_iter())
            .map(|Queryable { folder, rows, statistics }| (folder, view(folder, rows, statistics)))
            .collect();
        views.sort_by_key(|(_, view)| matches!(view.rows, QueriedRows::Buckets(..)));
        Ok(views)
    }

    pub(crate) fn row_count(&self) -> usize {
        match &self.rows {
            QueriedRows::Labels(table) | QueriedRows::Buckets(table, ..) => table.rows,
        }
    }

    /// The columns that can be queried, with what is stated of their values.
    pub(crate) fn columns(&self) -> Vec<(&Column, Declared)> {
        let found = |column: &Column| self.declared.iter().find(|(name, _)| *name == column.name);
        let stated = |column: &Column| found(column).map_or(Declared::default(), |(_, stated)| *stated);
        match &self.rows {
            QueriedRows::Labels(table) => table.columns.iter().map(|column| (column, stated(column))).collect(),
            QueriedRows::Buckets(quasi, sensitive, _) => {
                let quasi = quasi.columns.iter().filter(|column| column.name != GROUP);
                let sensitive = sensitive.columns.iter().filter(|column| column.name != GROUP && column.name != COUNT);
                quasi.chain(sensitive).map(|column| (column, stated(column))).collect()
            }
        }
    }
}
