//! One release: what its tables show.

use super::{
    CheckFacts, ComparisonFacts, ErrorStep, FindingFacts, LatticeFacts, MeasureFacts, UndividedFacts, WhyFacts,
};

/// One release of a report. What was not computed is empty or `None`.
#[derive(Debug, Clone, Default)]
pub struct ReleaseFacts {
    pub name: String,
    pub method: String,
    pub digest: Option<String>,
    pub rows: Option<RowFacts>,
    pub units: Option<UnitFacts>,
    pub columns: Vec<ColumnFacts>,
    pub dependencies: Vec<DependencyFacts>,
    pub related: Vec<RelatedFacts>,
    /// `None` for a table without a manifest.
    pub check: Option<CheckFacts>,
    pub tables: Vec<TableFacts>,
    pub singled_out: Vec<SingledOutFacts>,
    pub pairs: Vec<PairFacts>,
    pub safe_harbor: Vec<SafeHarborFacts>,
    /// Findings about this release alone.
    pub findings: Vec<FindingFacts>,
    pub comparison: Option<ComparisonFacts>,
    pub query_error: Vec<ErrorStep>,
    pub why: Option<WhyFacts>,
    pub lattice: Option<LatticeFacts>,
    pub undivided: Option<UndividedFacts>,
    pub measures: Option<MeasureFacts>,
}

/// Numbers of rows.
#[derive(Debug, Clone, Copy)]
pub struct RowFacts {
    pub out: u64,
    /// `None` for a table without a manifest.
    pub suppressed: Option<u64>,
}

/// The units that rows are about.
#[derive(Debug, Clone, Copy)]
pub struct UnitFacts {
    pub out: u64,
    /// Whether the release says which rows are of one unit.
    pub linked: bool,
}

/// A released column.
#[derive(Debug, Clone)]
pub struct ColumnFacts {
    pub name: String,
    /// The type of its cells.
    pub kind: String,
    pub role: Option<String>,
    /// The type of the values that its labels stand for.
    pub values: Option<String>,
    pub file: String,
}

/// Attributes from which an attacker knows another one.
#[derive(Debug, Clone)]
pub struct DependencyFacts {
    pub from: Vec<String>,
    pub to: String,
    /// The publisher's reason to accept it.
    pub accept: Option<String>,
}

/// Quasi-identifiers of which one follows from others: the classes of their labels.
#[derive(Debug, Clone)]
pub struct RelatedFacts {
    pub from: Vec<String>,
    pub to: String,
    pub classes: RelatedSizes,
    /// The smallest of these classes.
    pub smallest: Vec<RelatedClassFacts>,
}

/// How many classes there are, and their rows.
#[derive(Debug, Clone, Copy)]
pub struct RelatedSizes {
    pub count: u64,
    pub min: u64,
    pub max: u64,
}

/// The rows that agree on these labels, in the order of the attributes.
#[derive(Debug, Clone)]
pub struct RelatedClassFacts {
    pub labels: Vec<String>,
    pub rows: u64,
}

/// One released table.
#[derive(Debug, Clone)]
pub struct TableFacts {
    pub name: String,
    /// Whether its classes are buckets.
    pub buckets: bool,
    pub classes: SizeFacts,
    pub risk: ReleasedRiskFacts,
}

/// The sizes of classes.
#[derive(Debug, Clone)]
pub struct SizeFacts {
    pub count: u64,
    pub min: u64,
    pub histogram: Vec<BinFacts>,
}

/// The classes of a range of sizes.
#[derive(Debug, Clone)]
pub struct BinFacts {
    /// The range: `1`, `5-9`, `100+`.
    pub size: String,
    /// The largest size; `None` is open.
    pub to: Option<u64>,
    pub classes: u64,
}

/// The risk of re-identification that the released tables show.
#[derive(Debug, Clone)]
pub struct ReleasedRiskFacts {
    pub highest: f64,
    pub unique_rows: u64,
    pub distribution: Vec<RiskStep>,
    pub limits: Vec<LimitFacts>,
}

/// The share of rows with at most this risk.
#[derive(Debug, Clone, Copy)]
pub struct RiskStep {
    pub risk: f64,
    pub share: f64,
}

/// The share of rows above a limit that people cite.
#[derive(Debug, Clone)]
pub struct LimitFacts {
    pub name: &'static str,
    pub limit: f64,
    pub share_above: f64,
    /// Whether the picture of the risk draws it.
    pub is_drawn: bool,
}

/// Attributes that leave people alone when they are known besides the quasi-identifiers.
#[derive(Debug, Clone)]
pub struct SingledOutFacts {
    pub attributes: Vec<String>,
    pub people: u64,
    /// Whether units are counted; else rows.
    pub counts_units: bool,
}

/// Released rows by two attributes.
#[derive(Debug, Clone)]
pub struct PairFacts {
    pub rows: String,
    pub row_labels: Vec<String>,
    pub columns: String,
    pub column_labels: Vec<String>,
    pub counts: Vec<Vec<u64>>,
}

/// An item of the HIPAA Safe Harbor list.
#[derive(Debug, Clone)]
pub struct SafeHarborFacts {
    pub item: char,
    pub what: &'static str,
    pub columns: Vec<String>,
}
