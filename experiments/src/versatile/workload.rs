//! Figures 7 and 8: the error of count queries over the number of attributes that a query selects
//! by, and over the share of the values of each; five rules, l = 10.

use super::drawn::Drawn;
use super::drawn_curves;
use super::texas::{COLUMNS, Losses, Texas};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::below;

/// The fixed parameters.
const DIMENSION: usize = 4;
const SHARE: f64 = 0.4;

/// Repetitions, each with rules of its own.
fn runs(scale: Scale) -> usize {
    scale.of(5, 3)
}

pub(super) fn by_dimension(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [2, 4, 6, 8, 10].map(|dimension| (dimension, SHARE));
    let (mut findings, losses) = run(scale, &queries, "query dimension", |query| query.0 as f64)?;
    findings.pictures = vec![drawn_curves(
        "Figure 7: query error by dimension",
        "query dimension",
        "mean relative error",
        &losses.error,
    )];
    findings.claims = claims_by_dimension(&losses);
    Ok(findings)
}

pub(super) fn by_share(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [0.3, 0.4, 0.5, 0.6, 0.7].map(|share| (DIMENSION, share));
    let (mut findings, losses) = run(scale, &queries, "value share", |query| query.1)?;
    findings.pictures =
        vec![drawn_curves("Figure 8: query error by share", "value share", "mean relative error", &losses.error)];
    findings.claims = claims_by_share(&losses);
    Ok(findings)
}

fn claims_by_dimension(Losses { error, .. }: &Losses) -> Vec<Claim> {
    vec![
        Claim::shape("UAD errs less than single attributes under all settings", below(&error[0], &error[1]))
            .on_other_data(),
        Claim::ours("UAD errs more over more attributes", error[0].rises()),
    ]
}

fn claims_by_share(Losses { error, .. }: &Losses) -> Vec<Claim> {
    vec![
        Claim::shape("UAD errs less than single attributes under all settings", below(&error[0], &error[1]))
            .on_other_data(),
        Claim::ours("UAD errs less where queries select more", error[0].falls()),
    ]
}

fn run(
    scale: Scale,
    queries: &[(usize, f64)],
    across: &str,
    place: fn((usize, f64)) -> f64,
) -> Result<(Findings, Losses), Trouble> {
    let texas = Texas::new(scale);
    let mut errors = vec![Vec::new(); queries.len()];
    let mut kl = Vec::new();
    for run in 0..runs(scale) {
        let published = texas.publish(Drawn { rules: 5, known: 3, l: 10, l_max: 10 }, (5000 + run) as u64)?;
        kl.push(published.ways.each_ref().map(|way| way.kl));
        for (errors, &(dimension, share)) in errors.iter_mut().zip(queries) {
            errors.push(texas.errors(&published.ways, dimension, share)?);
        }
    }
    let [a, b, c, d, e] = COLUMNS;
    let mut table = numbers([across, a, b, c, d, e]);
    let mut losses = Losses::new();
    for (&query, errors) in queries.iter().zip(&errors) {
        losses.push(place(query), &kl, errors);
        table.rows.extend(losses.last_rows());
    }
    let setting = format!(
        "{} Five rules, l = 10, |Q| = 3; qd = {DIMENSION} or p = 40 % where it does not vary.",
        texas.setting(runs(scale))
    );
    Ok((Findings { setting, numbers: table, pictures: Vec::new(), claims: Vec::new() }, losses))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample::{Curve, Sample};
    use crate::wrong::every_claim_can_fail;

    fn losses(last: f64) -> Losses {
        let curve = |height: f64| Curve::exact("c", &[(1.0, height), (2.0, height * last)]);
        Losses { kl: [2.0, 3.0, 1.0].map(curve), error: [2.0, 3.0, 1.0].map(curve) }
    }

    #[test]
    fn every_claim_by_dimension_fails_on_wrong_numbers() {
        turned_by_dimension();
    }

    pub(in crate::versatile) fn turned_by_dimension() -> Vec<String> {
        every_claim_can_fail(
            &losses(1.2),
            claims_by_dimension,
            &[
                ("UAD errs less than", |of| of.error[0].points[0].1 = Sample::exact(3.5)),
                ("UAD errs more", |of| of.error[0].points[1].1 = Sample::exact(1.0)),
            ],
        )
    }

    #[test]
    fn every_claim_by_share_fails_on_wrong_numbers() {
        turned_by_share();
    }

    pub(in crate::versatile) fn turned_by_share() -> Vec<String> {
        every_claim_can_fail(
            &losses(0.8),
            claims_by_share,
            &[
                ("UAD errs less than", |of| of.error[0].points[0].1 = Sample::exact(3.5)),
                ("UAD errs less where", |of| of.error[0].points[1].1 = Sample::exact(2.1)),
            ],
        )
    }
}
