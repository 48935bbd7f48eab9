//! Figures 11 to 14: set exposure in the union of the ring, over the number of dummy items and of
//! custodians, for any custodian and for the leader's successor.
//!
//! The bounds depend on the share of the domain that is held and on the number of dummy items, so a
//! quick run takes a tenth of domain and items and as many dummy items.

use hedgerow_report::pictures::{Cell, Series};
use hedgerow_smc::lop::Setting;

use super::{TABLE_1, measured, picture, simulated};
use crate::claim::Claim;
use crate::experiment::{Findings, Scale, Trouble, numbers};
use crate::sample::{Curve, Sample};
use crate::shape::{Outcome, all, falls, never_above, prints};

const DUMMY_ITEMS: [u64; 6] = [0, 50, 100, 200, 300, 400];
const CUSTODIANS: [u64; 5] = [5, 10, 20, 30, 40];

/// What does not vary.
const FIXED_DUMMY_ITEMS: u64 = 100;

/// A bound, and what was measured.
struct Pair {
    bound: Series,
    measured: Curve,
}

impl Pair {
    fn new() -> Pair {
        Pair { bound: Series { name: "bound".to_owned(), points: Vec::new() }, measured: Curve::new("measured") }
    }

    fn push(&mut self, x: u64, bound: f64, measured: Sample) {
        self.bound.points.push((x as f64, bound));
        self.measured.points.push((x as f64, measured));
    }

    fn series(&self) -> [Series; 2] {
        [self.bound.clone(), self.measured.series()]
    }
}

pub(super) fn run(scale: Scale) -> Result<Findings, Trouble> {
    let runs = scale.of(200, 60);
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
    let [mut by_items, mut by_custodians, mut worst_by_items, mut worst_by_custodians] = [(); 4].map(|()| Pair::new());
    let points = scale.of(&DUMMY_ITEMS[..], &[0, 100, 400]).iter().map(|&items| (TABLE_1.custodians, items, true));
    let custodians = scale.of(&CUSTODIANS[..], &[5, 40]);
    let more = custodians.iter().map(|&custodians| (custodians, FIXED_DUMMY_ITEMS, false));
    let mut within = Vec::new();
    for (custodians, items, varies_items) in points.chain(more) {
        let setting = simulated(scale, custodians);
        let exposures = measured(setting, items, runs)?;
        let expected = Sample::of(&exposures.iter().map(|one| one.set_expected).collect::<Vec<_>>());
        let leader = Sample::of(&exposures.iter().map(|one| one.set_of_leader).collect::<Vec<_>>());
        let [bound, worst] = [setting.set_exposure(items), setting.set_exposure_of_leader(items)];
        let row = [custodians as f64, items as f64, bound, expected.mean, expected.error];
        table
            .rows
            .push([&row[..], &[worst, leader.mean, leader.error]].concat().into_iter().map(Cell::Number).collect());
        within.push(under(leader.mean, worst, runs));
        within.push(under(expected.mean * (custodians - 1) as f64, worst, runs));
        let (x, pair, worst_pair) = match varies_items {
            true => (items, &mut by_items, &mut worst_by_items),
            false => (custodians, &mut by_custodians, &mut worst_by_custodians),
        };
        pair.push(x, bound, expected);
        worst_pair.push(x, worst, leader);
    }
    let above = |average: &Pair, worst: &Pair| never_above(&average.measured.series(), &worst.measured.series());
    let claims = vec![
        Claim::value("the bound is 0.0526, 0.0203 and 0.0078 for 0, 100 and 200 dummy items", printed()),
        Claim::value("0.02, 0.01 and 0.005 need 102, 174 and 247 dummy items (equation 9)", needed()),
        Claim::shape("what is measured lies under the bound, but for chance", all(within)),
        Claim::shape(
            "more dummy items lower it, on average and in the worst case",
            all([by_items.measured.falls(), worst_by_items.measured.falls()]),
        ),
        Claim::shape("more custodians lower it", by_custodians.measured.falls()),
        Claim::shape("more custodians lower the bound of the worst case", falls(&worst_by_custodians.bound, 0.0)),
        Claim::shape("they do so significantly: from 5 to 40 at least by half", halved()).stated_not_to_hold(),
        Claim::shape(
            "the worst case is above the average case",
            all([above(&by_items, &worst_by_items), above(&by_custodians, &worst_by_custodians)]),
        ),
    ];
    let pictures = vec![
        picture("Figure 11: set exposure", "dummy items", &by_items.series()),
        picture("Figure 12: set exposure", "custodians", &by_custodians.series()),
        picture("Figure 13: set exposure of the leader", "dummy items", &worst_by_items.series()),
        picture("Figure 14: set exposure of the leader", "custodians", &worst_by_custodians.series()),
    ];
    let Setting { items, domain, .. } = simulated(scale, TABLE_1.custodians);
    let setting = format!(
        "{items} of {domain} items in {runs} runs for each point; {} custodians or {FIXED_DUMMY_ITEMS} dummy items where these \
         do not vary.",
        TABLE_1.custodians
    );
    Ok(Findings { setting, numbers: table, pictures, claims })
}

/// The bound is nearly what happens, so a share of `runs` tries exceeds it by chance: three
/// standard
/// deviations.
fn under(measured: f64, bound: f64, runs: u32) -> Outcome {
    let chance = 3.0 * (bound * (1.0 - bound) / f64::from(runs)).sqrt() + 1e-9;
    if measured <= bound + chance { Ok(()) } else { Err(format!("{measured:.4} and the bound {bound:.4}")) }
}

/// However many custodians there are, those who are not the leader hold at most all items.
fn halved() -> Outcome {
    let worst = |custodians| Setting { custodians, ..TABLE_1 }.set_exposure_of_leader(FIXED_DUMMY_ITEMS);
    let [few, many] = [CUSTODIANS[0], CUSTODIANS[4]].map(worst);
    if many <= few / 2.0 { Ok(()) } else { Err(format!("the bound is {few:.3} with 5 and {many:.3} with 40")) }
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
