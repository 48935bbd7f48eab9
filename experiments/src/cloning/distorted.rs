//! Figure 3: tuples that cloning distorts (suppressed ones and counterfeits) over the size of the
//! table, with the paper's number of classes and with a limit of 1 %.

use hedgerow_report::pictures::{Cell, Line, Series};

use super::folder::{CLONE, Folder};
use super::{Census, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, at_most, falls, rises};

/// "In any case less than 1 %".
const SHARE_MAX: f64 = 0.01;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let limited = format!("{CLONE}max-distorted = {SHARE_MAX}\n");
    let mut table = numbers(["sensitive", "rows", "number of classes", "classes", "distorted tuples", "share"]);
    let (mut counts, mut shares, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (sensitive, name) in SENSITIVE {
        for (how, settings) in [("as in the paper", CLONE), ("at most 1 % distorted", &limited)] {
            let [mut count, mut share] =
                [(), ()].map(|()| Series { name: format!("{name}, {how}"), points: Vec::new() });
            for &fifths in scale.of(&SHARES[..], &[1, 5]) {
                let rows = census.rows(fifths);
                let (_, published) = folder.publish(&census.source(&folder, 0, fifths)?, sensitive, "", settings)?;
                let report = published.cloned.ok_or("cloning reports what it did")?;
                let distorted = (report.suppressed + report.counterfeits) as f64;
                count.points.push((rows as f64, distorted));
                share.points.push((rows as f64, distorted / rows as f64));
                let numbers = [report.classes as f64, distorted, distorted / rows as f64].map(Cell::Number).to_vec();
                table.rows.push([vec![sensitive.into(), Cell::Number(rows as f64), how.into()], numbers].concat());
            }
            if settings == CLONE {
                counts.push(count);
                shares.push(share);
            } else {
                kept.push(share);
            }
        }
    }
    let below = |series: &Vec<Series>| all(series.iter().map(|one| at_most(one, SHARE_MAX)));
    let claims = vec![
        Claim::value("less than 1 % of the tuples are distorted, at any size", below(&shares)).stated_not_to_hold(),
        Claim::value("less than 1 % are distorted once the number of classes follows from that", below(&kept)),
        Claim::shape("larger tables have more distorted tuples", all(counts.iter().map(|one| rises(one, 1.0)))),
        Claim::shape("larger tables have a smaller share of them", all(shares.iter().map(|one| falls(one, 1.0)))),
    ];
    let picture = |title: &str, measure: &str, series: Vec<Series>| {
        let line = Line {
            title: title.to_owned(),
            description: format!("{measure} over the rows of the table."),
            columns: ["rows".to_owned(), measure.to_owned()],
            series,
        };
        line.picture()
    };
    let pictures = vec![
        picture("Distorted tuples", "tuples", counts),
        picture("Share of distorted tuples", "share", [shares, kept].concat()),
    ];
    let setting = format!("One publisher's table of {} to {} people.", census.rows(SHARES[0]), census.rows(SHARES[4]));
    Ok(Findings { setting, numbers: table, pictures, claims })
}
