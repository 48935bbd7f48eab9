//! Findings of adversaries, about one release or several.

use super::Named;

/// The result of an audit.
#[derive(Debug, Clone, Default)]
pub struct AuditFacts {
    pub adversaries: Vec<FindingFacts>,
    pub contradictions: Vec<ContradictionFacts>,
    /// The assumption about who is in which release.
    pub assumed: Option<String>,
}

/// A statement of a release that its tables contradict.
#[derive(Debug, Clone)]
pub struct ContradictionFacts {
    pub release: String,
    pub problem: String,
}

/// The finding of one adversary.
#[derive(Debug, Clone)]
pub struct FindingFacts {
    pub name: AdversaryFacts,
    pub releases: Vec<String>,
    pub protect: Option<String>,
    pub people: u64,
    pub at_risk: u64,
    pub max_confidence: f64,
    pub effective_k: Option<u64>,
    pub effective_l: Option<u64>,
    pub breach: bool,
    pub explanations: Vec<ExplanationFacts>,
}

/// An adversary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdversaryFacts {
    pub name: &'static str,
    /// Their way, as the predicate of a sentence.
    pub does: &'static str,
    pub kind: AdversaryKind,
}

/// Which of three questions an adversary answers: can a person be singled out, can two records be
/// linked, can something be inferred?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdversaryKind {
    /// Reads the sensitive values of the rows that match.
    Infers,
    /// Combines releases, or tables of one.
    Links,
    Other,
}

/// Why some people have a value in every table that fits.
#[derive(Debug, Clone)]
pub struct ExplanationFacts {
    pub people: u64,
    pub value: String,
    pub steps: Vec<String>,
    /// Rows of the people's list, from 1.
    pub rows: Vec<u32>,
}

/// One release by itself: rows and values that it leaves of an attribute.
#[derive(Debug, Clone)]
pub struct AloneFacts {
    pub release: String,
    pub protect: Option<String>,
    pub effective_k: Option<u64>,
    pub effective_l: Option<u64>,
    pub max_confidence: f64,
}

/// How the sensitive value of some people is narrowed down.
#[derive(Debug, Clone)]
pub struct NarrowingFacts {
    pub protect: String,
    pub steps: Vec<NarrowingStepFacts>,
    pub left: Vec<String>,
    pub left_count: u64,
}

/// The class of one release.
#[derive(Debug, Clone)]
pub struct NarrowingStepFacts {
    pub release: String,
    pub cells: Named<String>,
    pub rows: u64,
    pub values: Vec<String>,
    pub values_count: u64,
}
