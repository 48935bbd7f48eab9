//! The manifest of a release: `datapackage.json`, a Frictionless Data Package with what Hedgerow
//! promises added.
//!
//! It says nothing that the released tables do not show, but for the counts that the contract
//! names: no seed, path, host or time.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::read::refuse_unless_file;
use hedgerow_table::{Bound, Kind, TableError};

mod described;
mod strict;

pub const FILE_NAME: &str = "datapackage.json";

/// No honest manifest is larger: the longest part lists the sensitive values of a hierarchy.
const BYTES_MAX: u64 = 256 << 20;

/// The manifest of a release: a Frictionless data package with a section of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the data package.
    pub name: String,
    /// The tables, and the codebook.
    pub resources: Vec<Resource>,
    /// The promise of the release, in a section of its own.
    pub hedgerow: Promise,
    /// Keys that no release has.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// One table of the release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// The table's name.
    pub name: String,
    /// Relative to the manifest.
    pub path: String,
    /// `csv` or `parquet`.
    pub format: String,
    /// The media type of the file.
    pub mediatype: String,
    /// The encoding of the file.
    pub encoding: String,
    /// Its columns.
    pub schema: Schema,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The columns, in order.
    pub fields: Vec<FieldDescriptor>,
    /// The texts that stand for a missing value.
    #[serde(rename = "missingValues")]
    pub missing_values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldDescriptor {
    pub name: String,
    /// A Frictionless type: `integer`, `number`, `date` or `string`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `quasi`, `sensitive`, `plain` or `unit`, in the released table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<String>,
    /// The type of the values that the labels stand for, where these are text and the values are
    /// not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<String>,
    /// The lowest and the highest value that there can be, as the publisher declares it without
    /// looking at the data; null where an end is open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub range: Option<[Value; 2]>,
    /// The kind of hierarchy that the labels come from: `file`, `widths`, `breaks`, `mask` or
    /// `dates`. All but a file's say themselves what they cover.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hierarchy: Option<String>,
}

/// Hedgerow's own section of a manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The version of the program that wrote the release.
    pub version: String,
    /// The method by its name in a policy.
    pub method: String,
    /// Every guarantee of every rule.
    pub guarantees: Vec<Claim>,
    /// Rows in the source, released and suppressed.
    pub rows: RowTotals,
    /// Where rows belong to units: how many there are. No number of units in a class is stated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub units: Option<UnitCounts>,
    /// The number of classes, and their sizes.
    pub classes: ClassSizes,
    /// Loss measures by name.
    pub loss: Map<String, Value>,
    /// For protected attributes that a guarantee compares by hierarchy: each released value with
    /// its labels up to the top.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub hierarchies: Map<String, Value>,
    /// Of a cloned release: what it promises together with releases that are not known, and how
    /// its tables are read.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub cloning: Map<String, Value>,
    /// Attributes whose values were made coarser before anything else, each with how.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub coarsened: Map<String, Value>,
    /// The dependencies that attackers are assumed to know besides the tables, as the publisher
    /// declares them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dependencies: Vec<KnownDependency>,
}

/// An attacker who knows the attributes `from` of an individual knows `to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDependency {
    /// The known attributes.
    pub from: Vec<String>,
    /// The attribute that follows from them.
    pub to: String,
    /// Why the publisher releases them all the same. Rules are not judged with what is accepted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accept: Option<String>,
}

/// One guarantee of one rule: what is required and what is achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The privacy model by its name in a policy.
    pub model: String,
    /// The parameters in the policy.
    pub required: Map<String, Value>,
    /// The strongest parameters for which the guarantee holds; empty when its conditions `where`,
    /// `having` and `below` are met by no class. For a decomposed release also `standing`: which
    /// sub-table
    /// guards the rule.
    pub achieved: Map<String, Value>,
    /// The attributes that the adversary knows.
    pub know: Vec<String>,
    /// The protected attribute; null for models that protect none.
    pub protect: Option<String>,
    /// Where rows belong to units, and the guarantee counts these: which rows of a unit the
    /// attacker is taken to know, `all` or `one`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<String>,
    /// Whether it also holds for the rows of a class that are left when an attacker excludes those
    /// with combinations of values that do not occur in the source.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub consistent: bool,
    /// The known attributes of which the guarantee is about some values alone, each with these:
    /// only
    /// classes whose labels may stand for one of them must keep it.
    #[serde(rename = "where", skip_serializing_if = "BTreeMap::is_empty", default)]
    pub only_where: BTreeMap<String, Vec<String>>,
    /// Whether it holds.
    pub holds: bool,
}

/// The individuals, households or firms that the rows are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitCounts {
    /// Units in the source.
    #[serde(rename = "in")]
    pub source: u64,
    /// Units with a released row.
    pub out: u64,
    /// Units without a released row.
    pub suppressed: u64,
    /// Whether the release says which rows are of one unit, by a random number.
    pub linked: bool,
}

/// The number of rows in the source, in the release, and suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowTotals {
    /// Source rows.
    #[serde(rename = "in")]
    pub source: u64,
    /// Released rows.
    pub out: u64,
    /// Suppressed rows.
    pub suppressed: u64,
}

/// Sizes of the equivalence classes over all quasi-identifiers; of buckets or clones in releases of
/// that kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSizes {
    /// Classes.
    pub count: u64,
    /// The smallest class.
    pub min: u64,
    /// The largest class.
    pub max: u64,
    /// Rows over classes.
    pub mean: f64,
}

impl ClassSizes {
    /// From the rows of every class.
    pub fn of(sizes: impl IntoIterator<Item = u64>) -> ClassSizes {
        let (mut count, mut min, mut max, mut rows) = (0u64, u64::MAX, 0u64, 0u64);
        for size in sizes {
            (count, min, max, rows) = (count + 1, min.min(size), max.max(size), rows + size);
        }
        ClassSizes { count, min: if count == 0 { 0 } else { min }, max, mean: rows as f64 / count.max(1) as f64 }
    }
}

impl FieldDescriptor {
    pub fn new(name: &str, kind: Kind, role: Option<&str>) -> FieldDescriptor {
        FieldDescriptor {
            name: name.to_owned(),
            kind: type_name(kind).to_owned(),
            role: role.map(str::to_owned),
            values: None,
            range: None,
            hierarchy: None,
        }
    }

    /// The same field, whose labels come from a hierarchy of this kind.
    pub fn generalized_by(self, hierarchy: Option<&str>) -> FieldDescriptor {
        FieldDescriptor { hierarchy: hierarchy.map(str::to_owned), ..self }
    }

    /// The same field, whose labels stand for values of this kind.
    pub fn over(self, values: Kind) -> FieldDescriptor {
        let values = type_name(values);
        FieldDescriptor { values: (values != self.kind).then(|| values.to_owned()), ..self }
    }

    /// The same field, whose values lie in a declared range, both ends inclusive.
    pub fn within(self, low: Option<Bound>, high: Option<Bound>) -> FieldDescriptor {
        let value = |bound: Option<Bound>| match bound {
            None => Value::Null,
            Some(Bound::Integer(value)) => value.into(),
            Some(Bound::Float(value)) => value.into(),
            Some(Bound::Date(date)) => date.to_string().into(),
        };
        FieldDescriptor { range: Some([value(low), value(high)]), ..self }
    }

    /// The ends of the declared range, where there is one.
    pub fn declared_range(&self) -> Option<[Option<Bound>; 2]> {
        let bound = |value: &Value| match value {
            Value::Number(number) => number.as_i64().map(Bound::Integer).or(number.as_f64().map(Bound::Float)),
            Value::String(text) => Bound::parse(text),
            _ => None,
        };
        self.range.as_ref().map(|ends| [bound(&ends[0]), bound(&ends[1])])
    }

    /// `None` for a type that this version does not know.
    pub fn table_kind(&self) -> Option<Kind> {
        kind_of_type(&self.kind)
    }

    /// The kind of the values that the labels stand for, where it is said.
    pub fn values_kind(&self) -> Option<Kind> {
        self.values.as_deref().and_then(kind_of_type)
    }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "integer",
        Kind::Float => "number",
        Kind::Date => "date",
        Kind::Category => "string",
    }
}

fn kind_of_type(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| type_name(*kind) == name)
}

impl Resource {
    pub fn csv(name: &str, fields: Vec<FieldDescriptor>) -> Resource {
        Resource {
            name: name.to_owned(),
            path: format!("{name}.csv"),
            format: "csv".to_owned(),
            mediatype: "text/csv".to_owned(),
            encoding: "utf-8".to_owned(),
            schema: Schema { fields, missing_values: vec![String::new()] },
        }
    }

    pub fn parquet(name: &str, fields: Vec<FieldDescriptor>) -> Resource {
        Resource {
            path: format!("{name}.parquet"),
            format: "parquet".to_owned(),
            mediatype: "application/vnd.apache.parquet".to_owned(),
            ..Resource::csv(name, fields)
        }
    }
}

/// Whether this version can read what that one wrote: versions up to its own, by their first two
/// numbers.
fn is_known_version(version: &str) -> bool {
    let numbers = |version: &str| -> Option<(u64, u64)> {
        let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
        let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next()?);
        (patch.is_some() && parts.next().is_none()).then_some((major, minor))
    };
    numbers(version).is_some_and(|found| numbers(env!("CARGO_PKG_VERSION")).is_some_and(|own| found <= own))
}

impl Manifest {
    /// Reads the manifest of a release directory.
    pub fn read(directory: &Path) -> Result<Manifest, TableError> {
        let path = directory.join(FILE_NAME);
        let size = match std::fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let hint = format!("name a directory that `hedgerow publish` wrote; it holds a file {FILE_NAME}");
                return Err(TableError::input(
                    path.display().to_string(),
                    "no release here: the file is missing",
                    hint,
                ));
            }
            Err(error) => return Err(TableError::io(&path, error)),
        };
        refuse_unless_file(directory, FILE_NAME)?;
        if size > BYTES_MAX {
            return Err(TableError::input(
                path.display().to_string(),
                "too large for a manifest",
                "is this the right file?",
            ));
        }
        let text = std::fs::read(&path).map_err(|error| TableError::io(&path, error))?;
        Manifest::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a manifest; `place` names it in errors.
    pub fn parse(text: &[u8], place: &str) -> Result<Manifest, TableError> {
        let refuse = |error: serde_json::Error| {
            let place = format!("{place}:{}", error.line());
            TableError::input(place, format!("not a release manifest: {error}"), "publish the release again")
        };
        strict::refuse_repeated_keys(text).map_err(refuse)?;
        let manifest: Manifest = serde_json::from_slice(text).map_err(refuse)?;
        let version = manifest.hedgerow.version.as_str();
        if !is_known_version(version) {
            let problem = format!("the manifest is of version `{version}`, and this is {}", env!("CARGO_PKG_VERSION"));
            let hint = "check it with the version that wrote it, or a later one";
            return Err(TableError::input(place, problem, hint));
        }
        Ok(manifest)
    }

    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a manifest has only text keys");
        text.push('\n');
        text
    }
}
