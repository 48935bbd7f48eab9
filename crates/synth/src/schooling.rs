//! Education: sixteen ordered levels. Children are as far as their age lets them be; each
//! generation of adults has gone further than the one before; people who came from abroad are found
//! at both ends.

use crate::chance::LoadedDie;

pub(crate) struct Schooling {
    pub(crate) name: &'static str,
    pub(crate) stage: &'static str,
    pub(crate) tier: &'static str,
}

const fn level(name: &'static str, stage: &'static str, tier: &'static str) -> Schooling {
    Schooling { name, stage, tier }
}

/// From the lowest to the highest.
pub(crate) const LEVELS: [Schooling; 16] = [
    level("No schooling", "Before school", "Up to primary"),
    level("Nursery", "Before school", "Up to primary"),
    level("Kindergarten", "Before school", "Up to primary"),
    level("Grades 1 to 4", "Primary", "Up to primary"),
    level("Grades 5 and 6", "Primary", "Up to primary"),
    level("Grades 7 and 8", "Middle", "Secondary"),
    level("Grade 9", "High school unfinished", "Secondary"),
    level("Grade 10", "High school unfinished", "Secondary"),
    level("Grade 11", "High school unfinished", "Secondary"),
    level("Grade 12 unfinished", "High school unfinished", "Secondary"),
    level("High school", "High school finished", "Secondary"),
    level("Some college", "College below degree", "Higher"),
    level("Vocational degree", "College below degree", "Higher"),
    level("Bachelor", "Degree", "Higher"),
    level("Master", "Postgraduate", "Higher"),
    level("Doctorate", "Postgraduate", "Higher"),
];

/// The first age of each row of [`BY_AGE`].
const FROM_AGE: [u8; 15] = [0, 3, 5, 6, 10, 12, 14, 15, 16, 17, 18, 20, 25, 40, 65];

/// Weights of the sixteen levels for people born at home.
const BY_AGE: [[u64; 16]; 15] = [
    [1_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [450, 550, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [60, 140, 800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [8, 2, 90, 900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [5, 0, 0, 195, 800, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 6, 130, 860, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 1, 15, 380, 590, 10, 0, 0, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 1, 3, 42, 380, 560, 10, 0, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 1, 2, 13, 60, 380, 525, 15, 0, 0, 0, 0, 0, 0],
    [4, 0, 0, 1, 2, 8, 20, 65, 420, 430, 50, 0, 0, 0, 0, 0],
    [4, 0, 0, 1, 3, 8, 14, 25, 60, 110, 475, 300, 0, 0, 0, 0],
    [4, 1, 0, 1, 3, 8, 13, 18, 27, 25, 300, 405, 65, 127, 3, 0],
    [4, 1, 1, 2, 5, 9, 12, 14, 20, 17, 250, 200, 105, 245, 100, 15],
    [5, 1, 1, 3, 7, 12, 13, 16, 22, 18, 285, 185, 105, 205, 103, 19],
    [7, 1, 1, 9, 16, 44, 22, 28, 26, 20, 335, 175, 75, 142, 80, 19],
];

/// The first row of adults, whose weights abroad shifts.
const FIRST_ADULT_BAND: usize = 11;

/// How many times as frequent each level is among adults born abroad.
const ABROAD_FACTOR: [u64; 16] = [8, 8, 8, 10, 10, 6, 4, 3, 2, 2, 1, 1, 1, 2, 2, 4];

pub(crate) fn band(age: u8) -> usize {
    FROM_AGE.partition_point(|&from| from <= age) - 1
}

/// Indexed by [`band`], then by whether the person was born abroad.
pub(crate) fn dice() -> Vec<[LoadedDie; 2]> {
    BY_AGE
        .iter()
        .enumerate()
        .map(|(band, weights)| {
            let abroad: Vec<u64> = if band < FIRST_ADULT_BAND {
                weights.to_vec()
            } else {
                weights.iter().zip(ABROAD_FACTOR).map(|(weight, factor)| weight * factor).collect()
            };
            [LoadedDie::new(weights), LoadedDie::new(&abroad)]
        })
        .collect()
}

/// The schooling that an employer requires: 0 no diploma, 1 high school, 2 some college or
/// vocational, 3 bachelor, 4 more.
pub(crate) fn requirement(level: u8) -> usize {
    match level {
        0..=9 => 0,
        10 => 1,
        11 | 12 => 2,
        13 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toddlers_have_no_schooling_and_bands_begin_where_the_table_says() {
        assert_eq!([0, 2, 3, 5, 19, 20, 64, 65, 99].map(band), [0, 0, 1, 2, 10, 11, 13, 14, 14]);
        assert_eq!(BY_AGE[0].iter().filter(|&&weight| weight > 0).count(), 1);
    }
}
