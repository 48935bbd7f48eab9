//! Numbers in a file, kept exactly as they are written: `0.3` is three tenths, and a number with
//! more digits than can be kept is refused rather than rounded.

use hedgerow_table::Ratio;
use hedgerow_table::exact::Inexact;

use crate::position::quoted;
use crate::reader::{Field, Reader};
use crate::tree::{Data, TomlNode};

/// The range of a number.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// As it completes "must be a number …".
    says: &'static str,
    low: u64,
    low_excluded: bool,
    high: Option<u64>,
}

pub const ABOVE_ZERO: Range = Range { says: "above 0", low: 0, low_excluded: true, high: None };
pub const AT_LEAST_ZERO: Range = Range { says: "of at least 0", low: 0, low_excluded: false, high: None };
pub const AT_LEAST_ONE: Range = Range { says: "of at least 1", low: 1, low_excluded: false, high: None };
pub const SHARE: Range = Range { says: "from 0 to 1", low: 0, low_excluded: false, high: Some(1) };
pub const SHARE_ABOVE_ZERO: Range = Range { says: "above 0 and at most 1", low: 0, low_excluded: true, high: Some(1) };

impl Range {
    fn holds(self, value: Ratio) -> bool {
        let (n, d) = (u128::from(value.numerator), u128::from(value.denominator));
        let low = u128::from(self.low) * d;
        (if self.low_excluded { n > low } else { n >= low }) && self.high.is_none_or(|high| n <= u128::from(high) * d)
    }
}

impl Reader<'_> {
    /// A whole number from `low` to `high`.
    pub fn whole(&mut self, field: Field<'_>, low: u64, high: u64) -> Option<u64> {
        match field.node.data {
            Data::Integer(number) => {
                if let Some(number) = u64::try_from(number).ok().filter(|number| (low..=high).contains(number)) {
                    return Some(number);
                }
            }
            Data::Float => {}
            _ => {
                self.wrong_type(field, "a whole number");
                return None;
            }
        }
        let found = self.written(field.node);
        let range = if high == u64::MAX { format!("of at least {low}") } else { format!("from {low} to {high}") };
        self.refuse(&field.node.at, format!("must be a whole number {range}, found {found}"), field.hint());
        None
    }

    /// A number in the range, exactly.
    pub fn ratio(&mut self, field: Field<'_>, range: Range) -> Option<Ratio> {
        let parsed = match field.node.data {
            Data::Integer(number) => u64::try_from(number).map(Ratio::integer).map_err(|_| Inexact::OutOfRange),
            Data::Float => Ratio::parse(self.text_of(field.node)),
            _ => {
                self.wrong_type(field, "a number");
                return None;
            }
        };
        // A manifest states the number as a float prints it, and a reader must find the same one
        // there.
        let parsed = parsed.and_then(|value| match Ratio::from_decimal(value.as_f64()) {
            Some(printed) if printed == value => Ok(value),
            _ => Err(Inexact::TooManyDigits),
        });
        match parsed {
            Ok(value) if range.holds(value) => return Some(value),
            Ok(_) | Err(Inexact::OutOfRange) => {
                let problem = format!("must be a number {}, found {}", range.says, self.written(field.node));
                self.refuse(&field.node.at, problem, field.hint());
            }
            Err(Inexact::TooManyDigits) => {
                let problem = format!("has more digits than can be kept exactly: {}", self.written(field.node));
                self.refuse(
                    &field.node.at,
                    problem,
                    "15 digits are always possible, 18 at most; round it to the safe side",
                );
            }
        }
        None
    }

    fn written(&self, node: &TomlNode) -> String {
        quoted(self.text_of(node))
    }
}
