//! Wrong numbers: what an experiment measured is changed for one claim after the other, and the
//! outcome of that claim must change with it. A check that no numbers can make fail is none.

use crate::claim::Claim;
use crate::experiment::Scale;

/// The beginning of a claim, and a change of the numbers that turns its outcome.
pub(crate) type Wrong<M> = (&'static str, fn(&mut M));

/// `right` are numbers of which every claim is as stated; `wrong` has one row for each claim.
pub(crate) fn every_claim_can_fail<M: Clone>(right: &M, claims: impl Fn(&M) -> Vec<Claim>, wrong: &[Wrong<M>]) {
    let before = claims(right);
    for claim in &before {
        let says = &claim.says;
        assert!(claim.is_as_stated(Scale::Full), "{says}: {}", claim.verdict(Scale::Full));
        let rows = wrong.iter().filter(|(beginning, _)| says.starts_with(beginning)).count();
        assert_eq!(rows, 1, "wrong numbers for: {says}");
    }
    for (beginning, change) in wrong {
        let mut changed = right.clone();
        change(&mut changed);
        let place = before.iter().position(|claim| claim.says.starts_with(beginning)).expect(beginning);
        let after = &claims(&changed)[place];
        let turned = after.outcome().is_ok() != before[place].outcome().is_ok();
        assert!(turned, "{beginning}: the wrong numbers do not turn it: {:?}", after.outcome());
    }
}
