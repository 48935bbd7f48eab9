//! The community of a policy: the releases that are out there already, opened as a stranger opens
//! them, and bound to the rules that look at them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::models::{Community, Least};
use hedgerow_release::{JointShare, Release, Spelling};
use hedgerow_table::{InputError, Progress, Table};
use hedgerow_verify::earlier::{Earlier, community_of, warn_of_absent, warn_of_other_values};

use crate::error::PublishError;
use crate::glob;

/// The policy's releases, globs expanded, each once, in order.
pub fn releases(policy: &Policy) -> Result<Vec<PathBuf>, PublishError> {
    let folder = policy.path.parent().unwrap_or(Path::new(""));
    let mut paths: Vec<PathBuf> = Vec::new();
    for release in &policy.community.releases {
        let found = glob::expand(&folder.join(release));
        if found.is_empty() {
            let problem = format!("`{release}` matches nothing");
            let hint = "name directories of releases, relative to the policy; `*` stands for any part of a name";
            return Err(InputError::new(policy.community.place.clone(), problem, hint).into());
        }
        paths.extend(found.into_iter().filter(|path| !paths.contains(path)).collect::<Vec<_>>());
    }
    Ok(paths)
}

/// Whether a rule requires at least two values together with the community: then a new release is
/// also audited with it.
pub fn is_judged(policy: &Policy) -> bool {
    let requires = |model: &Model| matches!(model, Model::CrossReleaseLDiversity { l } if *l > 1);
    policy.rules.iter().flat_map(|rule| &rule.require).any(requires)
}

/// The releases that are published already, as the rules of a policy see them.
#[derive(Debug, Clone, Default)]
pub struct EarlierReleases {
    /// By protected attribute.
    pub communities: HashMap<String, Arc<Community>>,
    /// Where one of them contradicts itself.
    pub warnings: Vec<InputError>,
}

/// Reads the earlier releases that the policy's rules are judged with. Warns of values that do not
/// match, and refuses a community that leaves too few values by itself: then nothing that is
/// published now can hold.
pub fn read_earlier(policy: &Policy, table: &Table, progress: &dyn Progress) -> Result<EarlierReleases, PublishError> {
    let spelling = spelling(policy, table)?;
    let requires = |model: &Model| matches!(model, Model::CrossReleaseLDiversity { .. });
    let mut found = EarlierReleases::default();
    if !policy.rules.iter().flat_map(|rule| &rule.require).any(requires) {
        return Ok(found);
    }
    let mut opened = Vec::new();
    for path in releases(policy)? {
        opened.push(Release::open(&path, progress)?);
    }
    found.warnings.extend(unused_texts(policy, &opened));
    let opened: Vec<Release> = opened.into_iter().map(|release| release.spelled(spelling.clone())).collect();
    let earlier = opened.iter().map(Earlier::of).collect::<Result<Vec<_>, _>>()?;
    for release in &opened {
        let hint = "only its tables are used here; an audit of it reports everything that is wrong";
        let warn = |problem: &String| InputError::new(release.name(), problem.clone(), hint);
        found.warnings.extend(release.contradictions().iter().chain(release.warnings()).map(warn));
    }
    for rule in &policy.rules {
        let Some(protect) = &rule.protect else { continue };
        for model in &rule.require {
            let Model::CrossReleaseLDiversity { l } = model else { continue };
            if !found.communities.contains_key(protect) {
                let own = values_of(table, protect);
                let pairs = spelling.pairs(protect).map(|(theirs, ours)| (theirs.to_owned(), ours.to_owned()));
                let joint = policy.community.joint.iter().map(JointShare::to_string).collect();
                let read = community_of(protect, &earlier, &own)?.with_spelled(pairs.collect()).with_joint(joint);
                found.warnings.extend(warn_of_absent(protect, &earlier));
                found.warnings.extend(warn_of_other_values(&read, protect, &own, table.rows as u64));
                found.communities.insert(protect.clone(), Arc::new(read));
            }
            refuse_broken(&found.communities[protect], table, protect, *l, &rule.place)?;
        }
    }
    Ok(found)
}

/// How the others spell our values. Refuses a text of ours that is not a value of the source: what
/// means it would never be left, unnoticed.
fn spelling(policy: &Policy, table: &Table) -> Result<Spelling, InputError> {
    for mapping in &policy.community.values {
        let Some(column) = table.column(&mapping.attribute) else { continue };
        let declared = policy.attribute(&mapping.attribute).and_then(|attribute| attribute.declared.order.as_ref());
        let is_ours = |text: &String| {
            // The empty text is the missing value.
            text.is_empty()
                || column.domain.code_of(text).is_some()
                || declared.is_some_and(|order| order.values.contains(text))
        };
        if let Some(pair) = mapping.pairs.iter().find(|pair| !is_ours(&pair.ours)) {
            let problem = format!("`{}` has no value {:?} in the source", mapping.attribute, pair.ours);
            // Only what the policy declares is named: an error must not show values of the source.
            let declared = declared.into_iter().flat_map(|order| &order.values);
            let hint = match hedgerow_table::spelling::nearest(&pair.ours, declared.map(String::as_str)) {
                Some(near) => format!("did you mean {near:?}? The left side is their text, the right side ours"),
                None => {
                    "the left side is their text, the right side a value of the source that means the same".to_owned()
                }
            };
            return Err(InputError::new(pair.place.clone(), problem, hint));
        }
    }
    Ok(policy.community.spelling())
}

/// Texts that no release has, for attributes that are protected together with the releases:
/// probably a slip.
fn unused_texts(policy: &Policy, opened: &[Release]) -> Vec<InputError> {
    let is_protected = |name: &String| policy.rules.iter().any(|rule| rule.protect.as_ref() == Some(name));
    let mut warnings = Vec::new();
    for mapping in policy.community.values.iter().filter(|mapping| is_protected(&mapping.attribute)) {
        let has = |release: &Release, text: &str| {
            release.domain(&mapping.attribute).is_some_and(|domain| domain.code_of(text).is_some())
        };
        for pair in &mapping.pairs {
            if !opened.iter().any(|release| has(release, &pair.theirs)) {
                let problem = format!("no release has the value {:?} of `{}`", pair.theirs, mapping.attribute);
                warnings.push(InputError::new(pair.place.clone(), problem, "write it exactly as the release has it"));
            }
        }
    }
    warnings
}

/// The values of a column, without the missing one.
fn values_of(table: &Table, attribute: &str) -> Vec<String> {
    let Some(column) = table.column(attribute) else { return Vec::new() };
    (0..column.domain.present() as u32).map(|code| column.domain.text(code)).collect()
}

/// One class of all rows leaves the most: where the earlier releases leave fewer of its values than
/// a rule requires, nothing can be published.
fn refuse_broken(community: &Community, table: &Table, protect: &str, l: u64, place: &str) -> Result<(), PublishError> {
    let own = values_of(table, protect);
    let Some(Least { classes, values }) = community.least_of(&own).filter(|least| (least.values.len() as u64) < l)
    else {
        return Ok(());
    };
    let least = values.len();
    let mut text = format!(
        "no release can meet the policy: what is published already leaves {least} of the values of `{protect}` to somebody, \
         and {place} requires {l}\n"
    );
    for (release, class) in classes {
        text.push_str(&format!("  {release}: {class}\n"));
    }
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    let left = if values.is_empty() { "nothing".to_owned() } else { values.join(", ") };
    text.push_str(&format!("  left together: {left}\n"));
    let others = warn_of_other_values(community, protect, &own, table.rows as u64);
    for other in &others {
        text.push_str(&format!("  {}: {}\n", other.place, other.problem));
    }
    let require = match least {
        0 => "no requirement is low enough".to_owned(),
        _ => format!("require at most {least}"),
    };
    let spelled = match others.is_empty() {
        true => String::new(),
        false => format!("; where values are only spelled differently, say so under [community.values.{protect}]"),
    };
    text.push_str(&format!("hint: {require}{spelled}"));
    Err(PublishError::Community(text))
}
