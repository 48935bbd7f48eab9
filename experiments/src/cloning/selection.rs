//! Figure 5: the error of count queries from a cloned release over δ, the share of the values of
//! every attribute that a query selects; also with occupations shuffled among the people, where
//! there is nothing that a cloned release cannot show.

use std::path::Path;

use hedgerow_report::pictures::{LineChart, NumberCell};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::folder::{CLONE, Folder};
use super::queries::ERROR_MAX;
use super::workload::{Errors, Published, queries};
use super::{Census, PUBLISHERS, SENSITIVE, SHARES};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, below};
use crate::shape::all;

const SELECTED: [f64; 4] = [0.3, 0.5, 0.7, 0.9];
const SELECTED_QUICK: [f64; 3] = [0.3, 0.5, 0.9];

/// From this δ on, shuffled occupations are estimated as well as the paper says.
const LARGE: f64 = 0.5;

/// Over δ, for every sensitive attribute and size.
#[derive(Debug, Clone)]
struct Measured {
    errors: Vec<Curve>,
    /// For every size: occupations as they are, and shuffled.
    shuffled: Vec<[Curve; 2]>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let mut table =
        numbers(["sensitive", "rows", "δ", "median error", "±", "without the sensitive attribute", "floor"]);
    let mut measured = Measured { errors: Vec::new(), shuffled: Vec::new() };
    for &fifths in scale.of(&[SHARES[0], SHARES[4]][..], &[SHARES[4]]) {
        let rows = census.rows(fifths);
        let mut of_size = Vec::new();
        let tables = [(SENSITIVE[0], false), (SENSITIVE[1], false), (SENSITIVE[0], true)];
        for (sensitive, is_shuffled) in tables {
            let name = format!("{sensitive}{}", if is_shuffled { " shuffled" } else { "" });
            let selected = scale.of(&SELECTED[..], &SELECTED_QUICK);
            let mut found = vec![Vec::new(); selected.len()];
            for publisher in 0..PUBLISHERS {
                let source = census.source(&folder, publisher, fifths)?;
                if is_shuffled {
                    shuffle(&source, sensitive)?;
                }
                let published = Published::new(&folder, &source, sensitive, CLONE)?;
                for (found, &share) in found.iter_mut().zip(selected) {
                    found.push(published.errors(share, queries(scale), publisher as u64)?);
                }
            }
            let mut curve = Curve::new(format!("{name}, {rows} rows"));
            for (found, &share) in found.iter().zip(selected) {
                let Errors { with, without, floor } = Errors::of(found);
                let numbers = [rows as f64, share, with.mean(), with.error(), without.mean(), floor.mean()];
                table
                    .rows
                    .push([vec![NumberCell::from(name.as_str())], numbers.map(NumberCell::Number).to_vec()].concat());
                curve.push(share, with);
            }
            of_size.push(curve);
        }
        let [occupation, income, shuffled] = <[Curve; 3]>::try_from(of_size).map_err(|_| "three tables")?;
        measured.errors.extend([occupation.clone(), income]);
        measured.shuffled.push([occupation, shuffled]);
    }
    let line = LineChart {
        title: "Query error over the selection".to_owned(),
        description: "Median relative error of count queries over all five attributes, over δ.".to_owned(),
        columns: ["δ".to_owned(), "median error".to_owned()],
        series: measured
            .errors
            .iter()
            .chain(measured.shuffled.iter().map(|[_, shuffled]| shuffled))
            .map(Curve::series)
            .collect(),
    };
    let setting = format!(
        "{} The {} tables, {} queries for each point.",
        census.setting(),
        scale.of("smallest and largest", "largest"),
        queries(scale) * PUBLISHERS
    );
    Ok(Findings { setting, numbers: table, pictures: vec![line.picture()], claims: claims(&measured) })
}

fn claims(Measured { errors, shuffled }: &Measured) -> Vec<Claim> {
    let within = |curve: &Curve| -> ClaimOutcome { curve.from(LARGE).at_most(ERROR_MAX) };
    vec![
        Claim::shape("the error falls as queries select more", all(errors.iter().map(Curve::falls))).on_other_data(),
        Claim::shape("the median error is at most 2.5 % from δ = 0.5 on", all(errors.iter().map(within)))
            .on_other_data()
            .stated_not_to_hold(),
        Claim::ours(
            "where queries select half of the values or fewer, shuffled occupations are estimated better",
            all(shuffled.iter().map(|[as_it_is, shuffled]| below(&shuffled.up_to(LARGE), &as_it_is.up_to(LARGE)))),
        ),
        Claim::ours(
            "with shuffled occupations, which depend on nothing, it is at most 2.5 % from δ = 0.5 on",
            all(shuffled.iter().map(|[_, shuffled]| within(shuffled))),
        ),
    ]
}

/// Deals the values of one attribute to the rows of a file at random.
fn shuffle(source: &Path, attribute: &str) -> Result<(), Trouble> {
    let text = std::fs::read_to_string(source)?;
    let mut rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let place = rows[0].iter().position(|name| *name == attribute).ok_or("an attribute of the census")?;
    let mut values: Vec<&str> = rows[1..].iter().map(|row| row[place]).collect();
    values.shuffle(&mut StdRng::seed_from_u64(1));
    rows[1..].iter_mut().zip(values).for_each(|(row, value)| row[place] = value);
    let lines: Vec<String> = rows.iter().map(|row| row.join(",") + "\n").collect();
    Ok(std::fs::write(source, lines.concat())?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample::Sample;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cloning) fn turned() -> Vec<String> {
        let curve = |low: f64, high: f64| Curve::exact("c", &[(0.5, low), (0.9, high)]);
        let right = Measured { errors: vec![curve(0.2, 0.01)], shuffled: vec![[curve(0.2, 0.01), curve(0.02, 0.01)]] };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("the error falls", |of| of.errors[0].points[1].1 = Sample::exact(0.3)),
                ("the median error", |of| of.errors[0].points[0].1 = Sample::exact(0.02)),
                ("with shuffled", |of| of.shuffled[0][1].points[0].1 = Sample::exact(0.03)),
                ("where queries", |of| of.shuffled[0][1].points[0].1 = Sample::exact(0.3)),
            ],
        )
    }
}
