//! A data dictionary beside a data file: what its columns are, and what their codes mean.
//!
//! A CSV file with the columns `name`, `label` and `values` (`1=male; 2=female`), or JSON: a list
//! of objects with these keys, or an object from the name of each column to its own, where `values`
//! is an object from code to label or a list of objects with `value` and `label`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow_policy::propose::Described;
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{InputError, Table};
use serde_json::Value;

/// A larger file is not a dictionary.
const BYTES_MAX: u64 = 4 << 20;
/// Columns and codes that are taken from a dictionary.
const COLUMNS_MAX: usize = 10_000;
const VALUES_MAX: usize = 10_000;

const NAMES: [&str; 5] = ["name", "variable", "column", "field", "attribute"];
const LABELS: [&str; 4] = ["label", "description", "title", "meaning"];
const VALUES: [&str; 4] = ["values", "codes", "value_labels", "categories"];

/// Descriptions by the names of columns, and the file that they are from.
type Dictionary = (HashMap<String, Described>, PathBuf);

/// The descriptions of columns by their names, and the file that they are from. `None` where there
/// is no dictionary beside the data.
pub(crate) fn beside(data: &Path) -> Option<Result<Dictionary, InputError>> {
    let path = candidates(data).into_iter().find(|path| path.is_file())?;
    let place = path.display().to_string();
    let refuse = |problem: &str| {
        let hint = "a dictionary has `name`, `label` and `values` for each column; rename the file if it is another";
        InputError::new(place.clone(), problem, hint)
    };
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > BYTES_MAX) {
        return Some(Err(refuse("larger than a data dictionary may be, 4 MiB")));
    }
    let is_json = path.extension().is_some_and(|suffix| suffix == "json");
    let found = if is_json {
        let text = std::fs::read_to_string(&path).ok();
        text.and_then(|text| serde_json::from_str::<Value>(&text).ok()).and_then(|json| of_json(&json))
    } else {
        read_table(&path, &ReadOptions::default()).ok().and_then(|table| of_table(&table))
    };
    Some(match found {
        Some(found) if !found.is_empty() => Ok((found, path)),
        _ => Err(refuse("not read as a data dictionary")),
    })
}

/// For `people.csv`: `people-dictionary.csv`, `people.dictionary.json`, `dictionary.csv`, …
fn candidates(data: &Path) -> Vec<PathBuf> {
    let stem =
        data.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next()).unwrap_or_default();
    let stems = ["-dictionary", "_dictionary", ".dictionary"].map(|ending| format!("{stem}{ending}"));
    let general = ["dictionary", "data-dictionary", "data_dictionary"].map(str::to_owned);
    let names = stems.into_iter().chain(general);
    names.flat_map(|name| ["csv", "json"].map(|suffix| data.with_file_name(format!("{name}.{suffix}")))).collect()
}

fn of_table(table: &Table) -> Option<HashMap<String, Described>> {
    let column = |names: &[&str]| {
        let is_named = |header: &&String| names.iter().any(|name| header.eq_ignore_ascii_case(name));
        table.header.iter().find(is_named).and_then(|name| table.column(name))
    };
    let (name, label, values) = (column(&NAMES)?, column(&LABELS), column(&VALUES));
    if label.is_none() && values.is_none() {
        return None;
    }
    let described = (0..table.rows.min(COLUMNS_MAX)).map(|row| {
        let label = label.map_or_else(String::new, |label| label.text(row));
        let values = values.map_or_else(Vec::new, |values| pairs(&values.text(row)));
        (name.text(row), Described { label, values })
    });
    Some(described.collect())
}

/// `1=male; 2=female`, with `;`, `|`, `,` or a new line between them and `=` or `:` within.
fn pairs(text: &str) -> Vec<(String, String)> {
    let separator = ['\n', ';', '|', ','].into_iter().find(|mark| text.contains(*mark)).unwrap_or(';');
    let pair = |part: &str| {
        let (code, label) = part.split_once('=').or_else(|| part.split_once(':'))?;
        let (code, label) = (code.trim(), label.trim());
        (!code.is_empty() && !label.is_empty()).then(|| (code.to_owned(), label.to_owned()))
    };
    text.split(separator).filter_map(pair).take(VALUES_MAX).collect()
}

fn text(object: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match object.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn of_json(json: &Value) -> Option<HashMap<String, Described>> {
    let by_name = |object: &Value| text(object, &NAMES).map(|name| (name, object.clone()));
    let columns: Vec<(String, Value)> = match json {
        Value::Array(list) => list.iter().filter_map(by_name).collect(),
        Value::Object(object) => {
            match ["columns", "variables", "fields"].iter().find_map(|key| object.get(*key)?.as_array()) {
                Some(list) => list.iter().filter_map(by_name).collect(),
                None => object.iter().map(|(name, described)| (name.clone(), described.clone())).collect(),
            }
        }
        _ => return None,
    };
    let mut found = HashMap::new();
    for (name, object) in columns.into_iter().take(COLUMNS_MAX).filter(|(_, object)| object.is_object()) {
        let label = text(&object, &LABELS).unwrap_or_default();
        let values = match VALUES.iter().find_map(|key| object.get(*key)) {
            Some(Value::Object(values)) => values
                .iter()
                .filter_map(|(code, label)| Some((code.clone(), label.as_str()?.to_owned())))
                .take(VALUES_MAX)
                .collect(),
            Some(Value::Array(values)) => values
                .iter()
                .filter_map(|value| Some((text(value, &["value", "code"])?, text(value, &LABELS)?)))
                .take(VALUES_MAX)
                .collect(),
            Some(Value::String(values)) => pairs(values),
            _ => Vec::new(),
        };
        let described = Described { label, values };
        if described != Described::default() {
            found.insert(name, described);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_and_json_say_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("people.csv");
        let expected: HashMap<String, Described> =
            [("V1", "Sex of the respondent", vec![("1", "male"), ("2", "female")]), ("V2", "Age", Vec::new())]
                .into_iter()
                .map(|(name, label, values)| {
                    let values = values.into_iter().map(|(code, label)| (code.to_owned(), label.to_owned())).collect();
                    (name.to_owned(), Described { label: label.to_owned(), values })
                })
                .collect();
        assert!(beside(&data).is_none());
        let csv = folder.path().join("people-dictionary.csv");
        std::fs::write(&csv, "name,label,values\nV1,Sex of the respondent,1=male; 2=female\nV2,Age,\n").unwrap();
        assert_eq!(beside(&data).unwrap().unwrap(), (expected.clone(), csv.clone()));
        std::fs::remove_file(&csv).unwrap();
        let json = folder.path().join("dictionary.json");
        let text = r#"[{"name":"V1","label":"Sex of the respondent","values":{"1":"male","2":"female"}},{"name":"V2","label":"Age"}]"#;
        std::fs::write(&json, text).unwrap();
        assert_eq!(beside(&data).unwrap().unwrap(), (expected.clone(), json.clone()));
        let text = r#"{"V1":{"label":"Sex of the respondent","values":{"1":"male","2":"female"}},
            "V2":{"description":"Age","values":{"min":0,"max":99}}}"#;
        std::fs::write(&json, text).unwrap();
        assert_eq!(beside(&data).unwrap().unwrap(), (expected, json.clone()));
        std::fs::write(&json, "{}").unwrap();
        assert!(beside(&data).unwrap().is_err());
    }
}
