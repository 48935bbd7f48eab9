//! Figure 9: UAD's utility over the number of known attributes in every rule; five rules, l = 10.

use super::drawn::Drawn;
use super::drawn_curves;
use super::texas::{COLUMNS, Losses, Texas};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::below;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(5, 2);
    let [a, b, c, d, e] = COLUMNS;
    let mut table = numbers(["known attributes", a, b, c, d, e]);
    let mut losses = Losses::new();
    for &known in scale.of(&[1, 3, 5, 7, 9][..], &[1, 3, 9]) {
        let (mut kl, mut error) = (Vec::new(), Vec::new());
        for run in 0..runs {
            let published = texas.publish(Drawn { rules: 5, known, l: 10, l_max: 10 }, (5000 + run) as u64)?;
            error.push(texas.errors(&published.ways, 4, 0.4)?);
            kl.push(published.ways.each_ref().map(|way| way.kl));
        }
        losses.push(known as f64, &kl, &error);
        table.rows.extend(losses.last_rows());
    }
    let across = "known attributes";
    let pictures = vec![
        drawn_curves("Figure 9: divergence by known attributes", across, "KL divergence", &losses.kl),
        drawn_curves("Figure 9: query error by known attributes", across, "mean relative error", &losses.error),
    ];
    let setting = format!("{} Five rules, l = 10; queries with qd = 4, p = 40 %.", texas.setting(runs));
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&losses) })
}

fn claims(Losses { kl, error }: &Losses) -> Vec<Claim> {
    vec![
        Claim::shape(
            "from three on, the number of known attributes has barely any influence on UAD's divergence: a factor of 1.5 at most",
            kl[0].from(3.0).barely_varies(),
        )
        .on_other_data(),
        Claim::shape(
            "from three on, it has barely any influence on UAD's query error: a factor of 1.5 at most",
            error[0].from(3.0).barely_varies(),
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
        let curve = |height: f64| Curve::exact("c", &[(3.0, height), (9.0, height)]);
        every_claim_can_fail(
            &Losses { kl: [2.0, 3.0, 1.0].map(curve), error: [2.0, 3.0, 1.0].map(curve) },
            claims,
            &[
                ("from three on, the", |of| of.kl[0].points[1].1 = Sample::exact(3.1)),
                ("from three on, it", |of| of.error[0].points[1].1 = Sample::exact(1.3)),
                ("UAD errs", |of| of.error[0].points[1].1 = Sample::exact(4.0)),
            ],
        )
    }
}
