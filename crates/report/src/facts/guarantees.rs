//! Guarantees: what is required and achieved, and the result of a check.

use hedgerow_privacy::{KnownRows, ModelName};
use serde_json::{Number, Value};

use super::Named;

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct CheckFacts {
    pub guarantees: Vec<GuaranteeFacts>,
    pub contradictions: Vec<String>,
    /// Guarantees that need more than the release to be recomputed, and why.
    pub unchecked: Vec<String>,
    pub warnings: Vec<WarningFacts>,
}

/// A warning.
#[derive(Debug, Clone)]
pub struct WarningFacts {
    pub message: String,
}

/// One guarantee of one rule.
#[derive(Debug, Clone, Default)]
pub struct GuaranteeFacts {
    /// The name in the manifest; another program may name a model that is not known here.
    pub model: String,
    pub required: Named<ModelParameter>,
    /// Empty before there is a release.
    pub achieved: Named<ModelParameter>,
    pub know: Vec<String>,
    pub protect: Option<String>,
    /// Which rows of a unit the attacker knows, where units are counted.
    pub rows: Option<KnownRows>,
    /// Whether it holds also for an attacker who knows which combinations of values do not occur.
    pub consistent: bool,
    /// Whether it is about some known values alone.
    pub is_about_some: bool,
    pub holds: bool,
}

impl GuaranteeFacts {
    pub(crate) fn known_model(&self) -> Option<ModelName> {
        self.model.parse().ok()
    }

    pub(crate) fn protected(&self) -> &str {
        self.protect.as_deref().unwrap_or_default()
    }

    pub(crate) fn requires(&self, parameter: &str) -> bool {
        self.required.iter().any(|(name, _)| name == parameter)
    }
}

/// A parameter of a privacy model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelParameter {
    Number(Number),
    Text(String),
    /// Values, such as those that a condition names.
    List(Vec<String>),
}

impl ModelParameter {
    /// The parameter that a manifest states; `None` for null.
    pub fn of(value: &Value) -> Option<ModelParameter> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some(match value {
            Value::Null => return None,
            Value::Number(number) => ModelParameter::Number(number.clone()),
            Value::Array(list) => ModelParameter::List(list.iter().map(text).collect()),
            other => ModelParameter::Text(text(other)),
        })
    }
}

/// A policy before there is a release.
#[derive(Debug, Clone)]
pub struct PolicyFacts {
    /// Each attribute with its role.
    pub attributes: Vec<(String, String)>,
    pub guarantees: Vec<GuaranteeFacts>,
    pub method: String,
    /// The policy as a file.
    pub text: String,
}
