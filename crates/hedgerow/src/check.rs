//! Recomputing guarantees: of a release from its own tables, or of any table by a policy.

use hedgerow_audit::{Adversary, AuditOptions, audit, not_from_source};
use hedgerow_policy::{Method, Role};
use hedgerow_publish::bind::{any_options, rules_for};
use hedgerow_publish::recount::{self, UnitsRecounted};
use hedgerow_publish::singling_out::warn_of_released;
use hedgerow_release::manifest::{Claim, ClassSizes};
use hedgerow_release::{JointShare, Release, Spelling};
use hedgerow_table::{InputError, Table};
use hedgerow_verify::check::check_table as judge_table;
use hedgerow_verify::release_check::{self, ReleaseCheck};
use hedgerow_verify::warnings::{about_claims, about_identifiers, identifiers_of};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Error, Monitor, Policy, Problem, Source, source};

/// The result of a check. Serialized, it is the output of `hedgerow check --json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// Every guarantee: what is required and what the tables achieve.
    pub guarantees: Vec<Claim>,
    /// Whether every guarantee holds and nothing contradicts. When false the exit code is 4.
    holds: bool,
    /// Where the release contradicts itself: its manifest, its codebook, its tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
    /// Claims that hold and still protect no person.
    pub warnings: Vec<Problem>,
    /// Guarantees that need more than the release to be recomputed, such as the earlier releases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
    /// The number of rows in the tables.
    #[serde(skip)]
    pub rows: u64,
    /// The number of equivalence classes, and their sizes.
    #[serde(skip)]
    pub classes: ClassSizes,
}

impl Check {
    /// Says what contradicts the release.
    pub(crate) fn contradict(&mut self, problem: String) {
        self.holds = false;
        self.contradictions.push(problem);
    }

    /// Whether every guarantee that could be recomputed holds, and nothing contradicts itself.
    pub fn holds(&self) -> bool {
        self.holds
    }

    fn new(found: ReleaseCheck, warnings: Vec<InputError>) -> Check {
        Check {
            holds: found.holds(),
            guarantees: found.checked.claims,
            contradictions: found.contradictions,
            warnings: warnings.into_iter().map(Problem::warning).collect(),
            unchecked: found.unchecked,
            rows: found.checked.rows,
            classes: found.checked.classes,
        }
    }
}

/// Recomputes every guarantee of a release from its tables, those across releases with the
/// `earlier` ones.
pub(crate) fn check_release(release: &Release, earlier: &[&Release]) -> Result<Check, Error> {
    let mut found = release_check::check_release(release, earlier)?;
    judge_joint(release, earlier, &mut found)?;
    let place = release.manifest_place();
    let resources = release.manifest().map(|manifest| manifest.resources.as_slice()).unwrap_or_default();
    let fields = resources.iter().flat_map(|resource| &resource.schema.fields);
    let quasi = fields.filter(|field| field.role.as_deref() == Some(Role::Quasi.name()));
    let mut quasi: Vec<String> = quasi.map(|field| field.name.clone()).collect();
    if !release.has_roles() {
        // Roles do not apply there: an attribute that one rule protects may be known in another.
        let claims = &found.checked.claims;
        quasi.retain(|name| claims.iter().all(|claim| claim.protect.as_ref() != Some(name)));
        quasi.sort_unstable();
        quasi.dedup();
    }
    let mut warnings = about_claims(&place, &found.checked.claims, &quasi);
    warnings.extend(about_identifiers(&place, identifiers_of(resources)));
    if let Some((table, sensitive)) = release.sensitive_in_rows() {
        warnings.extend(warn_of_released(&place, table, sensitive.iter().map(String::as_str)));
    }
    Ok(Check::new(found, warnings))
}

/// Judges guarantees across releases with the shares that they were judged with at publishing: what
/// every table that fits the releases and these shares leaves. Shares that cannot be read, or that
/// no such table has, are said to be unchecked.
fn judge_joint(release: &Release, earlier: &[&Release], found: &mut ReleaseCheck) -> Result<(), Error> {
    for claim in &mut found.checked.claims {
        let texts = claim.required.get("joint").and_then(Value::as_array).into_iter().flatten();
        let mut joint: Vec<JointShare> = Vec::new();
        let unchecked = |problem: String| format!("{} with shares of people: {problem}", claim.model);
        for text in texts {
            match JointShare::parse(text.as_str().unwrap_or_default()) {
                Ok(share) => joint.push(share),
                Err(problem) => found.unchecked.push(unchecked(problem)),
            }
        }
        let (Some(l), Some(protect)) = (claim.required.get("l").and_then(Value::as_u64), &claim.protect) else {
            continue;
        };
        if joint.is_empty() || earlier.is_empty() {
            continue;
        }
        let mut spelling = Spelling::default();
        let texts = claim.required.get("values").and_then(Value::as_object).into_iter().flatten();
        texts.for_each(|(theirs, ours)| spelling.add(protect, theirs, ours.as_str().unwrap_or_default()));
        let others = earlier.iter().map(|&release| release.clone().spelled(spelling.clone()));
        let releases: Vec<Release> = others.chain([release.clone()]).collect();
        let adversaries = vec![Adversary::Worlds];
        let audited = audit(&releases, &AuditOptions { adversaries, joint, ..AuditOptions::default() })?;
        let of_protect = audited.findings.iter().filter(|finding| finding.protect.as_ref() == Some(protect));
        if of_protect.clone().any(|finding| !finding.details.contains_key("joint")) {
            let problem = "no table of people who are in every release has them, or no release has their attributes";
            found.unchecked.push(unchecked(problem.to_owned()));
        }
        if let Some(least) = of_protect.filter_map(|finding| finding.effective_l).min().filter(|&least| least < l) {
            claim.holds = false;
            claim.achieved.insert("l".to_owned(), Value::from(least));
        }
    }
    Ok(())
}

/// As [`check_release`]; what the policy requires and the manifest does not claim is a
/// contradiction, and so is what does not come from the source that the policy names. Units, and
/// the rows that fit each person by the combinations of values that occur, are counted again there,
/// where the release does not show them.
pub(crate) fn check_units(release: &Release, policy: &Policy, monitor: &Monitor<'_>) -> Result<Check, Error> {
    let mut found = check_release(release, &[])?;
    let counts = policy.has_units() || policy.is_consistent();
    // These methods write guarantees of their own beside the rules.
    if !counts && !matches!(policy.publish.method, Method::Clone | Method::Decompose) {
        refuse_unclaimed(policy, &mut found);
    }
    if !counts && !source::is_here(policy) {
        found.unchecked.push("the source is not here: released rows were not compared with it".to_owned());
        return Ok(found);
    }
    let source = Source::of_policy().read(policy, monitor)?;
    if compare_with_source(&mut found, release, &source)? {
        count_in_source(&mut found, release, policy, &source)?;
    }
    Ok(found)
}

/// A cell that the source does not have is a contradiction. Whether there is none.
pub(crate) fn compare_with_source(found: &mut Check, release: &Release, source: &Table) -> Result<bool, Error> {
    let problems = not_from_source(release, source)?;
    let none = problems.is_empty();
    problems.into_iter().for_each(|problem| found.contradict(problem));
    Ok(none)
}

/// Counts units, and the rows that fit each person, in the source.
pub(crate) fn count_in_source(
    found: &mut Check,
    release: &Release,
    policy: &Policy,
    source: &Table,
) -> Result<(), Error> {
    if policy.is_consistent() {
        count_fitting(release, policy, source, found)?;
    }
    if !policy.has_units() {
        return Ok(());
    }
    let recounted = recount::over_units(policy, source, release)?;
    compare_units(found, release, source, &recounted);
    // The manifest has the claims in the same order.
    let stated = release.manifest().map(|manifest| manifest.hedgerow.guarantees.as_slice()).unwrap_or_default();
    let linked = release.manifest().and_then(|manifest| manifest.hedgerow.units).is_some_and(|units| units.linked);
    let mut contradictions: Vec<String> = Vec::new();
    for (number, own) in found.guarantees.iter_mut().enumerate().filter(|(_, own)| own.rows.is_some()) {
        let Some(over_units) = recounted.claims.iter().find(|recounted| is_same(own, recounted)) else {
            if !linked {
                contradictions.push(format!(
                    "the manifest claims {} of units, for an attacker who knows {} rows of a unit, and the policy does not \
                     require it",
                    own.model,
                    own.rows.as_deref().unwrap_or_default()
                ));
            }
            continue;
        };
        let claimed = stated.get(number).map(|claim| &claim.achieved);
        if let Some(better) = claimed.and_then(|claimed| better_than(claimed, over_units)) {
            contradictions.push(better);
        }
        own.holds &= over_units.holds;
        own.achieved.clone_from(&over_units.achieved);
    }
    found.holds &= recounted.claims.iter().all(|claim| claim.holds);
    contradictions.into_iter().for_each(|problem| found.contradict(problem));
    found.unchecked.retain(|unchecked| !unchecked.contains("its count of units is the publisher's word"));
    Ok(())
}

/// Whether two claims are of one guarantee over units.
fn is_same(own: &Claim, other: &Claim) -> bool {
    own.rows == other.rows
        && own.model == other.model
        && own.required == other.required
        && own.know == other.know
        && own.protect == other.protect
}

/// A number of units or values that a manifest states and the source does not have.
fn better_than(claimed: &Map<String, Value>, recounted: &Claim) -> Option<String> {
    let parameter = match recounted.model.as_str() {
        "k-anonymity" => "k",
        "distinct-l-diversity" => "l",
        _ => return None,
    };
    let (claimed, counted) = (claimed.get(parameter)?.as_u64()?, recounted.achieved.get(parameter)?.as_u64()?);
    let problem = || {
        format!(
            "the manifest claims {} with {parameter} = {claimed}, the source gives {parameter} = {counted}",
            recounted.model
        )
    };
    (claimed > counted).then(problem)
}

/// Rows and units that the manifest states are those of the source.
fn compare_units(found: &mut Check, release: &Release, source: &Table, recounted: &UnitsRecounted) {
    let Some(manifest) = release.manifest() else { return };
    let rows = manifest.hedgerow.rows.source;
    if rows != source.rows as u64 {
        found.contradict(format!("the manifest says that the source has {rows} rows, it has {}", source.rows));
    }
    let Some(units) = manifest.hedgerow.units else { return };
    if (units.source, units.out) != (recounted.source, recounted.out) {
        found.contradict(format!(
            "the manifest says {} of {} units, the source gives {} of {}",
            units.out, units.source, recounted.out, recounted.source
        ));
    }
    if !recounted.links_agree {
        found.contradict("the release links rows that are not of one unit of the source".to_owned());
    }
}

/// A release that does not claim what the policy requires was made by another one.
fn refuse_unclaimed(policy: &Policy, found: &mut Check) {
    for (rule, model) in policy.rules.iter().flat_map(|rule| rule.require.iter().map(move |model| (rule, model))) {
        let required = model.required();
        let protect = rule.protect.as_ref().filter(|_| model.needs_protect());
        let is_it = |claim: &Claim| {
            claim.model == model.name()
                && required.iter().all(|(name, value)| claim.required.get(name) == Some(value))
                && rule.know.iter().all(|name| claim.know.contains(name))
                && claim.protect.as_ref() == protect
        };
        if !found.guarantees.iter().any(is_it) {
            let of = protect.map_or_else(String::new, |name| format!(" of `{name}`"));
            let parameters: Vec<String> = required.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            found.contradict(format!(
                "the policy requires {}{of} with {} of an attacker who knows {}, and the manifest does not claim it",
                model.name(),
                parameters.join(", "),
                rule.know.join(", ")
            ));
        }
    }
}

/// Judges the guarantees of a release for the rows that fit each person.
fn count_fitting(release: &Release, policy: &Policy, source: &Table, found: &mut Check) -> Result<(), Error> {
    // A release that does not state it is judged by it all the same.
    let failing = recount::failing_rows(policy, source, release)?;
    if failing > 0 {
        found.contradict(format!(
            "{failing} rows are of people whom too few rows fit: the others of their class have combinations of values that \
             do not occur in the source"
        ));
    }
    for claim in &mut found.guarantees {
        claim.holds &= failing == 0 || !claim.consistent;
    }
    found.unchecked.retain(|unchecked| !unchecked.contains("the publisher's word that enough rows fit everyone"));
    Ok(())
}

/// Checks any table against the rules of a policy, such as a file that another program released.
///
/// ```
/// use hedgerow::{CheckTable, Policy};
///
/// let policy = Policy::load("../../examples/hospital/policy.toml")?;
/// let found = CheckTable::new(&policy, "../../examples/hospital/patients.csv").run()?;
/// assert!(!found.holds(), "the source itself keeps no rule");
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is checked before `run`"]
pub struct CheckTable<'a> {
    policy: &'a Policy,
    table: Source<'a>,
}

impl<'a> CheckTable<'a> {
    /// A check of a table: a file, the address of a database, or rows in memory.
    pub fn new(policy: &'a Policy, table: impl Into<Source<'a>>) -> CheckTable<'a> {
        CheckTable { policy, table: table.into() }
    }

    /// Checks.
    pub fn run(self) -> Result<Check, Error> {
        self.run_with(&Monitor::default())
    }

    /// Checks, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Check, Error> {
        let policy = self.policy.inner();
        let place = self.table.shown(policy);
        let table = self.table.read_as(Some(policy), &any_options(policy, monitor))?;
        if let Some(unit) = policy.units().find(|unit| table.column(&unit.name).is_none()) {
            let problem = format!("the table has no column `{}`, by which the policy counts units", unit.name);
            let hint =
                "add the column; a release is checked by its directory, with --policy to count units in the source";
            return Err(InputError::new(place, problem, hint).into());
        }
        let rules = rules_for(policy, &table)?;
        let quasi: Vec<String> = policy.quasi().map(|attribute| attribute.name.clone()).collect();
        let checked = judge_table(&table, &quasi, &rules, &place)?;
        let identifiers = policy.attributes.iter().filter(|attribute| attribute.role == Role::Identifier);
        let identifiers = identifiers.filter(|attribute| table.header.contains(&attribute.name));
        let mut warnings = policy.warnings.clone();
        warnings.extend(about_claims(&policy.path.display().to_string(), &checked.claims, &quasi));
        warnings.extend(about_identifiers(&place, identifiers.map(|attribute| attribute.name.as_str())));
        let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
        let sensitive = sensitive.filter(|attribute| !attribute.declared.allow_unique);
        warnings.extend(warn_of_released(&place, &table, sensitive.map(|attribute| attribute.name.as_str())));
        let consistent = policy.rules.iter().filter(|rule| rule.consistent).flat_map(|rule| &rule.require);
        let unchecked = consistent.map(|model| {
            format!(
                "{}: which combinations of values can occur is counted in the source of a release; whole classes were counted",
                model.name()
            )
        });
        let unchecked = unchecked.collect();
        let found = ReleaseCheck { checked, contradictions: Vec::new(), unchecked };
        Ok(Check::new(found, warnings))
    }
}
