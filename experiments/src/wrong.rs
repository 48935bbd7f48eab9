//! Wrong numbers: what an experiment measured is changed for one claim after the other, and the
//! outcome of that claim must change with it. A check that no numbers can make fail is none.

use crate::claim::Claim;
use crate::experiment::Scale;

/// The beginning of a claim, and a change of the numbers that turns its outcome.
pub(crate) type Wrong<M> = (&'static str, fn(&mut M));

/// An experiment, and all its claims, of which each was turned.
pub(crate) type Turned = (&'static str, fn() -> Vec<String>);

/// `right` are numbers of which every claim is as stated; `wrong` has one row for each claim. All
/// claims.
pub(crate) fn every_claim_can_fail<M: Clone>(
    right: &M,
    claims: impl Fn(&M) -> Vec<Claim>,
    wrong: &[Wrong<M>],
) -> Vec<String> {
    let before = claims(right);
    for claim in &before {
        let says = &claim.says;
        assert!(claim.is_as_stated(Scale::Full), "{says}: {}", claim.verdict(Scale::Full));
        let rows = wrong.iter().filter(|(beginning, _)| says.starts_with(beginning)).count();
        assert_eq!(rows, 1, "wrong numbers for: {says}");
    }
    assert_eq!(wrong.len(), before.len(), "wrong numbers for a claim that is not made");
    for (beginning, change) in wrong {
        let mut changed = right.clone();
        change(&mut changed);
        let place = before.iter().position(|claim| claim.says.starts_with(beginning)).expect(beginning);
        let after = &claims(&changed)[place];
        let turned = after.outcome().is_ok() != before[place].outcome().is_ok();
        assert!(turned, "{beginning}: the wrong numbers do not turn it: {:?}", after.outcome());
    }
    before.into_iter().map(|claim| claim.says).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::{cloning, cross_release, experiments, proximity, record, together, versatile};

    /// By experiment, the claims of EXPERIMENTS.md in their order.
    fn recorded() -> BTreeMap<String, Vec<String>> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../EXPERIMENTS.md");
        let page = std::fs::read_to_string(path).unwrap();
        let mut claims: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut section = String::new();
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                section = name.to_owned();
                claims.insert(section.clone(), Vec::new());
            }
            let Some(claim) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else { continue };
            if let Some(claims) = claims.get_mut(&section).filter(|_| claim != "claim") {
                claims.push(claim.to_owned());
            }
        }
        claims
    }

    /// Whatever an experiment claims, in a run or in the record, has numbers that turn its outcome.
    #[test]
    fn no_claim_is_without_wrong_numbers() {
        let papers =
            [cross_release::TURNED, proximity::TURNED, cloning::TURNED, versatile::TURNED, together::TURNED].concat();
        let recorded = recorded();
        for experiment in experiments() {
            let name = experiment.name;
            let tables: Vec<&Turned> = papers.iter().filter(|(one, _)| *one == name).collect();
            let [(_, turned)] = tables[..] else { panic!("{name}: {} tables of wrong numbers", tables.len()) };
            let turned: Vec<String> = turned().iter().map(|says| record::cell(says)).collect();
            assert!(!turned.is_empty(), "{name} claims nothing");
            assert_eq!(recorded.get(name), Some(&turned), "{name}: the record, and claims with wrong numbers");
        }
        assert_eq!((papers.len(), recorded.len()), (experiments().len(), experiments().len()));
    }

    /// An outcome among the numbers could be changed as a whole, whatever decides it.
    #[test]
    fn what_is_measured_has_numbers_and_no_outcomes() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut read = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let is_field = |line: &&str| line.starts_with("    ") && line.ends_with(": ClaimOutcome,");
                let fields: Vec<&str> = text.lines().filter(is_field).map(str::trim).collect();
                // A claim has its own.
                let expected = if path.ends_with("claim.rs") { &["outcome: ClaimOutcome,"][..] } else { &[] };
                assert_eq!(fields, expected, "{}", path.display());
                read += 1;
            }
        }
        assert!(read > 40, "{read} files");
    }

    #[test]
    #[should_panic(expected = "wrong numbers for: b")]
    fn a_claim_without_wrong_numbers_is_refused() {
        let claims = |_: &bool| vec![Claim::shape("a", Ok(())), Claim::shape("b", Ok(()))];
        every_claim_can_fail(&true, claims, &[("a", |of| *of = false)]);
    }

    #[test]
    #[should_panic(expected = "a: the wrong numbers do not turn it")]
    fn a_claim_that_no_numbers_turn_is_refused() {
        every_claim_can_fail(&true, |_| vec![Claim::shape("a", Ok(()))], &[("a", |of| *of = false)]);
    }
}
