//! The paper's comparison of its four sets: more candidates beside a stricter
//! earlier release, and nearly the same time beside a larger one.
//!
//! The paper's sets B and D have an earlier release with all fifty incomes in every class, which
//! constrains nothing: what is compared with it cannot have more candidates, whatever the data. So
//! the paper's claim is tried at earlier l from 30 to 48. There candidates may become fewer, since
//! the earlier release is another one for every l, whose sets of incomes need not contain those of
//! the one before: in our census two of the eight curves fall by one candidate from 40 to 45. Those
//! beside 50 are a claim of ours.

use hedgerow_report::pictures::{LineChart, NumberCell, short};

use super::{Census, Set};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, FACTOR_MAX, Sample};
use crate::shape::all;

/// All sets leave room for three new quasi attributes.
const QUASI_ATTRIBUTES: usize = 3;

/// The earlier attributes of the paper's sets.
const QUASI_BEFORE: [usize; 2] = [2, 4];

/// The paper has 30 and 50.
const LS_BEFORE: [u64; 6] = [30, 35, 40, 45, 48, 50];

/// Up to here the earlier release constrains the new one.
const CONSTRAINS_MAX: f64 = 48.0;

const LS: [u64; 4] = [5, 10, 20, 30];

/// Each search is timed so often.
const RUNS: usize = 3;

#[derive(Debug, Clone)]
struct Measured {
    /// Over the earlier l, for every number of earlier attributes and every l.
    candidates: Vec<Curve>,
    /// Over l beside the earlier l of 30, for two and for four earlier attributes.
    seconds: [Curve; 2],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let census = Census::new(scale)?;
    let mut table = numbers(["earlier attributes", "earlier l", "l", "candidates", "seconds"]);
    let seconds = QUASI_BEFORE.map(|quasi| Curve::new(format!("{quasi} earlier attributes")));
    let mut measured = Measured { candidates: Vec::new(), seconds };
    for (place, quasi_before) in QUASI_BEFORE.into_iter().enumerate() {
        let mut curves = LS.map(|l| Curve::new(format!("{quasi_before} earlier attributes, l = {l}")));
        for l_before in LS_BEFORE {
            let community = census.earlier(Set { name: "", l_before, quasi_before })?;
            for (l, curve) in LS.into_iter().zip(&mut curves) {
                let mut seconds = Vec::new();
                let mut candidates = 0;
                for _ in 0..if l_before == LS_BEFORE[0] { RUNS } else { 1 } {
                    let found = census.beside(&community, &census.quasi[..QUASI_ATTRIBUTES], l)?;
                    seconds.push(found.seconds);
                    candidates = found.candidates;
                }
                let row = [quasi_before as f64, l_before as f64, l as f64, candidates as f64];
                let seconds = Sample::of(&seconds);
                table.rows.push(row.into_iter().chain([seconds.mean()]).map(NumberCell::Number).collect());
                curve.push(l_before as f64, Sample::exact(candidates as f64));
                if l_before == LS_BEFORE[0] {
                    measured.seconds[place].push(l as f64, seconds);
                }
            }
        }
        measured.candidates.extend(curves);
    }
    let picture = |title: &str, across: &str, measure: &str, curves: &[Curve]| {
        let line = LineChart {
            title: title.to_owned(),
            description: format!("{measure} over {across} with three new quasi attributes."),
            columns: [across.to_owned(), measure.to_owned()],
            series: curves.iter().map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = vec![
        picture("Candidates beside earlier releases", "the earlier l", "candidates", &measured.candidates),
        picture("Seconds beside earlier releases", "l", "seconds", &measured.seconds),
    ];
    let setting = format!("{} Three new quasi attributes; {RUNS} searches where they are timed.", census.setting());
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { candidates, seconds }: &Measured) -> Vec<Claim> {
    let constrained: Vec<Curve> = candidates.iter().map(|curve| curve.up_to(CONSTRAINS_MAX)).collect();
    vec![
        Claim::shape(
            "candidates become more as the earlier l rises from 30 to 48",
            all(constrained.iter().map(Curve::never_falls).chain([total(&constrained).rises()])),
        )
        .on_other_data()
        .stated_not_to_hold(),
        Claim::ours(
            "beside an earlier l of 50, which constrains nothing, there are at least as many as beside any other",
            all(candidates.iter().map(most_at_the_end)),
        )
        .at_any_size(),
        Claim::shape(
            "more earlier attributes do not significantly increase the time: by a factor of 1.5 at most",
            slower(&seconds[0], &seconds[1]),
        )
        .on_other_data()
        .of_time(),
    ]
}

/// All candidates together, over the earlier l.
fn total(curves: &[Curve]) -> Curve {
    let mut total = Curve::new("all candidates");
    let ls_before = curves.first().into_iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    for l_before in ls_before {
        let at = |curve: &Curve| curve.points.iter().find(|point| point.0 == l_before).map(|point| point.1.mean());
        total.push(l_before, Sample::exact(curves.iter().filter_map(at).sum()));
    }
    total
}

/// No place has more than the last one.
fn most_at_the_end(curve: &Curve) -> ClaimOutcome {
    let last = curve.points.last().map_or(f64::NAN, |point| point.1.mean());
    curve.at_most(last)
}

/// Whether all searches together take at most the given multiple of the time.
fn slower(few: &Curve, many: &Curve) -> ClaimOutcome {
    let total = |curve: &Curve| curve.points.iter().map(|point| point.1.mean()).sum::<f64>();
    let times = total(many) / total(few);
    if times <= FACTOR_MAX { Ok(()) } else { Err(format!("{} times as long", short(times))) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cross_release) fn turned() -> Vec<String> {
        let rising = |height: f64| Curve::exact("c", &[(30.0, height), (40.0, height + 1.0), (50.0, height + 2.0)]);
        let dented = Curve::exact("c", &[(30.0, 9.0), (40.0, 8.0), (50.0, 11.0)]);
        every_claim_can_fail(
            &Measured { candidates: vec![dented], seconds: [1.0, 1.4].map(rising) },
            claims,
            &[
                ("candidates become more", |of| of.candidates[0].points[1].1 = Sample::exact(10.0)),
                ("beside an earlier l of 50", |of| of.candidates[0].points[2].1 = Sample::exact(8.0)),
                ("more earlier attributes", |of| of.seconds[1].points[0].1 = Sample::exact(9.0)),
            ],
        )
    }

    #[test]
    fn one_curve_that_falls_and_none_that_rises_are_refused() {
        let curve =
            |heights: [f64; 3]| Curve::exact("c", &[(30.0, heights[0]), (48.0, heights[1]), (50.0, heights[2])]);
        let outcome = |candidates: Vec<Curve>| {
            let measured = Measured { candidates, seconds: [1.0, 1.0].map(|height| curve([height; 3])) };
            claims(&measured)[0].outcome().is_ok()
        };
        assert!(outcome(vec![curve([1.0, 1.0, 9.0]), curve([1.0, 2.0, 9.0])]));
        assert!(!outcome(vec![curve([1.0, 1.0, 9.0])]), "the rise to 50 does not count");
        assert!(!outcome(vec![curve([2.0, 1.0, 9.0]), curve([1.0, 3.0, 9.0])]));
    }
}
