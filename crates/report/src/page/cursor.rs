//! A place in what a report states. Every number of the page is rendered from one, and says which
//! place of the report's JSON it is: so the page cannot show a number that the JSON does not have.
//!
//! A place is reached by the names of fields, which the compiler knows. That the JSON has the same
//! names is a test: every number of a page is looked up there.

use std::ops::Deref;

use maud::{Markup, html};
use serde_json::Number;

use super::data::breakable;
use crate::facts::{ModelParameter, Named};
use crate::pictures::short;

/// A value and the JSON pointer that leads to it.
#[derive(Debug)]
pub(crate) struct At<'a, T> {
    value: &'a T,
    key: String,
}

/// The place of a field: `at!(release, measures.loss)`. The pointer takes the field's name.
macro_rules! at {
    ($at:expr, $field:ident) => {
        $at.field(stringify!($field), |value| &value.$field)
    };
    ($at:expr, $field:ident.$($rest:ident).+) => {
        $crate::page::cursor::at!($at.field(stringify!($field), |value| &value.$field), $($rest).+)
    };
}
pub(crate) use at;

impl<T> Clone for At<'_, T> {
    fn clone(&self) -> Self {
        At { value: self.value, key: self.key.clone() }
    }
}

impl<T> Deref for At<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<'a, T> At<'a, T> {
    pub(crate) fn root(value: &'a T) -> At<'a, T> {
        At { value, key: String::new() }
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// A part of the value, and its name in the JSON.
    pub(crate) fn field<U>(&self, name: &str, part: impl FnOnce(&'a T) -> &'a U) -> At<'a, U> {
        At { value: part(self.value), key: format!("{}/{}", self.key, escaped(name)) }
    }
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl<'a, T> At<'a, Option<T>> {
    /// The value, where there is one.
    pub(crate) fn get(&self) -> Option<At<'a, T>> {
        let value = self.value.as_ref()?;
        Some(At { value, key: self.key.clone() })
    }
}

impl<'a, T> At<'a, Vec<T>> {
    pub(crate) fn items(&self) -> Vec<At<'a, T>> {
        let items = self.value.iter().enumerate();
        items.map(|(index, value)| At { value, key: format!("{}/{index}", self.key) }).collect()
    }
}

impl<'a, T> At<'a, Named<T>> {
    /// The names and values of an object.
    pub(crate) fn entries(&self) -> Vec<(&'a str, At<'a, T>)> {
        let place = |name: &str| format!("{}/{}", self.key, escaped(name));
        self.value.iter().map(|(name, value)| (name.as_str(), At { value, key: place(name) })).collect()
    }
}

impl<T: Showable> At<'_, T> {
    /// The value as people read it, with its exact value and place for programs; a dash where it
    /// is absent.
    pub(crate) fn show(&self, how: Show) -> Markup {
        self.value.shown(&self.key, how)
    }
}

/// A value that a page can show.
pub(crate) trait Showable {
    fn shown(&self, key: &str, how: Show) -> Markup;
}

impl Showable for Number {
    fn shown(&self, key: &str, how: Show) -> Markup {
        html! { data value=(self) data-key=(key) { (how.text(self.as_f64().unwrap_or_default())) } }
    }
}

impl Showable for u64 {
    fn shown(&self, key: &str, how: Show) -> Markup {
        Number::from(*self).shown(key, how)
    }
}

impl Showable for u32 {
    fn shown(&self, key: &str, how: Show) -> Markup {
        Number::from(*self).shown(key, how)
    }
}

impl Showable for f64 {
    /// JSON has no infinity: it is absent there.
    fn shown(&self, key: &str, how: Show) -> Markup {
        Number::from_f64(*self).shown(key, how)
    }
}

impl<T: Showable> Showable for Option<T> {
    fn shown(&self, key: &str, how: Show) -> Markup {
        self.as_ref().map_or_else(|| html! { "–" }, |value| value.shown(key, how))
    }
}

impl Showable for ModelParameter {
    fn shown(&self, key: &str, how: Show) -> Markup {
        match self {
            ModelParameter::Number(number) => number.shown(key, how),
            ModelParameter::Text(text) => html! { (text) },
            ModelParameter::List(list) => {
                let others = list.len().saturating_sub(LISTED_MAX);
                html! {
                    @for (place, text) in list.iter().take(LISTED_MAX).enumerate() {
                        @if place > 0 { ", " }
                        (breakable(text))
                    }
                    @if others > 0 { " and others" }
                }
            }
        }
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

    struct Part {
        share: f64,
        count: Option<u64>,
    }

    struct Whole {
        parts: Named<Vec<Part>>,
    }

    fn whole(share: f64) -> Whole {
        Whole { parts: vec![("a/b".to_owned(), vec![Part { share, count: None }])] }
    }

    #[test]
    fn a_number_says_where_it_is_from() {
        let (whole, json) = (whole(0.123456), json!({ "parts": { "a/b": [{ "share": 0.123456 }] } }));
        let (name, parts) = at!(At::root(&whole), parts).entries().remove(0);
        let share = at!(parts.items()[0], share);
        assert_eq!((name, json.pointer(share.key())), ("a/b", Some(&json!(0.123456))));
        let shown = share.show(Show::Percent).into_string();
        assert_eq!(shown, "<data value=\"0.123456\" data-key=\"/parts/a~1b/0/share\">12.3 %</data>");
    }

    #[test]
    fn what_is_absent_is_a_dash() {
        let whole = whole(f64::NAN);
        let part = at!(At::root(&whole), parts).entries().remove(0).1.items().remove(0);
        assert!(at!(part, count).get().is_none());
        assert_eq!(at!(part, count).show(Show::Plain).into_string(), "–");
        assert_eq!(at!(part, share).show(Show::Plain).into_string(), "–");
    }

    #[test]
    fn of_a_long_list_the_first_are_shown() {
        let list = |length: usize| ModelParameter::List((0..length).map(|number| number.to_string()).collect());
        assert_eq!(list(8).shown("", Show::Plain).into_string(), "0, 1, 2, 3, 4, 5, 6, 7");
        assert_eq!(list(9).shown("", Show::Plain).into_string(), "0, 1, 2, 3, 4, 5, 6, 7 and others");
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
