//! CSV on the Web (W3C, *Metadata Vocabulary for Tabular Data*, 2015): the tables of a release with
//! the type of every column.

use serde_json::{Value, json};

use super::{role_text, xsd};
use crate::manifest::{Manifest, Resource};

pub(super) fn describe(manifest: &Manifest) -> Value {
    let tables = manifest.resources.iter().filter(|resource| resource.format == "csv").map(table);
    json!({
        "@context": "http://www.w3.org/ns/csvw",
        "dc:title": manifest.name,
        "dialect": { "encoding": "utf-8", "header": true, "delimiter": ",", "lineTerminators": ["\n"] },
        "tables": tables.collect::<Vec<_>>(),
    })
}

fn table(resource: &Resource) -> Value {
    let columns = resource.schema.fields.iter().enumerate().map(|(index, field)| {
        let mut column = json!({
            "name": format!("column{}", index + 1),
            "titles": field.name,
            "datatype": xsd(&field.kind),
            "null": resource.schema.missing_values,
        });
        if let Some(role) = &field.role {
            column["dc:description"] = json!(role_text(role));
        }
        column
    });
    json!({ "url": resource.path, "tableSchema": { "columns": columns.collect::<Vec<_>>() } })
}
