//! Experiments A to D: l and the number of quasi attributes vary beside one earlier release.
//!
//! The paper does not say which attributes a release of so many has. Curves follow one order, most
//! values first. For the least average level all choices are searched as well, since it depends on
//! the choice: let x be the node with the least level for a set of n attributes. Without any one
//! of them x still holds, so the least levels of the n smaller sets sum up to at most n − 1 times
//! that of x. The mean over all choices therefore never falls as attributes are added; that of one
//! choice falls when the new attribute needs few levels.

use hedgerow_report::pictures::{Cell, Line, Picture, Series};

use super::{Census, QUASI, SETS, Searched, Set};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, at_most, falls, never_falls, never_rises, rises};

/// The values of l. The paper's are in a figure that only shows curves.
const LS: [u64; 5] = [5, 10, 20, 30, 40];

/// Means of many levels are equal only up to their last digits.
const ROUNDING: f64 = 1e-9;

/// The paper's longest search, on a computer of 2012.
const SECONDS_MAX: f64 = 180.0;

pub(super) fn run(scale: Scale, set: usize) -> Result<Findings, Trouble> {
    let (census, set) = (Census::new(scale)?, SETS[set]);
    let community = census.earlier(set)?;
    let free = &census.quasi[..QUASI.len() - set.quasi_before];
    let mut found = Vec::new();
    let mut choices = Vec::new();
    for l in LS.into_iter().filter(|&l| l <= set.l_before) {
        let mut levels = vec![f64::NAN; 1 << free.len()];
        for (chosen, level) in levels.iter_mut().enumerate().skip(1) {
            let quasi: Vec<&str> = chosen_of(free, chosen).collect();
            let searched = census.beside(&community, &quasi, l)?;
            *level = searched.level;
            // In the order of the attributes: the first, the first two, and so on.
            if chosen & (chosen + 1) == 0 {
                found.push((l, quasi.len(), searched));
            }
        }
        choices.push(Choices { l, levels });
    }
    let mut table =
        numbers(["l", "quasi attributes", "seconds", "candidates", "least average level", "mean over all choices"]);
    for &(l, quasi, Searched { seconds, candidates, level }) in &found {
        let mean = choices.iter().find(|one| one.l == l).map_or(f64::NAN, |one| one.mean(quasi));
        table.rows.push([l as f64, quasi as f64, seconds, candidates as f64, level, mean].map(Cell::Number).to_vec());
    }
    let candidates = |searched: Searched| searched.candidates as f64;
    let (by_l, by_quasi) = (by_l(&found, candidates), by_quasi(&found, candidates));
    let levels_by_l = self::by_l(&found, |one| one.level);
    let means: Vec<Series> = choices.iter().map(|one| one.means(free.len())).collect();
    let seconds = self::by_quasi(&found, |one| one.seconds);
    let mut claims = vec![
        Claim::shape("candidates become fewer as l rises", all(by_l.iter().map(fewer))),
        Claim::shape("candidates become more with the quasi attributes", all(by_quasi.iter().map(|s| rises(s, 0.0)))),
        Claim::shape("the least average level rises with l", higher(&levels_by_l)),
        Claim::shape(
            "the least average level rises with the quasi attributes, in the mean over which these are",
            all(means.iter().map(|series| rises(series, ROUNDING))),
        ),
        Claim::value("a search takes less than 180 s", all(seconds.iter().map(|s| at_most(s, SECONDS_MAX)))).of_time(),
        Claim::shape(
            "a search over the most attributes takes longer than over the fewest",
            all(seconds.iter().map(|s| rises(s, 1.0))),
        )
        .of_time(),
    ];
    // Three attributes leave little to choose, and the smaller the table, the more depends on it.
    if free.len() > 3 {
        let rises = all(choices.iter().map(|one| one.never_falls(free)));
        claims.push(Claim::shape("it rises whichever attribute is added", rises).stated_not_to_hold());
    }
    let Set { name, l_before, quasi_before } = set;
    let setting = format!(
        "{} The earlier release has {quasi_before} of the quasi attributes and at least {l_before} incomes in every class; \
         {} minimal sets of incomes.",
        census.setting(),
        community.minimal_sets()
    );
    let pictures = vec![
        picture(&format!("Experiment {name}: candidates"), "candidates", by_quasi),
        picture(&format!("Experiment {name}: least average level, over all choices"), "least average level", means),
        picture(&format!("Experiment {name}: seconds"), "seconds", seconds),
    ];
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// The attributes of a set that is written as bits.
fn chosen_of<'a>(free: &'a [&'static str], chosen: usize) -> impl Iterator<Item = &'static str> + 'a {
    free.iter().enumerate().filter(move |(place, _)| chosen >> place & 1 == 1).map(|(_, name)| *name)
}

/// The least average level for every set of attributes, by the set's bits.
struct Choices {
    l: u64,
    levels: Vec<f64>,
}

impl Choices {
    /// The mean over the sets of so many attributes.
    fn mean(&self, quasi: usize) -> f64 {
        let sets = (1..self.levels.len()).filter(|set| set.count_ones() as usize == quasi);
        let levels: Vec<f64> = sets.map(|set| self.levels[set]).collect();
        levels.iter().sum::<f64>() / levels.len() as f64
    }

    fn means(&self, most: usize) -> Series {
        let points = (1..=most).map(|quasi| (quasi as f64, self.mean(quasi))).collect();
        Series { name: format!("l = {}", self.l), points }
    }

    /// Whether no set has a lower level than one that it contains.
    fn never_falls(&self, free: &[&'static str]) -> Outcome {
        for set in 1..self.levels.len() {
            for place in (0..free.len()).filter(|place| set >> place & 1 == 1) {
                let without = set & !(1 << place);
                if without != 0 && self.levels[set] < self.levels[without] {
                    let before: Vec<&str> = chosen_of(free, without).collect();
                    let (from, to) = (self.levels[without], self.levels[set]);
                    let (l, before, added) = (self.l, before.join(", "), free[place]);
                    return Err(format!("with l = {l}, {before} has {from:.2}, and {to:.2} with {added}"));
                }
            }
        }
        Ok(())
    }
}

/// One attribute has four levels, which different l may leave alike; of several, fewer remain.
fn fewer(series: &Series) -> Outcome {
    let is_one = series.name.starts_with("1 ");
    if is_one { never_rises(series) } else { falls(series, 0.0) }
}

/// Never lower, and higher in the end with all attributes.
fn higher(levels: &[Series]) -> Outcome {
    let most = levels.last().ok_or("no attributes")?;
    all(levels.iter().map(never_falls).chain([rises(most, 0.0)]))
}

type Found = [(u64, usize, Searched)];

/// One curve over l for every number of quasi attributes.
fn by_l(found: &Found, measure: impl Fn(Searched) -> f64) -> Vec<Series> {
    let most = found.iter().map(|one| one.1).max().unwrap_or(0);
    let curve = |quasi: usize| Series {
        name: format!("{quasi} attributes"),
        points: found.iter().filter(|one| one.1 == quasi).map(|one| (one.0 as f64, measure(one.2))).collect(),
    };
    (1..=most).map(curve).collect()
}

/// One curve over the number of quasi attributes for every l.
fn by_quasi(found: &Found, measure: impl Fn(Searched) -> f64) -> Vec<Series> {
    let mut ls: Vec<u64> = found.iter().map(|one| one.0).collect();
    ls.dedup();
    let curve = |&l: &u64| Series {
        name: format!("l = {l}"),
        points: found.iter().filter(|one| one.0 == l).map(|one| (one.1 as f64, measure(one.2))).collect(),
    };
    ls.iter().map(curve).collect()
}

fn picture(title: &str, measure: &str, series: Vec<Series>) -> Picture {
    let line = Line {
        title: title.to_owned(),
        description: format!("{measure} over the number of quasi attributes of the new release, one line for each l."),
        columns: ["quasi attributes".to_owned(), measure.to_owned()],
        series,
    };
    line.picture()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_falls_is_named() {
        let free = ["a", "b"];
        let choices = Choices { l: 2, levels: vec![f64::NAN, 2.0, 0.0, 1.0] };
        assert_eq!(choices.never_falls(&free).unwrap_err(), "with l = 2, a has 2.00, and 1.00 with b");
        assert_eq!(choices.means(2).points, [(1.0, 1.0), (2.0, 1.0)]);
        assert!(Choices { l: 2, levels: vec![f64::NAN, 1.0, 1.0, 1.0] }.never_falls(&free).is_ok());
    }
}
