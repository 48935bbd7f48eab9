//! An experiment: what a paper claims, how it is computed again, and what came of it.

use hedgerow_report::pictures::{NumberCell, Numbers, Picture};

use crate::claim::{Claim, Verdict};

/// Whatever keeps an experiment from ending: a bug, a full disk.
pub(crate) type Trouble = Box<dyn std::error::Error>;

/// A figure of a paper, or several that show the same run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    /// As PAPERS.md cites it.
    pub(crate) paper: &'static str,
    /// The figures, tables or examples of the paper.
    pub(crate) shows: &'static str,
    pub(crate) run: fn(Scale) -> Result<Findings, Trouble>,
}

/// How large the data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The sizes of the paper.
    Full,
    /// Minutes for all experiments together, with unoptimized code.
    Quick,
}

impl Scale {
    pub(crate) fn of<T>(self, full: T, quick: T) -> T {
        match self {
            Scale::Full => full,
            Scale::Quick => quick,
        }
    }
}

/// The result of an experiment.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The data and the parameters, in one sentence.
    pub(crate) setting: String,
    pub(crate) numbers: Numbers,
    pub(crate) pictures: Vec<Picture>,
    pub(crate) claims: Vec<Claim>,
}

impl Findings {
    /// One line for the whole experiment: the claim of the paper that fails, else the weakest
    /// verdict. A claim of ours decides only where there are no others.
    pub(crate) fn verdict(&self, scale: Scale) -> String {
        let all: Vec<(&Claim, Verdict)> = self.claims.iter().map(|claim| (claim, claim.verdict(scale))).collect();
        let weakest = all.iter().map(|(_, verdict)| verdict.name()).max_by_key(|name| rank(name, &all));
        let failed = all.iter().find(|(_, verdict)| verdict.why_not().is_some() && Some(verdict.name()) == weakest);
        let Some((claim, verdict)) = failed else {
            return weakest.unwrap_or("no claims").to_owned();
        };
        let (name, why) = (verdict.name(), verdict.why_not().unwrap_or_default());
        let holding = all.iter().filter(|(_, verdict)| verdict.why_not().is_none()).count();
        format!("{name}: {}: {why} ({holding} of {} claims hold)", claim.says, all.len())
    }

    /// The claims that came out otherwise than this project states.
    pub(crate) fn surprises(&self, scale: Scale) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(move |claim| !claim.is_as_stated(scale))
    }

    pub(crate) fn csv(&self) -> String {
        let quoted = |cell: &NumberCell| match cell {
            NumberCell::Text(text) => hedgerow_release::quoting::quoted(text).into_owned(),
            NumberCell::Number(number) => rounded(*number),
        };
        let header: Vec<NumberCell> = self.numbers.columns.iter().map(|name| NumberCell::Text(name.clone())).collect();
        let rows = std::iter::once(&header).chain(&self.numbers.rows);
        rows.map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
    }
}

/// The place of a verdict in the order of [`Verdict`].
fn rank(name: &str, all: &[(&Claim, Verdict)]) -> usize {
    let mut verdicts: Vec<&Verdict> = all.iter().map(|(_, verdict)| verdict).collect();
    verdicts.sort_unstable();
    verdicts.iter().position(|verdict| verdict.name() == name).unwrap_or(0)
}

/// To six significant digits, without trailing zeros; NaN is an empty cell.
fn rounded(number: f64) -> String {
    if !number.is_finite() {
        return String::new();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let places = (5 - number.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// An empty table with these columns.
pub(crate) fn numbers<const N: usize>(columns: [&str; N]) -> Numbers {
    Numbers { columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
}

/// The middle of them; of an even number the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_csv_with_short_numbers() {
        let mut table = numbers(["who, what", "share"]);
        table.rows.push(vec![NumberCell::Text("a \"b\"".into()), NumberCell::Number(2.0 / 3.0)]);
        table.rows.push(vec![NumberCell::Text("c".into()), NumberCell::Number(f64::NAN)]);
        table.rows.push(vec![NumberCell::Text("d".into()), NumberCell::Number(1_234_567.0)]);
        let findings = Findings { setting: String::new(), numbers: table, pictures: Vec::new(), claims: Vec::new() };
        assert_eq!(findings.csv(), "\"who, what\",share\n\"a \"\"b\"\"\",0.666667\nc,\nd,1234567\n");
    }

    #[test]
    fn one_line_names_the_claim_that_fails_and_else_the_weakest_verdict() {
        let findings =
            |claims| Findings { setting: String::new(), numbers: numbers(["x"]), pictures: Vec::new(), claims };
        let holds = || Claim::printed("a", Ok(()));
        let verdict = |claims| findings(claims).verdict(Scale::Full);
        assert_eq!(verdict(vec![holds(), Claim::shape("b", Ok(()))]), "shape holds");
        assert_eq!(verdict(vec![holds(), Claim::ours("b", Ok(()))]), "reproduced");
        assert_eq!(verdict(vec![Claim::ours("b", Ok(()))]), "our own");
        let failed = Claim::printed("c", Err("1 is not 2".into())).stated_not_to_hold();
        let other = Claim::shape("d", Err("3 is not 4".into())).on_other_data().stated_not_to_hold();
        let failing = findings(vec![holds(), other.clone(), failed]);
        assert_eq!(failing.verdict(Scale::Full), "does not hold: c: 1 is not 2 (1 of 3 claims hold)");
        assert_eq!(verdict(vec![other, holds()]), "not on our data: d: 3 is not 4 (1 of 2 claims hold)");
        assert_eq!(failing.surprises(Scale::Full).count(), 0);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
