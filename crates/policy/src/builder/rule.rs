//! The rules of a built policy.

use hedgerow_privacy::{Change, Distance, KnownRows, NumberCloseness};
use hedgerow_release::KnownValues;

/// A rule: what an attacker knows, what must not be learned, and which models must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rule {
    pub(crate) know: Option<Vec<String>>,
    pub(crate) protect: Vec<String>,
    pub(crate) require: Vec<Model>,
    pub(crate) rows: KnownRows,
    pub(crate) consistent: bool,
    pub(crate) only_where: KnownValues,
}

impl Rule {
    /// A rule that requires this model. An attacker is taken to know every quasi-identifier.
    pub fn require(model: Model) -> Rule {
        Rule { require: vec![model], ..Rule::default() }
    }

    /// Requires one more model of the same attacker.
    pub fn and(mut self, model: Model) -> Self {
        self.require.push(model);
        self
    }

    /// The protected attribute: needed by every model but k-anonymity. Called again, for a
    /// decomposition, the combination is protected.
    pub fn protect(mut self, attribute: impl Into<String>) -> Self {
        self.protect.push(attribute.into());
        self
    }

    /// The attributes that the attacker knows, instead of every quasi-identifier.
    pub fn know<T: Into<String>>(mut self, attributes: impl IntoIterator<Item = T>) -> Self {
        self.know = Some(attributes.into_iter().map(Into::into).collect());
        self
    }
}

impl Rule {
    /// Which rows of a unit the attacker knows, where rows belong to units; all by default.
    pub fn rows(mut self, rows: KnownRows) -> Self {
        self.rows = rows;
        self
    }

    /// Also holds for the rows that fit a person by the combinations of values that can occur.
    pub fn consistent(mut self) -> Self {
        self.consistent = true;
        self
    }

    /// Is only about classes whose cell of this known attribute may stand for one of these
    /// values. Called again with another attribute, for one of its values as well.
    pub fn only_where<T: Into<String>>(
        mut self,
        attribute: impl Into<String>,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        self.only_where.insert(attribute.into(), values.into_iter().map(Into::into).collect());
        self
    }
}

impl From<Model> for Rule {
    fn from(model: Model) -> Rule {
        Rule::require(model)
    }
}

/// An attacker who knows `from` of a person knows `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub(crate) from: Vec<String>,
    pub(crate) to: String,
    pub(crate) accept: Option<String>,
}

impl Dependency {
    /// `from` determines `to`.
    pub fn new<T: Into<String>>(from: impl IntoIterator<Item = T>, to: impl Into<String>) -> Dependency {
        Dependency { from: from.into_iter().map(Into::into).collect(), to: to.into(), accept: None }
    }

    /// Why it may be released all the same; the manifest and the report show the reason.
    pub fn accept(mut self, reason: impl Into<String>) -> Self {
        self.accept = Some(reason.into());
        self
    }
}

/// A privacy model with its parameters, as plain numbers. Their ranges are checked with the policy.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Every class has at least `k` rows.
    KAnonymity {
        /// At least 1.
        k: u64,
    },
    /// Every class has at least `l` protected values.
    DistinctLDiversity {
        /// At least 1.
        l: u64,
    },
    /// No protected value exceeds 1/`l` of its class.
    FrequencyLDiversity {
        /// At least 1.
        l: f64,
    },
    /// The entropy of every class is at least log `l`.
    EntropyLDiversity {
        /// At least 1.
        l: f64,
    },
    /// The most frequent value stays below `c` times the rarer ones.
    RecursiveLDiversity {
        /// Above 0.
        c: f64,
        /// At least 1.
        l: u64,
    },
    /// The distribution in every class is close to the table's.
    TCloseness {
        /// From 0 to 1.
        t: f64,
        /// How far two values are apart.
        distance: Distance,
    },
    /// At least `k` rows, and no protected value above a share of `alpha`.
    AlphaKAnonymity {
        /// Above 0 and at most 1.
        alpha: f64,
        /// At least 1.
        k: u64,
        /// The protected values that it limits; all when `None`.
        values: Option<Vec<String>>,
    },
    /// Around every protected number, at most 1/`m` of its class.
    EpsilonMAnonymity {
        /// At least 0, and at most 1 when `relative`.
        epsilon: f64,
        /// At least 1.
        m: f64,
        /// Whether `epsilon` is a share of the value.
        relative: bool,
    },
    /// No interval of length 2 `delta` holds more than 1/`l` of a class.
    DeltaLDiversity {
        /// At least 0; days for dates.
        delta: f64,
        /// At least 1.
        l: f64,
        /// Which values count as close together.
        reading: NumberCloseness,
    },
    /// Every class has every protected value, each with nearly its share in the table.
    EpsilonClone {
        /// From 0 to 1.
        epsilon: f64,
    },
    /// At least `l` protected values, all releases of the community taken together.
    CrossReleaseLDiversity {
        /// At least 1.
        l: u64,
    },
    /// No protected value with a share of at most `prior` in the table reaches a share of
    /// `posterior` in a class.
    RhoBreach {
        /// Above 0.
        prior: f64,
        /// Above `prior` and at most 1.
        posterior: f64,
        /// The protected values that it limits; all when `None`.
        values: Option<Vec<String>>,
    },
    /// The belief in a protected value changes by at most `b` when the class is known: Kifer's
    /// measure.
    BeliefChange {
        /// At least 0, and at most 1 by variation or the largest difference.
        b: f64,
        /// How a change is measured.
        change: Change,
        /// The protected values that beliefs are about; all when `None`.
        values: Option<Vec<String>>,
    },
    /// Another model, restricted to some classes: see [`Model::having`] and [`Model::below`].
    Conditional {
        /// Not k-anonymity, ε-clone, cross-release l-diversity, or one with conditions.
        model: Box<Model>,
        /// The classes in which one of these protected values occurs; all when `None`.
        having: Option<Vec<String>>,
        /// The classes that have fewer rows; all when `None`.
        below: Option<u64>,
    },
}

impl Model {
    /// The model, restricted to classes in which one of these protected values occurs.
    pub fn having<T: Into<String>>(self, values: impl IntoIterator<Item = T>) -> Model {
        let values = Some(values.into_iter().map(Into::into).collect());
        match self {
            Model::Conditional { model, below, .. } => Model::Conditional { model, having: values, below },
            model => Model::Conditional { model: Box::new(model), having: values, below: None },
        }
    }

    /// The model, restricted to classes that have fewer rows than this.
    pub fn below(self, rows: u64) -> Model {
        match self {
            Model::Conditional { model, having, .. } => Model::Conditional { model, having, below: Some(rows) },
            model => Model::Conditional { model: Box::new(model), having: None, below: Some(rows) },
        }
    }

    /// k-anonymity.
    pub fn k_anonymity(k: u64) -> Model {
        Model::KAnonymity { k }
    }

    /// Distinct l-diversity.
    pub fn distinct_l_diversity(l: u64) -> Model {
        Model::DistinctLDiversity { l }
    }

    /// t-closeness by the equal distance.
    pub fn t_closeness(t: f64) -> Model {
        Model::TCloseness { t, distance: Distance::default() }
    }
}

impl From<&hedgerow_privacy::Model> for Model {
    fn from(model: &hedgerow_privacy::Model) -> Model {
        use hedgerow_privacy::Model as Checked;
        match model {
            Checked::KAnonymity { k } => Model::KAnonymity { k: *k },
            Checked::DistinctLDiversity { l } => Model::DistinctLDiversity { l: *l },
            Checked::FrequencyLDiversity { l } => Model::FrequencyLDiversity { l: l.as_f64() },
            Checked::EntropyLDiversity { l } => Model::EntropyLDiversity { l: l.as_f64() },
            Checked::RecursiveLDiversity { c, l } => Model::RecursiveLDiversity { c: c.as_f64(), l: *l },
            Checked::TCloseness { t, distance, .. } => Model::TCloseness { t: t.as_f64(), distance: *distance },
            Checked::AlphaKAnonymity { alpha, k, values } => {
                Model::AlphaKAnonymity { alpha: alpha.as_f64(), k: *k, values: values.clone() }
            }
            Checked::EpsilonMAnonymity { epsilon, m, relative } => {
                Model::EpsilonMAnonymity { epsilon: epsilon.as_f64(), m: m.as_f64(), relative: *relative }
            }
            Checked::DeltaLDiversity { delta, l, reading } => {
                Model::DeltaLDiversity { delta: delta.as_f64(), l: l.as_f64(), reading: *reading }
            }
            Checked::EpsilonClone { epsilon } => Model::EpsilonClone { epsilon: epsilon.as_f64() },
            Checked::CrossReleaseLDiversity { l } => Model::CrossReleaseLDiversity { l: *l },
            Checked::RhoBreach { prior, posterior, values } => {
                Model::RhoBreach { prior: prior.as_f64(), posterior: posterior.as_f64(), values: values.clone() }
            }
            Checked::BeliefChange { b, change, values } => {
                Model::BeliefChange { b: b.as_f64(), change: *change, values: values.clone() }
            }
            Checked::Conditional { model, having, below } => {
                Model::Conditional { model: Box::new(Model::from(&**model)), having: having.clone(), below: *below }
            }
        }
    }
}
