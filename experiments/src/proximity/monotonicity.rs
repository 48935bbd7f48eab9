//! Whether a union of two classes that hold also holds, for each reading, over random classes. The
//! paper claims it of definition 5; its own figure 3 computes something else, of which it is true.

use hedgerow_report::pictures::{Bar, Bars, NumberCell};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::printed::figure_3;
use super::{Reading, Salaries};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::all;

/// The result for one reading.
#[derive(Debug, Clone)]
struct Tried {
    reading: Reading,
    /// Pairs of classes that both hold.
    pairs: u64,
    /// Those whose union does not.
    broken: u64,
    /// The smallest of these.
    example: Option<String>,
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let cases = scale.of(200_000, 20_000);
    let tried = Reading::ALL.map(|reading| unions(reading, cases));
    let mut table = numbers(["reading", "pairs that hold", "unions that do not", "the smallest such pair"]);
    for one in &tried {
        let counts = [one.pairs as f64, one.broken as f64].map(NumberCell::Number).to_vec();
        let example = NumberCell::Text(one.example.clone().unwrap_or_default());
        table.rows.push([vec![NumberCell::from(one.reading.name())], counts, vec![example]].concat());
    }
    let measured = Measured { tried: tried.clone(), printed: compared(cases) };
    let bar = |one: &Tried| Bar { name: one.reading.name().to_owned(), value: one.broken as f64 };
    let picture = Bars {
        title: "Unions of two classes that hold, and do not hold themselves".to_owned(),
        description: format!("Among random pairs of classes that both hold, drawn {cases} times for each reading."),
        columns: ["reading".to_owned(), "unions".to_owned()],
        bars: tried.iter().map(bar).collect(),
        full: None,
        limit: None,
    };
    let setting = format!(
        "Random data, which a counterexample may come from: {cases} pairs of classes of 1 to 6 whole numbers for each \
                 reading, δ from 0.5 to 10."
    );
    Ok(Findings { setting, numbers: table, pictures: vec![picture.picture()], claims: claims(&measured) })
}

/// The l of one class by windows, and by figure 3 as printed.
#[derive(Debug, Clone)]
struct Compared {
    class: Salaries,
    halves: u32,
    windows: f64,
    printed: Option<f64>,
}

#[derive(Debug, Clone)]
struct Measured {
    /// In the order of [`Reading::ALL`].
    tried: [Tried; 3],
    printed: Vec<Compared>,
}

fn claims(Measured { tried: [epsilon, pairs, windows], printed }: &Measured) -> Vec<Claim> {
    let breaks = if epsilon.broken > 0 { Ok(()) } else { Err("every union holds".to_owned()) };
    vec![
        Claim::shape("(ε,m)-anonymity does not survive unions", breaks).at_any_size(),
        Claim::shape("(δ,l)-diversity by definition 5 survives unions", survives(pairs))
            .at_any_size()
            .stated_not_to_hold(),
        Claim::ours("(δ,l)-diversity as figure 3 computes it survives unions", survives(windows)).at_any_size(),
        Claim::ours("figure 3 as printed computes windows, for two tuples and more", all(printed.iter().map(same_l)))
            .at_any_size(),
    ]
}

fn unions(reading: Reading, cases: u64) -> Tried {
    let mut rng = StdRng::seed_from_u64(1);
    let mut tried = Tried { reading, pairs: 0, broken: 0, example: None };
    let mut smallest = usize::MAX;
    // The pair that the project's tests know comes first, whatever the dice say.
    let known = (Salaries::new(&[40, 60]), Salaries::new(&[50, 80]), 15, 2);
    let drawn =
        (0..cases).map(|_| (class(&mut rng), class(&mut rng), rng.random_range(1..=20), rng.random_range(2..=3)));
    for (one, other, halves, l) in std::iter::once(known).chain(drawn) {
        let model = reading.model(halves, l);
        if !one.holds(&model) || !other.holds(&model) {
            continue;
        }
        tried.pairs += 1;
        let union = one.union(&other);
        if !union.holds(&model) {
            tried.broken += 1;
            if union.0.len() < smallest {
                smallest = union.0.len();
                let distance = f64::from(halves) / 2.0;
                tried.example = Some(format!("{} and {} for δ = {distance}, l = {l}", one.text(), other.text()));
            }
        }
    }
    tried
}

fn class(rng: &mut StdRng) -> Salaries {
    let size = rng.random_range(1..=6);
    Salaries::new(&(0..size).map(|_| rng.random_range(0..=60)).collect::<Vec<i64>>())
}

fn survives(tried: &Tried) -> ClaimOutcome {
    let Tried { pairs, broken, .. } = *tried;
    match broken {
        _ if pairs == 0 => Err("no pair holds".to_owned()),
        0 => Ok(()),
        _ => {
            Err(format!("{broken} of {pairs} unions break it, as of {}", tried.example.as_deref().unwrap_or("a pair")))
        }
    }
}

/// Random classes of two tuples and more.
fn compared(cases: u64) -> Vec<Compared> {
    let mut rng = StdRng::seed_from_u64(2);
    let drawn = (0..cases).map(|_| {
        let (class, halves) = (class(&mut rng), rng.random_range(0..=40));
        let (windows, printed) = (class.achieves(Reading::Windows, halves), figure_3(&class.0, halves));
        Compared { class, halves, windows, printed }
    });
    drawn.filter(|one| one.class.0.len() > 1).collect()
}

fn same_l(Compared { class, halves, windows, printed }: &Compared) -> ClaimOutcome {
    if *printed == Some(*windows) {
        return Ok(());
    }
    let distance = f64::from(*halves) / 2.0;
    Err(format!("{} for δ = {distance}: {printed:?} and {windows}", class.text()))
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
        let tried = Reading::ALL.map(|reading| unions(reading, 200));
        every_claim_can_fail(
            &Measured { tried, printed: compared(200) },
            claims,
            &[
                ("(ε,m)", |of| of.tried[0].broken = 0),
                ("(δ,l)-diversity by definition 5", |of| of.tried[1].broken = 0),
                ("(δ,l)-diversity as figure 3", |of| of.tried[2].broken = 1),
                ("figure 3 as printed", |of| of.printed[1].windows += 0.5),
            ],
        )
    }
}
