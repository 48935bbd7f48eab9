//! The types that a column had before it was published: a release in text files has numbers, dates
//! and texts, and a frame has decimals, moments, truths and integers of several sizes as well.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float32Type, Int8Type, Int16Type, Int32Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, BooleanArray, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use hedgerow_table::date::Date;
use hedgerow_table::{Column, Table, Values};

const NANOS_PER_DAY: i64 = 86_400_000_000_000;
/// Digits that a float gives back as they were written.
const FLOAT_DIGITS_MAX: usize = 15;

/// A table as a record batch, in which a column has the type that `published` gives its name, if
/// all its values are of that type.
pub(crate) fn to_arrow_as(table: &Table, published: &Schema) -> Result<RecordBatch, crate::Error> {
    let plain = hedgerow_table::to_arrow(table)?;
    let typed = |(column, array): (&Column, &ArrayRef)| {
        let wanted = published.field_with_name(&column.name).ok();
        let array = wanted.and_then(|field| as_given(column, field.data_type())).unwrap_or_else(|| Arc::clone(array));
        (Field::new(&column.name, array.data_type().clone(), true), array)
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = table.columns.iter().zip(plain.columns()).map(typed).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| {
        let problem = format!("a table cannot be made a record batch: {error}");
        hedgerow_table::TableError::Internal(problem).into()
    })
}

/// The column in a type, if every value of it is written as that type writes it. A label is not:
/// a column that was generalized stays as it is.
fn as_given(column: &Column, wanted: &DataType) -> Option<ArrayRef> {
    match wanted {
        DataType::Boolean => truths(column),
        DataType::Int8 => whole::<Int8Type>(column),
        DataType::Int16 => whole::<Int16Type>(column),
        DataType::Int32 => whole::<Int32Type>(column),
        DataType::UInt8 => whole::<UInt8Type>(column),
        DataType::UInt16 => whole::<UInt16Type>(column),
        DataType::UInt32 => whole::<UInt32Type>(column),
        DataType::UInt64 => whole::<UInt64Type>(column),
        DataType::Float32 => of_texts::<Float32Type>(column, single),
        DataType::Date64 => of_texts::<Date64Type>(column, |text| {
            Some(i64::from(Date::parse_iso(text)?.0) * (NANOS_PER_DAY / 1_000_000))
        }),
        DataType::Timestamp(unit, zone) => moments(column, *unit, zone.clone()),
        DataType::Decimal32(precision, scale) => decimals::<Decimal32Type>(column, *precision, *scale),
        DataType::Decimal64(precision, scale) => decimals::<Decimal64Type>(column, *precision, *scale),
        DataType::Decimal128(precision, scale) => decimals::<Decimal128Type>(column, *precision, *scale),
        DataType::Decimal256(precision, scale) => decimals::<Decimal256Type>(column, *precision, *scale),
        DataType::Dictionary(_, values) => as_given(column, values),
        _ => None,
    }
}

/// One value for each code, each read from its text; `None` if one of them cannot be.
fn values<T>(column: &Column, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    (0..column.domain.present() as u32).map(|code| read(&column.domain.text(code))).collect()
}

fn of_texts<T: ArrowPrimitiveType>(column: &Column, read: impl Fn(&str) -> Option<T::Native>) -> Option<ArrayRef> {
    Some(Arc::new(primitive::<T>(column, read)?))
}

fn primitive<T: ArrowPrimitiveType>(
    column: &Column,
    read: impl Fn(&str) -> Option<T::Native>,
) -> Option<PrimitiveArray<T>> {
    let values = values(column, read)?;
    // The code of a missing cell is beyond the values.
    Some(column.codes.iter().map(|code| values.get(code as usize).copied()).collect())
}

fn truths(column: &Column) -> Option<ArrayRef> {
    let values = values(column, |text| match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })?;
    let cells: BooleanArray = column.codes.iter().map(|code| values.get(code as usize).copied()).collect();
    Some(Arc::new(cells))
}

fn whole<T: ArrowPrimitiveType>(column: &Column) -> Option<ArrayRef>
where
    T::Native: FromStr + ToString,
{
    // `007` is a text of digits, not seven.
    of_texts::<T>(column, |text| text.parse::<T::Native>().ok().filter(|value| value.to_string() == text))
}

/// A number that single precision holds as it is written.
fn single(text: &str) -> Option<f32> {
    let value: f32 = text.parse().ok()?;
    (value.is_finite() && value.to_string() == text).then_some(value)
}

fn decimals<T>(column: &Column, precision: u8, scale: i8) -> Option<ArrayRef>
where
    T: arrow_array::types::DecimalType,
    T::Native: FromStr,
{
    let places = usize::try_from(scale).ok()?;
    let is_float = matches!(column.domain.values(), Values::Float(_));
    let array = primitive::<T>(column, |text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = whole.trim_start_matches(['-', '0']).len() + fraction.len();
        if fraction.len() > places || (is_float && digits > FLOAT_DIGITS_MAX) {
            return None;
        }
        format!("{whole}{fraction:0<places$}").parse().ok()
    })?;
    let array = array.with_precision_and_scale(precision, scale).ok()?;
    array.validate_decimal_precision(precision).ok()?;
    Some(Arc::new(array))
}

fn moments(column: &Column, unit: TimeUnit, zone: Option<Arc<str>>) -> Option<ArrayRef> {
    match unit {
        TimeUnit::Second => counted::<TimestampSecondType>(column, 1_000_000_000, zone),
        TimeUnit::Millisecond => counted::<TimestampMillisecondType>(column, 1_000_000, zone),
        TimeUnit::Microsecond => counted::<TimestampMicrosecondType>(column, 1000, zone),
        TimeUnit::Nanosecond => counted::<TimestampNanosecondType>(column, 1, zone),
    }
}

fn counted<T: ArrowTimestampType>(column: &Column, nanos: i64, zone: Option<Arc<str>>) -> Option<ArrayRef> {
    let is_zoned = zone.is_some();
    let array = primitive::<T>(column, |text| {
        let text = if is_zoned { text.strip_suffix('Z')? } else { text };
        let (day, of_day) = moment(text)?;
        (of_day % nanos == 0).then_some(())?;
        day.checked_mul(NANOS_PER_DAY / nanos)?.checked_add(of_day / nanos)
    })?;
    Some(Arc::new(array.with_timezone_opt(zone)))
}

/// The day and the nanoseconds of it of `2024-01-31T09:30:00.25`.
fn moment(text: &str) -> Option<(i64, i64)> {
    let (day, time) = text.split_at_checked(10)?;
    let (clock, fraction) = time.strip_prefix('T')?.split_at_checked(8)?;
    let parts: Vec<&str> = clock.split(':').collect();
    let number = |text: &str, limit: i64| {
        let is_plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|&number| is_plain && number < limit)
    };
    let &[hour, minute, second] = parts.as_slice() else { return None };
    let seconds = (number(hour, 24)? * 60 + number(minute, 60)?) * 60 + number(second, 60)?;
    let nanos = match fraction.strip_prefix('.') {
        Some(digits) if (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{digits:0<9}").parse::<i64>().ok()?
        }
        None if fraction.is_empty() => 0,
        _ => return None,
    };
    Some((i64::from(Date::parse_iso(day)?.0), seconds * 1_000_000_000 + nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray as _;
    use hedgerow_table::read::ReadOptions;

    fn column(texts: &[Option<&str>]) -> Column {
        let rows: Vec<[Option<&str>; 1]> = texts.iter().map(|text| [*text]).collect();
        Table::from_records(["a"], rows, &ReadOptions::default()).unwrap().columns.remove(0)
    }

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        for (text, day, nanos) in [
            ("1970-01-01T00:00:00", 0, 0),
            ("1969-12-31T23:59:59.999", -1, 86_399_999_000_000),
            ("1970-01-02T00:00:00.000000001", 1, 1),
        ] {
            assert_eq!(moment(text), Some((day, nanos)), "{text}");
        }
        for none in ["1970-01-01", "1970-01-01 00:00:00", "1970-13-01T00:00:00", "1970-01-01T24:00:00", "é970-01-01T0"]
        {
            assert_eq!(moment(none), None, "{none}");
        }
    }

    #[test]
    fn values_come_back_in_the_type_that_they_had() {
        let paid = as_given(&column(&[Some("1.50"), None, Some("-0.25"), Some("12.00")]), &DataType::Decimal128(9, 2));
        let paid = paid.unwrap();
        let paid = paid.as_primitive::<Decimal128Type>();
        assert_eq!(paid.iter().collect::<Vec<_>>(), [Some(150), None, Some(-25), Some(1200)]);
        let active = as_given(&column(&[Some("true"), None, Some("false")]), &DataType::Boolean).unwrap();
        assert_eq!(active.as_boolean().iter().collect::<Vec<_>>(), [Some(true), None, Some(false)]);
        let small = as_given(&column(&[Some("-3"), None, Some("7")]), &DataType::Int8).unwrap();
        assert_eq!(small.as_primitive::<Int8Type>().iter().collect::<Vec<_>>(), [Some(-3), None, Some(7)]);
        let zone = Some(Arc::from("Europe/Vienna"));
        let seen = column(&[Some("1970-01-01T00:00:01Z"), None, Some("1970-01-01T00:00:00.500Z")]);
        let seen = as_given(&seen, &DataType::Timestamp(TimeUnit::Millisecond, zone.clone())).unwrap();
        assert_eq!(seen.data_type(), &DataType::Timestamp(TimeUnit::Millisecond, zone));
        let cells: Vec<_> = seen.as_primitive::<TimestampMillisecondType>().iter().collect();
        assert_eq!(cells, [Some(1000), None, Some(500)]);
    }

    #[test]
    fn what_is_not_of_a_type_stays_as_it_is() {
        let moment = |unit, zone| DataType::Timestamp(unit, zone);
        for (text, wanted) in [
            ("30 to 39", DataType::Int8),
            ("*", DataType::Boolean),
            ("300", DataType::UInt8),
            ("007", DataType::Int32),
            ("1.505", DataType::Decimal128(9, 2)),
            ("12345678.00", DataType::Decimal128(9, 2)),
            ("1970-01-01T00:00:00", moment(TimeUnit::Second, Some(Arc::from("UTC")))),
            ("1970-01-01T00:00:00Z", moment(TimeUnit::Second, None)),
            ("1970-01-01T00:00:00.5", moment(TimeUnit::Second, None)),
            ("0.1234567890", DataType::Float32),
            ("a", DataType::Utf8),
        ] {
            assert!(as_given(&column(&[Some(text)]), &wanted).is_none(), "{text} as {wanted}");
        }
    }
}
