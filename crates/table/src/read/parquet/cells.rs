//! The cells of one Arrow column as codes. A number is looked up by its bits; only a value that is new is written out
//! as text, so that all formats meet in the same dictionary.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use hashbrown::HashMap;

use crate::Codes;
use crate::date::Date;
use crate::read::assemble::widen;
use crate::read::interner::{ABSENT, Interner};

/// A value that cannot be read, and its row in the batch.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) row: usize,
    pub(super) problem: String,
    pub(super) hint: &'static str,
}

pub(super) fn is_supported(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(_, values) => matches!(values.as_ref(), Utf8 | LargeUtf8 | Utf8View),
        Null | Boolean | Utf8 | LargeUtf8 | Utf8View | Date32 | Timestamp(..) => true,
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => true,
        Float16 | Float32 | Float64 => true,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => true,
        _ => false,
    }
}

pub(super) struct ColumnCoder {
    name: String,
    longest: usize,
    dictionary: Interner,
    /// Codes of numbers met before, by their bits.
    numbers: HashMap<i128, u32, foldhash::fast::RandomState>,
    codes: Codes,
}

impl ColumnCoder {
    pub(super) fn new(name: &str, longest: usize) -> ColumnCoder {
        ColumnCoder {
            name: name.to_owned(),
            longest,
            dictionary: Interner::new(),
            numbers: HashMap::default(),
            codes: Codes::with_capacity(1, 0),
        }
    }

    /// The codes since the last call.
    pub(super) fn take_codes(&mut self) -> Codes {
        std::mem::replace(&mut self.codes, Codes::with_capacity(self.dictionary.cardinality(), 0))
    }

    pub(super) fn into_dictionary(self) -> Interner {
        self.dictionary
    }

    pub(super) fn take(&mut self, array: &ArrayRef) -> Result<(), Refusal> {
        use DataType::*;
        match array.data_type() {
            Null => (0..array.len()).for_each(|_| self.push(ABSENT)),
            Boolean => {
                let array = array.as_boolean();
                for value in array {
                    let code = value.map(|truth| self.dictionary.code(if truth { b"true" } else { b"false" }));
                    self.push(code.unwrap_or(ABSENT));
                }
            }
            Int8 => self.take_integers::<Int8Type>(array),
            Int16 => self.take_integers::<Int16Type>(array),
            Int32 => self.take_integers::<Int32Type>(array),
            Int64 => self.take_integers::<Int64Type>(array),
            UInt8 => self.take_integers::<UInt8Type>(array),
            UInt16 => self.take_integers::<UInt16Type>(array),
            UInt32 => self.take_integers::<UInt32Type>(array),
            UInt64 => self.take_integers::<UInt64Type>(array),
            Date32 => self.take_numbers::<Date32Type>(array, i128::from, |days| Date(days).to_string()),
            Float16 => self.take_floats::<Float16Type>(array)?,
            Float32 => self.take_floats::<Float32Type>(array)?,
            Float64 => self.take_floats::<Float64Type>(array)?,
            Timestamp(unit, zone) => self.take_timestamps(array, *unit, zone.is_some()),
            Utf8 | LargeUtf8 | Utf8View => self.take_texts(array)?,
            Dictionary(..) => self.take_dictionary(array)?,
            _ => self.take_decimals(array)?,
        }
        Ok(())
    }

    fn push(&mut self, code: u32) {
        self.dictionary.absent |= code == ABSENT;
        widen(&mut self.codes, self.dictionary.cardinality());
        self.codes.push(code);
    }

    fn take_integers<T: ArrowPrimitiveType>(&mut self, array: &ArrayRef)
    where
        T::Native: Into<i128> + Display,
    {
        self.take_numbers::<T>(array, Into::into, |value| value.to_string());
    }

    fn take_floats<T: ArrowPrimitiveType>(&mut self, array: &ArrayRef) -> Result<(), Refusal>
    where
        T::Native: Into<f64> + Display,
    {
        let floats: &PrimitiveArray<T> = array.as_primitive();
        let unusable = (0..floats.len()).find(|&row| floats.is_valid(row) && !floats.value(row).into().is_finite());
        if let Some(row) = unusable {
            let problem = format!("column `{}`: `{}` is no number", self.name, floats.value(row));
            return Err(Refusal { row, problem, hint: "store a value that is unknown or out of range as null" });
        }
        self.take_numbers::<T>(array, |value| i128::from(value.into().to_bits()), |value| value.to_string());
        Ok(())
    }

    fn take_timestamps(&mut self, array: &ArrayRef, unit: TimeUnit, zoned: bool) {
        let text = |value| timestamp_text(value, unit, zoned);
        match unit {
            TimeUnit::Second => self.take_numbers::<TimestampSecondType>(array, i128::from, text),
            TimeUnit::Millisecond => self.take_numbers::<TimestampMillisecondType>(array, i128::from, text),
            TimeUnit::Microsecond => self.take_numbers::<TimestampMicrosecondType>(array, i128::from, text),
            TimeUnit::Nanosecond => self.take_numbers::<TimestampNanosecondType>(array, i128::from, text),
        }
    }

    fn take_numbers<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        bits: impl Fn(T::Native) -> i128,
        text: impl Fn(T::Native) -> String,
    ) {
        let array: &PrimitiveArray<T> = array.as_primitive();
        for value in array {
            let code = match value {
                None => ABSENT,
                Some(value) => {
                    let dictionary = &mut self.dictionary;
                    *self.numbers.entry(bits(value)).or_insert_with(|| dictionary.code(text(value).as_bytes()))
                }
            };
            self.push(code);
        }
    }

    fn take_decimals(&mut self, array: &ArrayRef) -> Result<(), Refusal> {
        use DataType::*;
        match array.data_type() {
            Decimal32(..) => self.take_written(array, |row| array.as_primitive::<Decimal32Type>().value_as_string(row)),
            Decimal64(..) => self.take_written(array, |row| array.as_primitive::<Decimal64Type>().value_as_string(row)),
            Decimal128(..) => {
                self.take_written(array, |row| array.as_primitive::<Decimal128Type>().value_as_string(row));
            }
            Decimal256(..) => {
                self.take_written(array, |row| array.as_primitive::<Decimal256Type>().value_as_string(row));
            }
            other => {
                let problem = format!("column `{}` has the type {other}, which cannot be read", self.name);
                return Err(Refusal { row: 0, problem, hint: "leave the column out" });
            }
        }
        Ok(())
    }

    fn take_written(&mut self, array: &ArrayRef, text: impl Fn(usize) -> String) {
        for row in 0..array.len() {
            let code = if array.is_null(row) { ABSENT } else { self.dictionary.code(text(row).as_bytes()) };
            self.push(code);
        }
    }

    fn take_texts(&mut self, array: &ArrayRef) -> Result<(), Refusal> {
        let text = texts(array);
        for row in 0..array.len() {
            let code = if array.is_null(row) { ABSENT } else { self.code_of_text(row, text(row))? };
            self.push(code);
        }
        Ok(())
    }

    fn code_of_text(&mut self, row: usize, text: &str) -> Result<u32, Refusal> {
        let refuse = |problem: String| Refusal { row, problem, hint: "mend the text, or leave the column out" };
        if text.len() > self.longest {
            return Err(refuse(format!("column `{}`: a text of over {} bytes", self.name, self.longest)));
        }
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err(refuse(format!("column `{}`: a text with a NUL character", self.name)));
        }
        Ok(self.dictionary.code(text.as_bytes()))
    }

    /// Each entry of the file's own dictionary is looked up once, at the first row that uses it.
    fn take_dictionary(&mut self, array: &ArrayRef) -> Result<(), Refusal> {
        let dictionary = array.as_any_dictionary();
        let values = dictionary.values();
        let text = texts(values);
        let mut known: Vec<Option<u32>> = vec![None; values.len()];
        for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
            let code = if array.is_null(row) || values.is_null(key) {
                ABSENT
            } else if let Some(code) = known[key] {
                code
            } else {
                *known[key].insert(self.code_of_text(row, text(key))?)
            };
            self.push(code);
        }
        Ok(())
    }
}

/// The text at each position of an array of texts, however it is laid out.
fn texts<'a>(array: &'a ArrayRef) -> Box<dyn Fn(usize) -> &'a str + 'a> {
    match array.data_type() {
        DataType::LargeUtf8 => Box::new(|row| array.as_string::<i64>().value(row)),
        DataType::Utf8View => Box::new(|row| array.as_string_view().value(row)),
        _ => Box::new(|row| array.as_string::<i32>().value(row)),
    }
}

/// `2024-01-31T09:30:00`, with as many decimals as the unit has when they are not zero, and `Z` for an instant.
fn timestamp_text(value: i64, unit: TimeUnit, zoned: bool) -> String {
    let (per_second, decimals) = match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    };
    let (seconds, fraction) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Beyond the calendar's range the count itself is still exact.
    let Ok(days) = i32::try_from(days) else { return format!("{value}") };
    let mut text = format!("{}T{:02}:{:02}:{:02}", Date(days), second / 3600, second / 60 % 60, second % 60);
    if fraction != 0 {
        text.push_str(&format!(".{fraction:0decimals$}"));
    }
    if zoned {
        text.push('Z');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_the_decimals_it_needs() {
        assert_eq!(timestamp_text(0, TimeUnit::Second, false), "1970-01-01T00:00:00");
        assert_eq!(timestamp_text(-1, TimeUnit::Millisecond, true), "1969-12-31T23:59:59.999Z");
        assert_eq!(timestamp_text(86_400_000_000_001, TimeUnit::Nanosecond, false), "1970-01-02T00:00:00.000000001");
        assert_eq!(timestamp_text(i64::MAX, TimeUnit::Second, false), i64::MAX.to_string());
    }
}
