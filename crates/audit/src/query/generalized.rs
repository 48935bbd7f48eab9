//! Answers from a generalized release: rows that the query does not distinguish are judged once.

use std::ops::Range;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hedgerow_table::frequency::WORDS_MAX;
use hedgerow_table::{Codes, FrequencySet, Layout, Table, TableError, parallel, with_words};

use super::aggregate::What;
use super::bounds::Meter;
use super::diagram::ConditionTruth;
use super::plan::Plan;
use super::tally::{Choice, Contribution, Tally};

/// Distinct rows judged at once; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 12;

/// For each group (its labels as codes) the tally of every aggregate.
pub(crate) type Groups = BTreeMap<Vec<u32>, Vec<Tally>>;

pub(super) fn groups(plan: &Plan, table: &Table, meter: &Meter<'_>) -> Result<Groups, TableError> {
    let codes: Vec<Codes> = plan.used.iter().map(|used| plan.codes(used, &table.columns[used.column].codes)).collect();
    let cardinalities: Vec<usize> = plan.used.iter().map(|used| used.cells.len()).collect();
    let Some(layout) = Layout::new(&cardinalities) else {
        let problem = format!("the columns of the query need more than {WORDS_MAX} words of 64 bits per row");
        return Err(TableError::input("SQL", problem, "use fewer columns at once"));
    };
    with_words!(layout.words(), W => Ok(wide::<W>(plan, &layout, &codes, table.rows, meter)))
}

fn wide<const W: usize>(plan: &Plan, layout: &Layout, codes: &[Codes], rows: usize, meter: &Meter<'_>) -> Groups {
    let set = FrequencySet::<W>::of_rows(layout, &codes.iter().collect::<Vec<_>>(), rows);
    // A mean, a quantile and the like keep what each distinct row may add.
    let means = plan.aggregates.iter().filter(|what| what.is_of_rows()).count();
    let group_bytes = plan.groups.len() * size_of::<u32>() + plan.aggregates.len() * size_of::<Tally>();
    let part = |range: Range<usize>| {
        let mut groups = Groups::new();
        let mut buffer = Vec::new();
        for (key, &count) in set.keys()[range.clone()].iter().zip(&set.counts()[range]) {
            if meter.is_over() || !meter.take(means * size_of::<Choice>()) {
                break;
            }
            let kind = |place: usize| layout.field(place).get(key);
            let group: Vec<u32> = plan.groups.iter().map(|&place| kind(place)).collect();
            let tallies = match groups.entry(group) {
                Entry::Occupied(place) => place.into_mut(),
                Entry::Vacant(_) if !meter.take(group_bytes) => break,
                Entry::Vacant(place) => place.insert(vec![Tally::default(); plan.aggregates.len()]),
            };
            let cell = |column: usize| {
                let place = plan.place[column].unwrap_or_default();
                plan.used[place].cells[kind(place) as usize].as_slice()
            };
            for (what, tally) in plan.aggregates.iter().zip(tallies) {
                tally.add(*what, u64::from(count), &Contribution::of(*what, plan, &cell, &mut buffer));
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
            Entry::Vacant(place) => {
                place.insert(tallies);
            }
            Entry::Occupied(mut place) => {
                place.get_mut().iter_mut().zip(tallies).for_each(|(into, tally)| into.merge(tally));
            }
        }
    }
    groups
}

/// For each row, how the condition stands.
pub(super) fn outcomes(plan: &Plan, table: &Table, meter: &Meter<'_>) -> Vec<ConditionTruth> {
    let codes: Vec<Codes> = plan.used.iter().map(|used| plan.codes(used, &table.columns[used.column].codes)).collect();
    let judge = |buffer: &mut Vec<ConditionTruth>, row: usize| {
        let cell = |column: usize| {
            let place = plan.place[column].unwrap_or_default();
            plan.used[place].cells[codes[place].get(row) as usize].as_slice()
        };
        let Contribution { share, must, can, .. } = Contribution::of(What::Count, plan, &cell, buffer);
        ConditionTruth { share, possible: can, certain: must }
    };
    let pieces = parallel::map_ranges(table.rows, CHUNK, |rows| {
        let mut buffer = Vec::new();
        // An answer that is over has fewer outcomes than rows: `check` says so.
        rows.take_while(|_| !meter.is_over()).map(|row| judge(&mut buffer, row)).collect::<Vec<ConditionTruth>>()
    });
    pieces.into_iter().flatten().collect()
}
