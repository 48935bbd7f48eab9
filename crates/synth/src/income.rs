//! Income: fifty bands, in thousands a year, for every person the income per adult of the household
//! they live in.
//!
//! Per household, because then children have one too: with a personal income, a quarter of all
//! people would share the band 0 and no class of the young could have two values. For adults it
//! follows their own schooling, occupation, age and sex, with as much chance as system in it; for
//! children it is mostly chance.

use crate::people::FEMALE;
use crate::work::OCCUPATIONS;

/// The fifty values, in thousands.
pub(crate) const BANDS: [u16; 50] = [
    0, 2, 5, 8, 10, 12, 15, 18, 20, 22, 25, 28, 30, 32, 35, 38, 40, 42, 45, 48, 50, 52, 55, 58, 60, 65, 70, 75, 80, 85,
    90, 95, 100, 105, 110, 115, 120, 130, 140, 150, 160, 180, 200, 220, 250, 300, 350, 400, 500, 750,
];

/// The score from which each band but the first begins. Set so that the bands hold the shares that
/// the test below lists, the rarest 0.3 % of all people; that test prints this table anew when the
/// model behind the score has changed.
const BAND_FROM_SCORE: [i32; 49] = [
    -1562, -1438, -1326, -1226, -1125, -1034, -942, -861, -778, -707, -632, -568, -499, -440, -376, -322, -262, -211,
    -155, -108, -52, -6, 44, 88, 142, 202, 261, 319, 376, 430, 484, 534, 593, 641, 689, 733, 788, 854, 918, 984, 1049,
    1131, 1210, 1296, 1392, 1496, 1603, 1748, 1958,
];

const BY_SCHOOLING: [i32; 16] = [-380, -380, -380, -350, -330, -300, -270, -250, -230, -190, -80, 0, 60, 260, 400, 560];

/// By decade of age from 10 on: pay rises to the fifties, pensions are lower.
const BY_AGE: [i32; 9] = [-330, -260, 0, 110, 150, 80, -60, -140, -170];

const OF_WOMEN: i32 = -130;
const OF_CHILDREN: i32 = -60;

/// The index of the band. `luck` is a draw of [`crate::chance::Random::bell`].
pub(crate) fn band(age: u8, sex: u8, schooling: u8, occupation: u8, luck: i32) -> u8 {
    band_of_score(score(age, sex, schooling, occupation, luck))
}

fn score(age: u8, sex: u8, schooling: u8, occupation: u8, luck: i32) -> i32 {
    if age < crate::work::FIRST_WORKING_AGE {
        return OF_CHILDREN + luck;
    }
    let sex = if sex == FEMALE { OF_WOMEN } else { 0 };
    let pay = OCCUPATIONS[usize::from(occupation)].pay;
    BY_SCHOOLING[usize::from(schooling)] + BY_AGE[usize::from(age / 10) - 1] + sex + pay + luck
}

fn band_of_score(score: i32) -> u8 {
    BAND_FROM_SCORE.partition_point(|&from| from <= score) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::Model;

    /// People per 10,000 in each band: a bump around 30 to 50 thousand and a long tail.
    const SHARES: [u32; 50] = [
        220, 120, 150, 170, 210, 230, 270, 270, 310, 290, 330, 300, 340, 300, 330, 290, 330, 280, 310, 260, 310, 250,
        270, 230, 280, 300, 280, 260, 250, 220, 210, 180, 200, 150, 140, 120, 140, 150, 130, 120, 100, 110, 90, 80, 70,
        60, 45, 40, 35, 30,
    ];

    #[test]
    fn bands_hold_their_shares() {
        let rows = 1_000_000u64;
        let mut scores: Vec<i32> = Model::new().scores_for_test(rows, score);
        scores.sort_unstable();
        let total: u64 = SHARES.iter().map(|&share| u64::from(share)).sum();
        let mut below = 0u64;
        let mut restored = Vec::new();
        let mut worst = 0.0f64;
        for (band, &share) in SHARES.iter().enumerate() {
            let wanted = rows as f64 * f64::from(share) / total as f64;
            let seen = scores.iter().filter(|&&score| usize::from(band_of_score(score)) == band).count() as f64;
            worst = worst.max((seen / wanted - 1.0).abs());
            below += u64::from(share);
            restored.push(scores[((rows * below / total) as usize).min(scores.len() - 1)]);
        }
        restored.pop();
        assert!(worst < 0.15, "a band is off its share by {worst:.2}; BAND_FROM_SCORE should be {restored:?}");
    }

    #[test]
    fn bands_and_scores_rise() {
        assert!(BANDS.is_sorted_by(|low, high| low < high));
        assert!(BAND_FROM_SCORE.is_sorted_by(|low, high| low < high));
    }

    #[test]
    fn the_extremes_are_reached() {
        assert_eq!(band_of_score(i32::MIN), 0);
        assert_eq!(band_of_score(i32::MAX), 49);
    }
}
