//! The check of a release directory: the manifest says what was promised, the tables say whether it
//! is so.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hedgerow_release::coarsened::unused;
use hedgerow_release::manifest::{Claim, ClassSizes, FILE_NAME, Manifest};
use hedgerow_release::metadata::Metadata;
use hedgerow_release::read::beside_cells;
use hedgerow_release::{KnownValues, Release, ReleaseTables, ReleasedClasses, Spelling};
use hedgerow_table::{Domain, InputError, TableError};
use serde_json::{Map, Value};

use crate::check::{Checked, CountedUnits, NamedRule, OverUnits};
use crate::closure::unprotected_rows;
use crate::earlier::{Earlier, community_of};
use crate::kinds::judged;
use crate::{claimed, possible, stated};
use hedgerow_privacy::{Community, Distance, KnownRows, Model, Tree};

/// The result of checking a release.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseCheck {
    pub checked: Checked,
    /// Where the release contradicts itself: the manifest's counts or claims, or labels without a
    /// codebook entry.
    pub contradictions: Vec<String>,
    /// Guarantees that need more than the release to be recomputed.
    pub unchecked: Vec<String>,
}

impl ReleaseCheck {
    pub fn holds(&self) -> bool {
        self.checked.holds() && self.contradictions.is_empty()
    }
}

/// Recomputes every guarantee of a release from its tables. What it promises together with earlier
/// releases is recomputed with `earlier`; without them it is set aside as unchecked.
pub fn check_release(release: &Release, earlier: &[&Release]) -> Result<ReleaseCheck, TableError> {
    let place = release.manifest_place();
    let Some(manifest) = release.manifest() else {
        let hint = "a table without a manifest is checked by a policy";
        return Err(TableError::input(release.name(), "no manifest claims a guarantee", hint));
    };
    if manifest.hedgerow.guarantees.is_empty() {
        return Err(TableError::input(place, "the manifest claims no guarantee", "there is nothing to check"));
    }
    let (claims, without_earlier): (Vec<&Claim>, Vec<&Claim>) =
        (manifest.hedgerow.guarantees.iter()).partition(|claim| claim.model != CROSS_RELEASE || !earlier.is_empty());
    let unchecked = without_earlier
        .iter()
        .map(|claim| format!("{}: was not recomputed; name the releases that it was judged with", claim.model));
    let stated = claims.iter().filter(|claim| stated_units(manifest, claim));
    let stated = stated.map(|claim| {
        format!(
            "{}: the tables do not say which rows are about one unit, so that its count of units is the publisher's word; \
             rows were counted",
            claim.model
        )
    });
    let consistent = claims.iter().filter(|claim| claim.consistent);
    let consistent = consistent.map(|claim| {
        format!(
            "{}: which combinations of values can occur is counted in the source, so that it is the publisher's word that \
             enough rows fit everyone; whole classes were counted",
            claim.model
        )
    });
    let unchecked = unchecked.chain(stated).chain(consistent);
    let tables = judged(release);
    let rules = rules_of(release, manifest, &claims, earlier, &place)?;
    let checked = tables.judge(release, &rules)?;
    let mut contradictions = release.contradictions().to_vec();
    contradictions.extend(against_manifest(manifest, &claims, &checked));
    contradictions.extend(claimed::contradictions(manifest, release));
    contradictions.extend(stated::contradictions(manifest, release, &checked));
    contradictions.extend(possible::units(manifest, release, &claims));
    contradictions.extend(possible::dependencies(manifest, release));
    contradictions.extend(possible::numbering(release));
    contradictions.extend(unused(&manifest.hedgerow.coarsened, |name| release.domains(name)));
    contradictions.extend(release.misstated_labels());
    contradictions.extend(files_without_mention(release.path(), manifest)?);
    contradictions.extend(beside_cells(release.path(), &manifest.resources)?);
    contradictions.extend(other_releases(&claims, earlier)?);
    contradictions.extend(against_dependencies(release, manifest, &rules)?);
    Ok(ReleaseCheck { checked, contradictions, unchecked: unchecked.collect() })
}

/// The errors in the claims of a release's own manifest, recomputed: a claim that does not
/// hold is named, never believed. Empty where the release claims nothing.
pub fn broken_claims(release: &Release) -> Vec<String> {
    if release.manifest().is_none_or(|manifest| manifest.hedgerow.guarantees.is_empty()) {
        return Vec::new();
    }
    match check_release(release, &[]) {
        Ok(found) => {
            let broken = found.checked.claims.iter().filter(|claim| !claim.holds);
            let broken =
                broken.map(|claim| format!("the manifest claims {}, which the tables do not satisfy", claim.model));
            found.contradictions.iter().cloned().chain(broken).collect()
        }
        // The tables could be read, so what is wrong is what the manifest says of them.
        Err(TableError::Input(error)) => {
            vec![format!("what the manifest claims cannot be recomputed: {}", error.problem)]
        }
        Err(error) => vec![format!("what the manifest claims could not be recomputed: {error}")],
    }
}

/// Whether classes keep their rules when they are divided by what follows from what is known, by
/// the dependencies that the manifest states and does not accept.
fn against_dependencies(
    release: &Release,
    manifest: &Manifest,
    rules: &[NamedRule],
) -> Result<Vec<String>, TableError> {
    let stated: Vec<_> = manifest.hedgerow.dependencies.iter().filter(|known| known.accept.is_none()).collect();
    let mut contradictions = Vec::new();
    for rule in rules {
        let mut follows: Vec<String> = Vec::new();
        while let Some(next) = stated.iter().find(|known| {
            let is_known = |name: &String| rule.know.contains(name) || follows.contains(name);
            !is_known(&known.to) && known.from.iter().all(is_known)
        }) {
            follows.push(next.to.clone());
        }
        follows.retain(|name| Some(name) != rule.protect.as_ref() && release.domain(name).is_some());
        let rows = if follows.is_empty() { 0 } else { unprotected_rows(release, rule, &follows, &[])? };
        if rows > 0 {
            contradictions.push(format!(
                "{rows} rows are in classes that break their rule for an attacker who also knows what follows: {}",
                follows.join(", ")
            ));
        }
    }
    Ok(contradictions)
}

pub(crate) const CROSS_RELEASE: &str = "cross-release-l-diversity";

/// Whether the releases given are those that the guarantee was judged with.
fn other_releases(claims: &[&Claim], earlier: &[&Release]) -> Result<Vec<String>, TableError> {
    let mut given: Vec<&str> = earlier.iter().map(|release| release.digest()).collect::<Result<_, _>>()?;
    given.sort_unstable();
    given.dedup();
    let mut contradictions = Vec::new();
    for claim in claims.iter().filter(|claim| claim.model == CROSS_RELEASE) {
        let listed = claim.required.get("releases").and_then(Value::as_array);
        let mut listed: Vec<&str> =
            listed.map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect());
        listed.sort_unstable();
        listed.dedup();
        let absent = listed.iter().filter(|digest| !given.contains(digest)).count();
        if absent > 0 {
            contradictions.push(format!(
                "{absent} of {} releases that {CROSS_RELEASE} was judged with are not among those given, or were changed",
                listed.len()
            ));
        }
    }
    Ok(contradictions)
}

/// The rules that a manifest's claims describe. Claims of one rule stand together and are judged
/// one by one.
fn rules_of(
    release: &Release,
    manifest: &Manifest,
    claims: &[&Claim],
    earlier: &[&Release],
    place: &str,
) -> Result<Vec<NamedRule>, TableError> {
    let mut rules = Vec::new();
    let with_earlier = claims.iter().any(|claim| claim.model == CROSS_RELEASE);
    let earlier = if with_earlier { earlier } else { &[] };
    for claim in claims {
        let Some(model) = Model::from_required(&claim.model, &claim.required) else {
            let problem = format!("the guarantee `{}` has parameters that cannot be read", claim.model);
            return Err(TableError::input(place, problem, "was it written by a newer version of hedgerow?"));
        };
        if claim.know.is_empty() || (model.needs_protect() && claim.protect.is_none()) {
            let problem = format!("the guarantee `{}` does not say which attributes it is about", claim.model);
            return Err(TableError::input(place, problem, "publish the release again"));
        }
        let community = match (&model, &claim.protect) {
            (Model::CrossReleaseLDiversity { .. }, Some(protect)) => {
                Some(Arc::new(community_as_claimed(claim, protect, release, earlier)?))
            }
            _ => None,
        };
        let by_hierarchy = matches!(model.unconditional(), Model::TCloseness { distance: Distance::Hierarchical, .. });
        let tree = match (&claim.protect, by_hierarchy) {
            (Some(name), true) => {
                let paths = manifest.hedgerow.hierarchies.get(name);
                let tree = release.domain(name).zip(paths).and_then(|(domain, paths)| tree_from_paths(domain, paths));
                Some(tree.ok_or_else(|| {
                    let problem = format!(
                        "the hierarchy of `{name}` is missing, lacks a released value or is not a tree with one top"
                    );
                    InputError::new(place, problem, "hierarchical t-closeness cannot be checked without it")
                })?)
            }
            _ => None,
        };
        let (know, protect) = (claim.know.clone(), claim.protect.clone());
        let units = units_as_claimed(claim, release, manifest, place)?;
        let consistent = claim.consistent;
        let only_where = known_values_as_claimed(claim, release, &model, place)?;
        rules.push(NamedRule { know, protect, require: vec![model], tree, community, units, consistent, only_where });
    }
    Ok(rules)
}

/// The known values that a claim is about: of attributes that its attacker knows, in releases whose
/// classes have labels.
fn known_values_as_claimed(
    claim: &Claim,
    release: &Release,
    model: &Model,
    place: &str,
) -> Result<KnownValues, InputError> {
    let known = claim.only_where.iter().all(|(name, values)| claim.know.contains(name) && !values.is_empty());
    let judged = matches!(release.tables(), ReleaseTables::Generalized(_)) && model.takes_known_values();
    if claim.only_where.is_empty() || known && judged && claim.rows.is_none() && !claim.consistent {
        return Ok(claim.only_where.clone());
    }
    let problem = format!("the guarantee `{}` is about known values in a way that cannot be read", claim.model);
    Err(InputError::new(place, problem, "was it written by a newer version of hedgerow?"))
}

/// How a claim counts units: by the numbers that link the rows of a unit, where they are released.
fn units_as_claimed(
    claim: &Claim,
    release: &Release,
    manifest: &Manifest,
    place: &str,
) -> Result<Option<OverUnits>, TableError> {
    let Some(name) = &claim.rows else { return Ok(None) };
    let Some(rows) = KnownRows::from_name(name) else {
        let problem = format!("the guarantee `{}` counts units in a way that cannot be read", claim.model);
        return Err(TableError::input(place, problem, "was it written by a newer version of hedgerow?"));
    };
    // That there are none where some are counted is listed with the other contradictions.
    let counts = manifest.hedgerow.units.filter(|_| matches!(release.tables(), ReleaseTables::Generalized(_)));
    let Some(counts) = counts else { return Ok(Some(OverUnits { rows, counted: CountedUnits::Unknown })) };
    let fields = manifest.resources.iter().flat_map(|resource| &resource.schema.fields);
    let names: Vec<String> =
        fields.filter(|field| field.role.as_deref() == Some("unit")).map(|field| field.name.clone()).collect();
    let counted = match (counts.linked, names.is_empty()) {
        (true, false) => CountedUnits::Columns { names, linked: true },
        // So is it where the manifest and its tables do not agree on whether rows are linked.
        _ => CountedUnits::Unknown,
    };
    Ok(Some(OverUnits { rows, counted }))
}

/// The disclosure by the earlier releases, in the texts that the claim takes theirs for.
fn community_as_claimed(
    claim: &Claim,
    protect: &str,
    release: &Release,
    earlier: &[&Release],
) -> Result<Community, TableError> {
    let texts = claim.required.get("values").and_then(Value::as_object).into_iter().flatten();
    let texts = texts.filter_map(|(theirs, ours)| Some((theirs.clone(), ours.as_str()?.to_owned())));
    let spelled: Vec<(String, String)> = texts.collect();
    let mut spelling = Spelling::default();
    spelled.iter().for_each(|(theirs, ours)| spelling.add(protect, theirs, ours));
    let mut in_our_texts: Vec<Vec<ReleasedClasses>> = Vec::new();
    for release in earlier {
        in_our_texts.push(release.classes()?.iter().map(|table| table.clone().spelled(&spelling)).collect());
    }
    let mut opened: Vec<Earlier<'_>> = Vec::new();
    for (release, tables) in earlier.iter().zip(&in_our_texts) {
        opened.push(Earlier { name: release.name(), digest: release.digest()?, tables });
    }
    let domain = release.domain(protect);
    let own =
        domain.map_or_else(Vec::new, |domain| (0..domain.present() as u32).map(|code| domain.text(code)).collect());
    let joint = claim.required.get("joint").and_then(Value::as_array).into_iter().flatten();
    let joint = joint.filter_map(|share| Some(share.as_str()?.to_owned())).collect();
    Ok(community_of(protect, &opened, &own)?.with_spelled(spelled).with_joint(joint))
}

/// A tree over a domain from lists of a value and its labels up to the top; `None` when a value has
/// no list or two, the lists differ in length, or they are not a tree with one top. Values that
/// never meet would be no distance apart, and every class would be close to the table.
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

fn against_manifest(manifest: &Manifest, claims: &[&Claim], checked: &Checked) -> Vec<String> {
    let mut contradictions = Vec::new();
    let promise = &manifest.hedgerow;
    if let Some(units) = promise.units
        && let Some(found) = checked.units.filter(|&found| found != units.out)
    {
        contradictions.push(format!("the manifest says {} units, the table has {found}", units.out));
    }
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
    for (claimed, found) in claims.iter().zip(&checked.claims) {
        let fits = match stated_units(manifest, claimed) {
            // Rows can only do better than the worse of rows and units.
            true => found.holds && no_better(claimed, found),
            false => same_numbers(&claimed.achieved, &found.achieved),
        };
        if !claimed.holds || !fits {
            contradictions.push(format!(
                "the manifest claims {} for {}, the table shows {}",
                numbers(claimed),
                claimed.model,
                numbers(found)
            ));
        }
    }
    contradictions
}

/// The mean has been through decimal digits and back, which may cost it its last bit.
pub(crate) fn same_classes(claimed: &ClassSizes, found: &ClassSizes) -> bool {
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

/// Whether a guarantee counts units that the tables do not show.
fn stated_units(manifest: &Manifest, claim: &Claim) -> bool {
    claim.rows.is_some() && manifest.hedgerow.units.is_some_and(|units| !units.linked)
}

/// Whether what is claimed is nowhere better than what was found. Both name the same numbers; the
/// model says of each whether less is worse.
fn no_better(claimed: &Claim, found: &Claim) -> bool {
    let no_better = |(name, found): (&String, &Value)| {
        let numbers = claimed.achieved.get(name).and_then(Value::as_f64).zip(found.as_f64());
        numbers.is_some_and(|(claimed, found)| match claimed::is_worse_if_smaller(name) {
            true => claimed <= found + 1e-9,
            false => claimed >= found - 1e-9,
        })
    };
    claimed.achieved.len() == found.achieved.len() && found.achieved.iter().all(no_better)
}

fn numbers(claim: &Claim) -> String {
    let numbers = claim.achieved.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
    if claim.holds { numbers } else { format!("{numbers} (does not hold)") }
}

/// Whether a description says what the manifest says, to the byte.
fn is_derived(path: &Path, kind: Metadata, manifest: &Manifest) -> bool {
    let text = kind.describe(manifest);
    let length = std::fs::metadata(path).map_or(0, |found| found.len());
    length == text.len() as u64 && std::fs::read(path).is_ok_and(|found| found == text.as_bytes())
}

/// A further file could disclose anything: a release holds what its manifest lists and nothing
/// else.
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
            } else if let Some(kind) = Metadata::ALL.into_iter().find(|kind| kind.file_name() == name) {
                if !is_derived(&entry.path(), kind, manifest) {
                    contradictions.push(format!("the file `{name}` is not what the manifest describes"));
                }
            } else if !known(&name) {
                contradictions.push(format!("the file `{name}` is not in the manifest, and was not checked"));
            }
        }
    }
    contradictions.sort_unstable();
    Ok(contradictions)
}
