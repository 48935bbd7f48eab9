//! The keys of the JSON that the report's page reads, compared with the schemas: the page would
//! show a dash for a misspelt one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use crate::repo::Repo;

const PAGE: &str = "crates/report/src/page/";
const SCHEMAS: &str = "docs/schemas/";

/// The functions of the page's cursor that take a key.
const READS: &[&str] = &[".get(", ".items(", ".path(", ".text_of(", ".texts_of(", ".number_of(", ".is(", ".show_of("];

/// Keys of objects whose names the schemas leave open.
const OPEN: &[(&str, &str)] = &[("having", "a condition of a rule, beside the parameters of its model")];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut names: BTreeSet<String> = OPEN.iter().map(|(name, _)| (*name).to_owned()).collect();
    for file in repo.files.iter().filter(|file| file.path.starts_with(SCHEMAS)) {
        let schema: Value = serde_json::from_str(file.text.as_deref().unwrap_or_default()).unwrap_or_default();
        collect(&schema, &mut names);
    }
    let mut findings = Vec::new();
    for (path, text) in repo.rust_files().filter(|(path, _)| path.starts_with(PAGE)) {
        for (line, key) in keys(text).into_iter().filter(|(_, key)| !names.contains(*key)) {
            let problem = format!("the report reads `{key}`, and no schema has it");
            findings.push(Finding::new(path, line, problem, "write the key as docs/schemas has it"));
        }
    }
    findings
}

/// The names of all properties of a schema.
fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            let properties = object.get("properties").and_then(Value::as_object);
            names.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
            object.values().for_each(|value| collect(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// The literal keys that a file reads outside of its tests, each with its line.
fn keys(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    for read in READS {
        for (at, _) in code.match_indices(read) {
            let rest = &code[at + read.len()..];
            // A list of keys ends with its bracket, one key with its quote.
            let rest = rest.trim_start();
            let list = rest.strip_prefix("&[").and_then(|list| list.split(']').next());
            let one = rest.strip_prefix('"').and_then(|key| key.split('"').next());
            let line = code[..at].lines().count().max(1);
            found.extend(one.map(|key| (line, key)));
            found.extend(list.into_iter().flat_map(|list| list.split('"').skip(1).step_by(2)).map(|key| (line, key)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{ "properties": { "rows": { "items": { "properties": { "out": {} } } } } }"#;

    fn found(code: &str) -> Vec<String> {
        let files = [("docs/schemas/report.json", SCHEMA), ("crates/report/src/page/data.rs", code)];
        check(&Repo::made_of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn keys_of_the_schemas_pass_at_any_depth() {
        assert_eq!(found("at.get(\"rows\"); at.path(&[\"rows\", \"out\"]); at.get(name);"), [""; 0]);
        assert_eq!(found("#[cfg(test)]\nmod tests { at.get(\"rwos\"); }"), [""; 0]);
    }

    #[test]
    fn a_misspelt_key_is_found_with_its_line() {
        let single = found("let at = root;\nat.show_of(\"rwos\", how);");
        assert_eq!(single.len(), 1);
        assert!(single[0].starts_with("crates/report/src/page/data.rs:2: the report reads `rwos`"), "{}", single[0]);
        assert_eq!(found("at.path(&[\"rows\", \"uot\"]);").len(), 1);
        assert_eq!(found("at\n    .number_of(\n        \"uot\",\n    );").len(), 1);
    }
}
