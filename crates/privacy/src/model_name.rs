//! The names of the privacy models: what a policy, a manifest and a report call them.

use std::fmt;
use std::str::FromStr;

/// A privacy model without its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelName {
    KAnonymity,
    DistinctLDiversity,
    FrequencyLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    TCloseness,
    AlphaKAnonymity,
    EpsilonMAnonymity,
    DeltaLDiversity,
    EpsilonClone,
    CrossReleaseLDiversity,
    RhoBreach,
    BeliefChange,
}

impl ModelName {
    pub const ALL: [ModelName; 13] = [
        ModelName::KAnonymity,
        ModelName::DistinctLDiversity,
        ModelName::FrequencyLDiversity,
        ModelName::EntropyLDiversity,
        ModelName::RecursiveLDiversity,
        ModelName::TCloseness,
        ModelName::AlphaKAnonymity,
        ModelName::EpsilonMAnonymity,
        ModelName::DeltaLDiversity,
        ModelName::EpsilonClone,
        ModelName::CrossReleaseLDiversity,
        ModelName::RhoBreach,
        ModelName::BeliefChange,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            ModelName::KAnonymity => "k-anonymity",
            ModelName::DistinctLDiversity => "distinct-l-diversity",
            ModelName::FrequencyLDiversity => "frequency-l-diversity",
            ModelName::EntropyLDiversity => "entropy-l-diversity",
            ModelName::RecursiveLDiversity => "recursive-l-diversity",
            ModelName::TCloseness => "t-closeness",
            ModelName::AlphaKAnonymity => "alpha-k-anonymity",
            ModelName::EpsilonMAnonymity => "epsilon-m-anonymity",
            ModelName::DeltaLDiversity => "delta-l-diversity",
            ModelName::EpsilonClone => "epsilon-clone",
            ModelName::CrossReleaseLDiversity => "cross-release-l-diversity",
            ModelName::RhoBreach => "rho-breach",
            ModelName::BeliefChange => "belief-change",
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ModelName {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<ModelName, UnknownModel> {
        ModelName::ALL.into_iter().find(|model| model.name() == name).ok_or(UnknownModel)
    }
}

/// A name that no model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownModel;

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ModelName::ALL.map(ModelName::name);
        write!(f, "unknown model; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownModel {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for model in ModelName::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        assert_eq!("k-Anonymity".parse::<ModelName>(), Err(UnknownModel));
    }
}
