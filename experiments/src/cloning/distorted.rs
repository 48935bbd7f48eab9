//! Figure 3: tuples that cloning distorts (suppressed ones and counterfeits) over the size of the
//! table, with the paper's number of classes and with a limit of 1 %.
//!
//! There are as many classes as the rarest value has tuples, b, and each takes equally many tuples
//! of every value: up to b/2 tuples of every other value do not fit (equation 8). So of 50 values
//! up to 24.5·b tuples are distorted. The paper's 579 of 200,000 are possible where b is some
//! dozens
//! of tuples; in this census the rarest values are not that rare.

use hedgerow_publish::cloning::ClonedValue;
use hedgerow_report::pictures::{Cell, Line, Series};

use super::folder::{CLONE, Folder};
use super::{Census, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, at_most, falls, rises};

/// "In any case less than 1 %".
const SHARE_MAX: f64 = 0.01;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let limited = format!("{CLONE}max-distorted = {SHARE_MAX}\n");
    let mut table =
        numbers(["sensitive", "rows", "number of classes", "rarest value", "classes", "distorted tuples", "share"]);
    let (mut counts, mut shares, mut kept, mut halves) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
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
                let rarest = report.values.iter().map(|value| value.rows).min().unwrap_or(0);
                if settings == CLONE {
                    let of_value = |value: &ClonedValue| half(value, rarest);
                    halves.extend(report.values.iter().map(of_value));
                }
                let counted = [rarest as f64, report.classes as f64, distorted, distorted / rows as f64];
                let numbers = counted.map(Cell::Number).to_vec();
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
        Claim::value(
            "of no value are more tuples distorted than half of the rarest value has (equation 8)",
            all(halves),
        ),
        Claim::value("less than 1 % are distorted once the number of classes follows from that", below(&kept)),
        Claim::shape("larger tables have more distorted tuples", all(counts.iter().map(|one| rises(one, 1.0)))),
        // The share is that of the rarest value times what does not fit: neither depends on the
        // size.
        Claim::shape("larger tables have a smaller share of them", all(shares.iter().map(|one| falls(one, 1.0))))
            .stated_not_to_hold_if(scale == Scale::Full),
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

fn half(value: &ClonedValue, rarest: u64) -> Outcome {
    let distorted = value.suppressed + value.counterfeits;
    if 2 * distorted <= rarest {
        Ok(())
    } else {
        Err(format!("{distorted} of {}, and the rarest has {rarest}", value.value))
    }
}
