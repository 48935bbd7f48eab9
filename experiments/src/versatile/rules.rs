//! Figures 4 to 6: UAD's time, divergence and query error over the number of rules, on the larger
//! table; l = 10, three known attributes in every rule.

use hedgerow_report::pictures::Cell;

use super::drawn::Drawn;
use super::texas::{NAMES, Texas};
use super::{curves, picture};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, at_most, below};

/// The paper's curve lies between 2 and 3 seconds.
const UAD_SECONDS_MAX: f64 = 3.0;

const WEEK_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(3, 1);
    let mut table = numbers(["rules", "published as", "KL divergence", "mean relative error", "seconds"]);
    let [mut kl, mut error] = [(); 2].map(|()| curves(NAMES));
    let mut seconds = curves(["UAD"]);
    for &rules in scale.of(&[1, 3, 5, 7, 9][..], &[1, 5, 9]) {
        let (mut lost, mut time) = ([[0.0; 2]; 2], 0.0);
        for run in 0..runs {
            let drawn = Drawn { rules, known: 3, l: 10, l_max: 10 };
            let published = texas.publish(drawn, (rules * 1000 + run) as u64)?;
            let errors = texas.errors(&published.ways, 4, 0.4)?;
            for (lost, (way, error)) in lost.iter_mut().zip(published.ways.iter().zip(errors)) {
                lost[0] += way.kl / runs as f64;
                lost[1] += error / runs as f64;
            }
            time += published.seconds / runs as f64;
        }
        seconds[0].points.push((rules as f64, time));
        for (place, [divergence, relative]) in lost.into_iter().enumerate() {
            kl[place].points.push((rules as f64, divergence));
            error[place].points.push((rules as f64, relative));
            let time = if place == 0 { time } else { f64::NAN };
            let measured = [divergence, relative, time].map(Cell::Number).to_vec();
            table.rows.push([vec![Cell::Number(rules as f64), NAMES[place].into()], measured].concat());
        }
    }
    let by_gd = texas.gd_seconds(Drawn { rules: 5, known: 3, l: 10, l_max: 10 }, 5000)?;
    table.rows.push(vec![Cell::Number(5.0), "GD".into(), f64::NAN.into(), f64::NAN.into(), by_gd.into()]);
    let claims = vec![
        Claim::value("UAD takes no longer than the paper's 3 s", at_most(&seconds[0], UAD_SECONDS_MAX)).of_time(),
        Claim::value("GD takes a matter of weeks", weeks(by_gd)).of_time(),
        Claim::shape("UAD diverges less than single attributes", below(&kl[0], &kl[1])),
        Claim::shape("UAD errs less than single attributes", below(&error[0], &error[1])),
    ];
    let pictures = vec![
        picture("Figure 4: seconds on the larger table", "rules", "seconds", &seconds),
        picture("Figure 5: divergence on the larger table", "rules", "KL divergence", &kl),
        picture("Figure 6: query error on the larger table", "rules", "mean relative error", &error),
    ];
    let setting =
        format!("{} l = 10, |Q| = 3, queries with qd = 4, p = 40 %; GD with five rules.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn weeks(seconds: f64) -> Outcome {
    if seconds >= WEEK_SECONDS { Ok(()) } else { Err(format!("GD with five rules takes {seconds:.1} s")) }
}
