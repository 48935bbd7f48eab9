//! Birthplaces: most people were born at home; the others come from some sixty countries with a
//! heavy head, and where they come from goes with their race.

use crate::chance::LoadedDie;

pub(crate) struct Region {
    pub(crate) name: &'static str,
    pub(crate) continent: &'static str,
    /// How much a country of this region draws people of each race, in the order of
    /// [`crate::people::RACES`].
    pull: [u64; 6],
}

const fn region(name: &'static str, continent: &'static str, pull: [u64; 6]) -> Region {
    Region { name, continent, pull }
}

pub(crate) const REGIONS: [Region; 15] = [
    region("Northern America", "Americas", [20, 3, 2, 10, 10, 1]),
    region("Central America", "Americas", [10, 1, 0, 40, 12, 50]),
    region("Caribbean", "Americas", [5, 40, 1, 1, 15, 10]),
    region("South America", "Americas", [9, 4, 1, 20, 14, 25]),
    region("Northern Europe", "Europe", [25, 4, 1, 0, 8, 0]),
    region("Western Europe", "Europe", [22, 2, 1, 0, 8, 0]),
    region("Southern Europe", "Europe", [22, 1, 0, 0, 6, 1]),
    region("Eastern Europe", "Europe", [25, 0, 1, 0, 3, 0]),
    region("Eastern Asia", "Asia", [1, 0, 40, 0, 8, 0]),
    region("South-eastern Asia", "Asia", [1, 0, 40, 1, 8, 1]),
    region("Southern Asia", "Asia", [2, 0, 42, 0, 4, 3]),
    region("Western Asia", "Asia", [16, 1, 6, 0, 5, 6]),
    region("Northern Africa", "Africa", [8, 12, 0, 0, 6, 4]),
    region("Sub-Saharan Africa", "Africa", [1, 45, 1, 0, 6, 1]),
    region("Australia and Pacific", "Oceania", [14, 1, 6, 12, 10, 3]),
];

pub(crate) struct Country {
    pub(crate) name: &'static str,
    /// Index into [`REGIONS`].
    pub(crate) region: usize,
    /// People born there who moved here, in thousands or so.
    moved: u64,
}

const fn country(name: &'static str, region: usize, moved: u64) -> Country {
    Country { name, region, moved }
}

/// The first is home.
pub(crate) const COUNTRIES: [Country; 60] = [
    country("United States", 0, 0),
    country("Canada", 0, 820),
    country("Mexico", 1, 10_700),
    country("El Salvador", 1, 1_400),
    country("Guatemala", 1, 1_150),
    country("Honduras", 1, 780),
    country("Nicaragua", 1, 260),
    country("Panama", 1, 110),
    country("Cuba", 2, 1_350),
    country("Dominican Republic", 2, 1_200),
    country("Jamaica", 2, 780),
    country("Haiti", 2, 700),
    country("Trinidad and Tobago", 2, 220),
    country("Barbados", 2, 55),
    country("Colombia", 3, 810),
    country("Venezuela", 3, 520),
    country("Brazil", 3, 500),
    country("Ecuador", 3, 440),
    country("Peru", 3, 430),
    country("Argentina", 3, 200),
    country("Chile", 3, 105),
    country("United Kingdom", 4, 680),
    country("Ireland", 4, 115),
    country("Sweden", 4, 52),
    country("Germany", 5, 540),
    country("France", 5, 180),
    country("Netherlands", 5, 84),
    country("Italy", 6, 310),
    country("Portugal", 6, 165),
    country("Greece", 6, 120),
    country("Spain", 6, 118),
    country("Poland", 7, 400),
    country("Russia", 7, 395),
    country("Ukraine", 7, 360),
    country("Romania", 7, 165),
    country("Hungary", 7, 64),
    country("China", 8, 2_200),
    country("South Korea", 8, 1_010),
    country("Taiwan", 8, 370),
    country("Japan", 8, 330),
    country("Philippines", 9, 2_000),
    country("Vietnam", 9, 1_320),
    country("Thailand", 9, 250),
    country("Laos", 9, 180),
    country("Cambodia", 9, 150),
    country("India", 10, 2_700),
    country("Pakistan", 10, 400),
    country("Bangladesh", 10, 270),
    country("Nepal", 10, 200),
    country("Iran", 11, 385),
    country("Iraq", 11, 245),
    country("Turkey", 11, 140),
    country("Lebanon", 11, 122),
    country("Egypt", 12, 210),
    country("Morocco", 12, 85),
    country("Nigeria", 13, 440),
    country("Ethiopia", 13, 290),
    country("Ghana", 13, 210),
    country("Australia", 14, 100),
    country("New Zealand", 14, 38),
];

pub(crate) const HOME: u8 = 0;

/// Born abroad, per 10,000 adults of each race.
pub(crate) const BORN_ABROAD: [u32; 6] = [620, 1_180, 6_600, 330, 1_050, 4_600];
/// Children are this much less often (in 10ths) born abroad than the adults around them.
pub(crate) const CHILD_BORN_ABROAD_TENTHS: u32 = 2;

/// For each race, the country of those born abroad.
pub(crate) fn abroad_dice() -> Vec<LoadedDie> {
    (0..crate::people::RACES.len())
        .map(|race| {
            let weights: Vec<u64> =
                COUNTRIES.iter().map(|country| country.moved * REGIONS[country.region].pull[race]).collect();
            LoadedDie::new(&weights)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_has_a_country_and_every_country_a_region() {
        for (index, region) in REGIONS.iter().enumerate() {
            assert!(COUNTRIES.iter().any(|country| country.region == index), "{} is empty", region.name);
        }
    }

    #[test]
    fn only_home_is_not_abroad() {
        assert!(COUNTRIES[1..].iter().all(|country| country.moved > 0));
        assert_eq!(COUNTRIES[usize::from(HOME)].moved, 0);
    }
}
