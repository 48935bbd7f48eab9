//! Which buckets are allowed, which policies buckets can keep at all, and which tables are
//! eligible.

use hedgerow_draft::bind::Bound;
use hedgerow_draft::broken::pairs;
use hedgerow_draft::error::{Ineligible, PublishError};
use hedgerow_policy::{Policy, Role};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::proximity::Proximity;
use hedgerow_privacy::{Class, Context, Distribution, Guarantee, Model, models};
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_table::{Column, Domain, InputError};
use hedgerow_verify::check::claim;
use hedgerow_verify::kinds::refused_in_buckets;

/// Every guarantee that the policy requires, over the codes of the sensitive attribute.
#[derive(Debug)]
pub struct BucketGuarantees {
    guarantees: Vec<Box<dyn Guarantee>>,
    /// All rows are released, so the source's distribution is the release's as well.
    table: Distribution,
    /// No allowed bucket has fewer rows.
    pub least: usize,
}

impl BucketGuarantees {
    pub fn new(guarantees: Vec<Box<dyn Guarantee>>, table: Distribution) -> BucketGuarantees {
        let least = guarantees.iter().map(|guarantee| guarantee.core().rows.max(guarantee.core().distinct)).max();
        BucketGuarantees { guarantees, table, least: least.unwrap_or(1).max(1) as usize }
    }

    /// Which values fall into one window, where a guarantee limits the rows in any window of close
    /// values.
    pub fn windows(&self) -> Option<&Proximity> {
        self.guarantees.iter().find_map(|guarantee| guarantee.windows())
    }

    /// Whether a bucket with these values, ascending by code, keeps every guarantee.
    pub fn holds(&self, values: &[(u32, u32)]) -> bool {
        let class = class(values);
        self.guarantees.iter().all(|guarantee| guarantee.holds(class, &self.table))
    }
}

fn class(values: &[(u32, u32)]) -> Class<'_> {
    Class { rows: values.iter().map(|&(_, count)| u64::from(count)).sum(), values }
}

/// Refuses what no table could make possible, before any is read.
pub fn refuse(policy: &Policy) -> Result<(), InputError> {
    let sensitive: Vec<_> = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive).collect();
    let [protected] = sensitive.as_slice() else {
        let problem = format!("anatomy publishes one sensitive attribute, and the policy has {}", sensitive.len());
        let hint = match sensitive.first() {
            None => "give the attribute that must not be learned the role `sensitive`",
            Some(_) => {
                "leave one `sensitive` and make the others `identifier`, which are not released; buckets say nothing of how several go together"
            }
        };
        return Err(InputError::new(policy.publish.place.clone(), problem, hint));
    };
    for attribute in &policy.attributes {
        let clashes = attribute.name == GROUP || (attribute.role == Role::Sensitive && attribute.name == COUNT);
        if clashes && attribute.role.is_released() {
            let problem = format!("anatomy adds a column `{}` of its own", attribute.name);
            return Err(InputError::new(attribute.place.clone(), problem, "rename the attribute in the source"));
        }
    }
    for rule in &policy.rules {
        for (model, place) in rule.require.iter().zip(&rule.require_places) {
            // Whatever the values are, how it behaves when buckets merge is the same.
            let guarantee = models::guarantee(model, &Context::default()).ok();
            if let Some(why) = guarantee.and_then(|guarantee| refused_in_buckets(guarantee.as_ref())) {
                let problem = format!("anatomy cannot keep {}: it {why}", model.name_with_conditions());
                let hint =
                    "require `frequency-l-diversity` instead, or use method = \"full-domain\", which generalizes";
                return Err(InputError::new(place.clone(), problem, hint));
            }
        }
        if let Some(name) = rule.protect.as_ref().filter(|name| **name != protected.name) {
            let problem = format!("anatomy protects `{}` alone, and the rule protects `{name}`", protected.name);
            let hint = format!("protect `{}`, or give `{name}` the role `sensitive` in its place", protected.name);
            return Err(InputError::new(rule.place.clone(), problem, hint));
        }
    }
    Ok(())
}

/// The interval that stands in the way of (δ,l)-diversity by window.
fn densest_window(
    reach: &Proximity,
    values: &[(u32, u32)],
    model: &Model,
    domain: &Domain,
    rows: u64,
) -> Option<String> {
    let (Model::DeltaLDiversity { delta, l, .. }, Some(window)) = (model, reach.fullest_window(values)) else {
        return None;
    };
    let who = if Some(window.first) == domain.missing_code() {
        "the missing values".to_owned()
    } else {
        let (low, high) = (domain.text(window.first), domain.text(window.last));
        format!("the values from {low} to {high}, which lie within {},", 2.0 * delta.as_f64())
    };
    Some(format!("{who} are {} of {rows} rows, and at most {} may be", window.rows, l.times_in(rows)))
}

/// The table as one bucket. Every guarantee that buckets can keep survives merging: if it fails
/// there, it fails however the rows are put into buckets; and if it holds, that bucket is a
/// release. For l-diversity by frequency this is Anatomy's condition that no value is in more than
/// n/l rows.
pub(crate) fn eligible(bound: &Bound<'_>, sensitive: &Column) -> Result<BucketGuarantees, PublishError> {
    let counts = bound.counts_of(sensitive);
    let codes = 0..counts.len() as u32;
    let values: Vec<(u32, u32)> =
        codes.zip(&counts).filter(|(_, count)| **count > 0).map(|(code, &count)| (code, count as u32)).collect();
    let tree = bound.tree(&sensitive.name);
    let table = Distribution::new(counts.clone(), tree.as_ref());
    let rows = bound.rows();
    let most = counts.iter().copied().max().unwrap_or(0);
    let (mut guarantees, mut reasons) = (Vec::new(), Vec::new());
    for rule in &bound.policy.rules {
        for (model, place) in rule.require.iter().zip(&rule.require_places) {
            let community = bound.community(&sensitive.name);
            let context = Context { protect: Some(&sensitive.domain), tree: tree.as_ref(), community, missing: None };
            let guarantee = models::guarantee(model, &context)
                .map_err(|unfit| unfit.refusal(&sensitive.name, model.name(), place.clone()))?;
            let one_bucket = (rows > 0).then(|| class(&values));
            let achieved = achieved_over(guarantee.as_ref(), None, &table, one_bucket.into_iter());
            if rows == 0 || !achieved.holds {
                let claimed = claim(model, &rule.know, rule.protect.as_ref(), &achieved);
                let (required, achieved) = (pairs(&claimed.required), pairs(&claimed.achieved));
                reasons.push(format!(
                    "{place}: {} requires {required} of `{}`; the table as one bucket achieves {achieved}",
                    model.name(),
                    sensitive.name,
                ));
                reasons.extend(
                    guarantee
                        .windows()
                        .and_then(|reach| densest_window(reach, &values, model, &sensitive.domain, rows)),
                );
            }
            guarantees.push(guarantee);
        }
    }
    if reasons.is_empty() {
        return Ok(BucketGuarantees::new(guarantees, table));
    }
    reasons.push(format!(
        "`{}` has {} values in {rows} rows, and the most frequent one is in {most} of them",
        sensitive.name,
        values.len()
    ));
    let hint = "require no more than the table achieves as one bucket, or give frequent sensitive values finer names";
    Err(PublishError::Ineligible(Box::new(Ineligible { made_of: "buckets", reasons, hint: hint.to_owned() })))
}
