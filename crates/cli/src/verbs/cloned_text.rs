//! The result of cloning, as its custodian reads it.

use hedgerow::{CloneReport, RareValue};

use super::short;

/// Lines for the summary of `publish`: `sizes` are those of the smallest and the largest class,
/// counterfeits among them.
pub(super) fn cloned_text(report: &CloneReport, sizes: (u64, u64), source: u64, protect: &str) -> String {
    let of = |(smallest, largest): (u64, u64)| {
        if smallest == largest { format!("of {smallest} tuples") } else { format!("of {smallest} to {largest} tuples") }
    };
    let mut text = format!(
        "classes  {} {}, each with all values of `{protect}`, described by {} sub-classes {}\n",
        report.classes,
        of(sizes),
        report.sub_classes.count,
        of((report.sub_classes.min, report.sub_classes.max)),
    );
    text.push_str(&distorted(report, source));
    text.push_str(&format!(
        "epsilon  {}: no frequency of `{protect}` in a class differs more from its frequency in the source\n         \
         (below it is recomputed from the release alone)\n",
        short((report.epsilon * 1e6).ceil() / 1e6)
    ));
    if !report.rare.is_empty() {
        text.push_str(&rare(&report.rare, report));
    }
    let promise = &report.promise;
    text.push_str(&format!(
        "claim    combined with an unseen release about the same people in which `{protect}` is distributed as in the source,\n         \
         an attacker's confidence rises by at most θ = {} (β, one over the overlap of the two distributions, is {})\n",
        short(rounded_up(promise.theta)),
        short(rounded_up(promise.beta)),
    ));
    let at = promise.theta_at.iter().map(|at| format!("{} at beta {}", short(rounded_up(at.theta)), at.beta));
    let at = at.collect::<Vec<_>>().join(", ");
    text.push_str(&format!("         if it is distributed differently, by more: {at}\n"));
    text.push_str(&format!("fails    under {}\n", wrapped(&promise.broken_by)));
    text
}

/// The cost of equal class compositions, and how to reduce it.
fn distorted(report: &CloneReport, source: u64) -> String {
    let distorted = report.suppressed + report.counterfeits;
    if distorted == 0 {
        return "cost     no tuple suppressed, no counterfeit added\n".to_owned();
    }
    let share = 100.0 * distorted as f64 / source.max(1) as f64;
    let counted = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let suppressed = counted(report.suppressed, "tuple");
    let counterfeits = counted(report.counterfeits, "counterfeit");
    let mut text = format!("cost     {suppressed} suppressed and {counterfeits} added: {share:.2} % of the tuples\n");
    if share > 1.0 && report.divided > 1 {
        text.push_str("         hint: `max-distorted = 0.01` keeps this to 1 %, with fewer and larger classes\n");
    }
    text
}

/// In lines of about a hundred characters, under the first one.
fn wrapped(words: &str) -> String {
    const LINE: usize = 96;
    let (mut text, mut length) = (String::new(), 0);
    for word in words.split(' ') {
        if length > 0 {
            let separator = if length + word.len() > LINE { "\n         " } else { " " };
            text.push_str(separator);
            length = if separator == " " { length + 1 } else { 0 };
        }
        text.push_str(word);
        length += word.len();
    }
    text
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

fn rounded_up(value: f64) -> f64 {
    // What is a hair above an integer is so by rounding.
    (value * 1e4 - 1e-6).ceil().max(0.0) / 1e4
}

/// The custodian sees rare values by name: the decision is theirs.
fn rare(rare: &[RareValue], report: &CloneReport) -> String {
    const SHOWN_MAX: usize = 8;
    let suppressed = rare.iter().any(|rare| rare.suppressed);
    let rows: u64 = rare.iter().map(|rare| rare.rows).sum();
    let mut text = if suppressed {
        format!("rare     {} suppressed with {rows} rows, which allows more classes:\n", values(rare.len()))
    } else {
        format!("rare     {} in {rows} rows limit the number of classes to {}:\n", values(rare.len()), report.divided)
    };
    for value in rare.iter().take(SHOWN_MAX) {
        let shown: String = value.value.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
        let shown = if shown.is_empty() { "the missing value".to_owned() } else { format!("`{shown}`") };
        text.push_str(&format!(
            "         {shown}, {}: without it and rarer ones, {} classes would be possible\n",
            counted(value.rows, "row", "rows"),
            value.classes_without
        ));
    }
    if rare.len() > SHOWN_MAX {
        text.push_str(&format!("         and {} more\n", rare.len() - SHOWN_MAX));
    }
    if let Some(classes) = report.classes_without_rare {
        text.push_str(&format!(
            "         hint: `rare = \"suppress\"` suppresses their rows and allows {classes} classes; these values then do not occur in the \
             release\n"
        ));
    }
    text
}

fn values(count: usize) -> String {
    counted(count as u64, "value", "values")
}
