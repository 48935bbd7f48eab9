//! The values a column can take, in order; a cell is a position in it.
//!
//! Types are inferred so that nothing is lost: two texts never become one value. A column is a
//! number or a date only when every value present is one to the last digit. `02139` stays text, as
//! does a column with one value that is not a number, and a column that holds both `250.1` and
//! `250.10`. A declared type goes before all this.

use crate::date::Date;

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Integer,
    /// Numbers with a fraction.
    Float,
    /// Texts.
    Category,
    /// Days of the calendar.
    Date,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Integer, Kind::Float, Kind::Category, Kind::Date];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Category => "category",
            Kind::Date => "date",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Float)
    }

    /// Whether a value of this kind can be written as `text`.
    pub fn takes(self, text: &str) -> bool {
        match self {
            Kind::Integer => parse_integer(text).is_some(),
            Kind::Float => parse_float(text).is_some(),
            Kind::Date => Date::parse_iso(text).is_some(),
            Kind::Category => true,
        }
    }
}

/// Distinct values, ascending. Floats are finite; text is ordered by its bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Category(Vec<Box<str>>),
    Date(Vec<Date>),
}

/// The values of one column. A missing cell is a value of its own: the last code, when there is
/// one.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    values: Values,
    missing: bool,
}

impl Domain {
    /// `values` must be strictly ascending.
    pub fn new(values: Values, missing: bool) -> Domain {
        debug_assert!(match &values {
            Values::Integer(v) => v.is_sorted_by(|a, b| a < b),
            Values::Float(v) => v.is_sorted_by(|a, b| a < b) && v.iter().all(|x| x.is_finite()),
            Values::Category(v) => v.is_sorted_by(|a, b| a < b),
            Values::Date(v) => v.is_sorted_by(|a, b| a < b),
        });
        Domain { values, missing }
    }

    /// The distinct texts of a column (in any order, without the missing ones) as a domain of the
    /// declared or the inferred kind, and for every text its code. Two texts of one number (`1.5`,
    /// `1.50`) share a code when the kind is declared; an inferred kind keeps them apart.
    ///
    /// `Err` holds the position of the first text that the declared kind cannot take.
    pub fn from_texts<T: AsRef<str>>(
        texts: &[T],
        missing: bool,
        declared: Option<Kind>,
    ) -> Result<(Domain, Vec<u32>), usize> {
        Domain::typed(texts, missing, declared).map(|typed| (typed.domain, typed.codes))
    }

    /// As `from_texts`, and says when the texts are numbers that had to stay text.
    pub(crate) fn typed<T: AsRef<str>>(texts: &[T], missing: bool, declared: Option<Kind>) -> Result<Typed, usize> {
        let kind = declared.unwrap_or_else(|| infer(texts));
        let (values, codes) = values_of(texts, kind)?;
        // The canonical texts of integers, dates and categories are as many as their values.
        if declared.is_none()
            && kind == Kind::Float
            && let Some(merged) = first_pair(&codes)
        {
            let (values, codes) = values_of(texts, Kind::Category)?;
            return Ok(Typed { domain: Domain { values, missing }, codes, kept_apart: Some(merged) });
        }
        Ok(Typed { domain: Domain { values, missing }, codes, kept_apart: None })
    }

    pub fn kind(&self) -> Kind {
        match &self.values {
            Values::Integer(_) => Kind::Integer,
            Values::Float(_) => Kind::Float,
            Values::Category(_) => Kind::Category,
            Values::Date(_) => Kind::Date,
        }
    }

    pub fn values(&self) -> &Values {
        &self.values
    }

    /// How many values are present, not counting the missing one.
    pub fn present(&self) -> usize {
        match &self.values {
            Values::Integer(v) => v.len(),
            Values::Float(v) => v.len(),
            Values::Category(v) => v.len(),
            Values::Date(v) => v.len(),
        }
    }

    /// How many codes there are, the missing one included.
    pub fn cardinality(&self) -> usize {
        self.present() + usize::from(self.missing)
    }

    /// The code of a missing cell.
    pub fn missing_code(&self) -> Option<u32> {
        self.missing.then_some(self.present() as u32)
    }

    /// The text of a code; the missing value's is empty.
    pub fn text(&self, code: u32) -> String {
        let index = code as usize;
        if index >= self.present() {
            return String::new();
        }
        match &self.values {
            Values::Integer(v) => v[index].to_string(),
            Values::Float(v) => v[index].to_string(),
            Values::Category(v) => v[index].to_string(),
            Values::Date(v) => v[index].to_string(),
        }
    }

    /// The number behind a code: the value itself, a date's day number; `None` for text and for a
    /// missing cell.
    pub fn number(&self, code: u32) -> Option<f64> {
        let index = code as usize;
        match &self.values {
            Values::Integer(v) => v.get(index).map(|&x| x as f64),
            Values::Float(v) => v.get(index).copied(),
            Values::Date(v) => v.get(index).map(|date| f64::from(date.0)),
            Values::Category(_) => None,
        }
    }

    /// The code of a value given as text, when it is in the domain.
    pub fn code_of(&self, text: &str) -> Option<u32> {
        let found = match &self.values {
            Values::Integer(v) => v.binary_search(&parse_integer(text)?),
            Values::Float(v) => {
                let wanted = parse_float(text)?;
                v.binary_search_by(|x| x.total_cmp(&wanted))
            }
            Values::Category(v) => v.binary_search_by(|x| x.as_ref().cmp(text)),
            Values::Date(v) => v.binary_search(&Date::parse_iso(text)?),
        };
        found.ok().map(|index| index as u32)
    }
}

/// Texts with their kind.
pub(crate) struct Typed {
    pub(crate) domain: Domain,
    pub(crate) codes: Vec<u32>,
    /// Positions of two texts that are one number, because of which the column was inferred to be
    /// text.
    pub(crate) kept_apart: Option<[usize; 2]>,
}

fn values_of<T: AsRef<str>>(texts: &[T], kind: Kind) -> Result<(Values, Vec<u32>), usize> {
    Ok(match kind {
        Kind::Integer => {
            let (sorted, codes) = rank(parse_all(texts, parse_integer)?, |a, b| a.cmp(b));
            (Values::Integer(sorted), codes)
        }
        Kind::Float => {
            let (sorted, codes) = rank(parse_all(texts, parse_float)?, f64::total_cmp);
            (Values::Float(sorted), codes)
        }
        Kind::Date => {
            let (sorted, codes) = rank(parse_all(texts, Date::parse_iso)?, |a, b| a.cmp(b));
            (Values::Date(sorted), codes)
        }
        Kind::Category => {
            let texts: Vec<Box<str>> = texts.iter().map(|text| text.as_ref().into()).collect();
            let (sorted, codes) = rank(texts, |a, b| a.cmp(b));
            (Values::Category(sorted), codes)
        }
    })
}

/// The first code that occurs before, by both positions.
pub(crate) fn first_pair(codes: &[u32]) -> Option<[usize; 2]> {
    let mut seen = vec![usize::MAX; codes.len()];
    codes.iter().enumerate().find_map(|(position, &code)| {
        let first = std::mem::replace(&mut seen[code as usize], position);
        (first != usize::MAX).then_some([first, position])
    })
}

/// An integer whose printed form is the text itself: no leading zeros, no plus sign, no minus zero.
pub(crate) fn parse_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let canonical = match digits {
        [] => false,
        [b'0'] => !text.starts_with('-'),
        [b'0', ..] => false,
        _ => digits.iter().all(u8::is_ascii_digit),
    };
    if canonical { text.parse().ok() } else { None }
}

/// A finite decimal of at most 17 significant digits, which is as many as programs write to tell
/// every float from every other, or the shortest text of a float. Of two texts beyond 15 digits
/// that are one float, a column knows by comparing them. Leading zeros (`007.5`) make it a code,
/// not a number; the zero before a point may be omitted (`.5`).
pub fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let mantissa = unsigned.split(['e', 'E']).next()?;
    let whole = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let well_formed = whole.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
        && !(mantissa.len() > 1 && mantissa.starts_with('0') && !mantissa.starts_with("0."));
    if !well_formed {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|x: &f64| x.is_finite())?;
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|b| *b == b'0').collect();
    let fits = value == 0.0 || value.is_normal() || is_nearest(&digits, value);
    let exact = (digits.len() <= 17 && (value == 0.0) == digits.is_empty() && fits) || value.to_string() == text;
    // One zero: minus zero would be a second value that compares equal to the first.
    exact.then_some(if value == 0.0 { 0.0 } else { value })
}

/// Whether a float, written with as many digits, has these: below the normal floats the next one
/// is far, and most decimals are not near any.
fn is_nearest(digits: &[u8], value: f64) -> bool {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    let digits = &digits[..digits.len() - zeros];
    let shown = format!("{:.*e}", digits.len().saturating_sub(1), value);
    let mantissa = shown.split('e').next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).eq(digits.iter().copied())
}

fn infer<T: AsRef<str>>(texts: &[T]) -> Kind {
    let all = |accepts: &dyn Fn(&str) -> bool| texts.iter().all(|text| accepts(text.as_ref()));
    if texts.is_empty() {
        Kind::Category
    } else if all(&|text| parse_integer(text).is_some()) {
        Kind::Integer
    } else if all(&|text| parse_float(text).is_some()) {
        Kind::Float
    } else if all(&|text| Date::parse_iso(text).is_some()) {
        Kind::Date
    } else {
        Kind::Category
    }
}

fn parse_all<T: AsRef<str>, V>(texts: &[T], parse: impl Fn(&str) -> Option<V>) -> Result<Vec<V>, usize> {
    texts.iter().enumerate().map(|(index, text)| parse(text.as_ref()).ok_or(index)).collect()
}

/// The distinct values in order, and each input's position among them.
fn rank<V: PartialEq>(values: Vec<V>, order: impl Fn(&V, &V) -> std::cmp::Ordering) -> (Vec<V>, Vec<u32>) {
    let mut indexed: Vec<(usize, V)> = values.into_iter().enumerate().collect();
    // The order of equal texts does not matter; a stable sort would need more memory.
    indexed.sort_unstable_by(|a, b| order(&a.1, &b.1));
    let mut codes = vec![0u32; indexed.len()];
    let mut sorted: Vec<V> = Vec::with_capacity(indexed.len());
    for (index, value) in indexed {
        if sorted.last() != Some(&value) {
            sorted.push(value);
        }
        codes[index] = (sorted.len() - 1) as u32;
    }
    (sorted, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(texts: &[&str]) -> Kind {
        Domain::from_texts(texts, false, None).unwrap().0.kind()
    }

    #[test]
    fn kinds_are_inferred_so_that_nothing_is_lost() {
        assert_eq!(kind_of(&["1", "-20", "0"]), Kind::Integer);
        assert_eq!(kind_of(&["02139", "10001"]), Kind::Category);
        assert_eq!(kind_of(&["1", "x"]), Kind::Category);
        assert_eq!(kind_of(&["1", "2.5", "1e3"]), Kind::Float);
        assert_eq!(kind_of(&["1.0000000000000000001"]), Kind::Category);
        assert_eq!(kind_of(&["0.30000000000000004"]), Kind::Float);
        assert_eq!(kind_of(&["0.10000000000000001", "1.0000000000000002", "1"]), Kind::Float, "17 digits");
        assert_eq!(kind_of(&["0.10000000000000001", "0.1"]), Kind::Category, "two texts of one float");
        assert_eq!(kind_of(&["9223372036854775808"]), Kind::Category, "beyond 64 bits");
        assert_eq!(kind_of(&["-0"]), Kind::Float, "minus zero is not an integer text");
        assert_eq!(kind_of(&[".5", "-.25", ".5e-3", "1"]), Kind::Float, "no zero before the point");
        assert_eq!(kind_of(&[".5", "0.5"]), Kind::Category, "two texts of one float");
        for text in [".", "-.", ".e5", "..5", ".5.", "e5", "-"] {
            assert_eq!(kind_of(&[text]), Kind::Category, "{text}");
        }
        assert_eq!(kind_of(&["NaN"]), Kind::Category);
        assert_eq!(kind_of(&["inf", "1"]), Kind::Category);
        assert_eq!(kind_of(&["+1"]), Kind::Category);
        assert_eq!(kind_of(&["1-2"]), Kind::Category);
        assert_eq!(kind_of(&["2020-01-31", "1999-12-01"]), Kind::Date);
        assert_eq!(kind_of(&["2020-01-31", "2020-02-30"]), Kind::Category);
        assert_eq!(kind_of(&[]), Kind::Category);
    }

    /// The smallest floats are 5e-324 apart: a decimal between two of them is not a float.
    #[test]
    fn the_smallest_floats_are_floats() {
        let smallest = ["5e-324", "4.9E-324", "4.940656458412465e-324", "-5e-324", "5.0e-324"];
        for text in smallest {
            assert_eq!(parse_float(text).map(f64::abs), Some(5e-324), "{text}");
        }
        assert_eq!(parse_float("1e-323"), Some(1e-323));
        assert_eq!(parse_float("2.225073858507201e-308"), Some(2.225073858507201e-308), "the largest of them");
        for text in ["3e-324", "7e-324", "4e-324", "1.2e-323", "1e-324", "6.00e-324"] {
            assert_eq!(parse_float(text), None, "{text}");
        }
        assert_eq!(kind_of(&["5e-324", "1"]), Kind::Float);
        // What is written of a value is read as it.
        for units in 1..2000_u64 {
            let value = f64::from_bits(units * units * 1_000_003);
            for text in [value.to_string(), format!("{value:e}"), format!("{value:.16e}")] {
                assert_eq!(parse_float(&text), Some(value), "{text}");
            }
        }
    }

    #[test]
    fn codes_follow_the_order_of_the_values_and_missing_is_last() {
        let (domain, codes) = Domain::from_texts(&["10", "9", "-1"], true, None).unwrap();
        assert_eq!(codes, [2, 1, 0]);
        assert_eq!(domain.missing_code(), Some(3));
        assert_eq!(domain.cardinality(), 4);
        assert_eq!(domain.text(2), "10");
        assert_eq!(domain.text(3), "");
        assert_eq!(domain.code_of("9"), Some(1));
        assert_eq!(domain.code_of("09"), None);
    }

    #[test]
    fn two_texts_of_one_number_are_one_value_only_when_the_kind_is_declared() {
        let texts = ["1.5", "1.50", "-0.0", "0"];
        let (domain, codes) = Domain::from_texts(&texts, false, Some(Kind::Float)).unwrap();
        assert_eq!(domain.present(), 2);
        assert_eq!(codes, [1, 1, 0, 0]);
        let typed = Domain::typed(&texts, false, None).unwrap();
        assert_eq!((typed.domain.kind(), typed.domain.present()), (Kind::Category, 4));
        assert_eq!(typed.kept_apart, Some([0, 1]));
        let numbers = Domain::typed(&["250.1", "250.2"], false, None).unwrap();
        assert_eq!((numbers.domain.kind(), numbers.kept_apart), (Kind::Float, None));
    }

    #[test]
    fn a_declared_kind_names_the_text_it_cannot_take() {
        assert_eq!(Domain::from_texts(&["1", "x"], false, Some(Kind::Integer)), Err(1));
        assert_eq!(Domain::from_texts(&["1", "2"], false, Some(Kind::Category)).unwrap().0.kind(), Kind::Category);
    }
}
