//! Figures 15 and 16: item exposure of the leader in the union of the ring, over the number of
//! dummy items and of custodians; and the expected item exposure, which equation 8 says is 0. It is
//! that of a successor who claims one of the items that it was passed and knows nothing of its
//! place: a claim that is right less often than a guess lowers the mean.

use hedgerow_report::pictures::NumberCell;

use super::{TABLE_1, measured as simulate, picture, simulated};
use crate::claim::{Claim, ClaimOutcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, HALF, Sample, never_above};
use crate::shape::{all, prints};

const DUMMY_ITEMS: [u64; 4] = [5000, 10_000, 20_000, 50_000];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// Up to here what is measured is around half of the bound, and from there on less.
const AROUND_HALF_MAX: f64 = 20_000.0;
const LESS_THAN_HALF_FROM: f64 = 50_000.0;

/// The fixed parameters.
const FIXED_DUMMY_ITEMS: u64 = 10_000;

/// Curves are the bound and what was measured.
#[derive(Debug, Clone)]
struct Measured {
    by_items: [Curve; 2],
    by_custodians: [Curve; 2],
    /// Over all positions, by custodians and dummy items in turn.
    expected: Curve,
    /// The bound in the paper's setting for 10, 20 and 50 thousand dummy items.
    bounds: [f64; 3],
    /// The items that 0.5 and 0.2 need there.
    needed: [f64; 2],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let runs = scale.of(20, 10);
    let mut table =
        numbers(["custodians", "dummy items", "bound, worst case", "measured, worst case", "±", "measured, expected"]);
    let curves = || [Curve::new("bound"), Curve::new("measured")];
    let bounds = [10_000, 20_000, 50_000].map(|items| TABLE_1.item_exposure_of_leader(items));
    let needed =
        [0.5, 0.2].map(|wanted| TABLE_1.dummy_items_for_item_exposure(wanted).map_or(f64::NAN, |items| items as f64));
    let expected = Curve::new("the expected item exposure");
    let mut measured = Measured { by_items: curves(), by_custodians: curves(), expected, bounds, needed };
    let points = scale.of(&DUMMY_ITEMS[..], &[10_000, 50_000]).iter().map(|&items| (TABLE_1.custodians, items, true));
    let custodians = scale.of(&CUSTODIANS[..], &[5, 40]);
    let more = custodians.iter().map(|&custodians| (custodians, FIXED_DUMMY_ITEMS, false));
    for (custodians, items, varies_items) in points.chain(more) {
        let setting = simulated(scale, custodians);
        // The bound depends on the share of the domain that dummy items are.
        let scaled = items / scale.of(1, 10);
        let exposures = simulate(setting, scaled, runs)?;
        let leader = Sample::of(&exposures.iter().map(|one| one.item_of_leader).collect::<Vec<_>>());
        let expected = Sample::of(&exposures.iter().map(|one| one.item_claimed).collect::<Vec<_>>());
        let bound = Sample::exact(setting.item_exposure_of_leader(scaled));
        let row = [custodians as f64, items as f64, bound.mean(), leader.mean(), leader.error(), expected.mean()];
        table.rows.push(row.map(NumberCell::Number).to_vec());
        measured.expected.push(measured.expected.points.len() as f64, expected);
        let (x, curves) = match varies_items {
            true => (items as f64, &mut measured.by_items),
            false => (custodians as f64, &mut measured.by_custodians),
        };
        curves.iter_mut().zip([bound, leader]).for_each(|(curve, sample)| curve.push(x, sample));
    }
    let drawn = |curves: &[Curve; 2]| curves.each_ref().map(|curve| curve.series());
    let pictures = vec![
        picture("Figure 15: item exposure of the leader", "dummy items", &drawn(&measured.by_items)),
        picture("Figure 16: item exposure of the leader", "custodians", &drawn(&measured.by_custodians)),
    ];
    let setting = format!(
        "Simulated as in the paper: {} random items of {}, {runs} runs for each point; dummy items as for the paper's 1000 of 100000; 20 \
         custodians or {FIXED_DUMMY_ITEMS} dummy items where these do not vary.",
        simulated(scale, 20).items,
        simulated(scale, 20).domain,
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(Measured { by_items, by_custodians, expected, bounds, needed }: &Measured) -> Vec<Claim> {
    let under = |[bound, measured]: &[Curve; 2]| never_above(measured, bound);
    let lowered = |curves: &[Curve; 2]| all(curves.iter().map(Curve::falls));
    vec![
        Claim::ours(
            "equation 7 gives 0.637, 0.364 and 0.138 for 10, 20 and 50 thousand dummy items",
            all(bounds.iter().zip([0.637, 0.364, 0.138]).map(|(&found, value)| prints("it", found, value, 3))),
        )
        .at_any_size(),
        Claim::ours(
            "for 0.5 and 0.2 equation 10 gives 13785 and 36404 dummy items",
            all(needed.iter().zip([13_785.0, 36_404.0]).map(|(&found, value)| prints("their number", found, value, 0))),
        )
        .at_any_size(),
        Claim::shape("what is measured lies under the bound", all([under(by_items), under(by_custodians)])),
        // The paper gives no range of its figure 15. Both sides have 1/(n − 1) taken off, which is
        // the larger part of what many dummy items leave.
        Claim::shape(
            "what is measured is around half of the bound, from 0.4 to 0.6 of it, up to 20 % of the domain as dummy items",
            half(&by_items.each_ref().map(|curve| curve.up_to(AROUND_HALF_MAX))),
        ),
        Claim::ours(
            "with half of the domain as dummy items it is less than that",
            less(&by_items.each_ref().map(|curve| curve.from(LESS_THAN_HALF_FROM))),
        ),
        Claim::shape("more dummy items lower the bound and what is measured", lowered(by_items)),
        Claim::shape("more custodians lower the bound and what is measured", lowered(by_custodians)),
        Claim::shape("the expected item exposure is 0 (equation 8)", expected.at_most(0.0))
            .at_any_size()
            .stated_not_to_hold(),
    ]
}

/// The measured share of the bound, by dummy items. A bound of 1 or more says nothing.
fn shares([bound, measured]: &[Curve; 2]) -> impl Iterator<Item = (f64, f64)> {
    let pairs = bound.points.iter().zip(&measured.points).filter(|((_, bound), _)| bound.mean() < 1.0);
    pairs.map(|((items, bound), (_, measured))| (*items, measured.mean() / bound.mean()))
}

fn half(curves: &[Curve; 2]) -> ClaimOutcome {
    all(shares(curves).map(|(items, share)| {
        let is_half = (HALF[0]..=HALF[1]).contains(&share);
        if is_half { Ok(()) } else { Err(format!("{share:.2} of it with {items} dummy items")) }
    }))
}

fn less(curves: &[Curve; 2]) -> ClaimOutcome {
    all(shares(curves).map(|(items, share)| {
        if share < HALF[0] { Ok(()) } else { Err(format!("{share:.2} of it with {items} dummy items")) }
    }))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        turned();
    }

    pub(in crate::together) fn turned() -> Vec<String> {
        let curve = |name: &str, few: f64, many: f64| Curve::exact(name, &[(10_000.0, few), (50_000.0, many)]);
        let right = Measured {
            by_items: [curve("bound", 0.6, 0.15), curve("measured", 0.3, 0.05)],
            by_custodians: [curve("bound", 0.6, 0.5), curve("measured", 0.3, 0.2)],
            expected: curve("expected", 0.2, 0.1),
            bounds: [0.637, 0.364, 0.138],
            needed: [13_785.0, 36_404.0],
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("equation 7", |of| of.bounds[0] = 0.638),
                ("for 0.5 and 0.2", |of| of.needed[1] = 36_405.0),
                ("what is measured lies", |of| of.by_items[1].points[0].1 = Sample::exact(0.7)),
                ("what is measured is around", |of| of.by_items[1].points[0].1 = Sample::exact(0.2)),
                ("with half of the domain", |of| of.by_items[1].points[1].1 = Sample::exact(0.07)),
                ("more dummy items", |of| of.by_items[1].points[1].1 = Sample::exact(0.3)),
                ("more custodians", |of| of.by_custodians[0].points[1].1 = Sample::exact(0.7)),
                ("the expected item", |of| of.expected = Curve::exact("c", &[(1.0, 0.0)])),
            ],
        )
    }
}
