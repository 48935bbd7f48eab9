//! The part of JSON Schema (2020-12) that the schemas in `docs/schemas` use, and no more: a keyword
//! that this reader does not know is refused, so that no schema can require what is never checked.
//!
//! In one thing it is stricter than the standard: a key that a schema does not list is a mistake
//! here, unless `additionalProperties` says otherwise. For other readers the schemas stay open,
//! since outputs may grow.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

/// All schemas, by file name, so that they can refer to one another.
pub(crate) struct Schemas {
    files: BTreeMap<String, Value>,
}

/// Keywords that describe and require nothing.
const SILENT: &[&str] = &["$schema", "$id", "$defs", "$comment", "title", "description", "examples"];

impl Schemas {
    /// Of the repository.
    pub(crate) fn read() -> Schemas {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        let mut files = BTreeMap::new();
        for found in std::fs::read_dir(&folder).unwrap() {
            let path = found.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let schema = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), schema);
        }
        Schemas { files }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The problems of a value, each with its place; empty when it is valid.
    pub(crate) fn problems(&self, file: &str, value: &Value) -> Vec<String> {
        let schema = self.files.get(file).unwrap_or_else(|| panic!("docs/schemas/{file} is missing"));
        let mut problems = Vec::new();
        self.judge(file, schema, value, "$", &mut problems);
        problems
    }

    fn judge(&self, file: &str, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return problems.push(format!("{at}: nothing is allowed here")),
            Value::Object(keywords) => keywords,
            _ => panic!("{file}: a schema is an object or a boolean, not {schema}"),
        };
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                "$ref" => {
                    let (file, schema) = self.resolve(file, wanted.as_str().unwrap());
                    self.judge(file, schema, value, at, problems);
                }
                "type" if !has_type(wanted, value) => problems.push(format!("{at}: {value} is not of type {wanted}")),
                "const" if value != wanted => problems.push(format!("{at}: {value} is not {wanted}")),
                "enum" if !wanted.as_array().unwrap().contains(value) => {
                    problems.push(format!("{at}: {value} is not one of {wanted}"));
                }
                "minimum" if value.as_f64() < wanted.as_f64() && value.is_number() => {
                    problems.push(format!("{at}: {value} is below {wanted}"));
                }
                "maximum" if value.as_f64() > wanted.as_f64() && value.is_number() => {
                    problems.push(format!("{at}: {value} is above {wanted}"));
                }
                "minItems" if value.as_array().is_some_and(|items| (items.len() as u64) < wanted.as_u64().unwrap()) => {
                    problems.push(format!("{at}: fewer than {wanted} items"));
                }
                "anyOf" => self.judge_any(file, wanted.as_array().unwrap(), value, at, problems),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.judge(file, wanted, item, &format!("{at}[{index}]"), problems);
                    }
                }
                "required" => {
                    let Some(object) = value.as_object() else { continue };
                    let missing = wanted.as_array().unwrap().iter().filter_map(Value::as_str);
                    for name in missing.filter(|name| !object.contains_key(*name)) {
                        problems.push(format!("{at}: {name} is missing"));
                    }
                }
                // Judged together, key by key.
                "properties" | "additionalProperties" => {}
                "type" | "const" | "enum" | "minimum" | "maximum" | "minItems" => {}
                _ if SILENT.contains(&keyword.as_str()) => {}
                _ => panic!("{file}: the keyword {keyword} is not known to this test"),
            }
        }
        if let Some(object) = value.as_object() {
            self.judge_keys(file, keywords, object, at, problems);
        }
    }

    fn judge_any(&self, file: &str, schemas: &[Value], value: &Value, at: &str, problems: &mut Vec<String>) {
        let mut found: Vec<Vec<String>> = Vec::new();
        for schema in schemas {
            let mut own = Vec::new();
            self.judge(file, schema, value, at, &mut own);
            found.push(own);
        }
        if !found.iter().any(Vec::is_empty) {
            problems.push(format!("{at}: fits no alternative: {found:?}"));
        }
    }

    fn judge_keys(
        &self,
        file: &str,
        keywords: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        problems: &mut Vec<String>,
    ) {
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        if known.is_none() && others.is_none() {
            return;
        }
        for (name, value) in object {
            let at = format!("{at}.{name}");
            match known.and_then(|known| known.get(name)).or(others) {
                Some(schema) => self.judge(file, schema, value, &at, problems),
                None => problems.push(format!("{at}: the key is not described")),
            }
        }
    }

    /// `#/$defs/name` of the same file, or `other.json#/$defs/name`.
    fn resolve<'a>(&'a self, file: &'a str, reference: &'a str) -> (&'a str, &'a Value) {
        let (other, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = if other.is_empty() { file } else { other };
        let root = self.files.get(file).unwrap_or_else(|| panic!("{reference}: the file does not exist"));
        (file, root.pointer(pointer).unwrap_or_else(|| panic!("{file}: {reference} leads nowhere")))
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => panic!("{name} is not a type"),
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        _ => panic!("a type is a name or a list of names, not {wanted}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(schema: Value, value: Value) -> Vec<String> {
        let other = json!({ "$defs": { "count": { "type": "integer", "minimum": 0 } } });
        let files = [("a.json".to_owned(), schema), ("b.json".to_owned(), other)].into();
        Schemas { files }.problems("a.json", &value)
    }

    #[test]
    fn each_keyword_accepts_and_refuses() {
        let cases = [
            (json!({ "type": "integer" }), json!(3), json!(3.5)),
            (json!({ "type": ["string", "null"] }), json!(null), json!(true)),
            (json!({ "const": "a" }), json!("a"), json!("b")),
            (json!({ "enum": ["a", 1] }), json!(1), json!(2)),
            (json!({ "minimum": 0, "maximum": 1 }), json!(0.5), json!(-0.5)),
            (json!({ "maximum": 1 }), json!("text"), json!(2)),
            (json!({ "minItems": 1 }), json!([0]), json!([])),
            (json!({ "items": { "type": "string" } }), json!(["a"]), json!(["a", 1])),
            (json!({ "required": ["a"] }), json!({ "a": 1 }), json!({ "b": 1 })),
            (json!({ "properties": { "a": { "type": "string" } } }), json!({ "a": "x" }), json!({ "a": 1 })),
            (json!({ "properties": { "a": true } }), json!({}), json!({ "b": 1 })),
            (json!({ "additionalProperties": { "type": "number" } }), json!({ "x": 1 }), json!({ "x": "1" })),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!("x"), json!(1)),
            (json!({ "$ref": "#/$defs/x", "$defs": { "x": { "const": 1 } } }), json!(1), json!(2)),
            (json!({ "$ref": "b.json#/$defs/count" }), json!(1), json!(-1)),
        ];
        for (schema, good, bad) in cases {
            assert_eq!(problems(schema.clone(), good.clone()), [""; 0], "{schema} {good}");
            assert_eq!(problems(schema.clone(), bad.clone()).len(), 1, "{schema} {bad}");
        }
    }

    #[test]
    #[should_panic(expected = "the keyword pattern is not known")]
    fn a_keyword_that_is_never_checked_is_refused() {
        problems(json!({ "pattern": "a" }), json!("b"));
    }

    #[test]
    fn a_problem_names_its_place() {
        let schema = json!({ "properties": { "a": { "items": { "required": ["b"] } } } });
        assert_eq!(problems(schema, json!({ "a": [{ "b": 1 }, {}] })), ["$.a[1]: b is missing"]);
    }
}
