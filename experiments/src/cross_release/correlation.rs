//! Section 4.2: what an adversary concludes who combines two releases, without and with
//! knowledge of how their quasi-identifiers go together, and the claim that a release can be made
//! safe "regardless of the QI attribute correlation possessed by the adversary".
//!
//! The counterexample: of eight people four have x and four y. One class of each release has
//! {x 3, y 1}, so that both values are in both classes. An adversary who knows that two people are
//! in both also knows that both have x: three of four x here and three of four there share two.

use hedgerow_audit::adversaries::correlation::{ValueRows, Weights, infer, possible};
use hedgerow_report::pictures::{Bar, Bars, NumberCell};

use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, counts, prints};

/// Table 5: rows of High, Middle and Low in the classes of 40 years on and of ZIP codes from 20000
/// on, and in all. The paper uses the smaller of both alone; what the rows in all rule out is none
/// of its instances.
const TABLE_5: [(u64, u64, u64); 3] = [(3, 4, 7), (3, 3, 7), (4, 2, 7)];
const JOINT: u64 = 4;

#[derive(Debug, Clone)]
struct Measured {
    /// Table 6: how many instances, and the probabilities of High, Middle and Low.
    instances: f64,
    probabilities: [f64; 3],
    /// The counterexample: values in both classes, and values that remain.
    in_both: u64,
    left: u64,
    /// The same by listing every way in which eight people can be in both classes.
    left_by_listing: u64,
}

pub(super) fn run(_: Scale) -> Result<Findings, Trouble> {
    let measured = measured().ok_or("the joint cell of table 5 is possible")?;
    let mut table = numbers(["what", "ours", "printed"]);
    let rows = [
        ("instances of table 6", measured.instances, 10.0),
        ("P(High)", measured.probabilities[0], 0.375),
        ("P(Middle)", measured.probabilities[1], 0.375),
        ("P(Low)", measured.probabilities[2], 0.25),
        ("values in both classes of the counterexample", measured.in_both as f64, f64::NAN),
        ("values left to an adversary who knows the joint cell", measured.left as f64, f64::NAN),
    ];
    for (what, found, printed) in rows {
        table.rows.push(vec![what.into(), NumberCell::Number(found), NumberCell::Number(printed)]);
    }
    let bar = |(name, value): (&str, u64)| Bar { name: name.to_owned(), value: value as f64 };
    let picture = Bars {
        title: "Values left beside two classes {x 3, y 1}".to_owned(),
        description: "Without and with knowledge of the size of the joint cell.".to_owned(),
        columns: ["adversary".to_owned(), "values left".to_owned()],
        bars: [("knows the classes", measured.in_both), ("knows the joint cell", measured.left)].map(bar).to_vec(),
        full: None,
        limit: None,
    };
    let setting = "The paper's own tables 5 and 6; and a counterexample of eight people.".to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

fn measured() -> Option<Measured> {
    let values = TABLE_5.map(|(first, second, all)| ValueRows { first, second, all: Some(all) });
    let inferred = infer(&values, JOINT, Weights::Uniform)?;
    let x = ValueRows { first: 3, second: 3, all: Some(4) };
    let y = ValueRows { first: 1, second: 1, all: Some(4) };
    let left = possible(&[x, y], 2).into_iter().filter(|&possible| possible).count() as u64;
    let in_both = [x, y].iter().filter(|value| value.first > 0 && value.second > 0).count() as u64;
    Some(Measured {
        instances: inferred.instances,
        probabilities: inferred.confidences.try_into().ok()?,
        in_both,
        left,
        left_by_listing: left_by_listing(),
    })
}

/// People 0 to 3 have x, the others y; the first class has people 0, 1, 2 and 4. Every second class
/// with three x and one y that shares two people with it is a possible one.
fn left_by_listing() -> u64 {
    let first: u32 = 0b0001_0111;
    let [x, y] = [0b0000_1111u32, 0b1111_0000];
    let is_possible = |second: &u32| {
        (second & x).count_ones() == 3 && (second & y).count_ones() == 1 && (first & second).count_ones() == 2
    };
    let seen = (0..256u32).filter(is_possible).fold(0, |seen, second| seen | (first & second));
    u64::from(seen & x != 0) + u64::from(seen & y != 0)
}

fn claims(Measured { instances, probabilities, in_both, left, left_by_listing }: &Measured) -> Vec<Claim> {
    vec![
        Claim::printed("table 6: 10 instances", counts("instances", *instances as u64, 10)),
        Claim::printed(
            "section 4.2.2: 3/8, 3/8 and 1/4",
            all(probabilities.iter().zip([0.375, 0.375, 0.25]).map(|(&found, value)| prints("it", found, value, 6))),
        ),
        Claim::shape(
            "a release that leaves l values in every pair of classes leaves them regardless of the correlation that an adversary knows",
            regardless(*in_both, *left),
        )
        .at_any_size()
        .stated_not_to_hold(),
        Claim::ours(
            "listing every possible pair of classes leaves the same values",
            counts("values left", *left, *left_by_listing),
        )
        .at_any_size(),
    ]
}

fn regardless(in_both: u64, left: u64) -> ClaimOutcome {
    if left >= in_both { Ok(()) } else { Err(format!("{in_both} values are in both classes, and {left} is left")) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn correlation_leaves_one_of_two_values() {
        let Measured { in_both, left, left_by_listing, .. } = measured().unwrap();
        assert_eq!((in_both, left, left_by_listing), (2, 1, 1));
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::cross_release) fn turned() -> Vec<String> {
        every_claim_can_fail(
            &measured().unwrap(),
            claims,
            &[
                ("table 6", |of| of.instances = 9.0),
                ("section 4.2.2", |of| of.probabilities[2] = 0.3),
                ("a release that leaves", |of| of.left = 2),
                ("listing every", |of| of.left_by_listing = 2),
            ],
        )
    }
}
