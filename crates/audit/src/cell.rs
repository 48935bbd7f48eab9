//! The cover of a released label in the column it came from: the values, and the interval of the
//! axis they lie on.
//!
//! The label's meaning comes from the codebook, the values from the source. A number or date label
//! covers a interval, clipped to what lies between the lowest and the highest value of the source;
//! a label with leaves covers values.

use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Cover, Domain, Values};

use crate::estimate::axis::{first_whole, real};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourceCell {
    /// The source's values under the label, as ascending codes, the missing one included.
    pub(crate) codes: Vec<u32>,
    pub(crate) shape: CellShape,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CellShape {
    /// One value, or the missing one: nothing is lost.
    Value,
    /// A part of the axis.
    Interval(Interval),
    /// Several leaves.
    Listed,
    /// Several numbers with gaps between them, from the lowest leaf to the highest.
    Scattered(Interval),
    /// Whatever there is, the missing value included.
    Everything,
}

/// A part of a number or date axis, both ends inclusive. Days count as whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Interval {
    Integer { first: i64, last: i64 },
    Real { low: f64, high: f64 },
}

impl Interval {
    /// From the lowest to the highest value of a column; `None` for text and for a column without
    /// values.
    pub(crate) fn of_domain(domain: &Domain) -> Option<Interval> {
        match domain.values() {
            Values::Integer(values) => Some(Interval::Integer { first: *values.first()?, last: *values.last()? }),
            Values::Date(values) => {
                Some(Interval::Integer { first: i64::from(values.first()?.0), last: i64::from(values.last()?.0) })
            }
            Values::Float(values) => Some(Interval::Real { low: *values.first()?, high: *values.last()? }),
            Values::Category(_) => None,
        }
    }

    /// From the value of one code to that of another, both inclusive.
    fn between(domain: &Domain, first: u32, last: u32) -> Option<Interval> {
        let (first, last) = (first as usize, last as usize);
        match domain.values() {
            Values::Integer(values) => Some(Interval::Integer { first: values[first], last: values[last] }),
            Values::Date(values) => {
                Some(Interval::Integer { first: i64::from(values[first].0), last: i64::from(values[last].0) })
            }
            Values::Float(values) => Some(Interval::Real { low: values[first], high: values[last] }),
            Values::Category(_) => None,
        }
    }

    /// The last value minus the first.
    pub(crate) fn width(self) -> f64 {
        match self {
            Interval::Integer { first, last } => (i128::from(last) - i128::from(first)) as f64,
            Interval::Real { low, high } => high - low,
        }
    }
}

impl SourceCell {
    pub(crate) fn new(cover: &Cover, domain: &Domain) -> SourceCell {
        match cover {
            Cover::Everything => {
                SourceCell { codes: (0..domain.cardinality() as u32).collect(), shape: CellShape::Everything }
            }
            Cover::Missing => {
                SourceCell { codes: domain.missing_code().into_iter().collect(), shape: CellShape::Value }
            }
            Cover::Point(point) => {
                let from = position(domain, |value| value < *point);
                let to = position(domain, |value| value <= *point);
                SourceCell { codes: (from..to).collect(), shape: CellShape::Value }
            }
            Cover::Interval { low, high } => {
                let from = low.map_or(0, |low| position(domain, |value| value < low));
                let to = high.map_or(domain.present() as u32, |high| position(domain, |value| value < high));
                let shape = clip(*low, *high, domain).map_or(CellShape::Listed, CellShape::Interval);
                SourceCell { codes: (from..to).collect(), shape }
            }
            Cover::Leaves(leaves) if is_pattern(leaves, domain) => {
                let under = |code: &u32| matches_pattern(&leaves[0], &domain.text(*code));
                let codes: Vec<u32> = (0..domain.present() as u32).filter(under).collect();
                let hull =
                    codes.first().zip(codes.last()).and_then(|(&low, &high)| Interval::between(domain, low, high));
                let shape = match hull {
                    _ if codes.len() == 1 => CellShape::Value,
                    Some(hull) => CellShape::Scattered(hull),
                    None => CellShape::Listed,
                };
                SourceCell { codes, shape }
            }
            Cover::Leaves(leaves) => {
                let code = |leaf: &String| domain.code_of(leaf).or(domain.missing_code().filter(|_| leaf.is_empty()));
                let mut codes: Vec<u32> = leaves.iter().filter_map(code).collect();
                codes.sort_unstable();
                codes.dedup();
                let shape = match hull(leaves, domain) {
                    _ if leaves.len() == 1 => CellShape::Value,
                    Some(hull) => CellShape::Scattered(hull),
                    None => CellShape::Listed,
                };
                SourceCell { codes, shape }
            }
        }
    }
}

/// From the lowest to the highest of leaves that are numbers or dates, within the axis of the
/// source.
fn hull(leaves: &[String], domain: &Domain) -> Option<Interval> {
    let axis = Interval::of_domain(domain)?;
    let bounds = || leaves.iter().filter_map(|leaf| Bound::parse(leaf));
    match axis {
        Interval::Integer { first, last } => {
            let (low, high) = (bounds().filter_map(first_whole).min()?, bounds().filter_map(first_whole).max()?);
            let first = low.max(first);
            Some(Interval::Integer { first, last: high.min(last).max(first) })
        }
        Interval::Real { low: lowest, high: highest } => {
            let low = bounds().filter_map(real).min_by(f64::total_cmp)?;
            let high = bounds().filter_map(real).max_by(f64::total_cmp)?;
            let low = low.max(lowest);
            Some(Interval::Real { low, high: high.min(highest).max(low) })
        }
    }
}

/// A masked label's only leaf is its own text, in which every `*` stands for one character; masked
/// columns hold no stars.
fn is_pattern(leaves: &[String], domain: &Domain) -> bool {
    matches!(leaves, [leaf] if leaf.contains('*') && domain.code_of(leaf).is_none())
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut characters = text.chars();
    pattern.chars().all(|wanted| characters.next().is_some_and(|found| wanted == '*' || wanted == found))
        && characters.next().is_none()
}

/// How many of the present values are on the near side of a point; values that cannot be compared
/// with it are not.
fn position(domain: &Domain, near: impl Fn(Bound) -> bool) -> u32 {
    let place = match domain.values() {
        Values::Integer(values) => values.partition_point(|value| near(Bound::Integer(*value))),
        Values::Float(values) => values.partition_point(|value| near(Bound::Float(*value))),
        Values::Date(values) => values.partition_point(|value| near(Bound::Date(*value))),
        Values::Category(_) => 0,
    };
    place as u32
}

/// An interval (`low` inclusive, `high` exclusive) within the axis of the source.
fn clip(low: Option<Bound>, high: Option<Bound>, domain: &Domain) -> Option<Interval> {
    match Interval::of_domain(domain)? {
        Interval::Integer { first, last } => {
            let first = low.and_then(first_whole).map_or(first, |low| low.max(first));
            let last = high.and_then(first_whole).map_or(last, |high| high.saturating_sub(1).min(last));
            (first <= last).then_some(Interval::Integer { first, last })
        }
        Interval::Real { low: lowest, high: highest } => {
            let low = low.and_then(real).map_or(lowest, |low| low.max(lowest));
            let high = high.and_then(real).map_or(highest, |high| high.min(highest));
            (low <= high).then_some(Interval::Real { low, high })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(texts: &[&str], missing: bool) -> Domain {
        Domain::from_texts(texts, missing, None).unwrap().0
    }

    fn interval(low: Option<Bound>, high: Option<Bound>) -> Cover {
        Cover::Interval { low, high }
    }

    #[test]
    fn ages_20_to_29_of_people_between_23_and_60() {
        let ages = domain(&["23", "29", "30", "60"], true);
        let cell = SourceCell::new(&interval(Some(Bound::Integer(20)), Some(Bound::Integer(30))), &ages);
        assert_eq!(cell.codes, [0, 1]);
        assert_eq!(cell.shape, CellShape::Interval(Interval::Integer { first: 23, last: 29 }));
        let open = SourceCell::new(&interval(Some(Bound::Integer(30)), None), &ages);
        assert_eq!(open.codes, [2, 3], "the missing value lies on no axis");
        assert_eq!(open.shape, CellShape::Interval(Interval::Integer { first: 30, last: 60 }));
        assert_eq!(SourceCell::new(&Cover::Missing, &ages).codes, [4]);
        assert_eq!(SourceCell::new(&Cover::Everything, &ages).codes, [0, 1, 2, 3, 4]);
        assert_eq!(SourceCell::new(&Cover::Point(Bound::Float(30.0)), &ages).codes, [2]);
        assert_eq!(SourceCell::new(&Cover::Point(Bound::Integer(31)), &ages).codes, [0u32; 0]);
    }

    #[test]
    fn leaves_that_do_not_occur_are_not_among_the_values() {
        let colors = domain(&["blue", "green", "red"], true);
        let cover = Cover::Leaves(["red", "pink", "", "blue"].map(str::to_owned).to_vec());
        assert_eq!(SourceCell::new(&cover, &colors), SourceCell { codes: vec![0, 2, 3], shape: CellShape::Listed });
        let one = Cover::Leaves(vec!["red".to_owned()]);
        assert_eq!(SourceCell::new(&one, &colors), SourceCell { codes: vec![2], shape: CellShape::Value });
    }

    #[test]
    fn a_bound_between_two_whole_numbers_belongs_to_the_next() {
        let ages = domain(&["1", "2", "3", "4"], false);
        let cell = SourceCell::new(&interval(Some(Bound::Float(1.5)), Some(Bound::Float(3.5))), &ages);
        assert_eq!(cell.codes, [1, 2]);
        assert_eq!(cell.shape, CellShape::Interval(Interval::Integer { first: 2, last: 3 }));
    }
}
