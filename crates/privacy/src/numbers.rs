//! The numbers behind a protected attribute's codes, and what it means that two of them are close.
//!
//! A number is the decimal that stands in the data: an integer, a date's day, or the shortest
//! decimal that a float prints as, which is the text it was read from (`0.1` is one tenth, not the
//! binary fraction next to it, just as in a policy). All values of a column are integers in one
//! unit, a power of ten, so that differences and comparisons with a threshold are exact. Nothing is
//! rounded: a column whose values need more than [`DIGITS_MAX`] digits from the largest to the
//! smallest unit is refused.
//!
//! A missing value is a value of its own: at no distance from other missing ones, close to no
//! number. Rows without a value are thus close to one another alone, and learning that a person's
//! value is missing counts as learning it.

use hedgerow_table::{Domain, InputError, Kind, Ratio, Values};

use crate::products::product;

/// Digits of a column's numbers in their common unit.
pub const DIGITS_MAX: u32 = 37;

/// The values of a domain in order, as multiples of `10^-decimals`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers {
    units: Vec<i128>,
    decimals: u32,
}

/// Why a protected attribute cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotNumbers {
    /// The values are text; one of them stands in the way, unless all would pass as numbers and the
    /// type was declared.
    Text { value: Option<String>, instead_of: Kind },
    /// More than [`DIGITS_MAX`] digits would be needed.
    TooManyDigits,
    /// A share of a date depends on the day from which days are counted.
    ShareOfDates,
    /// The values are texts without a declared order.
    NoOrder,
    /// The values are texts, and this one is not in their declared order.
    NotInOrder(String),
}

impl NotNumbers {
    pub fn refusal(&self, attribute: &str, model: &str, place: impl Into<String>) -> InputError {
        let (found, hint) = match self {
            NotNumbers::Text { value: Some(value), instead_of } => {
                let thing = if *instead_of == Kind::Date { "date" } else { "finite number" };
                let problem = format!("{:?} is not a {thing}", shortened(value));
                (problem, "correct the value, or list it in `null` of the source when it stands for a missing one")
            }
            NotNumbers::Text { value: None, .. } => {
                ("its values are text".to_owned(), "declare its `type` as integer, float or date")
            }
            NotNumbers::TooManyDigits => {
                let problem = format!("its values need more than {DIGITS_MAX} digits to be written in one unit");
                (problem, "round the smallest, or correct the largest: the values span too many digits")
            }
            NotNumbers::ShareOfDates => {
                let problem = "there are dates, which have no size to take a share of".to_owned();
                (problem, "leave `relative` out and give `epsilon` in days")
            }
            NotNumbers::NoOrder => {
                let problem = format!(
                    "the ordered distance of {model} counts how many values lie between two, and the texts of \
                     `{attribute}` have no declared order"
                );
                let hint = format!(
                    "declare it for `{attribute}` under [attributes], such as `order = [\"low\", \"mid\", \"high\"]`, or \
                     require `distance = \"equal\"`"
                );
                return InputError::new(place, problem, hint);
            }
            NotNumbers::NotInOrder(value) => {
                let problem = format!(
                    "{model} compares values in order, and {:?} is not in that of `{attribute}`",
                    shortened(value)
                );
                return InputError::new(place, problem, "list every value that occurs, lowest first");
            }
        };
        InputError::new(place, format!("{model} measures how close numbers are, and in `{attribute}` {found}"), hint)
    }
}

fn shortened(value: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    if value.chars().count() <= CHARACTERS_MAX {
        return value.to_owned();
    }
    value.chars().take(CHARACTERS_MAX).chain(['…']).collect()
}

impl Numbers {
    pub fn of(domain: &Domain) -> Result<Numbers, NotNumbers> {
        match domain.values() {
            Values::Integer(values) => Ok(Numbers { units: values.iter().map(|&x| x.into()).collect(), decimals: 0 }),
            Values::Date(days) => Ok(Numbers { units: days.iter().map(|day| day.0.into()).collect(), decimals: 0 }),
            Values::Float(values) => from_floats(values).ok_or(NotNumbers::TooManyDigits),
            // A column without any value has nothing to compare.
            Values::Category(texts) if texts.is_empty() => Ok(Numbers { units: Vec::new(), decimals: 0 }),
            Values::Category(texts) => Err(culprit(texts)),
        }
    }

    /// How many there are; the code of a missing value is not among them.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether two values are at most `times · distance` apart.
    pub fn apart_at_most(&self, distance: Ratio, times: u64) -> impl Fn(usize, usize) -> bool + '_ {
        let unit = 10u128.pow(self.decimals);
        let most = product(u128::from(distance.numerator) * u128::from(times), unit);
        move |one, other| product(self.units[one].abs_diff(self.units[other]), distance.denominator.into()) <= most
    }

    /// Whether the second value lies within a share of the first one's size.
    pub fn apart_at_most_share(&self, share: Ratio) -> impl Fn(usize, usize) -> bool + '_ {
        move |center, other| {
            let apart = self.units[center].abs_diff(self.units[other]);
            let most = product(self.units[center].unsigned_abs(), share.numerator.into());
            product(apart, share.denominator.into()) <= most
        }
    }
}

fn from_floats(values: &[f64]) -> Option<Numbers> {
    let decimals: Vec<(i128, i32)> = values.iter().map(|&value| decimal(value)).collect();
    let lowest = decimals.iter().map(|&(_, exponent)| exponent).min().unwrap_or(0).min(0);
    let shifted = |&(digits, exponent): &(i128, i32)| {
        let places = u32::try_from(exponent - lowest).ok()?;
        if digits == 0 { Some(0) } else { digits.checked_mul(10i128.checked_pow(places)?) }
    };
    let units: Vec<i128> = decimals.iter().map(shifted).collect::<Option<_>>()?;
    let limit = 10i128.pow(DIGITS_MAX);
    let fit = lowest.unsigned_abs() <= DIGITS_MAX && units.iter().all(|unit| (-limit..=limit).contains(unit));
    fit.then_some(Numbers { units, decimals: lowest.unsigned_abs() })
}

/// The shortest decimal of a finite float as digits and a power of ten.
fn decimal(value: f64) -> (i128, i32) {
    if value == 0.0 {
        return (0, 0);
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').expect("the format writes an exponent");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").parse().expect("at most seventeen digits");
    let exponent: i32 = exponent.parse().expect("a float's exponent is small");
    (digits, exponent - fraction.len() as i32)
}

/// The first text that keeps a column from being what most of its texts are.
fn culprit(texts: &[Box<str>]) -> NotNumbers {
    let taken = |kind: Kind| texts.iter().filter(|text| kind.takes(text)).count();
    let instead_of = if taken(Kind::Date) > taken(Kind::Float) { Kind::Date } else { Kind::Float };
    let value = texts.iter().find(|text| !instead_of.takes(text)).map(|text| text.to_string());
    NotNumbers::Text { value, instead_of }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(texts: &[&str]) -> Result<Numbers, NotNumbers> {
        Numbers::of(&Domain::from_texts(texts, false, None).unwrap().0)
    }

    fn within(texts: &[&str], distance: f64) -> bool {
        numbers(texts).unwrap().apart_at_most(Ratio::from_decimal(distance).unwrap(), 1)(0, 1)
    }

    #[test]
    fn decimals_are_compared_as_they_are_written() {
        assert!(within(&["0.6", "0.8"], 0.2), "in floats, 0.8 - 0.6 exceeds 0.2");
        assert!(!within(&["0.6", "0.8"], 0.199_999_999_999));
        assert!(!within(&["0.1", "0.30000000000000004"], 0.2));
        assert!(!within(&["-1e-20", "1e15"], 1e15), "35 digits from one end to the other");
        assert!(within(&["1e-20", "1e15"], 1e15));
        assert!(within(&["9223372036854775806", "9223372036854775807"], 1.0));
        assert!(!within(&["-9223372036854775808", "9223372036854775807"], 1e17));
        assert!(within(&["2024-02-28", "2024-03-01"], 2.0));
        assert!(!within(&["2023-02-28", "2023-03-02"], 1.5));
    }

    #[test]
    fn a_value_that_is_not_a_number_is_named() {
        let refused =
            |texts: &[&str]| numbers(texts).unwrap_err().refusal("pay", "delta-l-diversity", "here").to_string();
        assert!(refused(&["1", "NaN", "2.5"]).contains("in `pay` \"NaN\" is not a finite number"));
        assert!(refused(&["inf", "1"]).contains("\"inf\""));
        assert!(refused(&["2024-02-28", "2024-02-30", "2024-03-01"]).contains("\"2024-02-30\" is not a date"));
        assert!(refused(&["1e300", "1e-300"]).contains("more than 37 digits"));
        assert!(refused(&[&"x".repeat(100)]).contains("xxx…"));
        let declared = Domain::from_texts(&["1", "2"], false, Some(Kind::Category)).unwrap().0;
        let text = Numbers::of(&declared).unwrap_err().refusal("pay", "delta-l-diversity", "here").to_string();
        assert!(text.contains("its values are text") && text.contains("`type`"), "{text}");
        assert_eq!(numbers(&[]).map(|numbers| numbers.len()), Ok(0), "nothing but missing values");
    }
}
