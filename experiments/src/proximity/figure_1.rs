//! Figure 1: ten salaries in three classes that every diversity calls diverse, and how close to
//! 500 the salary of Alice, in the first class, must be.

use hedgerow_privacy::Model;
use hedgerow_report::pictures::{Bar, Bars, Limit, NumberCell};
use hedgerow_table::Ratio;

use super::{Reading, Salaries};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::prints;

/// In thousands, by age.
const CLASSES: [(&str, &[i64]); 3] =
    [("17-25", &[490, 500, 510, 1000]), ("26-35", &[500, 600, 700]), ("36-45", &[510, 680, 1000])];

/// [490, 510] is as long as this δ makes it.
const DELTA_HALVES: u32 = 20;

pub(super) fn run(_: Scale) -> Result<Findings, Trouble> {
    let mut table =
        numbers(["age", "salaries", "distinct l", "frequency l", "m for ε = 10", "l by definition 5", "l by windows"]);
    let mut diverse = Vec::new();
    let mut bars = Vec::new();
    for (age, salaries) in CLASSES {
        let class = Salaries::new(salaries);
        let largest_l =
            |model: fn(u64) -> Model| (1..=10).filter(|&l| class.holds(&model(l))).max().unwrap_or(0) as f64;
        let distinct = largest_l(|l| Model::DistinctLDiversity { l });
        let frequency = largest_l(|l| Model::FrequencyLDiversity { l: Ratio::integer(l) });
        diverse.push((distinct, frequency));
        let close = Reading::ALL.map(|reading| class.achieves(reading, DELTA_HALVES));
        bars.push(Bar { name: format!("{age}: {}", class.text()), value: close[2] });
        let text = class.text();
        let measured = [distinct, frequency, close[0], close[1], close[2]].map(NumberCell::Number);
        table.rows.push([vec![NumberCell::from(age), NumberCell::from(text.as_str())], measured.to_vec()].concat());
    }
    let least = |of: fn(&(f64, f64)) -> f64| diverse.iter().map(of).fold(f64::INFINITY, f64::min);
    let near = CLASSES[0].1.iter().filter(|salary| (490..=510).contains(*salary)).count() as f64;
    let first = Salaries::new(CLASSES[0].1);
    let measured = Measured {
        distinct: least(|of| of.0),
        frequency: least(|of| of.1),
        near: near / CLASSES[0].1.len() as f64,
        first: Reading::ALL.map(|reading| first.achieves(reading, DELTA_HALVES)),
    };
    let picture = Bars {
        title: "l of (δ,l)-diversity for δ = 10, by windows".to_owned(),
        description:
            "One bar for each class of figure 1. Every class has three or more different salaries, and one of them \
                      has most of its salaries close together."
                .to_owned(),
        columns: ["class".to_owned(), "l".to_owned()],
        bars,
        full: None,
        limit: Some(Limit { at: 2.0, name: "l = 2".to_owned() }),
    };
    let setting = "The paper's own ten employees of figure 1, salaries in thousands, three classes by age.".to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

#[derive(Debug, Clone)]
struct Measured {
    /// The least l of the classes.
    distinct: f64,
    frequency: f64,
    /// The share of Alice's class in [490, 510].
    near: f64,
    /// The l of Alice's class in each reading.
    first: [f64; 3],
}

fn claims(Measured { distinct, frequency, near, first }: &Measured) -> Vec<Claim> {
    let best = first.iter().copied().fold(0.0, f64::max);
    let close = if best < 2.0 { Ok(()) } else { Err(format!("the first class achieves {best}")) };
    vec![
        Claim::printed("the table is distinct 3-diverse", prints("distinct l", *distinct, 3.0, 0)),
        Claim::printed("the table is frequency 3-diverse", prints("frequency l", *frequency, 3.0, 0)),
        Claim::printed(
            "Alice's salary lies in [490, 510] with probability 1",
            prints("the probability", *near, 1.0, 6),
        )
        .stated_not_to_hold(),
        Claim::shape("proximity remains: some class satisfies no l of 2 by any reading", close).at_any_size(),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::proximity) fn turned() -> Vec<String> {
        every_claim_can_fail(
            &Measured { distinct: 3.0, frequency: 3.0, near: 0.75, first: [1.3, 1.3, 1.3] },
            claims,
            &[
                ("the table is distinct", |of| of.distinct = 2.0),
                ("the table is frequency", |of| of.frequency = 2.0),
                ("Alice", |of| of.near = 1.0),
                ("proximity", |of| of.first[1] = 2.0),
            ],
        )
    }
}
