//! Rows that go to the cluster, as Arrow.

use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::ipc::writer::StreamWriter;
use spark_connect::row::Value;
use spark_connect::{DataType, SparkError};
use spark_connect_proto::{LocalRelation, Relation, relation};

/// A table of rows with the columns that `schema` declares: texts, numbers and dates.
pub(crate) fn relation_of(schema: &DataType, rows: &[Vec<Value>]) -> Result<Relation, SparkError> {
    // A server cannot read a stream without rows; the schema is enough then.
    let data = if rows.is_empty() { None } else { Some(encoded(schema, rows)?.into()) };
    let table = LocalRelation { data, schema: Some(schema.json()) };
    Ok(Relation { rel_type: Some(relation::RelType::LocalRelation(table)), ..Relation::default() })
}

fn encoded(schema: &DataType, rows: &[Vec<Value>]) -> Result<Vec<u8>, SparkError> {
    let unsent = |_| SparkError::value("UNSENT_ROWS", &[]);
    let DataType::Struct { fields } = schema else { return Err(SparkError::value("UNSENT_ROWS", &[])) };
    let (mut columns, mut declared): (Vec<ArrayRef>, Vec<Field>) = (Vec::new(), Vec::new());
    for (place, field) in fields.iter().enumerate() {
        let cells = rows.iter().map(|row| row.get(place).unwrap_or(&Value::Null));
        let (column, kind): (ArrayRef, ArrowType) = match field.data_type {
            DataType::Long => (Arc::new(cells.map(Value::as_i64).collect::<Int64Array>()), ArrowType::Int64),
            DataType::Double => (Arc::new(cells.map(double).collect::<Float64Array>()), ArrowType::Float64),
            DataType::Date => (Arc::new(cells.map(day).collect::<Date32Array>()), ArrowType::Date32),
            _ => (Arc::new(cells.map(Value::as_str).collect::<StringArray>()), ArrowType::Utf8),
        };
        columns.push(column);
        declared.push(Field::new(&field.name, kind, true));
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(declared)), columns).map_err(unsent)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).map_err(unsent)?;
    writer.write(&batch).map_err(unsent)?;
    writer.into_inner().map_err(unsent)
}

fn double(value: &Value) -> Option<f64> {
    if let Value::Double(value) = value { Some(*value) } else { None }
}

fn day(value: &Value) -> Option<i32> {
    if let Value::Date(day) = value { Some(*day) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::decoded;

    #[test]
    fn rows_arrive_as_they_were_sent() {
        let schema = DataType::from_ddl("t string, l bigint").unwrap();
        let text = |text: &str| Value::String(text.to_owned());
        let rows = vec![
            vec![text("it's"), Value::Long(i64::MIN)],
            vec![Value::Null, Value::Long(7)],
            vec![text(""), Value::Null],
        ];
        let found = decoded(&encoded(&schema, &rows).unwrap()).unwrap();
        assert_eq!(format!("{found:?}"), format!("{rows:?}"));
        assert!(decoded(&[]).unwrap().is_empty());
        assert!(decoded(b"no stream").is_err());
        // Numbers with a fraction and dates go there, and do not come back.
        let schema = DataType::from_ddl("v double, d date").unwrap();
        assert!(decoded(&encoded(&schema, &[vec![Value::Double(0.5), Value::Date(1)]]).unwrap()).is_err());
    }
}
