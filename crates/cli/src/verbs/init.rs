//! `hedgerow init DATA`: profiles a file and writes a policy to start from.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hedgerow_policy::propose::{ColumnProfile, ProposeOptions, propose, suspected_nulls};
use hedgerow_table::TableError;
use hedgerow_table::read::{ReadOptions, read_table};
use serde_json::json;

use super::{print, print_json};
use crate::args::{Init, Talk};
use crate::failure::Failure;
use crate::progress::Bars;

pub(crate) fn run(arguments: &Init, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy_path = match &arguments.output {
        Some(path) => path.clone(),
        None => arguments.data.with_file_name("policy.toml"),
    };
    let bars = Bars::new(talk);
    let mut options = ReadOptions { progress: &bars, ..ReadOptions::default() };
    let mut table = read_table(&arguments.data, &options)?;
    let suspected = suspected_nulls(&table);
    if !suspected.is_empty() {
        options.nulls.extend(suspected);
        table = read_table(&arguments.data, &options)?;
    }
    let folder = match policy_path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let source = relative(&arguments.data, folder);
    let proposal =
        propose(&table, &source, &ProposeOptions { nulls: options.nulls.clone(), ..ProposeOptions::default() });
    drop(bars);
    let mut files: Vec<(PathBuf, &str)> =
        proposal.files.iter().map(|(path, text)| (folder.join(path), text.as_str())).collect();
    files.push((policy_path.clone(), &proposal.policy));
    write_all(&files, arguments.force)?;
    if talk.json {
        let columns: Vec<_> = proposal.profiles.iter().map(column_json).collect();
        let written: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        print_json(&json!({
            "policy": policy_path.display().to_string(), "files": written, "rows": table.rows, "columns": columns
        }))?;
    } else if !talk.quiet {
        print(&summary(&proposal.profiles, table.rows, &policy_path, files.len() - 1))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All files or none: what exists is not touched without `--force`, and is looked for before anything is written.
fn write_all(files: &[(PathBuf, &str)], force: bool) -> Result<(), TableError> {
    if let Some((path, _)) = files.iter().find(|(path, _)| !force && path.exists()) {
        let hint = "name another policy with -o, or add --force to replace it";
        return Err(TableError::input(path.display().to_string(), "exists already", hint));
    }
    let folders: HashSet<&Path> = files.iter().filter_map(|(path, _)| path.parent()).collect();
    for folder in folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| TableError::io(folder, error))?;
    }
    for (path, text) in files {
        std::fs::write(path, text).map_err(|error| TableError::io(path, error))?;
    }
    Ok(())
}

/// The data's path as the policy names it: from the policy's folder where that is a prefix, else whole.
fn relative(data: &Path, folder: &Path) -> String {
    let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (data, folder) = (whole(data), whole(folder));
    data.strip_prefix(&folder).unwrap_or(&data).display().to_string()
}

fn column_json(profile: &ColumnProfile) -> serde_json::Value {
    json!({
        "name": profile.name, "type": profile.kind.name(), "distinct": profile.distinct, "missing": profile.missing,
        "role": profile.role.map(|role| role.name()), "reason": profile.reason, "hierarchy": profile.hierarchy,
    })
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
