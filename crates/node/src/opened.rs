//! The opened values of a round in the journal: JSON, written as it goes. A large run opens tens of
//! millions of values; to make a tree of each list first takes longer than the round.

use std::io::{self, Write};

use hedgerow_smc::OpenedValues;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::journal::Detail;

/// The entries of one round of a step.
pub(crate) fn detail(step: &str, round: u32, entries: &[OpenedValues]) -> Detail {
    let numbers: usize = entries.iter().map(|entry| entry.parts.len() + entry.values.len()).sum();
    let mut json = Json(Vec::with_capacity(64 + 160 * entries.len() + 6 * numbers));
    json.plain("{\"step\":");
    json.text(step);
    json.plain(",\"round\":");
    json.number(u64::from(round));
    json.plain(",\"entries\":[");
    for (place, entry) in entries.iter().enumerate() {
        json.plain(if place > 0 { "," } else { "" });
        json.entry(entry);
    }
    json.plain("]}");
    // Nothing but texts was put together.
    Detail::written(String::from_utf8(json.0).unwrap_or_default())
}

/// A round as it is read: entries stay the text that they are.
#[derive(Deserialize)]
struct Round<'a> {
    #[serde(borrow)]
    step: &'a RawValue,
    #[serde(borrow)]
    round: &'a RawValue,
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// A line for each entry of a round, with its step and its round.
pub(crate) fn write_lines(out: &mut impl Write, detail: &str) -> io::Result<()> {
    let Round { step, round, entries } = serde_json::from_str(detail).map_err(io::Error::other)?;
    for entry in entries {
        let rest = entry.get().strip_prefix('{').ok_or_else(|| io::Error::other("an entry that is none"))?;
        writeln!(out, "{{\"step\":{step},\"round\":{round},{rest}")?;
    }
    Ok(())
}

struct Json(Vec<u8>);

impl Json {
    fn plain(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// A text of ours.
    fn text(&mut self, text: &str) {
        self.plain(&serde_json::Value::from(text).to_string());
    }

    fn number(&mut self, mut number: u64) {
        // Most numbers are flags.
        if number < 10 {
            self.0.push(b'0' + number as u8);
            return;
        }
        let mut digits = [0; 20];
        let mut from = digits.len();
        while number > 0 {
            from -= 1;
            digits[from] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.0.extend_from_slice(&digits[from..]);
    }

    fn numbers(&mut self, numbers: &[u64]) {
        self.0.push(b'[');
        for (place, number) in numbers.iter().enumerate() {
            if place > 0 {
                self.0.push(b',');
            }
            self.number(*number);
        }
        self.0.push(b']');
    }

    fn entry(&mut self, entry: &OpenedValues) {
        self.plain("{\"kind\":");
        self.text(entry.kind.describe());
        self.plain(",\"about\":");
        self.text(entry.what);
        if let Some(attribute) = entry.attribute {
            self.plain(",\"attribute\":");
            self.number(u64::from(attribute));
        }
        if !entry.parts.is_empty() {
            self.plain(",\"parts\":");
            self.numbers(&entry.parts);
        }
        if !entry.at_least.is_empty() {
            self.plain(",\"at_least\":[");
            for (place, thresholds) in entry.at_least.iter().enumerate() {
                self.plain(if place > 0 { "," } else { "" });
                self.numbers(thresholds);
            }
            self.plain("]");
        }
        self.plain(",\"values\":");
        self.numbers(&entry.values);
        self.plain("}");
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_smc::OpenedKind;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_written_is_what_opened() {
        let numbers = vec![0, 9, 10, 4711, u64::MAX];
        let (parts, at_least) = (vec![7, 80], vec![vec![5, 10], vec![]]);
        let entries = [
            OpenedValues {
                round: 3,
                kind: OpenedKind::Sizes,
                what: "a \"side\"",
                attribute: Some(2),
                parts,
                at_least,
                values: numbers.clone(),
            },
            OpenedValues {
                round: 3,
                kind: OpenedKind::Totals,
                what: "all",
                attribute: None,
                parts: vec![],
                at_least: vec![],
                values: vec![],
            },
        ];
        let detail = detail("classes", 3, &entries);
        let first = json!({ "kind": OpenedKind::Sizes.describe(), "about": "a \"side\"", "attribute": 2, "parts": [7, 80],
                            "at_least": [[5, 10], []], "values": numbers });
        let second = json!({ "kind": OpenedKind::Totals.describe(), "about": "all", "values": [] });
        assert_eq!(detail.value(), json!({ "step": "classes", "round": 3, "entries": [first, second] }));
        let mut lines = Vec::new();
        write_lines(&mut lines, detail.text()).unwrap();
        let lines: Vec<Value> =
            String::from_utf8(lines).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["step"], &lines[0]["round"]), (&json!("classes"), &json!(3)));
        assert_eq!((&lines[0]["values"], &lines[1]["about"]), (&json!(numbers), &json!("all")));
        assert!(write_lines(&mut Vec::new(), "{\"step\":\"a\",\"round\":1,\"entries\":[7]}").is_err());
    }
}
