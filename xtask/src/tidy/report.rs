//! The places of the report's JSON that the page names, compared with the schemas: a number of the
//! page says where it is, by the names of the fields that it was read from.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use crate::repo::Repo;

const PAGE: &str = "crates/report/src/page/";
const SCHEMAS: &str = "docs/schemas/";

/// The macro by which the page reads a number: `at!(release, measures.loss)`.
const READ: &str = "at!(";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for file in repo.files.iter().filter(|file| file.path.starts_with(SCHEMAS)) {
        let schema: Value = serde_json::from_str(file.text.as_deref().unwrap_or_default()).unwrap_or_default();
        collect(&schema, &mut names);
    }
    let mut findings = Vec::new();
    for (path, text) in repo.rust_files().filter(|(path, _)| is_page(path)) {
        for (line, key) in keys(text).into_iter().filter(|(_, key)| !names.contains(*key)) {
            let problem = format!("the page names the place `{key}`, and no schema has it");
            findings.push(Finding::new(path, line, problem, "name the field as docs/schemas has the key"));
        }
    }
    findings
}

/// The cursor defines the macro, and reads no field.
fn is_page(path: &str) -> bool {
    path.starts_with(PAGE) && !path.ends_with("/cursor.rs")
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

/// The fields that a file reads outside of its tests, each with its line. A place within the place
/// of another, `at!(at!(report, audit), findings)`, is found by itself.
fn keys(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut found = Vec::new();
    // `format!(` ends with the same letters.
    let is_macro = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    for (at, _) in code.match_indices(READ).filter(|(at, _)| is_macro(*at)) {
        let rest = &code[at + READ.len()..];
        let mut depth = 1;
        let end = rest.find(|c: char| {
            depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            depth == 0
        });
        let Some(fields) = end.and_then(|end| rest[..end].rsplit_once(',')) else { continue };
        let line = code[..at].matches('\n').count() + 1;
        found.extend(fields.1.split('.').map(|field| (line, field.trim())));
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
    fn fields_of_the_schemas_pass_at_any_depth() {
        assert_eq!(found("at!(at, rows).show(how); at!(at!(root, rows).items()[0], out); at!(at, rows.out)"), [""; 0]);
        assert_eq!(found("format!(\"{a}, b\", a)"), [""; 0]);
        assert_eq!(found("#[cfg(test)]\nmod tests { at!(at, rwos) }"), [""; 0]);
    }

    #[test]
    fn a_field_that_no_schema_has_is_found_with_its_line() {
        let single = found("let at = root;\nat!(at, rwos).show(how);");
        assert_eq!(single.len(), 1);
        assert!(
            single[0].starts_with("crates/report/src/page/data.rs:2: the page names the place `rwos`"),
            "{}",
            single[0]
        );
        assert_eq!(found("at!(at, rows.uot)").len(), 1);
        assert_eq!(found("at!(\n    at!(at, rows),\n    uot\n)").len(), 1);
    }
}
