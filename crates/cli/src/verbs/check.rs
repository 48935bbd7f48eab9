//! `hedgerow check`: recomputes every guarantee, of a release or of any table against a policy.

use std::path::Path;
use std::process::ExitCode;

use hedgerow::{CheckTable, Error, ErrorKind, Monitor, Release};
use serde_json::json;

use super::{claims_text, load_policy, print, print_json, warn};
use crate::args::{Check, Talk};
use crate::failure::{BREACH, Failure};
use crate::progress::ProgressDisplay;
use crate::text::row_range;

pub(crate) fn run(arguments: &Check, talk: &Talk) -> Result<ExitCode, Failure> {
    let shown = ProgressDisplay::new(talk);
    let monitor = shown.monitor();
    let found = match &arguments.policy {
        None => {
            let mut earlier = Vec::new();
            for path in &arguments.community {
                earlier.push(Release::open_with(path, &monitor)?);
            }
            let release = opened(&arguments.target, &monitor)?;
            release.and_then(|release| release.check_among(&earlier))
        }
        Some(path) => {
            let policy = load_policy(path)?;
            let release = match policy.has_units() || policy.is_consistent() {
                _ if has_manifest(&arguments.target) => Some(opened(&arguments.target, &monitor)?),
                // A database may hold a release, or a table.
                true => Release::open_with(&arguments.target, &monitor).ok().map(Ok),
                false => None,
            };
            match release {
                Some(Ok(release)) => Ok(release.check_units_with(&policy, &monitor)?),
                Some(Err(wrong)) => Err(wrong),
                None => Ok(CheckTable::new(&policy, &arguments.target).run_with(&monitor)?),
            }
        }
    };
    let found = match found {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::Input => {
            drop(monitor);
            drop(shown);
            return wrong(&error, talk);
        }
        Err(error) => return Err(error.into()),
    };
    drop(monitor);
    drop(shown);
    warn(talk, &found.warnings);
    if talk.json {
        print_json(&found)?;
    } else if !talk.quiet {
        let classes = found.classes;
        let mut text = format!(
            "{} rows in {} classes of {}\n{}",
            found.rows,
            classes.count,
            row_range(classes.min, classes.max),
            claims_text(&found.guarantees)
        );
        for contradiction in &found.contradictions {
            text.push_str(&format!("  CONTRADICTION  {contradiction}\n"));
        }
        for (models, why) in unchecked_by_reason(&found.unchecked) {
            let option = match why {
                _ if why.contains("name the releases") => " (--community)",
                _ if why.contains("the publisher's word") => " (--policy counts them from the source)",
                _ => "",
            };
            text.push_str(&format!("  unchecked  {}: {why}{option}\n", models.join(", ")));
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

/// Each reason once, behind the guarantees that it is about; several of a model are counted.
fn unchecked_by_reason(unchecked: &[String]) -> Vec<(Vec<String>, &str)> {
    let mut reasons: Vec<(&str, Vec<(&str, usize)>)> = Vec::new();
    for line in unchecked {
        let (model, why) = line.split_once(": ").unwrap_or(("a guarantee", line));
        let place = reasons.iter().position(|(known, _)| *known == why).unwrap_or_else(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        let models = &mut reasons[place].1;
        match models.iter_mut().find(|(known, _)| *known == model) {
            Some((_, count)) => *count += 1,
            None => models.push((model, 1)),
        }
    }
    let counted = |(model, count): (&str, usize)| match count {
        1 => model.to_owned(),
        several => format!("{several} × {model}"),
    };
    reasons.into_iter().map(|(why, models)| (models.into_iter().map(counted).collect(), why)).collect()
}

fn has_manifest(target: &Path) -> bool {
    target.join("datapackage.json").symlink_metadata().is_ok()
}

/// The release to be checked. What names no release is a wrong argument, and fails; what is wrong
/// about a release is inside.
fn opened(target: &Path, monitor: &Monitor<'_>) -> Result<Result<Release, Error>, Failure> {
    let is_release = has_manifest(target);
    match Release::open_with(target, monitor) {
        Err(error) if !is_release && !error.is_of_release() => Err(error.into()),
        opened => Ok(opened),
    }
}

/// A release whose files cannot be read as what its manifest says, or whose manifest says what no
/// release says: nothing holds.
fn wrong(error: &Error, talk: &Talk) -> Result<ExitCode, Failure> {
    let problems = error.problems().iter().map(|problem| format!("{}: {}", problem.place, problem.problem));
    let problems: Vec<String> = problems.collect();
    if talk.json {
        print_json(&json!({ "guarantees": [], "holds": false, "contradictions": problems, "warnings": [] }))?;
    } else if !talk.quiet {
        let lines: String = problems.iter().map(|problem| format!("  CONTRADICTION  {problem}\n")).collect();
        print(&format!("{lines}do not publish this: see above\n"))?;
    }
    Ok(ExitCode::from(BREACH))
}
