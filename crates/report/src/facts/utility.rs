//! The utility of a release: loss measures, a release next to its source, errors of count queries.

use serde_json::Number;

use super::{Named, SingledOutFacts};

/// A release measured with its source.
#[derive(Debug, Clone, Default)]
pub struct MeasureFacts {
    /// Loss measures; those that have no meaning for the kind of release are absent.
    pub loss: Named<Number>,
    pub attributes: Named<AttributeLossFacts>,
    /// `None` for decomposed releases.
    pub risk: Option<ScenariosFacts>,
    pub queries: Option<QueryFacts>,
    pub singled_out: Vec<SingledOutFacts>,
}

/// The loss of one quasi-identifier.
#[derive(Debug, Clone, Copy)]
pub struct AttributeLossFacts {
    /// The level that all cells are on, if they are on one.
    pub level: Option<usize>,
    pub top: usize,
    pub ncp: f64,
}

/// The three scenarios of re-identification.
#[derive(Debug, Clone, Copy)]
pub struct ScenariosFacts {
    pub prosecutor: ScenarioFacts,
    pub journalist: Option<ScenarioFacts>,
    pub marketer: f64,
}

/// The chances of one scenario.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioFacts {
    pub max: f64,
    pub mean: f64,
    pub share_above_threshold: f64,
}

/// Random count queries, and how far off their answers are.
#[derive(Debug, Clone, Copy)]
pub struct QueryFacts {
    pub count: u64,
    pub seed: u64,
    pub selectivity: f64,
    pub relative_error: RelativeErrorFacts,
}

/// Relative errors of count queries.
#[derive(Debug, Clone, Copy)]
pub struct RelativeErrorFacts {
    pub mean: f64,
    pub median: f64,
    pub percentile_95: f64,
}

/// The share of count queries whose relative error is at most this.
#[derive(Debug, Clone, Copy)]
pub struct ErrorStep {
    pub error: f64,
    pub share: f64,
}

/// A release next to its source.
#[derive(Debug, Clone)]
pub struct ComparisonFacts {
    pub attributes: Vec<ComparedFacts>,
    pub subgroups: Vec<SubgroupFacts>,
}

/// One attribute, value by value.
#[derive(Debug, Clone)]
pub struct ComparedFacts {
    pub name: String,
    pub values: Vec<ComparedValueFacts>,
}

/// Rows in the source with a value, and rows that a reader expects.
#[derive(Debug, Clone)]
pub struct ComparedValueFacts {
    pub value: String,
    pub source: u64,
    pub released: f64,
}

/// The rows with one value of an attribute.
#[derive(Debug, Clone)]
pub struct SubgroupFacts {
    pub attribute: String,
    pub value: String,
    pub source: u64,
    pub suppressed: u64,
    pub ncp: f64,
}
