//! A place in the report's JSON. Every number of the page is rendered from one, and says which: so
//! the page cannot show a number that the JSON does not have.

use maud::{Markup, html};
use serde_json::Value;

use super::data::breakable;
use crate::pictures::short;

/// A value and the JSON pointer that leads to it.
#[derive(Debug, Clone)]
pub(crate) struct At<'a> {
    value: &'a Value,
    key: String,
}

impl<'a> At<'a> {
    pub(crate) fn root(value: &'a Value) -> At<'a> {
        At { value, key: String::new() }
    }

    /// The value under a name; `None` where it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<At<'a>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(At { value, key: format!("{}/{}", self.key, name.replace('~', "~0").replace('/', "~1")) })
    }

    /// Through several names.
    pub(crate) fn path(&self, names: &[&str]) -> Option<At<'a>> {
        names.iter().try_fold(self.clone(), |at, name| at.get(name))
    }

    /// The items of a list; empty where it is absent.
    pub(crate) fn items(&self, name: &str) -> Vec<At<'a>> {
        let Some(at) = self.get(name) else { return Vec::new() };
        let items = at.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| At { value, key: format!("{}/{index}", at.key) }).collect()
    }

    /// The names and values of an object.
    pub(crate) fn entries(&self) -> Vec<(&'a str, At<'a>)> {
        let names = self.value.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        names.filter_map(|name| Some((name, self.get(name)?))).collect()
    }

    /// A list of numbers.
    pub(crate) fn list(&self) -> Vec<f64> {
        self.value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(crate) fn text_of(&self, name: &str) -> &'a str {
        self.value.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn texts_of(&self, name: &str) -> Vec<&'a str> {
        self.value.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(crate) fn number(&self) -> Option<f64> {
        self.value.as_f64()
    }

    pub(crate) fn number_of(&self, name: &str) -> f64 {
        self.value.get(name).and_then(Value::as_f64).unwrap_or_default()
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.value.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The value as people read it, with its exact value and place for programs.
    pub(crate) fn show(&self, how: Show) -> Markup {
        match self.value {
            Value::Number(number) => {
                let shown = how.text(self.value.as_f64().unwrap_or_default());
                html! { data value=(number) data-key=(self.key) { (shown) } }
            }
            Value::String(text) => html! { (text) },
            Value::Array(list) => {
                let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let texts: Vec<String> = list.iter().take(LISTED_MAX).map(shown).collect();
                let others = list.len().saturating_sub(LISTED_MAX);
                html! {
                    @for (place, text) in texts.iter().enumerate() { @if place > 0 { ", " } (breakable(text)) }
                    @if others > 0 { " and others" }
                }
            }
            other => html! { (other) },
        }
    }

    /// The value under a name, or a dash.
    pub(crate) fn show_of(&self, name: &str, how: Show) -> Markup {
        self.get(name).map_or_else(|| html! { "–" }, |at| at.show(how))
    }
}

/// Of a longer list, the first are shown.
const LISTED_MAX: usize = 8;

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// Whole, or to four significant digits; thousands apart.
    Plain,
    /// A share, in percent.
    Percent,
}

impl Show {
    fn text(self, value: f64) -> String {
        match self {
            Show::Plain => thousands(&short(value)),
            Show::Percent => percent(value),
        }
    }
}

/// Two digits after the point below ten percent, where they matter.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 99.995 {
        format!("{percent:.0} %")
    } else if percent < 0.005 {
        "< 0.01 %".to_owned()
    } else if percent < 10.0 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Groups of three digits, apart by a narrow space that does not break.
fn thousands(text: &str) -> String {
    let whole = text.split('.').next().unwrap_or(text);
    let digits = whole.trim_start_matches('-');
    if digits.len() < 5 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    text.replacen(digits, &grouped, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_says_where_it_is_from() {
        let value = json!({ "a/b": [{ "c": 0.123456 }] });
        let at = At::root(&value).items("a/b").remove(0).get("c").unwrap();
        assert_eq!(value.pointer(at.key()), Some(&json!(0.123456)));
        let shown = at.show(Show::Percent).into_string();
        assert_eq!(shown, "<data value=\"0.123456\" data-key=\"/a~1b/0/c\">12.3 %</data>");
    }

    #[test]
    fn absent_and_null_are_nothing() {
        let value = json!({ "a": null });
        let at = At::root(&value);
        assert!(at.get("a").is_none() && at.get("b").is_none() && at.items("a").is_empty());
        assert_eq!(at.show_of("a", Show::Plain).into_string(), "–");
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [1234.0, 30162.0, 1234567.0, 0.5].map(|value| Show::Plain.text(value)),
            ["1234", "30\u{202f}162", "1\u{202f}234\u{202f}567", "0.5"]
        );
        assert_eq!([0.0, 1.0, 0.0909, 0.5, 0.00001].map(percent), ["0 %", "100 %", "9.09 %", "50.0 %", "< 0.01 %"]);
    }
}
