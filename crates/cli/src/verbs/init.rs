//! `hedgerow init DATA`: profiles a file and writes a policy to start from.

use std::path::Path;
use std::process::ExitCode;

use hedgerow::{ColumnProfile, Propose, Relation};
use serde_json::json;

use super::{print, print_json, warn};
use crate::args::{Init, Talk};
use crate::failure::Failure;
use crate::progress::ProgressDisplay;

pub(crate) fn run(arguments: &Init, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = match &arguments.output {
        Some(path) => path.clone(),
        None => hedgerow::policy_beside(&arguments.data),
    };
    let shown = ProgressDisplay::new(talk);
    let propose = Propose::new(&arguments.data).policy_path(&policy).overwrite(arguments.force);
    let proposal = propose.run_with(&shown.monitor())?;
    drop(shown);
    warn(talk, &proposal.warnings);
    proposal.write(arguments.force)?;
    if talk.json {
        let columns: Vec<_> = proposal.columns.iter().map(column_json).collect();
        let written: Vec<String> = proposal.files.iter().map(|(path, _)| path.display().to_string()).collect();
        print_json(&json!({
            "policy": policy.display().to_string(), "files": written, "rows": proposal.rows, "columns": columns,
            "relations": proposal.relations.iter().map(relation_json).collect::<Vec<_>>(),
            "warnings": proposal.warnings,
        }))?;
    } else if !talk.quiet {
        print(&summary(&proposal.columns, proposal.rows, &policy, proposal.files.len() - 1))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn column_json(profile: &ColumnProfile) -> serde_json::Value {
    json!({
        "name": profile.name, "type": profile.kind.name(), "distinct": profile.distinct, "missing": profile.missing,
        "role": profile.role.map(|role| role.name()), "reason": profile.reason, "hierarchy": profile.hierarchy,
    })
}

fn relation_json(relation: &Relation) -> serde_json::Value {
    match relation {
        Relation::Determines { from, to } => json!({ "from": [from], "determines": to }),
        Relation::Sum { total, parts } => json!({ "total": total, "sum_of": parts }),
    }
}

fn summary(profiles: &[ColumnProfile], rows: usize, policy: &Path, hierarchies: usize) -> String {
    let width = profiles.iter().map(|profile| profile.name.chars().count()).max().unwrap_or(0).clamp(6, 30);
    let mut text = format!("{rows} rows, {} columns\n\n", profiles.len());
    text.push_str(&format!(
        "{:width$}  {:8}  {:>9}  {:>8}  {:10}  why\n",
        "column", "type", "different", "missing", "role"
    ));
    for profile in profiles {
        let role = profile.role.map_or("omitted", |role| role.name());
        text.push_str(&format!(
            "{:width$}  {:8}  {:>9}  {:>8}  {role:10}  {}\n",
            profile.name,
            profile.kind.name(),
            profile.distinct,
            profile.missing,
            profile.reason
        ));
    }
    let policy = policy.display();
    text.push_str(&format!(
        "\nwrote {policy}{}\nnext: read it, correct the roles where they are wrong, then run\n  hedgerow publish {policy} -o release\n",
        if hierarchies > 0 { format!(" and {hierarchies} hierarchies beside it") } else { String::new() }
    ));
    text
}
