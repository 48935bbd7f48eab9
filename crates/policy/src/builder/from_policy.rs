//! From a policy back to what builds it. What a default gives is omitted, so that a policy that
//! was built and read again is built from the same values.

use hedgerow_table::{Kind, Ratio, Way};

use super::attribute::CoarseningWay;
use super::{Attribute, Coarsening, DataSource, Dependency, Hierarchy, Model, PolicyBuilder, Publication, Rule};
use crate::{Algorithm, Anonymizer, Assignment, ClassLabels, Cloning, Loss, Method, Policy, RareValues, Role, Summary};

/// The builder that makes this policy again. Paths are those that the policy resolved; a password
/// in the address of a database is not carried over.
impl From<&Policy> for PolicyBuilder {
    fn from(policy: &Policy) -> PolicyBuilder {
        let attributes = policy.attributes.iter();
        let dependency = |dependency: &crate::Dependency| Dependency {
            from: dependency.from.clone(),
            to: dependency.to.clone(),
            accept: dependency.accept.clone(),
        };
        let spelling = |mapping: &crate::ValueMapping| {
            let pairs = mapping.pairs.iter().map(|pair| (pair.theirs.clone(), pair.ours.clone()));
            (mapping.attribute.clone(), pairs.collect())
        };
        PolicyBuilder {
            source: (!policy.source.is_absent()).then(|| source(&policy.source)),
            attributes: attributes.map(|known| (known.name.clone(), attribute(known))).collect(),
            rules: own_rules(policy).map(|known| rule(policy, known)).collect(),
            dependencies: policy.dependencies.iter().map(dependency).collect(),
            publication: publication(policy),
            releases: policy.community.releases.clone(),
            spellings: policy.community.values.iter().map(spelling).collect(),
        }
    }
}

fn source(source: &crate::SourceSettings) -> DataSource {
    use hedgerow_config::Selection;
    let cluster = source.cluster.as_ref();
    let selection = match (&source.database, cluster) {
        (Some(database), _) => database.selection.as_ref(),
        (None, cluster) => cluster.and_then(|cluster| cluster.selection.as_ref()),
    };
    let is_file = source.database.is_none() && cluster.is_none_or(|cluster| cluster.selection.is_none());
    DataSource {
        path: is_file.then(|| source.path.to_string_lossy().into_owned()),
        url: source.database.as_ref().map(|database| database.address.to_string()),
        engine: cluster.map(|cluster| cluster.address.to_string()),
        table: selection.and_then(|selected| match selected {
            Selection::Table(table) => Some(table.clone()),
            Selection::Query(_) => None,
        }),
        query: selection.and_then(|selected| match selected {
            Selection::Query(query) => Some(query.clone()),
            Selection::Table(_) => None,
        }),
        format: source.format,
        delimiter: source.delimiter.map(char::from),
        quote: source.quote.map(char::from),
        nulls: (source.nulls != [""]).then(|| source.nulls.clone()),
        decimal: Some(source.decimal).filter(|&mark| mark != '.'),
        thousands: source.thousands,
        date_format: source.date_format.as_ref().map(ToString::to_string),
    }
}

fn attribute(known: &crate::Attribute) -> Attribute {
    let declared = &known.declared;
    // A format of dates and an order of texts declare the type.
    let implied = match (&declared.date_format, &declared.order) {
        (Some(_), _) => Some(Kind::Date),
        (None, Some(_)) => Some(Kind::Category),
        (None, None) => None,
    };
    // A level of a hierarchy takes the hierarchy with it.
    let leveled = match known.coarsen.as_ref().map(|coarsening| &coarsening.way) {
        Some(Way::Level(spec, _)) => Some(spec),
        _ => None,
    };
    Attribute {
        role: known.role,
        kind: known.kind.filter(|&kind| Some(kind) != implied),
        hierarchy: leveled.or(known.hierarchy.as_ref().map(|(spec, _)| spec)).cloned().map(Hierarchy),
        range: declared.range.as_ref().map(|range| [range.low, range.high]),
        order: declared.order.as_ref().map(|order| order.values.clone()),
        date_format: declared.date_format.as_ref().map(ToString::to_string),
        allow_unique: declared.allow_unique,
        coarsen: known.coarsen.as_ref().map(coarsening),
    }
}

fn coarsening(known: &hedgerow_table::Coarsening) -> Coarsening {
    let way = match &known.way {
        Way::Clip => None,
        Way::Round(multiple) => Some(CoarseningWay::Round(multiple.as_f64())),
        Way::Significant(digits) => Some(CoarseningWay::Significant(*digits)),
        Way::Dates(unit) => Some(CoarseningWay::Dates(*unit)),
        Way::Level(_, level) => Some(CoarseningWay::Level(*level)),
    };
    Coarsening { way, bottom: known.bottom, top: known.top }
}

/// The rules that the policy states. Cloning adds one, whose place is that of `[publish]`.
fn own_rules(policy: &Policy) -> impl Iterator<Item = &crate::Rule> {
    policy.rules.iter().filter(move |rule| policy.publish.method != Method::Clone || rule.place != policy.publish.place)
}

fn rule(policy: &Policy, rule: &crate::Rule) -> Rule {
    let quasi = policy.attributes.iter().filter(|attribute| attribute.role == Role::Quasi);
    let unprotected =
        quasi.map(|attribute| &attribute.name).filter(|name| rule.protected().all(|known| known != *name));
    let know = (!unprotected.eq(&rule.know)).then(|| rule.know.clone());
    Rule {
        know,
        protect: rule.protected().cloned().collect(),
        require: rule.require.iter().map(Model::from).collect(),
        rows: rule.rows,
        consistent: rule.consistent,
        only_where: rule.only_where.clone(),
    }
}

fn publication(policy: &Policy) -> Publication {
    let publish = &policy.publish;
    let clones = publish.method == Method::Clone;
    let cloning = &publish.cloning;
    let defaults = Cloning::default();
    let suppressed = publish.suppression.numerator > 0 || clones && cloning.suppressed_most.is_some();
    let real = |value: Option<Ratio>| value.map(Ratio::as_f64);
    Publication {
        method: publish.method,
        suppression: suppressed.then(|| publish.suppression.as_f64()),
        loss: publish.cluster_loss.or(Some(publish.loss).filter(|&loss| loss != Loss::default())),
        weights: publish.weights.iter().map(|weight| (weight.attribute.clone(), weight.weight.as_f64())).collect(),
        max_nodes: publish.max_nodes,
        max_seconds: publish.max_seconds,
        strict: Some(publish.strict).filter(|&strict| !strict),
        summarise: Some(publish.summarise).filter(|&summary| summary != Summary::default()),
        labels: Some(publish.labels).filter(|&labels| labels != ClassLabels::default()),
        improve: publish.improve,
        k: cloning.k.filter(|&k| clones && k != implied_k(policy)),
        lambda: cloning.lambda,
        max_epsilon: real(cloning.max_epsilon),
        max_distorted: real(cloning.max_distorted),
        assignment: Some(publish.assignment).filter(|&assignment| assignment != Assignment::default()),
        rho: Some(cloning.rho).filter(|&rho| rho != defaults.rho).map(Ratio::as_f64),
        rare: Some(cloning.rare).filter(|&rare| rare != RareValues::default()),
        algorithm: Some(publish.algorithm).filter(|&algorithm| algorithm != Algorithm::default()),
        anonymizer: Some(publish.anonymizer).filter(|&anonymizer| anonymizer != Anonymizer::default()),
        link: publish.link,
        dependency_tolerance: Some(publish.dependency_tolerance)
            .filter(|&share| share != Ratio { numerator: 1, denominator: 100 })
            .map(Ratio::as_f64),
    }
}

/// The k of cloning where the policy does not state it.
fn implied_k(policy: &Policy) -> u64 {
    let models = own_rules(policy).flat_map(|rule| &rule.require);
    let required = models.filter_map(|model| match model {
        hedgerow_privacy::Model::KAnonymity { k } => Some(*k),
        _ => None,
    });
    required.max().unwrap_or(Cloning::K)
}
