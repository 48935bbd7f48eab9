//! Columns that number rows, persons or households, whatever they are called: their values mean
//! nothing but who a row is.

use hedgerow_table::{Kind, Values, uniqueness};

use super::profile::Facts;

/// Below this many rows, that values differ says little.
const ROWS_ENOUGH: u64 = 20;
/// A key of households has at least this many values.
const KEYS_MIN: u64 = 50;
/// The most rows of one household.
const HOUSEHOLD_MAX: u64 = 60;

/// Why the values number rows or groups of rows, if they do.
///
/// `quantity`: the name says that the numbers measure something, so that only a plain sequence is a
/// key.
pub(super) fn numbering(facts: &Facts<'_>, quantity: bool) -> Option<&'static str> {
    if facts.rows < ROWS_ENOUGH {
        return None;
    }
    let every_one_differs = facts.distinct == facts.present_rows() && facts.missing == 0;
    let groups = facts.distinct >= KEYS_MIN && facts.distinct_share() >= 0.02 && facts.most <= HOUSEHOLD_MAX;
    let Values::Integer(values) = facts.domain().values() else {
        let text = facts.kind() == Kind::Category && every_one_differs;
        if text && !quantity {
            return Some("different in every row: a key or a code that identifies a person");
        }
        return (!quantity && groups && are_serial_codes(facts)).then_some(OF_GROUPS);
    };
    let (first, last) = (i128::from(*values.first()?), i128::from(*values.last()?));
    let span = last - first + 1;
    let without_gaps = span * 4 <= 5 * values.len() as i128;
    if every_one_differs {
        let sequence = without_gaps && in_row_order(facts);
        let numbered = span <= 2 * values.len() as i128 || in_row_order(facts);
        let long = facts.length_min >= 6 && facts.length_min == facts.length_max;
        let is_key = if quantity { sequence } else { numbered || long };
        return is_key.then_some("whole numbers, every one different: a record number identifies a person");
    }
    // Numbers that measure something have gaps where they are this many.
    (!quantity && groups && span * 20 <= 21 * values.len() as i128).then_some(OF_GROUPS)
}

const OF_GROUPS: &str = "numbers without gaps that a few rows share: a key of households or groups";

/// Whether texts are numbers of one length without gaps, all behind the same letters: `H200017`.
fn are_serial_codes(facts: &Facts<'_>) -> bool {
    let Values::Category(values) = facts.domain().values() else { return false };
    let Some(first) = values.first() else { return false };
    let letters = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbers = values.iter().map(|text| {
        let digits = text.strip_prefix(letters).filter(|_| text.len() == first.len())?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
    });
    let Some(numbers) = numbers.collect::<Option<Vec<u64>>>() else { return false };
    let (Some(least), Some(most)) = (numbers.iter().min(), numbers.iter().max()) else { return false };
    u128::from(most - least + 1) * 20 <= 21 * numbers.len() as u128
}

/// Whether the values rise or fall from row to row.
fn in_row_order(facts: &Facts<'_>) -> bool {
    let codes = || facts.column.codes.iter();
    let rising = codes().zip(codes().skip(1)).all(|(a, b)| a < b);
    rising || codes().zip(codes().skip(1)).all(|(a, b)| a > b)
}

/// Whether the values number the persons of a household: in nearly every one they run from the
/// first number without gaps.
pub(super) fn numbers_persons(household: &Facts<'_>, person: &Facts<'_>) -> bool {
    let Values::Integer(values) = person.domain().values() else { return false };
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    let small = (0..=1).contains(first) && *last < HOUSEHOLD_MAX as i64 && values.len() >= 2;
    let shared = household.distinct >= 2 && household.distinct < household.present_rows();
    if !small || !shared || person.missing > 0 || person.rows < ROWS_ENOUGH {
        return false;
    }
    if uniqueness::singled_out(&[household.column, person.column], uniqueness::People::Rows) < person.rows {
        return false;
    }
    let mut highest = vec![0u64; household.counts.len()];
    for (household, person) in household.column.codes.iter().zip(person.column.codes.iter()) {
        let number = values.get(person as usize).map_or(0, |value| (value - first + 1) as u64);
        let highest = &mut highest[household as usize];
        *highest = number.max(*highest);
    }
    let gapless = highest.iter().zip(&household.counts).filter(|(highest, size)| highest == size).count();
    gapless * 20 >= household.counts.len() * 19
}
