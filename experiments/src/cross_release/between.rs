//! What the paper reads off when it compares its four sets: more candidates beside a stricter
//! earlier release, and nearly the same time beside a larger one.

use hedgerow_report::pictures::{Cell, Line, Series};

use super::{Census, SETS, Set};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, never_above};

/// All sets leave room for three new quasi attributes.
const QUASI_ATTRIBUTES: usize = 3;

const LS: [u64; 4] = [5, 10, 20, 30];

/// Each search is timed so often, and the shortest counts.
const RUNS: usize = 3;

/// "Not significantly": beside four attributes a search may take this many times as long as beside
/// two. Times of single searches vary by as much from run to run.
const TIMES_MAX: f64 = 2.0;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let census = Census::new(scale)?;
    let mut table = numbers(["set", "l", "candidates", "seconds"]);
    let (mut candidates, mut seconds) = (Vec::new(), Vec::new());
    for set in SETS {
        let community = census.earlier(set)?;
        let mut curves = [const { Vec::new() }; 2];
        for l in LS {
            let mut best = census.beside(&community, &census.quasi[..QUASI_ATTRIBUTES], l)?;
            for _ in 1..RUNS {
                best.seconds =
                    best.seconds.min(census.beside(&community, &census.quasi[..QUASI_ATTRIBUTES], l)?.seconds);
            }
            let measured = [l as f64, best.candidates as f64, best.seconds];
            table.rows.push([vec![Cell::from(set.name)], measured.map(Cell::Number).to_vec()].concat());
            curves[0].push((l as f64, best.candidates as f64));
            curves[1].push((l as f64, best.seconds));
        }
        let Set { name, l_before, quasi_before } = set;
        let [counted, timed] = curves;
        let name = format!("{name}: l {l_before}, {quasi_before} attributes");
        candidates.push(Series { name: name.clone(), points: counted });
        seconds.push(Series { name, points: timed });
    }
    let [a, b, c, d] = &candidates[..] else { return Err("four sets".into()) };
    let claims = vec![
        Claim::shape("candidates become more as the earlier l rises", all([never_above(a, b), never_above(c, d)])),
        Claim::shape(
            "more earlier attributes do not significantly increase the time: at most twice as long",
            all([slower(&seconds[0], &seconds[2]), slower(&seconds[1], &seconds[3])]),
        )
        .of_time(),
    ];
    let picture = |title: &str, measure: &str, series: Vec<Series>| {
        let line = Line {
            title: title.to_owned(),
            description: format!("{measure} over l with three new quasi attributes, one line for each experiment."),
            columns: ["l".to_owned(), measure.to_owned()],
            series,
        };
        line.picture()
    };
    let pictures = vec![
        picture("Candidates beside earlier releases", "candidates", candidates),
        picture("Seconds beside earlier releases", "seconds", seconds),
    ];
    let setting = format!("{} Three new quasi attributes; the shortest of {RUNS} searches.", census.setting());
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// Whether all searches together take at most so many times as long.
fn slower(few: &Series, many: &Series) -> Outcome {
    let total = |series: &Series| series.points.iter().map(|point| point.1).sum::<f64>();
    let times = total(many) / total(few);
    if times <= TIMES_MAX { Ok(()) } else { Err(format!("{times:.1} times as long")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_over_all_searches() {
        let series = |points: &[(f64, f64)]| Series { name: String::new(), points: points.to_vec() };
        assert!(slower(&series(&[(1.0, 1.0), (2.0, 1.0)]), &series(&[(1.0, 3.0), (2.0, 1.0)])).is_ok());
        assert_eq!(slower(&series(&[(1.0, 1.0)]), &series(&[(1.0, 3.0)])).unwrap_err(), "3.0 times as long");
    }
}
