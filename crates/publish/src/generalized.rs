//! Writing a generalized release: one table in which the quasi attributes carry labels, its codebook and its manifest,
//! verified from the written bytes. Every method that generalizes ends here.

use std::path::Path;

use hedgerow_policy::Role;
use hedgerow_privacy::{Distance, Model};
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{ClassSizes, Field, Manifest, Promise, Resource, Rows};
use hedgerow_release::shape::CODEBOOK;
use hedgerow_table::{Codes, Cover, HierarchySpec, Kind, Label, TableError};
use hedgerow_verify::check::{Checked, NamedRule};
use hedgerow_verify::kinds::Released;
use hedgerow_verify::release_check::tree_from_paths;
use hedgerow_verify::verified::{Staged, Verified};
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};
use serde_json::{Map, Value};

use crate::bind::{Bound, Quasi};
use crate::error::PublishError;
use crate::publish::{PublishOptions, TableFormat};
use crate::rows::{ReleasedColumn, Shuffled, write_csv, write_parquet};

/// What a method made of one quasi attribute.
#[derive(Debug)]
pub struct Recoded<'a> {
    /// One code per row of the source: the column's own, or new ones.
    pub codes: &'a Codes,
    /// From codes to positions in `labels`.
    pub map: &'a [u32],
    /// As the codebook tells them. Labels that no released row carries are not told.
    pub labels: Vec<Label>,
    /// The column's own kind when every label is one of its values; else a category.
    pub kind: Kind,
}

/// What a method decided, ready to be written: one recoding for each quasi attribute, in the order of [`Bound::quasi`].
#[derive(Debug)]
pub struct Generalized<'a> {
    pub recoded: Vec<Recoded<'a>>,
    /// Which rows stay; absent when all do.
    pub kept_rows: Option<&'a [bool]>,
    pub losses: &'a Map<String, Value>,
}

/// A masked label has no other leaves than the values of the people under it, and where it has one, naming it would undo
/// the mask. So its only leaf is the pattern itself.
pub(crate) fn public(quasi: &Quasi<'_>, label: &Label) -> Label {
    let masked = matches!(quasi.attribute.hierarchy, Some((HierarchySpec::Mask(_), _)));
    let cover = match &label.cover {
        Cover::Leaves(_) if masked => Cover::Leaves(vec![label.text.clone()]),
        cover => cover.clone(),
    };
    Label { cover, ..label.clone() }
}

/// The system's randomness, or a repeatable one for tests.
pub(crate) fn rng(options: &PublishOptions<'_>) -> Result<StdRng, PublishError> {
    match options.seed {
        Some(seed) => Ok(StdRng::seed_from_u64(seed)),
        None => StdRng::try_from_rng(&mut SysRng)
            .map_err(|error| PublishError::Internal(format!("the system gives no random numbers: {error}"))),
    }
}

/// Writes table and codebook into the staged directory and verifies them.
pub fn write(
    bound: &Bound<'_>,
    made: &Generalized<'_>,
    rows: Rows,
    staged: Staged,
    options: &PublishOptions<'_>,
) -> Result<(Verified, Checked), PublishError> {
    let mut rng = rng(options)?;
    let columns = released_columns(bound, made);
    let field = |column: &ReleasedColumn<'_>| {
        Field::new(column.name, column.kind, role_name(bound, column.name)).over(column.domain.kind())
    };
    let fields = columns.iter().map(field).collect();
    let shuffled = Shuffled::new(bound.table.rows, made.kept_rows, &mut rng);
    let resource = match options.format {
        TableFormat::Csv => Resource::csv("data", fields),
        TableFormat::Parquet => Resource::parquet("data", fields),
    };
    let path = staged.path().join(&resource.path);
    let flushing = match options.format {
        TableFormat::Csv => write_csv(&path, &columns, &shuffled, options.progress)?,
        TableFormat::Parquet => write_parquet(&path, &columns, &shuffled, options.progress)?,
    };
    drop(shuffled);
    write_codebook(bound, made, &staged.path().join("codebook.csv"))?;
    let describe = |manifest: &mut Manifest, released: &dyn Released| {
        manifest.hedgerow.hierarchies = hierarchies(bound, released);
    };
    let manifest = manifest(bound, vec![resource], rows, made.losses);
    let verified = staged.verify(manifest, |released| named_rules(bound, released), describe, options.progress)?;
    flushing.wait(&path)?;
    Ok(verified)
}

pub(crate) fn role_name(bound: &Bound<'_>, name: &str) -> Option<&'static str> {
    bound.policy.attribute(name).map(|attribute| attribute.role.name())
}

/// In the source's order: quasi attributes as their labels, the others as they are.
pub(crate) fn released_columns<'a>(bound: &'a Bound<'_>, made: &Generalized<'a>) -> Vec<ReleasedColumn<'a>> {
    let table = bound.table;
    let ordered = table.header.iter().filter_map(|name| table.column(name));
    ordered
        .filter(|column| {
            bound.policy.attribute(&column.name).is_some_and(|attribute| attribute.role != Role::Identifier)
        })
        .map(|column| {
            let quasi = bound.quasi.iter().position(|quasi| quasi.column.name == column.name);
            let (name, domain) = (&column.name, &column.domain);
            match quasi.map(|index| &made.recoded[index]) {
                Some(Recoded { codes, map, labels, kind }) => {
                    let texts = map.iter().map(|&label| labels[label as usize].text.clone()).collect();
                    ReleasedColumn { name, codes, domain, kind: *kind, texts }
                }
                None => {
                    let texts = (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect();
                    ReleasedColumn { name, codes: &column.codes, domain, kind: domain.kind(), texts }
                }
            }
        })
        .collect()
}

pub(crate) fn write_codebook(bound: &Bound<'_>, made: &Generalized<'_>, path: &Path) -> Result<(), TableError> {
    let mut codebook = Codebook::new();
    for (quasi, recoded) in bound.quasi.iter().zip(&made.recoded) {
        add_labels(&mut codebook, quasi, recoded, made.kept_rows)?;
    }
    write_whole(&codebook, path)
}

/// Only labels that are released: a label that only left-out rows carry would betray them.
pub(crate) fn add_labels(
    codebook: &mut Codebook,
    quasi: &Quasi<'_>,
    recoded: &Recoded<'_>,
    kept_rows: Option<&[bool]>,
) -> Result<(), TableError> {
    let mut released = vec![false; recoded.labels.len()];
    for (row, code) in recoded.codes.iter().enumerate() {
        released[recoded.map[code as usize] as usize] |= kept_rows.is_none_or(|kept| kept[row]);
    }
    for (label, _) in recoded.labels.iter().zip(&released).filter(|(_, released)| **released) {
        codebook.add(&quasi.attribute.name, label)?;
    }
    Ok(())
}

pub(crate) fn write_whole(codebook: &Codebook, path: &Path) -> Result<(), TableError> {
    let failed = |error| TableError::io(path, error);
    let mut out = std::io::BufWriter::new(std::fs::File::create_new(path).map_err(failed)?);
    codebook.write(&mut out).map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}

pub(crate) fn named_rules(bound: &Bound<'_>, released: &dyn Released) -> Vec<NamedRule> {
    let paths = hierarchies(bound, released);
    let tree = |(name, paths): (&String, &Value)| Some((name.clone(), tree_from_paths(released.domain(name)?, paths)?));
    bound.named_rules(&paths.iter().filter_map(tree).collect())
}

/// The hierarchies that a reader needs to recompute a guarantee.
pub(crate) fn hierarchies(bound: &Bound<'_>, released: &dyn Released) -> Map<String, Value> {
    let by_hierarchy = |model: &Model| matches!(model, Model::TCloseness { distance: Distance::Hierarchical, .. });
    let rules = bound.policy.rules.iter().filter(|rule| rule.require.iter().any(by_hierarchy));
    let names = rules.filter_map(|rule| rule.protect.as_ref());
    names.filter_map(|name| Some((name.clone(), bound.paths(name, released.domain(name)?)?))).collect()
}

/// What is known of a release before its tables are read back.
pub(crate) fn manifest(bound: &Bound<'_>, tables: Vec<Resource>, rows: Rows, losses: &Map<String, Value>) -> Manifest {
    let codebook = ["attribute", "label", "low", "high", "leaf"];
    let codebook = codebook.map(|name| Field::new(name, Kind::Category, None)).to_vec();
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
            loss: losses.clone(),
            hierarchies: Map::new(),
            cloning: Map::new(),
            dependencies: Vec::new(),
            attack: None,
        },
    }
}
