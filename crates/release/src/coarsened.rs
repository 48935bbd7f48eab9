//! Attributes whose values the publisher made coarser before anything else, as the manifest
//! declares them: what a released value stands for.
//!
//! Of a rounded number the declaration says which interval it covers. Days and levels of a
//! hierarchy list every released value with its bounds or its leaves.

use std::collections::BTreeSet;

use hedgerow_table::{Bound, Coarsening, Coarser, Cover, DateUnit, Domain, Kind, Ratio, Way};
use serde_json::{Map, Value, json};

use crate::codebook::Codebook;

/// The declaration of one attribute, for the manifest.
pub fn declaration(coarsening: &Coarsening, coarser: &Coarser) -> Value {
    let mut said = Map::new();
    let mut say = |key: &str, value: Value| said.insert(key.to_owned(), value);
    match &coarsening.way {
        Way::Clip => None,
        Way::Round(step) => say("round", number(*step)),
        Way::Significant(digits) => say("significant", json!(digits)),
        Way::Dates(unit) => say("dates", json!(unit.name())),
        Way::Level(_, level) => say("level", json!(level)),
    };
    coarsening.bottom.and_then(|bottom| say("bottom", bound(bottom)));
    coarsening.top.and_then(|top| say("top", bound(top)));
    say("values", json!(coarser.kind.name()));
    if !coarser.labels.is_empty() {
        let labels = coarser.labels.iter().map(|label| (label.text.clone(), cover_value(&label.cover)));
        say("labels", Value::Object(labels.collect()));
    }
    Value::Object(said)
}

/// The same declaration, of the values that are released and no others.
pub fn released_only(declaration: &mut Value, is_released: impl Fn(&str) -> bool) {
    let Some(labels) = declaration.get_mut("labels").and_then(Value::as_object_mut) else { return };
    labels.retain(|label, _| is_released(label));
}

/// Adds what the released values cover to a codebook, and returns where the tables contradict the
/// declaration. What it explains already is a label over several values.
pub(crate) fn explain<'t>(
    declared: &Map<String, Value>,
    domains: impl Fn(&str) -> Vec<&'t Domain>,
    codebook: &mut Codebook,
) -> Vec<String> {
    let mut contradictions = Vec::new();
    for (attribute, declaration) in declared {
        let domains = domains(attribute);
        if domains.is_empty() {
            contradictions.push(format!("the manifest declares `{attribute}` to be coarser, and no table has it"));
            continue;
        }
        let Some(read) = Declaration::read(declaration) else {
            contradictions.push(format!("how the values of `{attribute}` became coarser cannot be read"));
            continue;
        };
        let texts =
            |domain: &&Domain| (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect::<Vec<_>>();
        let texts: BTreeSet<String> = domains.iter().flat_map(texts).collect();
        let mut others = 0;
        let mut values = Vec::new();
        for text in texts {
            let cover = if text.is_empty() { Some(Cover::Missing) } else { read.cover(&text) };
            match cover {
                Some(cover) if codebook.insert(attribute, &text, &cover).is_ok() => values.push(text),
                None if codebook.cover(attribute, &text).is_some() => {}
                _ => others += 1,
            }
        }
        codebook.mark_coarse(attribute, values);
        if others > 0 {
            contradictions.push(format!("`{attribute}` has {others} values that its coarsening does not give"));
        }
    }
    contradictions
}

/// Labels that are declared and that no row has: a finished manifest has none.
pub fn unused<'t>(declared: &Map<String, Value>, domains: impl Fn(&str) -> Vec<&'t Domain>) -> Vec<String> {
    let of = |(attribute, declaration): (&String, &Value)| {
        let (labels, domains) = (declaration.get("labels")?.as_object()?, domains(attribute));
        let is_used =
            |label: &String| domains.is_empty() || domains.iter().any(|domain| domain.code_of(label).is_some());
        let unused = labels.keys().filter(|label| !is_used(label)).count();
        (unused > 0).then(|| format!("the manifest explains {unused} values of `{attribute}` that no row has"))
    };
    declared.iter().filter_map(of).collect()
}

/// A declaration as far as a reader needs it.
struct Declaration<'a> {
    coarsening: Coarsening,
    kind: Kind,
    labels: Option<&'a Map<String, Value>>,
}

impl<'a> Declaration<'a> {
    fn read(declaration: &'a Value) -> Option<Declaration<'a>> {
        const KEYS: [&str; 8] = ["round", "significant", "dates", "level", "bottom", "top", "values", "labels"];
        let said = declaration.as_object()?;
        if said.keys().any(|key| !KEYS.contains(&key.as_str())) {
            return None;
        }
        let labels = match said.get("labels") {
            Some(labels) => Some(labels.as_object()?),
            None => None,
        };
        let way = match (said.get("round"), said.get("significant"), said.get("dates"), said.get("level")) {
            (Some(step), None, None, None) => {
                Way::Round(Ratio::parse(&step.to_string()).ok().filter(|step| step.numerator > 0)?)
            }
            (None, Some(digits), None, None) => {
                Way::Significant(u32::try_from(digits.as_u64()?).ok().filter(|digits| (1..=18).contains(digits))?)
            }
            (None, None, Some(unit), None) => Way::Dates(DateUnit::from_name(unit.as_str()?)?),
            (None, None, None, Some(level)) => {
                // Level 0 is the value itself.
                level.as_u64().filter(|level| *level > 0)?;
                Way::Clip
            }
            (None, None, None, None) => Way::Clip,
            _ => return None,
        };
        let end = |key: &str| match said.get(key) {
            None => Some(None),
            Some(Value::Number(number)) => Bound::parse(&number.to_string()).map(Some),
            Some(_) => None,
        };
        // Numbers say themselves what they cover: a list could only say otherwise.
        let has_labels = said.contains_key("level") || matches!(way, Way::Dates(unit) if unit != DateUnit::Day);
        if labels.is_some() && !has_labels {
            return None;
        }
        let coarsening = Coarsening { way, bottom: end("bottom")?, top: end("top")?, place: String::new() };
        let kind = Kind::from_name(said.get("values")?.as_str()?)?;
        Some(Declaration { coarsening, kind, labels })
    }

    fn cover(&self, text: &str) -> Option<Cover> {
        if let Some(labels) = self.labels {
            let cover = read_cover(labels.get(text)?)?;
            return match self.coarsening.way {
                Way::Dates(unit) => {
                    DateUnit::read(text).filter(|found| *found == (unit, cover)).map(|(_, cover)| cover)
                }
                _ => Some(cover),
            };
        }
        // Days that stay days.
        if self.coarsening.way == Way::Dates(DateUnit::Day) {
            return Bound::parse(text).map(Cover::Point);
        }
        self.coarsening.cover(Bound::parse(text)?, self.kind)
    }
}

fn number(ratio: Ratio) -> Value {
    match ratio.denominator {
        1 => json!(ratio.numerator),
        _ => json!(ratio.as_f64()),
    }
}

fn bound(bound: Bound) -> Value {
    match bound {
        Bound::Integer(value) => json!(value),
        Bound::Float(value) => json!(value),
        Bound::Date(date) => json!(date.to_string()),
    }
}

fn cover_value(cover: &Cover) -> Value {
    let end = |end: &Option<Bound>| end.map_or(Value::Null, bound);
    match cover {
        Cover::Point(point) => json!({ "low": bound(*point), "high": bound(*point) }),
        Cover::Interval { low, high } => json!({ "low": end(low), "high": end(high) }),
        Cover::Leaves(leaves) => json!({ "leaves": leaves }),
        Cover::Everything | Cover::Missing => json!({}),
    }
}

fn read_cover(value: &Value) -> Option<Cover> {
    if let Some(leaves) = value.get("leaves") {
        let leaves = leaves.as_array()?.iter().map(|leaf| leaf.as_str().map(str::to_owned));
        return leaves.collect::<Option<Vec<_>>>().filter(|leaves| !leaves.is_empty()).map(Cover::Leaves);
    }
    let end = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::Number(number)) => Bound::parse(&number.to_string()).map(Some),
        Some(Value::String(text)) => Bound::parse(text).map(Some),
        Some(_) => None,
    };
    match (end("low")?, end("high")?) {
        (None, None) => Some(Cover::Everything),
        (Some(low), Some(high)) if low == high => Some(Cover::Point(low)),
        (low, high) => Some(Cover::Interval { low, high }),
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use super::*;

    fn domain(texts: &[&str]) -> Domain {
        Domain::from_texts(texts, true, None).unwrap().0
    }

    fn explained(coarsening: &Coarsening, source: &[&str]) -> (Domain, Codebook, Vec<String>) {
        let coarser = coarsening.apply("x", &domain(source), &[]).unwrap();
        let declared: Map<String, Value> = [("x".to_owned(), declaration(coarsening, &coarser))].into_iter().collect();
        let text = serde_json::to_string(&declared).unwrap();
        let declared: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let mut codebook = Codebook::new();
        let found = explain(&declared, |_| vec![&coarser.domain], &mut codebook);
        (coarser.domain, codebook, found)
    }

    #[test]
    fn a_declaration_explains_the_values_it_gave() {
        let way = |way| Coarsening { way, bottom: None, top: None, place: String::new() };
        let thousands = Way::Round(Ratio::integer(1000));
        let (_, codebook, found) = explained(&way(thousands.clone()), &["1234", "1500", "-20"]);
        assert_eq!(found, [""; 0]);
        let interval = |low, high| Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) };
        assert_eq!(codebook.cover("x", "1000"), Some(&interval(500, 1500)));
        assert_eq!(codebook.cover("x", "2000"), Some(&interval(1500, 2500)));
        assert_eq!(codebook.cover("x", ""), Some(&Cover::Missing));
        let clipped = Coarsening { top: Some(Bound::Integer(2000)), bottom: Some(Bound::Integer(0)), ..way(thousands) };
        let (_, codebook, found) = explained(&clipped, &["-7000", "1", "99999"]);
        assert_eq!(found, [""; 0]);
        let open = |low: Option<i64>, high: Option<i64>| Cover::Interval {
            low: low.map(Bound::Integer),
            high: high.map(Bound::Integer),
        };
        assert_eq!(codebook.cover("x", "2000"), Some(&open(Some(1500), None)));
        assert_eq!(codebook.cover("x", "0"), Some(&open(None, Some(500))));
        let (domain, codebook, found) = explained(&way(Way::Dates(DateUnit::Month)), &["2024-02-29", "2024-03-01"]);
        assert_eq!((found.len(), domain.text(0)), (0, "2024-02".to_owned()));
        assert!(matches!(codebook.cover("x", "2024-02"), Some(Cover::Interval { low: Some(Bound::Date(_)), .. })));
        let (domain, codebook, found) = explained(&way(Way::Level(HierarchySpec::Mask(3), 2)), &["12345", "12399"]);
        assert_eq!((found.len(), domain.present()), (0, 1));
        assert_eq!(codebook.cover("x", &domain.text(0)), Some(&Cover::Leaves(vec![domain.text(0)])));
    }

    #[test]
    fn a_value_that_no_rounding_gives_contradicts_it() {
        let declared =
            json!({ "x": { "round": 100, "values": "integer" }, "y": { "round": 100, "values": "integer" } });
        let held = domain(&["100", "250"]);
        let values = |name: &str| if name == "x" { vec![&held] } else { Vec::new() };
        let found = explain(declared.as_object().unwrap(), values, &mut Codebook::new());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("1 values that its coarsening does not give"), "{found:?}");
        for odd in [
            json!({ "round": 0, "values": "integer" }),
            json!({ "round": 100 }),
            json!({ "magic": 1, "values": "integer" }),
            json!({ "level": 0, "values": "integer", "labels": { "100": { "leaves": ["100"] } } }),
        ] {
            let declared = json!({ "x": odd });
            assert_eq!(explain(declared.as_object().unwrap(), values, &mut Codebook::new()).len(), 1, "{declared}");
        }
    }

    #[test]
    fn a_month_covers_its_days_and_a_rounded_number_says_what_it_covers() {
        let found = |declared: Value, value: &str| {
            let declared = json!({ "x": declared });
            let held = domain(&[value]);
            explain(declared.as_object().unwrap(), |_| vec![&held], &mut Codebook::new())
        };
        let months = |high: &str| {
            let labels = json!({ "2024-02": { "low": "2024-02-01", "high": high } });
            json!({ "dates": "month", "values": "date", "labels": labels })
        };
        // The domain has a missing value, which every declaration explains.
        assert_eq!(found(months("2024-03-01"), "2024-02"), [""; 0]);
        assert_eq!(found(months("2024-02-15"), "2024-02").len(), 1);
        let listed = json!({ "round": 100, "values": "integer", "labels": { "100": { "low": 0, "high": 9 } } });
        assert_eq!(found(listed, "100").len(), 1);
    }

    #[test]
    fn values_that_no_row_has_are_not_explained() {
        let labels = json!({ "North": { "leaves": ["Aa", "Bb"] }, "South": { "leaves": ["Cc"] } });
        let declared = json!({ "x": { "level": 1, "values": "category", "labels": labels } });
        let found = |texts: &[&str]| {
            let held = domain(texts);
            unused(declared.as_object().unwrap(), |_| vec![&held])
        };
        assert_eq!(found(&["North", "South"]), [""; 0]);
        assert_eq!(found(&["North"]), ["the manifest explains 1 values of `x` that no row has"]);
    }

    #[test]
    fn only_released_values_are_declared() {
        let mut said = json!({ "dates": "month", "labels": { "2024-02": {}, "2024-03": {} } });
        released_only(&mut said, |label| label == "2024-03");
        assert_eq!(said, json!({ "dates": "month", "labels": { "2024-03": {} } }));
    }
}
