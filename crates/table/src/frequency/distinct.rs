//! The distinct rows of a table that need not be in memory, by one scan.

use super::growing::Growing;
use super::{FrequencySet, Layout};
use crate::engine::{Distinct, Engine, EngineAnswer};
use crate::{Codes, Progress, TableError, parallel, with_words};

/// The distinct rows over some columns of an engine, unless they take more than `bytes_max` bytes.
pub fn distinct(
    engine: &dyn Engine,
    columns: &[usize],
    bytes_max: usize,
    progress: &dyn Progress,
) -> Result<EngineAnswer<Distinct>, TableError> {
    let profile = engine.profile();
    if columns.is_empty() {
        return Ok(EngineAnswer::Exact(Distinct { columns: Vec::new(), counts: vec![profile.rows as u32] }));
    }
    let cardinalities: Vec<usize> = columns.iter().map(|&index| profile.columns[index].domain.cardinality()).collect();
    let Some(layout) = Layout::new(&cardinalities) else {
        return Ok(EngineAnswer::Unsupported("there are too many attributes to compare rows by".to_owned()));
    };
    with_words!(layout.words(), W => distinct_of::<W>(engine, &layout, columns, bytes_max, progress))
}

fn distinct_of<const W: usize>(
    engine: &dyn Engine,
    layout: &Layout,
    columns: &[usize],
    bytes_max: usize,
    progress: &dyn Progress,
) -> Result<EngineAnswer<Distinct>, TableError> {
    let entries_max = bytes_max / (8 * W + 4);
    let mut growing = Growing::<W>::new();
    let mut too_many = false;
    let scanned = engine.scan(columns, progress, &mut |chunks| {
        if too_many {
            return Ok(());
        }
        let counted = parallel::map_items(chunks, |_, chunk| {
            let columns: Vec<&Codes> = chunk.iter().collect();
            FrequencySet::<W>::of_rows(layout, &columns, columns.first().map_or(0, |codes| codes.len()))
        });
        growing.add(counted);
        if growing.len() > entries_max {
            growing.merge();
            too_many = growing.len() > entries_max;
        }
        Ok(())
    })?;
    if let EngineAnswer::Unsupported(why) = scanned {
        return Ok(EngineAnswer::Unsupported(why));
    }
    if too_many {
        let why = format!(
            "the table has more than {entries_max} distinct rows; with the memory of the search they exceed the limit"
        );
        return Ok(EngineAnswer::Unsupported(why));
    }
    let sets = growing.finish();
    let rows = sets.iter().map(FrequencySet::len).sum();
    let mut distinct = Distinct { columns: Vec::with_capacity(columns.len()), counts: Vec::with_capacity(rows) };
    for (place, &column) in columns.iter().enumerate() {
        let field = layout.field(place);
        let mut codes = Codes::with_capacity(engine.profile().columns[column].domain.cardinality(), rows);
        sets.iter().flat_map(FrequencySet::keys).for_each(|key| codes.push(field.get(key)));
        distinct.columns.push(codes);
    }
    sets.iter().for_each(|set| distinct.counts.extend_from_slice(set.counts()));
    Ok(EngineAnswer::Exact(distinct))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::engine::{Counted, Embedded};
    use crate::frequency::ValueCounts;
    use crate::{Column, Domain, NoProgress, Table, Values};

    fn random_table(seed: u64) -> Table {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = [1, 7, 900, 70_000, 300_000][rng.random_range(0..if seed < 3 { 5 } else { 3 })];
        let columns = (0..rng.random_range(1..5usize)).map(|index| {
            let cardinality = rng.random_range(1..if index == 0 { 400 } else { 9 });
            let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..cardinality)).collect();
            let domain = Domain::new(Values::Integer((0..i64::from(cardinality)).collect()), false);
            Column { name: format!("c{index}"), codes: Codes::from_iter(cardinality as usize, codes), domain }
        });
        let columns: Vec<Column> = columns.collect();
        let header = columns.iter().map(|column| column.name.clone()).collect();
        Table { columns, rows, header, warnings: Vec::new() }
    }

    /// Against a count of the rows; a frequency set of the distinct rows is that of all.
    #[test]
    fn distinct_rows_and_what_is_counted_from_them_agree_with_the_rows() {
        for seed in 0..60 {
            let table = random_table(seed);
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let counted = Counted::of(&Embedded::new(&table), &names, &NoProgress).unwrap();
            let EngineAnswer::Exact(counted) = counted else { panic!("seed {seed}") };
            let row = |table: &Table, row: usize| -> Vec<u32> {
                table.columns.iter().map(|column| column.codes.get(row)).collect()
            };
            let mut expected: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
            (0..table.rows).for_each(|index| *expected.entry(row(&table, index)).or_default() += 1);
            let found: BTreeMap<Vec<u32>, u32> =
                (0..counted.table.rows).map(|index| (row(&counted.table, index), counted.counts[index])).collect();
            assert_eq!(found.len(), counted.counts.len(), "seed {seed}: a row stands twice");
            assert_eq!(found, expected, "seed {seed}");
            assert_eq!(counted.values("c0"), Some(table.columns[0].counts().as_slice()));
            // The first attribute stands beside the others.
            let cardinalities: Vec<usize> = table.columns.iter().map(|column| column.domain.cardinality()).collect();
            let layout = Layout::of(&cardinalities, |attribute| attribute > 0).unwrap();
            let all: Vec<&Codes> = table.columns.iter().map(|column| &column.codes).collect();
            let once: Vec<&Codes> = counted.table.columns.iter().map(|column| &column.codes).collect();
            let sets = [
                FrequencySet::<1>::of_rows(&layout, &all, table.rows),
                FrequencySet::of_counted_rows(&layout, &once, &counted.counts),
            ];
            let places = [
                sets[0].places_of_rows(&layout, &all, table.rows),
                sets[1].places_of_rows(&layout, &once, counted.table.rows),
            ];
            let by_entry: Vec<Vec<u32>> =
                (0..2).map(|index| ValueCounts::rows_by_entry(&places[index], sets[index].len())).collect();
            let values = [
                ValueCounts::new(all[0], cardinalities[0], &by_entry[0], &places[0]),
                ValueCounts::of_counted_rows(once[0], cardinalities[0], &by_entry[1], &places[1], &counted.counts),
            ];
            // Entries may be numbered otherwise: their keys say which they are.
            let as_map = |index: usize| -> BTreeMap<(u32, u64), u32> {
                let mut map = BTreeMap::new();
                for (code, entries, counts) in values[index].iter() {
                    for (&entry, &count) in entries.iter().zip(counts) {
                        let key = sets[index].keys()[entry as usize][0];
                        assert_eq!(map.insert((code, key), count), None, "seed {seed}");
                    }
                }
                map
            };
            assert_eq!(as_map(0), as_map(1), "seed {seed}");
        }
    }

    #[test]
    fn more_distinct_rows_than_fit_are_unsupported() {
        let table = random_table(2);
        let engine = Embedded::new(&table);
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let all = distinct(&engine, &columns, usize::MAX, &NoProgress).unwrap();
        let EngineAnswer::Exact(all) = all else { panic!("{all:?}") };
        let bytes = all.counts.len() * 12;
        assert!(matches!(distinct(&engine, &columns, bytes, &NoProgress), Ok(EngineAnswer::Exact(_))));
        assert!(matches!(distinct(&engine, &columns, bytes - 1, &NoProgress), Ok(EngineAnswer::Unsupported(_))));
    }
}
