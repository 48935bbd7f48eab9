//! The keys of `[publish]` that `method = "clone"` understands, and what the method guarantees
//! without a rule.

use hedgerow_config::number::{SHARE, SHARE_ABOVE_ZERO};
use hedgerow_config::{Fields, Reader};
use hedgerow_privacy::{KnownRows, Model};
use hedgerow_table::Ratio;

use crate::Role;
use crate::attribute::AttributeDraft;
use crate::publish::{Assignment, Method, PublishSettings, refuse_for};
use crate::rule::Rule;
use crate::words::RARE;

/// How a table is cloned.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloning {
    /// The fewest tuples of a sub-class, counterfeits among them. Where the policy is silent, the k
    /// of the k-anonymity that its rules require, or [`Cloning::K`]; so it is there once the policy
    /// is read.
    pub k: Option<u64>,
    /// How many values an indicative range covers; half of k when absent.
    pub lambda: Option<u64>,
    /// How far a value's share in a class may be from its share in the source.
    pub max_epsilon: Option<Ratio>,
    /// The share of the source's tuples that may be suppressed or counterfeit so that all classes
    /// are alike.
    pub max_distorted: Option<Ratio>,
    /// For `scan`: the share of the table's tuples that every class looks at.
    pub rho: Ratio,
    pub rare: RareValues,
    /// The share of rows that may be suppressed with rare values.
    pub rare_rows: Ratio,
    /// The share of rows that may be suppressed in all, where the policy says so: with rare values,
    /// and so that all classes are alike.
    pub suppressed_most: Option<Ratio>,
}

impl Cloning {
    /// The fewest tuples of a sub-class by default.
    pub const K: u64 = 5;
    /// The keys, in the order of the words.
    pub(crate) const KEYS: [&'static str; 6] = ["k", "lambda", "max-epsilon", "max-distorted", "rho", "rare"];
}

impl Default for Cloning {
    fn default() -> Self {
        Cloning {
            k: None,
            lambda: None,
            max_epsilon: None,
            max_distorted: None,
            rho: Ratio { numerator: 1, denominator: 5 },
            rare: RareValues::default(),
            rare_rows: Ratio { numerator: 1, denominator: 100 },
            suppressed_most: None,
        }
    }
}

/// The treatment of values so rare that they limit the number of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RareValues {
    #[default]
    /// They are released, in fewer and larger classes.
    Keep,
    /// Their rows are suppressed.
    Suppress,
}

/// Reads the keys, and refuses them for other methods.
pub(crate) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>, publish: &mut PublishSettings) {
    if publish.method != Method::Clone {
        for field in Cloning::KEYS.into_iter().filter_map(|key| fields.get(key)) {
            refuse_for(reader, field, publish.method, "it is for `method = \"clone\"`");
        }
        return;
    }
    let cloning = &mut publish.cloning;
    cloning.k = fields.get("k").and_then(|field| reader.whole(field, 1, u64::from(u32::MAX)));
    if let Some(field) = fields.get("lambda") {
        cloning.lambda = reader.whole(field, 1, u64::from(u32::MAX));
        if let (Some(lambda), Some(k)) = (cloning.lambda, cloning.k)
            && lambda > k
        {
            let problem = format!("a range cannot cover {lambda} values of sub-classes that may have {k}");
            reader.refuse(&field.node.at, problem, "give a `lambda` of at most k; about half of it says most");
        }
    }
    cloning.max_epsilon = fields.get("max-epsilon").and_then(|field| reader.ratio(field, SHARE));
    cloning.max_distorted = fields.get("max-distorted").and_then(|field| reader.ratio(field, SHARE));
    if let Some(field) = fields.get("rho") {
        cloning.rho = reader.ratio(field, SHARE_ABOVE_ZERO).unwrap_or(cloning.rho);
        if publish.assignment != Assignment::Scan {
            let problem = "has no meaning unless `assignment = \"scan\"`: nothing is scanned";
            reader.warn(&field.node.at, problem, "omit it");
        }
    }
    if let Some(field) = fields.get("rare")
        && reader.choice(field, RARE.iter(), "choice") == Some("suppress")
    {
        cloning.rare = RareValues::Suppress;
    }
    if fields.get("suppression").is_some() {
        cloning.rare_rows = publish.suppression;
        cloning.suppressed_most = Some(publish.suppression);
    }
    for key in ["loss", "max-nodes", "max-seconds"] {
        if let Some(field) = fields.get(key) {
            let problem = "has no meaning for the method clone: no lattice is searched";
            reader.warn(&field.node.at, problem, "omit it");
        }
    }
}

/// Settles k, and adds what cloning guarantees without a rule: every class an ε-clone. A policy
/// with two sensitive attributes or none gets nothing here, and is refused where the reason can be
/// given.
pub(crate) fn imply(rules: &mut Vec<Rule>, drafts: &[AttributeDraft], publish: &mut PublishSettings) {
    let required = || rules.iter().flat_map(|rule| &rule.require);
    let k_required =
        required().map(|model| if let Model::KAnonymity { k } = model { *k } else { 0 }).max().unwrap_or(0);
    let clones_required = required().any(|model| matches!(model, Model::EpsilonClone { .. }));
    publish.cloning.k =
        publish.cloning.k.or(Some(k_required).filter(|&k| k > 0)).unwrap_or(Cloning::K).max(k_required).into();
    let named = |role: Role| {
        let named = drafts.iter().filter(|draft| draft.role == Some(role)).map(|draft| draft.name.clone());
        named.collect::<Vec<String>>()
    };
    let (know, sensitive) = (named(Role::Quasi), named(Role::Sensitive));
    let ([protect], false) = (sensitive.as_slice(), know.is_empty()) else { return };
    let epsilon = match publish.cloning.max_epsilon {
        None if clones_required => return,
        limit => limit.unwrap_or(Ratio::integer(1)),
    };
    let (protect, place) = (Some(protect.clone()), publish.place.clone());
    let require = vec![Model::EpsilonClone { epsilon }];
    let (rows, require_places) = (KnownRows::default(), vec![place.clone()]);
    let (consistent, only_where) = (false, Default::default());
    let also_protect = Vec::new();
    rules.push(Rule { know, protect, also_protect, require, require_places, rows, consistent, only_where, place });
}
