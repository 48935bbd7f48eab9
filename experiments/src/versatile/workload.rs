//! Figures 7 and 8: the error of count queries over the number of attributes that a query selects
//! by, and over the share of the values of each; five rules, l = 10.

use hedgerow_report::pictures::{Cell, Picture};

use super::drawn::Drawn;
use super::picture;
use super::texas::{NAMES, Texas};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::below;

/// What does not vary.
const DIMENSION: usize = 4;
const SHARE: f64 = 0.4;

/// Repetitions, each with rules of its own.
fn runs(scale: Scale) -> usize {
    scale.of(5, 3)
}

pub(super) fn by_dimension(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [2, 4, 6, 8, 10].map(|dimension| (dimension, SHARE));
    let (mut findings, error) = run(scale, &queries, "query dimension", |query| query.0 as f64)?;
    findings.pictures = vec![drawn("Figure 7: query error by dimension", "query dimension", &error)];
    findings.claims.push(Claim::shape("this project: UAD errs more over more attributes", error[0].rises()));
    Ok(findings)
}

pub(super) fn by_share(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [0.3, 0.4, 0.5, 0.6, 0.7].map(|share| (DIMENSION, share));
    let (mut findings, error) = run(scale, &queries, "value share", |query| query.1)?;
    findings.pictures = vec![drawn("Figure 8: query error by share", "value share", &error)];
    findings.claims.push(Claim::shape("this project: UAD errs less where queries select more", error[0].falls()));
    Ok(findings)
}

fn drawn(title: &str, across: &str, error: &[Curve; 2]) -> Picture {
    picture(title, across, "mean relative error", &error.each_ref().map(Curve::series))
}

fn run(
    scale: Scale,
    queries: &[(usize, f64)],
    across: &str,
    place: fn((usize, f64)) -> f64,
) -> Result<(Findings, [Curve; 2]), Trouble> {
    let texas = Texas::new(scale);
    let mut found = vec![[const { Vec::new() }; 2]; queries.len()];
    for run in 0..runs(scale) {
        let published = texas.publish(Drawn { rules: 5, known: 3, l: 10, l_max: 10 }, (5000 + run) as u64)?;
        for (found, &(dimension, share)) in found.iter_mut().zip(queries) {
            let errors = texas.errors(&published.ways, dimension, share)?;
            found.iter_mut().zip(errors).for_each(|(found, error)| found.push(error));
        }
    }
    let mut table = numbers([across, NAMES[0], "± UAD", NAMES[1], "± single attributes"]);
    let mut error = NAMES.map(Curve::new);
    for (&query, found) in queries.iter().zip(&found) {
        let [uad, single] = [0, 1].map(|way| Sample::of(&found[way]));
        let row = [place(query), uad.mean, uad.error, single.mean, single.error];
        table.rows.push(row.map(Cell::Number).to_vec());
        error.iter_mut().zip([uad, single]).for_each(|(curve, sample)| curve.points.push((place(query), sample)));
    }
    let claims = vec![Claim::shape(
        "UAD errs less than single attributes under all settings",
        below(&error[0].series(), &error[1].series()),
    )];
    let setting = format!(
        "{} Five rules, l = 10, |Q| = 3; qd = {DIMENSION} or p = 40 % where it does not vary.",
        texas.setting(runs(scale))
    );
    Ok((Findings { setting, numbers: table, pictures: Vec::new(), claims }, error))
}
