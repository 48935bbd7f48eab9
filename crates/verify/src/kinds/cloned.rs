//! A cloned release, judged class by class: every tuple of a sub-class goes with all sensitive
//! values of its class, since the statistics say nothing about which is whose (Baig et al. 2011,
//! section 6).
//!
//! An adversary who recognizes an individual in one sub-class, or in several, holds one class's
//! distribution or a mixture of several; what survives merging survives such mixtures (the argument
//! is given for bucketized releases). How many people look alike is judged by the sub-classes,
//! whose tuples the statistics do not distinguish; counterfeits are announced, and are not people.

use hedgerow_release::Release;
use hedgerow_release::cloned::{Cloned, SubClass};
use hedgerow_release::manifest::{ClassSizes, RowTotals};
use hedgerow_table::TableError;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Judged;
use crate::check::{Checked, NamedRule, squares};
use crate::clone_promise::{ClonePromise, rounded_up};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::{Class, Distribution, Guarantee, Model, OnMerge, models};

/// Why clones cannot keep a guarantee, whatever they hold, in words that follow its name; `None`
/// when they can.
pub fn refused_in_clones(guarantee: &dyn Guarantee) -> Option<&'static str> {
    match guarantee.model() {
        Model::AlphaKAnonymity { k: 2.., .. } => {
            Some("requires k rows and a share at once, and these are published separately")
        }
        Model::Conditional { .. } => Some("is about some classes alone, and clones are alike by design"),
        _ if guarantee.on_merge() == OnMerge::Neither => {
            Some("can break where an individual may be in several classes, though it holds in each of them")
        }
        _ => None,
    }
}

/// The manifest's statements about a cloned release. Every number follows from the released tables
/// and the counts of rows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct PublicPromise {
    #[serde(flatten)]
    promise: ClonePromise,
    epsilon: f64,
    k: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<u64>,
    counterfeits: u64,
    sub_classes: u64,
    meaning: &'static str,
}

/// The object `cloning` of a manifest. The true ε and β would let a reader solve for counts of the
/// source, so it states bounds instead, which every reader can compute.
///
/// Of n source rows s were suppressed, and f counterfeits were added. A class holds value j with
/// share pⱼ, the table's share of it among all c = n − s + f released tuples. At least pⱼ·c − fⱼ
/// source rows have the value, where the fⱼ sum to f, so the overlap Σ min(pⱼ, nⱼ/n) is at least
/// min(1, c/n) − f/n = 1 − max(s, f)/n. β is at most one over that; and no share differs by more
/// than the overlap misses of 1, so ε ≤ max(s, f)/n.
pub(crate) fn cloning(tables: &Cloned, rows: RowTotals) -> Map<String, Value> {
    let counterfeits = tables.sub_classes().map(|part| part.counterfeits).sum::<u64>();
    let epsilon = rows.suppressed.max(counterfeits) as f64 / rows.source.max(1) as f64;
    let counts = tables.counts();
    let tuples = counts.iter().sum::<u64>().max(1);
    let most_frequent = counts.iter().copied().max().unwrap_or(0) as f64 / tuples as f64;
    let numbers = tables.sub_classes().flat_map(|part| part.attributes.iter().filter_map(|attribute| attribute.number));
    let public = PublicPromise {
        promise: ClonePromise::at_most(1.0 - epsilon, most_frequent, &tables.sensitive),
        epsilon: rounded_up(epsilon),
        k: tables.sub_classes().map(|part| part.tuples).min().unwrap_or(0),
        lambda: numbers.map(|number| number.covered).min(),
        counterfeits,
        sub_classes: tables.sub_classes().count() as u64,
        meaning: MEANING,
    };
    match serde_json::to_value(public) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

const MEANING: &str = "every tuple of a sub-class goes with all sensitive values of its class; statistics.csv lists for every \
     sub-class its tuples, counterfeits among them, how many have each value of a category, and of numbers and dates the mean \
     and a range around it with how many lie within; counterfeits have no quasi values; epsilon bounds how far a value's share in \
     a class is from its share in the source; an adversary who finds somebody in another release as well, of which one over \
     the overlap with this one's distribution is beta, gains at most theta in confidence; epsilon, beta and theta are upper \
     bounds that follow from the counts of rows and counterfeits";

impl Judged for Cloned {
    fn judge(&self, release: &Release, rules: &[NamedRule]) -> Result<Checked, TableError> {
        let (tables, place) = (self, release.name());
        let counted = || tables.classes.iter().filter(|class| !class.values.is_empty());
        let classes = || counted().map(|class| Class { rows: class.tuples(), values: &class.values });
        let sub_classes = || tables.sub_classes().map(|part| Class { rows: part.people(), values: &[] });
        let mut claims = Vec::new();
        for rule in rules {
            if let Some(name) = rule.protect.as_ref().filter(|name| **name != tables.sensitive) {
                let problem = format!("a rule protects `{name}`, and the classes hide `{}` alone", tables.sensitive);
                return Err(TableError::input(place, problem, "only the attribute in sensitive.csv is protected"));
            }
            let table = Distribution::new(tables.counts(), rule.tree.as_ref());
            for model in &rule.require {
                let name = rule.protect.as_deref().unwrap_or_default();
                let guarantee = models::guarantee(model, &rule.context(Some(&tables.domain)))
                    .map_err(|unfit| unfit.refusal(name, model.name(), place))?;
                if let Some(why) = refused_in_clones(guarantee.as_ref()) {
                    let problem = format!("a cloned release cannot promise {}: it {why}", model.name());
                    return Err(TableError::input(place, problem, "do not trust this release in that point"));
                }
                let achieved = match model {
                    Model::KAnonymity { .. } => achieved_over(guarantee.as_ref(), None, &table, sub_classes()),
                    _ => achieved_over(guarantee.as_ref(), None, &table, classes()),
                };
                let mut claim = rule.claim(model, &achieved);
                if !matches!(model, Model::KAnonymity { .. }) {
                    // (α,1)-anonymity would state the size of classes as if people were hidden
                    // among that many.
                    claim.achieved.shift_remove("k");
                }
                claims.push(claim);
            }
        }
        let classes = ClassSizes::of(classes().map(|class| class.rows));
        let squares = squares(tables.sub_classes().map(SubClass::people));
        Ok(Checked { claims, classes, squares, rows: tables.people(), units: None })
    }
}
