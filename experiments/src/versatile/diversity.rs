//! Figure 10: UAD's query error over l, which changes the buckets and not the tables; five rules.

use hedgerow_report::pictures::Cell;

use super::drawn::Drawn;
use super::texas::{NAMES, Texas};
use super::{curves, picture};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{below, varies_at_most};

/// Rules are drawn once, for the largest l, so that all can be satisfied.
const LS: [u64; 4] = [5, 10, 15, 20];

/// "Not significantly affected".
const FACTOR_MAX: f64 = 1.5;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(3, 1);
    let mut table = numbers(["l", NAMES[0], NAMES[1]]);
    let mut error = curves(NAMES);
    for l in LS {
        let mut means = [0.0; 2];
        for run in 0..runs {
            let published = texas.publish(Drawn { rules: 5, known: 3, l, l_max: LS[3] }, (5000 + run) as u64)?;
            let errors = texas.errors(&published.ways, 4, 0.4)?;
            means.iter_mut().zip(errors).for_each(|(mean, error)| *mean += error / runs as f64);
        }
        table.rows.push([l as f64, means[0], means[1]].map(Cell::Number).to_vec());
        error.iter_mut().zip(means).for_each(|(curve, mean)| curve.points.push((l as f64, mean)));
    }
    let claims = vec![
        Claim::shape(
            "l does not significantly affect UAD's query error: a factor of 1.5 at most",
            varies_at_most(&error[0], FACTOR_MAX),
        ),
        Claim::shape("UAD errs less than single attributes", below(&error[0], &error[1])),
    ];
    let pictures = vec![picture("Figure 10: query error by l", "l", "mean relative error", &error)];
    let setting = format!("{} Five rules, |Q| = 3; queries with qd = 4, p = 40 %.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims })
}
