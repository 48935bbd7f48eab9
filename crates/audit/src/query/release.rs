//! A release that can be asked: its tables as they were read, whatever the method that made it.

use std::path::Path;

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::cloned::{CLASS, Cloned};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{Field, Manifest};
use hedgerow_release::read::{read_codebook, read_released};
use hedgerow_release::shape::Shape;
use hedgerow_table::{Codes, Column, Domain, Kind, Progress, Table, TableError, Values};

use super::buckets::Buckets;

/// A release in memory.
#[derive(Debug)]
pub struct Release {
    pub(crate) tables: Tables,
    pub(crate) codebook: Codebook,
    /// The kind of the values under the labels of a column, where the manifest says it.
    pub(crate) kinds: Vec<(String, Kind)>,
    /// The statistics that tell what is under the labels of the quasi attributes, which are then sub-classes.
    pub(crate) told: Option<Cloned>,
}

#[derive(Debug)]
pub(crate) enum Tables {
    Generalized(Table),
    /// Quasi attributes and `group`; `group`, sensitive attributes and `count`.
    Bucketized(Table, Table),
}

impl Release {
    /// Reads the release in a directory.
    pub fn read(directory: &Path, progress: &dyn Progress) -> Result<Release, TableError> {
        let manifest = Manifest::read(directory)?;
        Release::of(directory, &manifest, Shape::of_release(directory, &manifest)?, progress)
    }

    /// Reads tables of one shape.
    pub(super) fn of(
        directory: &Path,
        manifest: &Manifest,
        shape: Shape<'_>,
        progress: &dyn Progress,
    ) -> Result<Release, TableError> {
        let fields = shape.tables().into_iter().flat_map(|table| &table.schema.fields);
        let kinds = fields.filter_map(|field: &Field| Some((field.name.clone(), field.values_kind()?))).collect();
        let mut told = None;
        let (tables, codebook) = match shape {
            Shape::Generalized { data } => {
                (Tables::Generalized(read_released(directory, data, progress)?), read_codebook(directory)?)
            }
            Shape::Cloned { sensitive, .. } => {
                let read = Cloned::read(directory, manifest, progress)?;
                let mut values = read_released(directory, sensitive, progress)?;
                let class = values.columns.iter_mut().find(|column| column.name == CLASS);
                class.into_iter().for_each(|class| class.name = GROUP.to_owned());
                let tables = Tables::Bucketized(people(&read), values);
                told = Some(read);
                (tables, Codebook::new())
            }
            // Everything in it is released as it is: there is nothing to look up.
            Shape::Bucketized { quasi, sensitive } => {
                let rows = read_released(directory, quasi, progress)?;
                (Tables::Bucketized(rows, read_released(directory, sensitive, progress)?), Codebook::new())
            }
            Shape::Decomposed { .. } => {
                let problem = "this release is several tables, and one is asked for";
                return Err(TableError::input(directory.display().to_string(), problem, "name one of its tables"));
            }
        };
        Ok(Release { tables, codebook, kinds, told })
    }

    pub(crate) fn rows(&self) -> usize {
        match &self.tables {
            Tables::Generalized(table) | Tables::Bucketized(table, _) => table.rows,
        }
    }

    /// The columns that can be asked about, with the kind of their values.
    pub(crate) fn columns(&self) -> Vec<(&Column, Option<Kind>)> {
        let kind = |column: &Column| self.kinds.iter().find(|(name, _)| *name == column.name).map(|(_, kind)| *kind);
        match &self.tables {
            Tables::Generalized(table) => table.columns.iter().map(|column| (column, kind(column))).collect(),
            Tables::Bucketized(quasi, sensitive) => {
                let quasi = quasi.columns.iter().filter(|column| column.name != GROUP);
                let sensitive = sensitive.columns.iter().filter(|column| column.name != GROUP && column.name != COUNT);
                quasi.chain(sensitive).map(|column| (column, kind(column))).collect()
            }
        }
    }
}

/// One row for everybody in a cloned release: in every quasi attribute their sub-class, and the class as their group.
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

impl<'a> Buckets<'a> {
    /// A bucket may have more values than rows where some of them are `counterfeit`.
    pub(crate) fn new(quasi: &'a Table, sensitive: &'a Table, counterfeits: bool) -> Result<Buckets<'a>, TableError> {
        let damaged = |problem: &str| {
            TableError::input(
                "release",
                problem,
                "the two tables of this release do not belong together; publish it again",
            )
        };
        let (Some(group), Some(other)) = (quasi.column(GROUP), sensitive.column(GROUP)) else {
            return Err(damaged("a table has no column `group`"));
        };
        let counts = sensitive.column(COUNT).ok_or_else(|| damaged("the sensitive table has no column `count`"))?;
        let translate = |code: u32| group.domain.code_of(&other.domain.text(code));
        let translated: Vec<Option<u32>> = (0..other.domain.cardinality() as u32).map(translate).collect();
        let mut of_value = Vec::with_capacity(sensitive.rows);
        for row in 0..sensitive.rows {
            let bucket = translated[other.codes.get(row) as usize];
            let count =
                counts.domain.number(counts.codes.get(row)).filter(|count| *count >= 1.0 && count.fract() == 0.0);
            match (bucket, count) {
                (Some(bucket), Some(count)) => of_value.push((bucket, count as u64)),
                (None, _) => return Err(damaged("a group of the sensitive table has no rows in the quasi table")),
                (_, None) => return Err(damaged("a count of the sensitive table is not a whole number from 1")),
            }
        }
        let of_row: Vec<u32> = group.codes.iter().collect();
        let count = group.domain.cardinality();
        let mut sizes = vec![0u64; count];
        of_row.iter().for_each(|bucket| sizes[*bucket as usize] += 1);
        let mut values = vec![0u64; count];
        of_value
            .iter()
            .for_each(|(bucket, rows)| values[*bucket as usize] = values[*bucket as usize].saturating_add(*rows));
        let apart = |(rows, values): (&u64, &u64)| if counterfeits { rows > values } else { rows != values };
        if sizes.iter().zip(&values).any(apart) {
            return Err(damaged("a group has another number of rows than of sensitive values"));
        }
        let place = |table: &Table, side: bool| {
            let named = table.columns.iter().enumerate();
            named
                .filter(|(_, column)| column.name != GROUP && !(side && column.name == COUNT))
                .map(|(at, _)| (side, at))
                .collect::<Vec<_>>()
        };
        let columns = [place(quasi, false), place(sensitive, true)].concat();
        Ok(Buckets { quasi, sensitive, columns, of_row, of_value, count })
    }
}
