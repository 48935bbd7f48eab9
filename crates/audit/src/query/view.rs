//! A release as a query sees it: rows of labels, or rows and sensitive values that share buckets.
//! Each sub-table of a decomposed release is a view of its own.

use std::borrow::Cow;

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::cloned::{CLASS, Cloned};
use hedgerow_release::decomposed::{Form, SubTable};
use hedgerow_release::manifest::Field;
use hedgerow_release::{Codebook, Release, Tables};
use hedgerow_table::{Bound, Codes, Column, Domain, Kind, Table, TableError, Values};

use super::buckets::Sizes;
use crate::estimate::axis::{Extent, real};

#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) codebook: Cow<'a, Codebook>,
    /// The kind of the values under the labels of a column, where the manifest states it.
    pub(crate) kinds: Vec<(String, Kind)>,
    /// The range that a column declares.
    pub(crate) ranges: Vec<(String, Extent)>,
    /// The micro-statistics of a cloned release; the labels of its quasi-identifiers are then
    /// sub-classes.
    pub(crate) statistics: Option<&'a Cloned>,
    /// Rows of the source that no table shows.
    pub(crate) suppressed: u64,
}

#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Labels(Cow<'a, Table>),
    /// Quasi-identifiers and `group`; `group`, sensitive attributes and `count`.
    Buckets(Cow<'a, Table>, Cow<'a, Table>, Sizes),
}

impl<'a> View<'a> {
    /// The views of a release, each under the name of its folder; one without a name where the
    /// release is one table. Rows come before buckets: they determine an answer better.
    pub(crate) fn of(release: &'a Release) -> Result<Vec<(&'a str, View<'a>)>, TableError> {
        if let Some(problem) = release.contradictions().first() {
            let problem = format!("the release contradicts itself: {problem}");
            return Err(TableError::input(release.name(), problem, "`hedgerow check` lists every problem"));
        }
        let view = |folder: &'a str, rows: Rows<'a>, statistics: Option<&'a Cloned>| View {
            rows,
            codebook: Cow::Borrowed(release.codebook()),
            kinds: fields(release, folder)
                .filter_map(|field| Some((field.name.clone(), field.values_kind()?)))
                .collect(),
            ranges: fields(release, folder).filter_map(|field| Some((field.name.clone(), range(field)?))).collect(),
            statistics,
            suppressed: release.manifest().map_or(0, |manifest| manifest.hedgerow.rows.suppressed),
        };
        Ok(match release.tables() {
            Tables::Generalized(tables) => vec![("", view("", Rows::Labels(Cow::Borrowed(&tables.table)), None))],
            Tables::Bucketized(tables) => {
                let rows = Rows::Buckets(Cow::Borrowed(&tables.quasi), Cow::Borrowed(&tables.counted), Sizes::Equal);
                vec![("", view("", rows, None))]
            }
            Tables::Cloned(tables) => {
                let mut values = tables.counted.clone();
                let class = values.columns.iter_mut().find(|column| column.name == CLASS);
                class.into_iter().for_each(|class| class.name = GROUP.to_owned());
                let rows = Rows::Buckets(Cow::Owned(people(tables)), Cow::Owned(values), Sizes::WithCounterfeits);
                vec![("", view("", rows, Some(tables.as_ref())))]
            }
            Tables::Decomposed(tables) => {
                let named = |table: &'a SubTable| (table.name.as_str(), view(&table.name, rows_of(table), None));
                let mut views: Vec<(&str, View<'a>)> = tables.tables.iter().map(named).collect();
                views.sort_by_key(|(_, view)| matches!(view.rows, Rows::Buckets(..)));
                views
            }
        })
    }

    pub(crate) fn row_count(&self) -> usize {
        match &self.rows {
            Rows::Labels(table) | Rows::Buckets(table, ..) => table.rows,
        }
    }

    /// The columns that can be queried, with the kind of their values.
    pub(crate) fn columns(&self) -> Vec<(&Column, Option<Kind>)> {
        let kind = |column: &Column| self.kinds.iter().find(|(name, _)| *name == column.name).map(|(_, kind)| *kind);
        match &self.rows {
            Rows::Labels(table) => table.columns.iter().map(|column| (column, kind(column))).collect(),
            Rows::Buckets(quasi, sensitive, _) => {
                let quasi = quasi.columns.iter().filter(|column| column.name != GROUP);
                let sensitive = sensitive.columns.iter().filter(|column| column.name != GROUP && column.name != COUNT);
                quasi.chain(sensitive).map(|column| (column, kind(column))).collect()
            }
        }
    }
}

fn rows_of(table: &SubTable) -> Rows<'_> {
    match &table.form {
        Form::Rows(tables) => Rows::Labels(Cow::Borrowed(&tables.table)),
        Form::Buckets(tables) => {
            Rows::Buckets(Cow::Borrowed(&tables.quasi), Cow::Borrowed(&tables.counted), Sizes::Equal)
        }
        Form::Combined(tables) => {
            Rows::Buckets(Cow::Borrowed(&tables.quasi), Cow::Borrowed(&tables.values), Sizes::WithRowsWithoutValues)
        }
    }
}

/// What the manifest states of the columns of the tables in a folder.
fn fields<'a>(release: &'a Release, folder: &'a str) -> impl Iterator<Item = &'a Field> {
    let resources = release.manifest().map_or(&[][..], |manifest| &manifest.resources);
    let here = resources.iter().filter(move |table| {
        folder.is_empty() || table.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    });
    here.flat_map(|table| &table.schema.fields)
}

/// An end that is open is infinite.
fn range(field: &Field) -> Option<Extent> {
    let [low, high] = field.declared_range()?;
    let end = |bound: Option<Bound>, open: f64| bound.and_then(real).unwrap_or(open);
    Some(Extent { low: end(low, f64::NEG_INFINITY), high: end(high, f64::INFINITY) })
}

/// One row for everybody in a cloned release: in every quasi attribute their sub-class, and the
/// class as their group.
fn people(read: &Cloned) -> Table {
    let parts: Vec<_> =
        read.classes.iter().flat_map(|class| class.sub_classes.iter().map(|part| (class.number, part))).collect();
    let repeat = |index: u32| std::iter::repeat_n(index, parts[index as usize].1.people() as usize);
    let rows = read.people() as usize;
    let sub_classes = Domain::new(Values::Integer((1..=parts.len() as i64).collect()), false);
    let mut columns: Vec<Column> = Vec::with_capacity(read.attributes.len() + 1);
    for name in &read.attributes {
        let codes = Codes::from_iter(parts.len(), (0..parts.len() as u32).flat_map(repeat));
        columns.push(Column { name: name.clone(), domain: sub_classes.clone(), codes });
    }
    let numbers: Vec<i64> = read.classes.iter().map(|class| class.number).collect();
    let place = |number: i64| numbers.binary_search(&number).unwrap_or_default() as u32;
    let groups = (0..parts.len() as u32).flat_map(|index| repeat(index).map(|index| place(parts[index as usize].0)));
    let codes = Codes::from_iter(numbers.len(), groups);
    columns.push(Column {
        name: GROUP.to_owned(),
        domain: Domain::new(Values::Integer(numbers.clone()), false),
        codes,
    });
    let header = columns.iter().map(|column| column.name.clone()).collect();
    Table { columns, rows, header, warnings: Vec::new() }
}
