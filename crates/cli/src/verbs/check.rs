//! `hedgerow check`: recomputes every guarantee, from a release or for any table against a policy.

use std::process::ExitCode;

use hedgerow_policy::{Policy, Role};
use hedgerow_publish::bind::{read_any, rules_for};
use hedgerow_publish::community::open_any;
use hedgerow_release::manifest::FILE_NAME;
use hedgerow_release::{Release, Tables};
use hedgerow_verify::check::check_table;
use hedgerow_verify::release_check::{ReleaseCheck, check_release};
use hedgerow_verify::warnings::{about_claims, about_identifiers, identifiers_of};
use serde_json::json;

use super::{claims_json, claims_text, print, print_json, warn};
use crate::args::{Check, Talk};
use crate::failure::{BREACH, Failure};
use crate::progress::Bars;

pub(crate) fn run(arguments: &Check, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    let (found, warnings) = match &arguments.policy {
        None => {
            let mut earlier = Vec::new();
            for path in &arguments.community {
                earlier.push(open_any(path, &bars)?);
            }
            let release = Release::open(&arguments.target, &bars)?;
            let found = check_release(&release, &earlier.iter().collect::<Vec<_>>())?;
            let place = arguments.target.join(FILE_NAME).display().to_string();
            let resources = release.manifest().map(|manifest| manifest.resources.as_slice()).unwrap_or_default();
            let fields = resources.iter().flat_map(|resource| &resource.schema.fields);
            let quasi = fields.filter(|field| field.role.as_deref() == Some("quasi"));
            let mut quasi: Vec<String> = quasi.map(|field| field.name.clone()).collect();
            if matches!(release.tables(), Tables::Decomposed(_)) {
                // Roles do not apply there: an attribute protected by one rule may be known in another.
                let claims = &found.checked.claims;
                quasi.retain(|name| claims.iter().all(|claim| claim.protect.as_ref() != Some(name)));
                quasi.sort_unstable();
                quasi.dedup();
            }
            let mut warnings = about_claims(&place, &found.checked.claims, &quasi);
            warnings.extend(about_identifiers(&place, identifiers_of(resources)));
            (found, warnings)
        }
        Some(path) => {
            let policy = Policy::load(path)?;
            warn(talk, &policy.warnings);
            let table = read_any(&policy, &arguments.target, &bars)?;
            let rules = rules_for(&policy, &table)?;
            let quasi: Vec<String> = policy.quasi().map(|attribute| attribute.name.clone()).collect();
            let place = arguments.target.display().to_string();
            let checked = check_table(&table, &quasi, &rules, &place)?;
            let identifiers = policy.attributes.iter().filter(|attribute| attribute.role == Role::Identifier);
            let identifiers = identifiers.filter(|attribute| table.header.contains(&attribute.name));
            let mut warnings = about_claims(&path.display().to_string(), &checked.claims, &quasi);
            warnings.extend(about_identifiers(&place, identifiers.map(|attribute| attribute.name.as_str())));
            (ReleaseCheck { checked, contradictions: Vec::new(), unchecked: Vec::new() }, warnings)
        }
    };
    drop(bars);
    warn(talk, &warnings);
    if talk.json {
        let mut object = json!({ "guarantees": claims_json(&found.checked.claims), "holds": found.holds() });
        if !found.contradictions.is_empty() {
            object["contradictions"] = json!(found.contradictions);
        }
        if !warnings.is_empty() {
            object["warnings"] = warnings.iter().map(|warning| warning.problem.clone()).collect();
        }
        if !found.unchecked.is_empty() {
            object["unchecked"] = json!(found.unchecked);
        }
        print_json(&object)?;
    } else if !talk.quiet {
        let classes = found.checked.classes;
        let mut text = format!(
            "{} rows in {} classes of {} to {} rows\n{}",
            found.checked.rows,
            classes.count,
            classes.min,
            classes.max,
            claims_text(&found.checked.claims)
        );
        for contradiction in &found.contradictions {
            text.push_str(&format!("  INCONSISTENT  {contradiction}\n"));
        }
        for unchecked in &found.unchecked {
            text.push_str(&format!("  unchecked  {unchecked}\n"));
        }
        text.push_str(if found.holds() && !found.unchecked.is_empty() {
            "every guarantee that could be recomputed holds\n"
        } else if found.holds() {
            "every guarantee holds\n"
        } else {
            "do not publish this: see above\n"
        });
        print(&text)?;
    }
    Ok(if found.holds() { ExitCode::SUCCESS } else { ExitCode::from(BREACH) })
}
