//! `hedgerow federation lop`: what custodians would learn about each other.

use std::process::ExitCode;

use hedgerow::federation::Fault;
use hedgerow::federation::lop::{self, By, Chances, Exposure, LopSetting, LopValues, ValueExposure};
use serde::Serialize;

use super::{print, print_json, short};
use crate::args::{Lop, LopOf, Talk};
use crate::failure::Failure;

/// The most words in all runs together. Masked vectors are as long as the domain; this many words
/// contain enough claims.
const MASKED_WORDS_MAX: u64 = 200_000;

/// The most messages under masks in all runs together, each custodian sending to each other about
/// as often as a value has binary digits.
const MASKED_MESSAGES_MAX: u64 = 400_000;

pub(super) fn measure(lop: &Lop, talk: &Talk) -> Result<ExitCode, Failure> {
    let values = match lop.of {
        LopOf::Union => return measure_union(lop, talk),
        LopOf::Sum => LopValues::Sum,
        LopOf::Median => LopValues::Median,
        LopOf::Least => LopValues::Least,
        LopOf::Greatest => LopValues::Greatest,
    };
    let setting = LopSetting { custodians: lop.custodians, domain: lop.domain, items: lop.items };
    let refused = |fault: Fault| Failure::usage("federation lop", fault.to_string(), "try fewer custodians or values");
    let chances = Chances { p0: lop.hiding, d: lop.dampening, passes: lop.passes };
    let ring = lop::measure_values(values, By::Ring(chances), setting, lop.runs, lop.seed).map_err(refused)?;
    let messages = lop.custodians * lop.custodians * u64::from(2 + u64::BITS - lop.domain.leading_zeros());
    let masked_runs = u64::from(lop.runs).min(MASKED_MESSAGES_MAX / messages) as u32;
    let masked = match masked_runs {
        0 => None,
        runs => Some(lop::measure_values(values, By::Masks, setting, runs, lop.seed).map_err(refused)?),
    };
    if talk.json {
        print_json(&LossOfPrivacy::Values(ExposedValues {
            of: name_of(lop.of),
            custodians: lop.custodians,
            domain: lop.domain,
            items: if lop.of == LopOf::Sum { lop.custodians } else { lop.items },
            measured: MeasuredValues { baseline: ValueLoss::of(&ring), masked: masked.as_ref().map(ValueLoss::of) },
        }))?;
    } else {
        print(&values_as_text(lop, &ring, masked.as_ref()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn name_of(of: LopOf) -> &'static str {
    match of {
        LopOf::Union => "union",
        LopOf::Sum => "sum",
        LopOf::Median => "median",
        LopOf::Least => "least",
        LopOf::Greatest => "greatest",
    }
}

fn values_as_text(lop: &Lop, ring: &ValueExposure, masked: Option<&ValueExposure>) -> String {
    let Lop { custodians, domain, items, .. } = lop;
    let (what, claimed) = match lop.of {
        LopOf::Sum => (format!("sum one number each, below {domain}"), "a neighbor's number"),
        LopOf::Median => {
            (format!("look for the median of {items} values below {domain}"), "one of a neighbor's values")
        }
        LopOf::Least => (format!("look for the least of {items} values below {domain}"), "a neighbor's least value"),
        _ => (format!("look for the greatest of {items} values below {domain}"), "a neighbor's greatest value"),
    };
    let mut text = format!(
        "{custodians} custodians {what}\n\
         loss of privacy: how much a custodian's confidence exceeds that from the result alone (0 is none, 1 is certainty)\n\n\
         {:34} {:>9} {:>9}\n",
        "", "ring", "masked"
    );
    let under_masks =
        |of: fn(&ValueExposure) -> f64| masked.map_or("-".to_owned(), |found| format!("{:.4}", of(found)));
    let lines = [
        (claimed, ring.alone, under_masks(|found| found.alone)),
        ("  both neighbors together", ring.neighbors, under_masks(|found| found.neighbors)),
    ];
    for (name, ring, masked) in lines {
        text.push_str(&format!("{name:34} {ring:>9.4} {masked:>9}\n"));
    }
    let masked_runs = masked.map_or(0, |found| found.runs);
    text.push_str(&format!(
        "\nmeasured in {} runs of the ring and {masked_runs} under masks, which have no neighbors: any two others\n",
        ring.runs
    ));
    text
}

fn measure_union(lop: &Lop, talk: &Talk) -> Result<ExitCode, Failure> {
    if lop.items > lop.domain {
        let problem = format!("{} items, but the domain has only {}", lop.items, lop.domain);
        return Err(Failure::usage("--items", problem, "name fewer items, or a larger --domain"));
    }
    let setting = LopSetting { custodians: lop.custodians, domain: lop.domain, items: lop.items };
    let refused = |fault: Fault| {
        Failure::usage("federation lop", fault.to_string(), "try fewer custodians, items or dummy items")
    };
    let ring = lop::measure_ring(setting, lop.dummy_items, lop.runs, lop.seed).map_err(refused)?;
    let masked_runs = u64::from(lop.runs).min((MASKED_WORDS_MAX / lop.domain).max(2)) as u32;
    let masked = lop::measure_masked(setting, masked_runs, lop.seed).map_err(refused)?;
    if talk.json {
        print_json(&LossOfPrivacy::Union(ExposedUnion::of(lop, setting, &ring, &masked)))?;
    } else {
        print(&as_text(lop, setting, &ring, &masked))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The output of the command.
#[derive(Serialize)]
#[serde(untagged)]
enum LossOfPrivacy {
    Union(ExposedUnion),
    Values(ExposedValues),
}

/// The loss of privacy of a sum, a median, or an extreme value.
#[derive(Serialize)]
struct ExposedValues {
    of: &'static str,
    custodians: u64,
    domain: u64,
    items: u64,
    measured: MeasuredValues,
}

#[derive(Serialize)]
struct MeasuredValues {
    baseline: ValueLoss,
    /// `None` where runs among this many custodians would take too long.
    masked: Option<ValueLoss>,
}

#[derive(Serialize)]
struct ValueLoss {
    /// To one neighbor.
    alone: f64,
    /// To both neighbors together.
    neighbors: f64,
    runs: u32,
}

impl ValueLoss {
    fn of(found: &ValueExposure) -> ValueLoss {
        ValueLoss { alone: found.alone, neighbors: found.neighbors, runs: found.runs }
    }
}

/// The loss of privacy of a union.
#[derive(Serialize)]
struct ExposedUnion {
    of: &'static str,
    custodians: u64,
    domain: u64,
    items: u64,
    dummy_items: u64,
    /// By formula. A bound above 1 bounds nothing.
    bounds: UnionBounds,
    /// By running the protocols.
    measured: MeasuredUnion,
    /// With `--wanted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<WantedLoss>,
}

#[derive(Serialize)]
struct UnionBounds {
    set: f64,
    set_of_leader: f64,
    item_of_leader: f64,
}

#[derive(Serialize)]
struct MeasuredUnion {
    baseline: UnionLoss,
    masked: UnionLoss,
}

#[derive(Serialize)]
struct UnionLoss {
    set: f64,
    set_of_leader: f64,
    item: f64,
    item_of_leader: f64,
    runs: u32,
}

/// How many dummy items keep the loss within a limit.
#[derive(Serialize)]
struct WantedLoss {
    loss: f64,
    /// `None` where no number suffices.
    dummy_items_for_set: Option<u64>,
    /// `None` where no number suffices.
    dummy_items_for_item_of_leader: Option<u64>,
}

impl ExposedUnion {
    fn of(lop: &Lop, setting: LopSetting, ring: &Exposure, masked: &Exposure) -> ExposedUnion {
        ExposedUnion {
            of: name_of(lop.of),
            custodians: lop.custodians,
            domain: lop.domain,
            items: lop.items,
            dummy_items: lop.dummy_items,
            bounds: UnionBounds {
                set: setting.set_exposure(lop.dummy_items),
                set_of_leader: setting.set_exposure_of_leader(lop.dummy_items),
                item_of_leader: setting.item_exposure_of_leader(lop.dummy_items),
            },
            measured: MeasuredUnion { baseline: UnionLoss::of(ring), masked: UnionLoss::of(masked) },
            wanted: lop.wanted.map(|loss| WantedLoss {
                loss,
                dummy_items_for_set: setting.dummy_items_for_set_exposure(loss),
                dummy_items_for_item_of_leader: setting.dummy_items_for_item_exposure(loss),
            }),
        }
    }
}

impl UnionLoss {
    fn of(found: &Exposure) -> UnionLoss {
        UnionLoss {
            set: found.set_expected,
            set_of_leader: found.set_of_leader,
            item: found.item_expected,
            item_of_leader: found.item_of_leader,
            runs: found.runs,
        }
    }
}

fn as_text(lop: &Lop, setting: LopSetting, ring: &Exposure, masked: &Exposure) -> String {
    let Lop { custodians, domain, items, dummy_items, .. } = lop;
    let bound = |value: f64| if value > 1.0 { "none".to_owned() } else { short(value) };
    let rows = [
        (
            "all of a neighbor's items",
            bound(setting.set_exposure(*dummy_items)),
            ring.set_expected,
            masked.set_expected,
        ),
        (
            "  the neighbor is known to lead",
            bound(setting.set_exposure_of_leader(*dummy_items)),
            ring.set_of_leader,
            masked.set_of_leader,
        ),
        ("one of a neighbor's items", String::new(), ring.item_expected, masked.item_expected),
        (
            "  the neighbor is known to lead",
            bound(setting.item_exposure_of_leader(*dummy_items)),
            ring.item_of_leader,
            masked.item_of_leader,
        ),
    ];
    let mut text = format!(
        "{custodians} custodians hold {items} items out of {domain}; in the ring a leader adds {dummy_items} dummy items\n\
         loss of privacy: how much a custodian's confidence exceeds that from the result alone (0 is none, 1 is certainty)\n\n\
         {:34} {:>9} {:>9} {:>9}\n",
        "", "bound", "ring", "masked"
    );
    for (name, bound, ring, masked) in rows {
        text.push_str(&format!("{name:34} {bound:>9} {ring:>9.4} {masked:>9.4}\n"));
    }
    text.push_str(&format!("\nmeasured in {} runs of the ring and {} under masks\n", ring.runs, masked.runs));
    if let Some(wanted) = lop.wanted {
        let number = |dummy_items: Option<u64>| {
            dummy_items.map_or("no number".to_owned(), |dummy_items| dummy_items.to_string())
        };
        text.push_str(&format!(
            "for a loss of at most {}: {} dummy items hide all of a neighbor's items, {} hide one of a leader's\n",
            short(wanted),
            number(setting.dummy_items_for_set_exposure(wanted)),
            number(setting.dummy_items_for_item_exposure(wanted)),
        ));
    }
    text
}
