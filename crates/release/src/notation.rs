//! Cells as people and other programs write them, read as what they cover.
//!
//! | label | covers | written by |
//! |---|---|---|
//! | `*`, `NA` | everything | ARX, sdcMicro |
//! | `35`, `-1.5`, `1e+03`, `2020-01-31` | that number or day | |
//! | `[20, 40[`, `]20, 40]`, `[20-40]`, `[20; 40]` | between the ends; a bracket that turns away leaves its end out | ARX, ISO 31-11 |
//! | `[20,40)`, `(20,40]`, `(19.999, 40.0]`, `[-Inf,20)` | between the ends; a parenthesis leaves its end out | R, sdcMicro, pandas |
//! | `20-39`, `20–39`, `20 to 39`, `20..39`, `05-09` | both ends taken in | |
//! | `20-<40`, `20<-40`, `low-<20`, `65-high` | between the ends, `<` leaves one out | SAS |
//! | `<40`, `≤40`, `>40`, `>=40`, `under 40`, `at least 40` | one side of 40 | |
//! | `65+`, `65 and over`, `17 or less` | one side, with its end | |
//! | `2020-03` | that month | |
//! | `{a, b}` | these values | ARX |
//! | `021**` | every text of that pattern | ARX |
//!
//! Ends are kept to the digit: `≤ 39` covers 39 and not 39.5.

use std::borrow::Cow;

use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::{Bound, Cover};
use hedgerow_table::read::NumberFormat;
use hedgerow_table::{DateFormat, DateUnit, Kind};

/// How the numbers and dates within labels are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notation {
    pub(crate) numbers: NumberFormat,
    pub(crate) dates: Option<DateFormat>,
}

/// The cover of a label that no codebook explains; a text in none of the notations covers
/// itself.
pub fn cover_of_label(label: &str) -> Cover {
    Notation::default().read(label).unwrap_or_else(|| Cover::Leaves(vec![label.to_owned()]))
}

/// Whether a label of numbers or dates reads as an interval that leaves out a part of what it is
/// said to cover: `20 to 28` for 20 to 29. A label may say more than it covers, and may be any
/// other text.
pub(crate) fn misstates(label: &str, cover: &Cover, kind: Kind) -> bool {
    let ends = |cover: &Cover| match *cover {
        Cover::Point(at) => Some((Some(at), Some(at))),
        // The last value rather than the first beyond it: `20 to 29` ends at 29 and not at 30.
        Cover::Interval { low, high } => Some((low, high.map(|high| last_before(high, kind)))),
        _ => None,
    };
    let (Some(said), Some(covered)) = (Notation::default().read(label).and_then(|said| ends(&said)), ends(cover))
    else {
        return false;
    };
    let is_date = |bound: Bound| matches!(bound, Bound::Date(_));
    let all = [said.0, said.1, covered.0, covered.1];
    let alike = all.iter().flatten().all(|&bound| is_date(bound) == (kind == Kind::Date));
    // An open end of the cover is open in the label, unless the label is one value.
    let beyond = |said: Option<Bound>, covered: Option<Bound>, beyond: fn(Bound, Bound) -> bool| {
        said.is_some_and(|said| covered.is_none_or(|covered| beyond(said, covered)))
    };
    alike
        && (beyond(said.0, covered.0, |said, covered| said > covered)
            || beyond(said.1, covered.1, |said, covered| said < covered))
}

/// The highest value of a kind below a bound.
fn last_before(bound: Bound, kind: Kind) -> Bound {
    match (bound, kind) {
        (Bound::Integer(value), Kind::Integer) => Bound::Integer(value.saturating_sub(1)),
        (Bound::Float(value), Kind::Integer) => Bound::Float(value.next_down().floor()),
        (Bound::Date(Date(day)), _) => Bound::Date(Date(day.saturating_sub(1))),
        (Bound::Integer(value), _) => Bound::Float((value as f64).next_down()),
        (Bound::Float(value), _) => Bound::Float(value.next_down()),
    }
}

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct End {
    /// `None` is infinity.
    at: Option<Bound>,
    closed: bool,
}

/// The label of all numbers where the missing value was cut off. A codebook row has no words for it
/// and is left blank.
pub const NOT_MISSING: &str = "not missing";

const INFINITE: [&str; 6] = ["inf", "+inf", "-inf", "∞", "+∞", "-∞"];
const BELOW: [&str; 5] = ["<", "under ", "below ", "less than ", "fewer than "];
const UP_TO: [&str; 4] = ["<=", "=<", "up to ", "at most "];
const ABOVE: [&str; 5] = [">", "over ", "above ", "more than ", "greater than "];
const FROM: [&str; 3] = [">=", "=>", "at least "];
const AND_MORE: [&str; 5] = ["over", "older", "above", "more", "up"];
const AND_LESS: [&str; 5] = ["under", "younger", "below", "less", "fewer"];

impl Notation {
    /// `None` when the label is a text like any other.
    pub(crate) fn read(&self, label: &str) -> Option<Cover> {
        match label {
            "" => return Some(Cover::Missing),
            // A cell that sdcMicro suppressed; `<NA>` is how R prints it.
            "*" | "NA" | "<NA>" => return Some(Cover::Everything),
            _ => {}
        }
        if let Some(point) = self.point(label) {
            return Some(Cover::Point(point));
        }
        let text = self.plain_characters(label);
        let text = text.trim();
        let read = self.bracketed(text).or_else(|| self.one_sided(text)).or_else(|| self.between(text));
        if let Some(cover) = read.or_else(|| month(text)) {
            return Some(cover);
        }
        if let Some(inner) = label.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return Some(Cover::Leaves(inner.split(',').map(|leaf| leaf.trim().to_owned()).collect()));
        }
        label.contains('*').then(|| Cover::Leaves(vec![label.to_owned()]))
    }

    /// A cell that is one value, as it would be written in a table of values.
    fn point(&self, text: &str) -> Option<Bound> {
        if let Some(date) = self.dates.as_ref().and_then(|dates| dates.read(text)) {
            return Some(Bound::Date(date));
        }
        let bound = Bound::parse(text);
        if self.numbers == NumberFormat::default() || matches!(bound, Some(Bound::Date(_))) {
            return bound;
        }
        Bound::parse(&self.numbers.plain(text)?)
    }

    /// The end of an interval. `05` and `.5` are numbers here: no code begins an interval.
    fn bound(&self, text: &str) -> Option<Bound> {
        let text = text.trim();
        if let Some(bound) = self.point(text).or_else(|| midnight(text).map(Bound::Date)) {
            return Some(bound);
        }
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => ("-", unsigned),
            None => ("", text.strip_prefix('+').unwrap_or(text)),
        };
        let point_first = unsigned.starts_with('.').then(|| unsigned.to_owned());
        let plain = point_first.or_else(|| self.numbers.plain(unsigned))?;
        if !plain.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let significant = plain.trim_start_matches('0');
        let zero = if significant.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
        let bound = Bound::parse(&format!("{sign}{zero}{significant}"))?;
        (!matches!(bound, Bound::Date(_))).then_some(bound)
    }

    fn bracketed(&self, text: &str) -> Option<Cover> {
        let closed_below = match text.chars().next()? {
            '[' => true,
            '(' | ']' => false,
            _ => return None,
        };
        let (inner, closed_above) = match text.chars().next_back()? {
            ']' => (text.get(1..text.len() - 1)?, true),
            ')' | '[' => (text.get(1..text.len() - 1)?, false),
            _ => return None,
        };
        let end = |text: &str, closed: bool| {
            let infinite = text.trim().is_empty() || INFINITE.contains(&text.trim().to_lowercase().as_str());
            let at = if infinite { None } else { Some(self.bound(text)?) };
            Some(End { at, closed })
        };
        if !inner.contains(|c: char| c.is_alphanumeric() || c == '∞') {
            return None;
        }
        split(inner, &[";", ",", " to ", "..", "–", "-"], |low, high| {
            interval(end(low, closed_below)?, end(high, closed_above)?)
        })
    }

    /// `20-39`, `20 to 39` and the like take in both ends; `<` leaves one out.
    fn between(&self, text: &str) -> Option<Cover> {
        let text = without_unit(text);
        split(text, &[" to ", " – ", " - ", "..", "–", "-"], |low, high| {
            let (low, open_below) = low.trim().strip_suffix('<').map_or((low, false), |low| (low, true));
            let bare = BELOW.iter().find_map(|mark| strip_mark(high.trim(), mark));
            let (high, open_above) = bare.map_or((high, false), |high| (high, true));
            let end = |text: &str, infinite: [&str; 2], closed: bool| {
                let infinite = infinite.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
                let at = if infinite { None } else { Some(self.bound(text)?) };
                Some(End { at, closed })
            };
            interval(end(low, ["low", "min"], !open_below)?, end(high, ["high", "max"], !open_above)?)
        })
    }

    fn one_sided(&self, text: &str) -> Option<Cover> {
        let text = without_unit(text);
        let infinite = End { at: None, closed: false };
        let side = |marks: &[&str]| marks.iter().find_map(|mark| self.bound(strip_mark(text, mark)?));
        let end = |bound: Bound, closed: bool| End { at: Some(bound), closed };
        // The longer marks first: `<=` begins with `<`.
        if let Some(high) = side(&UP_TO) {
            return interval(infinite, end(high, true));
        }
        if let Some(low) = side(&FROM) {
            return interval(end(low, true), infinite);
        }
        if let Some(high) = side(&BELOW) {
            return interval(infinite, end(high, false));
        }
        if let Some(low) = side(&ABOVE) {
            return interval(end(low, false), infinite);
        }
        if let Some(low) = text.strip_suffix('+').or_else(|| text.strip_suffix(" plus")) {
            return interval(end(self.bound(without_unit(low))?, true), infinite);
        }
        let (rest, word) = text.rsplit_once(' ')?;
        let rest = rest.strip_suffix(" and").or_else(|| rest.strip_suffix(" or"))?;
        let bound = end(self.bound(without_unit(rest))?, true);
        let is_one_of = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is_one_of(&AND_MORE) {
            interval(bound, infinite)
        } else if is_one_of(&AND_LESS) {
            interval(infinite, bound)
        } else {
            None
        }
    }

    /// One character for the many that typesetters have for it.
    fn plain_characters<'l>(&self, label: &'l str) -> Cow<'l, str> {
        if label.is_ascii() {
            return Cow::Borrowed(label);
        }
        let mut plain = String::with_capacity(label.len());
        for character in label.chars() {
            match character {
                mark if self.numbers.thousands() == Some(mark) => plain.push(mark),
                '≤' | '⩽' => plain.push_str("<="),
                '≥' | '⩾' => plain.push_str(">="),
                '…' => plain.push_str(".."),
                '\u{2212}' => plain.push('-'),
                '\u{2010}'..='\u{2015}' => plain.push('–'),
                '\u{a0}' | '\u{2009}' | '\u{202f}' => plain.push(' '),
                other => plain.push(other),
            }
        }
        Cow::Owned(plain)
    }
}

/// The one cover that the places where a text can be split lead to, the separators tried in order.
/// Two covers leave it open which is meant, as `1,2,3` with decimal commas does: then there is
/// none.
fn split(text: &str, separators: &[&str], read: impl Fn(&str, &str) -> Option<Cover>) -> Option<Cover> {
    for separator in separators {
        let mut found: Option<Cover> = None;
        for (at, _) in text.match_indices(separator) {
            let Some(cover) = read(&text[..at], &text[at + separator.len()..]) else { continue };
            if found.as_ref().is_some_and(|found| *found != cover) {
                return None;
            }
            found = Some(cover);
        }
        if found.is_some() {
            return found;
        }
    }
    None
}

/// `None` when it covers nothing, or one end is a date and the other a number.
fn interval(low: End, high: End) -> Option<Cover> {
    if let (Some(from), Some(to)) = (low.at, high.at)
        && from == to
    {
        return (low.closed && high.closed).then_some(Cover::Point(from));
    }
    let from = match low.at {
        Some(bound) if !low.closed => Some(bound.just_above()?),
        other => other,
    };
    let to = match high.at {
        Some(bound) if high.closed => Some(bound.just_above()?),
        other => other,
    };
    let filled = from.zip(to).is_none_or(|(from, to)| from < to);
    filled.then_some(Cover::Interval { low: from, high: to })
}

/// `2020-03` is a month: as numbers it would run backward.
fn month(text: &str) -> Option<Cover> {
    DateUnit::read(text).filter(|(unit, _)| *unit == DateUnit::Month).map(|(_, cover)| cover)
}

/// A bare year among dates.
pub(crate) fn year(point: Bound) -> Option<Cover> {
    let Bound::Integer(year @ 1000..=9999) = point else { return None };
    DateUnit::read(&year.to_string()).map(|(_, cover)| cover)
}

/// A moment at the beginning of a day, as pandas writes a date.
fn midnight(text: &str) -> Option<Date> {
    let (day, time) = text.split_at_checked(10)?;
    let time = time.strip_prefix([' ', 'T'])?;
    let zeros = time.bytes().all(|byte| matches!(byte, b'0' | b':' | b'.' | b'Z' | b'+'));
    if zeros && time.starts_with("00:00") { Date::parse_iso(day) } else { None }
}

/// The rest behind a mark or a word, in any case.
fn strip_mark<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let (begin, rest) = text.split_at_checked(mark.len())?;
    begin.eq_ignore_ascii_case(mark).then_some(rest)
}

/// `18-64 years` without its unit.
fn without_unit(text: &str) -> &str {
    let text = text.trim();
    let stripped = [" years old", " years", " year", " yrs", " yr"].iter().find_map(|unit| {
        let (rest, end) = text.split_at_checked(text.len().checked_sub(unit.len())?)?;
        end.eq_ignore_ascii_case(unit).then_some(rest)
    });
    stripped.unwrap_or(text)
}

/// Whether a text was probably meant to be an interval: it has a digit, and a bracket or a sign
/// where a notation would.
pub(crate) fn looks_like_interval(text: &str) -> bool {
    let text = text.trim();
    text.contains(|c: char| c.is_ascii_digit())
        && (text.starts_with(['[', '(', ']', '<', '>', '≤', '≥', '=']) || text.ends_with([']', '[', '+']))
}

/// Whether a cover can hold a value of a kind that has an order.
pub fn can_hold(cover: &Cover, kind: Kind) -> bool {
    let fits = |bound: Bound| matches!(bound, Bound::Date(_)) == (kind == Kind::Date);
    match cover {
        _ if kind == Kind::Category => true,
        Cover::Everything | Cover::Missing => true,
        Cover::Point(point) => fits(*point),
        Cover::Interval { low, high } => low.or(*high).is_none_or(fits),
        Cover::Leaves(leaves) => {
            leaves.iter().any(|leaf| leaf.is_empty() || leaf.contains('*') || Bound::parse(leaf).is_some_and(fits))
        }
    }
}

#[cfg(test)]
mod tests;
