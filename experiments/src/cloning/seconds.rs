//! Figure 6: how long tuples take to be assigned to classes, over the size of the table and over ρ,
//! the share of the table that the paper's scan looks at for every class.

use hedgerow_report::pictures::{Cell, Line, Series};

use super::folder::{CLONE, Folder};
use super::{Census, OWN, RHOS, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, below, rises};

/// Of these runs the shortest counts: other work on the machine only makes runs longer.
const RUNS: usize = 5;

/// The people of a publisher in a quick run: more than elsewhere, so that there is something to
/// time.
const OWN_QUICK: usize = 20_000;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::sized(scale.of(OWN, OWN_QUICK))?, Folder::new()?);
    let mut table = numbers(["sensitive", "rows", "assignment", "ρ", "seconds", "ncp"]);
    let (mut ours, mut scans, mut by_rho) = (Vec::new(), Vec::new(), Vec::new());
    for (sensitive, name) in SENSITIVE {
        let series = |how: &str| Series { name: format!("{name}, {how}"), points: Vec::new() };
        let (mut our, mut scan, mut rho_curve) = (series("halving"), series("scan"), series("scan"));
        let mut take = |fifths: usize, rho: Option<f64>| -> Result<(f64, f64), Trouble> {
            let rows = census.rows(fifths) as f64;
            let settings = rho.map_or(CLONE.to_owned(), |rho| format!("{CLONE}assignment = \"scan\"\nrho = {rho}\n"));
            let mut best: Option<(f64, f64)> = None;
            for _ in 0..RUNS {
                let (_, published) = folder.publish(&census.source(&folder, 0, fifths)?, sensitive, "", &settings)?;
                let report = published.cloned.ok_or("cloning reports what it did")?;
                let seconds = report.assign_time.as_secs_f64();
                if best.is_none_or(|best| seconds < best.0) {
                    best = Some((seconds, report.distortion.ncp));
                }
            }
            let (seconds, ncp) = best.ok_or("several runs")?;
            let how = if rho.is_some() { "scan" } else { "halving" };
            let measured = [rho.unwrap_or(f64::NAN), seconds, ncp].map(Cell::Number).to_vec();
            table.rows.push([vec![sensitive.into(), Cell::Number(rows), how.into()], measured].concat());
            Ok((rows, seconds))
        };
        for &fifths in scale.of(&SHARES[..], &[1, 5]) {
            our.points.push(take(fifths, None)?);
            scan.points.push(take(fifths, Some(0.2))?);
        }
        for rho in RHOS {
            rho_curve.points.push((rho, take(SHARES[0], Some(rho))?.1));
        }
        ours.push(our);
        scans.push(scan);
        by_rho.push(rho_curve);
    }
    let claims = vec![
        Claim::shape("larger tables take longer", all(scans.iter().map(longer_at_the_end))).of_time(),
        Claim::shape("a larger ρ takes longer", all(by_rho.iter().map(longer_at_the_end))).of_time(),
        Claim::shape(
            "this project: halving takes less time than the scan, at every size",
            all(ours.iter().zip(&scans).map(|(our, scan)| below(our, scan))),
        )
        .of_time(),
    ];
    let picture = |title: &str, across: &str, series: Vec<Series>| {
        let line = Line {
            title: title.to_owned(),
            description: format!(
                "Seconds for assigning tuples to classes, over {across}; the shortest of {RUNS} runs."
            ),
            columns: [across.to_owned(), "seconds".to_owned()],
            series,
        };
        line.picture()
    };
    let pictures = vec![
        picture("Assignment over the size of the table", "rows", [ours, scans].concat()),
        picture("Assignment over ρ", "ρ", by_rho),
    ];
    let (least, most) = (census.rows(SHARES[0]), census.rows(SHARES[4]));
    let setting = format!("One publisher's table of {least} to {most} people; ρ varies on {least}.");
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// Single steps are within the noise of a busy machine.
fn longer_at_the_end(series: &Series) -> Outcome {
    rises(series, 1.0)
}
