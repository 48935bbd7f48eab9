//! `hedgerow federation`: custodians who compute together.

use std::process::ExitCode;

use hedgerow_smc::lop::{self, Exposure, Setting};
use hedgerow_table::TableError;
use serde_json::{Value, json};

use super::{print, print_json, short};
use crate::args::{Federation, FederationWhat, Lop, Talk};
use crate::failure::Failure;

/// Masked vectors are as long as the domain: in so many words, all runs together, there are claims enough.
const MASKED_WORDS_MAX: u64 = 200_000;

pub(crate) fn run(arguments: &Federation, talk: &Talk) -> Result<ExitCode, Failure> {
    let FederationWhat::Lop(lop) = &arguments.what;
    if lop.items > lop.domain {
        let problem = format!("{} items, but the domain has only {}", lop.items, lop.domain);
        return Err(TableError::input("--items", problem, "name fewer items, or a larger --domain").into());
    }
    let setting = Setting { custodians: lop.custodians, domain: lop.domain, items: lop.items };
    let refused = |fault: hedgerow_smc::Fault| {
        TableError::input("federation lop", fault.to_string(), "try fewer custodians, items or made-up items")
    };
    let ring = lop::measure_ring(setting, lop.made_up, lop.runs, lop.seed).map_err(refused)?;
    let masked_runs = u64::from(lop.runs).min((MASKED_WORDS_MAX / lop.domain).max(2)) as u32;
    let masked = lop::measure_masked(setting, masked_runs, lop.seed).map_err(refused)?;
    if talk.json {
        print_json(&as_json(lop, setting, &ring, &masked))?;
    } else {
        print(&as_text(lop, setting, &ring, &masked))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(lop: &Lop, setting: Setting, ring: &Exposure, masked: &Exposure) -> Value {
    let exposure = |exposure: &Exposure| {
        json!({
            "set": exposure.set_expected,
            "set-of-leader": exposure.set_of_leader,
            "item": exposure.item_expected,
            "item-of-leader": exposure.item_of_leader,
            "runs": exposure.runs,
        })
    };
    let mut value = json!({
        "custodians": lop.custodians, "domain": lop.domain, "items": lop.items, "made-up": lop.made_up,
        "bounds": {
            "set": setting.set_exposure(lop.made_up),
            "set-of-leader": setting.set_exposure_of_leader(lop.made_up),
            "item-of-leader": setting.item_exposure_of_leader(lop.made_up),
        },
        "measured": { "baseline": exposure(ring), "masked": exposure(masked) },
    });
    if let Some(wanted) = lop.wanted {
        value["wanted"] = json!({
            "loss": wanted,
            "made-up-for-set": setting.made_up_for_set_exposure(wanted),
            "made-up-for-item-of-leader": setting.made_up_for_item_exposure(wanted),
        });
    }
    value
}

fn as_text(lop: &Lop, setting: Setting, ring: &Exposure, masked: &Exposure) -> String {
    let Lop { custodians, domain, items, made_up, .. } = lop;
    let bound = |value: f64| if value > 1.0 { "none".to_owned() } else { short(value) };
    let rows = [
        ("all of a neighbor's items", bound(setting.set_exposure(*made_up)), ring.set_expected, masked.set_expected),
        (
            "  the neighbor is known to lead",
            bound(setting.set_exposure_of_leader(*made_up)),
            ring.set_of_leader,
            masked.set_of_leader,
        ),
        ("one of a neighbor's items", String::new(), ring.item_expected, masked.item_expected),
        (
            "  the neighbor is known to lead",
            bound(setting.item_exposure_of_leader(*made_up)),
            ring.item_of_leader,
            masked.item_of_leader,
        ),
    ];
    let mut text = format!(
        "{custodians} custodians hold {items} items out of {domain}; in the ring a leader adds {made_up} made-up ones\n\
         loss of privacy: how much surer a custodian can be than from the result alone (0 is none, 1 is certainty)\n\n\
         {:34} {:>9} {:>9} {:>9}\n",
        "", "bound", "ring", "masked"
    );
    for (name, bound, ring, masked) in rows {
        text.push_str(&format!("{name:34} {bound:>9} {ring:>9.4} {masked:>9.4}\n"));
    }
    text.push_str(&format!("\nmeasured in {} runs of the ring and {} under masks\n", ring.runs, masked.runs));
    if let Some(wanted) = lop.wanted {
        let number = |made_up: Option<u64>| made_up.map_or("no number".to_owned(), |made_up| made_up.to_string());
        text.push_str(&format!(
            "for a loss of at most {}: {} made-up items hide all of a neighbor's items, {} hide one of a leader's\n",
            short(wanted),
            number(setting.made_up_for_set_exposure(wanted)),
            number(setting.made_up_for_item_exposure(wanted)),
        ));
    }
    text
}
