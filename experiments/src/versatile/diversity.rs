//! Figure 10: UAD's query error over l, which changes the buckets and not the tables; five rules.

use super::drawn::Drawn;
use super::drawn_curves;
use super::texas::{COLUMNS, Losses, Texas};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::below;

/// Rules are drawn once, for the largest l, so that all can be satisfied.
const LS: [u64; 4] = [5, 10, 15, 20];

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(5, 2);
    let [a, b, c, d, e] = COLUMNS;
    let mut table = numbers(["l", a, b, c, d, e]);
    let mut losses = Losses::new();
    for l in LS {
        let (mut kl, mut error) = (Vec::new(), Vec::new());
        for run in 0..runs {
            let published = texas.publish(Drawn { rules: 5, known: 3, l, l_max: LS[3] }, (5000 + run) as u64)?;
            error.push(texas.errors(&published.ways, 4, 0.4)?);
            kl.push(published.ways.each_ref().map(|way| way.kl));
        }
        losses.push(l as f64, &kl, &error);
        table.rows.extend(losses.last_rows());
    }
    let pictures = vec![drawn_curves("Figure 10: query error by l", "l", "mean relative error", &losses.error)];
    let setting = format!("{} Five rules, |Q| = 3; queries with qd = 4, p = 40 %.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&losses) })
}

fn claims(Losses { error, .. }: &Losses) -> Vec<Claim> {
    vec![
        Claim::shape(
            "l does not significantly affect UAD's query error: a factor of 1.5 at most",
            error[0].barely_varies(),
        )
        .on_other_data(),
        Claim::shape("UAD errs less than single attributes", below(&error[0], &error[1])).on_other_data(),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample::{Curve, Sample};
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::versatile) fn turned() -> Vec<String> {
        let curve = |height: f64| Curve::exact("c", &[(5.0, height), (20.0, height)]);
        every_claim_can_fail(
            &Losses { kl: [2.0, 3.0, 1.0].map(curve), error: [2.0, 3.0, 1.0].map(curve) },
            claims,
            &[
                ("l does not", |of| of.error[0].points[1].1 = Sample::exact(1.3)),
                ("UAD errs", |of| of.error[0].points[1].1 = Sample::exact(3.1)),
            ],
        )
    }
}
