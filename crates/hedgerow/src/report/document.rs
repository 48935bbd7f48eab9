//! A report as values: serialized, it is the output of `hedgerow report --json`.

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{
    Audited, Comparison, Contingency, Measures, NarrowingStep, ReleasedTable, SafeHarborItem, SingledOut,
};
use hedgerow_publish::undivided::Undivided;
use hedgerow_publish::why::Why;
use hedgerow_release::Release;
use hedgerow_release::manifest::{ClassSizes, KnownDependency, Manifest, UnitCounts};
use hedgerow_verify::related::classes_of;
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{Check, ExploredAttribute};

#[cfg(feature = "federation")]
use crate::ledger::LedgerTotals;

/// A report about one release, or about several together. What needs the private source is absent
/// without `--policy` and with `--publishable`.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Document {
    pub(super) version: &'static str,
    pub(super) publishable: bool,
    /// The date that the page carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date: Option<String>,
    /// With `--policy`: the name of its file, and its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) policy: Option<PolicyFile>,
    /// With `--policy`, where the source is a file: its name and a digest of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<SourceFile>,
    /// Whether people were looked for.
    pub(super) people_named: bool,
    /// With `--publishable`: what was omitted.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) omitted: &'static [&'static str],
    pub(super) releases: Vec<ReleasePart>,
    /// With `--ledger`: what custodians opened to one another in a
    /// joint run.
    #[cfg(feature = "federation")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ledger: Option<LedgerTotals>,
    #[serde(flatten)]
    pub(super) together: Option<Together>,
    #[serde(serialize_with = "with_rows")]
    pub(super) audit: Audited,
}

/// The policy file, and its text.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct PolicyFile {
    pub(super) name: String,
    pub(super) text: String,
}

/// Which bytes the source file had.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct SourceFile {
    pub(super) name: String,
    pub(super) digest: String,
}

/// One release: first what the released tables show, then what needs the private source.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct ReleasePart {
    /// The name of the directory, without the path to it.
    pub(super) name: String,
    pub(super) method: String,
    pub(super) digest: String,
    /// As the manifest states them; `out` alone for a table without a manifest.
    pub(super) rows: RowsStated,
    #[serde(flatten)]
    pub(super) of_manifest: Option<ManifestPart>,
    /// Class sizes and risk, from the released tables alone.
    pub(super) tables: Vec<ReleasedTable>,
    pub(super) singled_out: Vec<SingledOut>,
    /// Released rows by two attributes.
    pub(super) pairs: Vec<Contingency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) safe_harbor: Option<Vec<SafeHarborItem>>,
    #[serde(flatten)]
    pub(super) of_source: Option<SourcePart>,
    /// Findings about this release alone.
    pub(super) findings: Vec<Finding>,
}

/// Numbers of rows as the manifest states them; `out` alone for a table without one.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct RowsStated {
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<u64>,
    pub(super) out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suppressed: Option<u64>,
}

/// The parts that only a release with a manifest has.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct ManifestPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) units: Option<UnitCounts>,
    pub(super) columns: Vec<ColumnPart>,
    /// Dependencies between released attributes that the publisher declares, with the reason where
    /// one is accepted.
    pub(super) dependencies: Vec<KnownDependency>,
    /// Quasi-identifiers of which one follows from others: the classes of rows that agree on the
    /// labels of all, and the smallest of these.
    pub(super) related: Vec<RelatedPart>,
    pub(super) check: Check,
}

/// Quasi-identifiers of which one follows from others: the classes that their labels give together,
/// counted in the table.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct RelatedPart {
    pub(super) from: Vec<String>,
    pub(super) to: String,
    pub(super) classes: ClassSizes,
    /// In the order of the attributes, the smallest first.
    pub(super) smallest: Vec<RelatedClassPart>,
}

/// The rows that agree on all these labels.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct RelatedClassPart {
    pub(super) labels: Vec<String>,
    pub(super) rows: u64,
}

/// The related attributes that a manifest states, with the smallest of their classes.
pub(super) fn related(release: &Release, manifest: &Manifest) -> Vec<RelatedPart> {
    const SHOWN_MAX: usize = 12;
    let stated = manifest.hedgerow.related.iter();
    let counted = stated.filter_map(|stated| Some((stated, classes_of(release, stated)?)));
    let related = counted.map(|(stated, classes)| RelatedPart {
        from: stated.from.clone(),
        to: stated.to.clone(),
        classes: ClassSizes::of(classes.iter().map(|class| class.rows)),
        smallest: classes
            .into_iter()
            .take(SHOWN_MAX)
            .map(|class| RelatedClassPart { labels: class.labels, rows: class.rows })
            .collect(),
    });
    related.collect()
}

/// A column of a released table.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct ColumnPart {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) role: Option<String>,
    pub(crate) values: Option<String>,
    pub(crate) file: String,
}

/// The columns of every released table.
pub(crate) fn columns(manifest: &Manifest) -> Vec<ColumnPart> {
    let tables = manifest.resources.iter().filter(|resource| resource.name != hedgerow_release::shape::CODEBOOK);
    let columns = tables.flat_map(|table| table.schema.fields.iter().map(move |field| (table, field)));
    let part =
        |(table, field): (&hedgerow_release::manifest::Resource, &hedgerow_release::manifest::FieldDescriptor)| {
            ColumnPart {
                name: field.name.clone(),
                kind: field.kind.clone(),
                role: field.role.clone(),
                values: field.values.clone(),
                file: table.path.clone(),
            }
        };
    columns.map(part).collect()
}

/// The figures that need the private source.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct SourcePart {
    /// The source next to the release.
    pub(super) comparison: Comparison,
    /// The share of count queries whose relative error is at most each of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query_error: Option<Vec<ErrorShare>>,
    /// Of full-domain recoding: what forced each level and each suppressed group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<Why>,
    /// Of full-domain recoding, where the lattice is small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lattice: Option<LatticePart>,
    /// Of local recoding: which classes could not be divided, and because of which guarantee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undivided: Option<Undivided>,
    /// As `hedgerow measure --json` prints them.
    pub(super) measures: Measures,
}

/// The share of count queries whose relative error is at most this.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct ErrorShare {
    pub(super) error: f64,
    pub(super) share: f64,
}

/// A small lattice.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct LatticePart {
    pub(super) attributes: Vec<ExploredAttribute>,
    pub(super) nodes: u64,
    pub(super) holding_count: usize,
    /// The levels at which every rule holds.
    pub(super) holding: Vec<Vec<u8>>,
    /// By sum of levels, the coarsest first: nodes, and those at which every rule holds.
    pub(super) heights: Vec<HeightPart>,
    pub(super) chosen: Vec<u8>,
}

/// The nodes whose levels have one sum.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct HeightPart {
    pub(super) levels: usize,
    pub(super) nodes: u64,
    pub(super) holding: u64,
}

/// Several releases: each alone, and all combined.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Together {
    /// Each release by itself.
    pub(super) alone: Vec<AlonePart>,
    /// Findings about all of them together.
    pub(super) combined: Vec<Finding>,
    /// For the most exposed: the class and the values of each release.
    pub(super) narrowings: Vec<NarrowingPart>,
}

/// One release by itself: rows and values that it leaves.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct AlonePart {
    pub(super) release: String,
    pub(super) protect: Option<String>,
    pub(super) effective_k: Option<u64>,
    pub(super) effective_l: Option<u64>,
    pub(super) max_confidence: f64,
}

/// The way to what is left for some people, with the numbers of values.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct NarrowingPart {
    pub(super) protect: String,
    pub(super) people: u64,
    pub(super) steps: Vec<NarrowingStepPart>,
    pub(super) left: Vec<String>,
    pub(super) left_count: usize,
}

/// The class of one release, with the number of its values.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct NarrowingStepPart {
    #[serde(flatten)]
    pub(super) step: NarrowingStep,
    pub(super) values_count: usize,
}

/// An audit with the rows of the people's list that each explanation is about, from 1: only this
/// document has them, and a publishable one looks for no people.
fn with_rows<S: Serializer>(audited: &Audited, serializer: S) -> Result<S::Ok, S::Error> {
    fn items(of: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
        of.and_then(Value::as_array_mut).into_iter().flatten()
    }
    let mut document = serde_json::to_value(audited).map_err(S::Error::custom)?;
    for (shown, finding) in items(document.get_mut("adversaries")).zip(&audited.findings) {
        let explanations = items(shown.get_mut("explanations"));
        for (shown, explanation) in explanations.zip(&finding.explanations).filter(|(_, own)| !own.rows.is_empty()) {
            shown["rows"] = json!(explanation.rows.iter().map(|row| row + 1).collect::<Vec<u32>>());
        }
    }
    document.serialize(serializer)
}
