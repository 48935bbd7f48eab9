//! `hedgerow audit DIR…`: adversaries against releases, alone and together.

use std::process::ExitCode;

use hedgerow_audit::adversaries::correlation;
use hedgerow_audit::{AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_privacy::release_check::check_release;
use hedgerow_publish::bind::read_any;
use hedgerow_publish::community::open_any;
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::release::open::Opened;
use hedgerow_table::{Progress, TableError};

use super::{print, print_json};
use crate::args::{Audit, Talk, Weights};
use crate::failure::{BREACH, Failure, say};
use crate::progress::Bars;

pub(crate) fn run(arguments: &Audit, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    let mut releases: Vec<Opened> = Vec::new();
    for path in &arguments.releases {
        let mut opened = open_any(path, &bars)?;
        hold_against_claims(path, &mut opened, &bars);
        if releases.iter().any(|other| other.name == opened.name) {
            let hint = "name every release once";
            return Err(TableError::input(opened.name, "the release is named twice", hint).into());
        }
        releases.push(opened);
    }
    let people = match (&arguments.people, &arguments.policy) {
        (None, _) => None,
        (Some(path), Some(policy)) => Some(read_any(&Policy::load(policy)?, path, &bars)?),
        (Some(path), None) => Some(read_table(path, &ReadOptions { progress: &bars, ..ReadOptions::default() })?),
    };
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
        },
    )?;
    drop(bars);
    if talk.json {
        print_json(&audited.to_json())?;
    } else if !talk.quiet {
        print(&audited.to_string())?;
    }
    if audited.breach && !talk.quiet {
        say("breach: these releases tell more than they should; see above");
    }
    Ok(if audited.breach { ExitCode::from(BREACH) } else { ExitCode::SUCCESS })
}

/// What a manifest claims of its own guarantees, recomputed: a claim that does not hold is named, never believed.
fn hold_against_claims(path: &std::path::Path, opened: &mut Opened, progress: &dyn Progress) {
    if opened.manifest.is_none() {
        return;
    }
    // A kind of release that the check does not know yet is still audited by its tables.
    let Ok(found) = check_release(path, progress) else { return };
    let broken = found.checked.claims.iter().filter(|claim| !claim.holds);
    let broken = broken.map(|claim| format!("the manifest promises {}, which the table does not keep", claim.model));
    for problem in found.contradictions.into_iter().chain(broken) {
        if !opened.contradictions.contains(&problem) {
            opened.contradictions.push(problem);
        }
    }
}
