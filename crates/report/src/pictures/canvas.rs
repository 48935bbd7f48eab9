//! Drawing of all marks. A mark has a class and never a color: the style sheet gives one for light,
//! for dark and for paper.

use std::fmt::{Display, Write};

/// The body of a picture while it is drawn.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    body: String,
}

/// Where a text starts, ends or has its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

impl Canvas {
    pub(crate) fn rect(&mut self, [x, y, width, height]: [f64; 4], class: &str, hint: &str) {
        let (x, y, width, height) = (At(x), At(y), At(width.max(0.0)), At(height.max(0.0)));
        let _ = write!(self.body, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
        self.close("rect", hint);
    }

    pub(crate) fn circle(&mut self, [x, y, radius]: [f64; 3], class: &str, hint: &str) {
        let _ = write!(self.body, "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", At(x), At(y), At(radius));
        self.close("circle", hint);
    }

    pub(crate) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], class: &str) {
        let (x1, y1, x2, y2) = (At(x1), At(y1), At(x2), At(y2));
        let _ = writeln!(self.body, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    pub(crate) fn path(&mut self, d: &str, class: &str) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    pub(crate) fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, class: &str, text: &str) {
        let (x, y, anchor) = (At(x), At(y), anchor.name());
        let _ = write!(self.body, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">");
        let _ = writeln!(self.body, "{}</text>", escaped(text));
    }

    fn close(&mut self, element: &str, hint: &str) {
        if hint.is_empty() {
            self.body.push_str("/>\n");
        } else {
            let _ = writeln!(self.body, "><title>{}</title></{element}>", escaped(hint));
        }
    }

    pub(crate) fn into_body(self) -> String {
        self.body
    }
}

/// A coordinate to a tenth, without a trailing zero.
pub(crate) struct At(pub(crate) f64);

impl Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round();
        let tenths = if tenths.is_finite() { tenths as i64 } else { 0 };
        if tenths % 10 == 0 { write!(f, "{}", tenths / 10) } else { write!(f, "{:.1}", tenths as f64 / 10.0) }
    }
}

/// Text as it may stand in an element or an attribute. Characters that XML does not allow become
/// blanks.
pub(crate) fn escaped(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number for a label: whole, or to four significant digits.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value}");
    }
    let places = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A text that fits into the given number of characters. The missing value has no text of its own.
pub(crate) fn fitted(text: &str, characters_max: usize) -> String {
    if text.is_empty() {
        return "(missing)".to_owned();
    }
    match text.char_indices().nth(characters_max) {
        Some(_) => text.chars().take(characters_max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Texts that fit into a number of characters each and stay apart: where their beginnings agree,
/// their ends are kept too, and what is the same after that is numbered.
pub(crate) fn fitted_apart(texts: &[String], characters_max: usize) -> Vec<String> {
    let cut: Vec<String> = texts.iter().map(|text| fitted(text, characters_max)).collect();
    let is_shared = |all: &[String], place: usize| all.iter().filter(|other| **other == all[place]).count() > 1;
    let with_end = |text: &String| {
        let kept = characters_max.saturating_sub(1);
        let (head, tail) = (kept - kept / 2, kept / 2);
        let characters: Vec<char> = text.chars().collect();
        if characters.len() <= characters_max {
            return fitted(text, characters_max);
        }
        let end = &characters[characters.len() - tail..];
        characters[..head].iter().chain(&['…']).chain(end).collect()
    };
    let apart: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(place, text)| if is_shared(&cut, place) { with_end(text) } else { cut[place].clone() })
        .collect();
    let number = |place: usize| apart[..=place].iter().filter(|other| **other == apart[place]).count();
    (0..apart.len())
        .map(|place| {
            if is_shared(&apart, place) { format!("{} {}", apart[place], number(place)) } else { apart[place].clone() }
        })
        .collect()
}

/// About how wide a text is at the size of labels, rather too wide than too narrow: what is wider
/// than its margin is cut off.
pub(crate) fn width_of(text: &str) -> f64 {
    let width = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | 'I' | '!' => 4.2,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 11.0,
        character if character.is_uppercase() => 8.8,
        character if character.is_ascii() => 7.2,
        _ => 12.0,
    };
    text.chars().map(width).sum()
}

/// A round step that divides `span` into at most `steps_max` parts.
pub(crate) fn round_step(span: f64, steps_max: f64) -> f64 {
    if !(span.is_finite() && span > 0.0) {
        return 1.0;
    }
    let least = span / steps_max;
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= least * 0.999_999);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text_and_controls_become_blanks() {
        assert_eq!(escaped("a<b & \"c\">\u{1}d"), "a&lt;b &amp; &quot;c&quot;&gt; d");
    }

    #[test]
    fn coordinates_and_numbers_are_short() {
        assert_eq!([At(1.0), At(1.25), At(-0.04), At(f64::NAN)].map(|at| at.to_string()), ["1", "1.3", "0", "0"]);
        assert_eq!([0.0, 12.0, 0.123456, 1234.5678, 0.5].map(short), ["0", "12", "0.1235", "1235", "0.5"]);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([10.0, 7.0, 0.3, 1000.0].map(|span| round_step(span, 5.0)), [2.0, 2.0, 0.1, 200.0]);
        assert_eq!([0.0, f64::NAN, -1.0].map(|span| round_step(span, 5.0)), [1.0; 3]);
    }

    #[test]
    fn texts_that_begin_alike_stay_apart() {
        let texts = ["Admitted from Ambulatory", "Admitted from Ambulance", "Home"].map(str::to_owned);
        assert_eq!(fitted_apart(&texts, 13), ["Admitt…latory", "Admitt…ulance", "Home"]);
        let same = ["abcdefgh", "abcdefgh"].map(str::to_owned);
        assert_eq!(fitted_apart(&same, 5), ["ab…gh 1", "ab…gh 2"]);
    }

    #[test]
    fn long_texts_are_cut_and_the_missing_value_has_a_name() {
        assert_eq!(["abcdef", "abc", ""].map(|text| fitted(text, 4)), ["abc…", "abc", "(missing)"]);
    }
}
