//! Age, sex, race and marital status: what the population looks like before it goes to school or to
//! work.

use crate::chance::LoadedDie;

pub(crate) const AGES: usize = 100;

/// People per single year of age, at these ages; in between it runs straight. The shape is that of
/// a rich country today: slightly fewer children than adults, a dent at 45 between two bulges, and
/// a fall from 65 on.
const AGE_ANCHORS: [(usize, u64); 17] = [
    (0, 1_180),
    (5, 1_220),
    (10, 1_290),
    (20, 1_330),
    (30, 1_420),
    (36, 1_360),
    (45, 1_220),
    (53, 1_290),
    (60, 1_310),
    (65, 1_150),
    (70, 960),
    (75, 700),
    (80, 430),
    (85, 260),
    (90, 120),
    (95, 35),
    (99, 8),
];

/// Weight of every age from 0 to 99.
pub(crate) fn age_weights() -> Vec<u64> {
    let mut weights = vec![0; AGES];
    for pair in AGE_ANCHORS.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        let steps = (to - from) as u64;
        for (step, weight) in weights[from..=to].iter_mut().enumerate() {
            *weight = (low * (steps - step as u64) + high * step as u64) / steps;
        }
    }
    weights
}

pub(crate) const SEXES: [&str; 2] = ["Female", "Male"];
pub(crate) const FEMALE: u8 = 0;

/// Women per 10,000 people, by decade of age: a few more boys are born, and women live longer.
pub(crate) const FEMALE_SHARE: [u32; 10] = [4_880, 4_880, 4_920, 4_990, 5_030, 5_090, 5_200, 5_450, 5_950, 6_900];

pub(crate) const RACES: [&str; 6] = ["White", "Black", "Asian", "Indigenous", "Mixed", "Other"];

/// The young are more diverse than the old: weights below 30, from 30 to 59, from 60 on.
const RACE_BY_AGE: [[u64; 6]; 3] =
    [[560, 145, 65, 16, 84, 130], [640, 130, 75, 12, 43, 100], [770, 100, 48, 8, 22, 52]];

pub(crate) fn race_dice() -> Vec<LoadedDie> {
    RACE_BY_AGE.iter().map(|weights| LoadedDie::new(weights)).collect()
}

pub(crate) fn race_band(age: u8) -> usize {
    match age {
        0..=29 => 0,
        30..=59 => 1,
        _ => 2,
    }
}

/// Name, and the group it falls under in the hierarchy.
pub(crate) const MARITAL_STATUSES: [(&str, &str); 7] = [
    ("Never married", "Single"),
    ("Partnered", "Living together"),
    ("Married", "Living together"),
    ("Married and apart", "Formerly together"),
    ("Separated", "Formerly together"),
    ("Divorced", "Formerly together"),
    ("Widowed", "Formerly together"),
];

/// The first age of each row of the two tables below. People under 15 are never married.
const MARITAL_FROM_AGE: [u8; 11] = [0, 15, 18, 21, 25, 30, 40, 50, 60, 70, 80];

/// Weights in the order of [`MARITAL_STATUSES`]. Women marry a little earlier and outlive their
/// husbands.
const MARITAL_OF_WOMEN: [[u64; 7]; 11] = [
    [1_000, 0, 0, 0, 0, 0, 0],
    [985, 10, 4, 1, 0, 0, 0],
    [890, 75, 28, 4, 2, 1, 0],
    [690, 150, 135, 10, 9, 6, 0],
    [420, 160, 350, 15, 20, 34, 1],
    [225, 110, 530, 18, 30, 83, 4],
    [135, 75, 580, 18, 35, 145, 12],
    [105, 50, 580, 16, 29, 190, 30],
    [70, 32, 560, 12, 20, 210, 96],
    [48, 18, 480, 9, 12, 165, 268],
    [45, 8, 250, 7, 6, 94, 590],
];
const MARITAL_OF_MEN: [[u64; 7]; 11] = [
    [1_000, 0, 0, 0, 0, 0, 0],
    [993, 5, 2, 0, 0, 0, 0],
    [930, 50, 15, 3, 1, 1, 0],
    [770, 125, 85, 10, 6, 4, 0],
    [520, 165, 270, 16, 12, 17, 0],
    [285, 130, 500, 20, 20, 44, 1],
    [170, 90, 585, 20, 26, 105, 4],
    [125, 60, 620, 18, 24, 142, 11],
    [82, 38, 670, 14, 18, 150, 28],
    [48, 24, 720, 10, 11, 110, 77],
    [35, 12, 650, 10, 6, 57, 230],
];

/// Indexed by [`marital_band`], then by sex.
pub(crate) fn marital_dice() -> Vec<[LoadedDie; 2]> {
    MARITAL_OF_WOMEN
        .iter()
        .zip(&MARITAL_OF_MEN)
        .map(|(women, men)| [LoadedDie::new(women), LoadedDie::new(men)])
        .collect()
}

pub(crate) fn marital_band(age: u8) -> usize {
    MARITAL_FROM_AGE.partition_point(|&from| from <= age) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_age_has_people_and_the_old_are_few() {
        let weights = age_weights();
        assert_eq!(weights.len(), AGES);
        assert!(weights.iter().all(|&weight| weight > 0));
        assert!(weights[30] > weights[45] && weights[60] > weights[45] && weights[99] * 100 < weights[30]);
    }

    #[test]
    fn bands_begin_where_the_table_says() {
        assert_eq!([0, 14, 15, 17, 18, 80, 99].map(marital_band), [0, 0, 1, 1, 2, 10, 10]);
    }
}
