//! A table as an Arrow record batch: numbers and dates with their type, texts as a dictionary.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{Field, Schema};

use crate::{Column, Table, TableError, Values};

/// The columns of a table that were read. A missing cell is null.
pub fn to_arrow(table: &Table) -> Result<RecordBatch, TableError> {
    let arrays = table.columns.iter().map(array).collect::<Result<Vec<ArrayRef>, TableError>>()?;
    let field = |(column, array): (&Column, &ArrayRef)| Field::new(&column.name, array.data_type().clone(), true);
    let schema = Schema::new(table.columns.iter().zip(&arrays).map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(internal)
}

fn array(column: &Column) -> Result<ArrayRef, TableError> {
    let codes = || column.codes.iter().map(|code| code as usize);
    Ok(match column.domain.values() {
        // The code of a missing cell is beyond the values.
        Values::Integer(values) => Arc::new(Int64Array::from_iter(codes().map(|code| values.get(code).copied()))),
        Values::Float(values) => Arc::new(Float64Array::from_iter(codes().map(|code| values.get(code).copied()))),
        Values::Date(values) => {
            Arc::new(Date32Array::from_iter(codes().map(|code| values.get(code).map(|date| date.0))))
        }
        Values::Category(values) => {
            let keys = codes().map(|code| i32::try_from(code).ok().filter(|_| code < values.len()));
            let texts = StringArray::from_iter_values(values.iter());
            let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from_iter(keys), Arc::new(texts));
            Arc::new(array.map_err(internal)?)
        }
    })
}

fn internal(error: arrow_schema::ArrowError) -> TableError {
    TableError::Internal(format!("a table cannot be made a record batch: {error}"))
}
