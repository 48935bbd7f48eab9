//! Writing a decomposed release: one folder per sub-table, each with rows in an order of its own and, where it is
//! bucketized, with bucket numbers of its own; verified from the written bytes.

use std::borrow::Cow;
use std::path::Path;

use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{Field, KnownDependency, Resource, Rows};
use hedgerow_table::{Codes, Column, Domain, Kind, TableError, Values};
use hedgerow_verify::check::{Checked, NamedRule};
use hedgerow_verify::verified::{Staged, Verified};
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::rules::Rules;
use super::{Groups, Subtable};
use crate::bind::Bound;
use crate::error::PublishError;
use crate::full_domain::recoded;
use crate::generalized::{self, Recoded, role_name};
use crate::publish::{PublishOptions, TableFormat};
use crate::rows::{Flushing, ReleasedColumn, Shuffled, shuffle, write_csv, write_parquet};

/// Writes all sub-tables and the codebook into the staged directory and verifies them.
pub(super) fn write(
    bound: &Bound<'_>,
    rules: &Rules<'_>,
    tables: &[Subtable],
    losses: &Map<String, Value>,
    attacked: String,
    staged: Staged,
    options: &PublishOptions<'_>,
) -> Result<(Verified, Checked), PublishError> {
    let mut rng = generalized::rng(options)?;
    let mut writing = Writing {
        bound,
        rules,
        root: staged.path(),
        options,
        codebook: Codebook::new(),
        resources: Vec::new(),
        flushing: Vec::new(),
    };
    writing.labels_as_they_are(tables)?;
    for (index, table) in tables.iter().enumerate() {
        let folder = format!("table-{}", index + 1);
        let path = staged.path().join(&folder);
        std::fs::create_dir(&path).map_err(|error| TableError::io(&path, error))?;
        writing.table(&folder, table, &mut rng)?;
    }
    let Writing { codebook, resources, flushing, .. } = writing;
    let paths: Vec<_> = resources.iter().map(|resource| staged.path().join(&resource.path)).collect();
    generalized::write_whole(&codebook, &staged.path().join("codebook.csv"))?;
    let count = bound.table.rows as u64;
    let rows = Rows { source: count, out: count, suppressed: 0 };
    let mut manifest = generalized::manifest(bound, resources, rows, &roughly(losses));
    manifest.hedgerow.intersection_attack = Some(attacked);
    manifest.hedgerow.dependencies = (rules.dependencies.iter())
        .map(|dependency| KnownDependency {
            from: rules.names(dependency.from).into_iter().map(str::to_owned).collect(),
            to: rules.columns[dependency.to].name.clone(),
        })
        .collect();
    let verified = staged.verify(manifest, |_| named_rules(bound, rules), |_, _| {}, options.progress)?;
    for (flushing, path) in flushing.into_iter().zip(&paths) {
        flushing.wait(path)?;
    }
    Ok(verified)
}

/// To two decimals: all digits of a divergence would let readers try out who has which value.
fn roughly(losses: &Map<String, Value>) -> Map<String, Value> {
    let round = |value: &Value| match value.as_f64().filter(|_| !value.is_u64()) {
        Some(number) => json!((number * 100.0).round() / 100.0),
        None => value.clone(),
    };
    losses.iter().map(|(name, value)| (name.clone(), round(value))).collect()
}

/// The policy's rules as a reader can recompute them. A combination is protected by the one of its attributes that is.
fn named_rules(bound: &Bound<'_>, rules: &Rules<'_>) -> Vec<NamedRule> {
    let own = rules.own.iter().enumerate();
    own.map(|(index, &of_policy)| {
        let rule = &bound.policy.rules[of_policy];
        let protect = rules.representative(index).map(|attribute| rules.columns[attribute].name.clone());
        let (know, require) = (rule.know.clone(), rule.require.clone());
        let community = protect.as_ref().and_then(|name| bound.community(name)).cloned();
        NamedRule { know, protect, require, tree: None, community }
    })
    .collect()
}

struct Writing<'a> {
    bound: &'a Bound<'a>,
    rules: &'a Rules<'a>,
    root: &'a Path,
    options: &'a PublishOptions<'a>,
    codebook: Codebook,
    resources: Vec<Resource>,
    flushing: Vec<Flushing>,
}

impl Writing<'_> {
    /// Only values that some table releases as they are: the codebook would disclose the others.
    fn labels_as_they_are(&mut self, tables: &[Subtable]) -> Result<(), TableError> {
        for (attribute, column) in self.rules.columns.iter().enumerate() {
            let Some(quasi) = self.bound.quasi.iter().find(|quasi| quasi.attribute.name == column.name) else {
                continue;
            };
            let holds = |table: &&Subtable| match table.regions {
                Some(_) => table.sensitive.contains(attribute),
                None => table.attributes.contains(attribute),
            };
            let mut released = vec![false; column.codes.len()];
            for table in tables.iter().filter(holds) {
                let by_bucket = table.groups.as_ref().filter(|_| table.sensitive.contains(attribute));
                let is_released = |row: usize| by_bucket.is_none_or(|groups| groups.of_row[row] != Groups::NONE);
                released.iter_mut().enumerate().for_each(|(row, released)| *released |= is_released(row));
            }
            generalized::add_labels(&mut self.codebook, quasi, &recoded(quasi, 0), Some(&released))?;
        }
        Ok(())
    }

    fn table(&mut self, folder: &str, table: &Subtable, rng: &mut StdRng) -> Result<(), PublishError> {
        if let Some(regions) = &table.regions {
            return regions.with_recoded(self.bound.table, |own, recoded| self.generalized(folder, own, recoded, rng));
        }
        let open: Vec<&Column> = table.open().iter().map(|attribute| self.rules.columns[attribute]).collect();
        let mut columns: Vec<ReleasedColumn<'_>> = open.iter().map(|column| ReleasedColumn::as_it_is(column)).collect();
        let Some(groups) = &table.groups else {
            return Ok(self.file(folder, "data", &columns, rng)?);
        };
        let mut numbers: Vec<u32> = (0..groups.len() as u32).collect();
        shuffle(&mut numbers, rng);
        let has_rows_without_value = groups.of_row.contains(&Groups::NONE);
        let count = groups.len() as u32;
        let domain = Domain::new(Values::Integer((1..=i64::from(count)).collect()), has_rows_without_value);
        let mut texts: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
        texts.extend(has_rows_without_value.then(String::new));
        let group = |codes| ReleasedColumn {
            name: GROUP,
            codes: Cow::Borrowed(codes),
            domain: Cow::Borrowed(&domain),
            kind: Kind::Integer,
            texts: texts.clone(),
        };
        // A row without sensitive values has no number: the missing one, which comes last.
        let number = |&group: &u32| numbers.get(group as usize).copied().unwrap_or(count);
        let of_row = Codes::U32(groups.of_row.iter().map(number).collect());
        columns.push(group(&of_row));
        self.file(folder, "quasi", &columns, rng)?;
        let sensitive: Vec<&Column> = table.sensitive.iter().map(|attribute| self.rules.columns[attribute]).collect();
        let counted = Counted::new(&sensitive, groups, &numbers);
        let mut columns = vec![group(&counted.groups)];
        columns.extend(
            sensitive.iter().zip(&counted.values).map(|(column, codes)| ReleasedColumn {
                codes: Cow::Borrowed(codes),
                ..ReleasedColumn::as_it_is(column)
            }),
        );
        columns.push(counted.count_column());
        Ok(self.file(folder, "sensitive", &columns, rng)?)
    }

    /// A table of classes, released as their regions.
    fn generalized(
        &mut self,
        folder: &str,
        own: &Bound<'_>,
        recoded: Vec<Recoded<'_>>,
        rng: &mut StdRng,
    ) -> Result<(), PublishError> {
        for (quasi, recoded) in own.quasi.iter().zip(&recoded) {
            generalized::add_labels(&mut self.codebook, quasi, recoded, None)?;
        }
        Ok(self.file_with_roles(folder, "data", &generalized::released_columns(own, recoded), own, rng)?)
    }

    /// One file in random order.
    fn file(
        &mut self,
        folder: &str,
        name: &str,
        columns: &[ReleasedColumn<'_>],
        rng: &mut StdRng,
    ) -> Result<(), TableError> {
        self.file_with_roles(folder, name, columns, self.bound, rng)
    }

    fn file_with_roles(
        &mut self,
        folder: &str,
        name: &str,
        columns: &[ReleasedColumn<'_>],
        roles: &Bound<'_>,
        rng: &mut StdRng,
    ) -> Result<(), TableError> {
        let field = |column: &ReleasedColumn<'_>| {
            Field::new(column.name, column.kind, role_name(roles, column.name)).over(column.domain.kind())
        };
        let fields = columns.iter().map(field).collect();
        let shuffled = Shuffled::new(columns.first().map_or(0, |column| column.codes.len()), None, rng);
        let full_name = format!("{folder}-{name}");
        let (mut resource, ending) = match self.options.format {
            TableFormat::Csv => (Resource::csv(&full_name, fields), "csv"),
            TableFormat::Parquet => (Resource::parquet(&full_name, fields), "parquet"),
        };
        resource.path = format!("{folder}/{name}.{ending}");
        let path = self.root.join(&resource.path);
        self.flushing.push(match self.options.format {
            TableFormat::Csv => write_csv(&path, columns, &shuffled, self.options.progress)?,
            TableFormat::Parquet => write_parquet(&path, columns, &shuffled, self.options.progress)?,
        });
        self.resources.push(resource);
        Ok(())
    }
}

/// The rows of `sensitive`: every combination of sensitive values that occurs in a bucket, and how often.
struct Counted {
    groups: Codes,
    /// One for each sensitive attribute.
    values: Vec<Codes>,
    counts: Codes,
    /// The counts that occur, ascending.
    distinct: Domain,
}

impl Counted {
    fn new(sensitive: &[&Column], groups: &Groups, numbers: &[u32]) -> Counted {
        let mut listed: Vec<(u32, Vec<u32>)> = (groups.of_row.iter().enumerate())
            .filter(|(_, group)| **group != Groups::NONE)
            .map(|(row, &group)| {
                (numbers[group as usize], sensitive.iter().map(|column| column.codes.get(row)).collect())
            })
            .collect();
        listed.sort_unstable();
        let runs: Vec<(&(u32, Vec<u32>), i64)> =
            listed.chunk_by(|one, other| one == other).map(|run| (&run[0], run.len() as i64)).collect();
        let mut distinct: Vec<i64> = runs.iter().map(|&(_, count)| count).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |count: i64| distinct.binary_search(&count).expect("collected above") as u32;
        let value = |at: usize, column: &&Column| {
            Codes::from_iter(column.domain.cardinality(), runs.iter().map(|((_, codes), _)| codes[at]))
        };
        Counted {
            groups: Codes::U32(runs.iter().map(|((number, _), _)| *number).collect()),
            values: sensitive.iter().enumerate().map(|(at, column)| value(at, column)).collect(),
            counts: Codes::from_iter(distinct.len(), runs.iter().map(|&(_, count)| place(count))),
            distinct: Domain::new(Values::Integer(distinct.clone()), false),
        }
    }

    fn count_column(&self) -> ReleasedColumn<'_> {
        let texts = (0..self.distinct.cardinality() as u32).map(|code| self.distinct.text(code)).collect();
        let (codes, domain) = (Cow::Borrowed(&self.counts), Cow::Borrowed(&self.distinct));
        ReleasedColumn { name: COUNT, codes, domain, kind: Kind::Integer, texts }
    }
}
