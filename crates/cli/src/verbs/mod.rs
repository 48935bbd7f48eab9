//! One file per verb.

pub(crate) mod audit;
pub(crate) mod catalog;
pub(crate) mod check;
mod cloned_text;
pub(crate) mod completions;
pub(crate) mod explore;
pub(crate) mod federation;
pub(crate) mod init;
pub(crate) mod measure;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod rules;
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
    let text = serde_json::to_string(value).map_err(std::io::Error::from)?;
    print(&format!("{text}\n"))
}

/// Also states the most memory that the run took, and what went to the disk instead.
fn print_json_with_memory(value: &impl Serialize, spilled: Option<u64>) -> Result<(), Failure> {
    let mut value = serde_json::to_value(value).map_err(std::io::Error::from)?;
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
    Ok(Policy::load(path).map_err(hedgerow::Error::from)?)
}

/// What is allowed but probably unintended.
fn warn(talk: &Talk, warnings: &[Problem]) {
    if talk.quiet {
        return;
    }
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
}

/// One line per guarantee: what is required and what the tables achieve.
fn claims_text(claims: &[Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        let protect = claim.protect.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
        text.push_str(&format!(
            "  {}  {}{protect}: required {}, achieved {}; the attacker knows {}\n",
            if claim.holds { "holds " } else { "FAILS " },
            claim.model,
            pairs(&claim.required),
            pairs(&claim.achieved),
            claim.know.join(", "),
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
