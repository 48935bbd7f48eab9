//! One file per verb.

pub(crate) mod audit;
pub(crate) mod catalog;
pub(crate) mod check;
mod cloned_text;
pub(crate) mod completions;
pub(crate) mod explore;
pub(crate) mod federation;
pub(crate) mod init;
#[cfg(feature = "federation")]
mod lop;
pub(crate) mod measure;
mod program;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod studio;
pub(crate) mod synth;

use std::io::Write;
use std::path::Path;

use hedgerow::{Claim, Policy, Problem};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::Talk;
use crate::failure::{Failure, say};
use crate::memory;

/// Results go out whole, in one piece.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    if memory::is_reported() {
        return print_json_with_memory(value, None);
    }
    let mut value = serde_json::to_value(value).map_err(std::io::Error::from)?;
    state_warnings(&mut value);
    print(&format!("{value}\n"))
}

/// Every command states its warnings, in one form.
fn state_warnings(value: &mut Value) {
    let Value::Object(keys) = value else { return };
    let warnings = keys.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
    for warning in warnings.as_array_mut().into_iter().flatten() {
        if let Value::String(message) = warning {
            let no_attributes: [&str; 0] = [];
            *warning = serde_json::json!({ "code": "unread", "message": message, "attributes": no_attributes, "people": null });
        }
    }
}

/// Also states the most memory that the run took, and what went to the disk instead.
fn print_json_with_memory(value: &impl Serialize, spilled: Option<u64>) -> Result<(), Failure> {
    let mut value = serde_json::to_value(value).map_err(std::io::Error::from)?;
    state_warnings(&mut value);
    if let (Value::Object(keys), Some(bytes)) = (&mut value, memory::peak_bytes()) {
        let mut memory = serde_json::json!({ "peak_bytes": bytes });
        if let Some(spilled) = spilled {
            memory["spilled_bytes"] = spilled.into();
        }
        keys.insert("memory".to_owned(), memory);
    }
    print(&format!("{value}\n"))
}

fn load_policy(path: &Path) -> Result<Policy, Failure> {
    Ok(Policy::load(path)?)
}

/// Prints warnings: what is allowed but probably unintended.
fn warn(talk: &Talk, warnings: &[Problem]) {
    if talk.quiet {
        return;
    }
    for (index, warning) in warnings.iter().enumerate() {
        // One hint for several warnings in a row is enough.
        let mut shown = warning.clone();
        if warnings.get(index + 1).is_some_and(|next| next.hint == warning.hint) {
            shown.hint.clear();
        }
        say(&format!("warning: {shown}"));
        // A message names some of many attributes.
        let is_named = |name: &String| warning.problem.contains(&format!("`{name}`"));
        if talk.verbose && !warning.attributes.iter().all(is_named) {
            say(&format!("all of them: {}", warning.attributes.join(", ")));
        }
    }
}

/// Where every guarantee is against an attacker who knows the same, and knows much: stated once.
fn common_attacker(claims: &[Claim]) -> Option<&[String]> {
    const CLAIMS_MIN: usize = 3;
    const KNOWN_MIN: usize = 5;
    let known = &claims.first()?.know;
    let is_common = claims.len() >= CLAIMS_MIN && known.len() >= KNOWN_MIN;
    (is_common && claims.iter().all(|claim| claim.know == *known)).then_some(known)
}

/// One line per guarantee: what is required and what the tables achieve.
fn claims_text(claims: &[Claim]) -> String {
    let mut text = String::new();
    let common = common_attacker(claims);
    if let Some(known) = common {
        text.push_str(&format!("  against an attacker who knows {}\n", known.join(", ")));
    }
    for claim in claims {
        let protect = claim.protect.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
        let rows = match claim.rows.as_deref() {
            Some("all") => ", in every row of a unit",
            Some(_) => ", in one row of a unit",
            None => "",
        };
        let consistent = if claim.consistent { ", and which combinations of values occur" } else { "" };
        let known = claim.only_where.iter();
        let known: String =
            known.map(|(name, values)| format!(", where {name} may be {}", values.join(" or "))).collect();
        let knows = match common {
            Some(_) => String::new(),
            None => format!("; the attacker knows {}", claim.know.join(", ")),
        };
        text.push_str(&format!(
            "  {}  {}{protect}: required {}, achieved {}{knows}{rows}{consistent}{known}\n",
            if claim.holds { "holds " } else { "FAILS " },
            claim.model,
            pairs(&claim.required),
            // The conditions of a guarantee may be met by no class.
            if claim.achieved.is_empty() { "nothing: it is about no class".to_owned() } else { pairs(&claim.achieved) },
        ));
    }
    text
}

fn pairs(map: &Map<String, Value>) -> String {
    let shown = |value: &Value| match value {
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), short),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    map.iter().map(|(name, value)| format!("{name} = {}", shown(value))).collect::<Vec<_>>().join(", ")
}

/// A number to six significant places, without trailing zeros.
fn short(value: f64) -> String {
    if value == 0.0 || value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    let places = (5 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
