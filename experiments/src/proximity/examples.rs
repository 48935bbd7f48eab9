//! Examples 1 to 3 in all readings: what each makes of {40, 60} and {40, 50, 60}.

use hedgerow_report::pictures::{HeatMap, NumberCell};

use super::printed::figure_3;
use super::{Reading, Salaries};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{all, prints};

/// The classes of the examples and of figure 1, each with δ = ε in halves.
const CLASSES: [(&[i64], u32); 10] = [
    (&[40, 60], 30),
    (&[40, 50, 60], 30),
    (&[50, 80], 30),
    (&[40, 50, 60, 80], 30),
    (&[40, 60], 15),
    (&[50, 80], 15),
    (&[40, 50, 60, 80], 15),
    (&[490, 500, 510, 1000], 20),
    (&[490, 500, 510, 1000], 10),
    (&[40], 30),
];

pub(super) fn run(_: Scale) -> Result<Findings, Trouble> {
    let columns = ["class", "δ = ε", "m of (ε,m)", "l by definition 5", "l by windows", "l by figure 3 as printed"];
    let mut table = numbers(columns);
    let mut names = Vec::new();
    let mut shown = Vec::new();
    for (values, halves) in CLASSES {
        let class = Salaries::new(values);
        let achieved = Reading::ALL.map(|reading| class.achieves(reading, halves));
        // An infinite l is an empty cell.
        let printed = figure_3(&class.0, halves).unwrap_or(f64::INFINITY);
        let cells = [f64::from(halves) / 2.0, achieved[0], achieved[1], achieved[2], printed].map(NumberCell::Number);
        table.rows.push([vec![NumberCell::Text(class.text())], cells.to_vec()].concat());
        names.push(format!("{}, {}", class.text(), f64::from(halves) / 2.0));
        shown.push(achieved.to_vec());
    }
    let measured = measured();
    let picture = HeatMap {
        title: "l or m of small classes, by reading".to_owned(),
        description: "Each row is a class with its δ = ε, each column a reading of similar values.".to_owned(),
        axes: ["class, δ".to_owned(), "reading".to_owned()],
        rows: names,
        columns: ["(ε,m)", "def. 5", "windows"].map(str::to_owned).to_vec(),
        counts: shown,
    };
    let setting =
        "The paper's own classes of examples 1 to 3 and of figure 1; δ of one reading is ε of the other.".to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

/// The l of one class, by each reading.
#[derive(Debug, Clone)]
struct Achieved {
    class: String,
    by_definition: f64,
    by_windows: f64,
    by_figure_3: f64,
}

#[derive(Debug, Clone)]
struct Measured {
    /// m of {40, 60} and of {40, 50, 60} for ε = 15.
    m: [f64; 2],
    /// Whether {40, 60}, {50, 80} and their union are (15, 2)-anonymous.
    unions: [bool; 3],
    /// l of {40, 60} for δ = 15, by definition 5 and by windows.
    l: [f64; 2],
    classes: Vec<Achieved>,
    /// For δ = 7.5 by definition 5 and by windows: l of {40, 60} and of {40, 50, 60}.
    with_50: [[f64; 2]; 2],
}

fn measured() -> Measured {
    let l = |values: &[i64], reading: Reading, halves: u32| Salaries::new(values).achieves(reading, halves);
    let model = Reading::Epsilon.model(30, 2);
    let (one, other) = (Salaries::new(&[40, 60]), Salaries::new(&[50, 80]));
    let achieved = |(values, halves): (&[i64], u32)| {
        let class = Salaries::new(values);
        Achieved {
            class: class.text(),
            by_definition: class.achieves(Reading::Pairs, halves),
            by_windows: class.achieves(Reading::Windows, halves),
            by_figure_3: figure_3(&class.0, halves).unwrap_or(f64::INFINITY),
        }
    };
    let readings = [Reading::Pairs, Reading::Windows];
    Measured {
        m: [l(&[40, 60], Reading::Epsilon, 30), l(&[40, 50, 60], Reading::Epsilon, 30)],
        unions: [one.holds(&model), other.holds(&model), one.union(&other).holds(&model)],
        l: readings.map(|reading| l(&[40, 60], reading, 30)),
        classes: CLASSES.into_iter().filter(|(values, _)| values.len() > 1).map(achieved).collect(),
        with_50: readings.map(|reading| [l(&[40, 60], reading, 15), l(&[40, 50, 60], reading, 15)]),
    }
}

fn claims(Measured { m, unions, l, classes, with_50 }: &Measured) -> Vec<Claim> {
    let is = |reading: &str, found: fn(&Achieved) -> f64| {
        all(classes
            .iter()
            .map(|one| prints(&format!("l of {} by {reading}", one.class), found(one), one.by_figure_3, 6)))
    };
    let anonymous = match unions {
        [true, true, false] => Ok(()),
        found => Err(format!("the parts and the union: {found:?}")),
    };
    vec![
        Claim::printed(
            "example 2: {40, 60} achieves m = 2 and {40, 50, 60} m = 1 for ε = 15",
            all([prints("m of {40, 60}", m[0], 2.0, 6), prints("m of {40, 50, 60}", m[1], 1.0, 6)]),
        ),
        Claim::printed(
            "example 1: (15, 2)-anonymity holds for {40, 60} and {50, 80}, and not for their union",
            anonymous,
        ),
        Claim::printed(
            "example 3: {40, 60} achieves l = 1 for δ = 15",
            all([prints("l by definition 5", l[0], 1.0, 6), prints("l by windows", l[1], 1.0, 6)]),
        ),
        Claim::shape(
            "figure 3 as printed computes what definition 5 says",
            is("definition 5", |one| one.by_definition),
        )
        .at_any_size()
        .stated_not_to_hold(),
        Claim::shape("{40, 50, 60} is never rated below {40, 60}", all(with_50.iter().map(not_below)))
            .at_any_size()
            .stated_not_to_hold(),
        Claim::ours(
            "figure 3 as printed computes windows, for two tuples and more",
            is("windows", |one| one.by_windows),
        )
        .at_any_size(),
    ]
}

fn not_below([without, with]: &[f64; 2]) -> ClaimOutcome {
    if with >= without {
        Ok(())
    } else {
        Err(format!("for δ = 7.5 its l is {with}, and that of {{40, 60}} {without}"))
    }
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
            &measured(),
            claims,
            &[
                ("example 2", |of| of.m[1] = 2.0),
                ("example 1", |of| of.unions[2] = true),
                ("example 3", |of| of.l[0] = 2.0),
                ("figure 3 as printed computes what", |of| of.classes.retain(|one| one.class == "{40, 60}")),
                ("{40, 50, 60} is never", |of| of.with_50 = [[2.0, 2.0], [1.0, 1.5]]),
                ("figure 3 as printed computes windows", |of| of.classes[0].by_windows = 9.0),
            ],
        )
    }

    #[test]
    fn a_value_between_two_lowers_l_at_7_5() {
        assert_eq!(measured().with_50, [[2.0, 1.0], [2.0, 1.5]]);
    }
}
