//! Figure 5: the error of count queries from a cloned release over δ, the share of the values of
//! every attribute that a query selects; also with occupations shuffled among the people, where
//! there is nothing that a cloned release cannot show.

use hedgerow_report::pictures::{Cell, Line, Series};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::folder::{CLONE, Folder};
use super::queries::{ERROR_MAX, errors};
use super::{Census, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, at_most, below, falls};

const SELECTED: [f64; 4] = [0.3, 0.5, 0.7, 0.9];
const SELECTED_QUICK: [f64; 3] = [0.3, 0.5, 0.9];

/// From this δ on, shuffled occupations are estimated as well as the paper says.
const LARGE: f64 = 0.5;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let mut table = numbers(["sensitive", "rows", "δ", "median error", "without the sensitive attribute", "floor"]);
    let (mut curves, mut shuffled_curves) = (Vec::new(), Vec::new());
    for &fifths in scale.of(&[SHARES[0], SHARES[4]][..], &[SHARES[4]]) {
        let rows = census.rows(fifths);
        let tables = SENSITIVE.map(|(sensitive, name)| (sensitive, name, false));
        for (sensitive, name, is_shuffled) in tables.into_iter().chain([("occupation", "OCC shuffled", true)]) {
            let mut curve = Series { name: format!("{name}, {rows} rows"), points: Vec::new() };
            for &share in scale.of(&SELECTED[..], &SELECTED_QUICK) {
                let source = census.source(&folder, 0, fifths)?;
                if is_shuffled {
                    shuffle(&source, sensitive)?;
                }
                let found = errors(&folder, &source, sensitive, CLONE, share, scale)?;
                curve.points.push((share, found.with));
                let measured = [rows as f64, share, found.with, found.without, found.floor].map(Cell::Number);
                table.rows.push([vec![Cell::from(name)], measured.to_vec()].concat());
            }
            if is_shuffled { shuffled_curves.push(curve) } else { curves.push(curve) }
        }
    }
    let large = |series: &Series| Series {
        name: series.name.clone(),
        points: series.points.iter().copied().filter(|point| point.0 >= LARGE).collect(),
    };
    let within = |series: &[Series]| all(series.iter().map(|one| at_most(&large(one), ERROR_MAX)));
    let mut claims = vec![
        Claim::shape("the error falls as queries select more", all(curves.iter().map(|one| falls(one, 0.0)))),
        Claim::value("the median error is at most 2.5 % from δ = 0.5 on", within(&curves)).stated_not_to_hold(),
        Claim::shape(
            "this project: where queries select half of the values or fewer, shuffled occupations are estimated better",
            all(shuffled_curves.iter().map(|one| better(one, &curves))),
        ),
    ];
    if scale == Scale::Full {
        // Counts of few people err by more, whatever is published.
        let says = "it is, where the sensitive attribute does not depend on the others";
        claims.push(Claim::value(says, within(&shuffled_curves)));
    }
    let line = Line {
        title: "Query error over the selection".to_owned(),
        description: "Median relative error of count queries over all five attributes, over δ.".to_owned(),
        columns: ["δ".to_owned(), "median error".to_owned()],
        series: [curves, shuffled_curves].concat(),
    };
    let setting = format!("One publisher's {} table.", scale.of("smallest and largest", "largest"));
    Ok(Findings { setting, numbers: table, pictures: vec![line.picture()], claims })
}

/// Below the curve of the same attribute and size that is not shuffled.
fn better(shuffled: &Series, curves: &[Series]) -> Outcome {
    let as_it_is = shuffled.name.replace(" shuffled", "");
    let other = curves.iter().find(|curve| curve.name == as_it_is).ok_or("every table is also published as it is")?;
    let selective = shuffled.points.iter().copied().filter(|point| point.0 <= LARGE).collect();
    below(&Series { name: shuffled.name.clone(), points: selective }, other)
}

/// Deals the values of one attribute to the rows of a file at random.
fn shuffle(source: &std::path::Path, attribute: &str) -> Result<(), Trouble> {
    let text = std::fs::read_to_string(source)?;
    let mut rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let place = rows[0].iter().position(|name| *name == attribute).ok_or("an attribute of the census")?;
    let mut values: Vec<&str> = rows[1..].iter().map(|row| row[place]).collect();
    values.shuffle(&mut StdRng::seed_from_u64(1));
    rows[1..].iter_mut().zip(values).for_each(|(row, value)| row[place] = value);
    let lines: Vec<String> = rows.iter().map(|row| row.join(",") + "\n").collect();
    Ok(std::fs::write(source, lines.concat())?)
}
