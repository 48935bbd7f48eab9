//! One requirement of a rule: a model by name, with parameters in their ranges.

use std::collections::HashSet;

use hedgerow_config::number::{ABOVE_ZERO, AT_LEAST_ONE, AT_LEAST_ZERO, SHARE, SHARE_ABOVE_ZERO};
use hedgerow_config::{At, Data, Field, Fields, Reader, TomlNode, listed, quoted};
use hedgerow_privacy::{Change, Distance, Model, ModelName, NumberCloseness};

use crate::words::{CHANGES, CONDITIONS, DISTANCES, MODELS, READINGS, RULE};

pub(crate) fn read(reader: &mut Reader<'_>, node: &TomlNode) -> Option<Model> {
    let Data::Table(entries) = &node.data else {
        let problem = format!("expected a table with `model` and its parameters, found {}", node.type_name());
        reader.refuse(&node.at, problem, "for example `require = { model = \"k-anonymity\", k = 5 }`");
        return None;
    };
    let names = || MODELS.iter().map(|words| &words.model);
    if !entries.iter().any(|(key, _)| key == "model") {
        let available = listed(names().filter(|word| word.available).map(|word| word.name));
        reader.refuse_key(&At::missing(&node.at, "model"), "`model` is missing", format!("one of {available}"));
        return None;
    }
    let name = Field::of(entries, MODELS[0].keys, "model").and_then(|field| reader.choice(field, names(), "model"))?;
    let words = MODELS.iter().find(|words| words.model.name == name)?;
    let fields = reader.table(node, words.keys, RULE[2].example)?;
    let model = parameters(reader, &fields, name.parse().ok()?);
    // k-anonymity, for example, has none.
    let takes_conditions = CONDITIONS.iter().all(|condition| words.keys.contains(condition));
    let model = if takes_conditions { conditions(reader, &fields, model)? } else { model? };
    if model.is_vacuous() {
        let hint = "choose a stronger parameter, or remove the requirement";
        reader.warn(&node.at, format!("{} with these parameters holds for any table", quoted(name)), hint);
    }
    Some(model)
}

/// `None` when a parameter is missing or wrong, which has been said by then.
fn parameters(reader: &mut Reader<'_>, fields: &Fields<'_>, model: ModelName) -> Option<Model> {
    let whole = |reader: &mut Reader<'_>, key| fields.get(key).and_then(|field| reader.whole(field, 1, u64::MAX));
    let ratio = |reader: &mut Reader<'_>, key, range| fields.get(key).and_then(|field| reader.ratio(field, range));
    Some(match model {
        ModelName::KAnonymity => Model::KAnonymity { k: whole(reader, "k")? },
        ModelName::DistinctLDiversity => Model::DistinctLDiversity { l: whole(reader, "l")? },
        ModelName::CrossReleaseLDiversity => Model::CrossReleaseLDiversity { l: whole(reader, "l")? },
        ModelName::FrequencyLDiversity => Model::FrequencyLDiversity { l: ratio(reader, "l", AT_LEAST_ONE)? },
        ModelName::EntropyLDiversity => Model::EntropyLDiversity { l: ratio(reader, "l", AT_LEAST_ONE)? },
        ModelName::RecursiveLDiversity => {
            let (c, l) = (ratio(reader, "c", ABOVE_ZERO), whole(reader, "l"));
            Model::RecursiveLDiversity { c: c?, l: l? }
        }
        ModelName::TCloseness => {
            let t = ratio(reader, "t", SHARE);
            let distance = match fields.get("distance") {
                Some(field) => read_distance(reader, field),
                None => Some(Distance::default()),
            };
            Model::TCloseness { t: t?, distance: distance?, order: None }
        }
        ModelName::AlphaKAnonymity => {
            let (alpha, k) = (ratio(reader, "alpha", SHARE_ABOVE_ZERO), whole(reader, "k"));
            let values = read_optional_values(reader, fields, "values");
            Model::AlphaKAnonymity { alpha: alpha?, k: k?, values: values? }
        }
        ModelName::RhoBreach => {
            let (prior, posterior) =
                (ratio(reader, "prior", SHARE_ABOVE_ZERO), ratio(reader, "posterior", SHARE_ABOVE_ZERO));
            let values = read_optional_values(reader, fields, "values");
            let (prior, posterior) = (prior?, posterior?);
            if !prior.is_below(posterior) {
                let problem = format!("`posterior` must exceed `prior`, found {posterior} and {prior}");
                let hint = "a value with a share of up to `prior` in the table stays below `posterior` in every class";
                reader.refuse(&fields.get("posterior")?.node.at, problem, hint);
                return None;
            }
            Model::RhoBreach { prior, posterior, values: values? }
        }
        ModelName::BeliefChange => {
            let change = match fields.get("distance") {
                Some(field) => read_change(reader, field),
                None => Some(Change::default()),
            };
            let range = if change.is_none_or(Change::is_share) { SHARE } else { AT_LEAST_ZERO };
            let (b, values) = (ratio(reader, "b", range), read_optional_values(reader, fields, "values"));
            Model::BeliefChange { b: b?, change: change?, values: values? }
        }
        ModelName::EpsilonMAnonymity => {
            let relative = match fields.get("relative") {
                Some(field) => reader.flag(field)?,
                None => false,
            };
            let epsilon = ratio(reader, "epsilon", if relative { SHARE } else { AT_LEAST_ZERO });
            let m = ratio(reader, "m", AT_LEAST_ONE);
            Model::EpsilonMAnonymity { epsilon: epsilon?, m: m?, relative }
        }
        ModelName::EpsilonClone => Model::EpsilonClone { epsilon: ratio(reader, "epsilon", SHARE)? },
        ModelName::DeltaLDiversity => {
            let (delta, l) = (ratio(reader, "delta", AT_LEAST_ZERO), ratio(reader, "l", AT_LEAST_ONE));
            let reading = match fields.get("reading") {
                Some(field) => read_reading(reader, field),
                None => Some(NumberCloseness::default()),
            };
            Model::DeltaLDiversity { delta: delta?, l: l?, reading: reading? }
        }
    })
}

/// The classes that a model is about.
fn conditions(reader: &mut Reader<'_>, fields: &Fields<'_>, model: Option<Model>) -> Option<Model> {
    let having = read_optional_values(reader, fields, "having");
    let below = match fields.get("below") {
        Some(field) => reader.whole(field, 1, u64::MAX).map(Some),
        None => Some(None),
    };
    let (model, having, below) = (model?, having?, below?);
    Some(match having.is_some() || below.is_some() {
        true => Model::Conditional { model: Box::new(model), having, below },
        false => model,
    })
}

fn read_distance(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Distance> {
    let name = reader.choice(field, DISTANCES.iter(), "distance")?;
    Distance::ALL.into_iter().find(|distance| distance.name() == name)
}

fn read_reading(reader: &mut Reader<'_>, field: Field<'_>) -> Option<NumberCloseness> {
    let name = reader.choice(field, READINGS.iter(), "reading")?;
    NumberCloseness::ALL.into_iter().find(|reading| reading.name() == name)
}

fn read_change(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Change> {
    let name = reader.choice(field, CHANGES.iter(), "distance")?;
    Change::ALL.into_iter().find(|change| change.name() == name)
}

/// The values under a key, where it is there; `None` when they are wrong.
fn read_optional_values(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Option<Option<Vec<String>>> {
    match fields.get(key) {
        Some(field) => read_values(reader, field).map(Some),
        None => Some(None),
    }
}

/// Values as they stand in the data: texts, or whole numbers, whose text is beyond doubt.
pub(crate) fn read_values(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Vec<String>> {
    let elements = reader.list(field)?;
    if elements.is_empty() {
        reader.refuse(&field.node.at, "the list is empty: nothing would be limited", field.hint());
        return None;
    }
    let mut seen = HashSet::new();
    let mut values = Vec::new();
    for element in elements {
        let value = match &element.node.data {
            Data::Integer(number) => number.to_string(),
            Data::Text(text) => text.clone(),
            _ => {
                let problem = format!("expected a text in quotes, found {}", element.node.type_name());
                reader.refuse(&element.node.at, problem, "write the value in quotes, exactly as it stands in the data");
                return None;
            }
        };
        if !seen.insert(value.clone()) {
            reader.refuse(&element.node.at, format!("{} is listed twice", quoted(&value)), "list every value once");
            return None;
        }
        values.push(value);
    }
    Some(values)
}
