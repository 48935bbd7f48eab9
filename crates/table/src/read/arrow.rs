//! Arrow record batches as a table, without a detour through text.
//!
//! A column is read as a Parquet file with the same column would be: numbers and dates keep their
//! type, strings are typed as the same texts in a CSV file would be, and a dictionary is looked up
//! once for each of its values. Columns that hold more than single values are refused by name.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use parquet::basic::TimeUnit as StoredUnit;

use super::assemble::{AssembleError, Gathered, WorkerCodes, assemble};
use super::header::check_names;
use super::parquet::{CellType, ColumnCoder, ParquetValue, Unfit};
use super::{LIMITS, ReadOptions};
use crate::spill::Kept;
use crate::{InputError, Table, TableError, parallel};

/// Rows between two looks at whether the work was canceled.
const CHUNK_ROWS: usize = 1 << 16;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The digits that the widest decimals of other programs have.
const DECIMAL_SCALE_MAX: i8 = 76;

/// The rows of all batches as one table. `place` names it in errors. Columns that the options do
/// not want are not looked at.
pub fn read_batches(
    schema: &Schema,
    batches: &[RecordBatch],
    place: &str,
    options: &ReadOptions<'_>,
) -> Result<Table, TableError> {
    let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    check_names(place, &header, &LIMITS)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows == 0 {
        return Err(TableError::input(place, "the table has no rows", "a table needs at least one row of data"));
    }
    if rows > LIMITS.rows {
        let problem = format!("more than {} rows", LIMITS.rows);
        return Err(TableError::input(place, problem, "divide the data into parts"));
    }
    let (wanted, warnings) = wanted_columns(schema, place, options)?;
    options.progress.stage("read", Some(wanted.len() as u64));
    let read = |(index, cells): (usize, CellType)| {
        let arrays: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(index)).collect();
        let column = gather(&header[index], cells, &arrays, rows, place, options);
        options.progress.advance(1);
        column
    };
    let columns = parallel::map_items(wanted, |_, column| read(column)).into_iter().collect::<Result<Vec<_>, _>>()?;
    let table = assemble(header, columns, rows, place, options);
    let mut table = table.map_err(|error| match error {
        AssembleError::Table(error) => error,
        AssembleError::Unfit(unfit) => TableError::input(row_place(place, unfit.row), unfit.problem(), unfit.hint()),
    })?;
    table.warnings.extend(warnings);
    Ok(table)
}

fn row_place(place: &str, row: usize) -> String {
    format!("{place}: row {}", row + 1)
}

/// Columns by position with how their cells are read, and warnings about others.
type WantedColumns = (Vec<(usize, CellType)>, Vec<InputError>);

/// The columns to read, and warnings about those that no table can hold. Such a column
/// is skipped, unless it was named.
fn wanted_columns(schema: &Schema, place: &str, options: &ReadOptions<'_>) -> Result<WantedColumns, TableError> {
    let (mut wanted, mut skipped) = (Vec::new(), Vec::new());
    for (index, field) in schema.fields().iter().enumerate().filter(|(_, field)| options.names(field.name())) {
        match cell_type(field.data_type()) {
            Ok(cells) => wanted.push((index, cells)),
            Err(found) => {
                let problem = format!("column `{}` has the type {found}, which cannot be read", field.name());
                let hint = "a table holds single values: omit the column, or store it as numbers, text or dates";
                skipped.push(InputError::new(place, problem, hint));
            }
        }
    }
    match skipped.first() {
        Some(error) if options.only.is_some() || wanted.is_empty() => Err(error.clone().into()),
        _ => Ok((wanted, skipped)),
    }
}

/// The type of a column's cells, or the name of a type that is not supported.
fn cell_type(found: &DataType) -> Result<CellType, &'static str> {
    let decimal = |scale: i8| match usize::try_from(scale) {
        Ok(digits) if scale <= DECIMAL_SCALE_MAX => Ok(CellType::Decimal { scale: digits }),
        _ => Err("Decimal of negative or very large scale"),
    };
    match found {
        DataType::Null => Ok(CellType::Nothing),
        DataType::Boolean => Ok(CellType::Boolean),
        // A duration is the number that it counts, as in a Parquet file.
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Duration(_) => {
            Ok(CellType::Integer)
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Ok(CellType::Unsigned),
        DataType::Float16 => Ok(CellType::Half),
        DataType::Float32 | DataType::Float64 => Ok(CellType::Float),
        DataType::Date32 | DataType::Date64 => Ok(CellType::Date),
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second | TimeUnit::Millisecond => StoredUnit::MILLIS,
                TimeUnit::Microsecond => StoredUnit::MICROS,
                TimeUnit::Nanosecond => StoredUnit::NANOS,
            };
            Ok(CellType::Timestamp { unit, zoned: zone.is_some() })
        }
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => decimal(*scale),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(CellType::Text),
        DataType::Dictionary(_, values) => match **values {
            DataType::Dictionary(..) => Err("Dictionary of dictionaries"),
            _ => cell_type(values),
        },
        DataType::List(_) | DataType::LargeList(_) | DataType::ListView(_) | DataType::LargeListView(_) => Err("List"),
        DataType::FixedSizeList(..) => Err("List"),
        DataType::Map(..) => Err("Map"),
        DataType::Struct(_) => Err("Struct"),
        DataType::Union(..) => Err("Union"),
        DataType::Time32(_) | DataType::Time64(_) => Err("Time"),
        DataType::Interval(_) => Err("Interval"),
        DataType::RunEndEncoded(..) => Err("run-end encoding"),
        _ => Err("Binary"),
    }
}

/// One column of all batches, coded.
fn gather(
    name: &str,
    cells: CellType,
    arrays: &[&ArrayRef],
    rows: usize,
    place: &str,
    options: &ReadOptions<'_>,
) -> Result<Gathered, TableError> {
    let mut coder = ColumnCoder::new(cells, &LIMITS);
    let mut done = 0;
    for array in arrays {
        let mut looked_up = LookedUp::of(array.as_ref());
        for start in (0..array.len()).step_by(CHUNK_ROWS) {
            options.progress.check()?;
            let chunk = array.slice(start, CHUNK_ROWS.min(array.len() - start));
            take(&mut coder, chunk.as_ref(), &mut looked_up).map_err(|(row, (problem, hint))| {
                let problem = format!("column `{name}`: {problem}");
                TableError::input(row_place(place, done + start + row), problem, hint)
            })?;
        }
        done += array.len();
    }
    Ok(Gathered {
        name: name.to_owned(),
        kind: cells.kind(),
        is_text: cells == CellType::Text,
        pieces: vec![WorkerCodes { worker: 0, rows, codes: Some(Kept::Memory(coder.take_codes())) }],
        dictionaries: vec![Some(coder.into_dictionary())],
    })
}

/// The codes of a dictionary's values that cells had so far. A value that no cell has does not
/// enter the table.
struct LookedUp(Vec<Option<u32>>);

impl LookedUp {
    fn of(array: &dyn Array) -> LookedUp {
        LookedUp(array.as_any_dictionary_opt().map_or_else(Vec::new, |array| vec![None; array.values().len()]))
    }
}

/// A cell that cannot be taken, by its row in the chunk.
type Refused = (usize, Unfit);

/// Appends the cells of a chunk.
fn take(coder: &mut ColumnCoder, array: &dyn Array, looked_up: &mut LookedUp) -> Result<(), Refused> {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return take_values(coder, array);
    };
    let values = dictionary.values();
    if values.is_empty() {
        // Then every cell is null, and the keys are not read.
        return each(coder, array, |_, _| Ok(None));
    }
    let keys = dictionary.normalized_keys();
    each(coder, array, |coder, row| {
        let key = keys[row];
        // What the array declares of a value that is null is not a value.
        if values.is_null(key) {
            return Ok(None);
        }
        if let Some(code) = looked_up.0[key] {
            return Ok(Some(code));
        }
        let code = code_of(coder, values.as_ref(), key)?;
        looked_up.0[key] = code;
        Ok(code)
    })
}

/// Appends the cells of a chunk without a dictionary. The types of most columns are looked at once
/// for all cells.
fn take_values(coder: &mut ColumnCoder, array: &dyn Array) -> Result<(), Refused> {
    macro_rules! each_number {
        ($type:ty, $as_stored:path) => {{
            let values = array.as_primitive::<$type>().values();
            each(coder, array, |coder, row| coder.code_of($as_stored(values[row])).map(Some))
        }};
    }
    macro_rules! each_text {
        ($values:expr) => {{
            let values = $values;
            each(coder, array, |coder, row| coder.code_of(ParquetValue::Bytes(values.value(row).as_bytes())).map(Some))
        }};
    }
    match array.data_type() {
        DataType::Int32 => each_number!(Int32Type, ParquetValue::Int32),
        DataType::Int64 => each_number!(Int64Type, ParquetValue::Int64),
        DataType::Float64 => each_number!(Float64Type, ParquetValue::Double),
        DataType::Date32 => each_number!(Date32Type, ParquetValue::Int32),
        DataType::Utf8 => each_text!(array.as_string::<i32>()),
        DataType::LargeUtf8 => each_text!(array.as_string::<i64>()),
        DataType::Utf8View => each_text!(array.as_string_view()),
        _ => each(coder, array, |coder, row| code_of(coder, array, row)),
    }
}

/// Appends every cell by the code that `code` finds; a null has none.
fn each(
    coder: &mut ColumnCoder,
    array: &dyn Array,
    mut code: impl FnMut(&mut ColumnCoder, usize) -> Result<Option<u32>, Unfit>,
) -> Result<(), Refused> {
    let mut codes = Vec::with_capacity(array.len());
    let mut present = Vec::with_capacity(array.len());
    let nulls = array.nulls();
    for row in 0..array.len() {
        let is_null = nulls.is_some_and(|nulls| nulls.is_null(row));
        let found = if is_null { None } else { code(coder, row).map_err(|unfit| (row, unfit))? };
        present.push(found.is_some());
        codes.extend(found);
    }
    if codes.len() == array.len() {
        coder.extend(&codes);
    } else {
        coder.extend_sparse(&codes, present.into_iter());
    }
    Ok(())
}

/// The code of a value that is there; `None` where the type has no values.
fn code_of(coder: &mut ColumnCoder, array: &dyn Array, row: usize) -> Result<Option<u32>, Unfit> {
    fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
        array.as_primitive::<T>().value(row)
    }
    let value = match array.data_type() {
        DataType::Null => return Ok(None),
        DataType::Boolean => ParquetValue::Boolean(array.as_boolean().value(row)),
        DataType::Int8 => ParquetValue::Int32(number::<Int8Type>(array, row).into()),
        DataType::Int16 => ParquetValue::Int32(number::<Int16Type>(array, row).into()),
        DataType::Int32 => ParquetValue::Int32(number::<Int32Type>(array, row)),
        DataType::Int64 => ParquetValue::Int64(number::<Int64Type>(array, row)),
        DataType::UInt8 => ParquetValue::Int32(number::<UInt8Type>(array, row).into()),
        DataType::UInt16 => ParquetValue::Int32(number::<UInt16Type>(array, row).into()),
        // The coder takes the bits for a number without a sign.
        DataType::UInt32 => ParquetValue::Int32(number::<UInt32Type>(array, row) as i32),
        DataType::UInt64 => ParquetValue::Int64(number::<UInt64Type>(array, row) as i64),
        DataType::Float16 => ParquetValue::Float(number::<Float16Type>(array, row).to_f32()),
        DataType::Float32 => ParquetValue::Float(number::<Float32Type>(array, row)),
        DataType::Float64 => ParquetValue::Double(number::<Float64Type>(array, row)),
        DataType::Date32 => ParquetValue::Int32(number::<Date32Type>(array, row)),
        DataType::Date64 => {
            let days = number::<Date64Type>(array, row).div_euclid(MILLIS_PER_DAY);
            ParquetValue::Int32(i32::try_from(days).map_err(|_| beyond("a date"))?)
        }
        DataType::Duration(TimeUnit::Second) => ParquetValue::Int64(number::<DurationSecondType>(array, row)),
        DataType::Duration(TimeUnit::Millisecond) => ParquetValue::Int64(number::<DurationMillisecondType>(array, row)),
        DataType::Duration(TimeUnit::Microsecond) => ParquetValue::Int64(number::<DurationMicrosecondType>(array, row)),
        DataType::Duration(TimeUnit::Nanosecond) => ParquetValue::Int64(number::<DurationNanosecondType>(array, row)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            let millis = number::<TimestampSecondType>(array, row).checked_mul(1000);
            ParquetValue::Int64(millis.ok_or_else(|| beyond("a timestamp"))?)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            ParquetValue::Int64(number::<TimestampMillisecondType>(array, row))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            ParquetValue::Int64(number::<TimestampMicrosecondType>(array, row))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            ParquetValue::Int64(number::<TimestampNanosecondType>(array, row))
        }
        DataType::Decimal32(..) => ParquetValue::Int32(number::<Decimal32Type>(array, row)),
        DataType::Decimal64(..) => ParquetValue::Int64(number::<Decimal64Type>(array, row)),
        DataType::Decimal128(..) => {
            return coder.code_of(ParquetValue::Bytes(&number::<Decimal128Type>(array, row).to_be_bytes())).map(Some);
        }
        DataType::Decimal256(..) => {
            return coder.code_of(ParquetValue::Bytes(&number::<Decimal256Type>(array, row).to_be_bytes())).map(Some);
        }
        DataType::Utf8 => ParquetValue::Bytes(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => ParquetValue::Bytes(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => ParquetValue::Bytes(array.as_string_view().value(row).as_bytes()),
        _ => return Err(("a type that has no place in a table".to_owned(), "omit the column")),
    };
    coder.code_of(value).map(Some)
}

fn beyond(what: &str) -> Unfit {
    (format!("{what} beyond the range of the calendar"), "correct the value, or omit the column")
}

#[cfg(test)]
mod tests;
