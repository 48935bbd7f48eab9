//! The schemas of what commands print with `--json`, written from the types that are printed.
//!
//! The types are read from their source: names, `serde` attributes and documentation, so that
//! neither the command nor its tests are compiled with what writes schemas. The tests of the
//! command validate every output against its schema and refuse a key that no schema has: what is
//! read here wrongly fails there.

mod outputs;
mod printed;
mod shape;

use serde_json::{Map, Value, json};

use crate::repo::{Repo, write};
use crate::tidy::Finding;
use outputs::{OUTPUTS, Output, PARTS, WRITTEN};
use printed::Types;
use shape::Shaper;

const FOLDER: &str = "docs/schemas";
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Writes every schema that is written from types.
pub(crate) fn run() -> Result<(), String> {
    let repo = Repo::read()?;
    for (path, text) in generated(&repo)? {
        write(&path, &text)?;
    }
    Ok(())
}

/// Schemas that are not those of the types.
pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let hint = "`cargo xtask docs` writes it";
    match generated(repo) {
        Err(problem) => vec![Finding::new(FOLDER, 1, problem, "see xtask/src/schemas/outputs.rs")],
        Ok(files) => {
            let differs = files.into_iter().filter(|(path, text)| repo.text(path) != Some(text));
            differs
                .map(|(path, _)| Finding::new(&path, 1, "not the schema of the type that is printed", hint))
                .collect()
        }
    }
}

/// Every schema with its path.
fn generated(repo: &Repo) -> Result<Vec<(String, String)>, String> {
    let types = Types::read(repo.rust_files())?;
    let shaper = Shaper::new(&types);
    let mut files = vec![file("common.json", &common(&shaper)?)];
    for output in OUTPUTS {
        files.push(file(output.file, &schema_of(output, &shaper)?));
    }
    Ok(files)
}

fn file(name: &str, schema: &Value) -> (String, String) {
    (format!("{FOLDER}/{name}"), format!("{schema:#}\n"))
}

/// The parts that several outputs share.
fn common(shaper: &Shaper<'_>) -> Result<Value, String> {
    let mut parts = parts_of("common.json", shaper)?;
    for (name, text) in WRITTEN {
        let schema = serde_json::from_str(text).map_err(|error| format!("{name}: {error}"))?;
        parts.insert((*name).to_owned(), schema);
    }
    Ok(json!({ "$schema": DRAFT, "$id": "common.json", "title": "Parts that several outputs share", "$defs": parts }))
}

/// The types that a file has for others.
fn parts_of(file: &str, shaper: &Shaper<'_>) -> Result<Map<String, Value>, String> {
    let own = PARTS.iter().filter(|(of_file, ..)| *of_file == file);
    own.map(|(_, name, of)| Ok(((*name).to_owned(), shaper.of_output(of)?))).collect()
}

fn schema_of(output: &Output, shaper: &Shaper<'_>) -> Result<Value, String> {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), DRAFT.into());
    schema.insert("$id".to_owned(), output.file.into());
    schema.insert("title".to_owned(), output.title.into());
    let Value::Object(object) = shaper.of_output(output.of)? else {
        return Err(format!("{}: {} is not printed as an object", output.file, output.of));
    };
    // The title says what it is.
    schema.extend(object.into_iter().filter(|(key, _)| key != "description"));
    match schema.get_mut("anyOf") {
        Some(Value::Array(alternatives)) => {
            let objects = alternatives.iter_mut().filter_map(Value::as_object_mut);
            objects.for_each(|schema| add_what_every_command_states(schema, output));
        }
        _ => add_what_every_command_states(&mut schema, output),
    }
    let parts = parts_of(output.file, shaper)?;
    if !parts.is_empty() {
        schema.insert("$defs".to_owned(), parts.into());
    }
    Ok(Value::Object(schema))
}

/// The command adds warnings where a type has none, and the memory where it was requested.
fn add_what_every_command_states(schema: &mut Map<String, Value>, output: &Output) {
    let part = |name: &str| json!({ "$ref": format!("common.json#/$defs/{name}") });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("warnings".to_owned(), part("warnings"));
        properties.insert("memory".to_owned(), part("memory"));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key != "warnings");
        required.extend((!output.is_in_report).then(|| Value::from("warnings")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r##"
        /// A list of things. Not for a schema.
        #[derive(Debug, Serialize)]
        pub struct Found {
            /// The name,
            /// as it is written; see [`Thing`].
            pub name: String,
            #[serde(rename = "in")]
            pub source: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            pub share: Option<f64>,
            /// Null where it is unknown.
            pub loss: f64,
            pub things: Vec<Thing>,
            pub by_name: ByName<i32>,
            pub others: Map<String, Value>,
            #[serde(skip)]
            pub hidden: Hidden,
            #[serde(flatten)]
            pub more: Option<More>,
            pub kind: Kind,
        }
        #[derive(serde::Serialize)]
        struct Thing { pair: [bool; 2], of: Box<PathBuf> }
        #[derive(Serialize)]
        struct More { count: usize, #[serde(flatten)] most: Most }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Most { least_value: f32 }
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        enum Kind { Small, VeryLarge }
    "##;

    fn shaped(source: &str, name: &str) -> Result<Value, String> {
        let types = Types::read([("crates/a/src/found.rs", source)])?;
        Shaper::new(&types).of_output(name)
    }

    #[test]
    fn a_schema_says_what_serde_writes() {
        let found = shaped(SOURCE, "a::Found").unwrap();
        let required = json!(["name", "in", "loss", "things", "by_name", "others", "kind"]);
        assert_eq!(found["required"], required);
        let properties = &found["properties"];
        assert_eq!(
            properties["name"],
            json!({ "description": "The name, as it is written; see `Thing`.", "type": "string" })
        );
        assert_eq!(properties["in"], json!({ "type": ["integer", "null"], "minimum": 0 }));
        assert_eq!(properties["share"], json!({ "type": "number" }));
        assert_eq!(properties["loss"]["type"], json!(["number", "null"]));
        let thing = &properties["things"]["items"]["properties"];
        assert_eq!(thing["pair"], json!({ "type": "array", "items": { "type": "boolean" } }));
        assert_eq!(thing["of"], json!({ "type": "string" }));
        assert_eq!(properties["by_name"], json!({ "type": "object", "additionalProperties": { "type": "integer" } }));
        assert_eq!(properties["others"], json!({ "type": "object", "additionalProperties": true }));
        assert_eq!(properties["hidden"], Value::Null);
        assert_eq!(properties["count"], json!({ "type": "integer", "minimum": 0 }));
        assert_eq!(properties["least-value"], json!({ "type": "number" }));
        assert_eq!(properties["kind"], json!({ "enum": ["small", "very-large"] }));
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for (source, expected) in [
            ("#[derive(Serialize)] struct A { a: Unknown }", "no type Unknown"),
            ("#[derive(Serialize)] struct A { #[serde(serialize_with = \"f\")] a: u8 }", "serialize_with"),
            ("#[derive(Serialize)] struct A { #[serde(with = \"f\")] a: u8 }", "with"),
            ("#[derive(Serialize)] struct A { a: fn() }", "A.a"),
            ("struct A { a: u8 }", "no type A"),
        ] {
            let problem = shaped(source, "a::A").unwrap_err();
            assert!(problem.contains(expected), "{source}: {problem}");
        }
    }

    #[test]
    fn a_schema_that_was_changed_by_hand_is_found() {
        let repo = Repo::read().unwrap();
        let problems: Vec<String> = check(&repo).iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{problems:#?}");
        let files = repo.files.into_iter().filter(|file| file.path != "docs/schemas/check.json").collect();
        assert_eq!(check(&Repo { files, packages: Vec::new() }).len(), 1);
    }
}
