//! Whether what a release shows comes from a source: every released row from a row of its own.
//!
//! A released row can come from each source row that its labels cover and that has what it shows
//! beside them. Rows are matched as a flow, since labels of local recodings overlap: where the flow
//! cannot fill the release, a cell was changed or a row was added. Rows that may be missing are
//! those that the manifest states as suppressed, so that a changed cell which one of these explains
//! is not noticed.
//!
//! Buckets and sub-tables do not say which value is whose. Their rows are matched without the
//! values in buckets, and each of these with the rows that can be in the bucket. Clones show
//! statistics and counterfeits: only values that the source lacks are noticed.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use hedgerow_release::classes::SensitiveCounts;
use hedgerow_release::generalized::Generalized;
use hedgerow_release::{Release, ReleaseTables, ReleasedClasses};
use hedgerow_table::{Column, Table, TableError};

use crate::people::FoundPeople;
use crate::shown::{code_of, of_rows};
use crate::solver::flow::Network;

/// Cells and columns of a release that its source does not have, each as a sentence without values.
/// The source has the coarser values that the policy declares.
pub fn not_from_source(release: &Release, source: &Table) -> Result<Vec<String>, TableError> {
    let mut problems = Vec::new();
    let stated = release.manifest().map(|manifest| manifest.hedgerow.rows.source);
    if let Some(stated) = stated.filter(|stated| *stated != source.rows as u64) {
        problems.push(format!("the manifest states {stated} rows in the source, which has {}", source.rows));
    }
    let all = release.classes()?;
    for classes in all {
        let lacks = |quasi: &&str| source.column(quasi).is_none();
        if let Some(name) = classes.quasi.iter().map(|quasi| quasi.name.as_str()).find(lacks) {
            problems.push(format!("the source has no column `{name}`"));
            continue;
        }
        match release.tables() {
            ReleaseTables::Generalized(tables) => rows(classes, tables, source, &mut problems)?,
            ReleaseTables::Cloned(_) => values(classes, source, &mut problems),
            _ => {
                let place = if all.len() > 1 { format!("{}: ", classes.name) } else { String::new() };
                buckets(&place, classes, source, &mut problems)?;
            }
        }
    }
    Ok(problems)
}

/// Every row with its class and all that is shown beside it.
fn rows(
    classes: &ReleasedClasses,
    tables: &Generalized,
    source: &Table,
    problems: &mut Vec<String>,
) -> Result<(), TableError> {
    let is_unknown = |column: &&Column| source.column(&column.name).is_none() && !tables.units.contains(&column.name);
    if let Some(column) = tables.table.columns.iter().find(is_unknown) {
        problems.push(format!("the source has no column `{}`", column.name));
    }
    let found = FoundPeople::new(&classes.name, classes, source)?;
    let shown = of_rows(classes, tables, source);
    let mut kinds: HashMap<Vec<Option<u32>>, u32> = HashMap::new();
    let mut matching = Matching::new(&found.places);
    for (row, &place) in found.of_person.iter().enumerate() {
        let values = shown.attributes.iter().map(|column| Some(column.codes.get(row))).collect();
        let next = kinds.len() as u32;
        matching.has(place, *kinds.entry(values).or_insert(next), 1);
    }
    let mut without = 0;
    for class in 0..classes.len() as u32 {
        for (values, rows) in &shown.by_bucket[classes.bucket_of[class as usize] as usize] {
            match kinds.get(values) {
                Some(&kind) => matching.wants(class, kind, *rows),
                None => without += rows,
            }
        }
    }
    let unmatched = without + matching.unmatched();
    if unmatched > 0 {
        problems.push(format!(
            "{unmatched} of {} rows do not come from the source: it has no row, or too few, with what they show",
            classes.rows
        ));
    }
    Ok(())
}

/// Rows without the values in their buckets, and each of these with the rows that may have it.
fn buckets(
    place: &str,
    classes: &ReleasedClasses,
    source: &Table,
    problems: &mut Vec<String>,
) -> Result<(), TableError> {
    let found = FoundPeople::anywhere(&classes.name, classes, source)?;
    let mut matching = Matching::new(&found.places);
    found.of_person.iter().for_each(|&place| matching.has(place, 0, 1));
    (0u32..).zip(&classes.sizes).for_each(|(class, &rows)| matching.wants(class, 0, u64::from(rows)));
    let unmatched = matching.unmatched();
    if unmatched > 0 {
        problems.push(format!(
            "{place}{unmatched} of {} rows do not come from the source: it has no row, or too few, that their labels cover",
            classes.rows
        ));
    }
    let in_buckets = |classes_of: &Vec<u32>| {
        let mut buckets: Vec<u32> = classes_of.iter().map(|&class| classes.bucket_of[class as usize]).collect();
        buckets.sort_unstable();
        buckets.dedup();
        buckets
    };
    let places: Vec<Vec<u32>> = found.places.iter().map(in_buckets).collect();
    for sensitive in &classes.sensitive {
        let Some(column) = source.column(&sensitive.name) else { continue };
        let mut matching = Matching::new(&places);
        for (row, &place) in found.of_person.iter().enumerate() {
            matching.has(place, column.codes.get(row), 1);
        }
        let mut without = 0;
        let codes = codes_of(sensitive, column);
        for bucket in 0..classes.buckets() as u32 {
            for &(value, rows) in sensitive.of_bucket(bucket) {
                match codes[value as usize] {
                    Some(code) => matching.wants(bucket, code, u64::from(rows)),
                    None => without += u64::from(rows),
                }
            }
        }
        let unmatched = without + matching.unmatched();
        if unmatched > 0 {
            problems.push(format!(
                "{place}{unmatched} values of `{}` do not come from the source: no row, or too few, that can be in their \
                 buckets have them",
                sensitive.name
            ));
        }
    }
    Ok(())
}

/// Values that the source lacks.
fn values(classes: &ReleasedClasses, source: &Table, problems: &mut Vec<String>) {
    for sensitive in &classes.sensitive {
        let Some(column) = source.column(&sensitive.name) else { continue };
        let unknown = codes_of(sensitive, column).iter().filter(|code| code.is_none()).count();
        if unknown > 0 {
            problems.push(format!("{unknown} values of `{}` do not come from the source", sensitive.name));
        }
    }
}

fn codes_of(sensitive: &SensitiveCounts, column: &Column) -> Vec<Option<u32>> {
    sensitive.values.iter().map(|text| code_of(text, &column.domain)).collect()
}

/// Source rows by where they can be, and released rows by where they are; both also by a kind,
/// which must agree.
struct Matching<'a> {
    /// By place of a source row, the targets where it can be.
    places: &'a [Vec<u32>],
    kinds: BTreeMap<u32, RowsOfKind>,
}

/// The rows of one kind.
#[derive(Default)]
struct RowsOfKind {
    /// Of the source, by place.
    source: HashMap<u32, u64>,
    /// Of the release, by target.
    released: HashMap<u32, u64>,
}

impl<'a> Matching<'a> {
    fn new(places: &'a [Vec<u32>]) -> Matching<'a> {
        Matching { places, kinds: BTreeMap::new() }
    }

    fn has(&mut self, place: u32, kind: u32, rows: u64) {
        *self.kinds.entry(kind).or_default().source.entry(place).or_default() += rows;
    }

    fn wants(&mut self, target: u32, kind: u32, rows: u64) {
        *self.kinds.entry(kind).or_default().released.entry(target).or_default() += rows;
    }

    /// Released rows for which no source row is left, at the least.
    fn unmatched(&self) -> u64 {
        self.kinds.values().map(|kind| self.unmatched_of_kind(&kind.source, &kind.released)).sum()
    }

    fn unmatched_of_kind(&self, source: &HashMap<u32, u64>, released: &HashMap<u32, u64>) -> u64 {
        let wanted: u64 = released.values().sum();
        let targets = |place: u32| self.places[place as usize].iter().filter(|target| released.contains_key(*target));
        if source.keys().all(|&place| self.places[place as usize].len() < 2) {
            let mut had: HashMap<u32, u64> = HashMap::new();
            source.iter().for_each(|(&place, rows)| {
                targets(place).for_each(|&target| *had.entry(target).or_default() += rows);
            });
            let of_target = |(target, rows): (&u32, &u64)| *rows.min(had.get(target).unwrap_or(&0));
            return wanted - released.iter().map(of_target).sum::<u64>();
        }
        let mut network = Network::new(2);
        let (from, to) = (0, 1);
        let mut nodes: HashMap<u32, u32> = HashMap::new();
        for (&target, &rows) in released {
            let node = network.add_node();
            network.add_edge(node, to, 0, rows);
            nodes.insert(target, node);
        }
        for (&place, &rows) in source {
            let node = network.add_node();
            network.add_edge(from, node, 0, rows);
            targets(place).for_each(|target| _ = network.add_edge(node, nodes[target], 0, rows));
        }
        wanted - network.most(from, to)
    }
}

#[cfg(test)]
mod tests;
