//! Experiments A to D: l and the number of quasi attributes vary beside one earlier release.
//!
//! The paper does not say which attributes a release of a given number has. Curves follow one
//! order, most values first. For the least average level all choices are searched as well, since it
//! depends on the choice: let x be the node with the least level for a set of n attributes. Without
//! any one of them x still holds, so the least levels of the n smaller sets sum up to at most n − 1
//! times that of x. The mean over all choices therefore never falls as attributes are added, which
//! is a check of the search and no claim of the paper; that of one choice falls when the new
//! attribute needs fewer levels than the others have on average. In this order it does: three
//! attributes need four levels in all, which is 1.33 of each, and a fourth needs one more, which is
//! 1.25. The paper argues that levels have to rise; what never falls is their sum.

use hedgerow_report::pictures::{LineChart, NumberCell, Picture};

use super::{Census, QUASI, SETS, Searched, Set};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::all;

/// The values of l. The paper's are in a figure that only shows curves.
const LS: [u64; 5] = [5, 10, 20, 30, 40];

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
        table
            .rows
            .push([l as f64, quasi as f64, seconds, candidates as f64, level, mean].map(NumberCell::Number).to_vec());
    }
    let candidates = |searched: Searched| searched.candidates as f64;
    let measured = Measured {
        candidates_by_l: by_l(&found, candidates),
        candidates_by_quasi: by_quasi(&found, candidates),
        levels_by_l: by_l(&found, |one| one.level),
        levels_by_quasi: by_quasi(&found, |one| one.level),
        means: choices.iter().map(|one| one.means(free.len())).collect(),
        seconds: by_quasi(&found, |one| one.seconds),
        choices,
        free: free.to_vec(),
        name: set.name,
    };
    let Set { name, l_before, quasi_before } = set;
    let setting = format!(
        "{} The earlier release has {quasi_before} of the quasi attributes and at least {l_before} incomes in every class; \
         {} minimal sets of incomes.",
        census.setting(),
        community.minimal_sets()
    );
    let pictures = vec![
        picture(&format!("Experiment {name}: candidates"), "candidates", &measured.candidates_by_quasi),
        picture(&format!("Experiment {name}: least average level"), "least average level", &measured.levels_by_quasi),
        picture(&format!("Experiment {name}: seconds"), "seconds", &measured.seconds),
    ];
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

/// Curves over l for every number of quasi attributes, and over these for every l.
#[derive(Debug, Clone)]
struct Measured {
    candidates_by_l: Vec<Curve>,
    candidates_by_quasi: Vec<Curve>,
    levels_by_l: Vec<Curve>,
    levels_by_quasi: Vec<Curve>,
    /// The least average level in the mean over all choices of attributes.
    means: Vec<Curve>,
    seconds: Vec<Curve>,
    /// For every l.
    choices: Vec<Choices>,
    /// The attributes that are chosen among.
    free: Vec<&'static str>,
    name: &'static str,
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let lowered = match all(measured.choices.iter().map(|one| one.never_falls(&measured.free))) {
        Err(_) => Ok(()),
        Ok(()) => Err("none lowers it".to_owned()),
    };
    let lowered = Claim::ours("an attribute that is added can also lower the least average level", lowered);
    let most = measured.levels_by_l.last().map_or_else(|| Err("no attributes".to_owned()), Curve::rises);
    let on_ours = |says: &str, outcome: ClaimOutcome| Claim::shape(says, outcome).on_other_data();
    // Beside the larger earlier release fewer sets of attributes are left, and none shows it.
    let shows_it = ["A", "B"].contains(&measured.name);
    let by_quasi = on_ours(
        "the least average level rises with the quasi attributes",
        all(measured.levels_by_quasi.iter().map(Curve::rises)),
    );
    let claims = vec![
        on_ours("candidates become fewer as l rises", all(measured.candidates_by_l.iter().map(fewer))),
        on_ours(
            "candidates become more with the quasi attributes",
            all(measured.candidates_by_quasi.iter().map(Curve::rises)),
        ),
        on_ours(
            "the least average level rises with l",
            all(measured.levels_by_l.iter().map(Curve::never_falls).chain([most])),
        ),
        if shows_it { by_quasi.stated_not_to_hold() } else { by_quasi },
        Claim::ours(
            "the least average level never falls with the quasi attributes in the mean over which these are",
            all(measured.means.iter().map(Curve::never_falls)),
        )
        .at_any_size(),
        on_ours("a search takes less than 180 s", all(measured.seconds.iter().map(|one| one.at_most(SECONDS_MAX))))
            .of_time(),
        on_ours(
            "a search over the most attributes takes longer than over the fewest",
            all(measured.seconds.iter().map(|one| ends(one).rises())),
        )
        .of_time(),
    ];
    claims.into_iter().chain(shows_it.then_some(lowered)).collect()
}

/// The first and the last point.
fn ends(curve: &Curve) -> Curve {
    let points = curve.points.first().into_iter().chain(curve.points.last()).cloned().collect();
    Curve { name: curve.name.clone(), points }
}

/// The attributes of a set that is written as bits.
fn chosen_of<'a>(free: &'a [&'static str], chosen: usize) -> impl Iterator<Item = &'static str> + 'a {
    free.iter().enumerate().filter(move |(place, _)| chosen >> place & 1 == 1).map(|(_, name)| *name)
}

/// The least average level for every set of attributes, by the set's bits.
#[derive(Debug, Clone)]
struct Choices {
    l: u64,
    levels: Vec<f64>,
}

impl Choices {
    /// The mean over the sets with the given number of attributes.
    fn mean(&self, quasi: usize) -> f64 {
        let sets = (1..self.levels.len()).filter(|set| set.count_ones() as usize == quasi);
        let levels: Vec<f64> = sets.map(|set| self.levels[set]).collect();
        levels.iter().sum::<f64>() / levels.len() as f64
    }

    fn means(&self, most: usize) -> Curve {
        let points = (1..=most).map(|quasi| (quasi as f64, Sample::exact(self.mean(quasi)))).collect();
        Curve { name: format!("l = {}", self.l), points }
    }

    /// Whether no set has a lower level than one that it contains.
    fn never_falls(&self, free: &[&'static str]) -> ClaimOutcome {
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
fn fewer(curve: &Curve) -> ClaimOutcome {
    let is_one = curve.name.starts_with("1 ");
    if is_one { curve.never_rises() } else { curve.falls() }
}

type SearchedSets = [(u64, usize, Searched)];

/// One curve over l for every number of quasi attributes.
fn by_l(found: &SearchedSets, measure: impl Fn(Searched) -> f64) -> Vec<Curve> {
    let most = found.iter().map(|one| one.1).max().unwrap_or(0);
    let sample = |one: &(u64, usize, Searched)| Sample::exact(measure(one.2));
    let curve = |quasi: usize| Curve {
        name: format!("{quasi} attributes"),
        points: found.iter().filter(|one| one.1 == quasi).map(|one| (one.0 as f64, sample(one))).collect(),
    };
    (1..=most).map(curve).collect()
}

/// One curve over the number of quasi attributes for every l.
fn by_quasi(found: &SearchedSets, measure: impl Fn(Searched) -> f64) -> Vec<Curve> {
    let mut ls: Vec<u64> = found.iter().map(|one| one.0).collect();
    ls.dedup();
    let sample = |one: &(u64, usize, Searched)| Sample::exact(measure(one.2));
    let curve = |&l: &u64| Curve {
        name: format!("l = {l}"),
        points: found.iter().filter(|one| one.0 == l).map(|one| (one.1 as f64, sample(one))).collect(),
    };
    ls.iter().map(curve).collect()
}

fn picture(title: &str, measure: &str, curves: &[Curve]) -> Picture {
    let line = LineChart {
        title: title.to_owned(),
        description: format!("{measure} over the number of quasi attributes of the new release, one line for each l."),
        columns: ["quasi attributes".to_owned(), measure.to_owned()],
        series: curves.iter().map(Curve::series).collect(),
    };
    line.picture()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn a_choice_that_falls_is_named() {
        let free = ["a", "b"];
        let choices = Choices { l: 2, levels: vec![f64::NAN, 2.0, 0.0, 1.0] };
        assert_eq!(choices.never_falls(&free).unwrap_err(), "with l = 2, a has 2.00, and 1.00 with b");
        assert_eq!(choices.means(2), Curve::exact("l = 2", &[(1.0, 1.0), (2.0, 1.0)]));
        assert!(Choices { l: 2, levels: vec![f64::NAN, 1.0, 1.0, 1.0] }.never_falls(&free).is_ok());
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        ["A", "B", "C", "D"].into_iter().for_each(|name| drop(turned(name)));
    }

    pub(in crate::cross_release) fn turned(name: &'static str) -> Vec<String> {
        let rising = || vec![Curve::exact("l", &[(1.0, 1.0), (2.0, 2.0)])];
        // In the order of the attributes it falls in A and B.
        let level = if ["A", "B"].contains(&name) { 0.5 } else { 2.0 };
        let right = Measured {
            candidates_by_l: vec![Curve::exact("2 attributes", &[(1.0, 9.0), (2.0, 5.0)])],
            candidates_by_quasi: rising(),
            levels_by_l: rising(),
            levels_by_quasi: vec![Curve::exact("l", &[(1.0, 1.0), (2.0, level)])],
            means: rising(),
            seconds: rising(),
            choices: vec![Choices { l: 2, levels: vec![f64::NAN, 2.0, 0.0, 1.0] }],
            free: vec!["a", "b"],
            name,
        };
        let wrong: [crate::wrong::Wrong<Measured>; 8] = [
            ("candidates become fewer", |of| of.candidates_by_l[0].points[1].1 = Sample::exact(10.0)),
            ("candidates become more", |of| of.candidates_by_quasi[0].points[1].1 = Sample::exact(1.0)),
            ("the least average level rises with l", |of| of.levels_by_l[0].points[1].1 = Sample::exact(0.5)),
            ("the least average level rises with the quasi", |of| {
                let level = of.levels_by_quasi[0].points[1].1.mean();
                of.levels_by_quasi[0].points[1].1 = Sample::exact(2.5 - level)
            }),
            ("the least average level never falls", |of| of.means[0].points[1].1 = Sample::exact(0.5)),
            ("a search takes", |of| of.seconds[0].points[0].1 = Sample::exact(181.0)),
            ("a search over", |of| of.seconds[0].points[1].1 = Sample::exact(0.5)),
            ("an attribute that is added", |of| of.choices[0].levels[3] = 2.0),
        ];
        crate::wrong::every_claim_can_fail(&right, claims, &wrong[..claims(&right).len()])
    }
}
