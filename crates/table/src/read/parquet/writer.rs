//! The program that wrote a Parquet file, by the name in its footer, and the texts that it leaves
//! there. A name that is followed by anything but a version is of no program.

use parquet::basic::{ConvertedType, Type as Physical};
use parquet::file::metadata::{FileMetaData, KeyValue};
use parquet::schema::types::Type;
use serde_json::Value;

/// The program of a release's own tables, as the footer names it.
pub const CREATED_BY: &str = "hedgerow";
const SPARK: &str = "parquet-mr version ";
const SAIL: [&str; 3] = ["datafusion version ", "parquet-rs version ", "sail version "];
/// Builds of Spark's writer that are not Apache's add one of these and a number.
const VENDORS: [&str; 5] = ["SNAPSHOT", "databricks", "amzn", "cdh", "cloudera"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Hedgerow,
    /// Apache Spark.
    Spark,
    Sail,
    Unknown,
}

impl Writer {
    pub(super) fn of(file: &FileMetaData) -> Writer {
        let name = file.created_by().unwrap_or_default();
        let version_after = |prefix: &str| name.strip_prefix(prefix).is_some_and(is_version);
        match name {
            CREATED_BY => Writer::Hedgerow,
            _ if version_after(SPARK) => Writer::Spark,
            _ if SAIL.iter().any(|prefix| version_after(prefix)) => Writer::Sail,
            _ => Writer::Unknown,
        }
    }

    /// Clusters state of their columns what the cells say anyway, and are held to it.
    pub(super) fn is_cluster(self) -> bool {
        matches!(self, Writer::Spark | Writer::Sail)
    }

    /// How many texts of a footer are not those of this program about these columns.
    pub(super) fn strange_texts(self, file: &FileMetaData) -> usize {
        let texts = file.key_value_metadata().map_or(&[][..], Vec::as_slice);
        texts.iter().filter(|text| self != Writer::Spark || !is_of_spark(text, file)).count()
    }
}

/// `1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)`
fn is_version(text: &str) -> bool {
    let (number, build) = match text.split_once(" (build ") {
        Some((number, build)) => (number, build.strip_suffix(')')),
        None => (text, Some("")),
    };
    let mut parts = number.split('-');
    let is_number = parts.next().is_some_and(is_digits);
    let is_known = parts.all(|part| is_digits(part) || VENDORS.contains(&part));
    let is_digest = |text: &str| text.is_empty() || text.len() == 40 && text.chars().all(|c| c.is_ascii_hexdigit());
    is_number && is_known && number.len() <= 40 && build.is_some_and(is_digest)
}

/// `4.1.4`
fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn is_of_spark(text: &KeyValue, file: &FileMetaData) -> bool {
    let value = text.value.as_deref().unwrap_or_default();
    match text.key.as_str() {
        "org.apache.spark.version" => {
            value.len() <= 40 && value.split('-').all(|part| is_digits(part) || VENDORS.contains(&part))
        }
        "org.apache.spark.sql.parquet.row.metadata" => schema_of_spark(file).is_some_and(|text| text == value),
        _ => false,
    }
}

/// The columns as Spark describes them: a text that follows from them.
fn schema_of_spark(file: &FileMetaData) -> Option<String> {
    let columns = file.schema_descr().root_schema().get_fields().iter();
    let fields = columns.map(|column| {
        let (name, kind, nullable) = (Value::from(column.name()), type_of(column)?, column.is_optional());
        Some(format!(r#"{{"name":{name},"type":"{kind}","nullable":{nullable},"metadata":{{}}}}"#))
    });
    let fields = fields.collect::<Option<Vec<_>>>()?.join(",");
    Some(format!(r#"{{"type":"struct","fields":[{fields}]}}"#))
}

/// Spark's name for the type of a column.
fn type_of(column: &Type) -> Option<String> {
    let Type::PrimitiveType { basic_info, physical_type, scale, precision, .. } = column else { return None };
    let name = match (basic_info.converted_type(), physical_type) {
        (ConvertedType::DECIMAL, _) => return Some(format!("decimal({precision},{scale})")),
        (ConvertedType::UTF8, Physical::BYTE_ARRAY) => "string",
        (ConvertedType::DATE, Physical::INT32) => "date",
        (ConvertedType::INT_8, Physical::INT32) => "byte",
        (ConvertedType::INT_16, Physical::INT32) => "short",
        (ConvertedType::NONE, Physical::INT32) => "integer",
        (ConvertedType::NONE, Physical::INT64) => "long",
        (ConvertedType::NONE, Physical::FLOAT) => "float",
        (ConvertedType::NONE, Physical::DOUBLE) => "double",
        (ConvertedType::NONE, Physical::BOOLEAN) => "boolean",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_numbers_and_a_digest() {
        let build = "402c3810c372d29603e181771acebfecc71bef61";
        for version in ["1.16.0", &format!("1.16.0 (build {build})"), "1.12.3-databricks-0001", "1.10.1 (build )"] {
            assert!(is_version(version), "{version}");
        }
        for other in ["", "Ann has the flu", "1.0-Ann-flu", &format!("1.0 (build {build}) Ann"), "1.0 (build Ann)"] {
            assert!(!is_version(other), "{other}");
        }
    }
}
