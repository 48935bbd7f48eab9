//! Figures 5 and 6: average class size and discernibility over k when one custodian holds all
//! rows, when three anonymize their parts independently, and when three find the classes together.
//!
//! By algorithm 1 as printed a set is halved while it has more than 2k items, so the size of the
//! classes follows from the number of items alone. A third of 30,162 rows is halved to other sizes
//! between k and 2k than all of them are: to larger ones for the paper's k, to smaller ones for
//! others. By strict cuts, which the project makes, equal values stay together and a set is divided
//! while both sides have k rows; that is a second set of curves. Three nodes run it in the ring
//! ([`super::nodes`]), over the values that they declare.
//!
//! Discernibility adds up the squares of class sizes over classes, as the paper that it is from
//! does; equation 11 as printed adds them up over tuples.

use hedgerow_joint::{Profile, rehearse};
use hedgerow_publish::bind::Bound;
use hedgerow_report::pictures::{LineChart, NumberCell, short};

use super::adult::{Adult, agreed, alone};
use super::algorithm_1::{Items, divide};
use super::nodes;
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, agree, below};
use crate::shape::all;

const CUSTODIANS: usize = 3;

/// By algorithm 1, then by strict cuts, then by strict cuts with the values that nodes declare.
const NAMES: [&str; 8] = [
    "one custodian",
    "independent",
    "together",
    "one custodian, strict cuts",
    "independent, strict cuts",
    "together, strict cuts",
    "one custodian, declared values",
    "three nodes in the ring",
];

/// Average class, discernibility and loss of cells over k, in the order of [`NAMES`]; the latter
/// for strict cuts by one custodian and independent ones.
#[derive(Debug, Clone)]
struct Measured {
    average: [Curve; 8],
    discernibility: [Curve; 8],
    ncp: [Curve; 2],
    /// How many times as large the classes of independent custodians are, for every k from 5 on.
    ratios: Vec<f64>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let adult = Adult::new(scale)?;
    let mut table = numbers(["k", "approach", "classes", "average class", "discernibility", "ncp"]);
    let curves = || NAMES.map(Curve::new);
    let ncp = [NAMES[3], NAMES[4]].map(Curve::new);
    let ratios = ratios(&adult, scale.of(100, 50))?;
    let rows = adult.table.rows as u64;
    let mut measured = Measured { average: curves(), discernibility: curves(), ncp, ratios };
    for &k in scale.of(&[5, 10, 25, 50, 100][..], &[5, 10, 25]) {
        let (strict, lost) = by_strict_cuts(&adult, k)?;
        let between = [nodes::by_one(k, &adult.table)?, nodes::by_nodes(k, &adult.table)?];
        for (place, sizes) in by_algorithm_1(&adult, k)?.into_iter().chain(strict).chain(between).enumerate() {
            let squares = sizes.iter().map(|&size| (size * size) as f64).sum::<f64>();
            let mean = rows as f64 / sizes.len() as f64;
            measured.average[place].push(k as f64, Sample::exact(mean));
            measured.discernibility[place].push(k as f64, Sample::exact(squares));
            // The loss of cells is computed where the recoding is at hand.
            let lost = place.checked_sub(3).and_then(|place| lost.get(place)).copied().unwrap_or(f64::NAN);
            let numbers = [sizes.len() as f64, mean, squares, lost].map(NumberCell::Number).to_vec();
            table.rows.push([vec![NumberCell::Number(k as f64), NAMES[place].into()], numbers].concat());
        }
        measured.ncp.iter_mut().zip(lost).for_each(|(curve, lost)| curve.push(k as f64, Sample::exact(lost)));
    }
    let picture = |title: &str, up: &str, curves: &[Curve]| {
        let line = LineChart {
            title: title.to_owned(),
            description: format!("{up} over k, one line for each approach."),
            columns: ["k".to_owned(), up.to_owned()],
            series: curves.iter().map(Curve::series).collect(),
        };
        line.picture()
    };
    let pictures = vec![
        picture("Figure 5: average class size", "average class", &measured.average),
        picture("Figure 6: discernibility", "discernibility", &measured.discernibility),
        picture("What cells lose, strict cuts", "ncp", &measured.ncp),
    ];
    let setting = format!(
        "{}, {CUSTODIANS} custodians in turn. Algorithm 1 as printed, in one process; how sites share items at the median it leaves open, \
         and here both sides become halves. Strict cuts beside it: in one process, and by three nodes with mutual TLS over loopback, in \
         the ring.",
        adult.setting()?
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let Measured { average, discernibility, ncp, ratios } = measured;
    let grows = |curves: &[Curve; 8]| all(curves[..3].iter().map(Curve::rises));
    vec![
        Claim::shape(
            "together, custodians find classes as good as one who holds all rows",
            all([agree(&average[0], &average[2]), agree(&discernibility[0], &discernibility[2])]),
        )
        .at_any_size(),
        Claim::shape(
            "between three nodes, by the ring and strict cuts, classes are those of one who holds all rows",
            all([agree(&average[6], &average[7]), agree(&discernibility[6], &discernibility[7])]),
        )
        .at_any_size(),
        Claim::shape("average class size rises with k", grows(average)).at_any_size(),
        Claim::shape("discernibility rises with k", grows(discernibility)).at_any_size(),
        Claim::shape("independent custodians have larger classes", below(&average[0], &average[1])),
        Claim::shape(
            "independent custodians have a larger discernibility",
            below(&discernibility[0], &discernibility[1]),
        ),
        Claim::ours("it depends on k which of the two has larger classes, for every k from 5 on", depends(ratios)),
        Claim::ours(
            "by strict cuts, custodians find together just what one finds who holds all rows",
            all([agree(&average[3], &average[5]), agree(&discernibility[3], &discernibility[5])]),
        )
        .at_any_size(),
        Claim::ours("by strict cuts, independent custodians lose more by the cells (ncp)", below(&ncp[0], &ncp[1]))
            .at_any_size(),
    ]
}

fn depends(ratios: &[f64]) -> ClaimOutcome {
    let [least, most] = [f64::min, f64::max].map(|of| ratios.iter().copied().fold(f64::NAN, of));
    if least < 1.0 && most > 1.0 {
        return Ok(());
    }
    Err(format!("those of independent custodians are {} to {} times as large", short(least), short(most)))
}

/// Sizes of classes in the order of the first three of [`NAMES`].
fn by_algorithm_1(adult: &Adult, k: u64) -> Result<[Vec<u64>; 3], Trouble> {
    let (ranks, domains) = adult.ranks()?;
    let rows: Vec<u32> = (0..adult.table.rows as u32).collect();
    let dealt: Vec<usize> = (0..adult.table.rows).map(|row| row % CUSTODIANS).collect();
    let alone = vec![0; adult.table.rows];
    let sizes = |site_of: &[usize], sites: usize, rows: Vec<u32>| -> Vec<u64> {
        let items = Items { ranks: &ranks, domains: &domains, site_of, sites };
        divide(&items, rows, k as usize).classes.iter().map(|class| class.len() as u64).collect()
    };
    let own = |owner: usize| rows.iter().copied().filter(|&row| dealt[row as usize] == owner).collect();
    let apart = (0..CUSTODIANS).flat_map(|owner| sizes(&alone, 1, own(owner))).collect();
    Ok([sizes(&alone, 1, rows.clone()), apart, sizes(&dealt, CUSTODIANS, rows.clone())])
}

/// Sizes of classes in the order of the last three of [`NAMES`], and what cells lose where one
/// custodian holds all rows and where they are independent.
fn by_strict_cuts(adult: &Adult, k: u64) -> Result<([Vec<u64>; 3], [f64; 2]), Trouble> {
    let policy = adult.policy(k);
    let whole = alone(&policy, &adult.table)?;
    let (mut apart, mut lost) = (Vec::new(), 0.0);
    for part in adult.dealt(CUSTODIANS) {
        let recoding = alone(&policy, &part)?;
        lost += recoding.ncp() * part.rows as f64 / adult.table.rows as f64;
        apart.extend(recoding.sizes);
    }
    let bound = Bound::new(&policy, &adult.table)?;
    let agreed = agreed(&bound)?;
    let owner: Vec<usize> = (0..adult.table.rows).map(|row| row % CUSTODIANS).collect();
    let shares = agreed.deal(&bound.judged_codes(), &owner, CUSTODIANS);
    let joined = rehearse(Profile::Baseline, &agreed, shares, 1)?.joined.ok_or("even all rows are too few")?;
    let together = joined[0].classes.iter().map(|class| class.rows).collect();
    Ok(([whole.sizes.clone(), apart, together], [whole.ncp(), lost]))
}

/// By algorithm 1, which halves: no rows are needed to know how large classes are.
fn ratios(adult: &Adult, k_max: usize) -> Result<Vec<f64>, Trouble> {
    let average = |rows: usize, k: usize| -> f64 {
        let halved = |rows: usize| -> usize {
            let (mut sets, mut classes) = (vec![rows], 0);
            while let Some(set) = sets.pop() {
                if set > 2 * k { sets.extend([set / 2, set - set / 2]) } else { classes += 1 }
            }
            classes
        };
        rows as f64 / halved(rows) as f64
    };
    let all = adult.table.rows;
    // Custodians in turn have the same number of rows, up to one.
    Ok((5..=k_max).map(|k| average(all / CUSTODIANS, k) / average(all, k)).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    fn measured() -> Measured {
        let curve = |factor: f64| Curve::exact("c", &[(5.0, 7.0 * factor), (10.0, 14.0 * factor)]);
        let curves = || [1.0, 1.33, 1.0, 1.1, 0.9, 1.1, 1.2, 1.2].map(curve);
        let (average, discernibility) = (curves(), curves());
        Measured { average, discernibility, ncp: [0.2, 0.3].map(curve), ratios: vec![0.67, 1.33] }
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::together) fn turned() -> Vec<String> {
        every_claim_can_fail(
            &measured(),
            claims,
            &[
                ("together, custodians", |of| of.discernibility[2].points[1].1 = Sample::exact(14.1)),
                ("between three nodes", |of| of.discernibility[7].points[0].1 = Sample::exact(8.0)),
                ("average class size", |of| of.average[1].points[1].1 = Sample::exact(5.0)),
                ("discernibility rises", |of| of.discernibility[0].points[1].1 = Sample::exact(7.0)),
                ("independent custodians have larger", |of| of.average[1].points[0].1 = Sample::exact(6.9)),
                ("independent custodians have a larger", |of| of.discernibility[1].points[0].1 = Sample::exact(6.9)),
                ("it depends on k", |of| of.ratios = vec![1.0, 1.33]),
                ("by strict cuts, custodians", |of| of.average[5].points[0].1 = Sample::exact(7.0)),
                ("by strict cuts, independent", |of| of.ncp[1].points[0].1 = Sample::exact(1.0)),
            ],
        )
    }

    /// 30,162 rows are halved twelve times for k = 5 and a third of them ten times, and so on: four
    /// classes where independent custodians have three.
    #[test]
    fn independent_custodians_have_classes_a_third_larger_for_the_k_of_the_paper() {
        let adult = Adult::new(Scale::Full).unwrap();
        assert_eq!(adult.table.rows, 30_162);
        let ratios = ratios(&adult, 100).unwrap();
        for k in [5, 10, 25, 50, 100] {
            let ratio = ratios[k - 5];
            assert!((ratio - 4.0 / 3.0).abs() < 1e-9, "k = {k}: {ratio}");
        }
        assert!(depends(&ratios).is_ok(), "for other k it is the other way round");
    }

    #[test]
    fn halving_a_tenth_of_adult_and_a_third_of_that() {
        let adult = Adult::new(Scale::Quick).unwrap();
        for k in [5, 10, 25] {
            let [one, apart, together] = by_algorithm_1(&adult, k).unwrap();
            assert_eq!(one.iter().sum::<u64>(), adult.table.rows as u64);
            let mut sorted = [one, together];
            sorted.iter_mut().for_each(|sizes| sizes.sort_unstable());
            assert_eq!(sorted[0], sorted[1], "k = {k}");
            assert!(sorted.concat().iter().chain(&apart).all(|size| (k..=2 * k).contains(size)), "k = {k}");
            let ratio = ratios(&adult, k as usize).unwrap()[k as usize - 5];
            let counted = sorted[0].len() as f64 / apart.len() as f64;
            assert!((ratio - counted).abs() < 0.01, "k = {k}: {ratio} and {counted}");
        }
    }
}
