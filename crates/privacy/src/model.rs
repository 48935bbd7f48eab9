//! The privacy models by name, with their parameters as a policy gives them. What each one means is in its own file.

use hedgerow_table::Ratio;

/// How far apart two values of a protected attribute are, for t-closeness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distance {
    /// All different values are equally far apart.
    #[default]
    Equal,
    /// By rank in the order of the values.
    Ordered,
    /// By the level of the closest common ancestor in the protected attribute's hierarchy.
    Hierarchical,
}

impl Distance {
    pub const ALL: [Distance; 3] = [Distance::Equal, Distance::Ordered, Distance::Hierarchical];

    pub fn name(self) -> &'static str {
        match self {
            Distance::Equal => "equal",
            Distance::Ordered => "ordered",
            Distance::Hierarchical => "hierarchical",
        }
    }
}

/// One requirement: a model and its parameters, within their ranges.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// `k` at least 1.
    KAnonymity { k: u64 },
    /// `l` at least 1.
    DistinctLDiversity { l: u64 },
    /// `l` at least 1, not necessarily whole.
    FrequencyLDiversity { l: Ratio },
    /// `l` at least 1, not necessarily whole.
    EntropyLDiversity { l: Ratio },
    /// `c` above 0, `l` at least 1.
    RecursiveLDiversity { c: Ratio, l: u64 },
    /// `t` from 0 to 1.
    TCloseness { t: Ratio, distance: Distance },
    /// `alpha` above 0 and at most 1; `values` are the protected values it limits, all of them when absent.
    AlphaKAnonymity { alpha: Ratio, k: u64, values: Option<Vec<String>> },
}

impl Model {
    /// The name in a policy, a manifest and a report.
    pub fn name(&self) -> &'static str {
        match self {
            Model::KAnonymity { .. } => "k-anonymity",
            Model::DistinctLDiversity { .. } => "distinct-l-diversity",
            Model::FrequencyLDiversity { .. } => "frequency-l-diversity",
            Model::EntropyLDiversity { .. } => "entropy-l-diversity",
            Model::RecursiveLDiversity { .. } => "recursive-l-diversity",
            Model::TCloseness { .. } => "t-closeness",
            Model::AlphaKAnonymity { .. } => "alpha-k-anonymity",
        }
    }

    /// Whether the model speaks of a protected attribute (k-anonymity alone does not).
    pub fn needs_protect(&self) -> bool {
        !matches!(self, Model::KAnonymity { .. })
    }
}
