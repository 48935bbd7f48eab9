//! The audit as a person reads it: one line for each adversary, then the worst cells and why.

use std::fmt;

use hedgerow::finding::{Explanation, Exposure, Finding, Needs, Note, ReleaseCells, WorstPair};
use hedgerow::{Adversary, Audited, Contradiction};
use serde_json::Value;

/// Names that do not fit are counted; the text below the table lists them all.
const NAMES_MAX: usize = 48;

const COLUMNS: usize = 9;

/// Explanations that are printed; `--json` has more.
const EXPLANATIONS_SHOWN: usize = 3;

const HEADER: [&str; COLUMNS] = [
    "adversary",
    "of",
    "releases",
    "examined",
    "at risk",
    "worst confidence",
    "fewest rows (k)",
    "fewest values (l)",
    "worst pair",
];

/// The columns of words; numbers stand to the right.
const WORDS: [usize; 4] = [0, 1, 2, 8];

/// Findings to print.
pub(crate) struct AuditText<'a>(pub(crate) &'a Audited);

impl fmt::Display for AuditText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(assumed) = &self.0.assumed {
            writeln!(f, "assumed: {assumed}")?;
        }
        for Contradiction { release, problem } in &self.0.contradictions {
            writeln!(f, "WRONG  {release}: {problem}")?;
        }
        for warning in &self.0.warnings {
            writeln!(f, "UNREAD  {warning}")?;
        }
        let mut rows = vec![HEADER.map(str::to_owned)];
        rows.extend(self.0.findings.iter().map(|finding| self.row(finding)));
        // An empty column is omitted.
        let shown: Vec<usize> =
            (0..COLUMNS).filter(|&column| rows[1..].iter().any(|row| !row[column].is_empty())).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
        for row in &rows {
            let cell = |&column: &usize| {
                let (cell, width) = (&row[column], widths[column]);
                if WORDS.contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            };
            writeln!(f, "{}", shown.iter().map(cell).collect::<Vec<_>>().join("  ").trim_end())?;
        }
        for finding in &self.0.findings {
            explain(f, finding)?;
        }
        Ok(())
    }
}

impl AuditText<'_> {
    fn row(&self, finding: &Finding) -> [String; COLUMNS] {
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let names = finding.releases.join(" + ");
        let long = names.chars().count() > NAMES_MAX && finding.releases.len() > 1;
        let pair = finding.worst_pair.as_ref().map(|pair| pair.releases.join(" + "));
        [
            finding.adversary.to_string(),
            finding.protect.clone().unwrap_or_default(),
            if long { format!("{} releases", finding.releases.len()) } else { names },
            format!("{} {}", finding.people, self.unit(finding)),
            finding.at_risk.to_string(),
            format!("{:.3}", finding.max_confidence),
            number(finding.effective_k),
            number(finding.effective_l),
            pair.unwrap_or_default(),
        ]
    }

    /// The unit that a finding counts: without a list of people, what the releases show of them.
    fn unit(&self, finding: &Finding) -> &'static str {
        match finding.adversary {
            _ if finding.counts_units() && !self.0.people_named => "units",
            Adversary::Difference => "people",
            _ if self.0.people_named => "people",
            Adversary::Independence => "combinations",
            _ => "rows",
        }
    }
}

fn explain(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let of = finding.protect.as_ref().map_or_else(String::new, |name| format!(" of `{name}`"));
    let breach = if finding.breach { "BREACH  " } else { "" };
    writeln!(f, "\n{breach}{}{of}: {}", finding.adversary, finding.releases.join(" + "))?;
    // What was assumed is the first line of all.
    for (name, value) in finding.details.iter().filter(|(name, _)| *name != "assumed") {
        if let Some(value) = scalar(value) {
            writeln!(f, "  {}", detail(finding, name, &value))?;
        }
    }
    if let Some(below) = finding.details.get("below") {
        writeln!(f, "  fewer than {} values: {} people", below["l"], below["people"])?;
    }
    if let Some(WorstPair { releases, at_risk, effective_l }) = &finding.worst_pair {
        let left = effective_l.map_or_else(|| "none".to_owned(), |left| left.to_string());
        writeln!(f, "  worst pair: {}, {at_risk} at risk, fewest values {left}", releases.join(" + "))?;
    }
    for note in &finding.notes {
        writeln!(f, "  note: {}", note_text(note))?;
    }
    let worst_shown = if finding.at_risk > 0 { 3 } else { 1 };
    for (place, worst) in finding.worst.iter().take(worst_shown).enumerate() {
        exposure(f, if place == 0 { "worst" } else { "next" }, worst)?;
    }
    for also in &finding.also {
        exposure(f, "also", also)?;
    }
    for Explanation { people, value, steps, .. } in finding.explanations.iter().take(EXPLANATIONS_SHOWN) {
        let whom = match people {
            0 => "a person in these cells has".to_owned(),
            1 => "one person has".to_owned(),
            several => format!("{several} people have"),
        };
        writeln!(f, "  why {whom} {}:", shown(value))?;
        for (number, step) in (1..).zip(steps) {
            writeln!(f, "    {number}. {step}")?;
        }
    }
    Ok(())
}

/// A number of a finding with its meaning: whom the adversary counts, and whom not.
fn detail(finding: &Finding, name: &str, value: &str) -> String {
    let of = finding.protect.as_ref().map_or_else(String::new, |name| format!(" of `{name}`"));
    match (finding.adversary, name) {
        (Adversary::Minimality, "k" | "l") => format!("required {name}: {value}"),
        (Adversary::Linker, "k") => format!("at risk is each person whom fewer than {value} rows match"),
        (Adversary::Linker, "share_below_k") => format!("share of such rows: {value}"),
        (Adversary::Consistency, "combinations") => format!("combinations of values that never occur: {value}"),
        (Adversary::Consistency, "excluded_from") => {
            format!("people for whom these rule out rows of their class: {value}")
        }
        (Adversary::Consistency, "known_before") => format!(
            "people whose value{of} these tell without any release: {value} (not at risk from this one, and not in its confidence)"
        ),
        (Adversary::Consistency, "k") if finding.protect.is_none() => {
            format!("at risk is each person whom fewer than {value} rows fit")
        }
        (Adversary::Consistency, "k") => {
            format!("at risk is each person whom fewer than {value} rows fit, or rows of one value{of}")
        }
        _ => format!("{}: {value}", name.replace('_', " ")),
    }
}

/// A note, with the option that gives what is missing.
fn note_text(note: &Note) -> String {
    match note.needs {
        None => note.text.clone(),
        Some(Needs::People) => format!("{}; give a file of the people with --people", note.text),
        Some(Needs::Policy) => format!("{}; give the policy with --policy", note.text),
    }
}

/// Numbers and words; lists and tables are for programs.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) if number.is_f64() => Some(format!("{:.3}", number.as_f64()?)),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn exposure(f: &mut fmt::Formatter<'_>, what: &str, exposure: &Exposure) -> fmt::Result {
    let people = match exposure.people {
        0 => String::new(),
        1 => " (1 person)".to_owned(),
        people => format!(" ({people} people)"),
    };
    writeln!(f, "  {what}{people}: {}", exposure.why)?;
    for ReleaseCells { release, cells } in &exposure.cells {
        let cells: Vec<String> = cells.iter().map(|(name, label)| format!("{name} {}", shown(label))).collect();
        writeln!(f, "    {release}: {}", if cells.is_empty() { "no cell".to_owned() } else { cells.join(", ") })?;
    }
    if !exposure.values.is_empty() {
        let more = exposure.values.len().saturating_sub(6);
        let values = exposure.values.iter().take(6);
        let values: Vec<String> = values.map(|(value, share)| format!("{} {share:.3}", shown(value))).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(f, "    left: {}{more}", values.join(", "))?;
    }
    Ok(())
}

/// A label on one line; the missing value has no text of its own.
fn shown(label: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if label.is_empty() {
        return "(missing)".to_owned();
    }
    let clean: String = label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => format!("`{}…`", &clean[..cut]),
        None => format!("`{clean}`"),
    }
}
