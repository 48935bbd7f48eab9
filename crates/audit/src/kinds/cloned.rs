//! The losses of a cloned release: people are described by statistics of sub-classes, and their
//! sensitive values are known only up to the class.
//!
//! Losses that are defined by levels or cells have no meaning here and are omitted; `ncp` counts
//! the suppressed rows alone. Classes are the sub-classes, and the risk is that of re-identifying
//! a person among the people of their sub-class.

use std::borrow::Cow;

use hedgerow_release::Release;
use hedgerow_release::bucketized::GROUP;
use hedgerow_release::cloned::{CLASS, Cloned};
use hedgerow_table::{Codes, Column, Domain, Progress, Table, TableError, Values};

use super::{Joinable, MeasureOptions, MeasuredKind, SourceTable, rows_suppressed};
use crate::class_sizes::SizeDistribution;
use crate::loss::{AttributeLoss, Losses};
use crate::measures::{Measures, TableMeasures};
use crate::number_error;
use crate::query::rows::{QueriedRows, Queryable, Sizes};
use crate::query_error::QueryOptions;
use crate::query_error::clones::{Clones, query_error};
use crate::risk::Risk;
use crate::rows::{OTHER_SOURCE, RowCounts};

impl MeasuredKind for Cloned {
    fn measure(
        &self,
        release: &Release,
        source: &SourceTable<'_>,
        options: &MeasureOptions,
        progress: &dyn Progress,
    ) -> Result<Measures, TableError> {
        let input = MeasuredClones {
            source: source.table,
            released: self,
            quasi: source.quasi.iter().map(|quasi| quasi.name).collect(),
            k: source.k,
            rows_suppressed: rows_suppressed(release, source),
        };
        measure_clones(&input, &options.queries, progress).map(Measures::Table)
    }

    /// Statistics do not compare value by value.
    fn joinable(&self, release: &Release) -> Result<Joinable, TableError> {
        Ok(Joinable { tables: Vec::new(), generalized: vec![release.name().to_owned()] })
    }

    fn queryable(&self) -> Vec<Queryable<'_>> {
        let mut values = self.counted.clone();
        let class = values.columns.iter_mut().find(|column| column.name == CLASS);
        class.into_iter().for_each(|class| class.name = GROUP.to_owned());
        let rows = QueriedRows::Buckets(Cow::Owned(people(self)), Cow::Owned(values), Sizes::WithCounterfeits);
        vec![Queryable { folder: "", rows, statistics: Some(self) }]
    }
}

/// One row for every person in a cloned release: in every quasi attribute their sub-class, and the
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

/// A cloned release with the table that it was made from.
#[derive(Debug)]
pub(crate) struct MeasuredClones<'a> {
    /// The private table, as read under the policy.
    pub(crate) source: &'a Table,
    pub(crate) released: &'a Cloned,
    /// The quasi-identifiers, in the order of the policy.
    pub(crate) quasi: Vec<&'a str>,
    /// The required k, or 1.
    pub(crate) k: u64,
    pub(crate) rows_suppressed: u64,
}

pub(crate) fn measure_clones(
    input: &MeasuredClones<'_>,
    queries: &QueryOptions,
    progress: &dyn Progress,
) -> Result<TableMeasures, TableError> {
    let read = input.released;
    let rows = RowCounts::checked(input.source.rows as u64, read.people(), input.rows_suppressed)?;
    let other = |name: &str| {
        TableError::input("statistics.csv", format!("`{name}` is not in both the release and the source"), OTHER_SOURCE)
    };
    let column = |name: &str| input.source.column(name).ok_or_else(|| other(name));
    let bind = |name: &&str| {
        let place = read.attributes.iter().position(|known| known == name).ok_or_else(|| other(name))?;
        Ok((column(name)?, place))
    };
    let release = Clones {
        quasi: input.quasi.iter().map(bind).collect::<Result<_, TableError>>()?,
        sensitive: column(&read.sensitive)?,
        read,
    };
    let sizes: Vec<u64> = read.sub_classes().map(|part| part.people()).filter(|&people| people > 0).collect();
    let losses = Losses::without_cells(&sizes, rows, input.k.max(1));
    let attributes = input.quasi.iter().map(|name| AttributeLoss::without_cells(name, rows)).collect();
    let numbers = number_error::of_clones(&release)?;
    let queries = query_error(&release, input.source.rows, queries, progress)?;
    Ok(TableMeasures {
        rows,
        losses,
        attributes,
        classes: SizeDistribution::of(&sizes),
        risk: Risk::of_classes(&sizes, None, input.k.max(1)),
        queries,
        singled_out: Vec::new(),
        buckets: false,
        numbers,
    })
}
