//! The privacy models by name, with their parameters as a policy gives them. What each one means is
//! in its own file.

use std::collections::HashSet;

use hedgerow_table::{Domain, Ratio, Values};
use serde_json::{Map, Value, json};

use crate::model_name::ModelName;
use crate::numbers::NotNumbers;

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
    /// Every distance, as policies name them.
    pub const ALL: [Distance; 3] = [Distance::Equal, Distance::Ordered, Distance::Hierarchical];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Distance::Equal => "equal",
            Distance::Ordered => "ordered",
            Distance::Hierarchical => "hierarchical",
        }
    }
}

/// When numbers count as close to one another, for (δ,l)-diversity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberCloseness {
    /// All that fit into one interval of length 2δ.
    #[default]
    Window,
    /// All within 2δ of one of them: definition 5 of the paper.
    Pairwise,
}

impl NumberCloseness {
    /// Every reading.
    pub const ALL: [NumberCloseness; 2] = [NumberCloseness::Window, NumberCloseness::Pairwise];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            NumberCloseness::Window => "window",
            NumberCloseness::Pairwise => "pairwise",
        }
    }
}

/// How far a belief after seeing a release is from the one before, for Kifer's measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Change {
    /// Half the sum of the differences between shares.
    #[default]
    Variation,
    /// The largest difference between shares.
    Largest,
    /// The largest difference between shares, as a multiple of the share before.
    Relative,
    /// The Kullback-Leibler divergence, in nats.
    Divergence,
}

impl Change {
    /// Every measure of change.
    pub const ALL: [Change; 4] = [Change::Variation, Change::Largest, Change::Relative, Change::Divergence];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Change::Variation => "variation",
            Change::Largest => "largest",
            Change::Relative => "relative",
            Change::Divergence => "divergence",
        }
    }

    /// Whether no change exceeds 1.
    pub fn is_share(self) -> bool {
        matches!(self, Change::Variation | Change::Largest)
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
    /// `t` from 0 to 1; `order` has the protected texts, lowest first, for the ordered distance
    /// between texts. Numbers and dates are ordered by themselves.
    TCloseness { t: Ratio, distance: Distance, order: Option<Vec<String>> },
    /// `alpha` above 0 and at most 1; `values` are the protected values it limits, all of them when
    /// absent.
    AlphaKAnonymity { alpha: Ratio, k: u64, values: Option<Vec<String>> },
    /// `epsilon` at least 0, and at most 1 when `relative`; `m` at least 1.
    EpsilonMAnonymity { epsilon: Ratio, m: Ratio, relative: bool },
    /// `delta` at least 0, `l` at least 1.
    DeltaLDiversity { delta: Ratio, l: Ratio, reading: NumberCloseness },
    /// `epsilon` from 0 to 1.
    EpsilonClone { epsilon: Ratio },
    /// `l` at least 1. Which earlier releases it is judged with is not part of the model.
    CrossReleaseLDiversity { l: u64 },
    /// `prior` above 0 and below `posterior`, which is at most 1; `values` are the protected values
    /// it limits, all of them when absent.
    RhoBreach { prior: Ratio, posterior: Ratio, values: Option<Vec<String>> },
    /// `b` at least 0, and at most 1 where no change is larger; `values` are the protected values
    /// that beliefs are about, all of them when absent.
    BeliefChange { b: Ratio, change: Change, values: Option<Vec<String>> },
    /// Another model, about the classes that have one of some protected values, or fewer than
    /// `below` rows, or both. At least one of the two is there; `below` is at least 1. The model
    /// has no conditions itself, and is one that [`Model::takes_conditions`].
    Conditional { model: Box<Model>, having: Option<Vec<String>>, below: Option<u64> },
}

impl Model {
    /// The model without its parameters; that of the model under a condition.
    pub fn model_name(&self) -> ModelName {
        match self {
            Model::KAnonymity { .. } => ModelName::KAnonymity,
            Model::DistinctLDiversity { .. } => ModelName::DistinctLDiversity,
            Model::FrequencyLDiversity { .. } => ModelName::FrequencyLDiversity,
            Model::EntropyLDiversity { .. } => ModelName::EntropyLDiversity,
            Model::RecursiveLDiversity { .. } => ModelName::RecursiveLDiversity,
            Model::TCloseness { .. } => ModelName::TCloseness,
            Model::AlphaKAnonymity { .. } => ModelName::AlphaKAnonymity,
            Model::EpsilonMAnonymity { .. } => ModelName::EpsilonMAnonymity,
            Model::DeltaLDiversity { .. } => ModelName::DeltaLDiversity,
            Model::EpsilonClone { .. } => ModelName::EpsilonClone,
            Model::CrossReleaseLDiversity { .. } => ModelName::CrossReleaseLDiversity,
            Model::RhoBreach { .. } => ModelName::RhoBreach,
            Model::BeliefChange { .. } => ModelName::BeliefChange,
            Model::Conditional { model, .. } => model.model_name(),
        }
    }

    /// The name in a policy, a manifest and a report.
    pub fn name(&self) -> &'static str {
        self.model_name().name()
    }

    /// The name, with the conditions that say which classes it is about.
    pub fn name_with_conditions(&self) -> String {
        match self {
            Model::Conditional { model, having: Some(_), below: None } => format!("{} with `having`", model.name()),
            Model::Conditional { model, having: None, .. } => format!("{} with `below`", model.name()),
            Model::Conditional { model, .. } => format!("{} with `having` and `below`", model.name()),
            _ => self.name().to_owned(),
        }
    }

    /// The model without its conditions.
    pub fn unconditional(&self) -> &Model {
        match self {
            Model::Conditional { model, .. } => model,
            _ => self,
        }
    }

    /// Whether the model may be about some classes alone. Of k-anonymity, `below` would make
    /// another k. Cross-release l-diversity is about combinations of classes, and a clone is one
    /// because all classes are alike.
    pub fn takes_conditions(&self) -> bool {
        !matches!(
            self,
            Model::KAnonymity { .. }
                | Model::CrossReleaseLDiversity { .. }
                | Model::EpsilonClone { .. }
                | Model::Conditional { .. }
        )
    }

    /// Whether a rule that requires the model may be about some known values alone: not where it is
    /// about combinations of classes, or about all classes being alike.
    pub fn takes_known_values(&self) -> bool {
        !matches!(self, Model::CrossReleaseLDiversity { .. } | Model::EpsilonClone { .. })
    }

    /// The protected values that the model names, each list with its key in a policy.
    pub fn named_values(&self) -> Vec<(&'static str, &[String])> {
        match self {
            Model::AlphaKAnonymity { values: Some(values), .. }
            | Model::RhoBreach { values: Some(values), .. }
            | Model::BeliefChange { values: Some(values), .. } => vec![("values", values)],
            Model::Conditional { model, having, .. } => {
                let own = having.iter().map(|values| ("having", values.as_slice()));
                model.named_values().into_iter().chain(own).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the model is about a protected attribute (k-anonymity alone is not).
    pub fn needs_protect(&self) -> bool {
        !matches!(self, Model::KAnonymity { .. })
    }

    /// Whether the model measures how far protected values are apart, so that they must be numbers
    /// or dates, or have an order.
    pub fn measures_distances(&self) -> bool {
        let model = self.unconditional();
        let in_order = matches!(model, Model::TCloseness { distance: Distance::Ordered, .. });
        in_order || matches!(model, Model::EpsilonMAnonymity { .. } | Model::DeltaLDiversity { .. })
    }

    /// Whether no class could fail it, whatever its values: such a requirement protects no one.
    pub fn is_vacuous(&self) -> bool {
        let one = Ratio::integer(1);
        match self {
            Model::KAnonymity { k } => *k == 1,
            Model::DistinctLDiversity { l } => *l == 1,
            Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => *l == one,
            // The most frequent value is less than c times all rows.
            Model::RecursiveLDiversity { c, l } => *l == 1 && c.numerator > c.denominator,
            Model::TCloseness { t, .. } => *t == one,
            Model::AlphaKAnonymity { alpha, k, .. } => *alpha == one && *k == 1,
            Model::EpsilonMAnonymity { m: l, .. } | Model::DeltaLDiversity { l, .. } => *l == one,
            // Releases can leave no value together, even where each of them has some; and whatever
            // ε is, a class must still hold every value of the table.
            Model::CrossReleaseLDiversity { .. } | Model::EpsilonClone { .. } => false,
            // A class of one rare value is a breach.
            Model::RhoBreach { .. } => false,
            Model::BeliefChange { b, change, .. } => change.is_share() && *b == one,
            // No class has fewer than one row.
            Model::Conditional { model, below, .. } => model.is_vacuous() || *below == Some(1),
        }
    }

    /// The codes of texts in their declared order, lowest first and the missing value last, for the
    /// ordered distance; `None` where the codes are in order by themselves.
    pub(crate) fn ranking(&self, protect: &Domain) -> Result<Option<Vec<u32>>, NotNumbers> {
        let Model::TCloseness { distance: Distance::Ordered, order, .. } = self else { return Ok(None) };
        let texts = match protect.values() {
            Values::Category(texts) if !texts.is_empty() => texts,
            _ => return Ok(None),
        };
        let order = order.as_ref().ok_or(NotNumbers::NoOrder)?;
        let listed: HashSet<&str> = order.iter().map(String::as_str).collect();
        if let Some(unlisted) = texts.iter().find(|text| !listed.contains(&***text)) {
            return Err(NotNumbers::NotInOrder(unlisted.to_string()));
        }
        let mut codes: Vec<u32> = order.iter().filter_map(|text| protect.code_of(text)).collect();
        codes.extend(protect.missing_code());
        Ok(Some(codes))
    }

    /// The parameters as a manifest and a report give them.
    pub fn required(&self) -> Map<String, Value> {
        let required = match self {
            Model::KAnonymity { k } => json!({ "k": k }),
            Model::DistinctLDiversity { l } => json!({ "l": l }),
            Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => json!({ "l": number(*l) }),
            Model::RecursiveLDiversity { c, l } => json!({ "c": number(*c), "l": l }),
            Model::TCloseness { t, distance, order: None } => json!({ "t": number(*t), "distance": distance.name() }),
            Model::TCloseness { t, distance, order } => {
                json!({ "t": number(*t), "distance": distance.name(), "order": order })
            }
            Model::AlphaKAnonymity { alpha, k, values: None } => json!({ "alpha": number(*alpha), "k": k }),
            Model::AlphaKAnonymity { alpha, k, values } => json!({ "alpha": number(*alpha), "k": k, "values": values }),
            Model::EpsilonMAnonymity { epsilon, m, relative } => {
                json!({ "epsilon": number(*epsilon), "m": number(*m), "relative": relative })
            }
            Model::DeltaLDiversity { delta, l, reading } => {
                json!({ "delta": number(*delta), "l": number(*l), "reading": reading.name() })
            }
            Model::EpsilonClone { epsilon } => json!({ "epsilon": number(*epsilon) }),
            Model::CrossReleaseLDiversity { l } => json!({ "l": l }),
            Model::RhoBreach { prior, posterior, values } => {
                named(json!({ "prior": number(*prior), "posterior": number(*posterior) }), "values", values)
            }
            Model::BeliefChange { b, change, values } => {
                named(json!({ "b": number(*b), "distance": change.name() }), "values", values)
            }
            Model::Conditional { model, having, below } => {
                let mut required = named(Value::Object(model.required()), "having", having);
                below.iter().for_each(|below| required["below"] = json!(below));
                required
            }
        };
        match required {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// The model that [`Self::required`] describes; `None` when the name is unknown or a parameter
    /// is missing or absurd.
    pub fn from_required(name: &str, required: &Map<String, Value>) -> Option<Model> {
        let is_condition = |key: &str| matches!(key, "having" | "below");
        if required.keys().any(|key| is_condition(key)) {
            let rest = required.iter().filter(|(key, _)| !is_condition(key));
            let model = Model::from_required(name, &rest.map(|(key, value)| (key.clone(), value.clone())).collect())?;
            let below = match required.get("below") {
                None => None,
                Some(below) => Some(below.as_u64().filter(|&below| below >= 1)?),
            };
            let having = match required.get("having") {
                None => None,
                list => Some(texts(list)??),
            };
            let model = Some(Box::new(model)).filter(|model| model.takes_conditions())?;
            return Some(Model::Conditional { model, having, below });
        }
        let whole = |key: &str| required.get(key)?.as_u64().filter(|&value| value >= 1);
        let ratio = |key: &str| Ratio::from_decimal(required.get(key)?.as_f64()?);
        let at_least_one = |key: &str| ratio(key).filter(|value| value.numerator >= value.denominator);
        let at_most_one = |key: &str| ratio(key).filter(|value| value.numerator <= value.denominator);
        let above_zero = |value: &Ratio| value.numerator > 0;
        // A parameter that no code reads could be taken for a promise.
        let model: ModelName = name.parse().ok()?;
        let known = parameters(model);
        if required.keys().any(|key| !known.contains(&key.as_str())) {
            return None;
        }
        Some(match model {
            ModelName::KAnonymity => Model::KAnonymity { k: whole("k")? },
            ModelName::DistinctLDiversity => Model::DistinctLDiversity { l: whole("l")? },
            ModelName::CrossReleaseLDiversity => {
                let is_text = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_string));
                required.get("releases").is_none_or(is_text).then_some(())?;
                required.get("joint").is_none_or(is_text).then_some(())?;
                let are_texts = |map: &Value| map.as_object().is_some_and(|map| map.values().all(Value::is_string));
                required.get("values").is_none_or(are_texts).then_some(())?;
                Model::CrossReleaseLDiversity { l: whole("l")? }
            }
            ModelName::FrequencyLDiversity => Model::FrequencyLDiversity { l: at_least_one("l")? },
            ModelName::EntropyLDiversity => Model::EntropyLDiversity { l: at_least_one("l")? },
            ModelName::RecursiveLDiversity => {
                Model::RecursiveLDiversity { c: ratio("c").filter(above_zero)?, l: whole("l")? }
            }
            ModelName::TCloseness => {
                let name = required.get("distance").map_or(Some("equal"), Value::as_str)?;
                let distance = Distance::ALL.into_iter().find(|distance| distance.name() == name)?;
                let order = match required.get("order") {
                    None => None,
                    Some(order) => {
                        let texts = order.as_array()?.iter().map(|text| text.as_str().map(str::to_owned));
                        let texts = texts.collect::<Option<Vec<String>>>()?;
                        let different = texts.iter().collect::<HashSet<_>>().len() == texts.len();
                        (different && distance == Distance::Ordered).then_some(())?;
                        Some(texts)
                    }
                };
                Model::TCloseness { t: at_most_one("t")?, distance, order }
            }
            ModelName::AlphaKAnonymity => {
                let values = texts(required.get("values"))?;
                let alpha = at_most_one("alpha").filter(above_zero)?;
                Model::AlphaKAnonymity { alpha, k: whole("k")?, values }
            }
            ModelName::EpsilonMAnonymity => {
                let relative = required.get("relative").map_or(Some(false), Value::as_bool)?;
                let epsilon = if relative { at_most_one("epsilon")? } else { ratio("epsilon")? };
                Model::EpsilonMAnonymity { epsilon, m: at_least_one("m")?, relative }
            }
            ModelName::EpsilonClone => Model::EpsilonClone { epsilon: at_most_one("epsilon")? },
            ModelName::RhoBreach => {
                let (prior, posterior) = (ratio("prior").filter(above_zero)?, at_most_one("posterior")?);
                let values = texts(required.get("values"))?;
                prior.is_below(posterior).then_some(Model::RhoBreach { prior, posterior, values })?
            }
            ModelName::BeliefChange => {
                let name = required.get("distance").map_or(Some("variation"), Value::as_str)?;
                let change = Change::ALL.into_iter().find(|change| change.name() == name)?;
                let b = if change.is_share() { at_most_one("b")? } else { ratio("b")? };
                Model::BeliefChange { b, change, values: texts(required.get("values"))? }
            }
            ModelName::DeltaLDiversity => {
                let name = required.get("reading").map_or(Some("window"), Value::as_str)?;
                let reading = NumberCloseness::ALL.into_iter().find(|reading| reading.name() == name)?;
                Model::DeltaLDiversity { delta: ratio("delta")?, l: at_least_one("l")?, reading }
            }
        })
    }
}

/// The parameters that a manifest may state under `required`. Digests name the releases that a
/// model was judged with, `values` which of their texts mean one of ours, `joint` the shares of
/// people in several of their classes.
fn parameters(model: ModelName) -> &'static [&'static str] {
    match model {
        ModelName::KAnonymity => &["k"],
        ModelName::DistinctLDiversity | ModelName::FrequencyLDiversity | ModelName::EntropyLDiversity => &["l"],
        ModelName::RecursiveLDiversity => &["c", "l"],
        ModelName::TCloseness => &["t", "distance", "order"],
        ModelName::AlphaKAnonymity => &["alpha", "k", "values"],
        ModelName::EpsilonMAnonymity => &["epsilon", "m", "relative"],
        ModelName::DeltaLDiversity => &["delta", "l", "reading"],
        ModelName::EpsilonClone => &["epsilon"],
        ModelName::RhoBreach => &["prior", "posterior", "values"],
        ModelName::BeliefChange => &["b", "distance", "values"],
        ModelName::CrossReleaseLDiversity => &["l", "releases", "values", "joint"],
    }
}

/// A list of texts where there is one; `None` where it is not a list, or an empty one.
fn texts(list: Option<&Value>) -> Option<Option<Vec<String>>> {
    let texts = match list {
        None | Some(Value::Null) => return Some(None),
        Some(list) => list.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)),
    };
    texts.collect::<Option<Vec<String>>>().filter(|texts| !texts.is_empty()).map(Some)
}

/// Parameters with a list of values, where there is one.
fn named(mut parameters: Value, key: &str, values: &Option<Vec<String>>) -> Value {
    values.iter().for_each(|values| parameters[key] = json!(values));
    parameters
}

/// A fraction as JSON: a whole number where it is one.
fn number(ratio: Ratio) -> Value {
    if ratio.denominator == 1 { json!(ratio.numerator) } else { json!(ratio.as_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_name_their_model() {
        let ratio = |value| Ratio::from_decimal(value).unwrap();
        for model in [
            Model::KAnonymity { k: 5 },
            Model::DistinctLDiversity { l: 3 },
            Model::FrequencyLDiversity { l: ratio(2.5) },
            Model::EntropyLDiversity { l: ratio(3.0) },
            Model::RecursiveLDiversity { c: ratio(0.5), l: 2 },
            Model::TCloseness { t: ratio(0.15), distance: Distance::Ordered, order: None },
            Model::TCloseness {
                t: ratio(0.15),
                distance: Distance::Ordered,
                order: Some(vec!["low".to_owned(), "high".to_owned()]),
            },
            Model::AlphaKAnonymity { alpha: ratio(0.3), k: 2, values: None },
            Model::AlphaKAnonymity { alpha: ratio(0.3), k: 2, values: Some(vec!["flu".to_owned()]) },
            Model::EpsilonClone { epsilon: ratio(0.05) },
            Model::EpsilonMAnonymity { epsilon: ratio(0.1), m: ratio(2.0), relative: true },
            Model::EpsilonMAnonymity { epsilon: ratio(15.0), m: ratio(2.5), relative: false },
            Model::DeltaLDiversity { delta: ratio(7.5), l: ratio(2.0), reading: NumberCloseness::Window },
            Model::DeltaLDiversity { delta: ratio(1e17), l: ratio(1.1), reading: NumberCloseness::Pairwise },
            Model::CrossReleaseLDiversity { l: 3 },
            Model::RhoBreach { prior: ratio(0.1), posterior: ratio(0.5), values: None },
            Model::RhoBreach { prior: ratio(0.1), posterior: ratio(1.0), values: Some(vec!["flu".to_owned()]) },
            Model::BeliefChange { b: ratio(0.2), change: Change::Variation, values: None },
            Model::BeliefChange { b: ratio(2.5), change: Change::Relative, values: Some(vec!["flu".to_owned()]) },
            Model::Conditional {
                model: Box::new(Model::AlphaKAnonymity {
                    alpha: ratio(0.3),
                    k: 2,
                    values: Some(vec!["flu".to_owned()]),
                }),
                having: Some(vec!["HIV".to_owned()]),
                below: None,
            },
            Model::Conditional { model: Box::new(Model::DistinctLDiversity { l: 2 }), having: None, below: Some(5) },
        ] {
            assert_eq!(Model::from_required(model.name(), &model.required()), Some(model));
        }
        assert_eq!(Model::from_required("k-anonymity", &Map::new()), None);
        assert_eq!(Model::from_required("wishful-anonymity", &Map::new()), None);
        for (name, required) in [
            ("k-anonymity", json!({ "k": 5, "below": 9 })),
            ("cross-release-l-diversity", json!({ "l": 2, "below": 9 })),
            ("epsilon-clone", json!({ "epsilon": 0.1, "having": ["flu"] })),
            ("distinct-l-diversity", json!({ "l": 2, "below": 0 })),
            ("distinct-l-diversity", json!({ "l": 2, "below": null })),
            ("distinct-l-diversity", json!({ "l": 2, "having": [] })),
            ("distinct-l-diversity", json!({ "l": 2, "having": null })),
            ("distinct-l-diversity", json!({ "l": 2, "having": "flu" })),
            ("rho-breach", json!({ "prior": 0.5, "posterior": 0.5 })),
            ("rho-breach", json!({ "prior": 0, "posterior": 0.5 })),
            ("rho-breach", json!({ "prior": 0.5, "posterior": 1.5 })),
            ("belief-change", json!({ "b": 1.5 })),
            ("belief-change", json!({ "b": 0.5, "distance": "felt" })),
        ] {
            let read = Model::from_required(name, required.as_object().unwrap());
            assert_eq!(read, None, "{name} {required}");
        }
    }
}
