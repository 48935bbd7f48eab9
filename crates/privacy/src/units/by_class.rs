//! Rows of units by class, and units by signature, each in one list.

use super::UnitRows;
use super::left::UnitView;
use super::signatures::Signatures;

/// The rows of kept units, class after class; those of a unit together.
pub(super) struct ByClass {
    starts: Vec<u32>,
    /// Unit and row.
    rows: Vec<(u32, u32)>,
}

impl ByClass {
    /// Without the classes that are `passed_over`; none is where it is empty.
    pub(super) fn new(rows: &UnitRows, view: &UnitView, kept: &[bool], passed_over: &[bool]) -> ByClass {
        let mut starts = vec![0u32; view.classes + 1];
        // Few rows, where most are passed over.
        let mut listed: Vec<(u32, u32)> = Vec::new();
        if !passed_over.is_empty() && !passed_over.contains(&false) {
            return ByClass { starts, rows: listed };
        }
        for unit in (0..rows.len()).filter(|&unit| kept[unit]) {
            for row in rows.rows_of(unit) {
                let class = view.class_of_row[row] as usize;
                if passed_over.is_empty() || !passed_over[class] {
                    starts[class + 1] += 1;
                    listed.push((unit as u32, row as u32));
                }
            }
        }
        (0..view.classes).for_each(|class| starts[class + 1] += starts[class]);
        let (mut next, mut sorted) = (starts.clone(), vec![(0u32, 0u32); listed.len()]);
        for &(unit, row) in &listed {
            let next = &mut next[view.class_of_row[row as usize] as usize];
            sorted[*next as usize] = (unit, row);
            *next += 1;
        }
        ByClass { starts, rows: sorted }
    }

    /// The classes that have rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[(u32, u32)]> {
        let classes = self.starts.windows(2).map(|ends| &self.rows[ends[0] as usize..ends[1] as usize]);
        classes.filter(|members| !members.is_empty())
    }
}

/// The units of every group of equal signatures, suppressed or not.
#[derive(Debug)]
pub(super) struct MembersOf {
    starts: Vec<u32>,
    units: Vec<u32>,
}

impl MembersOf {
    /// Of `units` units.
    pub(super) fn new(signatures: &Signatures, units: usize) -> MembersOf {
        let mut starts = Vec::with_capacity(signatures.len() + 1);
        starts.push(0u32);
        starts.extend(signatures.units_of_groups().iter().scan(0, |sum, &units| {
            *sum += units;
            Some(*sum)
        }));
        let (mut next, mut sorted) = (starts.clone(), vec![0u32; starts[signatures.len()] as usize]);
        for unit in 0..units {
            if let Some(group) = signatures.of_unit(unit) {
                sorted[next[group as usize] as usize] = unit as u32;
                next[group as usize] += 1;
            }
        }
        MembersOf { starts, units: sorted }
    }

    pub(super) fn of(&self, group: u32) -> &[u32] {
        &self.units[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }
}
