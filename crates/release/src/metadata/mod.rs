//! Descriptions of a release in other vocabularies, made from the manifest alone: a reader can
//! generate them again, and `check` compares them with the manifest byte by byte. They state
//! nothing that the manifest does not.

mod csvw;
mod dcat;

use crate::manifest::Manifest;

/// A vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metadata {
    /// DCAT-AP with the terms of HealthDCAT-AP, as JSON-LD.
    Dcat,
    /// CSV on the Web: what each column of each table is.
    Csvw,
}

impl Metadata {
    /// Both.
    pub const ALL: [Metadata; 2] = [Metadata::Dcat, Metadata::Csvw];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Metadata::Dcat => "dcat",
            Metadata::Csvw => "csvw",
        }
    }

    /// Its file in the release.
    pub fn file_name(self) -> &'static str {
        match self {
            Metadata::Dcat => "dcat.jsonld",
            Metadata::Csvw => "csv-metadata.json",
        }
    }

    /// The description of a release with this manifest.
    pub fn describe(self, manifest: &Manifest) -> String {
        let value = match self {
            Metadata::Dcat => dcat::describe(manifest),
            Metadata::Csvw => csvw::describe(manifest),
        };
        let mut text = serde_json::to_string_pretty(&value).expect("a JSON value has only text keys");
        text.push('\n');
        text
    }
}

/// The description of a column for a reader.
fn role_text(role: &str) -> &'static str {
    match role {
        "quasi" => "quasi-identifier, released as labels that the codebook explains",
        "sensitive" => "sensitive attribute",
        _ => "released as it is",
    }
}

/// The XML Schema type of a Frictionless type.
fn xsd(kind: &str) -> &'static str {
    match kind {
        "integer" => "integer",
        "number" => "double",
        "date" => "date",
        _ => "string",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{ClassSizes, FieldDescriptor, Promise, Resource, RowTotals};
    use hedgerow_table::Kind;
    use serde_json::{Map, Value};

    fn manifest() -> Manifest {
        let fields = vec![
            FieldDescriptor::new("age", Kind::Category, Some("quasi")),
            FieldDescriptor::new("pay", Kind::Float, Some("sensitive")),
        ];
        Manifest {
            name: "release".to_owned(),
            resources: vec![Resource::csv("data", fields.clone()), Resource::parquet("more", fields)],
            hedgerow: Promise {
                version: "0.1.0".to_owned(),
                method: "full-domain".to_owned(),
                guarantees: Vec::new(),
                rows: RowTotals { source: 3, out: 3, suppressed: 0 },
                classes: ClassSizes { count: 1, min: 3, max: 3, mean: 3.0 },
                loss: Map::new(),
                hierarchies: Map::new(),
                cloning: Map::new(),
                coarsened: Map::new(),
                dependencies: Vec::new(),
                units: None,
            },
            others: Map::new(),
        }
    }

    #[test]
    fn csvw_describes_each_csv_table_with_its_columns() {
        let text = Metadata::Csvw.describe(&manifest());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["tables"].as_array().unwrap().len(), 1, "parquet is not CSV");
        assert_eq!(value["tables"][0]["url"], "data.csv");
        let columns = &value["tables"][0]["tableSchema"]["columns"];
        assert_eq!(columns[0]["titles"], "age");
        assert_eq!(columns[1]["datatype"], "double");
    }

    #[test]
    fn dcat_lists_every_file_as_a_distribution() {
        let value: Value = serde_json::from_str(&Metadata::Dcat.describe(&manifest())).unwrap();
        assert_eq!(value["@type"], "dcat:Dataset");
        let files: Vec<&Value> =
            value["dcat:distribution"].as_array().unwrap().iter().map(|d| &d["dct:title"]).collect();
        assert_eq!(files, ["data.csv", "more.parquet"]);
        assert_eq!(value["healthdcatap:numberOfRecords"]["@value"], "3");
    }
}
