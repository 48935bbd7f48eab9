//! Figures 5 and 6: average class size and discernibility over k when one custodian holds all
//! rows, when three anonymize their parts independently, and when three find the classes together.
//!
//! Mondrian divides while both sides have k rows, so classes have from k to about 2k rows however
//! many rows there are. Halving 30,162 rows and halving a third of them ends at different places
//! between k and 2k, and which one is higher changes with k. The ratio of the two is therefore also
//! taken over every k. What the custodians lose is not the size of classes but how wide they are.

use hedgerow_joint::{Profile, rehearse};
use hedgerow_publish::bind::Bound;
use hedgerow_report::pictures::{Cell, Line, Series};

use super::adult::{Adult, agreed, alone};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, agree, all, below, rises};

const CUSTODIANS: usize = 3;

const NAMES: [&str; 3] = ["one custodian", "independent", "together"];

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let adult = Adult::new(scale)?;
    let mut table = numbers(["k", "approach", "classes", "average class", "discernibility", "ncp"]);
    let [mut average, mut discernibility, mut ncp] =
        [(); 3].map(|()| NAMES.map(|name| Series { name: name.to_owned(), points: Vec::new() }));
    for &k in scale.of(&[5, 10, 25, 50, 100][..], &[5, 20, 50]) {
        let policy = adult.policy(k);
        let whole = alone(&policy, &adult.table)?;
        let mut sizes = [whole.sizes.clone(), Vec::new(), Vec::new()];
        let mut lost = [whole.ncp(), 0.0, whole.ncp()];
        for part in adult.dealt(CUSTODIANS) {
            let recoding = alone(&policy, &part)?;
            lost[1] += recoding.ncp() * part.rows as f64 / adult.table.rows as f64;
            sizes[1].extend(recoding.sizes);
        }
        let bound = Bound::new(&policy, &adult.table)?;
        let agreed = agreed(&bound)?;
        let owner: Vec<usize> = (0..adult.table.rows).map(|row| row % CUSTODIANS).collect();
        let shares = agreed.deal(&bound.judged_codes(), &owner, CUSTODIANS);
        let joined = rehearse(Profile::Baseline, &agreed, shares, 1)?.joined.ok_or("even all rows are too few")?;
        sizes[2] = joined[0].classes.iter().map(|class| class.rows).collect();
        for (place, sizes) in sizes.iter().enumerate() {
            let squares = sizes.iter().map(|&size| (size * size) as f64).sum::<f64>();
            let mean = adult.table.rows as f64 / sizes.len() as f64;
            average[place].points.push((k as f64, mean));
            discernibility[place].points.push((k as f64, squares));
            ncp[place].points.push((k as f64, lost[place]));
            // The loss of cells is computed where the recoding is at hand.
            let lost = if place == 2 { f64::NAN } else { lost[place] };
            let measured = [sizes.len() as f64, mean, squares, lost].map(Cell::Number).to_vec();
            table.rows.push([vec![Cell::Number(k as f64), NAMES[place].into()], measured].concat());
        }
    }
    let ratios = ratios(&adult, scale.of(100, 50))?;
    let worse = |measure: &[Series; 3]| below(&measure[0], &measure[1]);
    let claims = vec![
        Claim::value(
            "together, custodians find classes as good as one who holds all rows",
            all([agree(&average[0], &average[2]), agree(&discernibility[0], &discernibility[2])]),
        ),
        Claim::shape("average class size rises with k", all(average.iter().map(|series| rises(series, 0.0)))),
        Claim::shape("discernibility rises with k", all(discernibility.iter().map(|series| rises(series, 0.0)))),
        Claim::shape("independent custodians have larger classes", worse(&average)).stated_not_to_hold(),
        Claim::shape("independent custodians have a larger discernibility", worse(&discernibility))
            .stated_not_to_hold(),
        Claim::shape("in the mean over every k from 5 on, they have larger classes", larger(&ratios, 0))
            .stated_not_to_hold(),
        Claim::shape("in the mean over every k from 5 on, they have a larger discernibility", larger(&ratios, 1))
            .stated_not_to_hold(),
        Claim::shape("independent custodians lose more by the cells (ncp)", worse(&ncp)),
    ];
    let picture = |title: &str, up: &str, series: &[Series]| {
        let line = Line {
            title: title.to_owned(),
            description: format!("{up} over k, one line for each approach."),
            columns: ["k".to_owned(), up.to_owned()],
            series: series.to_vec(),
        };
        line.picture()
    };
    let pictures = vec![
        picture("Figure 5: average class size", "average class", &average),
        picture("Figure 6: discernibility", "discernibility", &discernibility),
        picture("What cells lose", "ncp", &ncp[..2]),
    ];
    let setting =
        format!("UCI Adult, {} people, eight quasi attributes, {CUSTODIANS} custodians in turn.", adult.table.rows);
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// Whether the geometric mean of the ratios is above 1.
fn larger(ratios: &[[f64; 2]], place: usize) -> Outcome {
    let mean = (ratios.iter().map(|ratios| ratios[place].ln()).sum::<f64>() / ratios.len() as f64).exp();
    if mean > 1.0 { Ok(()) } else { Err(format!("they have {mean:.3} times as much")) }
}

/// How many times as large the average class and the discernibility of independent custodians are,
/// for every k from 5 on.
fn ratios(adult: &Adult, k_max: u64) -> Result<Vec<[f64; 2]>, Trouble> {
    let measured = |sizes: &[u64]| {
        let rows = sizes.iter().sum::<u64>() as f64;
        [rows / sizes.len() as f64, sizes.iter().map(|&size| (size * size) as f64).sum()]
    };
    let parts = adult.dealt(CUSTODIANS);
    let mut ratios = Vec::new();
    for k in 5..=k_max {
        let policy = adult.policy(k);
        let whole = measured(&alone(&policy, &adult.table)?.sizes);
        let mut sizes = Vec::new();
        for part in &parts {
            sizes.extend(alone(&policy, part)?.sizes);
        }
        let apart = measured(&sizes);
        ratios.push([0, 1].map(|place| apart[place] / whole[place]));
    }
    Ok(ratios)
}
