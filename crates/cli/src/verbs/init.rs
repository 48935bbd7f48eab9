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

/// Longer names are on lines of their own.
const NAME_CHARS_MAX: usize = 30;

fn summary(profiles: &[ColumnProfile], rows: usize, policy: &Path, hierarchies: usize) -> String {
    let lengths = profiles.iter().map(|profile| profile.name.chars().count());
    let width = lengths.filter(|length| *length <= NAME_CHARS_MAX).max().unwrap_or(0).max(6);
    let columns = profiles.len();
    let mut text = format!("{rows} rows, {columns} {}\n\n", if columns == 1 { "column" } else { "columns" });
    text.push_str(&format!(
        "{:width$}  {:8}  {:>9}  {:>8}  {:10}  why\n",
        "column", "type", "different", "missing", "role"
    ));
    for profile in profiles {
        let role = profile.role.map_or("omitted", |role| role.name());
        let mut name = profile.name.as_str();
        if name.chars().count() > NAME_CHARS_MAX {
            text.push_str(name);
            text.push('\n');
            name = "";
        }
        text.push_str(&format!(
            "{name:width$}  {:8}  {:>9}  {:>8}  {role:10}  {}\n",
            profile.kind.name(),
            profile.distinct,
            profile.missing,
            profile.reason
        ));
    }
    let policy = policy.display();
    let beside = match hierarchies {
        0 => String::new(),
        1 => " and 1 hierarchy beside it".to_owned(),
        several => format!(" and {several} hierarchies beside it"),
    };
    text.push_str(&format!(
        "\nwrote {policy}{beside}\nnext: read it, correct the roles where they are wrong, then run\n  hedgerow publish {policy} -o release\n"
    ));
    text
}
