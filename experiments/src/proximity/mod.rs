//! (δ,l)-diversity (Zare-Mirakabad): the table of figure 1 and the examples in all readings, and
//! whether each reading survives unions of classes.

mod examples;
mod figure_1;
mod monotonicity;
mod printed;

use hedgerow_privacy::models::{self, Context};
use hedgerow_privacy::{Class, Distribution, Guarantee, Model, NumberCloseness as Delta};
use hedgerow_table::{Domain, Ratio, Values};

use crate::experiment::Experiment;

const PAPER: &str = "[ZM]";

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "proximity-salaries", paper: PAPER, shows: "figure 1", run: figure_1::run },
    Experiment { name: "proximity-examples", paper: PAPER, shows: "examples 1 to 3", run: examples::run },
    Experiment { name: "proximity-unions", paper: PAPER, shows: "monotonicity (section 4)", run: monotonicity::run },
];

/// By experiment, the claims that its wrong numbers turn.
#[cfg(test)]
pub(crate) const TURNED: &[crate::wrong::Turned] = &[
    ("proximity-salaries", figure_1::tests::turned),
    ("proximity-examples", examples::tests::turned),
    ("proximity-unions", monotonicity::tests::turned),
];

/// The meaning of "similar".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// (ε,m)-anonymity: at most ε from a value of the class.
    Epsilon,
    /// Definition 5: intervals of radius δ overlap.
    Pairs,
    /// Figure 3: in one interval of length 2δ.
    Windows,
}

impl Reading {
    const ALL: [Reading; 3] = [Reading::Epsilon, Reading::Pairs, Reading::Windows];

    fn name(self) -> &'static str {
        match self {
            Reading::Epsilon => "(ε,m)-anonymity",
            Reading::Pairs => "definition 5",
            Reading::Windows => "figure 3, windows",
        }
    }

    /// `halves` is δ or ε in half units, so that 7.5 is exact.
    fn model(self, halves: u32, l: u64) -> Model {
        let distance = Ratio::from_decimal(f64::from(halves) / 2.0).expect("halves are short decimals");
        let l = Ratio::integer(l);
        match self {
            Reading::Epsilon => Model::EpsilonMAnonymity { epsilon: distance, m: l, relative: false },
            Reading::Pairs => Model::DeltaLDiversity { delta: distance, l, reading: Delta::Pairwise },
            Reading::Windows => Model::DeltaLDiversity { delta: distance, l, reading: Delta::Window },
        }
    }
}

/// A class by its sensitive values, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Salaries(Vec<i64>);

impl Salaries {
    fn new(values: &[i64]) -> Salaries {
        let mut values = values.to_vec();
        values.sort_unstable();
        Salaries(values)
    }

    fn union(&self, other: &Salaries) -> Salaries {
        Salaries::new(&[self.0.as_slice(), &other.0].concat())
    }

    fn text(&self) -> String {
        let values: Vec<String> = self.0.iter().map(i64::to_string).collect();
        format!("{{{}}}", values.join(", "))
    }

    /// The largest l (or m) that the class satisfies.
    fn achieves(&self, reading: Reading, halves: u32) -> f64 {
        self.judged(&reading.model(halves, 1), |guarantee, class| {
            guarantee.measure(class, &Distribution::default()).first().map_or(f64::NAN, |measure| measure.value)
        })
    }

    fn holds(&self, model: &Model) -> bool {
        self.judged(model, |guarantee, class| guarantee.holds(class, &Distribution::default()))
    }

    fn judged<T>(&self, model: &Model, judge: impl Fn(&dyn Guarantee, Class<'_>) -> T) -> T {
        let mut distinct = self.0.clone();
        distinct.dedup();
        let count = |value: &i64| self.0.iter().filter(|other| *other == value).count() as u32;
        let values: Vec<(u32, u32)> = (0..).zip(distinct.iter().map(count)).collect();
        let domain = Domain::new(Values::Integer(distinct), false);
        let context = Context { protect: Some(&domain), ..Context::default() };
        let guarantee = models::guarantee(model, &context).expect("integers are numbers");
        judge(guarantee.as_ref(), Class { rows: self.0.len() as u64, values: &values })
    }
}
