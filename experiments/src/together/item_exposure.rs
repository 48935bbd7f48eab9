//! Figures 15 and 16: item exposure of the leader in the union of the ring, over the number of
//! dummy items and of custodians; and the expected item exposure, which equation 8 says is 0.

use hedgerow_report::pictures::{Cell, Series};

use super::{TABLE_1, measured, picture, simulated};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::{Outcome, all, never_above, prints};

const DUMMY_ITEMS: [u64; 4] = [5000, 10_000, 20_000, 50_000];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// What does not vary.
const FIXED_DUMMY_ITEMS: u64 = 10_000;

/// "Around half of the bound", as shares of it.
const HALF: [f64; 2] = [0.25, 0.75];

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let runs = scale.of(20, 10);
    let mut table =
        numbers(["custodians", "dummy items", "bound, worst case", "measured, worst case", "±", "measured, expected"]);
    let curves = || [Curve::new("bound"), Curve::new("measured")];
    let [mut by_items, mut by_custodians] = [curves(), curves()];
    let points = scale.of(&DUMMY_ITEMS[..], &[10_000, 50_000]).iter().map(|&items| (TABLE_1.custodians, items, true));
    let custodians = scale.of(&CUSTODIANS[..], &[5, 40]);
    let more = custodians.iter().map(|&custodians| (custodians, FIXED_DUMMY_ITEMS, false));
    let mut most_expected: f64 = 0.0;
    for (custodians, items, varies_items) in points.chain(more) {
        let setting = simulated(scale, custodians);
        // The bound depends on the share of the domain that dummy items are.
        let scaled = items / scale.of(1, 10);
        let exposures = measured(setting, scaled, runs)?;
        let leader = Sample::of(&exposures.iter().map(|one| one.item_of_leader).collect::<Vec<_>>());
        let expected = Sample::of(&exposures.iter().map(|one| one.item_expected).collect::<Vec<_>>());
        let bound = Sample { mean: setting.item_exposure_of_leader(scaled), error: 0.0 };
        let row = [custodians as f64, items as f64, bound.mean, leader.mean, leader.error, expected.mean];
        table.rows.push(row.map(Cell::Number).to_vec());
        most_expected = most_expected.max(expected.mean);
        let (x, curves) = match varies_items {
            true => (items as f64, &mut by_items),
            false => (custodians as f64, &mut by_custodians),
        };
        curves.iter_mut().zip([bound, leader]).for_each(|(curve, sample)| curve.points.push((x, sample)));
    }
    let fewer = all([by_items[1].falls(), by_items[0].falls()]);
    let more = all([by_custodians[1].falls(), by_custodians[0].falls()]);
    let [by_items, by_custodians] = [by_items, by_custodians].map(|curves| curves.map(|curve| curve.series()));
    let claims = vec![
        Claim::value("the bound is 0.637, 0.364 and 0.138 for 10, 20 and 50 thousand dummy items", printed()),
        Claim::value("0.5 and 0.2 need 13785 and 36404 dummy items (equation 10)", needed()),
        Claim::shape(
            "what is measured lies under the bound",
            all([never_above(&by_items[1], &by_items[0]), never_above(&by_custodians[1], &by_custodians[0])]),
        ),
        Claim::shape("what is measured is around half of the bound: from a quarter to three quarters", half(&by_items)),
        Claim::shape("more dummy items lower the bound and what is measured", fewer),
        Claim::shape("more custodians lower the bound and what is measured", more),
        Claim::value("the expected item exposure is 0 (equation 8)", prints("it", most_expected, 0.0, 3))
            .stated_not_to_hold(),
    ];
    let pictures = vec![
        picture("Figure 15: item exposure of the leader", "dummy items", &by_items),
        picture("Figure 16: item exposure of the leader", "custodians", &by_custodians),
    ];
    let setting = format!(
        "{} of {} items in {runs} runs for each point; dummy items as for the paper's 1000 of 100000; 20 custodians or \
         {FIXED_DUMMY_ITEMS} dummy items where these do not vary.",
        simulated(scale, 20).items,
        simulated(scale, 20).domain,
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn half([bound, measured]: &[Series; 2]) -> Outcome {
    for (&(items, bound), &(_, measured)) in bound.points.iter().zip(&measured.points) {
        let share = measured / bound;
        // A bound of 1 or more says nothing.
        if bound < 1.0 && !(HALF[0]..=HALF[1]).contains(&share) {
            return Err(format!("{share:.2} of it with {items} dummy items"));
        }
    }
    Ok(())
}

fn printed() -> Outcome {
    let values = [(10_000, 0.637), (20_000, 0.364), (50_000, 0.138)];
    all(values
        .map(|(items, value)| prints(&format!("for {items}, it"), TABLE_1.item_exposure_of_leader(items), value, 3)))
}

fn needed() -> Outcome {
    let values = [(0.5, 13_785.0), (0.2, 36_404.0)];
    all(values.map(|(wanted, items)| {
        let found = TABLE_1.dummy_items_for_item_exposure(wanted).map_or(f64::NAN, |items| items as f64);
        prints(&format!("for {wanted}, their number"), found, items, 0)
    }))
}
