//! Rules about some known values alone, for random cases, and which labels may stand for a value,
//! spelled out from what they cover.

use hedgerow_privacy::Model;
use hedgerow_table::{Bound as Point, Cover};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::random_case::Case;

/// At times, rules are about some known values alone: values that occur, or that lie between.
pub(crate) fn name_known_values(case: &mut Case, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed ^ 0x5eed);
    for rule in &mut case.policy.rules {
        let takes = rule.require.iter().all(Model::takes_known_values);
        for name in rule.know.iter().filter(|_| takes) {
            let column = case.table.column(name).unwrap();
            if rng.random_bool(0.75) || column.domain.present() == 0 {
                continue;
            }
            let mut values: Vec<String> = (0..rng.random_range(1..3))
                .map(|_| column.domain.text(rng.random_range(0..column.domain.present() as u32)))
                .collect();
            if rng.random_bool(0.2) {
                values = vec!["11".to_owned()];
            }
            values.dedup();
            rule.only_where.insert(name.clone(), values);
        }
    }
}

/// Whether a person with this value may be under a label. A mask has as many characters as the
/// value, and stars where they are hidden.
pub(crate) fn may_be(label: &str, cover: &Cover, value: &str) -> bool {
    let masked = label.contains('*') && label != "*";
    if masked {
        let alike = |(shown, own): (char, char)| shown == '*' || shown == own;
        return label.chars().count() == value.chars().count() && label.chars().zip(value.chars()).all(alike);
    }
    let days = |text: &str| hedgerow_table::date::Date::parse_iso(text).map(|date| f64::from(date.0));
    let (number, day) = (value.parse::<f64>().ok(), days(value));
    let compared = |point: &Point| match point {
        Point::Integer(own) => number.map(|number| (*own as f64, number)),
        Point::Float(own) => number.map(|number| (*own, number)),
        Point::Date(date) => day.map(|day| (f64::from(date.0), day)),
    };
    match cover {
        Cover::Everything => true,
        Cover::Missing => false,
        Cover::Point(point) => compared(point).is_some_and(|(own, value)| own == value),
        Cover::Interval { low: None, high: None } => number.is_some() || day.is_some(),
        Cover::Interval { low, high } => {
            let from = low.as_ref().is_none_or(|low| compared(low).is_some_and(|(low, value)| low <= value));
            from && high.as_ref().is_none_or(|high| compared(high).is_some_and(|(high, value)| value < high))
        }
        Cover::Leaves(leaves) => leaves.iter().any(|leaf| leaf == value),
    }
}
