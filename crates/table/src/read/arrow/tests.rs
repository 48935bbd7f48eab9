//! Batches against Parquet files with the same cells: the tables must be equal.

use std::sync::Arc;

use ::parquet::data_type::{ByteArray, FixedLenByteArray};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::*;
use arrow_schema::Field;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::read::parquet::tests::{Cells, parquet_file};
use crate::read::read_table;
use crate::{Kind, to_arrow};

/// The same cells for Parquet, with the type in a schema, and for Arrow.
type Twins = (&'static str, Cells, ArrayRef);

fn sparse<T>(rng: &mut StdRng, rows: usize, mut value: impl FnMut(&mut StdRng) -> T) -> Vec<Option<T>> {
    let nulls = [0.0, 0.3, 1.0][rng.random_range(0..3)];
    (0..rows).map(|_| (!rng.random_bool(nulls)).then(|| value(rng))).collect()
}

fn numbers(rng: &mut StdRng, rows: usize, which: usize) -> Twins {
    let small = |rng: &mut StdRng| rng.random_range(-5..5i32);
    let whole = sparse(rng, rows, small);
    let wide: Vec<Option<i64>> = whole.iter().map(|cell| cell.map(|value| i64::from(value) << 33)).collect();
    let moments: Vec<Option<i64>> =
        whole.iter().map(|cell| cell.map(|value| i64::from(value) * 90_061_001_002_003)).collect();
    let (int32, int64) = (Cells::Int32(whole.clone()), Cells::Int64(wide.clone()));
    let narrow = || whole.iter().map(|cell| cell.map(|value| value as i8));
    match which {
        0 => ("int32 c (INTEGER(8,true))", int32, Arc::new(Int8Array::from_iter(narrow()))),
        1 => {
            let cells = Int16Array::from_iter(narrow().map(|cell| cell.map(i16::from)));
            ("int32 c (INTEGER(16,true))", int32, Arc::new(cells))
        }
        2 => ("int32 c", int32, Arc::new(Int32Array::from(whole))),
        3 => ("int64 c", int64, Arc::new(Int64Array::from(wide))),
        4 => {
            let cells = UInt32Array::from_iter(whole.iter().map(|cell| cell.map(|value| value as u32)));
            ("int32 c (INTEGER(32,false))", int32, Arc::new(cells))
        }
        5 => {
            let cells = UInt64Array::from_iter(wide.iter().map(|cell| cell.map(|value| value as u64)));
            ("int64 c (INTEGER(64,false))", int64, Arc::new(cells))
        }
        6 => ("int32 c (DATE)", int32, Arc::new(Date32Array::from(whole))),
        7 => {
            let cells = whole.iter().map(|cell| cell.map(|value| i64::from(value) * MILLIS_PER_DAY));
            ("int32 c (DATE)", int32, Arc::new(Date64Array::from_iter(cells)))
        }
        8 => {
            let array = TimestampMillisecondArray::from(moments.clone()).with_timezone("UTC");
            ("int64 c (TIMESTAMP(MILLIS,true))", Cells::Int64(moments), Arc::new(array))
        }
        9 => {
            let array = TimestampMicrosecondArray::from(moments.clone());
            ("int64 c (TIMESTAMP(MICROS,false))", Cells::Int64(moments), Arc::new(array))
        }
        10 => {
            let array = TimestampNanosecondArray::from(moments.clone());
            ("int64 c (TIMESTAMP(NANOS,false))", Cells::Int64(moments), Arc::new(array))
        }
        11 => {
            let millis = wide.iter().map(|cell| cell.map(|value| value * 1000)).collect();
            let array = TimestampSecondArray::from(wide);
            ("int64 c (TIMESTAMP(MILLIS,false))", Cells::Int64(millis), Arc::new(array))
        }
        12 => {
            let array = Decimal64Array::from(wide).with_precision_and_scale(18, 2).unwrap();
            ("int64 c (DECIMAL(18,2))", int64, Arc::new(array))
        }
        13 => {
            let array = Decimal32Array::from(whole).with_precision_and_scale(9, 1).unwrap();
            ("int32 c (DECIMAL(9,1))", int32, Arc::new(array))
        }
        14 => {
            let values: Vec<Option<i128>> = wide.iter().map(|cell| cell.map(|value| i128::from(value) << 40)).collect();
            let bytes = |value: i128| FixedLenByteArray::from(value.to_be_bytes().to_vec());
            let cells = Cells::Fixed(values.iter().map(|cell| cell.map(bytes)).collect());
            let array = Decimal128Array::from(values).with_precision_and_scale(38, 3).unwrap();
            ("fixed_len_byte_array(16) c (DECIMAL(38,3))", cells, Arc::new(array))
        }
        15 => {
            let values: Vec<Option<f32>> = whole.iter().map(|cell| cell.map(|value| value as f32 / 3.0)).collect();
            ("float c", Cells::Float(values.clone()), Arc::new(Float32Array::from(values)))
        }
        _ => {
            let values: Vec<Option<f64>> = whole.iter().map(|cell| cell.map(|value| f64::from(value) / 7.0)).collect();
            ("double c", Cells::Double(values.clone()), Arc::new(Float64Array::from(values)))
        }
    }
}

fn texts(rng: &mut StdRng, rows: usize, which: usize) -> Twins {
    const WORDS: [&str; 8] = ["", "7", "07", "1.5", "a text of more than sixteen bytes", "2024-02-29", "é", "flu"];
    let few = rng.random_range(1..=WORDS.len());
    let words = sparse(rng, rows, |rng| WORDS[rng.random_range(0..few)]);
    let cells = Cells::Bytes(words.iter().map(|word| word.map(ByteArray::from)).collect());
    let array: ArrayRef = match which {
        0 => Arc::new(StringArray::from(words)),
        1 => Arc::new(LargeStringArray::from(words)),
        2 => Arc::new(StringViewArray::from(words)),
        _ => {
            // A dictionary with a value that no cell has.
            let mut builder = StringDictionaryBuilder::<Int8Type>::new();
            builder.append_value("unused");
            words.iter().for_each(|word| builder.append_option(*word));
            Arc::new(builder.finish().slice(1, rows))
        }
    };
    ("binary c (STRING)", cells, array)
}

fn twins(rng: &mut StdRng, rows: usize) -> Twins {
    match rng.random_range(0..22) {
        which @ 0..=16 => numbers(rng, rows, which),
        17 => {
            let truths = sparse(rng, rows, |rng| rng.random_bool(0.5));
            ("boolean c", Cells::Bool(truths.clone()), Arc::new(BooleanArray::from(truths)))
        }
        which => texts(rng, rows, which - 18),
    }
}

fn batch(arrays: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(arrays.iter().map(|(name, array)| (*name, array.clone(), true))).unwrap()
}

fn read(batches: &[RecordBatch], options: &ReadOptions<'_>) -> Result<Table, TableError> {
    read_batches(&batches[0].schema(), batches, "frame", options)
}

#[test]
fn batches_are_read_as_parquet_files_with_the_same_cells_are() {
    let seeds = match std::env::var("HEDGEROW_SEED") {
        Ok(seed) => seed.parse::<u64>().unwrap()..=seed.parse::<u64>().unwrap(),
        Err(_) => 0..=1500,
    };
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(1..40);
        let (schema, cells, array) = twins(&mut rng, rows);
        let (_folder, path) = parquet_file(&format!("optional {schema};"), &[cells], 7);
        let options = ReadOptions { nulls: vec![String::new(), "flu".to_owned()], ..ReadOptions::default() };
        let expected = read_table(&path, &options).unwrap();
        let whole = batch(&[("c", array)]);
        let cut = rng.random_range(0..=rows);
        let batches = [whole.slice(0, cut), whole.slice(cut, rows - cut)];
        let found = read(&batches, &options).unwrap();
        assert_eq!(found.columns, expected.columns, "HEDGEROW_SEED={seed}");
        assert_eq!((found.rows, &found.header), (expected.rows, &expected.header), "HEDGEROW_SEED={seed}");
        // And back: the same texts.
        let back = read(&[to_arrow(&read(&batches, &options).unwrap()).unwrap()], &options).unwrap();
        let texts = |table: &Table| (0..rows).map(|row| table.columns[0].text(row)).collect::<Vec<_>>();
        assert_eq!(texts(&back), texts(&expected), "HEDGEROW_SEED={seed}");
    }
}

#[test]
fn columns_of_several_values_are_refused_by_name_when_they_are_wanted() {
    let ages: ArrayRef = Arc::new(Int32Array::from(vec![31, 52]));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), None]);
    let whole = batch(&[("age", ages), ("visits", Arc::new(lists))]);
    let skipped = read(std::slice::from_ref(&whole), &ReadOptions::default()).unwrap();
    assert_eq!(skipped.columns.len(), 1);
    assert!(skipped.warnings[0].problem.contains("`visits` has the type List"), "{:?}", skipped.warnings);
    let only = Some(["age", "visits"].map(str::to_owned).into());
    let error = read(&[whole], &ReadOptions { only, ..ReadOptions::default() }).unwrap_err().to_string();
    assert!(error.starts_with("frame: column `visits` has the type List"), "{error}");
}

#[test]
fn odd_tables_are_refused_with_their_row_or_name() {
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::NAN)]));
    let error = read(&[batch(&[("x", floats)])], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("frame: row 3: column `x`: `NaN` is not a number"), "{error}");
    let none: ArrayRef = Arc::new(Int32Array::from(Vec::<i32>::new()));
    let error = read(&[batch(&[("x", none)])], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("frame: the table has no rows"), "{error}");
    let one: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let twice = Schema::new(vec![Field::new("x", DataType::Int32, true), Field::new("x", DataType::Int32, true)]);
    let batch = RecordBatch::try_new(Arc::new(twice), vec![one.clone(), one]).unwrap();
    let error = read(&[batch], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("`x`"), "{error}");
}

#[test]
fn nothing_but_nulls_is_a_column_of_missing_values() {
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    let table = read(&[batch(&[("x", nulls)])], &ReadOptions::default()).unwrap();
    assert_eq!((table.columns[0].domain.kind(), table.columns[0].domain.cardinality()), (Kind::Category, 1));
    let table = to_arrow(&table).unwrap();
    assert_eq!(table.column(0).null_count(), 3);
    let mut builder = StringDictionaryBuilder::<Int8Type>::new();
    builder.append_nulls(3);
    let table = read(&[batch(&[("x", Arc::new(builder.finish()))])], &ReadOptions::default()).unwrap();
    assert_eq!((table.rows, table.columns[0].domain.present()), (3, 0));
}
