//! Figure 3: tuples that cloning distorts (suppressed ones and counterfeits) over the size of the
//! table, with the paper's number of classes and with a limit of 1 %.
//!
//! There are as many classes as the rarest value has tuples, b, and each takes equally many tuples
//! of every value: up to b/2 tuples of every other value do not fit (equation 8). So of 50 values
//! up to 24.5·b tuples are distorted. The paper's 579 of 200,000 are possible where b is some
//! dozens of tuples; in this census the rarest values are not that rare.

use hedgerow_report::pictures::{LineChart, NumberCell};

use super::folder::{CLONE, Folder};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::all;

/// "In any case less than 1 %".
const SHARE_MAX: f64 = 0.01;

/// The most distorted tuples of the paper's tables.
const MOST: [f64; 2] = [579.0, 607.0];

/// Over the rows, for every sensitive attribute; repetitions are publishers.
#[derive(Debug, Clone)]
struct Measured {
    tuples: [Curve; 2],
    shares: [Curve; 2],
    /// With a limit of 1 %.
    limited: [Curve; 2],
    /// Equation 8: by publisher and value, the distorted tuples and those of the rarest value.
    by_value: Vec<[u64; 2]>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let limited = format!("{CLONE}max-distorted = {SHARE_MAX}\n");
    let mut table =
        numbers(["sensitive", "rows", "number of classes", "classes", "distorted tuples", "± tuples", "share"]);
    let named = |how: &str| SENSITIVE.map(|sensitive| Curve::new(format!("{sensitive}{how}")));
    let mut measured =
        Measured { tuples: named(""), shares: named(""), limited: named(", at most 1 %"), by_value: Vec::new() };
    for (place, sensitive) in SENSITIVE.into_iter().enumerate() {
        for &fifths in scale.of(&SHARES[..], &[1, 5]) {
            let rows = census.rows(fifths) as f64;
            for (how, settings) in [("as in the paper", CLONE), ("at most 1 % distorted", limited.as_str())] {
                let (mut tuples, mut classes) = (Vec::new(), Vec::new());
                for publisher in 0..PUBLISHERS {
                    let source = census.source(&folder, publisher, fifths)?;
                    let report = folder.publish(&source, sensitive, "", settings)?.1.cloned;
                    let report = report.ok_or("cloning reports what it did")?;
                    tuples.push((report.suppressed + report.counterfeits) as f64);
                    classes.push(report.classes as f64);
                    let rarest = report.values.iter().map(|value| value.rows).min().unwrap_or(0);
                    if settings == CLONE {
                        let distorted = report.values.iter().map(|value| value.suppressed + value.counterfeits);
                        measured.by_value.extend(distorted.map(|distorted| [distorted, rarest]));
                    }
                }
                let shares: Vec<f64> = tuples.iter().map(|tuples| tuples / rows).collect();
                let [tuples, shares, classes] = [&tuples, &shares, &classes].map(|values| Sample::of(values));
                let found =
                    [classes.mean(), tuples.mean(), tuples.error(), shares.mean()].map(NumberCell::Number).to_vec();
                table.rows.push([vec![sensitive.into(), NumberCell::Number(rows), how.into()], found].concat());
                if settings == CLONE {
                    measured.tuples[place].push(rows, tuples);
                    measured.shares[place].push(rows, shares);
                } else {
                    measured.limited[place].push(rows, shares);
                }
            }
        }
    }
    let picture = |title: &str, measure: &str, curves: &[Curve]| {
        let line = LineChart {
            title: title.to_owned(),
            description: format!("{measure} over the rows of the table, the mean of {PUBLISHERS} publishers."),
            columns: ["rows".to_owned(), measure.to_owned()],
            series: curves.iter().map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = vec![
        picture("Distorted tuples", "tuples", &measured.tuples),
        picture("Share of distorted tuples", "share", &[measured.shares.clone(), measured.limited.clone()].concat()),
    ];
    Ok(Findings { setting: census.setting(), numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { tuples, shares, limited, by_value }: &Measured) -> Vec<Claim> {
    let last = |curve: &Curve| curve.points.last().map_or(0.0, |point| point.0);
    vec![
        Claim::shape(
            "less than 1 % of the tuples are distorted, at any size",
            all(shares.iter().map(|one| one.at_most(SHARE_MAX))),
        )
        .on_other_data()
        .stated_not_to_hold(),
        Claim::shape(
            "of the largest tables at most 579 (occupation) and 607 (income) tuples are distorted",
            all(tuples.iter().zip(MOST).map(|(one, most)| one.from(last(one)).at_most(most))),
        )
        .on_other_data()
        .stated_not_to_hold(),
        Claim::shape(
            "of no value are more tuples distorted than half of the rarest value has (equation 8)",
            all(by_value.iter().map(|&of_value| half(of_value))),
        )
        .at_any_size(),
        Claim::shape("larger tables have more distorted tuples", all(tuples.iter().map(Curve::rises))).on_other_data(),
        // The share is that of the rarest value times what does not fit: neither depends on the
        // size.
        Claim::shape("larger tables have a smaller share of them", all(shares.iter().map(Curve::falls)))
            .on_other_data()
            .stated_not_to_hold(),
        Claim::ours(
            "`max-distorted = 0.01` is kept by every publisher",
            all(limited.iter().map(|one| one.at_most(SHARE_MAX))),
        )
        .at_any_size(),
    ]
}

fn half([distorted, rarest]: [u64; 2]) -> ClaimOutcome {
    if 2 * distorted <= rarest {
        Ok(())
    } else {
        Err(format!("{distorted} tuples of one value, and the rarest has {rarest}"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cloning) fn turned() -> Vec<String> {
        let curves = |low: f64, high: f64| [(); 2].map(|()| Curve::exact("c", &[(120_000.0, low), (200_000.0, high)]));
        let right = Measured {
            tuples: curves(2000.0, 3500.0),
            shares: curves(0.017, 0.018),
            limited: curves(0.009, 0.009),
            by_value: vec![[0, 100], [50, 100]],
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("less than 1 %", |of| of.shares = [(); 2].map(|()| Curve::exact("c", &[(1.0, 0.01)]))),
                ("of the largest", |of| of.tuples = [(); 2].map(|()| Curve::exact("c", &[(1.0, 579.0)]))),
                ("of no value", |of| of.by_value[1] = [51, 100]),
                ("larger tables have more", |of| of.tuples[1].points[1].1 = Sample::exact(1.0)),
                ("larger tables have a smaller", |of| {
                    of.shares = [(); 2].map(|()| Curve::exact("c", &[(1.0, 0.02), (2.0, 0.01)]));
                }),
                ("`max-distorted", |of| of.limited[0].points[0].1 = Sample::exact(0.011)),
            ],
        )
    }
}
