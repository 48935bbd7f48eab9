//! Files of every format, plain and compressed: what is read, and what is refused.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use super::*;
use crate::InputError;

pub(super) fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (directory, path)
}

pub(super) fn read_file(name: &str, bytes: &[u8]) -> Result<Table, TableError> {
    let (_directory, path) = file(name, bytes);
    read_table(&path, &ReadOptions::default())
}

pub(super) fn input_error(outcome: Result<Table, TableError>) -> InputError {
    match outcome {
        Err(TableError::Input(error)) => *error,
        other => panic!("expected an input error, found {other:?}"),
    }
}

pub(super) fn refused(name: &str, bytes: &[u8], place: &str, problem: &str) {
    let error = input_error(read_file(name, bytes));
    assert!(error.place.ends_with(place), "{error}");
    assert!(error.problem.contains(problem), "expected `{problem}` in: {error}");
    assert!(!error.hint.is_empty(), "{error}");
}

pub(super) fn texts(table: &Table, name: &str) -> Vec<String> {
    let column = table.column(name).unwrap();
    (0..table.rows).map(|row| column.text(row)).collect()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const PEOPLE: &[u8] = b"age,sex\n31,f\n4,m\n";

#[test]
fn a_compressed_file_reads_as_the_plain_one() {
    let plain = read_file("x.csv", PEOPLE).unwrap();
    let zipped = gzip(PEOPLE);
    let members = [gzip(&PEOPLE[..9]), gzip(&PEOPLE[9..])].concat();
    let zstd = zstd::encode_all(PEOPLE, 1).unwrap();
    for (name, bytes) in
        [("x.csv.gz", &zipped), ("x.csv", &zipped), ("x.csv.gz", &members), ("x.csv.zst", &zstd), ("x.txt", &zstd)]
    {
        assert_eq!(read_file(name, bytes).unwrap(), plain, "{name}");
    }
    assert_eq!(read_file("x.tsv", b"age\tsex\n31\tf\n4\tm\n").unwrap(), plain);
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let (_directory, path) = file("x.dat", PEOPLE);
    assert_eq!(read_table(&path, &options).unwrap(), plain);
}

#[test]
fn damaged_compression_is_refused() {
    let mut rows = b"a,b\n".to_vec();
    let mut random = StdRng::seed_from_u64(1);
    for _ in 0..20_000 {
        rows.extend(format!("{},{}\n", random.random::<u32>(), random.random::<u32>()).bytes());
    }
    let zipped = gzip(&rows);
    let zstd = zstd::encode_all(&rows[..], 1).unwrap();
    refused("x.csv.gz", &zipped[..zipped.len() / 2], "x.csv.gz", "the gzip data ends early");
    refused("x.csv.gz", &zipped[..zipped.len() - 4], "x.csv.gz", "the gzip data ends early");
    refused("x.csv.zst", &zstd[..zstd.len() / 2], "x.csv.zst", "the zstd data ends early");
    let mut flipped = zipped.clone();
    flipped[zipped.len() / 2] ^= 0xff;
    flipped[zipped.len() / 2 + 1] ^= 0xff;
    let error = input_error(read_file("x.csv.gz", &flipped));
    assert!(error.problem.contains("not sound gzip data") || error.problem.contains("ends early"), "{error}");
    refused("x.csv.gz", PEOPLE, "x.csv.gz", "not sound gzip data");
    refused("x.csv.zst", PEOPLE, "x.csv.zst", "not sound zstd data");
    refused("x.csv.gz", b"", "x.csv.gz", "the file is empty");
}

#[test]
fn a_path_that_is_not_a_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let absent = directory.path().join("absent.csv");
    let error = input_error(read_table(&absent, &ReadOptions::default()));
    assert!(error.problem.contains("does not exist") && error.place.ends_with("absent.csv"), "{error}");
    let folder = directory.path().join("folder.parquet");
    std::fs::create_dir(&folder).unwrap();
    let error = input_error(read_table(&folder, &ReadOptions::default()));
    assert!(error.problem.contains("the folder holds no files"), "{error}");
    let error = input_error(read_table(&directory.path().join("x.xls"), &ReadOptions::default()));
    assert!(error.problem.contains("format"), "{error}");
}

#[test]
fn progress_counts_the_bytes_of_the_file() {
    #[derive(Default)]
    struct Bytes(AtomicU64, AtomicU64);
    impl Progress for Bytes {
        fn stage(&self, _name: &str, total: Option<u64>) {
            self.0.store(total.unwrap(), Ordering::Relaxed);
        }
        fn advance(&self, amount: u64) {
            self.1.fetch_add(amount, Ordering::Relaxed);
        }
    }
    for (name, bytes) in [("x.csv", PEOPLE.to_vec()), ("x.csv.gz", gzip(PEOPLE))] {
        let (_directory, path) = file(name, &bytes);
        let progress = Bytes::default();
        read_table(&path, &ReadOptions { progress: &progress, ..ReadOptions::default() }).unwrap();
        assert_eq!(progress.0.into_inner(), bytes.len() as u64);
        assert_eq!(progress.1.into_inner(), bytes.len() as u64);
    }
}

#[test]
fn json_lines_become_rows_and_keys_columns() {
    let text = "\u{feff}{\"age\": 31, \"name\": \"a\\\"\\u00e9\"}\n\n{\"name\": null, \"ok\": true, \"pay\": 1.50}\r\n{ }\n{\"age\":-7e2,\"name\":\"\"}";
    let table = read_file("x.ndjson", text.as_bytes()).unwrap();
    assert_eq!(table.header, ["age", "name", "ok", "pay"]);
    assert_eq!(table.rows, 4);
    assert_eq!(texts(&table, "age"), ["31", "", "", "-700"]);
    assert_eq!(texts(&table, "name"), ["a\"é", "", "", ""]);
    assert_eq!(texts(&table, "ok"), ["", "true", "", ""]);
    assert_eq!(texts(&table, "pay"), ["", "1.5", "", ""]);
    assert_eq!(table.column("age").unwrap().domain.kind(), Kind::Float);
    let digits = read_file("x.jsonl", b"{\"n\": 123456789012345678901}\n").unwrap();
    assert_eq!(texts(&digits, "n"), ["123456789012345678901"], "digits are kept");
}

#[test]
fn json_that_is_not_a_table_is_refused_at_its_line() {
    let name = "x.jsonl";
    refused(name, b"{\"a\":1}\n[1]\n", "x.jsonl:2", "expected an object");
    refused(name, b"{\"a\":1}\n\n{\"a\":{\"b\":1}}\n", "x.jsonl:3", "key `a` holds an object or a list");
    refused(name, b"{\"a\":[1]}\n", "x.jsonl:1", "key `a` holds an object or a list");
    refused(name, b"{\"a\":1,\"b\":2,\"a\":3}\n", "x.jsonl:1", "the key `a` stands twice");
    refused(name, b"{\"a\":1}\n{\"a\":1,}\n", "x.jsonl:2", "not sound JSON");
    refused(name, b"{\"a\":1} {\"a\":2}\n", "x.jsonl:1", "not sound JSON");
    refused(name, b"{\"a\":01}\n", "x.jsonl:1", "not sound JSON");
    refused(name, b"{\"a\":NaN}\n", "x.jsonl:1", "not sound JSON");
    refused(name, b"{\"a\":\"\\ud800\"}\n", "x.jsonl:1", "not a sound JSON text");
    refused(name, b"{\"a\":\"x\\u0000\"}\n", "x.jsonl:1", "NUL");
    refused(name, b"{\"a\":\"\xff\"}\n", "x.jsonl:1", "not UTF-8");
    refused(name, b"{\"\":1}\n", "x.jsonl:1", "a key is empty");
    refused(name, b"{\"a\":1\n", "x.jsonl:1", "not sound JSON");
    refused(name, b"", "x.jsonl", "no rows");
    refused(name, b"\n \n", "x.jsonl", "no rows");
    refused(name, b"\xff\xfe{\0", "x.jsonl:1", "UTF-16");
    let (_directory, path) = file(name, b"{\"a\":1}\n\n{\"a\":\"x\"}\n");
    let kinds: HashMap<String, Kind> = [("a".to_owned(), Kind::Integer)].into();
    let error = input_error(read_table(&path, &ReadOptions { kinds, ..ReadOptions::default() }));
    assert!(error.place.ends_with("x.jsonl:3") && error.problem.contains("`x` is not an integer"), "{error}");
}

#[test]
fn json_columns_that_are_not_wanted_are_only_named() {
    let (_directory, path) = file("x.jsonl", b"{\"a\":1,\"deep\":{\"b\":[]}}\n{\"c\":2}\n");
    let only = Some(["c".to_owned(), "zzz".to_owned()].into());
    let table = read_table(&path, &ReadOptions { only, ..ReadOptions::default() }).unwrap();
    assert_eq!(table.header, ["a", "deep", "c"]);
    assert_eq!(table.columns.len(), 1);
    assert_eq!(texts(&table, "c"), ["", "2"]);
}

#[test]
fn json_in_blocks_of_any_size_on_any_threads_is_one_table() {
    let mut random = StdRng::seed_from_u64(5);
    let mut text = String::new();
    for row in 0..2000 {
        let mut keys: Vec<String> = Vec::new();
        for key in 0..6 {
            if random.random_bool(0.5) {
                keys.push(format!("\"k{}\":{}", key + row / 500, random.random_range(0..400)));
            }
        }
        text.push_str(&format!("{{{}}}\n", keys.join(",")));
    }
    let path = Path::new("x.jsonl");
    let read = |threads: usize, block_bytes: usize| {
        let open = || SourceBytes::wrap(path, Cursor::new(text.as_bytes()), 0, &NoProgress);
        let limits = ReadLimits { block_bytes, ..LIMITS };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = ReadOptions::default();
        pool.install(|| ndjson::read(Box::new(open), path, &options, limits)?.into_table(path, &options)).unwrap()
    };
    let whole = read(1, 1 << 20);
    assert_eq!(whole.rows, 2000);
    assert_eq!(whole.columns.len(), 9);
    for (threads, block_bytes) in [(1, 10), (2, 10), (2, 1000), (3, 100)] {
        assert_eq!(read(threads, block_bytes), whole, "{threads} threads, blocks of {block_bytes}");
    }
    for (row, line) in text.lines().enumerate() {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        for column in &whole.columns {
            let expected = object.get(&column.name).map(ToString::to_string).unwrap_or_default();
            assert_eq!(column.text(row), expected);
        }
    }
}

/// Issue 20: ICD codes that differ as texts are different diagnoses.
#[test]
fn two_texts_never_become_one_value_unless_the_type_is_declared() {
    let bytes = b"icd,age\n250.1,3\n250.10,4\n250.2,5\n";
    let json =
        b"{\"icd\": \"250.1\", \"age\": 3}\n{\"icd\": \"250.10\", \"age\": 4}\n{\"icd\": \"250.2\", \"age\": 5}\n";
    for (name, bytes) in [("x.csv", &bytes[..]), ("x.ndjson", &json[..])] {
        let table = read_file(name, bytes).unwrap();
        assert_eq!(texts(&table, "icd"), ["250.1", "250.10", "250.2"]);
        let [warning] = table.warnings.as_slice() else { panic!("one warning, not {:?}", table.warnings) };
        assert!(warning.place.ends_with(name), "{warning}");
        assert!(
            warning.problem.contains("column `icd` is read as text: as numbers, `250.1` and `250.10`"),
            "{warning}"
        );
    }
    let (_directory, path) = file("x.csv", bytes);
    for (kind, present) in [(Kind::Float, 2), (Kind::Category, 3)] {
        let options = ReadOptions { kinds: HashMap::from([("icd".to_owned(), kind)]), ..ReadOptions::default() };
        let table = read_table(&path, &options).unwrap();
        assert_eq!(table.columns[0].domain.present(), present);
        assert!(table.warnings.is_empty());
    }
}

/// Issue 20: Excel writes the delimiter into the first line.
#[test]
fn a_first_line_that_states_the_delimiter_is_not_the_header() {
    let plain = read_file("x.csv", b"age,sex\n31,f\n4,m\n").unwrap();
    for bytes in [
        &b"sep=;\nage;sex\n31;f\n4;m\n"[..],
        b"SEP=;\r\nage;sex\r\n31;f\r\n4;m\r\n",
        b"\xef\xbb\xbf\"sep=;\"\nage;sex\n31;f\n4;m",
        b"sep=\t\nage\tsex\n31\tf\n4\tm\n",
        b"sep=^\nage^sex\n31^f\n4^m\n",
    ] {
        assert_eq!(read_file("x.csv", bytes).unwrap(), plain, "{}", String::from_utf8_lossy(bytes));
    }
    refused("x.csv", b"sep=;\nage;sex\n31;f\n4\n", "x.csv:4", "expected 2 fields");
    refused("x.csv", b"sep=;\nage;age\n31;f\n", "x.csv:2", "both named `age`");
    refused("x.csv", b"sep=;\n", "x.csv", "the file is empty");
}

/// Issue 20: a file that is not split at all names the delimiter, not an attribute that the data
/// lacks.
#[test]
fn a_header_that_was_not_split_is_diagnosed() {
    refused("x.tsv", b"name,age,sex\nAnn,31,f\n", "x.tsv:1", "one column named `name,age,sex`: is tab the delimiter?");
    let (_directory, path) = file("x.csv", b"name;age;date of admission;sex\nAnn;31;2020;f\n");
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    let error = input_error(read_table(&path, &options));
    assert!(error.problem.contains("one column named `name;age;date of admissi…`"), "{error}");
    assert!(error.hint.contains("set `delimiter` to `;`"), "{error}");
    let table = read_file("x.csv", b"\"name, age\"\n\"Ann, 31\"\n").unwrap();
    assert_eq!(table.header, ["name, age"], "a quoted name is one column");
}

/// Issue 20: decimal commas and marks between thousands.
#[test]
fn numbers_are_read_in_the_format_of_the_source() {
    let bytes = b"pay;rate;code;day\n1.234,50;0,5;1.5;2024-01-31\n12;-3;2.5;2024-02-01\n";
    let (_directory, path) = file("x.csv", bytes);
    let numbers = NumberFormat::new(',', Some('.')).unwrap();
    let table = read_table(&path, &ReadOptions { numbers, ..ReadOptions::default() }).unwrap();
    assert_eq!(texts(&table, "pay"), ["1234.5", "12"]);
    assert_eq!(texts(&table, "rate"), ["0.5", "-3"]);
    assert_eq!(texts(&table, "code"), ["1.5", "2.5"], "no numbers in this format");
    let kinds: Vec<Kind> = table.columns.iter().map(|column| column.domain.kind()).collect();
    assert_eq!(kinds, [Kind::Float, Kind::Float, Kind::Category, Kind::Date]);
    let declared = |column: &str, kind| HashMap::from([(column.to_owned(), kind)]);
    let options = ReadOptions { numbers, kinds: declared("code", Kind::Float), ..ReadOptions::default() };
    let error = input_error(read_table(&path, &options));
    assert!(error.place.ends_with(":2") && error.problem == "column `code`: `1.5` is not a float", "{error}");
    let plain = read_table(&path, &ReadOptions::default()).unwrap();
    assert_eq!(texts(&plain, "pay"), ["1.234,50", "12"], "nothing is converted unless the format is declared");
    let problems: Vec<&str> = plain.warnings.iter().map(|warning| warning.problem.as_str()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("column `pay` is read as text, and looks like numbers with the decimal mark `,`"));
    assert!(plain.warnings[0].hint.contains("`decimal = \",\"` and `thousands = \".\"`"), "{}", plain.warnings[0]);
}

#[test]
fn two_texts_of_one_number_stay_apart_in_any_format() {
    let (_directory, path) = file("x.csv", b"n;m\n1.234;a\n1234;b\n");
    let numbers = NumberFormat::new(',', Some('.')).unwrap();
    let table = read_table(&path, &ReadOptions { numbers, ..ReadOptions::default() }).unwrap();
    assert_eq!(texts(&table, "n"), ["1.234", "1234"]);
    assert!(table.warnings[0].problem.contains("`1.234` and `1234` would be one value"), "{}", table.warnings[0]);
    let kinds = HashMap::from([("n".to_owned(), Kind::Integer)]);
    let table = read_table(&path, &ReadOptions { numbers, kinds, ..ReadOptions::default() }).unwrap();
    assert_eq!(texts(&table, "n"), ["1234", "1234"]);
}

/// Issue 20: dates in other formats, and moments as dates.
#[test]
fn dates_are_read_in_the_declared_format() {
    let bytes = b"born,admitted,seen\n31.01.2024,2024-01-31T09:30:00,01/02/2024\n?,2024-01-31T10:00:00,03/04/2024\n";
    let (_directory, path) = file("x.csv", bytes);
    let nulls = vec!["?".to_owned()];
    let options = ReadOptions {
        nulls: nulls.clone(),
        date_formats: HashMap::from([("born".to_owned(), DateFormat::parse("%d.%m.%Y").unwrap())]),
        kinds: HashMap::from([("admitted".to_owned(), Kind::Date)]),
        ..ReadOptions::default()
    };
    let table = read_table(&path, &options).unwrap();
    assert_eq!(texts(&table, "born"), ["2024-01-31", ""]);
    assert_eq!(texts(&table, "admitted"), ["2024-01-31", "2024-01-31"]);
    assert_eq!(table.columns[0].domain.kind(), Kind::Date);
    let [warning] = table.warnings.as_slice() else { panic!("one warning, not {:?}", table.warnings) };
    assert!(warning.problem.contains("leave open whether as `%d/%m/%Y` or `%m/%d/%Y`"), "{warning}");
    let date_format = DateFormat::parse("%d.%m.%Y").ok();
    let table =
        read_table(&path, &ReadOptions { nulls: nulls.clone(), date_format, ..ReadOptions::default() }).unwrap();
    let kinds: Vec<Kind> = table.columns.iter().map(|column| column.domain.kind()).collect();
    assert_eq!(kinds, [Kind::Date, Kind::Category, Kind::Category], "a format of the source is tried for every column");
    let date_formats = HashMap::from([("born".to_owned(), DateFormat::parse("%m.%d.%Y").unwrap())]);
    let error = input_error(read_table(&path, &ReadOptions { nulls, date_formats, ..ReadOptions::default() }));
    assert!(error.problem.contains("`31.01.2024` is not a date in the format `%m.%d.%Y`"), "{error}");
}

/// With one thread and with several, in every format: the values of a column that is not wanted in
/// full do not stay when they are too many.
#[test]
fn a_column_of_many_values_is_left_without_them_where_it_is_not_wanted_in_full() {
    let rows = FEW_VALUES + 5_000;
    let texts = |row: usize, modulus: usize| [format!("n{}", row % modulus), (row % modulus).to_string()];
    for (values, is_omitted) in [(FEW_VALUES, false), (FEW_VALUES + 1, true), (rows, true)] {
        let cells: Vec<[String; 2]> = (0..rows).map(|row| texts(row, values)).collect();
        let csv: String = cells.iter().map(|[text, number]| format!("{text},{number},{number}\n")).collect();
        let json = cells
            .iter()
            .map(|[text, number]| format!("{{\"text\": \"{text}\", \"number\": {number}, \"full\": {number}}}\n"));
        let json: String = json.collect();
        for (name, bytes) in [("x.csv", format!("text,number,full\n{csv}")), ("x.ndjson", json)] {
            let (_directory, path) = file(name, bytes.as_bytes());
            for threads in [1, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let in_full = Some(HashSet::from(["full".to_owned()]));
                let options = ReadOptions { in_full, ..ReadOptions::default() };
                let table = pool.install(|| read_table(&path, &options)).unwrap();
                assert_eq!((table.rows, table.columns.len()), (rows, 3));
                for column in ["text", "number"].map(|name| table.column(name).unwrap()) {
                    let held = (column.codes.len(), column.domain.present());
                    assert_eq!(held, if is_omitted { (0, 0) } else { (rows, values) }, "{name} {}", column.name);
                }
                let full = table.column("full").unwrap();
                assert_eq!((full.codes.len(), full.domain.present(), full.text(7)), (rows, values, "7".to_owned()));
            }
        }
    }
}

/// Read by one thread or several, a column with one value more than may be held is not there.
#[test]
fn a_column_that_is_wanted_if_it_has_few_values_is_omitted_where_it_has_more() {
    let few = FEW_BESIDE.texts;
    for (values, is_read) in [(few, true), (few + 1, false)] {
        let csv: String = (0..few + 10).map(|row| format!("{},{}\n", row % values, row % 7)).collect();
        let json: String =
            (0..few + 10).map(|row| format!("{{\"id\": {}, \"age\": {}}}\n", row % values, row % 7)).collect();
        for (name, bytes) in [("x.csv", format!("id,age\n{csv}")), ("x.ndjson", json)] {
            let (_directory, path) = file(name, bytes.as_bytes());
            let only = Some(HashSet::from(["age".to_owned()]));
            let options = ReadOptions { only, if_few: HashSet::from(["id".to_owned()]), ..ReadOptions::default() };
            for threads in [1, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let table = pool.install(|| read_table(&path, &options)).unwrap();
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                assert_eq!(names, if is_read { vec!["id", "age"] } else { vec!["age"] }, "{name}");
                assert_eq!(table.columns.last().unwrap().codes.len(), few + 10);
                if let Some(column) = table.column("id") {
                    assert_eq!((column.domain.kind(), column.domain.present()), (Kind::Category, values));
                }
            }
        }
    }
}

#[test]
fn a_file_is_not_refused_for_a_column_that_is_wanted_if_it_has_few_values() {
    let long = "x".repeat(FEW_BESIDE.bytes / 16);
    let csv: String = (0..18).map(|row| format!("{long}{row},{row}\n")).collect();
    let json = "{\"id\": {\"of\": 1}, \"age\": 1}\n{\"id\": 7, \"age\": 2}\n{\"age\": 3}\n".to_owned();
    for (name, bytes, is_read) in [("x.csv", format!("id,age\n{csv}"), false), ("x.ndjson", json, true)] {
        let (_directory, path) = file(name, bytes.as_bytes());
        let only = Some(HashSet::from(["age".to_owned()]));
        let options = ReadOptions { only, if_few: HashSet::from(["id".to_owned()]), ..ReadOptions::default() };
        let table = read_table(&path, &options).unwrap();
        assert_eq!(table.column("id").is_some(), is_read, "{name}");
        assert!(table.column("id").is_none_or(|column| column.domain.present() == 1), "{name}");
    }
}
