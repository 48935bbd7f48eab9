//! `hedgerow audit DIR…`: adversaries against releases, alone and combined.

use std::process::ExitCode;

use hedgerow::Audit;

use super::{load_policy, print, print_json};
use crate::args::{self, Talk, Weights};
use crate::failure::{BREACH, Failure, say};
use crate::progress::Shown;
use crate::text::AuditText;

pub(crate) fn run(arguments: &args::Audit, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = arguments.policy.as_deref().map(load_policy).transpose()?;
    let shown = Shown::new(talk);
    let monitor = shown.monitor();
    let mut releases = Vec::new();
    for path in &arguments.releases {
        releases.push(hedgerow::open_with(path, &monitor)?);
    }
    let limit = |wanted: char| arguments.fail_under.iter().rev().find(|(name, _)| *name == wanted).map(|&(_, n)| n);
    let mut audit = Audit::new(releases)?
        .adversaries(arguments.adversary.clone())
        .l(limit('l'))
        .k(limit('k'))
        .weights(match arguments.weights {
            Weights::Exact => hedgerow::Weights::Exact,
            Weights::Uniform => hedgerow::Weights::Uniform,
        })
        .table(arguments.table);
    if let Some(folder) = &arguments.catalog {
        audit = audit.catalog(folder, &monitor)?;
    }
    if let Some(policy) = &policy {
        audit = audit.policy(policy);
    }
    if let Some(people) = &arguments.people {
        audit = audit.people(people, &monitor)?;
    }
    let audited = audit.run()?;
    drop(monitor);
    drop(shown);
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
