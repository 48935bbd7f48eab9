//! The notation in which releases write the labels of numbers and dates: `<18`, `18 to 29`, `65+`,
//! `0.5 to <1`, `2020-03`, and one value as it is.

use hedgerow_table::date::Date;
use hedgerow_table::{Bound, Cover, DateUnit, Kind};

/// The cover of a text; `None` for one that no release has.
pub(super) fn cover(text: &str, kind: Kind) -> Option<Cover> {
    if let Some(value) = value(text, kind) {
        return Some(Cover::Point(value));
    }
    if let Some((_, cover)) = DateUnit::read(text).filter(|_| kind == Kind::Date) {
        return Some(cover);
    }
    if let Some(high) = text.strip_prefix('<') {
        return Some(Cover::Interval { low: None, high: Some(value(high, kind)?) });
    }
    if let Some(low) = text.strip_suffix('+') {
        return Some(Cover::Interval { low: Some(value(low, kind)?), high: None });
    }
    let (low, high) = text.split_once(" to ")?;
    match (high.strip_prefix('<'), kind) {
        (Some(high), _) => Some(Cover::Interval { low: Some(value(low, kind)?), high: Some(value(high, kind)?) }),
        (None, Kind::Integer) => {
            // An end beyond the integers of a column is an open end: nothing lies there.
            let bound = |end: i128| i64::try_from(end).ok().map(Bound::Integer);
            Some(Cover::Interval { low: bound(whole(low)?), high: bound(whole(high)?.checked_add(1)?) })
        }
        (None, Kind::Float) => {
            let Bound::Float(last) = value(high, kind)? else { return None };
            Some(Cover::Interval { low: Some(value(low, kind)?), high: Some(Bound::Float(last.next_up())) })
        }
        (None, Kind::Date | Kind::Category) => None,
    }
}

/// A text as a value of a kind that has an order.
pub(super) fn value(text: &str, kind: Kind) -> Option<Bound> {
    match (kind, Bound::parse(text)?) {
        (Kind::Integer, value @ Bound::Integer(_)) => Some(value),
        (Kind::Float, Bound::Integer(value)) => Some(Bound::Float(value as f64)),
        (Kind::Float, value @ Bound::Float(_)) => Some(value),
        (Kind::Date, value @ Bound::Date(Date(_))) => Some(value),
        _ => None,
    }
}

/// An integer as it is written, of any size.
fn whole(text: &str) -> Option<i128> {
    text.parse::<i128>().ok().filter(|whole| whole.to_string() == text)
}

/// A label without the marks that local recoding adds where its text is taken: `'`, ` (several)`,
/// ` (level 2)` and ` (2)`.
pub(super) fn unmarked(label: &str) -> impl Iterator<Item = &str> {
    let without_quotes = label.trim_end_matches('\'');
    let is_mark = |mark: &str| {
        let number = mark.strip_prefix("level ").unwrap_or(mark);
        mark == "several" || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let before = without_quotes.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let before = before.filter(|(_, mark)| is_mark(mark)).map(|(text, _)| text);
    [without_quotes].into_iter().chain(before)
}
