//! Experiments A to D: l and the number of quasi attributes vary beside one earlier release.

use hedgerow_report::pictures::{Cell, Line, Picture, Series};

use super::{Census, QUASI, SETS, Searched, Set};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, at_most, falls, never_falls, never_rises, rises};

/// The values of l. The paper's are in a figure that only shows curves.
const LS: [u64; 5] = [5, 10, 20, 30, 40];

/// An attribute that needs few levels lowers the average over all: a step may fall by this share.
const LEVEL_SLACK: f64 = 0.1;

/// The paper's longest search, on a computer of 2012.
const SECONDS_MAX: f64 = 180.0;

pub(super) fn run(scale: Scale, set: usize) -> Result<Findings, Trouble> {
    let (census, set) = (Census::new(scale)?, SETS[set]);
    let community = census.earlier(set)?;
    let attributes = 1..=(QUASI.len() - set.quasi_before);
    let ls: Vec<u64> = LS.into_iter().filter(|&l| l <= set.l_before).collect();
    let mut found = Vec::new();
    for l in ls {
        for quasi in attributes.clone() {
            found.push((l, quasi, census.beside(&community, quasi, l)?));
        }
    }
    let mut table = numbers(["l", "quasi attributes", "seconds", "candidates", "least average level"]);
    for &(l, quasi, Searched { seconds, candidates, level }) in &found {
        table.rows.push([l as f64, quasi as f64, seconds, candidates as f64, level].map(Cell::Number).to_vec());
    }
    let candidates = |searched: Searched| searched.candidates as f64;
    let (by_l, by_quasi) = (by_l(&found, candidates), by_quasi(&found, candidates));
    let levels = (self::by_l(&found, |one| one.level), self::by_quasi(&found, |one| one.level));
    let seconds = self::by_quasi(&found, |one| one.seconds);
    let claims = vec![
        Claim::shape("candidates become fewer as l rises", all(by_l.iter().map(fewer))),
        Claim::shape("candidates become more with the quasi attributes", all(by_quasi.iter().map(|s| rises(s, 0.0)))),
        Claim::shape("the least average level rises with l", all(levels.0.iter().map(never_falls))),
        Claim::shape(
            "the least average level rises with the quasi attributes",
            all(levels.1.iter().map(|s| rises(s, LEVEL_SLACK))),
        ),
        Claim::value("a search takes less than 180 s", all(seconds.iter().map(|s| at_most(s, SECONDS_MAX)))),
    ];
    let Set { name, l_before, quasi_before } = set;
    let setting = format!(
        "{} The earlier release has {quasi_before} of the quasi attributes and at least {l_before} incomes in every class; \
         {} minimal sets of incomes.",
        census.setting(),
        community.minimal_sets()
    );
    let pictures = vec![
        picture(&format!("Experiment {name}: candidates"), "candidates", by_quasi),
        picture(&format!("Experiment {name}: least average level"), "least average level", levels.1),
        picture(&format!("Experiment {name}: seconds"), "seconds", seconds),
    ];
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// With one quasi attribute every l may leave the same few levels; with all of them fewer remain.
fn fewer(series: &Series) -> Result<(), String> {
    never_rises(series)?;
    let is_last = series.name.starts_with("1 ");
    if is_last { Ok(()) } else { falls(series, 0.0) }
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
