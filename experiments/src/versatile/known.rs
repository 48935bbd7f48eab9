//! Figure 9: UAD's utility over the number of known attributes in every rule; five rules, l = 10.

use hedgerow_report::pictures::{Cell, Series};

use super::drawn::Drawn;
use super::texas::{NAMES, Texas};
use super::{curves, picture};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{below, varies_at_most};

/// "Barely any influence".
const FACTOR_MAX: f64 = 1.5;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(3, 1);
    let mut table = numbers(["known attributes", "published as", "KL divergence", "mean relative error"]);
    let [mut kl, mut error] = [(); 2].map(|()| curves(NAMES));
    for &known in scale.of(&[1, 3, 5, 7, 9][..], &[1, 3, 9]) {
        let mut lost = [[0.0; 2]; 2];
        for run in 0..runs {
            let published = texas.publish(Drawn { rules: 5, known, l: 10, l_max: 10 }, (5000 + run) as u64)?;
            let errors = texas.errors(&published.ways, 4, 0.4)?;
            for (lost, (way, error)) in lost.iter_mut().zip(published.ways.iter().zip(errors)) {
                lost[0] += way.kl / runs as f64;
                lost[1] += error / runs as f64;
            }
        }
        for (place, [divergence, relative]) in lost.into_iter().enumerate() {
            kl[place].points.push((known as f64, divergence));
            error[place].points.push((known as f64, relative));
            let measured = [divergence, relative].map(Cell::Number).to_vec();
            table.rows.push([vec![Cell::Number(known as f64), NAMES[place].into()], measured].concat());
        }
    }
    let from_three = |series: &Series| Series {
        name: series.name.clone(),
        points: series.points.iter().copied().filter(|point| point.0 >= 3.0).collect(),
    };
    let claims = vec![
        Claim::shape(
            "from three on, the number of known attributes has barely any influence on UAD's divergence: a factor of 1.5 at most",
            varies_at_most(&from_three(&kl[0]), FACTOR_MAX),
        )
        // On few rows every way to publish diverges alike.
        .stated_not_to_hold_if(scale == Scale::Full),
        Claim::shape(
            "from three on, it has barely any influence on UAD's query error: a factor of 1.5 at most",
            varies_at_most(&from_three(&error[0]), FACTOR_MAX),
        ),
        Claim::shape("UAD errs less than single attributes", below(&error[0], &error[1])),
    ];
    let pictures = vec![
        picture("Figure 9: divergence by known attributes", "known attributes", "KL divergence", &kl),
        picture("Figure 9: query error by known attributes", "known attributes", "mean relative error", &error),
    ];
    let setting = format!("{} Five rules, l = 10; queries with qd = 4, p = 40 %.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims })
}
