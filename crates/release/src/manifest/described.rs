//! A manifest's statements about its own tables, compared with the only ways in which a release is
//! written: paths, formats, roles, types and ranges. A statement that no release makes is listed,
//! never believed.

use super::{FieldDescriptor, Manifest, Resource};
use crate::bucketized::{COUNT, GROUP};
use crate::codebook::HEADER;
use crate::meaning::HIERARCHIES;
use crate::role::Role;
use crate::shape::{CODEBOOK, Shape};
use hedgerow_table::Kind;

const CSV: (&str, &str) = ("csv", "text/csv");
const PARQUET: (&str, &str) = ("parquet", "application/vnd.apache.parquet");

/// A catalog gives releases names of their own.
const NAME: &str = "release";

/// The columns without a role, which buckets and clones have beside the attributes.
const NUMBERS: [&str; 7] = [GROUP, COUNT, "class", "sub-class", "attribute", "statistic", "value"];

impl Manifest {
    /// Where the manifest states what no release states.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for key in self.others.keys() {
            found.push(format!("the manifest has the key `{key}`, which no release has"));
        }
        if self.name != NAME {
            found.push(format!("the manifest's `name` is not `{NAME}`, as that of every release"));
        }
        if !self.resources.iter().any(|resource| resource.name == CODEBOOK) {
            found.push("the manifest lists no codebook".to_owned());
        }
        for (index, resource) in self.resources.iter().enumerate() {
            if self.resources[..index].iter().any(|earlier| earlier.name == resource.name) {
                found.push(format!("the manifest lists the table `{}` twice", resource.name));
            }
            found.extend(of_resource(resource));
        }
        for claim in &self.hedgerow.guarantees {
            let mut know: Vec<&String> = claim.know.iter().collect();
            know.sort_unstable();
            if know.windows(2).any(|pair| pair[0] == pair[1]) {
                found.push(format!("{}: the manifest lists what the attacker knows twice", claim.model));
            }
        }
        found.extend(self.of_method());
        let fields = self.resources.iter().flat_map(|resource| &resource.schema.fields);
        let linking = fields.filter(|field| field.role.as_deref() == Some(Role::Unit.name())).count();
        if linking != usize::from(self.hedgerow.units.is_some_and(|units| units.linked)) {
            found.push("the manifest and its tables do not agree on whether the rows of a unit are linked".to_owned());
        }
        found
    }

    /// The method must be one that writes tables of this kind.
    fn of_method(&self) -> Vec<String> {
        let mut found = Vec::new();
        let promise = &self.hedgerow;
        let method = promise.method.as_str();
        let (methods, kind): (&[&str], &str) = match Shape::of(&self.resources) {
            Some(Shape::Generalized { .. }) => (&["full-domain", "mondrian", "best-cut", "cluster"], "generalized"),
            Some(Shape::Bucketized { .. }) => (&["anatomy"], "bucketized"),
            Some(Shape::Cloned { .. }) => (&["clone"], "cloned"),
            Some(Shape::Decomposed { .. }) => (&["decompose"], "decomposed"),
            None => return found,
        };
        if !methods.contains(&method) {
            found.push(format!("the manifest states the method `{method}`, which writes no {kind} release"));
        }
        // Over units, these methods suppress the units that no others are like.
        let of_units = promise.units.is_some() && ["mondrian", "best-cut", "cluster"].contains(&method);
        if promise.rows.suppressed > 0 && !["full-domain", "clone"].contains(&method) && !of_units {
            found.push(format!(
                "the manifest states {} suppressed rows, and the method `{method}` suppresses none",
                promise.rows.suppressed
            ));
        }
        if method != "clone" && !promise.cloning.is_empty() {
            found.push("the manifest has the object `cloning`, and the release is not cloned".to_owned());
        }
        found
    }
}

fn of_resource(resource: &Resource) -> Vec<String> {
    let name = &resource.name;
    let mut found = Vec::new();
    let formats: &[(&str, &str)] = if name == CODEBOOK { &[CSV] } else { &[CSV, PARQUET] };
    if !formats.contains(&(resource.format.as_str(), resource.mediatype.as_str())) || resource.encoding != "utf-8" {
        found.push(format!("the manifest states a format of `{name}` that no release has"));
    }
    if resource.path.replacen('/', "-", 1) != format!("{name}.{}", resource.format) {
        found.push(format!("the manifest states the path `{}` for `{name}`", resource.path));
    }
    if resource.schema.missing_values != [""] {
        found.push(format!("the manifest counts other cells of `{name}` than empty ones as missing"));
    }
    let fields = &resource.schema.fields;
    if name == CODEBOOK {
        let expected = HEADER.iter().map(|name| FieldDescriptor::new(name, Kind::Category, None));
        if !expected.eq(fields.iter().cloned()) {
            found.push(format!("the manifest states other columns of the codebook than {}", HEADER.join(", ")));
        }
        return found;
    }
    for (index, field) in fields.iter().enumerate() {
        if fields[..index].iter().any(|earlier| earlier.name == field.name) {
            found.push(format!("the manifest lists the column `{}` of `{name}` twice", field.name));
        }
        found.extend(of_field(name, field));
    }
    found
}

fn of_field(table: &str, field: &FieldDescriptor) -> Vec<String> {
    let mut found = Vec::new();
    let name = &field.name;
    let is_released = |role: &str| Role::from_name(role).is_some_and(|role| role != Role::Identifier);
    match field.role.as_deref() {
        Some(role) if !is_released(role) => {
            found.push(format!("the manifest gives `{name}` the role `{role}`, which no released column has"));
        }
        None if table == "data" || table.ends_with("-data") || !NUMBERS.contains(&name.as_str()) => {
            found.push(format!("the manifest gives `{name}` no role"));
        }
        _ => {}
    }
    if field.values.is_some() && (field.values_kind().is_none() || field.values == Some(field.kind.clone())) {
        found.push(format!("the manifest states a type of the values of `{name}` that none have"));
    }
    if field.hierarchy.as_deref().is_some_and(|hierarchy| !HIERARCHIES.contains(&hierarchy)) {
        found.push(format!("the manifest states a hierarchy of `{name}` of a kind that there is not"));
    }
    if let (Some(stated), Some([low, high])) = (&field.range, field.declared_range()) {
        let unread = |end: &serde_json::Value, bound: Option<hedgerow_table::Bound>| !end.is_null() && bound.is_none();
        let empty = low.zip(high).is_some_and(|(low, high)| low > high);
        if unread(&stated[0], low) || unread(&stated[1], high) || empty || (low.is_none() && high.is_none()) {
            found.push(format!("the manifest states a range of `{name}` that holds no values"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn manifest() -> Value {
        json!({
            "name": "release",
            "resources": [
                {"name": "data", "path": "data.csv", "format": "csv", "mediatype": "text/csv", "encoding": "utf-8",
                 "schema": {"fields": [
                    {"name": "age", "type": "string", "role": "quasi", "values": "integer", "range": [0, 120]},
                    {"name": "illness", "type": "string", "role": "sensitive"}], "missingValues": [""]}},
                {"name": "codebook", "path": "codebook.csv", "format": "csv", "mediatype": "text/csv",
                 "encoding": "utf-8", "schema": {"fields": [
                    {"name": "attribute", "type": "string"}, {"name": "label", "type": "string"},
                    {"name": "low", "type": "string"}, {"name": "high", "type": "string"},
                    {"name": "leaf", "type": "string"}], "missingValues": [""]}}],
            "hedgerow": {"version": "0.1.0", "method": "full-domain", "guarantees": [],
                "rows": {"in": 4, "out": 3, "suppressed": 1},
                "classes": {"count": 1, "min": 3, "max": 3, "mean": 3.0}, "loss": {}},
        })
    }

    fn found(manifest: &Value) -> Vec<String> {
        Manifest::parse(manifest.to_string().as_bytes(), "datapackage.json").unwrap().contradictions()
    }

    #[test]
    fn statements_that_no_release_makes_are_listed() {
        assert_eq!(found(&manifest()), Vec::<String>::new());
        let field = "/resources/0/schema/fields/0";
        let changes = [
            ("/resources/1/schema/missingValues", json!(["", "Ann has the flu"]), "empty ones"),
            ("/resources/0/name", json!("codebook"), "twice"),
            (
                "/hedgerow/guarantees",
                json!([{"model": "k-anonymity", "required": {"k": 2}, "achieved": {"k": 3}, "know": ["age", "age"],
                    "protect": null, "holds": true}]),
                "knows twice",
            ),
            ("/hedgerow/method", json!("magic"), "`magic`"),
            ("/hedgerow/method", json!("anatomy"), "`anatomy`"),
            ("/hedgerow/method", json!("mondrian"), "suppresses none"),
            ("/hedgerow/cloning", json!({"epsilon": 0}), "not cloned"),
            ("/name", json!("Ann Smith has the flu"), "`name`"),
            ("/people", json!(["Ann"]), "`people`"),
            ("/resources/1/path", json!("nowhere.csv"), "nowhere.csv"),
            ("/resources/1/name", json!("codes"), "no codebook"),
            ("/resources/1/schema/fields/4/name", json!("value"), "columns of the codebook"),
            ("/resources/0/mediatype", json!("text/html"), "format"),
            ("/resources/0/encoding", json!("latin1"), "format"),
            ("/resources/0/format", json!("parquet"), "format"),
            ("/resources/0/schema/fields/1/role", json!("secret"), "`secret`"),
            ("/resources/0/schema/fields/1/name", json!("age"), "twice"),
            ("/resources/0/schema/fields/0/values", json!("color"), "values of `age`"),
            ("/resources/0/schema/fields/0/range", json!([120, 0]), "range of `age`"),
            ("/resources/0/schema/fields/0/range", json!(["old", null]), "range of `age`"),
            ("/resources/0/schema/fields/0/hierarchy", json!("magic"), "hierarchy of `age`"),
            (field, json!({"name": "age", "type": "string"}), "no role"),
        ];
        for (pointer, value, words) in changes {
            let mut changed = manifest();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            match changed.pointer_mut(parent).unwrap() {
                Value::Object(object) => {
                    object.insert(key.to_owned(), value);
                }
                Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
                _ => panic!("{pointer}"),
            }
            let found = found(&changed);
            assert!(found.iter().any(|problem| problem.contains(words)), "{pointer}: {found:?}");
        }
    }
}
