//! Occupations and birthplaces of the synthetic census, divided until there are as many as in table
//! 9 of the paper: every value into some of nearly the same number, which of them at random.

use std::collections::BTreeSet;
use std::fmt::Write;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::experiment::Trouble;

/// Attributes, and how many values each has in the paper.
const FINER: [(&str, usize); 2] = [("birthplace", 133), ("occupation", 509)];

/// The table with finer values, as CSV.
pub(super) fn divided((header, people): &(String, Vec<String>)) -> Result<Vec<u8>, Trouble> {
    let names: Vec<&str> = header.trim_end().split(',').collect();
    let cells = |line: &String| line.trim_end().split(',').map(str::to_owned).collect();
    let mut rows: Vec<Vec<String>> = people.iter().map(cells).collect();
    for (name, wanted) in FINER {
        let place = names.iter().position(|one| *one == name).ok_or("an attribute of the census")?;
        divide(&mut rows, place, wanted);
    }
    let mut text = header.clone();
    rows.iter().for_each(|row| {
        let _ = writeln!(text, "{}", row.join(","));
    });
    Ok(text.into_bytes())
}

fn divide(rows: &mut [Vec<String>], place: usize, wanted: usize) {
    let values: BTreeSet<String> = rows.iter().map(|row| row[place].clone()).collect();
    let values: Vec<String> = values.into_iter().collect();
    if values.len() >= wanted || values.is_empty() {
        return;
    }
    let mut rng = StdRng::seed_from_u64(9);
    for row in rows {
        let value = values.binary_search(&row[place]).unwrap_or(0);
        // Of `wanted` numbers, each value has those that leave it as the remainder.
        let parts = (wanted - value).div_ceil(values.len());
        let part = rng.random_range(0..parts);
        let _ = write!(row[place], " {part}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_divided_into_as_many_as_are_wanted() {
        let mut rows: Vec<Vec<String>> = (0..1000).map(|row| vec![["a", "b", "c"][row % 3].to_owned()]).collect();
        divide(&mut rows, 0, 7);
        let found: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a 0", "a 1", "a 2", "b 0", "b 1", "c 0", "c 1"]);
        let before = rows.clone();
        divide(&mut rows, 0, 3);
        assert_eq!(rows, before, "seven are enough");
        divide(&mut [], 0, 3);
    }
}
