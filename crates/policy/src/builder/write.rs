//! A built policy as TOML.

use std::fmt::{Display, Write as _};

use hedgerow_table::HierarchySpec;
use hedgerow_table::hierarchy::Bound;

use super::attribute::CoarseningWay;
use super::{Attribute, Coarsening, DataSource, Model, PolicyBuilder, Publication, Rule};
use crate::toml_text::{key, quoted};
use crate::{Assignment, ClassLabels, KnownRows, RareValues, Summary};

pub(super) fn policy(policy: &PolicyBuilder) -> String {
    let mut text = String::new();
    if let Some(source) = &policy.source {
        section(&mut text, "[source]", source_keys(source));
    }
    let attributes = policy.attributes.iter();
    section(&mut text, "[attributes]", attributes.map(|(name, attribute)| (key(name), described(attribute))).collect());
    for rule in &policy.rules {
        section(&mut text, "[[rule]]", rule_keys(rule));
    }
    for dependency in &policy.dependencies {
        let accept = dependency.accept.as_ref().map(|reason| pair("accept", quoted(reason)));
        let keys = [pair("from", texts(&dependency.from)), pair("to", quoted(&dependency.to))];
        section(&mut text, "[[dependency]]", keys.into_iter().chain(accept).collect());
    }
    section(&mut text, "[publish]", publication_keys(&policy.publication));
    if !policy.releases.is_empty() {
        section(&mut text, "[community]", vec![pair("releases", texts(&policy.releases))]);
    }
    for (attribute, pairs) in &policy.spellings {
        let keys = pairs.iter().map(|(theirs, ours)| (key(theirs), quoted(ours))).collect();
        section(&mut text, &format!("[community.values.{}]", key(attribute)), keys);
    }
    text
}

/// A key with its value.
type TomlPair = (String, String);

fn pair(key: &str, value: String) -> TomlPair {
    (key.to_owned(), value)
}

fn section(text: &mut String, head: &str, keys: Vec<TomlPair>) {
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{head}");
    for (key, value) in keys {
        let _ = writeln!(text, "{key} = {value}");
    }
}

fn inline(keys: &[TomlPair]) -> String {
    let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", keys.join(", "))
}

fn list(values: impl IntoIterator<Item = impl Display>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(", "))
}

fn texts(values: &[String]) -> String {
    list(values.iter().map(|value| quoted(value)))
}

/// A number that is not taken for a whole one, unless it is one for every reader.
fn number(value: f64) -> String {
    // TOML writes these in lower case.
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

fn bound(value: Bound) -> String {
    match value {
        Bound::Integer(value) => value.to_string(),
        Bound::Float(value) => number(value),
        Bound::Date(date) => quoted(&date.to_string()),
    }
}

fn source_keys(source: &DataSource) -> Vec<TomlPair> {
    let text = |key: &str, value: &Option<String>| value.as_ref().map(|value| pair(key, quoted(value)));
    let mark = |key: &str, value: Option<char>| value.map(|value| pair(key, quoted(&value.to_string())));
    let keys = [
        text("path", &source.path),
        text("url", &source.url),
        text("engine", &source.engine),
        text("table", &source.table),
        text("query", &source.query),
        source.format.map(|format| pair("format", quoted(format.name()))),
        mark("delimiter", source.delimiter),
        mark("quote", source.quote),
        source.nulls.as_ref().map(|nulls| pair("null", texts(nulls))),
        mark("decimal", source.decimal),
        mark("thousands", source.thousands),
        text("date-format", &source.date_format),
    ];
    keys.into_iter().flatten().collect()
}

fn described(attribute: &Attribute) -> String {
    let range = attribute.range.map(|[low, high]| {
        let ends = [low.map_or_else(|| "-inf".to_owned(), bound), high.map_or_else(|| "inf".to_owned(), bound)];
        pair("range", list(ends))
    });
    let keys = [
        Some(pair("role", quoted(attribute.role.name()))),
        attribute.kind.map(|kind| pair("type", quoted(kind.name()))),
        attribute.hierarchy.as_ref().and_then(|hierarchy| hierarchy_value(&hierarchy.0)),
        range,
        attribute.order.as_ref().map(|order| pair("order", texts(order))),
        attribute.date_format.as_ref().map(|pattern| pair("date-format", quoted(pattern))),
        attribute.allow_unique.then(|| pair("allow-unique", "true".to_owned())),
        attribute.coarsen.map(|coarsening| pair("coarsen", inline(&coarsening_keys(coarsening)))),
    ];
    inline(&keys.into_iter().flatten().collect::<Vec<_>>())
}

fn coarsening_keys(coarsening: Coarsening) -> Vec<TomlPair> {
    let way = coarsening.way.map(|way| match way {
        CoarseningWay::Round(multiple) => pair("round", number(multiple)),
        CoarseningWay::Significant(digits) => pair("significant", digits.to_string()),
        CoarseningWay::Dates(unit) => pair("dates", quoted(unit.name())),
        CoarseningWay::Level(level) => pair("level", level.to_string()),
    });
    let end = |key: &str, value: Option<Bound>| value.map(|value| pair(key, bound(value)));
    [way, end("bottom", coarsening.bottom), end("top", coarsening.top)].into_iter().flatten().collect()
}

fn hierarchy_value(spec: &HierarchySpec) -> Option<TomlPair> {
    let way = match spec {
        HierarchySpec::None => return None,
        HierarchySpec::File(path) => pair("file", quoted(&path.to_string_lossy())),
        HierarchySpec::Widths(widths) => pair("widths", list(widths.iter().map(|&width| number(width)))),
        HierarchySpec::Breaks(levels) => {
            pair("breaks", list(levels.iter().map(|level| list(level.iter().map(|&cut| bound(cut))))))
        }
        HierarchySpec::Mask(characters) => pair("mask", characters.to_string()),
        HierarchySpec::Dates(units) => pair("dates", list(units.iter().map(|&unit| quoted(unit.name())))),
    };
    Some(pair("hierarchy", inline(&[way])))
}

fn rule_keys(rule: &Rule) -> Vec<TomlPair> {
    let protect = match rule.protect.as_slice() {
        [] => None,
        [only] => Some(pair("protect", quoted(only))),
        several => Some(pair("protect", texts(several))),
    };
    let models: Vec<String> = rule.require.iter().map(|model| inline(&model_keys(model))).collect();
    let require = match models.as_slice() {
        [only] => only.clone(),
        several => list(several),
    };
    let know = rule.know.as_ref().map(|know| pair("know", texts(know)));
    let rows = (rule.rows != KnownRows::default()).then(|| pair("rows", quoted(rule.rows.name())));
    let consistent = rule.consistent.then(|| pair("consistent", "true".to_owned()));
    let known: Vec<TomlPair> = rule.only_where.iter().map(|(name, values)| (key(name), texts(values))).collect();
    let only_where = (!known.is_empty()).then(|| pair("where", inline(&known)));
    [know, protect, Some(pair("require", require)), rows, consistent, only_where].into_iter().flatten().collect()
}

fn model_keys(model: &Model) -> Vec<TomlPair> {
    let whole = |key: &str, value: &u64| pair(key, value.to_string());
    let real = |key: &str, value: &f64| pair(key, number(*value));
    let (name, parameters) = match model {
        Model::KAnonymity { k } => ("k-anonymity", vec![whole("k", k)]),
        Model::DistinctLDiversity { l } => ("distinct-l-diversity", vec![whole("l", l)]),
        Model::FrequencyLDiversity { l } => ("frequency-l-diversity", vec![real("l", l)]),
        Model::EntropyLDiversity { l } => ("entropy-l-diversity", vec![real("l", l)]),
        Model::RecursiveLDiversity { c, l } => ("recursive-l-diversity", vec![real("c", c), whole("l", l)]),
        Model::TCloseness { t, distance } => {
            ("t-closeness", vec![real("t", t), pair("distance", quoted(distance.name()))])
        }
        Model::AlphaKAnonymity { alpha, k, values } => {
            let values = values.as_ref().map(|values| pair("values", texts(values)));
            ("alpha-k-anonymity", [real("alpha", alpha), whole("k", k)].into_iter().chain(values).collect())
        }
        Model::EpsilonMAnonymity { epsilon, m, relative } => (
            "epsilon-m-anonymity",
            vec![real("epsilon", epsilon), real("m", m), pair("relative", relative.to_string())],
        ),
        Model::DeltaLDiversity { delta, l, reading } => {
            ("delta-l-diversity", vec![real("delta", delta), real("l", l), pair("reading", quoted(reading.name()))])
        }
        Model::EpsilonClone { epsilon } => ("epsilon-clone", vec![real("epsilon", epsilon)]),
        Model::CrossReleaseLDiversity { l } => ("cross-release-l-diversity", vec![whole("l", l)]),
        Model::RhoBreach { prior, posterior, values } => {
            let values = values.as_ref().map(|values| pair("values", texts(values)));
            let shares = [real("prior", prior), real("posterior", posterior)];
            ("rho-breach", shares.into_iter().chain(values).collect())
        }
        Model::BeliefChange { b, change, values } => {
            let values = values.as_ref().map(|values| pair("values", texts(values)));
            let measured = [real("b", b), pair("distance", quoted(change.name()))];
            ("belief-change", measured.into_iter().chain(values).collect())
        }
        Model::Conditional { model, having, below } => {
            let having = having.as_ref().map(|values| pair("having", texts(values)));
            let below = below.as_ref().map(|below| whole("below", below));
            return model_keys(model).into_iter().chain(having).chain(below).collect();
        }
    };
    [pair("model", quoted(name))].into_iter().chain(parameters).collect()
}

fn publication_keys(publication: &Publication) -> Vec<TomlPair> {
    let word = |key: &str, value: Option<&str>| value.map(|value| pair(key, quoted(value)));
    let whole = |key: &str, value: Option<u64>| value.map(|value| pair(key, value.to_string()));
    let real = |key: &str, value: Option<f64>| value.map(|value| pair(key, number(value)));
    let weights: Vec<TomlPair> =
        publication.weights.iter().map(|(name, weight)| (key(name), number(*weight))).collect();
    let assignment = publication.assignment.map(|assignment| match assignment {
        Assignment::Order => "order",
        Assignment::Scan => "scan",
        Assignment::Random => "random",
    });
    let summarise = publication.summarise.map(|summary| match summary {
        Summary::Region => "region",
        Summary::Tight => "tight",
    });
    let labels = publication.labels.map(|labels| match labels {
        ClassLabels::Set => "set",
        ClassLabels::Hierarchy => "hierarchy",
    });
    let rare = publication.rare.map(|rare| match rare {
        RareValues::Keep => "keep",
        RareValues::Suppress => "suppress",
    });
    let keys = [
        Some(pair("method", quoted(publication.method.name()))),
        real("suppression", publication.suppression),
        word("loss", publication.loss.map(|loss| loss.name())),
        (!weights.is_empty()).then(|| pair("weights", inline(&weights))),
        whole("max-nodes", publication.max_nodes),
        real("max-seconds", publication.max_seconds),
        publication.strict.map(|strict| pair("strict", strict.to_string())),
        word("summarise", summarise),
        word("labels", labels),
        publication.improve.then(|| pair("improve", "true".to_owned())),
        whole("k", publication.k),
        whole("lambda", publication.lambda),
        real("max-epsilon", publication.max_epsilon),
        real("max-distorted", publication.max_distorted),
        word("assignment", assignment),
        real("rho", publication.rho),
        word("rare", rare),
        word("algorithm", publication.algorithm.map(|algorithm| algorithm.name())),
        word("anonymizer", publication.anonymizer.map(|anonymizer| anonymizer.name())),
        publication.link.then(|| pair("link", "true".to_owned())),
        real("dependency-tolerance", publication.dependency_tolerance),
    ];
    keys.into_iter().flatten().collect()
}
