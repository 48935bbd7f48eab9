//! The rules that classes of clones can keep: all are composed alike, so one of them stands for
//! all, and the rules decide how many classes there can be.

use hedgerow_draft::bind::Bound;
use hedgerow_draft::broken::pairs;
use hedgerow_draft::error::{Ineligible, PublishError};
use hedgerow_policy::{Policy, Role};
use hedgerow_privacy::judge::achieved_over;
use hedgerow_privacy::{Class, Context, Distribution, Guarantee, Model, Tree, models};
use hedgerow_table::{Column, InputError, Ratio};
use hedgerow_verify::check::claim;
use hedgerow_verify::kinds::refused_in_clones;

use super::division::Division;

/// Refuses, before anything is read, what classes of clones cannot promise.
pub fn refuse(policy: &Policy) -> Result<(), InputError> {
    let sensitive: Vec<_> = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive).collect();
    let [sensitive] = sensitive.as_slice() else {
        let problem = format!("cloning needs exactly one sensitive attribute, and there are {}", sensitive.len());
        let hint = "give one attribute the role `sensitive`, and the others another role";
        return Err(InputError::new(policy.publish.place.clone(), problem, hint));
    };
    for rule in &policy.rules {
        if let Some(name) = rule.protect.as_ref().filter(|name| **name != sensitive.name) {
            let problem = format!("cloning protects `{}` alone, and a rule protects `{name}`", sensitive.name);
            return Err(InputError::new(rule.place.clone(), problem, "protect the sensitive attribute"));
        }
        if let Some(name) = rule.know.iter().find(|name| **name == sensitive.name) {
            let problem = format!("an adversary who knows `{name}` is not what cloning protects against");
            return Err(InputError::new(rule.place.clone(), problem, "omit `know`"));
        }
        let has_statistics = |name: &str| policy.quasi().any(|attribute| attribute.name == name);
        if let Some(name) = rule.know.iter().find(|name| !has_statistics(name)) {
            let problem = format!("an adversary knows `{name}`, and clones have statistics of quasi-identifiers alone");
            let hint = format!("make `{name}` `quasi`, or omit `know`");
            return Err(InputError::new(rule.place.clone(), problem, hint));
        }
        for (model, place) in rule.require.iter().zip(&rule.require_places) {
            // Without the data: a model that needs numbers says so once the column is bound.
            let why = models::guarantee(model, &Context::default())
                .ok()
                .and_then(|guarantee| refused_in_clones(guarantee.as_ref()));
            if let Some(why) = why {
                let problem = format!("cloning cannot promise {}: it {why}", model.name());
                let hint = "require epsilon-clone, and k-anonymity of the sub-classes";
                return Err(InputError::new(place.clone(), problem, hint));
            }
        }
    }
    Ok(())
}

/// The division into the most classes whose composition keeps every rule, against the source and
/// against the release.
pub(super) fn division(
    bound: &Bound<'_>,
    sensitive: &Column,
    kept: &[(u32, u64)],
    suppressed: &[(u32, u64)],
) -> Result<Division, PublishError> {
    if kept.is_empty() {
        return Err(
            Ineligible::clones(vec!["the table has no rows".to_owned()], "publish a table with people in it").into()
        );
    }
    let mut rules: Vec<Required> = Vec::new();
    // How far a share in a class may be from the source's, and where that is required.
    let mut limits: Vec<(String, Ratio)> = Vec::new();
    let cloning = &bound.policy.publish.cloning;
    limits.extend(cloning.max_epsilon.map(|limit| (format!("`max-epsilon` is {}", limit.as_f64()), limit)));
    for rule in &bound.policy.rules {
        let tree = rule.protect.as_ref().and_then(|name| bound.tree(name));
        let required = rule.require.iter().zip(&rule.require_places);
        for (model, place) in required.filter(|(model, _)| !matches!(model, Model::KAnonymity { .. })) {
            let community = bound.community(&sensitive.name);
            let context = Context { protect: Some(&sensitive.domain), tree: tree.as_ref(), community, missing: None };
            let guarantee = models::guarantee(model, &context)
                .map_err(|unfit| unfit.refusal(&sensitive.name, model.name(), place.clone()))?;
            let mut counts = sensitive.counts();
            // No class can be a clone of a table with values that the policy has suppressed: it is
            // one of the values that are published, and the others count with the share that they
            // had. What the method promises by itself counts them by `max-epsilon` alone.
            if let Model::EpsilonClone { epsilon } = model {
                suppressed.iter().for_each(|&(code, _)| counts[code as usize] = 0);
                if *place != bound.policy.publish.place {
                    limits.push((format!("epsilon-clone requires epsilon = {}", epsilon.as_f64()), *epsilon));
                }
            }
            let codes = counts.len();
            rules.push(Required {
                guarantee,
                source: Distribution::new(counts, tree.as_ref()),
                tree: tree.clone(),
                codes,
            });
        }
    }
    let distorted_most = cloning.max_distorted.map(|most| most.floor_of(bound.table.rows as u64));
    let suppressed_most = cloning.suppressed_most.map(|most| most.floor_of(bound.table.rows as u64));
    let with_rare = suppressed.iter().map(|&(_, rows)| rows).sum::<u64>();
    let keeps = |division: &Division| {
        limits.iter().all(|(_, limit)| division.keeps(*limit))
            // One class of all tuples distorts none.
            && distorted_most.is_none_or(|most| division.distorted() <= most)
            && suppressed_most.is_none_or(|most| with_rare + division.suppressed() <= most)
            && rules.iter().all(|rule| rule.broken_by(division).is_none())
    };
    if let Some(division) = Division::largest(kept, suppressed, keeps) {
        return Ok(division);
    }
    let one_class = Division::into_classes(kept, suppressed, 1)
        .ok_or_else(|| PublishError::Internal("internal error: values without rows were divided".to_owned()))?;
    let mut reasons: Vec<String> = rules.iter().filter_map(|rule| rule.broken_by(&one_class)).collect();
    for (required, _) in limits.iter().filter(|(_, limit)| !one_class.keeps(*limit)) {
        reasons.push(format!("{required}, and suppressing rare values takes {:.6}", one_class.epsilon()));
    }
    // A hint is given only where following it leads to a release.
    let kept_instead = match suppressed {
        [] => None,
        _ => division(bound, sensitive, &[kept, suppressed].concat(), &[]).ok(),
    };
    let hint = match kept_instead {
        Some(Division { classes: 1, .. }) => {
            "keep the rare values (`rare = \"keep\"`), which allows one class".to_owned()
        }
        Some(Division { classes, .. }) => {
            format!("keep the rare values (`rare = \"keep\"`), which allows {classes} classes")
        }
        None => "require no more than the table keeps as one class; more classes never keep more".to_owned(),
    };
    Err(Ineligible::clones(reasons, &hint).into())
}

/// One guarantee, with what it compares classes with.
struct Required {
    guarantee: Box<dyn Guarantee>,
    source: Distribution,
    tree: Option<Tree>,
    /// How many values the sensitive attribute has.
    codes: usize,
}

impl Required {
    /// The rules that a class of this division breaks, in words.
    fn broken_by(&self, division: &Division) -> Option<String> {
        let values: Vec<(u32, u32)> =
            division.shares.iter().map(|share| (share.code, share.per_class as u32)).collect();
        let class = Class { rows: division.class_size(), values: &values };
        let mut counts = vec![0u64; self.codes];
        for share in &division.shares {
            counts[share.code as usize] = share.per_class * division.classes;
        }
        let released = Distribution::new(counts, self.tree.as_ref());
        let achieved = achieved_over(self.guarantee.as_ref(), Some(&self.source), &released, std::iter::once(class));
        if achieved.holds {
            return None;
        }
        let model = self.guarantee.model();
        let claimed = claim(model, &[], None, &achieved);
        let (required, achieved) = (pairs(&claimed.required), pairs(&claimed.achieved));
        Some(format!("{} requires {required}; all tuples in one class achieve {achieved}", model.name()))
    }
}
