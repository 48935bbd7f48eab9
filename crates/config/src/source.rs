//! `[source]`: where the data is and how to read it.

use std::path::{Path, PathBuf};

use hedgerow_table::{DateFormat, Format};

use crate::cluster::{Cluster, ClusterAddress};
use crate::database::{Address, Database, Selection};
use crate::position::quoted;
use crate::reader::{Field, Fields, Reader};
use crate::tree::{At, Data, TomlNode};
use crate::word::{Word, listed};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSettings {
    /// Resolved against the folder of the file that names it; for a database or a table of a
    /// cluster its address, to be shown.
    pub path: PathBuf,
    /// Where the data is in a database instead of a file.
    pub database: Option<Database>,
    /// The cluster that reads the data and writes the release in place of this process.
    pub cluster: Option<Cluster>,
    /// As given; `None` means by the file's suffix.
    pub format: Option<Format>,
    /// An ASCII character; `None` means detected.
    pub delimiter: Option<u8>,
    /// An ASCII character; `None` means the double quote.
    pub quote: Option<u8>,
    /// All the texts that count as missing: the list given is the whole list. Without one, only the
    /// empty text.
    pub nulls: Vec<String>,
    /// The decimal mark of numbers: a point, or a comma where it is set.
    pub decimal: char,
    /// The mark between thousands, if any; never the same as `decimal`.
    pub thousands: Option<char>,
    /// How dates are written in all columns that have no format of their own; `None` means as
    /// `2024-02-29`.
    pub date_format: Option<DateFormat>,
    /// The columns that say which rows are about one individual, household or firm, as a policy may
    /// name them here.
    pub unit: Vec<UnitColumn>,
    /// Of `path`.
    pub place: String,
    /// Whether the file names no source, so that rows are handed over in memory.
    absent: bool,
}

impl SourceSettings {
    /// The source of a file that names none: rows in memory, and the defaults of a file.
    pub fn of_rows_in_memory(place: String) -> SourceSettings {
        SourceSettings {
            path: PathBuf::from("table in memory"),
            database: None,
            cluster: None,
            format: None,
            delimiter: None,
            quote: None,
            nulls: vec![String::new()],
            decimal: '.',
            thousands: None,
            date_format: None,
            unit: Vec::new(),
            place,
            absent: true,
        }
    }

    /// Whether the file names no source.
    pub fn is_absent(&self) -> bool {
        self.absent
    }
}

/// A column that says whom a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitColumn {
    pub name: String,
    pub place: String,
}

pub const SOURCE: &[Word] = &[
    Word::key(
        "path",
        "path = \"patients.csv\"",
        "the file, relative to this file; a folder or a pattern means all files in it",
    )
    .also(&["file", "filename"]),
    Word::key("format", "format = \"csv\"", "what the file is, when its suffix does not say").also(&["type"]),
    Word::key("delimiter", "delimiter = \";\"", "what separates fields, when it should not be detected")
        .also(&["separator", "sep"]),
    Word::key("quote", "quote = \"'\"", "what encloses fields, when it is not the double quote"),
    Word::key("null", "null = [\"\", \"NA\"]", "all texts that count as missing").also(&["nulls", "missing", "na"]),
    Word::key("decimal", "decimal = \",\"", "what separates the fraction of a number, when it is not the point")
        .also(&["decimal-separator", "decimal-comma", "dec"]),
    Word::key("thousands", "thousands = \".\"", "what separates the thousands of a number, when something does")
        .also(&["thousands-separator", "grouping"]),
    Word::key(
        "date-format",
        "date-format = \"%d.%m.%Y\"",
        "how dates are written, when not as 2024-02-29: %d day, %m month, %b its name, %Y year, %y its last two digits",
    )
    .also(&["dateformat", "date-pattern"]),
    Word::key(
        "url",
        "url = \"postgres://ann@host/study\"",
        "a database instead of a file: `postgres://…` or `sqlite:people.db`",
    )
    .also(&["database", "uri", "connection"]),
    Word::key(
        "engine",
        "engine = \"sc://host:15002\"",
        "a Spark cluster that reads `path`, `table` or `query` and writes the release, by the command `hedgerow-spark`",
    )
    .also(&["spark", "cluster"]),
    Word::key("table", "table = \"patients\"", "the table or view of the database or cluster"),
    Word::key(
        "query",
        "query = \"select age, zip from patients\"",
        "a query on the database or cluster instead of a table",
    )
    .also(&["sql"]),
    Word::key(
        "unit",
        "unit = \"patient_id\"",
        "the column, or the list of columns, that says which rows are about one individual, household or firm",
    )
    .also(&["units", "individual", "subject"]),
];

pub const FORMATS: &[Word] = &[
    Word::value("csv", "fields separated by commas or semicolons"),
    Word::value("tsv", "fields separated by tabs"),
    Word::value("parquet", "Apache Parquet"),
    Word::value("ndjson", "one JSON object per line").also(&["json", "jsonl", "json-lines"]),
    Word::value("excel", "an Excel workbook, of which the first sheet is read").also(&["xlsx"]),
    Word::value("stata", "a Stata file, its value labels as texts").also(&["dta"]),
];

pub fn read(reader: &mut Reader<'_>, node: &TomlNode, folder: &Path) -> Option<SourceSettings> {
    let fields = reader.table(node, SOURCE, "[source]")?;
    let database = fields.get("url").map(|field| read_database(reader, &fields, field, folder));
    let cluster = fields.get("engine").map(|field| read_cluster(reader, &fields, field));
    let by_name = cluster.is_some() && ["table", "query"].into_iter().any(|key| fields.get(key).is_some());
    let path = if database.is_some() || by_name { None } else { read_path(reader, &fields) };
    let format = fields.get("format").and_then(|field| reader.choice(field, FORMATS.iter(), "format"));
    let format = format.and_then(Format::from_name);
    let delimiter = fields.get("delimiter").and_then(|field| read_delimiter(reader, field));
    let quote = fields.get("quote").and_then(|field| read_character(reader, field));
    let nulls = match fields.get("null") {
        Some(field) => read_nulls(reader, field),
        None => vec![String::new()],
    };
    if let (Some(field), Some(delimiter), Some(quote)) = (fields.get("quote"), delimiter, quote)
        && delimiter == quote
    {
        let hint = "the delimiter separates fields, the quote encloses one: they must differ";
        reader.refuse(&field.node.at, "the same character as `delimiter`", hint);
    }
    let decimal = fields.get("decimal").and_then(|field| read_mark(reader, field, DECIMALS)).unwrap_or('.');
    let thousands = fields.get("thousands").and_then(|field| read_mark(reader, field, THOUSANDS));
    if let Some(field) = fields.get("thousands").filter(|_| thousands == Some(decimal)) {
        let problem = format!("{} separates the fraction already", quoted(&decimal.to_string()));
        reader.refuse(&field.node.at, problem, "set `decimal = \",\"`, or choose another character");
    }
    let date_format = fields.get("date-format").and_then(|field| read_date_format(reader, field));
    let source = SourceSettings {
        path: PathBuf::new(),
        database: None,
        cluster: None,
        format,
        delimiter,
        quote,
        nulls,
        decimal,
        thousands,
        date_format,
        unit: fields.get("unit").map_or_else(Vec::new, |field| read_unit(reader, field)),
        place: String::new(),
        absent: false,
    };
    if let Some(database) = database {
        let (database, place) = database?;
        let path = PathBuf::from(database.address.to_string());
        return Some(SourceSettings { path, database: Some(database), place, ..source });
    }
    let cluster = match cluster {
        Some(cluster) => Some(cluster?),
        None => None,
    };
    if let Some(cluster) = cluster.as_ref().filter(|cluster| cluster.selection.is_some()) {
        let (path, place) = (PathBuf::from(cluster.address.to_string()), cluster.place.clone());
        return Some(SourceSettings { path, cluster: Some(cluster.clone()), place, ..source });
    }
    let (path, at) = path?;
    if let Some(format) = format.or(Format::of(Path::new(path)).ok()).filter(|format| !format.has_delimiter()) {
        for field in ["delimiter", "quote"].into_iter().filter_map(|key| fields.get(key)) {
            let problem = format!("means nothing for {} data", format.name());
            reader.refuse_key(&field.node.at, problem, "remove it, or set `format = \"csv\"`");
        }
    }
    for field in ["table", "query"].into_iter().filter_map(|key| fields.get(key)) {
        reader.refuse_key(&field.node.at, "means nothing without `url`", "name the database in `url`, or remove it");
    }
    // A cluster has addresses of its own, such as `s3a://…`.
    let is_address = cluster.is_some() && path.contains("://");
    let path = if is_address { PathBuf::from(path) } else { folder.join(path) };
    Some(SourceSettings { path, cluster, place: reader.place(at), ..source })
}

const DECIMALS: &[char] = &['.', ','];
/// The last two are the spaces that typesetters and spreadsheets put there.
const THOUSANDS: &[char] = &['.', ',', ' ', '\'', '’', '_', '\u{a0}', '\u{202f}'];

/// One of the characters that may stand within a number.
fn read_mark(reader: &mut Reader<'_>, field: Field<'_>, known: &[char]) -> Option<char> {
    let text = reader.text(field)?;
    let mut characters = text.chars();
    match (characters.next().filter(|character| known.contains(character)), characters.next()) {
        (Some(character), None) => Some(character),
        _ => {
            let known: Vec<String> = known.iter().map(char::to_string).collect();
            let problem =
                format!("expected one of {}, found {}", listed(known.iter().map(String::as_str)), quoted(text));
            reader.refuse(&field.node.at, problem, field.hint());
            None
        }
    }
}

/// A pattern that describes dates.
pub fn read_date_format(reader: &mut Reader<'_>, field: Field<'_>) -> Option<DateFormat> {
    let pattern = reader.text(field)?;
    match DateFormat::parse(pattern) {
        Ok(format) => Some(format),
        Err(problem) => {
            let problem = format!("{} describes no date: {problem}", quoted(pattern));
            reader.refuse(&field.node.at, problem, field.hint());
            None
        }
    }
}

/// Refuses keys of files for a database.
const OF_FILES: [&str; 7] = ["path", "format", "delimiter", "quote", "decimal", "thousands", "date-format"];

fn read_database(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    field: Field<'_>,
    folder: &Path,
) -> Option<(Database, String)> {
    for field in OF_FILES.into_iter().filter_map(|key| fields.get(key)) {
        reader.refuse_key(
            &field.node.at,
            "means nothing beside `url`: a database declares its types",
            "remove one of the two",
        );
    }
    let Some(address) = Address::parse(reader.text(field)?) else {
        let hint = "begin with `postgres://` or `sqlite:`; for a file, use `path`";
        reader.refuse(&field.node.at, "not the address of a database that can be read", hint);
        return None;
    };
    if address.holds_password() {
        let hint = "set PGPASSWORD, or write a line into the file ~/.pgpass, and remove the password here";
        reader.warn(&field.node.at, "the address holds a password in clear text", hint);
    }
    let selection = read_selection(reader, fields)?;
    let place = reader.place(&field.node.at);
    Some((Database { address: address.within(folder), selection }, place))
}

/// The table or the query; `None` within where neither is given.
fn read_selection(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Option<Selection>> {
    Some(match (fields.get("table"), fields.get("query")) {
        (Some(_), Some(query)) => {
            reader.refuse_key(&query.node.at, "means nothing beside `table`", "remove one of the two");
            return None;
        }
        (Some(field), None) => Some(Selection::Table(written(reader, field)?)),
        (None, Some(field)) => Some(Selection::Query(written(reader, field)?)),
        (None, None) => None,
    })
}

fn read_cluster(reader: &mut Reader<'_>, fields: &Fields<'_>, field: Field<'_>) -> Option<Cluster> {
    if let Some(url) = fields.get("url") {
        reader.refuse_key(&url.node.at, "means nothing beside `engine`", "remove one of the two");
        return None;
    }
    let Some(address) = ClusterAddress::parse(reader.text(field)?) else {
        let hint = "name the Spark Connect server, such as `sc://host:15002`";
        reader.refuse(&field.node.at, "not the address of a Spark cluster", hint);
        return None;
    };
    if address.holds_token() {
        let hint = "set SPARK_CONNECT_AUTHENTICATE_TOKEN, and remove the token here";
        reader.warn(&field.node.at, "the address holds a token in clear text", hint);
    }
    let selection = read_selection(reader, fields)?;
    if selection.is_some() {
        for field in OF_FILES.into_iter().filter_map(|key| fields.get(key)) {
            let problem = "means nothing beside `table` and `query`: a cluster declares their types";
            reader.refuse_key(&field.node.at, problem, "remove one of the two");
        }
    }
    Some(Cluster { address, selection, place: reader.place(&field.node.at) })
}

fn written(reader: &mut Reader<'_>, field: Field<'_>) -> Option<String> {
    let text = reader.text(field)?.trim();
    if text.is_empty() || text.contains('\0') {
        reader.refuse(&field.node.at, "is empty", field.hint());
        return None;
    }
    Some(text.to_owned())
}

fn read_unit(reader: &mut Reader<'_>, field: Field<'_>) -> Vec<UnitColumn> {
    let elements = match field.node.data {
        Data::List(_) => reader.list(field).unwrap_or_default(),
        _ => vec![field],
    };
    if elements.is_empty() {
        reader.refuse(&field.node.at, "the list is empty: it names no column", field.hint());
    }
    let mut columns: Vec<UnitColumn> = Vec::new();
    for element in elements {
        let Some(name) = reader.text(element) else { continue };
        if columns.iter().any(|column| column.name == name) {
            reader.refuse(&element.node.at, format!("{} is listed twice", quoted(name)), "list every column once");
            continue;
        }
        columns.push(UnitColumn { name: name.to_owned(), place: reader.place(&element.node.at) });
    }
    columns
}

fn read_path<'n>(reader: &mut Reader<'_>, fields: &Fields<'n>) -> Option<(&'n str, &'n At)> {
    let Some(field) = fields.get("path") else {
        let hint = "name the file with the data, relative to this file, such as `path = \"patients.csv\"`; \
                    or a database, such as `url = \"sqlite:people.db\"`";
        reader.refuse_key(&At::missing(fields.at, "path"), "`path` is missing", hint);
        return None;
    };
    let path = file_path(reader, field)?;
    Some((path, &*field.node.at))
}

/// A path that could name a file.
pub fn file_path<'n>(reader: &mut Reader<'_>, field: Field<'n>) -> Option<&'n str> {
    let path = reader.text(field)?;
    if path.trim().is_empty() || path.contains('\0') {
        reader.refuse(&field.node.at, "names no file", field.hint());
        return None;
    }
    Some(path)
}

fn read_delimiter(reader: &mut Reader<'_>, field: Field<'_>) -> Option<u8> {
    let character = read_character(reader, field)?;
    if character.is_ascii_alphanumeric() || character == b'"' {
        let problem = format!("{} cannot separate fields", quoted(&char::from(character).to_string()));
        reader.refuse(&field.node.at, problem, field.hint());
        return None;
    }
    Some(character)
}

fn read_character(reader: &mut Reader<'_>, field: Field<'_>) -> Option<u8> {
    let text = reader.text(field)?;
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'\0') => Some(*byte),
        _ => {
            let problem = format!("expected one ASCII character other than a line break, found {}", quoted(text));
            reader.refuse(&field.node.at, problem, field.hint());
            None
        }
    }
}

fn read_nulls(reader: &mut Reader<'_>, field: Field<'_>) -> Vec<String> {
    let mut nulls = Vec::new();
    for element in reader.list(field).unwrap_or_default() {
        if let Data::Integer(_) | Data::Float = element.node.data {
            let number = reader.text_of(element.node);
            let hint = format!("missing values are compared as text: write `\"{number}\"`");
            reader.refuse(&element.node.at, "expected a text in quotes, found a number", hint);
        } else if let Some(text) = reader.text(element) {
            nulls.push(text.to_owned());
        }
    }
    nulls.sort_unstable();
    nulls.dedup();
    nulls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_the_table_of_words() {
        assert!(FORMATS.iter().map(|word| word.name).eq(Format::ALL.map(Format::name)));
    }
}
