//! The tables of a decomposed release: one folder per sub-table, each with rows in an order of its
//! own and, where it is bucketized, with bucket numbers of its own.

use std::borrow::Cow;

use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_draft::draft::DraftTable;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::generalized;
use hedgerow_draft::generalized::on_level;
use hedgerow_draft::rows::{ReleasedColumn, shuffle};
use hedgerow_local::cells::AttributeCells;
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Column, Domain, Kind, TableError, Values};
use hedgerow_verify::check::NamedRule;
use rand::rngs::StdRng;

use super::divergence::sensitive_values;
use super::rules::Rules;
use super::{DecompositionProblem, Groups, Regions, Subtable};

/// The policy's rules as a reader can recompute them. A combination is protected by the one of its
/// attributes that is.
pub(super) fn named_rules(bound: &Bound<'_>, rules: &Rules<'_>) -> Vec<NamedRule> {
    let own = rules.own.iter().enumerate();
    own.map(|(index, &of_policy)| {
        let rule = &bound.policy.rules[of_policy];
        let protect = rules.representative(index).map(|attribute| rules.columns[attribute].name.clone());
        let (know, require) = (rule.know.clone(), rule.require.clone());
        let community = protect.as_ref().and_then(|name| bound.community(name)).cloned();
        NamedRule {
            know,
            protect,
            require,
            tree: None,
            community,
            units: None,
            consistent: false,
            only_where: Default::default(),
        }
    })
    .collect()
}

/// All sub-tables and the codebook.
pub(super) fn tables<'a>(
    bound: &Bound<'a>,
    rules: &Rules<'a>,
    problem: &DecompositionProblem<'_>,
    tables: &[Subtable],
    rng: &mut StdRng,
) -> Result<(Vec<DraftTable<'a>>, Codebook), PublishError> {
    let mut drafting = Drafting { bound, rules, problem, codebook: Codebook::new(), drafts: Vec::new() };
    drafting.labels_as_they_are(tables)?;
    for (index, table) in tables.iter().enumerate() {
        let folder = format!("table-{}", index + 1);
        match (&table.regions, &table.groups) {
            (Some(regions), _) => drafting.generalized(folder, regions)?,
            (None, Some(groups)) => drafting.bucketized(folder, table, groups, rng),
            (None, None) => {
                let columns = drafting.open_columns(table);
                drafting.add(folder, "data", columns);
            }
        }
    }
    Ok((drafting.drafts, drafting.codebook))
}

struct Drafting<'d, 'a> {
    bound: &'d Bound<'a>,
    rules: &'d Rules<'a>,
    problem: &'d DecompositionProblem<'d>,
    codebook: Codebook,
    drafts: Vec<DraftTable<'a>>,
}

impl<'a> Drafting<'_, 'a> {
    fn add(&mut self, folder: String, name: &'static str, columns: Vec<ReleasedColumn<'a>>) {
        self.drafts.push(DraftTable::of_columns(name, columns, None, self.bound).in_folder(folder));
    }

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
            generalized::add_labels(&mut self.codebook, quasi, &on_level(quasi, 0), Some(&released))?;
        }
        Ok(())
    }

    /// The attributes that a table releases row by row.
    fn open_columns(&self, table: &Subtable) -> Vec<ReleasedColumn<'a>> {
        table.open().iter().map(|attribute| ReleasedColumn::as_it_is(self.rules.columns[attribute])).collect()
    }

    fn bucketized(&mut self, folder: String, table: &Subtable, groups: &Groups, rng: &mut StdRng) {
        let count = groups.len() as u32;
        let mut numbers: Vec<u32> = (0..count).collect();
        shuffle(&mut numbers, rng);
        let has_rows_without_value = groups.of_row.contains(&Groups::NONE);
        let group = |codes: Vec<u32>| ReleasedColumn {
            name: GROUP,
            codes: Cow::Owned(Codes::U32(codes)),
            domain: Cow::Owned(Domain::new(Values::Integer((1..=i64::from(count)).collect()), has_rows_without_value)),
            kind: Kind::Integer,
            texts: (1..=count)
                .map(|number| number.to_string())
                .chain(has_rows_without_value.then(String::new))
                .collect(),
        };
        // A row without sensitive values has no number: the missing one, which comes last.
        let number = |&group: &u32| numbers.get(group as usize).copied().unwrap_or(count);
        let mut columns = self.open_columns(table);
        columns.push(group(groups.of_row.iter().map(number).collect()));
        self.add(folder.clone(), "quasi", columns);

        let BucketCounts { groups: group_of_count, rows, counts, distinct } =
            BucketCounts::new(self.problem, table, groups, &numbers);
        let mut columns = vec![group(group_of_count)];
        columns.extend(table.sensitive.iter().map(|attribute| {
            let column: &'a Column = self.rules.columns[attribute];
            let codes = rows.iter().map(|&row| column.codes.get(row as usize));
            let codes = Cow::Owned(Codes::from_iter(column.domain.cardinality(), codes));
            ReleasedColumn { codes, ..ReleasedColumn::as_it_is(column) }
        }));
        let texts = (0..distinct.cardinality() as u32).map(|code| distinct.text(code)).collect();
        let (codes, domain) = (Cow::Owned(counts), Cow::Owned(distinct));
        columns.push(ReleasedColumn { name: COUNT, codes, domain, kind: Kind::Integer, texts });
        self.add(folder, "sensitive", columns);
    }

    /// A table of classes, released as their regions.
    fn generalized(&mut self, folder: String, regions: &Regions) -> Result<(), PublishError> {
        let (source, codebook) = (self.bound.table, &mut self.codebook);
        let draft = regions.with_recoded(source, |own, recoded| {
            // What values that were made coarser stand for is stated by the manifest.
            let as_they_are =
                |(quasi, cells): (&Quasi<'_>, &AttributeCells)| quasi.hulls.is_some() && cells.values_only;
            let as_they_are: Vec<bool> = own.quasi.iter().zip(&regions.found.cells).map(as_they_are).collect();
            for ((quasi, recoded), as_it_is) in own.quasi.iter().zip(&recoded).zip(&as_they_are) {
                if !as_it_is {
                    generalized::add_labels(codebook, quasi, recoded, None)?;
                }
            }
            // The binding of this table alone ends here; the columns are the source's.
            let released = generalized::released_columns(own, recoded).into_iter().filter_map(|column| {
                let source = source.column(column.name)?;
                let quasi = own.quasi.iter().position(|quasi| quasi.attribute.name == source.name);
                let is_generalized = quasi.is_some_and(|index| !as_they_are[index]);
                Some(match is_generalized {
                    true => ReleasedColumn {
                        name: &source.name,
                        codes: Cow::Owned(column.codes.into_owned()),
                        domain: Cow::Borrowed(&source.domain),
                        kind: column.kind,
                        texts: column.texts,
                    },
                    false => ReleasedColumn::as_it_is(source),
                })
            });
            Ok(DraftTable::of_columns("data", released.collect(), None, own))
        })?;
        self.drafts.push(draft.in_folder(folder));
        Ok(())
    }
}

/// The rows of `sensitive`: every combination of sensitive values that occurs in a bucket, and how
/// often.
struct BucketCounts {
    groups: Vec<u32>,
    /// Some row of the source with the combination.
    rows: Vec<u32>,
    counts: Codes,
    /// The counts that occur, ascending.
    distinct: Domain,
}

impl BucketCounts {
    fn new(problem: &DecompositionProblem<'_>, table: &Subtable, groups: &Groups, numbers: &[u32]) -> BucketCounts {
        let (value_of, values) = sensitive_values(problem, table.sensitive);
        let mut row_with = vec![0u32; values];
        let mut pairs: Vec<u64> = Vec::with_capacity(problem.rows);
        for (row, (&group, value)) in groups.of_row.iter().zip(value_of.iter()).enumerate() {
            row_with[value as usize] = row as u32;
            if group != Groups::NONE {
                pairs.push(u64::from(numbers[group as usize]) << 32 | u64::from(value));
            }
        }
        pairs.sort_unstable();
        let runs: Vec<(u64, i64)> =
            pairs.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as i64)).collect();
        let mut distinct: Vec<i64> = runs.iter().map(|&(_, count)| count).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |count: i64| distinct.binary_search(&count).expect("collected above") as u32;
        BucketCounts {
            groups: runs.iter().map(|&(pair, _)| (pair >> 32) as u32).collect(),
            rows: runs.iter().map(|&(pair, _)| row_with[pair as u32 as usize]).collect(),
            counts: Codes::from_iter(distinct.len(), runs.iter().map(|&(_, count)| place(count))),
            distinct: Domain::new(Values::Integer(distinct.clone()), false),
        }
    }
}
