//! Units: several rows of a table may be about one individual, household or firm, and a guarantee
//! is about units, not rows.
//!
//! **What holds.** Take the classes of a rule, that is, the released rows that agree on what its
//! attacker knows.
//!
//! - *Rows.* Every guarantee holds for the rows, as it does without units: this is what any reader
//!   of the release recomputes, and what an attacker reads from it who knows nothing of units.
//! - *One row.* An attacker who knows one row of a unit finds the units that have a row in its
//!   class. Every guarantee holds for them: k counts units, and each unit counts with one value.
//! - *All rows* ([`KnownRows::All`]). An attacker who knows every row of a unit u looks for the
//!   units that fit: those with at least as many rows as u in every class. Every guarantee holds
//!   for the units that fit u, for each class that u has rows in. Where the release links the rows
//!   of a unit by a number, the units that fit are those whose rows are in the same classes, each
//!   as often: a number of rows too many shows then.
//!
//! **A unit with several values.** A unit may have several protected values in a class, and the
//! attacker may ask about any of them. So a guarantee holds for *every choice* of one value for
//! each unit. No enumeration is needed: [`UnitClass`] states how many units j values cover at most,
//! and judges the distribution that is at least as uneven as any choice.
//!
//! **Suppression** removes whole units: a unit of which some rows are absent is a hint at the
//! others. In each round all units go that a failing class or a failing set of fitting units is
//! about, until none fails.
//!
//! **What finer levels suppress.** Let S be the units that a finer node keeps. There, every class
//! of S has enough units of S, and enough units of S fit every unit of S. Both survive the merging
//! of classes (a unit with as many rows in each of two classes has as many in their union) and the
//! addition of units. So S lies in the largest set of units that keeps both here, which the rounds
//! find for these two conditions alone. Shares of values survive neither: two classes that hold may
//! have units in common, and their union fail.

mod by_class;
mod class;
mod fitting;
mod judged;
mod left;
mod looks;
mod settled;
mod signatures;
mod unit_sets;
mod value_limits;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_table::Codes;
use hedgerow_table::frequency::FrequencySet;

pub(crate) use class::UnitClass;
pub use class::allows_several_values;
pub use judged::UnitVerdict;

use crate::Judge;

/// Which rows of a unit the attacker knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownRows {
    /// Every one.
    #[default]
    All,
    /// Any one.
    One,
}

impl KnownRows {
    /// Both.
    pub const ALL: [KnownRows; 2] = [KnownRows::All, KnownRows::One];

    /// As a policy and a manifest name it.
    pub fn name(self) -> &'static str {
        match self {
            KnownRows::All => "all",
            KnownRows::One => "one",
        }
    }

    /// The one with a name.
    pub fn from_name(name: &str) -> Option<KnownRows> {
        KnownRows::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// How units are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTerms {
    /// By rule, what its attacker knows.
    pub rows: Vec<KnownRows>,
    /// By rule, the code of the missing value of what it protects.
    pub missing: Vec<Option<u32>>,
    /// By rule, whether some unit has several values of what it protects.
    pub several_values: Vec<bool>,
    /// The release says which rows are of one unit.
    pub linked: bool,
    /// Units that may be suppressed.
    pub allowed: u64,
}

/// The rows of a table, unit after unit, as they are judged. Units are in the order of their first
/// entries, so that those that look alike are beside one another: most of what is read and counted
/// of a unit is then at hand from the one before.
#[derive(Debug)]
pub struct UnitRows {
    /// The number of each unit for the caller.
    numbers: Vec<u32>,
    /// Where the rows of every unit begin, and the end.
    starts: Vec<u32>,
    /// The entry of the finest frequency set that each row is of.
    entries: Vec<u32>,
    /// By attribute: the protected value of each row.
    values: Vec<Option<Vec<u32>>>,
    /// Units that have rows.
    units: u64,
    /// By rule that compares with the table: units of every value in the source.
    sources: Vec<Vec<u64>>,
}

impl UnitRows {
    /// Sorts the rows of a table by unit. `set` is the table's finest set; `of_row` says which of
    /// `units` units each row is about.
    pub fn new<const W: usize>(
        judge: &Judge,
        set: &FrequencySet<W>,
        columns: &[&Codes],
        of_row: &[u32],
        units: usize,
    ) -> UnitRows {
        let entry_of = set.places_of_rows(judge.layout(), columns, of_row.len());
        let (numbers, mut starts) = by_first_entry(set.len(), &entry_of, of_row, units);
        let occupied = starts.iter().filter(|&&rows| rows > 0).count() as u64;
        (0..units).for_each(|place| starts[place + 1] += starts[place]);
        let mut next = vec![0u32; units];
        numbers.iter().zip(&starts).for_each(|(&unit, &start)| next[unit as usize] = start);
        let (mut order, mut entries) = (vec![0u32; of_row.len()], vec![0u32; of_row.len()]);
        for ((row, &unit), &entry) in (0u32..).zip(of_row).zip(&entry_of) {
            let next = &mut next[unit as usize];
            (order[*next as usize], entries[*next as usize]) = (row, entry);
            *next += 1;
        }
        let values = columns.iter().enumerate().map(|(attribute, codes)| {
            judge.looks_at_values(attribute).then(|| order.iter().map(|&row| codes.get(row as usize)).collect())
        });
        let mut rows =
            UnitRows { numbers, starts, entries, values: values.collect(), units: occupied, sources: Vec::new() };
        let all = vec![true; units];
        rows.sources = (0..judge.rules().len()).map(|rule| judge.units_by_value(rule, &rows, &all)).collect();
        rows
    }

    /// For every attribute that some rule protects, whether a unit has several values of it.
    pub fn has_several_values(of_row: &[u32], units: usize, codes: &Codes) -> bool {
        const NONE: u32 = u32::MAX;
        let mut first = vec![NONE; units];
        of_row.iter().enumerate().any(|(row, &unit)| {
            let (known, code) = (&mut first[unit as usize], codes.get(row));
            if *known == NONE {
                *known = code;
            }
            *known != code
        })
    }

    /// How many units have rows.
    pub fn units(&self) -> u64 {
        self.units
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the rows of a unit are.
    fn rows_of(&self, unit: usize) -> std::ops::Range<usize> {
        self.starts[unit] as usize..self.starts[unit + 1] as usize
    }

    fn count_of(&self, unit: usize) -> u64 {
        u64::from(self.starts[unit + 1] - self.starts[unit])
    }

    /// By place here, what is said of each unit by its number.
    fn by_place(&self, kept: &[bool]) -> Vec<bool> {
        self.numbers.iter().map(|&unit| kept[unit as usize]).collect()
    }

    /// By number, what is said of each unit by its place here.
    fn by_number(&self, kept: &[bool]) -> Vec<bool> {
        let mut by_number = vec![false; kept.len()];
        self.numbers.iter().zip(kept).for_each(|(&unit, &kept)| by_number[unit as usize] = kept);
        by_number
    }

    /// For every entry of a set that was rolled up from the finest one, the rows of units that are
    /// not kept. `places` tells into which entry each of the finest was rolled up.
    pub fn rows_lost(&self, entries: usize, places: &[u32], kept: &[bool]) -> Vec<u32> {
        let mut lost = vec![0u32; entries];
        for unit in (0..self.len()).filter(|&place| !kept[self.numbers[place] as usize]) {
            for row in self.rows_of(unit) {
                lost[places[self.entries[row] as usize] as usize] += 1;
            }
        }
        lost
    }
}

/// The units in the order of their first entries, those without rows last; and after a zero, the
/// rows of each.
fn by_first_entry(entries: usize, entry_of: &[u32], of_row: &[u32], units: usize) -> (Vec<u32>, Vec<u32>) {
    // Units without rows come behind all entries.
    let mut units_of = vec![(entries as u32, 0u32); units];
    for (&unit, &entry) in of_row.iter().zip(entry_of) {
        let (first, rows) = &mut units_of[unit as usize];
        (*first, *rows) = ((*first).min(entry), *rows + 1);
    }
    let mut next = vec![0u32; entries + 2];
    units_of.iter().for_each(|&(first, _)| next[first as usize + 1] += 1);
    (0..=entries).for_each(|entry| next[entry + 1] += next[entry]);
    let (mut numbers, mut rows_of) = (vec![0u32; units], vec![0u32; units + 1]);
    for (unit, &(first, rows)) in (0u32..).zip(&units_of) {
        let next = &mut next[first as usize];
        (numbers[*next as usize], rows_of[*next as usize + 1]) = (unit, rows);
        *next += 1;
    }
    (numbers, rows_of)
}

/// Numbers the units of rows that agree on all columns: the number of each row, and how many there
/// are. Without columns every row is a unit of its own.
pub fn numbered(columns: &[&Codes], rows: usize) -> (Vec<u32>, usize) {
    let mut of_row: Vec<u32> = if columns.is_empty() { (0..rows as u32).collect() } else { vec![0; rows] };
    let mut count = if columns.is_empty() { rows } else { rows.min(1) };
    for (place, column) in columns.iter().enumerate() {
        let mut next = 0;
        let mut new = || {
            next += 1;
            next - 1
        };
        if place == 0 {
            let mut numbers: Vec<Option<u32>> = Vec::new();
            for (unit, code) in of_row.iter_mut().zip(column.iter()) {
                let code = code as usize;
                if code >= numbers.len() {
                    numbers.resize(code + 1, None);
                }
                *unit = *numbers[code].get_or_insert_with(&mut new);
            }
        } else {
            let mut numbers: HashMap<(u32, u32), u32, FixedState> = HashMap::default();
            for (unit, code) in of_row.iter_mut().zip(column.iter()) {
                *unit = *numbers.entry((*unit, code)).or_insert_with(&mut new);
            }
        }
        count = next as usize;
    }
    (of_row, count)
}

#[cfg(test)]
mod tests;
