//! Axes from the micro-statistics of a cloned release: what is known of a sub-class instead of a
//! label.
//!
//! **Categories** are known by their counts: a tuple of the sub-class has a value with the share of
//! tuples that have it.
//!
//! **Numbers** are known by their mean and by a range around it that covers c of n values. They are
//! taken as spread evenly over an interval around the mean that is as much longer than the range as
//! n is more than c: then the mean is right, and so is the share within the range. A whole number
//! fills the unit around it. Where the range has no length and the numbers are real, all are taken
//! to be the mean. Any other number is possible, but weighs nothing.
//!
//! Attributes of a sub-class are taken as independent, and so are they and the sensitive values of
//! its class. Counterfeits have no values, and are never counted.

use hashbrown::HashMap;
use hedgerow_release::cloned::{Cloned, OfNumber, SubClass};
use hedgerow_table::{Bound, Kind};

use super::axis::{EstimateAxis, Extent, SubClassValue, Under, real};
use super::declared::Masks;

impl EstimateAxis {
    /// The axis of one attribute, with some sub-classes for labels.
    pub(crate) fn of_statistics<'s>(
        read: &Cloned,
        attribute: usize,
        sub_classes: impl Iterator<Item = &'s SubClass> + Clone,
    ) -> EstimateAxis {
        let stated = || sub_classes.clone().map(|part| &part.attributes[attribute]);
        let kind = kind(stated().filter_map(|stated| stated.number));
        let mut axis = EstimateAxis {
            kind: kind.unwrap_or(Kind::Category),
            masks: Masks::Never,
            digits: None,
            fractions: Vec::new(),
            under: Vec::new(),
            texts: Vec::new(),
            texts_of_all: 0,
            extent: None,
            shape: None,
            range: None,
            has_missing: stated().any(|stated| stated.missing > 0),
            present: None,
            alphabet: Vec::new(),
            origin: 0,
        };
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for part in sub_classes.clone() {
            let stated = &part.attributes[attribute];
            let people = part.people().max(1) as f64;
            let mut spread: Vec<(SubClassValue, f64)> = Vec::with_capacity(stated.categories.len() + 1);
            for &(text, count) in &stated.categories {
                let next = axis.texts.len() as u32;
                let text = *numbers.entry(text).or_insert_with_key(|&text| {
                    axis.texts.push(read.texts[text as usize].clone());
                    next
                });
                spread.push((SubClassValue::Text(text), count as f64 / people));
            }
            if let Some((low, high)) = stated.number.and_then(|number| around(&number, axis.kind)) {
                let Extent { low: least, high: most } = axis.extent.unwrap_or(Extent { low, high });
                axis.extent = Some(Extent { low: least.min(low), high: most.max(high) });
                spread.push((
                    SubClassValue::Around(low, high),
                    stated.number.map_or(0, |number| number.count) as f64 / people,
                ));
            }
            if stated.missing > 0 {
                spread.push((SubClassValue::Missing, stated.missing as f64 / people));
            }
            axis.under.push(Under::SubClass(spread));
        }
        axis.texts_of_all = axis.texts.len();
        // Statistics of floats may all be whole.
        if kind == Some(Kind::Integer) {
            let is_number = |(value, _): &(SubClassValue, f64)| matches!(value, SubClassValue::Around(..));
            let has_numbers = |under: &Under| matches!(under, Under::SubClass(values) if values.iter().any(is_number));
            let anywhere = (f64::NEG_INFINITY, f64::INFINITY);
            axis.fractions = axis.under.iter().map(|under| has_numbers(under).then_some(anywhere)).collect();
        }
        axis
    }
}

/// Of real numbers or dates when one bound is; `None` when no number is stated.
fn kind(numbers: impl Iterator<Item = OfNumber>) -> Option<Kind> {
    let mut kind = None;
    for number in numbers {
        // The mean of whole numbers need not be one; the ends of their range are.
        kind = match (number.low, number.high, kind) {
            (Bound::Date(_), ..) => Some(Kind::Date),
            (Bound::Float(_), ..) | (_, Bound::Float(_), _) => Some(Kind::Float),
            (_, _, Some(known)) => Some(known),
            _ => Some(Kind::Integer),
        };
    }
    kind
}

/// The interval that the numbers are taken to fill.
fn around(number: &OfNumber, kind: Kind) -> Option<(f64, f64)> {
    let (mean, low, high) = (real(number.mean)?, real(number.low)?, real(number.high)?);
    let unit = if kind == Kind::Float { 0.0 } else { 1.0 };
    let length = ((high - low).max(0.0) + unit) * number.count as f64 / number.covered.max(1) as f64;
    Some((mean - length / 2.0, mean + length / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::predicate::Predicate;
    use crate::estimate::regions::Regions;

    fn number(mean: &str, low: i64, high: i64, (covered, count): (u64, u64)) -> OfNumber {
        let mean = Bound::parse(mean).unwrap();
        OfNumber { mean, count, low: Bound::Integer(low), high: Bound::Integer(high), covered }
    }

    #[test]
    fn half_of_the_numbers_in_the_range_makes_the_interval_twice_as_long() {
        assert_eq!(around(&number("40", 38, 42, (2, 4)), Kind::Integer), Some((35.0, 45.0)));
        assert_eq!(around(&number("40", 40, 40, (4, 4)), Kind::Integer), Some((39.5, 40.5)), "all are 40");
        assert_eq!(around(&number("40.5", 40, 41, (1, 3)), Kind::Integer), Some((37.5, 43.5)));
        let real = OfNumber { low: Bound::Float(1.0), high: Bound::Float(2.0), ..number("1.5", 1, 2, (1, 2)) };
        assert_eq!(around(&real, Kind::Float), Some((0.5, 2.5)));
    }

    /// Ages about 40, half of four within 38 to 42; one tuple without an age. A query for ages up
    /// to 39: 35 to 39 fill 4.5 of ten.
    #[test]
    fn shares_of_a_sub_class_by_hand() {
        let age = hedgerow_release::cloned::OfAttribute {
            number: Some(number("40", 38, 42, (2, 4))),
            missing: 1,
            ..Default::default()
        };
        let part = SubClass { number: 1, tuples: 6, counterfeits: 1, attributes: vec![age] };
        let read = Cloned {
            sensitive: "s".to_owned(),
            domain: hedgerow_table::Domain::from_texts(&["x"], false, None).unwrap().0,
            counted: hedgerow_table::Table::from_texts(&["class"], &[vec!["1"]]),
            attributes: vec!["age".to_owned()],
            texts: Vec::new(),
            classes: Vec::new(),
        };
        let axis = EstimateAxis::of_statistics(&read, 0, [&part].into_iter());
        let predicate = Predicate::Between(Bound::Integer(0), Bound::Integer(39));
        let regions = Regions::new(&axis, &[&predicate]).unwrap();
        let parts = &regions.cells[0];
        let held: f64 = parts.iter().filter(|part| regions.holds[part.region as usize][0]).map(|part| part.mass).sum();
        assert!((held - 0.45 * 0.8).abs() < 1e-12, "{held}");
        assert!((parts.iter().map(|part| part.mass).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
