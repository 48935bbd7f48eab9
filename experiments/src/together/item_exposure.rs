//! Figures 15 and 16: item exposure of the leader in the union of the ring, over the number of
//! dummy items and of custodians; and the expected item exposure, which equation 8 says is 0.

use hedgerow_report::pictures::Cell;

use super::{TABLE_1, measured as simulate, picture, simulated};
use crate::claim::{Claim, Outcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, HALF, Sample, never_above};
use crate::shape::{all, prints};

const DUMMY_ITEMS: [u64; 4] = [5000, 10_000, 20_000, 50_000];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// What does not vary.
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
        let expected = Sample::of(&exposures.iter().map(|one| one.item_expected).collect::<Vec<_>>());
        let bound = Sample::exact(setting.item_exposure_of_leader(scaled));
        let row = [custodians as f64, items as f64, bound.mean(), leader.mean(), leader.error(), expected.mean()];
        table.rows.push(row.map(Cell::Number).to_vec());
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
        Claim::printed(
            "the bound is 0.637, 0.364 and 0.138 for 10, 20 and 50 thousand dummy items",
            all(bounds.iter().zip([0.637, 0.364, 0.138]).map(|(&found, value)| prints("it", found, value, 3))),
        ),
        Claim::printed(
            "0.5 and 0.2 need 13785 and 36404 dummy items (equation 10)",
            all(needed.iter().zip([13_785.0, 36_404.0]).map(|(&found, value)| prints("their number", found, value, 0))),
        ),
        Claim::shape("what is measured lies under the bound", all([under(by_items), under(by_custodians)])),
        Claim::shape("what is measured is around half of the bound: from 0.4 to 0.6 of it", half(by_items))
            .stated_not_to_hold(),
        Claim::shape("more dummy items lower the bound and what is measured", lowered(by_items)),
        Claim::shape("more custodians lower the bound and what is measured", lowered(by_custodians)),
        Claim::shape("the expected item exposure is 0 (equation 8)", expected.at_most(0.0))
            .at_any_size()
            .stated_not_to_hold(),
    ]
}

fn half([bound, measured]: &[Curve; 2]) -> Outcome {
    let pairs = bound.points.iter().zip(&measured.points);
    // A bound of 1 or more says nothing.
    let outcomes = pairs.filter(|((_, bound), _)| bound.mean() < 1.0).map(|((items, bound), (_, measured))| {
        let share = measured.mean() / bound.mean();
        let is_half = (HALF[0]..=HALF[1]).contains(&share);
        if is_half { Ok(()) } else { Err(format!("{share:.2} of it with {items} dummy items")) }
    });
    all(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        let curve = |height: f64| Curve::exact("c", &[(1.0, height), (2.0, height / 2.0)]);
        let right = Measured {
            by_items: [0.6, 0.2].map(curve),
            by_custodians: [0.6, 0.3].map(curve),
            expected: curve(0.2),
            bounds: [0.637, 0.364, 0.138],
            needed: [13_785.0, 36_404.0],
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("the bound is 0.637", |of| of.bounds[0] = 0.638),
                ("0.5 and 0.2", |of| of.needed[1] = 36_405.0),
                ("what is measured lies", |of| of.by_items[1].points[0].1 = Sample::exact(0.7)),
                ("what is measured is around", |of| of.by_items[1] = Curve::exact("c", &[(1.0, 0.3), (2.0, 0.15)])),
                ("more dummy items", |of| of.by_items[1].points[1].1 = Sample::exact(0.2)),
                ("more custodians", |of| of.by_custodians[0].points[1].1 = Sample::exact(0.7)),
                ("the expected item", |of| of.expected = Curve::exact("c", &[(1.0, 0.0)])),
            ],
        );
    }
}
