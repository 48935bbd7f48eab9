//! `hedgerow init DATA`: profiles a file and writes a policy to start from.

use std::path::Path;
use std::process::ExitCode;

use hedgerow::{ColumnProfile, Problem, Propose, Relation};
use serde::Serialize;

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
        print_json(&Drafted {
            policy: policy.display().to_string(),
            files: proposal.files.iter().map(|(path, _)| path.display().to_string()).collect(),
            rows: proposal.rows,
            columns: proposal.columns.iter().map(DraftedColumn::of).collect(),
            relations: proposal.relations.iter().map(FoundRelation::of).collect(),
            warnings: &proposal.warnings,
        })?;
    } else if !talk.quiet {
        print(&summary(&proposal.columns, proposal.rows, &policy, proposal.files.len() - 1))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Drafted<'a> {
    /// The policy that was written.
    policy: String,
    /// Every file that was written.
    files: Vec<String>,
    rows: usize,
    columns: Vec<DraftedColumn<'a>>,
    /// Functional dependencies and sums that hold in the data.
    relations: Vec<FoundRelation<'a>>,
    warnings: &'a [Problem],
}

#[derive(Serialize)]
struct DraftedColumn<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Different values.
    distinct: u64,
    /// Rows without a value.
    missing: u64,
    /// `None` for a column that the draft omits.
    role: Option<&'static str>,
    /// Why it has this role.
    reason: &'a str,
    hierarchy: &'a str,
}

impl DraftedColumn<'_> {
    fn of(profile: &ColumnProfile) -> DraftedColumn<'_> {
        DraftedColumn {
            name: &profile.name,
            kind: profile.kind.name(),
            distinct: profile.distinct,
            missing: profile.missing,
            role: profile.role.map(|role| role.name()),
            reason: &profile.reason,
            hierarchy: &profile.hierarchy,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum FoundRelation<'a> {
    Determines { from: [&'a str; 1], determines: &'a str },
    Sum { total: &'a str, sum_of: &'a [String] },
}

impl FoundRelation<'_> {
    fn of(relation: &Relation) -> FoundRelation<'_> {
        match relation {
            Relation::Determines { from, to } => FoundRelation::Determines { from: [from], determines: to },
            Relation::Sum { total, parts } => FoundRelation::Sum { total, sum_of: parts },
        }
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
