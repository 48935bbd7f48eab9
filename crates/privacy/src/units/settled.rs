//! Classes of which a few units tell that enough different values are there, whatever the others
//! have.
//!
//! Let l units have a known value each, all different, that is their only one in the class. Then no
//! l − 1 values cover all units of the class, nor of a larger one: distinct l-diversity holds for
//! every choice of one value for each unit, and for the rows. Nearly all classes of a release that
//! is not refused show this at once, so that their values need not be counted.

use super::UnitRows;
use super::left::UnitView;
use super::signatures::NONE;

/// More values than these are counted instead.
pub(super) const SINGLE_VALUES_MAX: u64 = 8;

/// Units are in the order of their known values, so that a few in every part of the table settle
/// nearly all classes: one of this number is looked at first.
const EVERY: usize = 16;

/// Of units with more rows only their number is looked at.
const ROWS_MAX: usize = 32;

/// The condition on units.
pub(super) struct Settling<'a> {
    /// The protected values of the rows.
    pub(super) codes: &'a [u32],
    pub(super) missing: Option<u32>,
    pub(super) units: u64,
    pub(super) values: usize,
}

/// The state of a class so far.
#[derive(Clone, Copy)]
struct Seen {
    last: u32,
    units: u32,
    values: u32,
}

impl Settling<'_> {
    /// By class, whether the units that are kept show enough, or are none. `units` has how many are
    /// kept.
    pub(super) fn classes(&self, rows: &UnitRows, view: &UnitView, kept: &[bool], units: &[u32]) -> Vec<bool> {
        let nothing = Seen { last: NONE, units: 0, values: 0 };
        let mut seen = vec![nothing; view.classes];
        let mut values = vec![0u32; view.classes * self.values];
        let is_settled = |seen: &Seen| u64::from(seen.units) >= self.units && seen.values as usize >= self.values;
        // Where many rows are in every class, the first units settle all of them.
        let mut left = units.iter().filter(|&&units| units > 0).count();
        let others = (0..rows.len()).filter(|unit| unit % EVERY > 0);
        for unit in (0..rows.len()).step_by(EVERY).chain(others).filter(|&unit| kept[unit]) {
            if left == 0 {
                break;
            }
            let of_unit = rows.rows_of(unit);
            let (classes, codes) = (&view.class_of_row[of_unit.clone()], &self.codes[of_unit]);
            for (place, &class) in classes.iter().enumerate() {
                let seen = &mut seen[class as usize];
                if seen.last == unit as u32 || is_settled(seen) {
                    continue;
                }
                (seen.last, seen.units) = (unit as u32, seen.units + 1);
                let code = codes[place];
                let is_counted =
                    seen.values as usize >= self.values || classes.len() > ROWS_MAX || Some(code) == self.missing;
                if !is_counted {
                    let first = class as usize * self.values;
                    let known = &mut values[first..first + self.values];
                    let mut later = classes[place..].iter().zip(&codes[place..]);
                    if !known[..seen.values as usize].contains(&code)
                        && later.all(|(&other, &value)| other != class || value == code)
                    {
                        known[seen.values as usize] = code;
                        seen.values += 1;
                    }
                }
                left -= usize::from(is_settled(seen));
            }
        }
        seen.iter().zip(units).map(|(seen, &units)| units == 0 || is_settled(seen)).collect()
    }
}
