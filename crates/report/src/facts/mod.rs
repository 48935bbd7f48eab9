//! The facts of a report, as plain values: a page is rendered from these and from nothing else.
//!
//! A field has the name that its value has in the JSON of `hedgerow report --json`: every number of
//! the page names its place there, and takes the name from the field.

mod findings;
mod guarantees;
mod mitigation;
mod release;
mod utility;

pub use findings::{
    AdversaryFacts, AdversaryKind, AloneFacts, AuditFacts, ContradictionFacts, ExplanationFacts, FindingFacts,
    NarrowingFacts, NarrowingStepFacts,
};
pub use guarantees::{CheckFacts, GuaranteeFacts, ModelParameter, PolicyFacts, WarningFacts};
pub use mitigation::{
    BrokenFacts, CountedFacts, FinerFacts, GeneralizedFacts, LatticeAttributeFacts, LatticeFacts, NearestFacts,
    OpenClassFacts, SettledFacts, SuppressedFacts, UndividedFacts, WhyFacts,
};
pub use release::{
    BinFacts, ColumnFacts, DependencyFacts, LimitFacts, PairFacts, ReleaseFacts, ReleasedRiskFacts, RiskStep, RowFacts,
    SafeHarborFacts, SingledOutFacts, SizeFacts, TableFacts, UnitFacts,
};
pub use utility::{
    AttributeLossFacts, ComparedFacts, ComparedValueFacts, ComparisonFacts, ErrorStep, MeasureFacts, QueryFacts,
    RelativeErrorFacts, ScenarioFacts, ScenariosFacts, SubgroupFacts,
};

/// Values by name, in a stated order; an object in the JSON.
pub type Named<T> = Vec<(String, T)>;

/// A report about one release, or about several together.
#[derive(Debug, Clone, Default)]
pub struct ReportFacts {
    /// The version of the program that made it.
    pub version: String,
    /// Whether it is for publication: only what the released tables show.
    pub publishable: bool,
    pub date: Option<String>,
    pub policy: Option<PolicyFileFacts>,
    pub source: Option<SourceFileFacts>,
    /// Whether a list of people was looked for.
    pub people_named: bool,
    /// The panels that a report for publication omits.
    pub omitted: Vec<String>,
    pub releases: Vec<ReleaseFacts>,
    pub ledger: Option<LedgerFacts>,
    /// Of several releases: what each leaves by itself.
    pub alone: Vec<AloneFacts>,
    /// Of several releases: what all leave together.
    pub combined: Vec<FindingFacts>,
    pub narrowings: Vec<NarrowingFacts>,
    pub audit: AuditFacts,
}

/// The policy file that a release was made from.
#[derive(Debug, Clone)]
pub struct PolicyFileFacts {
    pub name: String,
    pub text: String,
}

/// The bytes that a source file had.
#[derive(Debug, Clone)]
pub struct SourceFileFacts {
    pub name: String,
    pub digest: String,
}

/// The ledger of a joint run in numbers.
#[derive(Debug, Clone)]
pub struct LedgerFacts {
    pub entries: u64,
    pub rounds: u64,
    pub kinds: Vec<OpenedFacts>,
}

/// The values of one kind that a joint run opened.
#[derive(Debug, Clone)]
pub struct OpenedFacts {
    pub kind: String,
    pub entries: u64,
    pub values: u64,
    /// Of the entries, how many were only compared with a threshold.
    pub compared: u64,
    /// The smallest number of rows, where values are numbers of rows.
    pub least: Option<u64>,
}
