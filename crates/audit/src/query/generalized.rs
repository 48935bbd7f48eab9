//! Answers from a generalized release: rows that the query does not distinguish are judged once.

use std::ops::Range;

use std::collections::BTreeMap;

use hedgerow_table::frequency::WORDS_MAX;
use hedgerow_table::{Codes, FrequencySet, Layout, Table, TableError, parallel, with_words};

use super::diagram::Outcome;
use super::plan::Plan;
use super::sql::What;
use super::tally::{Contribution, Tally};

/// Distinct rows judged at once; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 12;

/// For each group (its labels as codes) the tally of every aggregate.
pub(crate) type Groups = BTreeMap<Vec<u32>, Vec<Tally>>;

pub(crate) fn groups(plan: &Plan, table: &Table) -> Result<Groups, TableError> {
    let codes: Vec<Codes> = plan.used.iter().map(|used| plan.codes(used, &table.columns[used.column].codes)).collect();
    let cardinalities: Vec<usize> = plan.used.iter().map(|used| used.cells.len()).collect();
    let Some(layout) = Layout::new(&cardinalities) else {
        let problem = format!("the columns of the query need more than {WORDS_MAX} words of 64 bits per row");
        return Err(TableError::input("SQL", problem, "use fewer columns at once"));
    };
    with_words!(layout.words(), W => Ok(wide::<W>(plan, &layout, &codes, table.rows)))
}

fn wide<const W: usize>(plan: &Plan, layout: &Layout, codes: &[Codes], rows: usize) -> Groups {
    let set = FrequencySet::<W>::of_rows(layout, &codes.iter().collect::<Vec<_>>(), rows);
    let part = |range: Range<usize>| {
        let mut groups = Groups::new();
        let mut buffer = Vec::new();
        for (key, &count) in set.keys()[range.clone()].iter().zip(&set.counts()[range]) {
            let kind = |place: usize| layout.field(place).get(key);
            let group = plan.groups.iter().map(|&place| kind(place)).collect();
            let tallies = groups.entry(group).or_insert_with(|| vec![Tally::default(); plan.aggregates.len()]);
            let cell = |column: usize| {
                let place = plan.place[column].unwrap_or_default();
                plan.used[place].cells[kind(place) as usize].as_slice()
            };
            for (what, tally) in plan.aggregates.iter().zip(tallies) {
                tally.add(*what, u64::from(count), &Contribution::of(*what, &plan.diagram, &cell, &mut buffer));
            }
        }
        groups
    };
    merged(parallel::map_ranges(set.len(), CHUNK, part))
}

pub(crate) fn merged(parts: Vec<Groups>) -> Groups {
    let mut groups = Groups::new();
    for (group, tallies) in parts.into_iter().flatten() {
        match groups.entry(group) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(tallies);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                place.get_mut().iter_mut().zip(tallies).for_each(|(into, tally)| into.merge(tally));
            }
        }
    }
    groups
}

/// For each row, how the condition stands.
pub(crate) fn outcomes(plan: &Plan, table: &Table) -> Vec<Outcome> {
    let codes: Vec<Codes> = plan.used.iter().map(|used| plan.codes(used, &table.columns[used.column].codes)).collect();
    let judge = |buffer: &mut Vec<Outcome>, row: usize| {
        let cell = |column: usize| {
            let place = plan.place[column].unwrap_or_default();
            plan.used[place].cells[codes[place].get(row) as usize].as_slice()
        };
        let Contribution { share, must, can, .. } = Contribution::of(What::Count, &plan.diagram, &cell, buffer);
        Outcome { share, possible: can, certain: must }
    };
    let pieces = parallel::map_ranges(table.rows, CHUNK, |rows| {
        let mut buffer = Vec::new();
        rows.map(|row| judge(&mut buffer, row)).collect::<Vec<Outcome>>()
    });
    pieces.into_iter().flatten().collect()
}
