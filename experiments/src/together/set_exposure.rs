//! Figures 11 to 14: set exposure in the union of the ring, over the number of dummy items and of
//! custodians, for any custodian and for the leader's successor.
//!
//! The bounds depend on the share of the domain that is held and on the number of dummy items, so a
//! quick run takes a tenth of domain and items and as many dummy items.

use hedgerow_report::pictures::{Cell, Series};
use hedgerow_smc::lop::Setting;

use super::{TABLE_1, measured as simulate, picture, simulated};
use crate::claim::{Claim, Outcome};
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample, below, never_above};
use crate::shape::{all, prints};

const DUMMY_ITEMS: [u64; 6] = [0, 50, 100, 200, 300, 400];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// What does not vary.
const FIXED_DUMMY_ITEMS: u64 = 100;

/// A bound, and what was measured.
#[derive(Debug, Clone)]
struct Pair {
    bound: Curve,
    measured: Curve,
}

impl Pair {
    fn new() -> Pair {
        Pair { bound: Curve::new("bound"), measured: Curve::new("measured") }
    }

    fn push(&mut self, x: u64, bound: f64, measured: Sample) {
        self.bound.push(x as f64, Sample::exact(bound));
        self.measured.push(x as f64, measured);
    }

    fn series(&self) -> [Series; 2] {
        [self.bound.series(), self.measured.series()]
    }
}

#[derive(Debug, Clone)]
struct Measured {
    by_items: Pair,
    by_custodians: Pair,
    worst_by_items: Pair,
    worst_by_custodians: Pair,
    /// The bound in the paper's setting for 0, 100 and 200 dummy items.
    bounds: [f64; 3],
    /// The items that 0.02, 0.01 and 0.005 need there.
    needed: [f64; 3],
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let runs = scale.of(1000, 60);
    let mut table = numbers([
        "custodians",
        "dummy items",
        "bound",
        "measured",
        "±",
        "bound, worst case",
        "measured, worst case",
        "± worst case",
    ]);
    let [by_items, by_custodians, worst_by_items, worst_by_custodians] = [(); 4].map(|()| Pair::new());
    let bounds = [0, 100, 200].map(|items| TABLE_1.set_exposure(items));
    let needed = [0.02, 0.01, 0.005];
    let needed =
        needed.map(|wanted| TABLE_1.dummy_items_for_set_exposure(wanted).map_or(f64::NAN, |items| items as f64));
    let mut measured = Measured { by_items, by_custodians, worst_by_items, worst_by_custodians, bounds, needed };
    let points = scale.of(&DUMMY_ITEMS[..], &[0, 100, 400]).iter().map(|&items| (TABLE_1.custodians, items, true));
    let custodians = scale.of(&CUSTODIANS[..], &[5, 40]);
    let more = custodians.iter().map(|&custodians| (custodians, FIXED_DUMMY_ITEMS, false));
    for (custodians, items, varies_items) in points.chain(more) {
        let setting = simulated(scale, custodians);
        let exposures = simulate(setting, items, runs)?;
        let expected = Sample::of(&exposures.iter().map(|one| one.set_expected).collect::<Vec<_>>());
        let leader = Sample::of(&exposures.iter().map(|one| one.set_of_leader).collect::<Vec<_>>());
        let [bound, worst] = [setting.set_exposure(items), setting.set_exposure_of_leader(items)];
        let row = [custodians as f64, items as f64, bound, expected.mean(), expected.error()];
        let row = row.into_iter().chain([worst, leader.mean(), leader.error()]);
        table.rows.push(row.map(Cell::Number).collect());
        let (x, pair, worst_pair) = match varies_items {
            true => (items, &mut measured.by_items, &mut measured.worst_by_items),
            false => (custodians, &mut measured.by_custodians, &mut measured.worst_by_custodians),
        };
        pair.push(x, bound, expected);
        worst_pair.push(x, worst, leader);
    }
    let pictures = vec![
        picture("Figure 11: set exposure", "dummy items", &measured.by_items.series()),
        picture("Figure 12: set exposure", "custodians", &measured.by_custodians.series()),
        picture("Figure 13: set exposure of the leader", "dummy items", &measured.worst_by_items.series()),
        picture("Figure 14: set exposure of the leader", "custodians", &measured.worst_by_custodians.series()),
    ];
    let Setting { items, domain, .. } = simulated(scale, TABLE_1.custodians);
    let setting = format!(
        "Simulated as in the paper: {items} random items of {domain}, {runs} runs for each point; {} custodians or {FIXED_DUMMY_ITEMS} \
         dummy items where these do not vary.",
        TABLE_1.custodians
    );
    Ok(Findings { setting, numbers: table, pictures, claims: claims(&measured) })
}

fn claims(measured: &Measured) -> Vec<Claim> {
    let Measured { by_items, by_custodians, worst_by_items, worst_by_custodians, bounds, needed } = measured;
    let printed = |found: &[f64; 3], values: [f64; 3], places: i32| {
        all(found.iter().zip(values).map(|(&found, value)| prints("it", found, value, places)))
    };
    let pairs = [by_items, by_custodians, worst_by_items, worst_by_custodians];
    let at = FIXED_DUMMY_ITEMS as f64;
    vec![
        Claim::printed("the bound is 0.05 without dummy items", prints("it", bounds[0], 0.05, 2)),
        Claim::printed(
            "the bound is 0.0526, 0.0203 and 0.0078 for 0, 100 and 200 dummy items",
            printed(bounds, [0.0526, 0.0203, 0.0078], 4),
        ),
        Claim::printed(
            "0.02, 0.01 and 0.005 need 102, 174 and 247 dummy items (equation 9)",
            printed(needed, [102.0, 174.0, 247.0], 0),
        ),
        Claim::shape(
            "what is measured is below 0.02 from 100 dummy items on",
            by_items.measured.from(at).at_most(0.02),
        ),
        Claim::shape(
            "what is measured lies under the bound",
            all(pairs.iter().map(|pair| never_above(&pair.measured, &pair.bound))),
        ),
        Claim::shape(
            "more dummy items lower it, on average and in the worst case",
            all([by_items.measured.falls(), worst_by_items.measured.falls()]),
        ),
        Claim::shape("more custodians lower it", by_custodians.measured.falls()),
        Claim::shape("more custodians lower the bound of the worst case", worst_by_custodians.bound.falls()),
        Claim::shape(
            "they do so significantly: by more than a factor of 1.5 from 5 to 40",
            significantly(&worst_by_custodians.bound),
        )
        .at_any_size()
        .stated_not_to_hold(),
        Claim::shape(
            "the worst case is above the average case",
            all([
                below(&by_items.measured, &worst_by_items.measured),
                below(&by_custodians.measured, &worst_by_custodians.measured),
            ]),
        ),
    ]
}

/// However many custodians there are, those who are not the leader hold at most all items.
fn significantly(bound: &Curve) -> Outcome {
    match bound.barely_varies() {
        Err(_) => bound.falls(),
        Ok(()) => {
            let of = |place: Option<&(f64, Sample)>| place.map_or(f64::NAN, |(_, sample)| sample.mean());
            let [few, many] = [of(bound.points.first()), of(bound.points.last())];
            Err(format!("the bound is {few:.3} with 5 and {many:.3} with 40"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrong::every_claim_can_fail;

    fn pair(height: f64) -> Pair {
        let curve = |height: f64| Curve::exact("c", &[(5.0, height), (100.0, height * 0.9), (200.0, height * 0.8)]);
        Pair { bound: curve(height), measured: curve(height * 0.9) }
    }

    #[test]
    fn every_claim_fails_on_wrong_numbers() {
        let right = Measured {
            by_items: pair(0.02),
            by_custodians: pair(0.02),
            worst_by_items: pair(0.4),
            worst_by_custodians: pair(0.4),
            bounds: [0.0526, 0.0203, 0.0078],
            needed: [102.0, 174.0, 247.0],
        };
        every_claim_can_fail(
            &right,
            claims,
            &[
                ("the bound is 0.05 ", |of| of.bounds[0] = 0.056),
                ("the bound is 0.0526", |of| of.bounds[1] = 0.0204),
                ("0.02, 0.01", |of| of.needed[2] = 248.0),
                ("what is measured is below", |of| of.by_items.measured.points[1].1 = Sample::exact(0.021)),
                ("what is measured lies", |of| of.worst_by_items.measured.points[0].1 = Sample::exact(0.5)),
                ("more dummy items", |of| of.worst_by_items.measured.points[2].1 = Sample::exact(0.4)),
                ("more custodians lower it", |of| of.by_custodians.measured.points[1].1 = Sample::exact(0.1)),
                ("more custodians lower the bound", |of| of.worst_by_custodians.bound.points[1].1 = Sample::exact(0.9)),
                ("they do so", |of| of.worst_by_custodians.bound.points[2].1 = Sample::exact(0.1)),
                ("the worst case", |of| of.by_items.measured.points[0].1 = Sample::exact(0.9)),
            ],
        );
    }
}
