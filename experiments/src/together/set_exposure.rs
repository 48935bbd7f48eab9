//! Figures 11 to 14: set exposure in the union of the ring, over the number of dummy items and of
//! custodians, for any custodian and for the leader's successor.

use hedgerow_report::pictures::{Cell, Series};
use hedgerow_smc::lop::{Exposure, measure_ring};

use super::{TABLE_1, chance, picture, simulated};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::shape::{Outcome, all, falls, never_above, prints};

const DUMMY_ITEMS: [u64; 6] = [0, 50, 100, 200, 300, 400];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// What does not vary.
const FIXED_DUMMY_ITEMS: u64 = 100;

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let runs = scale.of(50, 20);
    let mut table =
        numbers(["custodians", "dummy items", "bound", "measured", "bound, worst case", "measured, worst case"]);
    let series = || ["bound", "measured"].map(|name| Series { name: name.to_owned(), points: Vec::new() });
    let [mut by_items, mut by_custodians, mut worst_by_items, mut worst_by_custodians] = [(); 4].map(|()| series());
    let points = scale.of(&DUMMY_ITEMS[..], &[0, 100, 400]).iter().map(|&items| (TABLE_1.custodians, items, true));
    let custodians = scale.of(&CUSTODIANS[..], &[5, 20]);
    let more = custodians.iter().map(|&custodians| (custodians, FIXED_DUMMY_ITEMS, false));
    let mut within = Vec::new();
    for (custodians, items, varies_items) in points.chain(more) {
        let setting = simulated(scale, custodians);
        let Exposure { set_expected, set_of_leader, .. } = measure_ring(setting, items / scale.of(1, 10), runs, items)?;
        let scaled = items / scale.of(1, 10);
        let [bound, worst] = [setting.set_exposure(scaled), setting.set_exposure_of_leader(scaled)];
        let measured = [custodians as f64, items as f64, bound, set_expected, worst, set_of_leader];
        table.rows.push(measured.map(Cell::Number).to_vec());
        within.push(under(set_expected, bound, runs));
        within.push(under(set_of_leader, worst, runs));
        let (x, curves, worst_curves) = match varies_items {
            true => (items as f64, &mut by_items, &mut worst_by_items),
            false => (custodians as f64, &mut by_custodians, &mut worst_by_custodians),
        };
        curves.iter_mut().zip([bound, set_expected]).for_each(|(curve, y)| curve.points.push((x, y)));
        worst_curves.iter_mut().zip([worst, set_of_leader]).for_each(|(curve, y)| curve.points.push((x, y)));
    }
    let fewer = |measured: &Series| falls(measured, 1.0);
    let claims = vec![
        Claim::value("the bound is 0.0526, 0.0203 and 0.0078 for 0, 100 and 200 dummy items", printed()),
        Claim::value("0.02, 0.01 and 0.005 need 102, 174 and 247 dummy items (equation 9)", needed()),
        Claim::shape("what is measured lies under the bound, but for chance", all(within)),
        Claim::shape("more dummy items lower it", all([fewer(&by_items[1]), fewer(&worst_by_items[1])])),
        Claim::shape("more custodians lower it", fewer(&by_custodians[1])),
        Claim::shape("more custodians lower the worst case", falls(&worst_by_custodians[0], 1.0)).stated_not_to_hold(),
        Claim::shape(
            "the worst case is above the average case",
            all([
                never_above(&by_items[1], &worst_by_items[1]),
                never_above(&by_custodians[1], &worst_by_custodians[1]),
            ]),
        ),
    ];
    let pictures = vec![
        picture("Figure 11: set exposure", "dummy items", &by_items),
        picture("Figure 12: set exposure", "custodians", &by_custodians),
        picture("Figure 13: set exposure of the leader", "dummy items", &worst_by_items),
        picture("Figure 14: set exposure of the leader", "custodians", &worst_by_custodians),
    ];
    let setting = format!(
        "{} of {} items in {} runs for each point; dummy items as for the paper's 1000 of 100000; 20 custodians or {FIXED_DUMMY_ITEMS} \
         dummy items where these do not vary.",
        simulated(scale, 20).items,
        simulated(scale, 20).domain,
        runs
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

fn under(measured: f64, bound: f64, runs: u32) -> Outcome {
    if measured <= bound + chance(bound, runs) {
        Ok(())
    } else {
        Err(format!("{measured:.4} and the bound {bound:.4}"))
    }
}

fn printed() -> Outcome {
    let values = [(0, 0.0526), (100, 0.0203), (200, 0.0078)];
    all(values.map(|(items, value)| prints(&format!("for {items}, it"), TABLE_1.set_exposure(items), value, 4)))
}

fn needed() -> Outcome {
    let values = [(0.02, 102.0), (0.01, 174.0), (0.005, 247.0)];
    all(values.map(|(wanted, items)| {
        let found = TABLE_1.dummy_items_for_set_exposure(wanted).map_or(f64::NAN, |items| items as f64);
        prints(&format!("for {wanted}, their number"), found, items, 0)
    }))
}
