//! Examples 1 to 3 in all readings: what each makes of {40, 60} and {40, 50, 60}.

use hedgerow_report::pictures::{Cell, HeatMap};

use super::printed::figure_3;
use super::{Reading, Salaries};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, prints};

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
        let cells = [f64::from(halves) / 2.0, achieved[0], achieved[1], achieved[2], printed].map(Cell::Number);
        table.rows.push([vec![Cell::Text(class.text())], cells.to_vec()].concat());
        names.push(format!("{}, {}", class.text(), f64::from(halves) / 2.0));
        shown.push(achieved.to_vec());
    }
    let l = |values: &[i64], reading: Reading, halves: u32| Salaries::new(values).achieves(reading, halves);
    let claims = vec![
        Claim::value(
            "example 2: {40, 60} achieves m = 2 and {40, 50, 60} m = 1 for ε = 15",
            all([
                prints("m of {40, 60}", l(&[40, 60], Reading::Epsilon, 30), 2.0, 6),
                prints("m of {40, 50, 60}", l(&[40, 50, 60], Reading::Epsilon, 30), 1.0, 6),
            ]),
        ),
        Claim::value("example 1: (15, 2)-anonymity holds for {40, 60} and {50, 80}, and not for their union", unions()),
        Claim::value(
            "example 3: {40, 60} achieves l = 1 for δ = 15",
            all([
                prints("l by definition 5", l(&[40, 60], Reading::Pairs, 30), 1.0, 6),
                prints("l by windows", l(&[40, 60], Reading::Windows, 30), 1.0, 6),
            ]),
        ),
        Claim::value("figure 3 as printed computes what definition 5 says", printed_is(Reading::Pairs))
            .stated_not_to_hold(),
        Claim::value("figure 3 as printed computes windows, for two tuples and more", printed_is(Reading::Windows)),
    ];
    let picture = HeatMap {
        title: "l or m of small classes, by reading".to_owned(),
        description: "Each row is a class with its δ = ε, each column a reading of similar values.".to_owned(),
        axes: ["class, δ".to_owned(), "reading".to_owned()],
        rows: names,
        columns: ["(ε,m)", "def. 5", "windows"].map(str::to_owned).to_vec(),
        counts: shown,
    };
    let setting = "The classes of examples 1 to 3 and of figure 1; δ of one reading is ε of the other.".to_owned();
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims })
}

fn unions() -> Outcome {
    let model = Reading::Epsilon.model(30, 2);
    let (one, other) = (Salaries::new(&[40, 60]), Salaries::new(&[50, 80]));
    match (one.holds(&model), other.holds(&model), one.union(&other).holds(&model)) {
        (true, true, false) => Ok(()),
        found => Err(format!("the parts and the union: {found:?}")),
    }
}

fn printed_is(reading: Reading) -> Outcome {
    for (values, halves) in CLASSES.into_iter().filter(|(values, _)| values.len() > 1) {
        let class = Salaries::new(values);
        let (found, printed) = (class.achieves(reading, halves), figure_3(&class.0, halves).unwrap_or(f64::INFINITY));
        prints(&format!("l of {} by {}", class.text(), reading.name()), found, printed, 6)?;
    }
    Ok(())
}
