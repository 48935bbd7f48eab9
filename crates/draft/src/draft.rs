//! The draft that a method returns to the driver: the tables of a release with everything that the
//! manifest states about them. A method decides; the driver (`publish.rs`) writes, verifies, audits
//! and places, the same way for all methods.

use std::borrow::Cow;
use std::io::{self, Write};

use hedgerow_policy::{ClassLabels, Method, PublishSettings, Role};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{ClassSizes, FieldDescriptor, Manifest, Promise, Resource, RowTotals};
use hedgerow_release::shape::CODEBOOK;
use hedgerow_table::{InputError, Kind, Progress};
use hedgerow_verify::check::NamedRule;
use serde_json::{Map, Value};

use crate::bind::Bound;
use crate::clone_report::CloneReport;
use crate::dependencies;
use crate::explain::Explain;
use crate::options::TableFormat;
use crate::recoded_outside::RecodedOutside;
use crate::rows::ReleasedColumn;
use crate::units::DraftUnits;

/// A release before it is written.
#[derive(Debug)]
pub struct Draft<'a> {
    pub tables: Vec<DraftTable<'a>>,
    pub codebook: Codebook,
    pub rows: RowTotals,
    /// For the custodian, with all digits.
    pub losses: Map<String, Value>,
    /// How the lattice was searched, by the methods that search one.
    pub searched: Option<Searched>,
    /// The report of cloning, by the method that clones.
    pub cloned: Option<CloneReport>,
    /// The rules as a reader recomputes them, where these are not the policy's own.
    pub rules: Option<Vec<NamedRule>>,
    /// The recoding of rows that are not in memory, where levels alone do not define it.
    pub recoded: Option<RecodedOutside>,
    /// The counts of units, where rows belong to units.
    pub units: Option<DraftUnits>,
    pub warnings: Vec<InputError>,
}

/// How the lattice was searched.
#[derive(Debug, Clone)]
pub struct Searched {
    /// Per quasi attribute, its level and the top one.
    pub levels: Vec<(String, usize, usize)>,
    /// Combinations of levels that the search could have chosen.
    pub candidates: Option<u64>,
    /// The least loss in the policy's measure is proved.
    pub proven: bool,
    /// How many nodes were checked and pruned.
    pub explain: Explain,
}

/// One table of a release.
#[derive(Debug)]
pub struct DraftTable<'a> {
    /// The folder of a sub-table; absent for a table of the release itself.
    pub folder: Option<String>,
    pub name: &'static str,
    pub fields: Vec<FieldDescriptor>,
    pub content: DraftContent<'a>,
    /// Its rows are not those of the source, and are in memory wherever those are.
    pub of_other_rows: bool,
}

pub enum DraftContent<'a> {
    /// Written in random order, in the format that the caller chose; rows that are not kept are not
    /// written.
    Columns { columns: Vec<ReleasedColumn<'a>>, kept: Option<Vec<bool>> },
    /// Written as CSV by the method itself: header and records, in an order that discloses nothing.
    Records(Box<WriteRecords<'a>>),
}

pub type WriteRecords<'a> = dyn FnOnce(&mut dyn Write, &dyn Progress) -> io::Result<()> + 'a;

impl std::fmt::Debug for DraftContent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DraftContent::Columns { columns, .. } => f.debug_struct("Columns").field("columns", columns).finish(),
            DraftContent::Records(_) => f.write_str("Records"),
        }
    }
}

impl<'a> Draft<'a> {
    pub fn new(tables: Vec<DraftTable<'a>>, codebook: Codebook, rows: RowTotals, losses: Map<String, Value>) -> Self {
        Draft {
            tables,
            codebook,
            rows,
            losses,
            searched: None,
            cloned: None,
            rules: None,
            recoded: None,
            units: None,
            warnings: Vec::new(),
        }
    }

    /// How many rows writing will report as progress. Where the rows of the source are not in
    /// memory, one table has all that are released.
    pub fn rows_to_write(&self, outside: bool) -> u64 {
        let here = self.tables.iter().filter(|table| !outside || table.of_other_rows);
        let elsewhere = if outside { self.rows.out } else { 0 };
        here.map(DraftTable::rows).sum::<u64>() + elsewhere
    }
}

impl<'a> DraftTable<'a> {
    /// A table with columns whose roles `roles` states.
    pub fn of_columns(
        name: &'static str,
        columns: Vec<ReleasedColumn<'a>>,
        kept: Option<Vec<bool>>,
        roles: &Bound<'_>,
    ) -> DraftTable<'a> {
        let field = |column: &ReleasedColumn<'_>| {
            let attribute = roles.policy.attribute(column.name);
            let range = attribute.and_then(|attribute| attribute.declared.range.as_ref());
            let labeled = attribute.filter(|_| name == "data" && has_labels(column, &roles.policy.publish));
            let quasi = labeled.filter(|attribute| attribute.role == Role::Quasi);
            let hulls = roles.quasi.iter().find(|quasi| quasi.column.name == column.name);
            let hulls = hulls.and_then(|quasi| quasi.hulls.as_ref());
            let hierarchy = quasi.and_then(|attribute| match hulls {
                Some(hulls) => hulls.hierarchy(),
                None => attribute.hierarchy.as_ref()?.0.name(),
            });
            let coarsened = roles.coarsened.kinds().find(|(name, _)| *name == column.name).map(|(_, kind)| kind);
            let values = coarsened.unwrap_or(column.domain.kind());
            let role = attribute.map(|attribute| attribute.role.name());
            let field = FieldDescriptor::new(column.name, column.kind, role).over(values).generalized_by(hierarchy);
            range.iter().fold(field, |field, range| field.within(range.low, range.high))
        };
        let fields = columns.iter().map(field).collect();
        DraftTable {
            folder: None,
            name,
            fields,
            content: DraftContent::Columns { columns, kept },
            of_other_rows: false,
        }
    }

    pub fn of_other_rows(self) -> DraftTable<'a> {
        DraftTable { of_other_rows: true, ..self }
    }

    pub fn in_folder(self, folder: String) -> DraftTable<'a> {
        DraftTable { folder: Some(folder), ..self }
    }

    fn rows(&self) -> u64 {
        match &self.content {
            DraftContent::Columns { kept: Some(kept), .. } => kept.iter().filter(|kept| **kept).count() as u64,
            DraftContent::Columns { columns, .. } => columns.first().map_or(0, |column| column.codes.len()) as u64,
            DraftContent::Records(_) => 0,
        }
    }

    /// The table as the manifest lists it.
    pub fn resource(&self, format: TableFormat) -> Resource {
        let full_name = match &self.folder {
            Some(folder) => Cow::Owned(format!("{folder}-{}", self.name)),
            None => Cow::Borrowed(self.name),
        };
        let as_records = matches!(self.content, DraftContent::Records(_));
        let (mut resource, ending) = match format {
            TableFormat::Parquet if !as_records => (Resource::parquet(&full_name, self.fields.clone()), "parquet"),
            _ => (Resource::csv(&full_name, self.fields.clone()), "csv"),
        };
        if let Some(folder) = &self.folder {
            resource.path = format!("{folder}/{}.{ending}", self.name);
        }
        resource
    }
}

/// Whether some label of a column can come from its hierarchy: not where all are values, and not
/// where classes are described by sets of values.
fn has_labels(column: &ReleasedColumn<'_>, publish: &PublishSettings) -> bool {
    let describes_by_sets = publish.method == Method::Cluster && publish.labels == ClassLabels::Set;
    let is_label = |(code, text): (u32, &String)| {
        code as usize >= column.domain.cardinality() || column.domain.text(code) != *text
    };
    !describes_by_sets && (0..).zip(&column.texts).any(is_label)
}

/// The manifest of a release before its tables are read back.
pub fn manifest(bound: &Bound<'_>, tables: Vec<Resource>, rows: RowTotals) -> Manifest {
    let codebook = ["attribute", "label", "low", "high", "leaf"];
    let codebook = codebook.map(|name| FieldDescriptor::new(name, Kind::Category, None)).to_vec();
    let mut resources = tables;
    resources.push(Resource::csv(CODEBOOK, codebook));
    Manifest {
        name: "release".to_owned(),
        resources,
        hedgerow: Promise {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: bound.policy.publish.method.name().to_owned(),
            guarantees: Vec::new(),
            rows,
            classes: ClassSizes::of([]),
            loss: Map::new(),
            hierarchies: Map::new(),
            cloning: Map::new(),
            coarsened: Map::new(),
            dependencies: dependencies::stated(bound.policy),
            units: None,
        },
        others: Map::new(),
    }
}

/// Whether an attribute is released at all.
pub fn is_released(bound: &Bound<'_>, name: &str) -> bool {
    bound.policy.attribute(name).is_some_and(|attribute| attribute.role.is_released())
}
