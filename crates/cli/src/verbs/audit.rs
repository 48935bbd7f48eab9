//! `hedgerow audit DIR…`: adversaries against releases, alone and together.

use std::path::Path;
use std::process::ExitCode;

use hedgerow_audit::adversaries::correlation;
use hedgerow_audit::adversaries::minimality::HowMade;
use hedgerow_audit::{AuditOptions, audit};
use hedgerow_policy::{Attribute, Policy};
use hedgerow_publish::bind::read_any;
use hedgerow_publish::catalog::Catalog;
use hedgerow_publish::community::open_any;
use hedgerow_release::Release;
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Hierarchy, HierarchySpec, Progress, Table, TableError};
use hedgerow_verify::release_check::broken_claims;

use super::{print, print_json};
use crate::args::{Audit, Talk, Weights};
use crate::failure::{BREACH, Failure, say};
use crate::progress::Bars;
use crate::text::AuditText;

pub(crate) fn run(arguments: &Audit, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    let mut releases: Vec<Release> = Vec::new();
    for path in &arguments.releases {
        let opened = open(path, &bars)?;
        if releases.iter().any(|other| other.name() == opened.name()) {
            let hint = "name every release once";
            return Err(TableError::input(opened.name(), "the release is named twice", hint).into());
        }
        releases.push(opened);
    }
    let mut own = Vec::new();
    if let Some(folder) = &arguments.catalog {
        own = open_catalog(&Catalog::load(folder)?, &mut releases, &bars)?;
    }
    let policy = arguments.policy.as_ref().map(|policy| Policy::load(policy)).transpose()?;
    let people = match (&arguments.people, &policy) {
        (None, _) => None,
        (Some(path), Some(policy)) => Some(read_any(policy, path, &bars)?),
        (Some(path), None) => Some(read_table(path, &ReadOptions { progress: &bars, ..ReadOptions::default() })?),
    };
    let hierarchies = match (&policy, &people) {
        (Some(policy), Some(people)) => hierarchies_over(policy, people),
        _ => Vec::new(),
    };
    let hierarchies: Vec<(String, &Hierarchy)> =
        hierarchies.iter().map(|(name, hierarchy)| (name.clone(), hierarchy)).collect();
    let limit = |wanted: char| arguments.fail_under.iter().rev().find(|(name, _)| *name == wanted).map(|&(_, n)| n);
    let audited = audit(
        &releases,
        &AuditOptions {
            people: people.as_ref(),
            adversaries: arguments.adversary.clone(),
            l: limit('l'),
            k: limit('k'),
            weights: match arguments.weights {
                Weights::Exact => correlation::Weights::Exact,
                Weights::Uniform => correlation::Weights::Uniform,
            },
            table: arguments.table,
            own,
            made: policy.as_ref().map(|policy| HowMade {
                hierarchies: &hierarchies,
                suppression: policy.publish.suppression.numerator > 0,
            }),
        },
    )?;
    drop(bars);
    if talk.json {
        print_json(&audited)?;
    } else if !talk.quiet {
        print(&AuditText(&audited).to_string())?;
    }
    if audited.breach && !talk.quiet {
        say("breach: the combined releases disclose sensitive values; see above");
    }
    Ok(if audited.breach { ExitCode::from(BREACH) } else { ExitCode::SUCCESS })
}

fn open(path: &Path, progress: &dyn Progress) -> Result<Release, Failure> {
    let mut opened = open_any(path, progress)?;
    broken_claims(&opened).into_iter().for_each(|problem| opened.contradict(problem));
    Ok(opened)
}

/// Opens what a catalog holds, and says which of the releases are one custodian's, in the order in which they were added.
fn open_catalog(catalog: &Catalog, releases: &mut Vec<Release>, bars: &Bars) -> Result<Vec<Vec<usize>>, Failure> {
    let mut own: Vec<(&str, Vec<usize>)> = Vec::new();
    for entry in &catalog.entries {
        let path = catalog.path(entry);
        let mut opened = open(&path, bars)?;
        if opened.digest()? != entry.digest {
            opened.contradict("its files are not those that were added to the catalog".to_owned());
        }
        if let Some(custodian) = &entry.custodian {
            match own.iter_mut().find(|(name, _)| name == custodian) {
                Some((_, theirs)) => theirs.push(releases.len()),
                None => own.push((custodian, vec![releases.len()])),
            }
        }
        releases.push(opened.named(&entry.name));
    }
    Ok(own.into_iter().map(|(_, theirs)| theirs).filter(|theirs| theirs.len() > 1).collect())
}

/// The policy's hierarchies over the values of these people, where they cover them.
fn hierarchies_over(policy: &Policy, people: &Table) -> Vec<(String, Hierarchy)> {
    let of = |attribute: &Attribute| {
        let column = people.column(&attribute.name)?;
        let none = (HierarchySpec::None, attribute.place.clone());
        let (spec, place) = attribute.hierarchy.as_ref().unwrap_or(&none);
        let built = Hierarchy::build(spec, &attribute.name, place, &column.domain, &policy.source.nulls);
        Some((attribute.name.clone(), built.ok()?))
    };
    policy.quasi().filter_map(of).collect()
}
