//! `[publish]`: how to publish, what the search minimizes, and how long it may take.

use hedgerow_config::number::{ABOVE_ZERO, SHARE};
use hedgerow_config::{Field, Fields, Reader, TomlNode};
use hedgerow_table::Ratio;

use crate::Role;
use crate::attribute::AttributeDraft;
use crate::cloning::{self, Cloning};
use crate::words::{
    ALGORITHMS, ANATOMY_ASSIGNMENTS, ANONYMIZERS, CLONE_ASSIGNMENTS, LABELS, LOSSES, METHODS, PUBLISH, SUMMARIES,
};

#[derive(Debug, Clone, PartialEq)]
pub struct PublishSettings {
    pub method: Method,
    /// The share of rows that may be suppressed, from 0 to 1.
    pub suppression: Ratio,
    /// The share of rows that may deviate from a dependency that is looked for in the source.
    pub dependency_tolerance: Ratio,
    pub loss: Loss,
    /// How much the cells of an attribute count; 1 for those not named.
    pub weights: Vec<Weight>,
    /// Mondrian: rows with equal values are never divided.
    pub strict: bool,
    pub summarise: Summary,
    /// For [`Method::Cluster`]: how categories are released.
    pub labels: ClassLabels,
    /// For local recoding: classes are improved until nothing improves, or for `max_seconds`.
    pub improve: bool,
    /// The loss of the search for neighbors, when it is named.
    pub cluster_loss: Option<Loss>,
    /// Where rows belong to units: whether a random number of each unit is released.
    pub link: bool,
    /// For [`Method::Clone`] and [`Method::Anatomy`].
    pub assignment: Assignment,
    pub cloning: Cloning,
    /// For [`Method::Decompose`].
    pub algorithm: Algorithm,
    pub anonymizer: Anonymizer,
    /// At least 1.
    pub max_nodes: Option<u64>,
    /// Above 0 and at most [`SECONDS_MAX`].
    pub max_seconds: Option<f64>,
    /// Of the table; the file alone when the policy has none.
    pub place: String,
}

/// Thirty years, so that a duration made of it cannot overflow.
pub const SECONDS_MAX: u64 = 1_000_000_000;

/// How a release is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    /// One level for each attribute, at the least loss of all.
    FullDomain,
    /// Cuts at medians.
    Mondrian,
    /// The cut that keeps most, of all along all attributes.
    BestCut,
    /// Classes of rows that are near in all quasi-identifiers.
    Cluster,
    /// Values as they are, in buckets.
    Anatomy,
    /// ε-cloning: every class has every sensitive value.
    Clone,
    /// Several tables that satisfy all rules together.
    Decompose,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 7] = [
        Method::FullDomain,
        Method::Mondrian,
        Method::BestCut,
        Method::Cluster,
        Method::Anatomy,
        Method::Clone,
        Method::Decompose,
    ];

    /// Whether each class has cells of its own.
    pub fn is_local(self) -> bool {
        matches!(self, Method::Mondrian | Method::BestCut | Method::Cluster)
    }

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Method::FullDomain => "full-domain",
            Method::Mondrian => "mondrian",
            Method::BestCut => "best-cut",
            Method::Cluster => "cluster",
            Method::Anatomy => "anatomy",
            Method::Clone => "clone",
            Method::Decompose => "decompose",
        }
    }
}

/// Which rows share a class or a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// Rows that are alike: clone halves along the widest axis, anatomy cuts a line on which
    /// neighbors are alike.
    #[default]
    Order,
    /// Clone, as in its paper: the closest of those looked at, class after class.
    Scan,
    /// Anatomy, as in its paper: whichever the deal puts together.
    Random,
}

/// How a decomposition chooses its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    #[default]
    /// The one of all that loses the least.
    Best,
    /// Guardian decomposition.
    Gd,
    /// Utility-aware decomposition.
    Uad,
    /// One table with several sensitive attributes.
    MultiSensitive,
    /// A table for each attribute.
    SingleAttribute,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 5] =
        [Algorithm::Best, Algorithm::Gd, Algorithm::Uad, Algorithm::MultiSensitive, Algorithm::SingleAttribute];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Best => "best",
            Algorithm::Gd => "gd",
            Algorithm::Uad => "uad",
            Algorithm::MultiSensitive => "multi-sensitive",
            Algorithm::SingleAttribute => "single-attribute",
        }
    }
}

/// How a decomposition hides the protected attribute of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anonymizer {
    #[default]
    /// Buckets, with values as they are.
    Anatomy,
    /// Classes, with generalized values.
    Mondrian,
}

impl Anonymizer {
    /// All of them.
    pub const ALL: [Anonymizer; 2] = [Anonymizer::Anatomy, Anonymizer::Mondrian];

    /// The name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Anonymizer::Anatomy => "anatomy",
            Anonymizer::Mondrian => "mondrian",
        }
    }
}

/// How the cells of a class are released where each class has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summary {
    /// By the cuts around it.
    #[default]
    Region,
    /// By the extremes of the rows inside.
    Tight,
}

/// How a class tells which categories it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassLabels {
    /// By the values that occur.
    #[default]
    Set,
    /// By the lowest node of the hierarchy over them, where there is one.
    Hierarchy,
}

/// How much the cells of one attribute count in what a method minimizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    pub attribute: String,
    /// Above 0 and at most [`WEIGHT_MAX`].
    pub weight: Ratio,
    pub place: String,
}

/// Beyond this the other attributes would not be seen.
pub const WEIGHT_MAX: u64 = 1_000_000;

/// The loss that a search minimizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Loss {
    /// The share of each attribute that its cells hide.
    #[default]
    Ncp,
    /// The share of its hierarchy that each cell was raised by.
    Precision,
    /// The rows that look like each row, summed.
    Discernibility,
    /// The mean size of the classes, in multiples of k.
    AverageClass,
    /// The share of the values that each cell covers.
    Granularity,
    /// The share of the information in each attribute that its cells lost.
    Entropy,
    /// The same in bits over all cells.
    EntropyBits,
}

impl Loss {
    /// All of them, in the order in which they are printed.
    pub const ALL: [Loss; 7] = [
        Loss::Ncp,
        Loss::Precision,
        Loss::Discernibility,
        Loss::AverageClass,
        Loss::Granularity,
        Loss::Entropy,
        Loss::EntropyBits,
    ];

    /// Whether it looks at the cells of single attributes, so that these can be weighted.
    pub fn is_of_cells(self) -> bool {
        !matches!(self, Loss::Discernibility | Loss::AverageClass)
    }

    /// The name in a policy, a manifest and a report.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Ncp => "ncp",
            Loss::Precision => "precision",
            Loss::Discernibility => "discernibility",
            Loss::AverageClass => "average-class",
            Loss::Granularity => "granularity",
            Loss::Entropy => "entropy",
            Loss::EntropyBits => "entropy-bits",
        }
    }

    /// The measure with a name.
    pub fn from_name(name: &str) -> Option<Loss> {
        Loss::ALL.into_iter().find(|loss| loss.name() == name)
    }
}

impl PublishSettings {
    /// The weight of an attribute's cells.
    pub fn weight(&self, attribute: &str) -> f64 {
        let weight = self.weights.iter().find(|weight| weight.attribute == attribute);
        weight.map_or(1.0, |weight| weight.weight.as_f64())
    }

    pub(crate) fn by_default(place: String) -> PublishSettings {
        PublishSettings {
            method: Method::default(),
            suppression: Ratio::ZERO,
            dependency_tolerance: Ratio { numerator: 1, denominator: 100 },
            loss: Loss::default(),
            weights: Vec::new(),
            strict: true,
            summarise: Summary::default(),
            labels: ClassLabels::default(),
            improve: false,
            cluster_loss: None,
            link: false,
            assignment: Assignment::default(),
            cloning: Cloning::default(),
            algorithm: Algorithm::default(),
            anonymizer: Anonymizer::default(),
            max_nodes: None,
            max_seconds: None,
            place,
        }
    }
}

/// A wrong value is refused and keeps its default.
pub(crate) fn read(reader: &mut Reader<'_>, node: &TomlNode) -> Option<PublishSettings> {
    let fields = reader.table(node, PUBLISH, "[publish]")?;
    let mut publish = PublishSettings::by_default(reader.place(&node.at));
    if let Some(field) = fields.get("method") {
        let name = reader.choice(field, METHODS.iter(), "method");
        let method = Method::ALL.into_iter().find(|method| Some(method.name()) == name);
        publish.method = method.unwrap_or_default();
    }
    if let Some(share) = fields.get("suppression").and_then(|field| reader.ratio(field, SHARE)) {
        publish.suppression = share;
    }
    if let Some(share) = fields.get("dependency-tolerance").and_then(|field| reader.ratio(field, SHARE)) {
        publish.dependency_tolerance = share;
    }
    if let Some(field) = fields.get("loss") {
        publish.loss = reader.choice(field, LOSSES.iter(), "loss").and_then(Loss::from_name).unwrap_or_default();
    }
    publish.max_nodes = fields.get("max-nodes").and_then(|field| reader.whole(field, 1, u64::MAX));
    if let Some(field) = fields.get("max-seconds") {
        let seconds = reader.ratio(field, ABOVE_ZERO).map(Ratio::as_f64);
        if seconds.is_some_and(|seconds| seconds > SECONDS_MAX as f64) {
            reader.refuse(&field.node.at, format!("must be at most {SECONDS_MAX} seconds"), field.hint());
        }
        publish.max_seconds = seconds;
    }
    publish.link = fields.get("link").and_then(|field| reader.flag(field)).unwrap_or(false);
    read_local(reader, &fields, &mut publish);
    read_assignment(reader, &fields, &mut publish);
    cloning::read(reader, &fields, &mut publish);
    read_decompose(reader, &fields, &mut publish);
    read_weights(reader, &fields, &mut publish);
    Some(publish)
}

/// Their names are checked once the attributes are read: [`validate_weights`].
fn read_weights(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    let Some(field) = fields.get("weights") else { return };
    match publish.method {
        Method::Anatomy | Method::Clone => {
            let reason = "it releases quasi-identifiers without generalizing them";
            return refuse_for(reader, field, publish.method, reason);
        }
        Method::Decompose if publish.anonymizer != Anonymizer::Mondrian => {
            let reason = "its buckets generalize no cell; `anonymizer = \"mondrian\"` does";
            return refuse_for(reader, field, publish.method, reason);
        }
        _ => {}
    }
    if publish.method == Method::FullDomain && !publish.loss.is_of_cells() {
        let problem = format!("has no meaning for the loss {}: it counts classes, not cells", publish.loss.name());
        return reader.refuse_key(&field.node.at, problem, "omit it, or choose `loss = \"ncp\"`");
    }
    for (attribute, entry) in reader.entries(field) {
        let Some(weight) = reader.ratio(entry, ABOVE_ZERO) else { continue };
        if weight.as_f64() > WEIGHT_MAX as f64 {
            reader.refuse(&entry.node.at, format!("must be at most {WEIGHT_MAX}"), field.hint());
            continue;
        }
        let place = reader.place(&entry.node.at);
        publish.weights.push(Weight { attribute: attribute.to_owned(), weight, place });
    }
}

/// Only the cells of quasi-identifiers are generalized. A decomposition generalizes what a table
/// holds beside its sensitive attribute, whatever its role.
pub(crate) fn validate_weights(reader: &mut Reader<'_>, publish: &PublishSettings, drafts: &[AttributeDraft]) {
    let decomposed = publish.method == Method::Decompose;
    let is_generalized = |draft: &&AttributeDraft| {
        draft.role.is_some_and(|role| role == Role::Quasi || decomposed && role.is_released())
    };
    let quasi = || drafts.iter().filter(is_generalized).map(|draft| draft.name.as_str());
    for weight in &publish.weights {
        if quasi().all(|name| name != weight.attribute) {
            let problem = format!("`{}` is not a quasi-identifier: its cells are not generalized", weight.attribute);
            let hint = match hedgerow_table::spelling::nearest(&weight.attribute, quasi()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the quasi-identifiers are: {}", quasi().collect::<Vec<_>>().join(", ")),
            };
            reader.refuse_place(&weight.place, problem, hint);
        }
    }
}

fn read_assignment(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    let Some(field) = fields.get("assignment") else { return };
    let words = match publish.method {
        Method::Clone => CLONE_ASSIGNMENTS,
        Method::Anatomy => ANATOMY_ASSIGNMENTS,
        method => {
            return refuse_for(reader, field, method, "it is for `method = \"clone\"` and `method = \"anatomy\"`");
        }
    };
    publish.assignment = match reader.choice(field, words.iter(), "assignment") {
        Some("scan") => Assignment::Scan,
        Some("random") => Assignment::Random,
        _ => Assignment::Order,
    };
}

/// The keys that only a decomposition understands.
fn read_decompose(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    if let Some(field) = fields.get("algorithm") {
        let name = reader.choice(field, ALGORITHMS.iter(), "algorithm");
        let algorithm = Algorithm::ALL.into_iter().find(|algorithm| Some(algorithm.name()) == name);
        publish.algorithm = algorithm.unwrap_or_default();
    }
    if let Some(field) = fields.get("anonymizer") {
        let name = reader.choice(field, ANONYMIZERS.iter(), "anonymizer");
        let anonymizer = Anonymizer::ALL.into_iter().find(|anonymizer| Some(anonymizer.name()) == name);
        publish.anonymizer = anonymizer.unwrap_or_default();
        if publish.anonymizer == Anonymizer::Mondrian && publish.algorithm == Algorithm::MultiSensitive {
            let hint = "omit `anonymizer`, or choose another `algorithm`";
            reader.refuse_key(&field.node.at, "one table with several sensitive attributes has buckets", hint);
        }
    }
    for key in ["algorithm", "anonymizer"].into_iter().filter(|_| publish.method != Method::Decompose) {
        if let Some(field) = fields.get(key) {
            refuse_for(reader, field, publish.method, "it is for `method = \"decompose\"`");
        }
    }
}

/// The keys that only local recoding understands, and those that it does not.
fn read_local(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    let method = publish.method;
    let is_local = method.is_local();
    read_neighbors(reader, fields, publish);
    if let Some(field) = fields.get("strict") {
        publish.strict = reader.flag(field).unwrap_or(true);
        if method != Method::Mondrian {
            refuse_for(reader, field, method, "it is for `method = \"mondrian\"`");
        }
    }
    if let Some(field) = fields.get("summarise") {
        let tight = reader.choice(field, SUMMARIES.iter(), "summary") == Some("tight");
        if !is_local {
            refuse_for(reader, field, method, "it is for local recoding: `mondrian`, `best-cut` and `cluster`");
        } else if tight {
            publish.summarise = Summary::Tight;
            let problem =
                "the lowest and the highest value of every class are released, and they are values of individuals";
            reader.warn(
                &field.node.at,
                problem,
                "omit it, or write \"region\", to release the region between the cuts",
            );
        }
    }
    let releases_every_row = is_local || method == Method::Anatomy;
    let searches = method == Method::Cluster || publish.improve;
    let keys =
        ["suppression", "max-nodes"].into_iter().chain(["loss", "max-seconds"].into_iter().filter(|_| !searches));
    for key in keys.filter(|_| releases_every_row) {
        if let Some(field) = fields.get(key) {
            let problem =
                format!("has no meaning for the method {}: every row is released, nothing is searched", method.name());
            reader.warn(&field.node.at, problem, "omit it");
        }
    }
}

/// The keys that only the search for neighbors understands.
fn read_neighbors(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    let method = publish.method;
    if let Some(field) = fields.get("labels") {
        if reader.choice(field, LABELS.iter(), "kind of labels") == Some("hierarchy") {
            publish.labels = ClassLabels::Hierarchy;
        }
        if method != Method::Cluster {
            refuse_for(reader, field, method, "it is for `method = \"cluster\"`; cuts follow the hierarchies");
        }
    }
    if let Some(field) = fields.get("improve") {
        publish.improve = reader.flag(field).unwrap_or(false);
        if !method.is_local() {
            refuse_for(reader, field, method, "it is for local recoding: `cluster`, `best-cut` and `mondrian`");
        }
    }
    let Some(field) = fields.get("loss").filter(|_| method == Method::Cluster || publish.improve) else { return };
    if matches!(publish.loss, Loss::Ncp | Loss::Granularity | Loss::Entropy) {
        publish.cluster_loss = Some(publish.loss);
    } else {
        let problem = format!("cluster and `improve` cannot minimize {}", publish.loss.name());
        reader.refuse(&field.node.at, problem, "choose \"granularity\", \"entropy\" or \"ncp\", or omit it");
    }
}

pub(crate) fn refuse_for(reader: &mut Reader<'_>, field: Field<'_>, method: Method, hint: &str) {
    reader.refuse_key(
        &field.node.at,
        format!("has no meaning for the method {}", method.name()),
        format!("omit it; {hint}"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_methods_are_those_of_the_table_of_words() {
        assert!(LOSSES.iter().map(|word| word.name).eq(Loss::ALL.map(Loss::name)));
        let available = METHODS.iter().filter(|word| word.available).map(|word| word.name);
        assert!(available.eq(Method::ALL.map(Method::name)));
        let available = ALGORITHMS.iter().filter(|word| word.available).map(|word| word.name);
        assert!(available.eq(Algorithm::ALL.map(Algorithm::name)));
        assert!(ANONYMIZERS.iter().map(|word| word.name).eq(Anonymizer::ALL.map(Anonymizer::name)));
    }
}
