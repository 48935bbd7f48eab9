//! A policy's declarations about an attribute's values: the range that is public, the order of
//! texts, how dates are written.

use std::cmp::Ordering;
use std::collections::HashSet;

use hedgerow_config::source::read_date_format;
use hedgerow_config::{Data, Field, Fields, Reader, quoted};
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{DateFormat, Kind};

use crate::{Role, hierarchy};

/// The lowest and the highest possible value, as they are public without the data:
/// `[0, 120]` for an age. Cells at the end of the axis stop there. `inf` leaves an end open.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// Inclusive; `None` for an open end.
    pub low: Option<Bound>,
    /// Inclusive; `None` for an open end.
    pub high: Option<Bound>,
    pub place: String,
}

impl Range {
    /// Whether a value lies inside. Values on another axis do not.
    pub fn contains(&self, value: Bound) -> bool {
        let within = |bound: Option<Bound>, wrong: Ordering| {
            bound.is_none_or(|bound| compare(value, bound).is_some_and(|order| order != wrong))
        };
        within(self.low, Ordering::Less) && within(self.high, Ordering::Greater)
    }
}

/// The order of an attribute's texts, lowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrder {
    /// At least two, all different.
    pub values: Vec<String>,
    pub place: String,
}

/// All that is declared of one attribute's values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Declared {
    pub range: Option<Range>,
    pub order: Option<ValueOrder>,
    /// How its dates are written; the source's format when absent.
    pub date_format: Option<DateFormat>,
    /// Values that single out a row may be released.
    pub allow_unique: bool,
}

pub(crate) fn read(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    role: Option<Role>,
    kind: &mut Option<Kind>,
) -> Declared {
    let mut declared = Declared::default();
    if let Some(field) = fields.get("date-format") {
        declared.date_format = read_date_format(reader, field);
        fits(reader, field, *kind, &[Kind::Date], "dates");
        *kind = kind.or(Some(Kind::Date));
    }
    if let Some(field) = fields.get("range") {
        declared.range = read_range(reader, field);
        let dates = declared.range.as_ref().is_some_and(|range| range.low.or(range.high).is_some_and(is_date));
        let (kinds, of): (&[Kind], _) =
            if dates { (&[Kind::Date], "dates") } else { (&[Kind::Integer, Kind::Float], "numbers") };
        if declared.range.is_some() {
            fits(reader, field, *kind, kinds, of);
        }
    }
    if let Some(field) = fields.get("order") {
        declared.order = read_order(reader, field);
        fits(reader, field, *kind, &[Kind::Category], "texts");
        if fields.get("range").is_some() {
            let hint = "numbers and dates are ordered by themselves and may have a `range`; texts need an `order`";
            reader.refuse_key(&field.node.at, "given together with `range`", hint);
        }
        *kind = kind.or(Some(Kind::Category));
    }
    if let Some(field) = fields.get("allow-unique") {
        declared.allow_unique = reader.flag(field).unwrap_or(false);
        if let Some(role @ (Role::Identifier | Role::Quasi | Role::Unit)) = role {
            let problem = format!("has no meaning for an attribute with the role {}", quoted(role.name()));
            reader.refuse_key(&field.node.at, problem, "omit it; it is for attributes that are released as they are");
        }
    }
    if let Some(role @ (Role::Identifier | Role::Unit)) = role {
        for key in ["range", "order"].into_iter().filter_map(|key| fields.get(key)) {
            let what = if role == Role::Unit { "a unit" } else { "an identifier" };
            let problem = format!("{what} is never released, so nothing need be declared of its values");
            reader.refuse_key(&key.node.at, problem, "remove it, or change the role");
        }
    }
    declared
}

fn fits(reader: &mut Reader<'_>, field: Field<'_>, kind: Option<Kind>, kinds: &[Kind], of: &str) {
    if let Some(kind) = kind.filter(|kind| !kinds.contains(kind)) {
        let problem = format!("is for {of}, but the attribute's type is {}", quoted(kind.name()));
        reader.refuse_key(&field.node.at, problem, "change `type`, or remove the key");
    }
}

fn is_date(bound: Bound) -> bool {
    matches!(bound, Bound::Date(_))
}

/// `None` for numbers compared with dates.
fn compare(a: Bound, b: Bound) -> Option<Ordering> {
    let float = |bound: Bound| match bound {
        Bound::Integer(value) => Some(value as f64),
        Bound::Float(value) => Some(value),
        Bound::Date(_) => None,
    };
    match (a, b) {
        (Bound::Integer(a), Bound::Integer(b)) => Some(a.cmp(&b)),
        (Bound::Date(a), Bound::Date(b)) => Some(a.cmp(&b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

fn read_range(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Range> {
    let ends = reader.list(field)?;
    let [low, high] = ends.as_slice() else {
        let problem = format!("expected the lowest and the highest value, found {} values", ends.len());
        reader.refuse(&field.node.at, problem, field.hint());
        return None;
    };
    let (low, high) = (range_end(reader, *low, f64::NEG_INFINITY), range_end(reader, *high, f64::INFINITY));
    let (low, high) = (low?, high?);
    let problem = match (low, high) {
        (None, None) => Some("both ends are open: it declares nothing"),
        (Some(low), Some(high)) => match compare(low, high) {
            None => Some("one end is a number, the other a date"),
            Some(Ordering::Less) => None,
            Some(_) => Some("the highest value is not above the lowest"),
        },
        _ => None,
    };
    if let Some(problem) = problem {
        reader.refuse(&field.node.at, problem, field.hint());
        return None;
    }
    Some(Range { low, high, place: reader.place(&field.node.at) })
}

/// `Some(None)` for an open end, which only `open` may stand for.
fn range_end(reader: &mut Reader<'_>, field: Field<'_>, open: f64) -> Option<Option<Bound>> {
    if let Data::Float = field.node.data
        && reader.text_of(field.node).parse::<f64>() == Ok(open)
    {
        return Some(None);
    }
    hierarchy::bound(reader, field).map(Some)
}

fn read_order(reader: &mut Reader<'_>, field: Field<'_>) -> Option<ValueOrder> {
    let mut seen = HashSet::new();
    let mut values = Vec::new();
    for element in reader.list(field)? {
        let value = match &element.node.data {
            Data::Integer(number) => number.to_string(),
            _ => reader.text(element)?.to_owned(),
        };
        if !seen.insert(value.clone()) {
            reader.refuse(&element.node.at, format!("{} is listed twice", quoted(&value)), "list every value once");
            return None;
        }
        values.push(value);
    }
    if values.len() < 2 {
        reader.refuse(&field.node.at, "fewer than two values have no order", field.hint());
        return None;
    }
    Some(ValueOrder { values, place: reader.place(&field.node.at) })
}
