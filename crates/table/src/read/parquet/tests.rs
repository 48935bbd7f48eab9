//! Parquet files as other programs write them: every type, nulls, row groups, and damage.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding};
use ::parquet::data_type::*;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::read::tests::*;
use crate::read::{ReadOptions, read_table};
use crate::{InputError, Kind, TableError};

/// A column to write, in one of Parquet's physical types.
#[derive(Clone)]
pub(in crate::read) enum Cells {
    Bool(Vec<Option<bool>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Int96(Vec<Option<Int96>>),
    Float(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bytes(Vec<Option<ByteArray>>),
    Fixed(Vec<Option<FixedLenByteArray>>),
}

impl Cells {
    fn texts<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Cells {
        Cells::Bytes(texts.into_iter().map(|text| Some(ByteArray::from(text.as_ref().to_vec()))).collect())
    }

    fn rows(&self) -> usize {
        match self {
            Cells::Bool(cells) => cells.len(),
            Cells::Int32(cells) => cells.len(),
            Cells::Int64(cells) => cells.len(),
            Cells::Int96(cells) => cells.len(),
            Cells::Float(cells) => cells.len(),
            Cells::Double(cells) => cells.len(),
            Cells::Bytes(cells) => cells.len(),
            Cells::Fixed(cells) => cells.len(),
        }
    }

    fn write(&self, rows: std::ops::Range<usize>, out: SerializedColumnWriter<'_>) {
        fn write<T: DataType>(cells: &[Option<T::T>], mut out: SerializedColumnWriter<'_>) {
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
            // A list of one element per row: every value begins its own.
            let repetitions = vec![0; levels.len()];
            out.typed::<T>().write_batch(&values, Some(&levels), Some(&repetitions)).unwrap();
            out.close().unwrap();
        }
        match self {
            Cells::Bool(cells) => write::<BoolType>(&cells[rows], out),
            Cells::Int32(cells) => write::<Int32Type>(&cells[rows], out),
            Cells::Int64(cells) => write::<Int64Type>(&cells[rows], out),
            Cells::Int96(cells) => write::<Int96Type>(&cells[rows], out),
            Cells::Float(cells) => write::<FloatType>(&cells[rows], out),
            Cells::Double(cells) => write::<DoubleType>(&cells[rows], out),
            Cells::Bytes(cells) => write::<ByteArrayType>(&cells[rows], out),
            Cells::Fixed(cells) => write::<FixedLenByteArrayType>(&cells[rows], out),
        }
    }
}

pub(super) fn write_file(
    schema: &str,
    columns: &[Cells],
    rows_per_group: usize,
    set: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> (TempDir, PathBuf) {
    let (directory, path) = file("x.parquet", b"");
    let schema = Arc::new(parse_message_type(&format!("message release {{ {schema} }}")).unwrap());
    let properties = Arc::new(set(WriterProperties::builder()).build());
    let out = std::fs::File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(out, schema, properties).unwrap();
    let rows = columns[0].rows();
    for start in (0..rows).step_by(rows_per_group) {
        let mut group = writer.next_row_group().unwrap();
        for column in columns {
            let out = group.next_column().unwrap().unwrap();
            column.write(start..rows.min(start + rows_per_group), out);
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    (directory, path)
}

pub(in crate::read) fn parquet_file(schema: &str, columns: &[Cells], rows_per_group: usize) -> (TempDir, PathBuf) {
    write_file(schema, columns, rows_per_group, |properties| properties)
}

fn int96(low: u32, high: u32, day: u32) -> Option<Int96> {
    let mut value = Int96::new();
    value.set_data(low, high, day);
    Some(value)
}

pub(super) fn fixed(bytes: &[u8]) -> Option<FixedLenByteArray> {
    Some(FixedLenByteArray::from(bytes.to_vec()))
}

/// Name, type in a schema, cells, and what they are read as.
type Example = (&'static str, &'static str, Cells, Kind, [&'static str; 3]);

fn examples() -> Vec<Example> {
    use Cells::*;
    let texts = |texts: [Option<&str>; 3]| Bytes(texts.map(|text| text.map(ByteArray::from)).to_vec());
    let moments = |moments: [i64; 3]| Int64(moments.map(Some).to_vec());
    let wide = [0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    vec![
        ("small", "int32 c (INTEGER(8,true))", Int32(vec![Some(-1), None, Some(7)]), Kind::Integer, ["-1", "", "7"]),
        ("older", "int32 c (UINT_32)", Int32(vec![Some(-1), None, Some(7)]), Kind::Integer, ["4294967295", "", "7"]),
        (
            "large",
            "int64 c",
            moments([i64::MAX, i64::MIN, 0]),
            Kind::Integer,
            ["9223372036854775807", "-9223372036854775808", "0"],
        ),
        (
            "unsigned",
            "int64 c (INTEGER(64,false))",
            moments([-1, 1, 2]),
            Kind::Category,
            ["18446744073709551615", "1", "2"],
        ),
        ("single", "float c", Float(vec![Some(0.1), Some(2.0), Some(-0.0)]), Kind::Float, ["0.1", "2", "0"]),
        ("double", "double c", Double(vec![Some(1e15), Some(2.0), None]), Kind::Float, ["1000000000000000", "2", ""]),
        ("whole", "double c", Double(vec![Some(1.0), Some(2.0), Some(3.0)]), Kind::Float, ["1", "2", "3"]),
        (
            "half",
            "fixed_len_byte_array(2) c (FLOAT16)",
            Fixed(vec![fixed(&[0, 0x3c]), None, fixed(&[0, 0xc0])]),
            Kind::Float,
            ["1", "", "-2"],
        ),
        ("text", "binary c (STRING)", texts([Some("02139"), Some(""), None]), Kind::Category, ["02139", "", ""]),
        ("typed", "binary c (UTF8)", texts([Some("3"), Some("10"), None]), Kind::Integer, ["3", "10", ""]),
        ("word", "binary c (ENUM)", texts([Some("x"), None, Some("x")]), Kind::Category, ["x", "", "x"]),
        ("truth", "boolean c", Bool(vec![Some(true), Some(false), None]), Kind::Category, ["true", "false", ""]),
        (
            "day",
            "int32 c (DATE)",
            Int32(vec![Some(0), Some(19_753), Some(-1)]),
            Kind::Date,
            ["1970-01-01", "2024-01-31", "1969-12-31"],
        ),
        (
            "price",
            "int32 c (DECIMAL(9,2))",
            Int32(vec![Some(1234), None, Some(-5)]),
            Kind::Float,
            ["12.34", "", "-0.05"],
        ),
        ("sum", "int64 c (DECIMAL(18,0))", Int64(vec![Some(1234), None, Some(-5)]), Kind::Integer, ["1234", "", "-5"]),
        (
            "bytes",
            "binary c (DECIMAL(9,2))",
            Bytes([&[4u8, 0xd2][..], &[0xfb], &[]].map(|bytes| Some(ByteArray::from(bytes.to_vec()))).to_vec()),
            Kind::Float,
            ["12.34", "-0.05", "0"],
        ),
        (
            "wide",
            "fixed_len_byte_array(18) c (DECIMAL(40,1))",
            Fixed(vec![fixed(&wide), None, fixed(&wide)]),
            Kind::Category,
            ["-34028236692093846346337460743176821145.6", "", "-34028236692093846346337460743176821145.6"],
        ),
        (
            "moment",
            "int64 c (TIMESTAMP(MILLIS,false))",
            moments([0, 1, 1_000]),
            Kind::Category,
            ["1970-01-01T00:00:00", "1970-01-01T00:00:00.001", "1970-01-01T00:00:01"],
        ),
        (
            "instant",
            "int64 c (TIMESTAMP_MICROS)",
            moments([-1, 0, 86_400_000_000]),
            Kind::Category,
            ["1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"],
        ),
        (
            "nanos",
            "int64 c (TIMESTAMP(NANOS,true))",
            moments([1, i64::MIN, i64::MAX]),
            Kind::Category,
            ["1970-01-01T00:00:00.000000001Z", "1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"],
        ),
        (
            "oldest",
            "int96 c",
            Int96(vec![int96(1, 0, 2_440_589), None, int96(0, 0, 2_440_587)]),
            Kind::Category,
            ["1970-01-02T00:00:00.000000001", "", "1969-12-31T00:00:00"],
        ),
        ("nothing", "int32 c", Int32(vec![None, None, None]), Kind::Category, ["", "", ""]),
    ]
}

#[test]
fn columns_of_every_simple_type_are_read() {
    let examples = examples();
    let field = |(name, kind, ..): &Example| format!("optional {};", kind.replacen(" c", &format!(" {name}"), 1));
    let schema: String = examples.iter().map(field).collect();
    let columns: Vec<Cells> = examples.iter().map(|(_, _, cells, ..)| cells.clone()).collect();
    for dictionary in [true, false] {
        let set = |properties: WriterPropertiesBuilder| properties.set_dictionary_enabled(dictionary);
        let (_directory, path) = write_file(&schema, &columns, 2, set);
        let table = read_table(&path, &ReadOptions::default()).unwrap();
        assert_eq!(table.header, examples.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
        for (name, _, _, kind, values) in &examples {
            assert_eq!(texts(&table, name), values, "{name}");
            assert_eq!(table.column(name).unwrap().domain.kind(), *kind, "{name}");
        }
        let only = Some(["day".to_owned()].into());
        let table = read_table(&path, &ReadOptions { only, ..ReadOptions::default() }).unwrap();
        assert_eq!((table.header.len(), table.columns.len()), (examples.len(), 1));
        assert_eq!(texts(&table, "day"), ["1970-01-01", "2024-01-31", "1969-12-31"]);
    }
}

#[test]
fn a_column_without_nulls_and_one_beside_a_list_are_read() {
    let schema = "required int32 n; repeated int32 tags; required binary s (STRING);";
    let columns =
        [Cells::Int32(vec![Some(1), Some(2)]), Cells::Int32(vec![Some(8), Some(9)]), Cells::texts(["a", "b"])];
    let (_directory, path) = parquet_file(schema, &columns, 10);
    let only = Some(["n".to_owned(), "s".to_owned()].into());
    let table = read_table(&path, &ReadOptions { only, ..ReadOptions::default() }).unwrap();
    assert_eq!((texts(&table, "n"), texts(&table, "s")), (vec!["1".into(), "2".into()], vec!["a".into(), "b".into()]));
}

fn stored(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Issue 20: files of pyarrow in other compressions.
#[test]
fn lz4_and_brotli_are_read() {
    let csv = read_file("x.csv", b"age,sex\n31,f\n4,m\n,f\n").unwrap();
    for name in ["lz4.parquet", "brotli.parquet"] {
        assert_eq!(read_table(&stored(name), &ReadOptions::default()).unwrap(), csv, "{name}");
    }
}

/// A categorical of a data frame keeps the categories of rows that were filtered away.
#[test]
fn a_category_that_no_row_has_does_not_enter_the_table() {
    let table = read_table(&stored("categories.parquet"), &ReadOptions::default()).unwrap();
    assert_eq!(texts(&table, "sex"), ["f", "m", "f"]);
    assert_eq!(table.column("sex").unwrap().domain.present(), 2, "`unknown` is in the file's dictionary only");
}

/// Issue 20: a column that no table can hold is skipped, with a warning, unless it was named.
#[test]
fn nested_columns_are_skipped_with_a_warning() {
    let table = read_table(&stored("nested.parquet"), &ReadOptions::default()).unwrap();
    assert_eq!(table.header, ["age", "visits", "address", "name"]);
    let read: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(read, ["age", "name"]);
    assert_eq!(
        (texts(&table, "age"), texts(&table, "name")),
        (vec!["1".into(), "2".into()], vec!["a".into(), "b".into()])
    );
    let problems: Vec<&str> = table.warnings.iter().map(|warning| warning.problem.as_str()).collect();
    assert_eq!(
        problems,
        [
            "column `visits` has the type List, which cannot be read",
            "column `address` has the type Struct, which cannot be read",
        ]
    );
    let only = Some(["age".to_owned(), "visits".to_owned()].into());
    let error = input_error(read_table(&stored("nested.parquet"), &ReadOptions { only, ..ReadOptions::default() }));
    assert!(error.problem.contains("column `visits` has the type List"), "{error}");
}

/// Workers that share one handle's position read each other's row groups, or none: each must have
/// its own.
#[test]
fn row_groups_are_read_in_parallel() {
    let numbers: Vec<i64> = (0..6000).map(|row| row * 7919 % 6007).collect();
    let texts_of: Vec<String> = numbers.iter().map(|number| format!("text {number}")).collect();
    let columns = [Cells::Int64(numbers.iter().copied().map(Some).collect()), Cells::texts(&texts_of)];
    let (_directory, path) = parquet_file("optional int64 number; optional binary text (STRING);", &columns, 20);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    for _ in 0..10 {
        let table = pool.install(|| read_table(&path, &ReadOptions::default()).unwrap());
        assert_eq!(texts(&table, "text"), texts_of);
        assert_eq!(table.column("number").unwrap().text(5999), numbers[5999].to_string());
    }
}

#[test]
fn columns_without_single_values_are_refused_by_column_and_row() {
    let error_of = |field: &str, cells: Cells, kinds: &[(&str, Kind)]| {
        let (_directory, path) = parquet_file(field, &[cells], 2);
        let kinds = kinds.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        input_error(read_table(&path, &ReadOptions { kinds, ..ReadOptions::default() }))
    };
    let check = |error: InputError, place: &str, problem: &str| {
        assert!(error.place.ends_with(place) && error.problem.contains(problem), "{error}");
    };
    let floats = Cells::Double(vec![Some(1.0), None, Some(2.0), Some(f64::NAN)]);
    check(error_of("optional double pay;", floats, &[]), "x.parquet: row 4", "column `pay`: `NaN` is not a number");
    let floats = Cells::Float(vec![Some(f32::NEG_INFINITY)]);
    check(error_of("optional float pay;", floats, &[]), "x.parquet: row 1", "column `pay`: `-inf`");
    let numbers = || Cells::Int32(vec![Some(1)]);
    let list = "optional group tags (LIST) { repeated group list { required int32 element; } }";
    check(error_of(list, numbers(), &[]), "x.parquet", "column `tags` has the type List");
    check(error_of("repeated int32 tags;", numbers(), &[]), "x.parquet", "column `tags` has the type List");
    check(error_of("optional group s { required int32 x; }", numbers(), &[]), "x.parquet", "the type Struct");
    check(error_of("optional int32 t (TIME_MILLIS);", numbers(), &[]), "x.parquet", "column `t` has the type Time");
    check(error_of("optional binary raw;", Cells::texts(["x"]), &[]), "x.parquet", "column `raw` has the type Binary");
    let word = "optional binary s (STRING);";
    check(error_of(word, Cells::texts(["a", "b", "c\0"]), &[]), "x.parquet: row 3", "column `s`: a text with a NUL");
    check(error_of(word, Cells::texts([&b"a"[..], b"\xff"]), &[]), "x.parquet: row 2", "not UTF-8");
    let words = Cells::texts(["1", "2", "x"]);
    check(error_of(word, words, &[("s", Kind::Integer)]), "x.parquet: row 3", "`x` is not an integer");
    check(error_of("optional int32 n;", Cells::Int32(vec![]), &[]), "x.parquet", "no rows");
    let decimals = Cells::Bytes(vec![Some(ByteArray::from(vec![1; 33]))]);
    check(error_of("optional binary d (DECIMAL(9,0));", decimals, &[]), "x.parquet: row 1", "over 76 digits");
    let moment = Cells::Int96(vec![int96(u32::MAX, u32::MAX, 0)]);
    check(error_of("optional int96 m;", moment, &[]), "x.parquet: row 1", "more than a day");
    refused("x.parquet", b"PAR1 but not really", "x.parquet", "not a sound Parquet file");
    refused("x.parquet", b"", "x.parquet", "not a sound Parquet file");
    refused("x.parquet.gz", &gzip(b"PAR1"), "x.parquet.gz", "not a sound Parquet file");
}

#[test]
fn a_text_that_cannot_be_read_omits_a_column_that_is_wanted_if_it_has_few_values() {
    for odd in [&b"c\0"[..], b"\xff"] {
        let columns = [Cells::texts([&b"a"[..], b"b", odd, b"d"]), Cells::Int32(vec![Some(1); 4])];
        let (_directory, path) = parquet_file("optional binary id (STRING); optional int32 age;", &columns, 2);
        let only = Some(HashSet::from(["age".to_owned()]));
        let options = ReadOptions { only, if_few: HashSet::from(["id".to_owned()]), ..ReadOptions::default() };
        let table = read_table(&path, &options).unwrap();
        assert!(table.column("id").is_none());
        assert_eq!(table.column("age").unwrap().codes.len(), 4);
    }
}

#[test]
fn parquet_and_csv_of_the_same_texts_are_the_same_table() {
    let mut random = StdRng::seed_from_u64(9);
    let ages: Vec<i32> = (0..5000).map(|_| random.random_range(0..900)).collect();
    let zips: Vec<String> = (0..5000).map(|_| format!("{:05}", random.random_range(0..70_000))).collect();
    let mut csv = String::from("age,zip\n");
    ages.iter().zip(&zips).for_each(|(age, zip)| csv.push_str(&format!("{age},{zip}\n")));
    let from_csv = read_file("x.csv", csv.as_bytes()).unwrap();
    let columns = [Cells::Int32(ages.into_iter().map(Some).collect()), Cells::texts(&zips)];
    let schema = "optional int32 age; optional binary zip (STRING);";
    let encodings = [Encoding::PLAIN, Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_BYTE_ARRAY];
    for (threads, rows_per_group, encoding) in [(1, 700, None), (2, 700, Some(0)), (2, 5000, Some(1)), (2, 33, None)] {
        let set = |properties: WriterPropertiesBuilder| match encoding {
            None => properties,
            Some(0) => properties.set_dictionary_enabled(false).set_encoding(encodings[0]),
            Some(_) => properties
                .set_dictionary_enabled(false)
                .set_column_encoding("age".into(), encodings[1])
                .set_column_encoding("zip".into(), encodings[2]),
        };
        let (_directory, path) = write_file(schema, &columns, rows_per_group, set);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let from_parquet = pool.install(|| read_table(&path, &ReadOptions::default())).unwrap();
        assert_eq!(from_parquet, from_csv);
    }
    assert_eq!(from_csv.columns[0].domain.kind(), Kind::Integer);
}

/// Small pages of both versions, nulls or none, a dictionary that is given up within a row group.
#[test]
fn pages_of_every_layout_give_the_same_table() {
    let mut random = StdRng::seed_from_u64(4);
    for share_missing in [0.0, 0.3, 1.0] {
        let ages: Vec<Option<i32>> =
            (0..3000).map(|_| (!random.random_bool(share_missing)).then(|| random.random_range(0..700))).collect();
        let heights: Vec<Option<f64>> =
            ages.iter().map(|_| (!random.random_bool(share_missing)).then(|| random.random::<f32>().into())).collect();
        let words: Vec<Option<String>> =
            ages.iter().map(|age| age.map(|age| format!("a text of some length, number {}", age * 7 % 500))).collect();
        let columns = [
            Cells::Int32(ages.clone()),
            Cells::Double(heights.clone()),
            Cells::Bytes(words.iter().map(|word| word.as_deref().map(ByteArray::from)).collect()),
        ];
        let from_memory = crate::Table::from_columns(
            [
                ("age", crate::ColumnCells::Texts(ages.iter().map(|age| age.map(|age| age.to_string())).collect())),
                ("height", heights.into()),
                ("word", words.into()),
            ],
            &ReadOptions::default(),
        )
        .unwrap();
        let repetitions = if share_missing == 0.0 { &["optional", "required"][..] } else { &["optional"] };
        for (repetition, version, dictionary_bytes, page_rows) in repetitions.iter().flat_map(|repetition| {
            let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
            versions.map(|version| (repetition, version, 1 << 20, 50)).into_iter().chain([
                (repetition, WriterVersion::PARQUET_1_0, 64, 70),
                (repetition, WriterVersion::PARQUET_2_0, 64, 30_000),
            ])
        }) {
            let schema = "int32 age; double height; binary word (STRING);";
            let schema: String = schema.split_inclusive(';').map(|field| format!("{repetition} {field}")).collect();
            let (_directory, path) = write_file(&schema, &columns, 1100, |properties| {
                properties
                    .set_writer_version(version)
                    .set_dictionary_page_size_limit(dictionary_bytes)
                    .set_data_page_row_count_limit(page_rows)
                    .set_write_batch_size(10)
            });
            let table = read_table(&path, &ReadOptions::default()).unwrap();
            assert_eq!(
                table, from_memory,
                "{share_missing} missing, {repetition}, {version:?}, {dictionary_bytes} bytes"
            );
        }
    }
}

/// Bytes are changed at random. What is left is read or refused, and never stops the program.
#[test]
fn damaged_files_are_refused_or_read() {
    let examples = examples();
    let field = |(name, kind, ..): &Example| format!("optional {};", kind.replacen(" c", &format!(" {name}"), 1));
    let schema: String = examples.iter().map(field).collect();
    let columns: Vec<Cells> = examples.iter().map(|(_, _, cells, ..)| cells.clone()).collect();
    for dictionary in [true, false] {
        let set = |properties: WriterPropertiesBuilder| properties.set_dictionary_enabled(dictionary);
        let (_directory, path) = write_file(&schema, &columns, 2, set);
        let sound = std::fs::read(&path).unwrap();
        for seed in 0..1000 {
            let mut random = StdRng::seed_from_u64(seed);
            let mut bytes = sound.clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(0..bytes.len());
                bytes[place] = random.random();
            }
            std::fs::write(&path, &bytes).unwrap();
            let read = std::panic::catch_unwind(|| read_table(&path, &ReadOptions::default()).map(|table| table.rows));
            let acceptable = matches!(read, Ok(Ok(3) | Err(TableError::Input(_))));
            assert!(acceptable, "dictionary {dictionary}, seed {seed}: {read:?}");
        }
    }
}

/// As a release is written, unless `set` changes that.
fn released(cells: &[&str], set: impl Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder) -> (TempDir, PathBuf) {
    let column = |mark: &str| {
        let cells = cells.iter().map(|text| Some(ByteArray::from(format!("{mark}{text}").as_str())));
        Cells::Bytes(cells.collect())
    };
    let schema = "optional binary a (STRING); optional binary b (STRING);";
    write_file(schema, &[column("a"), column("b")], 3, |properties| {
        let properties = properties
            .set_compression(Compression::ZSTD(Default::default()))
            .set_created_by(super::CREATED_BY.to_owned())
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        set(properties)
    })
}

#[test]
fn what_a_file_holds_beside_its_cells_is_found() {
    let cells = ["x", "y", "x", "z", "x", "y", "z"];
    let found = |set: &dyn Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder| {
        let (_directory, path) = released(&cells, set);
        super::beside_cells(&path).unwrap()
    };
    assert_eq!(found(&|properties| properties), [""; 0]);
    let other = found(&|properties| properties.set_created_by("Ann has the flu".to_owned()));
    assert_eq!(other[0], "is of another program than those that write releases");
    let text = KeyValue::new("Ann".to_owned(), "flu".to_owned());
    let texts = found(&|properties| properties.set_key_value_metadata(Some(vec![text.clone()])));
    assert_eq!(texts[0], "has 1 texts beside its columns");
    let pages = found(&|properties| properties.set_statistics_enabled(EnabledStatistics::Page));
    assert!(pages.contains(&"has a footer that describes more than its columns".to_owned()), "{pages:?}");
}

#[test]
fn bytes_between_columns_are_found() {
    let (directory, path) = released(&["x", "y", "x", "z", "x", "y", "z"], |properties| properties);
    let honest = std::fs::read(&path).unwrap();
    let hidden = |bytes: Vec<u8>| {
        let path = directory.path().join("changed.parquet");
        std::fs::write(&path, bytes).unwrap();
        super::beside_cells(&path).unwrap().into_iter().find(|problem| problem.contains("bytes"))
    };
    assert_eq!(hidden(honest.clone()), None);
    let tail = honest.len() - 8;
    let footer = u32::from_le_bytes(honest[tail..tail + 4].try_into().unwrap()) as usize;
    let (columns, rest) = honest.split_at(tail - footer);
    let secret = hidden([columns, b"Ann has the flu", rest].concat());
    assert_eq!(secret.as_deref(), Some("holds 15 bytes that belong to no column"));
    // Padding to the blocks of a disk is not counted.
    assert_eq!(hidden([columns, &[0; 512], rest].concat()), None);
    assert!(hidden([columns, &[0; 512], b"Ann", rest].concat()).is_some());
}

/// A value that no cell has could be a person's; only a strict reader looks.
#[test]
fn a_dictionary_with_a_value_that_no_cell_has_is_refused() {
    // Long, so that the dictionary is of a size that no page of positions has; not compressed.
    let cells = ["first-value", "second-value", "first-value"];
    let (_directory, path) = released(&cells, |properties| properties.set_compression(Compression::UNCOMPRESSED));
    let read = |strict: bool| {
        let options = ReadOptions { as_released: strict, ..ReadOptions::default() };
        read_table(&path, &options)
    };
    assert_eq!(read(true).unwrap().columns[0].domain.present(), 2);
    // All positions of column `a` become 0: its second value is in no cell any more.
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.windows(13).position(|window| window == b"asecond-value").unwrap() + 13;
    let positions = (end..end + 64).find(|&at| bytes[at..at + 3] == [1, 3, 0b010]).unwrap();
    bytes[positions + 2] = 0;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(read(false).unwrap().columns[0].domain.present(), 1);
    let error = read(true).unwrap_err().to_string();
    assert!(error.contains("more than its cells"), "{error}");
}

/// Texts and numbers, with a dictionary and without, in one group of rows and in several.
#[test]
fn a_column_of_many_values_is_left_without_them_where_it_is_not_wanted_in_full() {
    let few = crate::read::FEW_VALUES;
    let rows = few + 5_000;
    for (values, is_omitted) in [(few, false), (few + 1, true)] {
        let texts = || Cells::texts((0..rows).map(|row| format!("n{}", row % values)));
        let numbers = || Cells::Int64((0..rows).map(|row| Some((row % values) as i64)).collect());
        let schema = "required binary text (UTF8); optional int64 number; required binary full (UTF8);";
        for (dictionary, group) in [(true, rows), (false, 10_000)] {
            let columns = [texts(), numbers(), texts()];
            let (_directory, path) =
                write_file(schema, &columns, group, |with| with.set_dictionary_enabled(dictionary));
            let in_full = Some(["full".to_owned()].into());
            let table = read_table(&path, &ReadOptions { in_full, ..ReadOptions::default() }).unwrap();
            let held = |name: &str| {
                let column = table.column(name).unwrap();
                (column.codes.len(), column.domain.present())
            };
            let expected = if is_omitted { (0, 0) } else { (rows, values) };
            assert_eq!([held("text"), held("number")], [expected; 2], "{dictionary}");
            assert_eq!(held("full"), (rows, values));
        }
    }
}
