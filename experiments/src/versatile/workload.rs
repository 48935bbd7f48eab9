//! Figures 7 and 8: the error of count queries over the number of attributes that a query selects
//! by, and over the share of the values of each; five rules, l = 10.

use hedgerow_report::pictures::{Cell, Series};

use super::drawn::Drawn;
use super::texas::{NAMES, Texas};
use super::{curves, picture};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{below, falls, rises};

/// What does not vary.
const DIMENSION: usize = 4;
const SHARE: f64 = 0.4;

pub(super) fn by_dimension(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [2, 4, 6, 8, 10].map(|dimension| (dimension, SHARE));
    let (mut findings, error) = run(scale, &queries, "query dimension", |query| query.0 as f64)?;
    findings.pictures =
        vec![picture("Figure 7: query error by dimension", "query dimension", "mean relative error", &error)];
    findings.claims.push(Claim::shape("queries over more attributes err more", rises(&error[0], 0.0)));
    Ok(findings)
}

pub(super) fn by_share(scale: Scale) -> Result<Findings, Trouble> {
    let queries = [0.3, 0.4, 0.5, 0.6, 0.7].map(|share| (DIMENSION, share));
    let (mut findings, error) = run(scale, &queries, "value share", |query| query.1)?;
    findings.pictures = vec![picture("Figure 8: query error by share", "value share", "mean relative error", &error)];
    findings.claims.push(Claim::shape("queries that select more err less", falls(&error[0], 0.0)));
    Ok(findings)
}

fn run(
    scale: Scale,
    queries: &[(usize, f64)],
    across: &str,
    place: fn((usize, f64)) -> f64,
) -> Result<(Findings, [Series; 2]), Trouble> {
    let texas = Texas::new(scale);
    let runs = scale.of(3, 1);
    let mut means = vec![[0.0; 2]; queries.len()];
    for run in 0..runs {
        let published = texas.publish(Drawn { rules: 5, known: 3, l: 10, l_max: 10 }, (5000 + run) as u64)?;
        for (means, &(dimension, share)) in means.iter_mut().zip(queries) {
            let errors = texas.errors(&published.ways, dimension, share)?;
            means.iter_mut().zip(errors).for_each(|(mean, error)| *mean += error / runs as f64);
        }
    }
    let mut table = numbers([across, NAMES[0], NAMES[1]]);
    let mut error = curves(NAMES);
    for (&query, means) in queries.iter().zip(means) {
        table.rows.push([place(query), means[0], means[1]].map(Cell::Number).to_vec());
        error.iter_mut().zip(means).for_each(|(curve, mean)| curve.points.push((place(query), mean)));
    }
    let claims =
        vec![Claim::shape("UAD errs less than single attributes under all settings", below(&error[0], &error[1]))];
    let setting = format!(
        "{} Five rules, l = 10, |Q| = 3; qd = {DIMENSION} or p = 40 % where it does not vary.",
        texas.setting(runs)
    );
    Ok((Findings { setting, numbers: table, pictures: Vec::new(), claims }, error))
}
