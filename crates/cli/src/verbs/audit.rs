//! `hedgerow audit DIR…`: adversaries against releases, alone and combined.

use std::process::ExitCode;

use hedgerow::{Audit, Audited, Policy, Release};

use super::{print, print_json};
use crate::args::{self, AuditLimit, Talk, Weights};
use crate::failure::{BREACH, Failure, say};
use crate::progress::ProgressDisplay;
use crate::text::AuditText;

pub(crate) fn run(arguments: &args::Audit, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = arguments.policy.as_deref().map(Policy::load_without_rules).transpose()?;
    let shown = ProgressDisplay::new(talk);
    let monitor = shown.monitor();
    let mut releases = Vec::new();
    for path in &arguments.releases {
        releases.push(Release::open_with(path, &monitor)?);
    }
    let (mut l, mut k, mut confidence) = (None, None, None);
    for limit in &arguments.fail_under {
        match *limit {
            AuditLimit::L(limit) => l = Some(limit),
            AuditLimit::K(limit) => k = Some(limit),
            AuditLimit::Confidence(limit) => confidence = Some(limit),
        }
    }
    let mut audit = Audit::new(&releases)
        .adversaries(arguments.adversary.clone())
        .l(l)
        .k(k)
        .confidence(confidence)
        .weights(match arguments.weights {
            Weights::Exact => hedgerow::Weights::Exact,
            Weights::Uniform => hedgerow::Weights::Uniform,
        })
        .table(arguments.table);
    if let Some(folder) = &arguments.catalog {
        audit = audit.catalog(folder);
    }
    if let Some(policy) = &policy {
        audit = audit.policy(policy);
    }
    if let Some(people) = &arguments.people {
        audit = audit.people(people);
    }
    let audited = audit.run_with(&monitor)?;
    drop(monitor);
    drop(shown);
    if let Some(path) = &arguments.list {
        hedgerow::write_file(path, people_at_risk(&audited).as_bytes())?;
    }
    if talk.json {
        print_json(&audited)?;
    } else if !talk.quiet {
        print(&AuditText(&audited).to_string())?;
    }
    if audited.breach && !talk.quiet {
        let one = audited.findings.iter().filter(|finding| finding.breach).all(|finding| finding.releases.len() < 2);
        let what = if one { "the release discloses" } else { "the combined releases disclose" };
        say(&format!("breach: {what} sensitive values; see above"));
    }
    Ok(if audited.breach { ExitCode::from(BREACH) } else { ExitCode::SUCCESS })
}

/// One line for each person and adversary: the row of the people's table, from 1.
fn people_at_risk(audited: &Audited) -> String {
    let mut text = String::from("row,adversary,protect,releases\n");
    for finding in &audited.findings {
        let protect = quoted(finding.protect.as_deref().unwrap_or_default());
        let releases = quoted(&finding.releases.join(" + "));
        for row in &finding.people_at_risk {
            text.push_str(&format!("{},{},{protect},{releases}\n", row + 1, finding.adversary));
        }
    }
    text
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
