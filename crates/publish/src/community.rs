//! The community of a policy: the releases that are out there already, opened as a stranger opens
//! them, and bound to the rules that look at them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::models::{Community, Least};
use hedgerow_release::Release;
use hedgerow_table::{InputError, Progress, Table};
use hedgerow_verify::earlier::{Earlier, community_of, refuse_other_values};

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

/// The releases that are published already, as the rules of a policy see them.
#[derive(Debug, Clone, Default)]
pub struct EarlierReleases {
    /// By protected attribute.
    pub communities: HashMap<String, Arc<Community>>,
    /// Where one of them contradicts itself.
    pub warnings: Vec<InputError>,
}

/// Reads the earlier releases that the policy's rules are judged with. Refuses values that do not
/// match, and a community that leaves too few values by itself: then nothing that is published now
/// can hold.
pub(crate) fn read_earlier(
    policy: &Policy,
    table: &Table,
    progress: &dyn Progress,
) -> Result<EarlierReleases, PublishError> {
    let requires = |model: &Model| matches!(model, Model::CrossReleaseLDiversity { .. });
    let mut found = EarlierReleases::default();
    if !policy.rules.iter().flat_map(|rule| &rule.require).any(requires) {
        return Ok(found);
    }
    let mut opened = Vec::new();
    for path in releases(policy)? {
        opened.push(Release::open(&path, progress)?);
    }
    let earlier = opened.iter().map(Earlier::of).collect::<Result<Vec<_>, _>>()?;
    for release in &opened {
        let hint = "only its tables are used here; an audit of it reports everything that is wrong";
        let warn = |problem: &String| InputError::new(release.name(), problem.clone(), hint);
        found.warnings.extend(release.contradictions().iter().map(warn));
    }
    for rule in &policy.rules {
        let Some(protect) = &rule.protect else { continue };
        for model in &rule.require {
            let Model::CrossReleaseLDiversity { l } = model else { continue };
            if !found.communities.contains_key(protect) {
                let read = community_of(protect, &earlier)?;
                if let Some(column) = table.column(protect) {
                    let domain = &column.domain;
                    let values: Vec<String> = (0..domain.cardinality() as u32).map(|code| domain.text(code)).collect();
                    refuse_other_values(&read, protect, &values, table.rows as u64)?;
                }
                found.communities.insert(protect.clone(), Arc::new(read));
            }
            refuse_broken(&found.communities[protect], protect, *l, &rule.place)?;
        }
    }
    Ok(found)
}

fn refuse_broken(community: &Community, protect: &str, l: u64, place: &str) -> Result<(), PublishError> {
    let Some(Least { classes, values }) = community.least().filter(|least| (least.values.len() as u64) < l) else {
        return Ok(());
    };
    let least = values.len();
    let mut text = format!(
        "no release can meet the policy: what is published already leaves {least} of the values of `{protect}` to somebody, \
         and {place} asks for {l}\n"
    );
    for (release, class) in classes {
        text.push_str(&format!("  {release}: {class}\n"));
    }
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    let left = if values.is_empty() { "nothing".to_owned() } else { values.join(", ") };
    text.push_str(&format!(
        "  left together: {left}\nhint: ask for at most {least}, or leave a release out of [community]"
    ));
    Err(PublishError::Community(text))
}
