//! Printed of the three hospitals: the confidence of example 2, β of example 3, the
//! micro-statistics of table 3(c), and how large ε can be (section 6.2).
//!
//! Table 3(c) shows five of its six sub-classes. Which patients are in them follows from the
//! counts, means and ranges, by trying all choices: {1, 6, 13}, {3, 8, 17} or {2, 3, 8}, {4, 9,
//! 18}, {5, 11, 15} and {10, 19} with a counterfeit. So patient 18 is published, whom the text
//! (section 6.1.3) says to be suppressed.

use hedgerow_audit::adversaries::composition::{beta, confidences};
use hedgerow_publish::cloning::division::{Division, Share};
use hedgerow_report::pictures::{Bar, Bars, NumberCell};

use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, counts, prints};

/// Age, sex, marital status and disease.
type Patient = (f64, &'static str, &'static str, &'static str);

/// Table 3(a): age, sex, marital status, disease.
const PATIENTS: [Patient; 19] = [
    (15.0, "M", "Never-married", "J"),
    (18.0, "F", "Never-married", "J"),
    (25.0, "M", "CIV-spouse", "J"),
    (35.0, "F", "AF-spouse", "J"),
    (38.0, "M", "Divorced", "J"),
    (10.0, "M", "Never-married", "B"),
    (18.0, "M", "Never-married", "B"),
    (20.0, "M", "Never-married", "B"),
    (25.0, "F", "Never-married", "B"),
    (30.0, "F", "Separated", "B"),
    (35.0, "F", "Divorced", "B"),
    (45.0, "M", "Separated", "B"),
    (20.0, "M", "AF-spouse", "G"),
    (30.0, "F", "CIV-spouse", "G"),
    (40.0, "F", "CIV-spouse", "G"),
    (10.0, "F", "Never-married", "L"),
    (17.0, "F", "Never-married", "L"),
    (22.0, "M", "Separated", "L"),
    (28.0, "F", "Widowed", "L"),
];

/// A sub-class of table 3(c).
struct Printed {
    /// Numbers of patients, from 1.
    patients: &'static [usize],
    mean: f64,
    range: [f64; 2],
    men: u64,
    women: u64,
    marital: &'static [(&'static str, u64)],
}

const TABLE_3C: [Printed; 5] = [
    Printed {
        patients: &[1, 6, 13],
        mean: 15.0,
        range: [14.0, 16.0],
        men: 3,
        women: 0,
        marital: &[("AF-spouse", 1), ("Never-married", 2)],
    },
    Printed {
        patients: &[3, 8, 17],
        mean: 21.0,
        range: [19.0, 21.0],
        men: 2,
        women: 1,
        marital: &[("Never-married", 2), ("CIV-spouse", 1)],
    },
    Printed {
        patients: &[4, 9, 18],
        mean: 27.0,
        range: [25.0, 27.0],
        men: 1,
        women: 2,
        marital: &[("Separated", 1), ("AF-spouse", 1), ("Never-married", 1)],
    },
    Printed {
        patients: &[5, 11, 15],
        mean: 38.0,
        range: [37.0, 39.0],
        men: 1,
        women: 2,
        marital: &[("CIV-spouse", 1), ("Divorced", 2)],
    },
    Printed {
        patients: &[10, 19],
        mean: 29.0,
        range: [28.0, 28.0],
        men: 0,
        women: 2,
        marital: &[("Widowed", 1), ("Separated", 1)],
    },
];

/// The statistics of one sub-class.
#[derive(Debug, Clone)]
struct Statistics {
    mean: f64,
    /// Ages in the printed range.
    covered: u64,
    men: u64,
    women: u64,
    marital: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Measured {
    /// P(D) for Nancy.
    confidence: f64,
    betas: [f64; 3],
    sub_classes: Vec<Statistics>,
    /// Every choice of patients for the third sub-class of table 3(c).
    third: Vec<Vec<usize>>,
    /// ε of two values by suppression and by a counterfeit, of three values, of hospital 3.
    epsilons: [f64; 4],
    /// ε of counts (2, 3, 23, 23), and half of the rarest value's share.
    equation_9: [f64; 2],
}

pub(super) fn run(_: Scale) -> Result<Findings, Trouble> {
    let measured = measured().ok_or("the divisions of the paper are possible")?;
    let mut table = numbers(["what", "ours", "printed"]);
    let mut row = |what: &str, found: f64, printed: f64| {
        table.rows.push(vec![what.into(), NumberCell::Number(found), NumberCell::Number(printed)]);
    };
    row("P(D) for Nancy", measured.confidence, 3.0 / 7.0);
    measured.betas.iter().zip(BETAS).for_each(|(&found, printed)| row("β of example 3", found, printed));
    let means = measured.sub_classes.iter().zip(&TABLE_3C);
    means.for_each(|(found, printed)| row("mean age of a sub-class of table 3(c)", found.mean, printed.mean));
    let names = ["ε of two values, suppressed", "ε of two values, counterfeit", "ε of three values", "ε of table 3(c)"];
    for ((name, &found), printed) in names.iter().zip(&measured.epsilons).zip(EPSILONS) {
        row(name, found, printed.0);
    }
    row("ε of counts (2, 3, 23, 23), and the bound of equation 9", measured.equation_9[0], measured.equation_9[1]);
    let bar = |(name, value): (&str, f64)| Bar { name: name.to_owned(), value };
    let picture = Bars {
        title: "ε of counts (2, 3, 23, 23)".to_owned(),
        description: "What the division makes of it, and the bound of equation 9.".to_owned(),
        columns: ["what".to_owned(), "ε".to_owned()],
        bars: [("true ε", measured.equation_9[0]), ("f/2", measured.equation_9[1])].map(bar).to_vec(),
        full: None,
        limit: None,
    };
    let setting =
        "The paper's own patients of tables 1 to 3 and distributions of example 3; and counts that need no data."
            .to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

const BETAS: [f64; 3] = [1.0, 1.11, 1.67];

/// Printed values of ε with their decimal places.
const EPSILONS: [(f64, i32); 4] = [(0.10, 2), (0.07, 2), (0.125, 3), (0.07, 2)];

fn measured() -> Option<Measured> {
    // Tables 1(c) and 2(c): A, C, D, G, J.
    let first = [(1, 2.0), (2, 3.0), (3, 2.0), (4, 2.0)];
    let second = [(0, 3.0), (2, 3.0), (3, 3.0), (4, 3.0)];
    let confidence = confidences(&[&first[..], &second[..]]).into_iter().find(|&(value, _)| value == 2)?.1;
    let pairs = [[1, 2, 3, 4, 0], [0, 2, 3, 4, 1], [0, 1, 2, 3, 4]];
    let by_paper = |counts: &[u64]| -> Option<Division> {
        let counts: Vec<(u32, u64)> = (0..).zip(counts.iter().copied()).collect();
        Division::largest(&counts, &[], |_| true)
    };
    let share = |code: u32, rows: u64| Share { code, rows, per_class: 1 };
    let suppressed = Division { classes: 2, shares: vec![share(0, 2), share(1, 3)], suppressed_values: Vec::new() };
    let odd = by_paper(&[2, 3, 23, 23])?;
    Some(Measured {
        confidence,
        betas: pairs.map(|other| beta(&[1, 2, 3, 4, 0], &other)),
        sub_classes: TABLE_3C.iter().map(|printed| statistics(printed.patients, printed)).collect(),
        third: choices(&TABLE_3C[2]),
        epsilons: [
            suppressed.epsilon(),
            by_paper(&[2, 3])?.epsilon(),
            by_paper(&[2, 3, 3])?.epsilon(),
            by_paper(&[5, 7, 3, 4])?.epsilon(),
        ],
        equation_9: [odd.epsilon(), 2.0 / odd.rows() as f64 / 2.0],
    })
}

/// The statistics of some patients, for the printed range and marital states.
fn statistics(patients: &[usize], printed: &Printed) -> Statistics {
    let own = || patients.iter().map(|&number| PATIENTS[number - 1]);
    let [low, high] = printed.range;
    let count = |holds: &dyn Fn(&Patient) -> bool| own().filter(holds).count() as u64;
    Statistics {
        mean: own().map(|patient| patient.0).sum::<f64>() / own().count() as f64,
        covered: count(&|patient| (low..=high).contains(&patient.0)),
        men: count(&|patient| patient.1 == "M"),
        women: count(&|patient| patient.1 == "F"),
        marital: printed.marital.iter().map(|(status, _)| count(&|patient| patient.2 == *status)).collect(),
    }
}

/// All choices of patients, by their numbers, that have the printed statistics.
fn choices(printed: &Printed) -> Vec<Vec<usize>> {
    let fits = |patients: &Vec<usize>| {
        let found = statistics(patients, printed);
        found.mean.round() == printed.mean && found.covered == 1 && counted(&found, printed).is_ok()
    };
    let numbers =
        |bits: u32| -> Vec<usize> { (1..=PATIENTS.len()).filter(|number| bits >> (number - 1) & 1 == 1).collect() };
    let sized = (0u32..1 << PATIENTS.len()).filter(|bits| bits.count_ones() as usize == printed.patients.len());
    sized.map(numbers).filter(fits).collect()
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let Measured { confidence, betas, sub_classes, third, epsilons, equation_9 } = measured;
    let epsilon = |place: usize| prints("ε", epsilons[place], EPSILONS[place].0, EPSILONS[place].1);
    vec![
        Claim::printed("example 2: the confidence in D is 3/7", prints("it", *confidence, 3.0 / 7.0, 9)),
        Claim::printed(
            "example 3: β is 1, 1.11 and 1.67",
            all(betas.iter().zip(BETAS).map(|(&found, printed)| prints("β", found, printed, 2))),
        ),
        Claim::printed(
            "table 3(c): mean ages 15, 21, 27, 38 and 29",
            all(sub_classes
                .iter()
                .zip(&TABLE_3C)
                .map(|(found, printed)| prints("a mean", found.mean, printed.mean, 0))),
        ),
        Claim::printed(
            "table 3(c): every range covers one age",
            all(sub_classes.iter().map(|found| counts("ages in a range", found.covered, 1))),
        ),
        Claim::printed(
            "table 3(c): counts of men, women and marital states",
            all(sub_classes.iter().zip(&TABLE_3C).map(|(found, printed)| counted(found, printed))),
        ),
        Claim::shape("patient 18 is suppressed (section 6.1.3)", is_suppressed(third))
            .at_any_size()
            .stated_not_to_hold(),
        Claim::printed("two values, suppressed: ε is 0.10 at most", epsilon(0)),
        Claim::printed("two values, counterfeit: ε is 0.07 at most", epsilon(1)),
        Claim::printed("three values: ε is 0.125 at most", epsilon(2)),
        Claim::printed("table 3(c): ε is 0.07", epsilon(3)),
        Claim::shape("ε is at most half of the rarest value's share (equation 9)", bounded(*equation_9))
            .at_any_size()
            .stated_not_to_hold(),
    ]
}

/// Whether the sub-class can be had without patient 18.
fn is_suppressed(third: &[Vec<usize>]) -> ClaimOutcome {
    if third.iter().any(|patients| !patients.contains(&18)) {
        return Ok(());
    }
    Err("its third sub-class cannot be had without patient 18".to_owned())
}

fn counted(found: &Statistics, printed: &Printed) -> ClaimOutcome {
    let marital =
        found.marital.iter().zip(printed.marital).map(|(&found, (status, count))| counts(status, found, *count));
    all([counts("men", found.men, printed.men), counts("women", found.women, printed.women)].into_iter().chain(marital))
}

fn bounded([epsilon, bound]: [f64; 2]) -> ClaimOutcome {
    if epsilon <= bound {
        Ok(())
    } else {
        Err(format!("counts (2, 3, 23, 23): ε is {epsilon:.4}, the bound {bound:.4}"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn counts_2_3_23_23_exceed_the_bound_of_equation_9() {
        let [epsilon, bound] = measured().unwrap().equation_9;
        assert_eq!(format!("{epsilon:.4} {bound:.4}"), "0.0279 0.0196");
    }

    #[test]
    fn table_3c_leaves_one_choice_of_patients_but_for_the_second_sub_class() {
        let all: Vec<Vec<Vec<usize>>> = TABLE_3C.iter().map(choices).collect();
        assert_eq!(all[0], [[1, 6, 13]]);
        assert_eq!(all[1], [[2, 3, 8], [3, 8, 17]]);
        assert_eq!((&all[2], &all[3]), (&vec![vec![4, 9, 18]], &vec![vec![5, 11, 15]]));
        assert_eq!(all[4], [[10, 19]]);
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cloning) fn turned() -> Vec<String> {
        every_claim_can_fail(
            &measured().unwrap(),
            claims,
            &[
                ("example 2", |of| of.confidence = 0.5),
                ("example 3", |of| of.betas[1] = 1.12),
                ("table 3(c): mean", |of| of.sub_classes[2].mean = 27.6),
                ("table 3(c): every range", |of| of.sub_classes[0].covered = 2),
                ("table 3(c): counts", |of| of.sub_classes[4].marital[0] = 0),
                ("patient 18", |of| of.third.push(vec![4, 9, 12])),
                ("two values, suppressed", |of| of.epsilons[0] = 0.11),
                ("two values, counterfeit", |of| of.epsilons[1] = 0.08),
                ("three values", |of| of.epsilons[2] = 0.126),
                ("table 3(c): ε", |of| of.epsilons[3] = 0.076),
                ("ε is at most", |of| of.equation_9[0] = 0.01),
            ],
        )
    }
}
