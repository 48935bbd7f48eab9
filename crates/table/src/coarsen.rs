//! Coarser values for an attribute that is released as it is: amounts rounded, extremes cut off,
//! days as months, texts as a level of a hierarchy. One exact value of a person finds the row; a
//! coarser value is shared by many.
//!
//! A coarsening maps the values of a domain to coarser ones, in order. It is applied once, right
//! after the source is read, so that whatever follows sees the coarser values alone. Every coarser
//! value stands for an interval or a set of source values: its [`Cover`].
//!
//! Numbers are rounded to the nearest, a tie upwards, so that the covers are half-open intervals.

mod engine;
mod numbers;

use crate::hierarchy::{Bound, Cover, DateUnit, Hierarchy, HierarchySpec, Label};
use crate::{Codes, Column, Domain, InputError, Kind, Ratio, TableError, Values};

pub use engine::CoarsenedEngine;

/// How the values of an attribute become coarser, as a policy declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Coarsening {
    /// How values are made coarser.
    pub way: Way,
    /// Numbers below become this one.
    pub bottom: Option<Bound>,
    /// Numbers above become this one.
    pub top: Option<Bound>,
    /// Where the policy declares it.
    pub place: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// `bottom` or `top` alone.
    Clip,
    /// To the nearest multiple of this number, which is above 0.
    Round(Ratio),
    /// To this many significant digits, at least 1.
    Significant(u32),
    /// Days as a longer unit.
    Dates(DateUnit),
    /// The labels of a level of a hierarchy, at least 1 and below the top.
    Level(HierarchySpec, usize),
}

/// A domain made coarser.
#[derive(Debug, Clone, PartialEq)]
pub struct Coarser {
    pub domain: Domain,
    /// From the codes of the source to those of the coarser domain.
    pub map: Vec<u32>,
    /// Of days and of a hierarchy: what each coarser value covers.
    pub labels: Vec<Label>,
    /// The kind of the source's values.
    pub kind: Kind,
}

impl Coarsening {
    /// The coarser domain of an attribute.
    pub fn apply(&self, attribute: &str, domain: &Domain, nulls: &[String]) -> Result<Coarser, TableError> {
        match &self.way {
            Way::Clip | Way::Round(_) | Way::Significant(_) => Ok(self.of_numbers(attribute, domain)?),
            Way::Dates(DateUnit::Day) => {
                let map = (0..domain.cardinality() as u32).collect();
                Ok(Coarser { domain: domain.clone(), map, labels: Vec::new(), kind: domain.kind() })
            }
            Way::Dates(unit) => self.of_level(attribute, domain, &HierarchySpec::Dates(vec![*unit]), 1, nulls),
            Way::Level(spec, level) => self.of_level(attribute, domain, spec, *level, nulls),
        }
    }

    /// A column with its coarser values.
    pub fn column(&self, column: &Column, nulls: &[String]) -> Result<(Column, Coarser), TableError> {
        let coarser = self.apply(&column.name, &column.domain, nulls)?;
        let (name, domain) = (column.name.clone(), coarser.domain.clone());
        Ok((Column { name, domain, codes: coarser.recode(&column.codes) }, coarser))
    }

    /// The cover of a coarser number, where values are of this kind. `None` for a number that no
    /// value becomes.
    pub fn cover(&self, number: Bound, kind: Kind) -> Option<Cover> {
        numbers::cover(self, number, kind)
    }

    fn of_numbers(&self, attribute: &str, domain: &Domain) -> Result<Coarser, InputError> {
        let refuse = |problem: String, hint: &str| InputError::new(self.place.clone(), problem, hint);
        let too_large = || {
            let problem = format!("`{attribute}` has a number that cannot be rounded within 64 bits");
            refuse(problem, "give a smaller step, or a `top` and a `bottom`")
        };
        let missing = domain.missing_code().is_some();
        let (values, mut map) = match domain.values() {
            Values::Integer(values) => {
                let whole = |bound: Option<Bound>| matches!(bound, None | Some(Bound::Integer(_)));
                if !whole(self.bottom)
                    || !whole(self.top)
                    || matches!(self.way, Way::Round(step) if step.denominator != 1)
                {
                    let problem = format!("`{attribute}` has whole numbers, and would get others");
                    return Err(refuse(problem, "give whole numbers, or declare `type = \"float\"`"));
                }
                let coarse = values.iter().map(|&value| numbers::integer(self, value).ok_or_else(too_large));
                let (values, map) = merged(coarse.collect::<Result<Vec<_>, _>>()?);
                (Values::Integer(values), map)
            }
            Values::Float(values) => {
                let coarse = values.iter().map(|&value| numbers::float(self, value).ok_or_else(too_large));
                let (values, map) = merged(coarse.collect::<Result<Vec<_>, _>>()?);
                (Values::Float(values), map)
            }
            // A column without any value has no kind of its own.
            Values::Category(texts) if texts.is_empty() => (Values::Category(Vec::new()), Vec::new()),
            Values::Category(_) | Values::Date(_) => {
                let found = if domain.kind() == Kind::Date { "dates" } else { "texts" };
                let problem = format!("`{attribute}` has {found}, which are not numbers to round");
                let hint = "for dates `coarsen = { dates = \"month\" }`, for texts a hierarchy and `coarsen = { level = 1 }`; \
                            or declare `type = \"float\"`";
                return Err(refuse(problem, hint));
            }
        };
        let domain_of = |values| Domain::new(values, missing);
        let coarser = domain_of(values);
        map.extend(coarser.missing_code());
        Ok(Coarser { domain: coarser, map, labels: Vec::new(), kind: domain.kind() })
    }

    fn of_level(
        &self,
        attribute: &str,
        domain: &Domain,
        spec: &HierarchySpec,
        level: usize,
        nulls: &[String],
    ) -> Result<Coarser, TableError> {
        let kind = domain.kind();
        if domain.present() == 0 {
            let map = (0..domain.cardinality() as u32).collect();
            return Ok(Coarser { domain: domain.clone(), map, labels: Vec::new(), kind });
        }
        let hierarchy = Hierarchy::build(spec, attribute, &self.place, domain, nulls)?;
        if level == 0 || level >= hierarchy.top() {
            let problem = format!("`{attribute}` has no level {level} below the top `*`");
            let hint = match hierarchy.top() {
                0 | 1 => "give it a `hierarchy` with a level between the values and the top".to_owned(),
                top => format!("give a level from 1 to {}; leave the attribute out to release nothing of it", top - 1),
            };
            return Err(TableError::input(self.place.clone(), problem, hint));
        }
        let level = &hierarchy.levels()[level];
        let is_missing = |label: &Label| label.cover == Cover::Missing;
        let mut order: Vec<usize> = (0..level.labels.len()).filter(|&at| !is_missing(&level.labels[at])).collect();
        order.sort_unstable_by(|&a, &b| level.labels[a].text.cmp(&level.labels[b].text));
        let texts: Vec<Box<str>> = order.iter().map(|&at| level.labels[at].text.as_str().into()).collect();
        let missing = level.labels.iter().any(is_missing);
        let coarser = Domain::new(Values::Category(texts), missing);
        let mut position = vec![coarser.missing_code().unwrap_or_default(); level.labels.len()];
        for (place, &at) in (0..).zip(&order) {
            position[at] = place;
        }
        let map = level.map.iter().map(|&label| position[label as usize]).collect();
        let masked = matches!(spec, HierarchySpec::Mask(_));
        // The leaves of a mask are values of the data; the pattern itself says what it covers.
        let public = |label: &Label| match &label.cover {
            Cover::Leaves(_) if masked => Label { cover: Cover::Leaves(vec![label.text.clone()]), ..label.clone() },
            _ => label.clone(),
        };
        let labels = order.iter().map(|&at| public(&level.labels[at])).collect();
        Ok(Coarser { domain: coarser, map, labels, kind })
    }
}

impl Coarser {
    pub fn recode(&self, codes: &Codes) -> Codes {
        Codes::from_iter(self.domain.cardinality(), codes.iter().map(|code| self.map[code as usize]))
    }
}

/// Ascending values, equal ones once, and the position of each.
fn merged<V: PartialEq + Copy>(values: Vec<V>) -> (Vec<V>, Vec<u32>) {
    let mut distinct: Vec<V> = Vec::new();
    let map = values
        .into_iter()
        .map(|value| {
            if distinct.last() != Some(&value) {
                distinct.push(value);
            }
            distinct.len() as u32 - 1
        })
        .collect();
    (distinct, map)
}

#[cfg(test)]
mod tests;
