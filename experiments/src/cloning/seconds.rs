//! Figure 6: how long tuples take to be assigned to classes, over the size of the table and over ρ,
//! the share of the table that the paper's scan looks at for every class.

use hedgerow_report::pictures::{LineChart, NumberCell};

use super::folder::{CLONE, Folder};
use super::{Census, OWN, PUBLISHERS, RHOS, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below};
use crate::shape::all;

/// The people of a publisher in a quick run: more than elsewhere, so that there is something to
/// time.
const OWN_QUICK: usize = 20_000;

/// Seconds, for every sensitive attribute; repetitions are publishers.
#[derive(Debug, Clone)]
struct Measured {
    halving: [Curve; 2],
    /// The paper's way.
    scan: [Curve; 2],
    by_rho: [Curve; 2],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::sized(scale.of(OWN, OWN_QUICK))?, Folder::new()?);
    let mut table = numbers(["sensitive", "rows", "assignment", "ρ", "seconds", "±", "ncp"]);
    let named = |how: &str| SENSITIVE.map(|sensitive| Curve::new(format!("{sensitive}, {how}")));
    let mut measured = Measured { halving: named("halving"), scan: named("scan"), by_rho: named("scan") };
    for (place, sensitive) in SENSITIVE.into_iter().enumerate() {
        let mut take = |fifths: usize, rho: Option<f64>| -> Result<(f64, Sample), Trouble> {
            let rows = census.rows(fifths) as f64;
            let settings = rho.map_or(CLONE.to_owned(), |rho| format!("{CLONE}assignment = \"scan\"\nrho = {rho}\n"));
            let (mut seconds, mut lost) = (Vec::new(), Vec::new());
            for publisher in 0..PUBLISHERS {
                let source = census.source(&folder, publisher, fifths)?;
                let report = folder.publish(&source, sensitive, "", &settings)?.1.cloned;
                let report = report.ok_or("cloning reports what it did")?;
                seconds.push(report.assign_time.as_secs_f64());
                lost.push(report.distortion.ncp);
            }
            let how = if rho.is_some() { "scan" } else { "halving" };
            let (seconds, lost) = (Sample::of(&seconds), Sample::of(&lost).mean());
            let found =
                [rho.unwrap_or(f64::NAN), seconds.mean(), seconds.error(), lost].map(NumberCell::Number).to_vec();
            table.rows.push([vec![sensitive.into(), NumberCell::Number(rows), how.into()], found].concat());
            Ok((rows, seconds))
        };
        for &fifths in scale.of(&SHARES[..], &[1, 5]) {
            measured.halving[place].points.push(take(fifths, None)?);
            measured.scan[place].points.push(take(fifths, Some(0.2))?);
        }
        for rho in RHOS {
            measured.by_rho[place].push(rho, take(SHARES[0], Some(rho))?.1);
        }
    }
    let picture = |title: &str, across: &str, curves: &[Curve]| {
        let line = LineChart {
            title: title.to_owned(),
            description: format!("Seconds for assigning tuples to classes, over {across}; the mean of {PUBLISHERS}."),
            columns: [across.to_owned(), "seconds".to_owned()],
            series: curves.iter().map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = vec![
        picture(
            "Assignment over the size of the table",
            "rows",
            &[measured.halving.clone(), measured.scan.clone()].concat(),
        ),
        picture("Assignment over ρ", "ρ", &measured.by_rho),
    ];
    let setting = format!("{} ρ varies on the smallest tables.", census.setting());
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { halving, scan, by_rho }: &Measured) -> Vec<Claim> {
    vec![
        Claim::shape("larger tables take longer by the paper's scan", all(scan.iter().map(Curve::rises)))
            .on_other_data()
            .of_time(),
        Claim::shape("a larger ρ takes longer", all(by_rho.iter().map(Curve::rises))).on_other_data().of_time(),
        Claim::improved(
            "halving takes less time than the paper's scan, at every size",
            all(halving.iter().zip(scan).map(|(our, scan)| below(our, scan))),
        )
        .of_time(),
    ]
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
        let curves = |low: f64| [(); 2].map(|()| Curve::exact("c", &[(1.0, low), (2.0, 2.0 * low)]));
        every_claim_can_fail(
            &Measured { halving: curves(0.1), scan: curves(3.0), by_rho: curves(1.0) },
            claims,
            &[
                ("larger tables", |of| of.scan[0].points[1].1 = Sample::exact(3.0)),
                ("a larger ρ", |of| of.by_rho[1].points[1].1 = Sample::exact(0.5)),
                ("halving", |of| of.halving[1].points[0].1 = Sample::exact(4.0)),
            ],
        )
    }
}
