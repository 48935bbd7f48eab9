//! The values of an attribute that the released cells of others leave: beside a county that became
//! a group of counties, a region that became `*` is one of the regions of that group. Who knows the
//! region of a person excludes the rows whose group has no county there.

use hashbrown::{HashMap, HashSet};
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Column, Table};

use super::Known;
use crate::related::LabeledCells;
use crate::rows::ReleasedColumn;

/// Pairs of a label and a value that are compared by what the codebook says of the label. Beyond,
/// a label covers the values of the rows that have it, which leaves no more.
const COMPARED_MAX: usize = 20_000_000;

/// By released row, the values of an attribute that the other cells of the row leave.
#[derive(Debug)]
pub(super) struct NarrowedValues {
    /// By row, the number of its set.
    pub(super) of_row: Vec<u32>,
    /// Ascending codes of the attribute.
    pub(super) sets: Vec<Vec<u32>>,
    /// By row, its own value.
    pub(super) own: Vec<u32>,
}

impl NarrowedValues {
    /// `None` where the cells exclude nothing, or are not released.
    pub(super) fn of(
        table: &Table,
        columns: &[ReleasedColumn<'_>],
        codebook: &Codebook,
        kept: &[u32],
        known: &Known,
    ) -> Option<NarrowedValues> {
        let to = table.column(&known.to)?;
        let from = known.from.iter().map(|name| table.column(name)).collect::<Option<Vec<&Column>>>()?;
        let released = |name: &String| columns.iter().find(|column| column.name == *name);
        let cells = known
            .from
            .iter()
            .zip(&from)
            .map(|(name, column)| Some(LabeledCells::new(column, released(name)?, codebook)));
        let cells = cells.collect::<Option<Vec<LabeledCells<'_>>>>()?;
        let own: Vec<u32> = kept.iter().map(|&row| to.codes.get(row as usize)).collect();
        // What the attacker knows: the most frequent value for every combination of the others.
        let (group_of_row, combinations) = numbered(table.rows, from.len(), |row, place| from[place].codes.get(row));
        let shown = most_frequent(&group_of_row, combinations.len(), |row| to.codes.get(row));
        let label = |row: usize, place: usize| cells[place].of_row(kept[row] as usize) as u32;
        let (labels_of_row, labels) = numbered(kept.len(), from.len(), label);
        let mut values: Vec<HashSet<u32>> = vec![HashSet::new(); labels.len()];
        for (labels, &row) in labels_of_row.iter().zip(kept) {
            values[*labels as usize].insert(shown[group_of_row[row as usize] as usize]);
        }
        if labels.len().saturating_mul(combinations.len()) <= COMPARED_MAX {
            for (labels, values) in labels.iter().zip(&mut values) {
                let covers = |combination: &Vec<u32>| {
                    let mut places = cells.iter().zip(labels).zip(combination);
                    places.all(|((cells, &label), code)| cells.covered[label as usize].contains(code))
                };
                let covered = combinations.iter().zip(&shown).filter(|(combination, _)| covers(combination));
                values.extend(covered.map(|(_, value)| *value));
            }
        }
        let mut left = NarrowedValues::numbered(&labels_of_row, values, own);
        left.take_labels_of_one_value(&LabeledCells::new(to, released(&known.to)?, codebook), kept);
        left.excludes().then_some(left)
    }

    fn numbered(labels_of_row: &[u32], values: Vec<HashSet<u32>>, own: Vec<u32>) -> NarrowedValues {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        let of_labels: Vec<u32> = values
            .into_iter()
            .map(|values| {
                let mut values: Vec<u32> = values.into_iter().collect();
                values.sort_unstable();
                *numbers.entry(values).or_insert_with_key(|values| {
                    sets.push(values.clone());
                    sets.len() as u32 - 1
                })
            })
            .collect();
        let of_row = labels_of_row.iter().map(|&labels| of_labels[labels as usize]).collect();
        NarrowedValues { of_row, sets, own }
    }

    /// A label that stands for one value shows that one.
    fn take_labels_of_one_value(&mut self, cells: &LabeledCells<'_>, kept: &[u32]) {
        let labels: Vec<usize> = kept.iter().map(|&row| cells.of_row(row as usize)).collect();
        let count = labels.iter().max().map_or(0, |last| last + 1);
        let (mut one, mut several) = (vec![None; count], vec![false; count]);
        for (&label, &own) in labels.iter().zip(&self.own) {
            several[label] |= *one[label].get_or_insert(own) != own;
        }
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for (row, &label) in labels.iter().enumerate().filter(|(_, label)| !several[**label]) {
            let Some(value) = one[label] else { continue };
            self.of_row[row] = *numbers.entry(value).or_insert_with(|| {
                self.sets.push(vec![value]);
                self.sets.len() as u32 - 1
            });
        }
    }

    fn excludes(&self) -> bool {
        let values: HashSet<u32> = self.own.iter().copied().collect();
        let used: HashSet<u32> = self.of_row.iter().copied().collect();
        used.iter().any(|&set| values.iter().any(|value| !self.leaves(set, *value)))
    }

    /// Whether a set has a value.
    pub(super) fn leaves(&self, set: u32, value: u32) -> bool {
        self.sets[set as usize].binary_search(&value).is_ok()
    }

    /// Whether every row is left one value.
    pub(super) fn is_exact(&self) -> bool {
        self.of_row.iter().all(|&set| self.sets[set as usize].len() == 1)
    }

    /// By row, whether its own value is left: the others deviate from the dependency.
    pub(super) fn conforming(&self) -> impl Iterator<Item = bool> + '_ {
        self.of_row.iter().zip(&self.own).map(|(&set, &own)| self.leaves(set, own))
    }
}

/// The number of the combination of codes that each row has, and the combinations.
pub(super) fn numbered(rows: usize, places: usize, code: impl Fn(usize, usize) -> u32) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut of_row = vec![0u32; rows];
    for place in 0..places {
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        for (row, number) in of_row.iter_mut().enumerate() {
            let next = numbers.len() as u32;
            *number = *numbers.entry((*number, code(row, place))).or_insert(next);
        }
    }
    let count = of_row.iter().max().map_or(0, |last| *last as usize + 1);
    let mut combinations: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (row, &number) in of_row.iter().enumerate() {
        let combination = &mut combinations[number as usize];
        if combination.is_empty() {
            combination.extend((0..places).map(|place| code(row, place)));
        }
    }
    (of_row, combinations)
}

/// By group, the most frequent value of its rows; among equally frequent ones, the first.
fn most_frequent(group_of_row: &[u32], groups: usize, value: impl Fn(usize) -> u32) -> Vec<u32> {
    let mut counts: HashMap<(u32, u32), u32> = HashMap::new();
    group_of_row.iter().enumerate().for_each(|(row, &group)| *counts.entry((group, value(row))).or_insert(0) += 1);
    let mut most: Vec<(u32, u32)> = vec![(0, 0); groups];
    for (&(group, value), &count) in &counts {
        let most = &mut most[group as usize];
        if count > most.0 || (count == most.0 && value < most.1) {
            *most = (count, value);
        }
    }
    most.into_iter().map(|(_, value)| value).collect()
}
