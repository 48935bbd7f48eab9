//! Knowledge of how the attributes of several releases go together: shares of people, such as
//! `P(age >= 40 | zip >= 20000) = 4/9`.

use std::cmp::Ordering;
use std::fmt;

use hedgerow_table::{Bound, Cover};

/// Of the people whom all of `given` is true of, the share whom all of `of` is true of as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointShare {
    pub of: Vec<Condition>,
    /// Of all people, when empty.
    pub given: Vec<Condition>,
    pub numerator: u64,
    pub denominator: u64,
}

/// A condition that some people fulfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub attribute: String,
    pub comparison: Comparison,
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    AtLeast,
    Below,
    Equal,
}

/// Of how many people under a label a condition is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    OfNone,
    OfSome,
    OfAll,
}

/// A share has no more digits than this.
const DIGITS_MAX: usize = 15;

impl JointShare {
    /// Reads `P(age >= 40 | zip >= 20000) = 4/9`. An error says what was expected.
    pub fn parse(text: &str) -> Result<JointShare, String> {
        let form = || "expected a share such as P(age >= 40 | zip >= 20000) = 4/9".to_owned();
        let (inside, share) = text.rsplit_once('=').ok_or_else(form)?;
        let inside = inside.trim();
        let inside = inside.strip_prefix("P(").and_then(|rest| rest.strip_suffix(')')).ok_or_else(form)?;
        let (of, given) = inside.split_once('|').unwrap_or((inside, ""));
        let conditions = |text: &str| text.split(',').map(Condition::parse).collect::<Result<Vec<_>, String>>();
        let given = if given.trim().is_empty() { Vec::new() } else { conditions(given)? };
        let (numerator, denominator) = ratio(share.trim()).ok_or_else(|| {
            format!("`{}` is not a share: write a ratio such as 4/9, or a number from 0 to 1", share.trim())
        })?;
        Ok(JointShare { of: conditions(of)?, given, numerator, denominator })
    }

    /// The attributes that it names.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.of.iter().chain(&self.given).map(|condition| condition.attribute.as_str())
    }
}

/// From 0 to 1, as written.
fn ratio(text: &str) -> Option<(u64, u64)> {
    let number = |text: &str| {
        let digits = text.len() <= DIGITS_MAX && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| digits)
    };
    let (numerator, denominator) = match (text.split_once('/'), text.split_once('.')) {
        (Some((over, under)), _) => (number(over.trim())?, number(under.trim())?),
        (None, Some((whole, fraction))) => {
            let under = 10u64.pow(u32::try_from(fraction.len()).ok().filter(|_| fraction.len() <= DIGITS_MAX)?);
            (number(whole)?.checked_mul(under)?.checked_add(number(fraction)?)?, under)
        }
        (None, None) => (number(text)?, 1),
    };
    (denominator > 0 && numerator <= denominator).then_some((numerator, denominator))
}

impl fmt::Display for JointShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |conditions: &[Condition]| conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "P({}", list(&self.of))?;
        if !self.given.is_empty() {
            write!(f, " | {}", list(&self.given))?;
        }
        write!(f, ") = {}/{}", self.numerator, self.denominator)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::AtLeast => ">=",
            Comparison::Below => "<",
            Comparison::Equal => "=",
        };
        write!(f, "{} {sign} {}", self.attribute, self.value)
    }
}

impl Condition {
    fn parse(text: &str) -> Result<Condition, String> {
        let comparisons = [
            (">=", Comparison::AtLeast),
            ("≥", Comparison::AtLeast),
            ("<", Comparison::Below),
            ("=", Comparison::Equal),
        ];
        for (sign, comparison) in comparisons {
            let Some((attribute, value)) = text.split_once(sign) else { continue };
            let (attribute, value) = (attribute.trim().to_owned(), value.trim().trim_matches('"').to_owned());
            if attribute.is_empty() || (comparison != Comparison::Equal && Bound::parse(&value).is_none()) {
                break;
            }
            return Ok(Condition { attribute, comparison, value });
        }
        Err(format!("`{}` is not a condition: write age >= 40, age < 40 or sex = F", text.trim()))
    }

    /// Of how many people under a label it is true.
    pub fn holds(&self, cover: &Cover) -> Holds {
        match cover {
            Cover::Everything => Holds::OfSome,
            Cover::Missing => self.of_text(""),
            Cover::Point(point) => self.of_point(*point),
            Cover::Interval { low, high } => self.of_interval(*low, *high),
            Cover::Leaves(leaves) => {
                let of = |leaf: &String| match leaf.contains('*') {
                    true => Holds::OfSome,
                    false => self.of_text(leaf),
                };
                let (least, most) = (leaves.iter().map(of).min(), leaves.iter().map(of).max());
                if least == most { least.unwrap_or(Holds::OfSome) } else { Holds::OfSome }
            }
        }
    }

    fn of_text(&self, text: &str) -> Holds {
        match (self.comparison, Bound::parse(text)) {
            (_, Some(point)) => self.of_point(point),
            (Comparison::Equal, None) if text == self.value => Holds::OfAll,
            _ => Holds::OfNone,
        }
    }

    fn of_point(&self, point: Bound) -> Holds {
        let order = Bound::parse(&self.value).and_then(|value| point.partial_cmp(&value));
        let is_true = match (self.comparison, order) {
            (Comparison::AtLeast, Some(order)) => order != Ordering::Less,
            (Comparison::Below, Some(order)) => order == Ordering::Less,
            (Comparison::Equal, Some(order)) => order == Ordering::Equal,
            (_, None) => false,
        };
        if is_true { Holds::OfAll } else { Holds::OfNone }
    }

    fn of_interval(&self, low: Option<Bound>, high: Option<Bound>) -> Holds {
        let Some(value) = Bound::parse(&self.value) else { return Holds::OfNone };
        let from = low.map(|low| low.partial_cmp(&value) != Some(Ordering::Less));
        let to = high.map(|high| high.partial_cmp(&value) != Some(Ordering::Greater));
        // Whether all lies at or above the value, and whether all lies below it.
        let (above, below) = (from == Some(true), to == Some(true));
        match self.comparison {
            Comparison::AtLeast if above => Holds::OfAll,
            Comparison::AtLeast if below => Holds::OfNone,
            Comparison::Below if below => Holds::OfAll,
            Comparison::Below if above => Holds::OfNone,
            Comparison::Equal if below || (above && low != Some(value)) => Holds::OfNone,
            _ => Holds::OfSome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_and_written() {
        let share = JointShare::parse("P(age >= 40 | zip ≥ 20000, sex = F) = 4/9").unwrap();
        assert_eq!((share.of.len(), share.given.len(), share.numerator, share.denominator), (1, 2, 4, 9));
        assert_eq!(share.to_string(), "P(age >= 40 | zip >= 20000, sex = F) = 4/9");
        assert_eq!(JointShare::parse(&share.to_string()).unwrap(), share);
        let decimal = JointShare::parse("P(age < 40) = 0.25").unwrap();
        assert_eq!((decimal.given.len(), decimal.numerator, decimal.denominator), (0, 25, 100));
        for wrong in [
            "age >= 40",
            "P(age >= 40 = 1/2",
            "P(age) = 1/2",
            "P(age >= old) = 1/2",
            "P(a = b) = 3/2",
            "P(a = b) = x",
            "",
        ] {
            assert!(JointShare::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_condition_is_true_of_all_some_or_none_under_a_label() {
        let of = |text: &str| Condition::parse(text).unwrap();
        let interval = |low: Option<i64>, high: Option<i64>| Cover::Interval {
            low: low.map(Bound::Integer),
            high: high.map(Bound::Integer),
        };
        assert_eq!(of("age >= 40").holds(&interval(Some(40), None)), Holds::OfAll);
        assert_eq!(of("age >= 40").holds(&interval(Some(30), Some(40))), Holds::OfNone);
        assert_eq!(of("age >= 40").holds(&interval(Some(30), Some(50))), Holds::OfSome);
        assert_eq!(of("age < 40").holds(&interval(None, Some(40))), Holds::OfAll);
        assert_eq!(of("age < 40").holds(&interval(Some(40), None)), Holds::OfNone);
        assert_eq!(of("age = 40").holds(&interval(Some(20), Some(40))), Holds::OfNone);
        assert_eq!(of("age = 40").holds(&Cover::Point(Bound::Integer(40))), Holds::OfAll);
        assert_eq!(of("sex = F").holds(&Cover::Leaves(vec!["F".to_owned()])), Holds::OfAll);
        assert_eq!(of("sex = F").holds(&Cover::Leaves(vec!["F".to_owned(), "M".to_owned()])), Holds::OfSome);
        assert_eq!(of("sex = F").holds(&Cover::Leaves(vec!["1*".to_owned()])), Holds::OfSome);
        assert_eq!(of("sex = F").holds(&Cover::Everything), Holds::OfSome);
        assert_eq!(of("sex = F").holds(&Cover::Missing), Holds::OfNone);
    }
}
