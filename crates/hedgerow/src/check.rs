//! Recomputing guarantees: of a release from its own tables, or of any table by a policy.

use std::path::Path;

use hedgerow_policy::{Policy, Role};
use hedgerow_publish::bind::{any_options, rules_for};
use hedgerow_publish::singling_out::warn_of_released;
use hedgerow_release::Release;
use hedgerow_release::manifest::{Claim, ClassSizes};
use hedgerow_table::InputError;
use hedgerow_verify::check::check_table as judge_table;
use hedgerow_verify::release_check::{ReleaseCheck, check_release};
use hedgerow_verify::warnings::{about_claims, about_identifiers, identifiers_of};
use serde::Serialize;

use crate::{Error, Monitor, Problem, source};

/// What a check found. Serialized, it is what `hedgerow check --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// Every guarantee: what is required and what the tables achieve.
    pub guarantees: Vec<Claim>,
    holds: bool,
    /// Where the release contradicts itself: its manifest, its codebook, its tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
    /// Claims that hold and still protect nobody.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "problems")]
    pub warnings: Vec<Problem>,
    /// Guarantees that need more than the release to be recomputed, such as the earlier releases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<String>,
    /// How many rows the tables have.
    #[serde(skip)]
    pub rows: u64,
    /// How many equivalence classes there are, and their sizes.
    #[serde(skip)]
    pub classes: ClassSizes,
}

fn problems<S: serde::Serializer>(warnings: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(|warning| &warning.problem))
}

impl Check {
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

/// Recomputes every guarantee of a release from its tables.
pub fn check(release: &Release) -> Result<Check, Error> {
    check_combined(release, &[])
}

/// As [`check`]; a guarantee across releases is recomputed with the `earlier` ones.
pub fn check_combined(release: &Release, earlier: &[&Release]) -> Result<Check, Error> {
    let found = check_release(release, earlier)?;
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

/// Checks any table, a file or one in a database, against the rules of a policy, such as one that
/// another program released.
pub fn check_table(table: &Path, policy: &Policy, monitor: &Monitor<'_>) -> Result<Check, Error> {
    let place = source::shown(table);
    let table = source::read(table, &any_options(policy, monitor))?;
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
    let found = ReleaseCheck { checked, contradictions: Vec::new(), unchecked: Vec::new() };
    Ok(Check::new(found, warnings))
}
