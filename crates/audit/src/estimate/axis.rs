//! The knowledge about an attribute: what lies under each of its released labels, and the extent of
//! its values.
//!
//! The codebook states it; an attribute that the codebook does not name was released as it is. How
//! far an open end and the top `*` extend is estimated from the counts of all labels together
//! (`shape`), within the range that the attribute declares. Where the labels show nothing, nothing
//! is assumed and shares are unknown. `measure` and `report`, which hold the source, add its values
//! there, and only there: elsewhere they estimate as a reader does.

use hashbrown::HashMap;
use hedgerow_release::codebook::Codebook;
use hedgerow_table::date::Date;
use hedgerow_table::{Bound, Column, Cover, Domain, Kind, TableError, Values};

use super::declared::{Declared, Masks};
use super::mask;
use super::origin;
use super::shape::{CountedCell, NumberShape, ValueLimits};

/// The day 9990-01-01: an interval from there on holds a decade at most, though its end is open.
const LAST_DECADE: i64 = Date::LAST.0 as i64 - 3651;

/// The longest label an error repeats, in characters.
const SHOWN_MAX: usize = 60;

#[derive(Debug)]
pub(crate) struct EstimateAxis {
    pub(crate) kind: Kind,
    pub(crate) masks: Masks,
    /// Where labels mask the digits of numbers and the kind is a category: that of the numbers.
    pub(crate) digits: Option<Kind>,
    /// By released code, between which two a number with a fraction can lie. Empty where it is
    /// stated that the numbers are whole.
    pub(crate) fractions: Vec<Option<(f64, f64)>>,
    /// By released code.
    pub(crate) under: Vec<Under>,
    /// All texts that are known, each once.
    pub(crate) texts: Vec<String>,
    /// How many of them lie under a label that covers everything: the first ones.
    pub(crate) texts_of_all: usize,
    /// From the lowest to the highest number or date that is known of.
    pub(crate) extent: Option<Extent>,
    /// How the numbers are distributed, as far as the labels show it.
    pub(crate) shape: Option<NumberShape>,
    /// The range that the attribute declares: no value lies outside, both ends inclusive.
    pub(crate) range: Option<Extent>,
    /// Whether some value is known to be missing.
    pub(crate) has_missing: bool,
    /// How many values there are, when these are known and not only what labels happen to name.
    pub(crate) present: Option<usize>,
    /// The characters that a star may stand for.
    pub(crate) alphabet: Vec<char>,
    /// Where numbers are counted from, when some are too large to be floats.
    pub(crate) origin: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The values under one label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Under {
    Missing,
    /// Whole numbers or days, both ends inclusive, `None` open.
    Integers(Option<i64>, Option<i64>),
    /// Real numbers from the first (inclusive) to the second (exclusive), `None` open.
    Real(Option<f64>, Option<f64>),
    /// These numbers or dates, and the missing value.
    Numbers(Vec<Bound>, bool),
    /// These texts, by their position in `EstimateAxis::texts`, and the missing value.
    Texts(Vec<u32>, bool),
    Mask(String),
    /// The values of a sub-class by its micro-statistics, each with the share of its people.
    SubClass(Vec<(SubClassValue, f64)>),
    /// Whatever there is, the missing value included.
    Everything,
}

/// The value of a share of the tuples of a sub-class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SubClassValue {
    Missing,
    /// A text, by its position in `EstimateAxis::texts`.
    Text(u32),
    /// Numbers spread evenly from here to there.
    Around(f64, f64),
}

/// How the values under a label are distributed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spread<'a> {
    /// Evenly from here to there.
    Even(f64, f64),
    /// As all values are; the mass that lies in the interval.
    Shaped(&'a NumberShape, f64),
    Unknown,
}

impl EstimateAxis {
    /// `domain` is all values there are, where they are known.
    pub(crate) fn bind(
        released: &Column,
        codebook: &Codebook,
        declared: Declared,
        domain: Option<&Domain>,
    ) -> Result<EstimateAxis, TableError> {
        let name = released.name.as_str();
        // In a decomposed release one table may generalize an attribute that another releases as it
        // is.
        let texts = || (0..released.domain.cardinality() as u32).map(|code| released.domain.text(code));
        let as_it_is = !codebook.attributes().any(|attribute| attribute == name)
            || (domain.is_none() && texts().all(|text| codebook.cover(name, &text).is_none()));
        let mut covers: Vec<(String, Cover)> = Vec::with_capacity(released.domain.cardinality());
        for code in 0..released.domain.cardinality() as u32 {
            let text = released.domain.text(code);
            let cover =
                if as_it_is { Some(value_cover(&released.domain, code)) } else { codebook.cover(name, &text).cloned() };
            let Some(cover) = cover else {
                let problem =
                    format!("no row for the label {} of `{name}`, which is in the released table", shown(&text));
                let hint = "the files of this release do not belong together; publish it again";
                return Err(TableError::input("codebook.csv", problem, hint));
            };
            covers.push((text, cover));
        }
        let stated = declared.kind.or(as_it_is.then(|| released.domain.kind()));
        let kind = fitting(stated.unwrap_or_else(|| infer(&covers)), &covers);
        let is_guessed = stated.is_none() && kind == Kind::Integer;
        let masks = if as_it_is { Masks::Never } else { declared.masks };
        let mut axis = EstimateAxis {
            kind,
            masks,
            digits: stated.filter(|stated| stated.is_number() && kind == Kind::Category),
            fractions: covers.iter().filter(|_| is_guessed).map(|(_, cover)| fractions(cover)).collect(),
            under: Vec::with_capacity(covers.len()),
            texts: Vec::new(),
            texts_of_all: 0,
            extent: None,
            shape: None,
            range: declared.range.filter(|_| kind != Kind::Category),
            has_missing: domain.is_some_and(|domain| domain.missing_code().is_some()),
            present: domain.map(Domain::present),
            alphabet: mask::alphabet(covers.iter().map(|(text, _)| text.as_str())),
            origin: 0,
        };
        if let Some(domain) = domain {
            axis.learn(domain);
        }
        let mut numbers: HashMap<String, u32> = axis.texts.iter().cloned().zip(0..).collect();
        for (text, cover) in covers {
            let under = axis.under(&text, cover, masks, &mut numbers);
            if under == Under::Numbers(Vec::new(), false)
                || matches!(under, Under::Integers(Some(first), Some(last)) if first > last)
            {
                let problem = format!("the label {} of `{name}` covers no value", shown(&text));
                return Err(TableError::input("codebook.csv", problem, "publish the release again"));
            }
            axis.under.push(under);
        }
        if domain.is_none() {
            axis.texts_of_all = axis.texts.len();
        }
        axis.shape = axis.shape_of(&released.counts());
        axis.origin = origin::of(kind, &axis.under);
        Ok(axis)
    }

    /// The length that a value fills: whole numbers and days extend to the next.
    pub(crate) fn unit(&self) -> f64 {
        if self.kind == Kind::Float { 0.0 } else { 1.0 }
    }

    /// From the cells and how many rows have each.
    fn shape_of(&self, counts: &[u64]) -> Option<NumberShape> {
        if self.kind == Kind::Category {
            return None;
        }
        let unit = self.unit();
        // The end of a declared range says no more of the values than an open end.
        let cell = |low: Option<f64>, high: Option<f64>, rows: f64| CountedCell {
            low: low.filter(|low| self.range.is_none_or(|range| *low > range.low)),
            high: high.filter(|high| self.range.is_none_or(|range| *high < range.high + unit)),
            rows,
        };
        let mut cells = Vec::with_capacity(self.under.len());
        for (under, &rows) in self.under.iter().zip(counts) {
            let rows = rows as f64;
            match under {
                Under::Integers(first, last) => {
                    cells.push(cell(first.map(|first| first as f64), last.map(|last| last as f64 + unit), rows));
                }
                Under::Real(low, high) => cells.push(cell(*low, *high, rows)),
                Under::Everything => cells.push(cell(None, None, rows)),
                Under::Numbers(values, _) if unit > 0.0 => {
                    let numbers = values.iter().filter_map(|value| real(*value));
                    cells
                        .extend(numbers.map(|value| cell(Some(value), Some(value + unit), rows / values.len() as f64)));
                }
                _ => {}
            }
        }
        let known = self.range.or(self.extent.filter(|_| self.present.is_some()));
        let limits = ValueLimits {
            low: known.map(|known| known.low).filter(|low| low.is_finite()),
            high: known.map(|known| known.high + unit).filter(|high| high.is_finite()),
        };
        NumberShape::of(&cells, limits, self.kind != Kind::Date)
    }

    /// Whether a cell is open, or ends where the declared range does: then it does not say how far
    /// its values extend.
    pub(crate) fn is_end_cell(&self, under: &Under) -> bool {
        let range = self.range;
        let (low, high) = match under {
            Under::Integers(first, last) => (first.map(|first| first as f64), last.map(|last| last as f64)),
            Under::Real(low, high) => (*low, *high),
            _ => return false,
        };
        low.is_none_or(|low| range.is_some_and(|range| low <= range.low))
            || high.is_none_or(|high| range.is_some_and(|range| high >= range.high))
    }

    /// Whether numbers under some label are without a lower or an upper bound.
    pub(crate) fn has_open_cells(&self) -> bool {
        self.under.iter().any(|under| match under {
            Under::Integers(first, last) => first.is_none() || last.is_none(),
            Under::Real(low, high) => low.is_none() || high.is_none(),
            Under::SubClass(_) | Under::Everything => true,
            Under::Missing | Under::Numbers(..) | Under::Texts(..) | Under::Mask(_) => false,
        })
    }

    /// How the values of an interval are distributed over it.
    pub(crate) fn spread(&self, ends: (Option<f64>, Option<f64>), by_shape: bool) -> Spread<'_> {
        let known = self.range.or(self.extent.filter(|_| self.present.is_some()));
        if let (Some(low), Some(high), false) = (ends.0, ends.1, by_shape) {
            return Spread::Even(low, high);
        }
        if let Some(shape) = &self.shape {
            let (low, high) = (ends.0.unwrap_or(f64::NEG_INFINITY), ends.1.unwrap_or(f64::INFINITY));
            let (total, _) = shape.between(low, high + self.unit());
            if total > 0.0 {
                return Spread::Shaped(shape, total);
            }
        }
        // No released row is there, or the interval has no length.
        let low = ends.0.or(known.map(|known| ends.1.map_or(known.low, |high| known.low.min(high))));
        let high = ends.1.or(known.map(|known| ends.0.map_or(known.high, |low| known.high.max(low))));
        match (low, high) {
            (Some(low), Some(high)) if low.is_finite() && high.is_finite() => Spread::Even(low, high),
            _ => Spread::Unknown,
        }
    }

    /// Whether some label leaves open how its values are distributed, so that shares are unknown.
    pub(crate) fn leaves_unknown(&self) -> bool {
        let is_unknown = |under: &Under| {
            let (ends, by_shape) = match under {
                Under::Everything if self.kind == Kind::Category => return self.known_values() == 0,
                // Which of the texts that a mask allows exist, its label does not say.
                Under::Mask(_) => return true,
                Under::Everything => ((None, None), true),
                Under::Integers(first, last) => {
                    ((first.map(|first| first as f64), last.map(|last| last as f64)), self.is_end_cell(under))
                }
                Under::Real(low, high) => ((*low, *high), self.is_end_cell(under)),
                _ => return false,
            };
            matches!(self.spread(ends, by_shape), Spread::Unknown)
        };
        self.under.iter().any(is_unknown)
    }

    /// How many values a label that covers everything is known to cover. A column of one value
    /// would not be covered by `*`: there are others, and the labels do not show which.
    pub(crate) fn known_values(&self) -> usize {
        let shown = self.texts_of_all + usize::from(self.has_missing);
        if shown < 2 && self.present.is_none() { 0 } else { shown }
    }

    /// All values there are.
    fn learn(&mut self, domain: &Domain) {
        let last = domain.present() as u32;
        if self.kind == Kind::Category {
            self.texts = (0..last).map(|code| domain.text(code)).collect();
            self.texts_of_all = self.texts.len();
        } else if last > 0 {
            self.extend(domain.number(0));
            self.extend(domain.number(last - 1));
        }
    }

    fn extend(&mut self, value: Option<f64>) {
        let Some(value) = value else { return };
        let Extent { low, high } = self.extent.unwrap_or(Extent { low: value, high: value });
        self.extent = Some(Extent { low: low.min(value), high: high.max(value) });
    }

    fn under(&mut self, label: &str, cover: Cover, masks: Masks, numbers: &mut HashMap<String, u32>) -> Under {
        match cover {
            Cover::Missing => {
                self.has_missing = true;
                Under::Missing
            }
            Cover::Everything => Under::Everything,
            Cover::Leaves(mut leaves) if self.kind == Kind::Category && mask::is_mask(masks, label, &leaves) => {
                Under::Mask(leaves.remove(0))
            }
            Cover::Leaves(leaves) => self.listed(leaves, numbers),
            Cover::Point(point) if self.kind == Kind::Category => self.listed(vec![point.to_string()], numbers),
            Cover::Point(point) => {
                self.extend(real(point));
                Under::Numbers(vec![point], false)
            }
            Cover::Interval { .. } if self.kind == Kind::Category => Under::Everything,
            Cover::Interval { low, high } if self.kind == Kind::Float => {
                let (low, high) = (low.and_then(real), high.and_then(real));
                self.extend(low);
                self.extend(high);
                Under::Real(low, high)
            }
            Cover::Interval { low, high } => {
                let (first, last) =
                    (low.and_then(first_whole), high.and_then(first_whole).map(|high| high.saturating_sub(1)));
                // The last unit of the calendar has no day after it that could be written.
                let ends = self.kind == Kind::Date && first.is_some_and(|first| first >= LAST_DECADE);
                let last = last.or(ends.then_some(i64::from(Date::LAST.0)));
                self.extend(first.map(|first| first as f64));
                self.extend(last.map(|last| last as f64));
                Under::Integers(first, last)
            }
        }
    }

    fn listed(&mut self, leaves: Vec<String>, numbers: &mut HashMap<String, u32>) -> Under {
        let missing = leaves.iter().any(String::is_empty);
        self.has_missing |= missing;
        let leaves = leaves.into_iter().filter(|leaf| !leaf.is_empty());
        if self.kind != Kind::Category {
            let values: Vec<Bound> = leaves.filter_map(|leaf| parse(self.kind, &leaf)).collect();
            values.iter().for_each(|value| self.extend(real(*value)));
            return Under::Numbers(values, missing);
        }
        let number = |leaf: String| {
            let next = self.texts.len() as u32;
            *numbers.entry(leaf).or_insert_with_key(|leaf| {
                self.texts.push(leaf.clone());
                next
            })
        };
        Under::Texts(leaves.map(number).collect(), missing)
    }
}

/// A value of a column that is released as it is.
fn value_cover(domain: &Domain, code: u32) -> Cover {
    let index = code as usize;
    if Some(code) == domain.missing_code() {
        return Cover::Missing;
    }
    match domain.values() {
        Values::Integer(values) => Cover::Point(Bound::Integer(values[index])),
        Values::Float(values) => Cover::Point(Bound::Float(values[index])),
        Values::Date(values) => Cover::Point(Bound::Date(values[index])),
        Values::Category(values) => Cover::Leaves(vec![values[index].to_string()]),
    }
}

/// The kind that the covers imply, where none is declared.
fn infer(covers: &[(String, Cover)]) -> Kind {
    let mut bounds = covers.iter().flat_map(|(_, cover)| match cover {
        Cover::Point(point) => vec![*point],
        Cover::Interval { low, high } => low.iter().chain(high).copied().collect(),
        _ => Vec::new(),
    });
    if let Some(first) = bounds.next() {
        return match first {
            Bound::Date(_) => Kind::Date,
            // `≤ 39` of a foreign table ends just above 39.
            _ if first.is_at_whole() && bounds.all(Bound::is_at_whole) => Kind::Integer,
            _ => Kind::Float,
        };
    }
    let leaves: Vec<&str> =
        covers.iter().flat_map(|(_, cover)| leaves(cover)).filter(|leaf| !leaf.is_empty()).collect();
    Domain::from_texts(&leaves, false, None).map_or(Kind::Category, |(domain, _)| domain.kind())
}

/// Between which two a number under a label can lie if the numbers are not whole.
fn fractions(cover: &Cover) -> Option<(f64, f64)> {
    match cover {
        Cover::Everything => Some((f64::NEG_INFINITY, f64::INFINITY)),
        Cover::Interval { low, high } => {
            let high = high.and_then(real).unwrap_or(f64::INFINITY);
            // An end just above a whole number is that number, inclusive.
            let is_above = high.is_finite() && high.fract() != 0.0 && high.next_down().fract() == 0.0;
            let high = if is_above { high.next_down() } else { high };
            Some((low.and_then(real).unwrap_or(f64::NEG_INFINITY), high))
        }
        Cover::Point(_) | Cover::Leaves(_) | Cover::Missing => None,
    }
}

/// The kind, if every leaf can be read as one; else a category, as of masked numbers.
fn fitting(kind: Kind, covers: &[(String, Cover)]) -> Kind {
    let mut leaves = covers.iter().flat_map(|(_, cover)| leaves(cover)).filter(|leaf| !leaf.is_empty());
    if leaves.all(|leaf| kind == Kind::Category || parse(kind, leaf).is_some()) { kind } else { Kind::Category }
}

fn leaves(cover: &Cover) -> impl Iterator<Item = &str> {
    let leaves: &[String] = if let Cover::Leaves(leaves) = cover { leaves } else { &[] };
    leaves.iter().map(String::as_str)
}

/// A text as a value of a kind that has an order.
fn parse(kind: Kind, text: &str) -> Option<Bound> {
    match (kind, Bound::parse(text)?) {
        (Kind::Integer, bound @ Bound::Integer(_)) => Some(bound),
        (Kind::Float, bound @ (Bound::Integer(_) | Bound::Float(_))) => Some(bound),
        (Kind::Date, bound @ Bound::Date(_)) => Some(bound),
        _ => None,
    }
}

/// The first whole number or day that is not below a bound.
pub(crate) fn first_whole(bound: Bound) -> Option<i64> {
    match bound {
        Bound::Integer(value) => Some(value),
        // The cast saturates, which is right for a bound beyond every integer.
        Bound::Float(value) => Some(value.ceil() as i64),
        Bound::Date(Date(day)) => Some(i64::from(day)),
    }
}

pub(crate) fn real(bound: Bound) -> Option<f64> {
    match bound {
        Bound::Integer(value) => Some(value as f64),
        Bound::Float(value) => Some(value),
        Bound::Date(Date(day)) => Some(f64::from(day)),
    }
}

pub(crate) fn shown(label: &str) -> String {
    match label.char_indices().nth(SHOWN_MAX) {
        Some((cut, _)) => format!("`{}…`", &label[..cut]),
        None => format!("`{label}`"),
    }
}
