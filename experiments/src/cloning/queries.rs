//! Figure 4: the error of count queries from a cloned release, over the size of the table and over
//! ρ.

use hedgerow_report::pictures::{LineChart, NumberCell};

use super::folder::{CLONE, Folder};
use super::workload::{Errors, Published, queries};
use super::{Census, PUBLISHERS, RHOS, SENSITIVE, SHARES};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, nearly_agree};
use crate::shape::all;

/// The median error that the paper never exceeds.
pub(super) const ERROR_MAX: f64 = 0.025;

/// The paper's "fixed selection range" has no number.
const SELECTED: f64 = 0.5;

/// Median errors, for every sensitive attribute.
#[derive(Debug, Clone)]
struct Measured {
    by_size: [Curve; 2],
    floors: [Curve; 2],
    by_rho: [Curve; 2],
    /// Of queries without the sensitive attribute.
    others_by_rho: [Curve; 2],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let (census, folder) = (Census::new(scale)?, Folder::new()?);
    let mut table = numbers([
        "sensitive",
        "rows",
        "ρ",
        "median error",
        "±",
        "without the sensitive attribute",
        "± without",
        "floor",
    ]);
    let curves = || SENSITIVE.map(Curve::new);
    let mut measured = Measured { by_size: curves(), floors: curves(), by_rho: curves(), others_by_rho: curves() };
    for (place, sensitive) in SENSITIVE.into_iter().enumerate() {
        let sizes = scale.of(&SHARES[..], &[1, 5]).iter().map(|&fifths| (fifths, None));
        let rhos = RHOS.map(|rho| (SHARES[0], Some(rho)));
        for (fifths, rho) in sizes.chain(rhos) {
            let settings = rho.map_or(CLONE.to_owned(), |rho| format!("{CLONE}assignment = \"scan\"\nrho = {rho}\n"));
            let mut found = Vec::new();
            for publisher in 0..PUBLISHERS {
                let source = census.source(&folder, publisher, fifths)?;
                let published = Published::new(&folder, &source, sensitive, &settings)?;
                found.push(published.errors(SELECTED, queries(scale), publisher as u64)?);
            }
            let errors = Errors::of(&found);
            let rows = census.rows(fifths) as f64;
            let [with, without] = [&errors.with, &errors.without].map(|one| [one.mean(), one.error()]);
            let numbers =
                [rows, rho.unwrap_or(f64::NAN), with[0], with[1], without[0], without[1], errors.floor.mean()];
            table.rows.push([vec![NumberCell::from(sensitive)], numbers.map(NumberCell::Number).to_vec()].concat());
            match rho {
                Some(rho) => {
                    measured.by_rho[place].push(rho, errors.with);
                    measured.others_by_rho[place].push(rho, errors.without);
                }
                None => {
                    measured.by_size[place].push(rows, errors.with);
                    measured.floors[place].push(rows, errors.floor);
                }
            }
        }
    }
    let picture = |title: &str, across: &str, curves: &[Curve]| {
        let line = LineChart {
            title: title.to_owned(),
            description: format!("Median relative error of count queries over all five attributes, over {across}."),
            columns: [across.to_owned(), "median error".to_owned()],
            series: curves.iter().map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = vec![
        picture("Query error over the size of the table", "rows", &measured.by_size),
        picture("Query error over ρ, by the scan", "ρ", &measured.by_rho),
    ];
    let setting = format!(
        "{} {} queries, {} to each publisher (the paper's 10000 may be to each), each of which selects half of the values of every \
         attribute; medians of each publisher.",
        census.setting(),
        queries(scale) * PUBLISHERS,
        queries(scale)
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { by_size, floors, by_rho, others_by_rho }: &Measured) -> Vec<Claim> {
    let steady = |curves: &[Curve; 2]| all(curves.iter().map(Curve::barely_varies));
    vec![
        Claim::shape("the median error is at most 2.5 %", all(by_size.iter().map(|one| one.at_most(ERROR_MAX))))
            .on_other_data()
            .stated_not_to_hold(),
        Claim::shape(
            "the error does not vary significantly with the size of the table: by a factor of 1.5 at most",
            steady(by_size),
        )
        .on_other_data(),
        Claim::shape("the error falls with ρ", all(by_rho.iter().map(Curve::falls)))
            .on_other_data()
            .stated_not_to_hold(),
        Claim::shape("the error is not very sensitive to ρ: by a factor of 1.5 at most", steady(by_rho))
            .on_other_data(),
        Claim::ours(
            "the error of queries without the sensitive attribute falls with ρ",
            all(others_by_rho.iter().map(Curve::falls)),
        ),
        Claim::ours(
            "the error is within 10 % that of exact counts of the other attributes times the share of the sensitive values",
            all(by_size.iter().zip(floors).map(|(one, floor)| nearly_agree(one, floor))),
        ),
    ]
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
        let curves = |low: f64, high: f64| [(); 2].map(|()| Curve::exact("c", &[(1.0, low), (2.0, high)]));
        let right = Measured {
            by_size: curves(0.18, 0.17),
            floors: curves(0.175, 0.17),
            by_rho: curves(0.17, 0.18),
            others_by_rho: curves(0.02, 0.01),
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("the median error", |of| of.by_size = [(); 2].map(|()| Curve::exact("c", &[(1.0, 0.025)]))),
                ("the error does not vary", |of| of.by_size[1].points[1].1 = Sample::exact(0.3)),
                ("the error falls with ρ", |of| {
                    of.by_rho = [(); 2].map(|()| Curve::exact("c", &[(1.0, 2.0), (2.0, 1.0)]))
                }),
                ("the error is not very", |of| of.by_rho[0].points[1].1 = Sample::exact(0.3)),
                ("the error of queries without", |of| of.others_by_rho[0].points[1].1 = Sample::exact(0.03)),
                ("the error is within", |of| of.floors[0].points[1].1 = Sample::exact(0.1)),
            ],
        )
    }
}
