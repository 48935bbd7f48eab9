//! The check of a release directory: the manifest says what was promised, the tables say whether it is so.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use hedgerow_release::manifest::{Claim, ClassSizes, FILE_NAME, Manifest};
use hedgerow_release::open::Opened;
use hedgerow_release::read::read_codebook;
use hedgerow_table::{Domain, InputError, Progress, TableError};
use serde_json::{Map, Value};

use crate::check::{Checked, NamedRule};
use crate::earlier::community_of;
use crate::kinds::{self, Released};
use hedgerow_privacy::{Distance, Model, Tree};

/// What the check of a release found.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseCheck {
    pub checked: Checked,
    /// Where the release contradicts itself: the manifest's counts or claims, or labels without a codebook entry.
    pub contradictions: Vec<String>,
    /// Guarantees that need more than the release to be recomputed.
    pub unchecked: Vec<String>,
}

impl ReleaseCheck {
    pub fn holds(&self) -> bool {
        self.checked.holds() && self.contradictions.is_empty()
    }
}

/// Recomputes every guarantee of a release from its tables.
pub fn check_release(directory: &Path, progress: &dyn Progress) -> Result<ReleaseCheck, TableError> {
    check_release_beside(directory, &[], progress)
}

/// Recomputes every guarantee of a release from its tables. What it promises together with earlier releases is
/// recomputed beside `earlier`, those releases with their digests; without them it is set aside as unchecked.
pub fn check_release_beside(
    directory: &Path,
    earlier: &[(Opened, String)],
    progress: &dyn Progress,
) -> Result<ReleaseCheck, TableError> {
    let mut manifest = Manifest::read(directory)?;
    if manifest.hedgerow.guarantees.is_empty() {
        let place = directory.join(FILE_NAME).display().to_string();
        return Err(TableError::input(place, "the manifest claims no guarantee", "there is nothing to check"));
    }
    let mut unchecked = Vec::new();
    manifest.hedgerow.guarantees.retain(|claim| {
        let keep = claim.model != CROSS_RELEASE || !earlier.is_empty();
        if !keep {
            unchecked.push(format!("{}: name the releases that it was judged beside with --community", claim.model));
        }
        keep
    });
    let place = directory.join(FILE_NAME).display().to_string();
    let tables = kinds::read(directory, &manifest, progress)?;
    let checked = tables.judge(&rules_of(&manifest, tables.as_ref(), earlier, &place)?)?;
    let mut contradictions = tables.contradictions().to_vec();
    contradictions.extend(against_manifest(&manifest, &checked));
    contradictions.extend(labels_without_meaning(directory, tables.as_ref())?);
    contradictions.extend(files_without_mention(directory, &manifest)?);
    contradictions.extend(other_releases(&manifest, earlier));
    Ok(ReleaseCheck { checked, contradictions, unchecked })
}

const CROSS_RELEASE: &str = "cross-release-l-diversity";

/// Whether the releases given are those that the guarantee was judged beside.
fn other_releases(manifest: &Manifest, earlier: &[(Opened, String)]) -> Vec<String> {
    let mut given: Vec<&str> = earlier.iter().map(|(_, digest)| digest.as_str()).collect();
    given.sort_unstable();
    given.dedup();
    let mut contradictions = Vec::new();
    for claim in manifest.hedgerow.guarantees.iter().filter(|claim| claim.model == CROSS_RELEASE) {
        let listed = claim.required.get("releases").and_then(Value::as_array);
        let mut listed: Vec<&str> =
            listed.map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect());
        listed.sort_unstable();
        listed.dedup();
        let absent = listed.iter().filter(|digest| !given.contains(digest)).count();
        if absent > 0 {
            contradictions.push(format!(
                "{absent} of {} releases that {CROSS_RELEASE} was judged beside are not among those given, or were changed",
                listed.len()
            ));
        }
    }
    contradictions
}

/// The rules that a manifest's claims describe. Claims of one rule stand together and are judged one by one.
fn rules_of(
    manifest: &Manifest,
    tables: &dyn Released,
    earlier: &[(Opened, String)],
    place: &str,
) -> Result<Vec<NamedRule>, TableError> {
    let mut rules = Vec::new();
    for claim in &manifest.hedgerow.guarantees {
        let Some(mut model) = Model::from_required(&claim.model, &claim.required) else {
            let problem = format!("the guarantee `{}` has parameters that cannot be read", claim.model);
            return Err(TableError::input(place, problem, "was it written by a newer version of hedgerow?"));
        };
        if claim.know.is_empty() || (model.needs_protect() && claim.protect.is_none()) {
            let problem = format!("the guarantee `{}` does not say which attributes it is about", claim.model);
            return Err(TableError::input(place, problem, "publish the release again"));
        }
        if let (Model::CrossReleaseLDiversity { community, .. }, Some(protect)) = (&mut model, &claim.protect) {
            *community = Arc::new(community_of(protect, earlier)?);
        }
        let by_hierarchy = matches!(model, Model::TCloseness { distance: Distance::Hierarchical, .. });
        let tree = match (&claim.protect, by_hierarchy) {
            (Some(name), true) => {
                let paths = manifest.hedgerow.hierarchies.get(name);
                let tree = tables.domain(name).zip(paths).and_then(|(domain, paths)| tree_from_paths(domain, paths));
                Some(tree.ok_or_else(|| {
                    let problem = format!(
                        "the hierarchy of `{name}` is missing, lacks a released value or is no tree with one top"
                    );
                    InputError::new(place, problem, "hierarchical t-closeness cannot be checked without it")
                })?)
            }
            _ => None,
        };
        rules.push(NamedRule { know: claim.know.clone(), protect: claim.protect.clone(), require: vec![model], tree });
    }
    Ok(rules)
}

/// A tree over a domain from lists of a value and its labels up to the top; `None` when a value has no list or two, the
/// lists differ in length, or they are no tree with one top. Values that never meet would be no distance apart, and every
/// class would be close to the whole.
pub fn tree_from_paths(domain: &Domain, paths: &Value) -> Option<Tree> {
    let mut of_value: HashMap<&str, Vec<&str>> = HashMap::new();
    for path in paths.as_array()? {
        let labels: Vec<&str> = path.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
        let (value, above) = labels.split_first()?;
        if of_value.insert(value, above.to_vec()).is_some() {
            return None;
        }
    }
    let height = of_value.values().next()?.len();
    let mut numbers: Vec<HashMap<&str, u32>> = vec![HashMap::new(); height];
    let mut levels = vec![Vec::with_capacity(domain.cardinality()); height];
    for code in 0..domain.cardinality() as u32 {
        let above = of_value.get(domain.text(code).as_str()).filter(|above| above.len() == height)?;
        for (level, label) in above.iter().enumerate() {
            let next = numbers[level].len() as u32;
            levels[level].push(*numbers[level].entry(label).or_insert(next));
        }
    }
    is_tree(&levels, domain.cardinality()).then_some(Tree { levels })
}

/// Whether values that share a node share all nodes above it, and all share the last.
fn is_tree(levels: &[Vec<u32>], values: usize) -> bool {
    let coarsens = |fine: &[u32], coarse: &[u32]| {
        let mut above: HashMap<u32, u32> = HashMap::new();
        fine.iter().zip(coarse).all(|(&fine, &coarse)| *above.entry(fine).or_insert(coarse) == coarse)
    };
    let one_top = match levels.last() {
        Some(top) => top.iter().all(|&node| node == top[0]),
        None => values <= 1,
    };
    one_top && levels.windows(2).all(|pair| coarsens(&pair[0], &pair[1]))
}

fn against_manifest(manifest: &Manifest, checked: &Checked) -> Vec<String> {
    let mut contradictions = Vec::new();
    let promise = &manifest.hedgerow;
    if promise.rows.out != checked.rows {
        contradictions.push(format!("the manifest says {} rows, the table has {}", promise.rows.out, checked.rows));
    }
    if promise.rows.out.checked_add(promise.rows.suppressed) != Some(promise.rows.source) {
        contradictions.push("the manifest's rows out and suppressed do not add up to rows in".to_owned());
    }
    if !same_classes(&promise.classes, &checked.classes) {
        contradictions.push(format!(
            "the manifest says {} classes of {} to {} rows, the table has {} of {} to {}",
            promise.classes.count,
            promise.classes.min,
            promise.classes.max,
            checked.classes.count,
            checked.classes.min,
            checked.classes.max
        ));
    }
    for (claimed, found) in promise.guarantees.iter().zip(&checked.claims) {
        if !claimed.holds || !same_numbers(&claimed.achieved, &found.achieved) {
            contradictions.push(format!(
                "the manifest claims {} for {}, the table shows {}",
                told(claimed),
                claimed.model,
                told(found)
            ));
        }
    }
    contradictions
}

/// The mean has been through decimal digits and back, which may cost it its last bit.
fn same_classes(claimed: &ClassSizes, found: &ClassSizes) -> bool {
    let counts = |sizes: &ClassSizes| (sizes.count, sizes.min, sizes.max);
    counts(claimed) == counts(found) && (claimed.mean - found.mean).abs() <= 1e-9 * found.mean.max(1.0)
}

fn same_numbers(claimed: &Map<String, Value>, found: &Map<String, Value>) -> bool {
    let same = |(name, found): (&String, &Value)| match (claimed.get(name), found) {
        (Some(Value::String(claimed)), Value::String(found)) => claimed == found,
        (Some(claimed), found) => {
            let numbers = claimed.as_f64().zip(found.as_f64());
            numbers.is_some_and(|(claimed, found)| (claimed - found).abs() <= 1e-9)
        }
        (None, _) => false,
    };
    claimed.len() == found.len() && found.iter().all(same)
}

fn told(claim: &Claim) -> String {
    let numbers = claim.achieved.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
    if claim.holds { numbers } else { format!("{numbers} (does not hold)") }
}

/// A file beside the tables could tell anything: a release holds what its manifest lists and nothing else.
fn files_without_mention(directory: &Path, manifest: &Manifest) -> Result<Vec<String>, TableError> {
    let always = [FILE_NAME, "codebook.csv"];
    let known = |name: &str| always.contains(&name) || manifest.resources.iter().any(|resource| resource.path == name);
    let leads_to_known = |name: &str| {
        let within = format!("{name}/");
        manifest.resources.iter().any(|resource| resource.path.starts_with(&within))
    };
    let mut contradictions = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = directory.join(&folder);
        for entry in std::fs::read_dir(&path).map_err(|error| TableError::io(&path, error))? {
            let entry = entry.map_err(|error| TableError::io(&path, error))?;
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() && leads_to_known(&name) {
                folders.push(format!("{name}/"));
            } else if !known(&name) {
                contradictions.push(format!("the file `{name}` is not in the manifest, and was not checked"));
            }
        }
    }
    contradictions.sort_unstable();
    Ok(contradictions)
}

fn labels_without_meaning(directory: &Path, tables: &dyn Released) -> Result<Vec<String>, TableError> {
    let codebook = read_codebook(directory)?;
    let mut contradictions = Vec::new();
    for column in tables.quasi() {
        let known: HashSet<&str> = codebook.labels(&column.name).into_iter().map(|(label, _)| label).collect();
        let texts = (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code));
        let unknown = texts.filter(|text| !known.contains(text.as_str())).count();
        if unknown > 0 {
            contradictions.push(format!("{unknown} labels of `{}` have no entry in codebook.csv", column.name));
        }
    }
    Ok(contradictions)
}
