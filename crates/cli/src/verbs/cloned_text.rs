//! What cloning did, as its custodian reads it.

use hedgerow_publish::cloning::{CloneReport, RareValue};

use super::short;

/// Lines for the summary of `publish`.
pub(super) fn cloned_text(report: &CloneReport, protect: &str) -> String {
    let sizes = if report.smallest == report.largest {
        format!("of {} tuples", report.smallest)
    } else {
        format!("of {} to {} tuples", report.smallest, report.largest)
    };
    let mut text = format!(
        "told     by {} sub-classes {sizes}, {} among them\n",
        report.sub_classes,
        counted(report.counterfeits, "counterfeit", "counterfeits"),
    );
    text.push_str(&format!(
        "epsilon  {}: no share of `{protect}` in a class is further from its share in the source\n",
        short((report.epsilon * 1e6).ceil() / 1e6)
    ));
    if !report.rare.is_empty() {
        text.push_str(&rare(&report.rare, report));
    }
    let promise = &report.promise;
    text.push_str(&format!(
        "promise  beside releases that nobody can see: where `{protect}` is distributed as here (beta {}),\n         \
         finding somebody in both raises no confidence by more than theta {}\n",
        short(rounded_up(promise.beta)),
        short(rounded_up(promise.theta)),
    ));
    let at = [1.1, 1.5, 2.0].map(|beta| format!("beta {beta}: {}", short(rounded_up(promise.theta_at(beta)))));
    text.push_str(&format!("         with other distributions theta grows: {}\n", at.join("; ")));
    text.push_str(&format!("broken   by {}\n", promise.broken_by(protect)));
    text
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

fn rounded_up(value: f64) -> f64 {
    // What is a hair above a whole number is so by rounding.
    (value * 1e4 - 1e-6).ceil().max(0.0) / 1e4
}

/// Rare values are told to their custodian, by name: the decision is theirs.
fn rare(rare: &[RareValue], report: &CloneReport) -> String {
    const SHOWN_MAX: usize = 8;
    let left_out = rare.iter().any(|rare| rare.left_out);
    let rows: u64 = rare.iter().map(|rare| rare.rows).sum();
    let mut text = if left_out {
        format!(
            "rare     {} left out with {rows} rows, since without them there can be more classes:\n",
            values(rare.len())
        )
    } else {
        format!("rare     {} in {rows} rows hold the classes down to {}:\n", values(rare.len()), report.divided)
    };
    for value in rare.iter().take(SHOWN_MAX) {
        let shown: String = value.value.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
        let shown = if shown.is_empty() { "the missing value".to_owned() } else { format!("`{shown}`") };
        text.push_str(&format!(
            "         {shown}, {}: without it and rarer ones there could be {} classes\n",
            counted(value.rows, "row", "rows"),
            value.classes_without
        ));
    }
    if rare.len() > SHOWN_MAX {
        text.push_str(&format!("         and {} more\n", rare.len() - SHOWN_MAX));
    }
    if !left_out {
        text.push_str("         hint: `rare = \"suppress\"` leaves them out\n");
    }
    text
}

fn values(count: usize) -> String {
    counted(count as u64, "value", "values")
}
