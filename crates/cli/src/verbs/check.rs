//! `hedgerow check`: recomputes every guarantee, of a release or of any table against a policy.

use std::process::ExitCode;

use hedgerow::{CheckTable, Release};

use super::{claims_text, load_policy, print, print_json, warn};
use crate::args::{Check, Talk};
use crate::failure::{BREACH, Failure};
use crate::progress::Shown;

pub(crate) fn run(arguments: &Check, talk: &Talk) -> Result<ExitCode, Failure> {
    let shown = Shown::new(talk);
    let monitor = shown.monitor();
    let found = match &arguments.policy {
        None => {
            let mut earlier = Vec::new();
            for path in &arguments.community {
                earlier.push(Release::open_with(path, &monitor)?);
            }
            Release::open_with(&arguments.target, &monitor)?.check_among(&earlier)?
        }
        Some(path) => {
            let policy = load_policy(path)?;
            // Of other releases, the policy adds nothing to what the manifest says.
            let release = match policy.has_units() || policy.is_consistent() {
                true if arguments.target.join("datapackage.json").is_file() => {
                    Some(Release::open_with(&arguments.target, &monitor)?)
                }
                // A database may hold a release, or a table.
                true => Release::open_with(&arguments.target, &monitor).ok(),
                false => None,
            };
            match release {
                Some(release) => release.check_units_with(&policy, &monitor)?,
                None => CheckTable::new(&policy, &arguments.target).run_with(&monitor)?,
            }
        }
    };
    drop(monitor);
    drop(shown);
    warn(talk, &found.warnings);
    if talk.json {
        print_json(&found)?;
    } else if !talk.quiet {
        let classes = found.classes;
        let mut text = format!(
            "{} rows in {} classes of {} to {} rows\n{}",
            found.rows,
            classes.count,
            classes.min,
            classes.max,
            claims_text(&found.guarantees)
        );
        for contradiction in &found.contradictions {
            text.push_str(&format!("  INCONSISTENT  {contradiction}\n"));
        }
        for unchecked in &found.unchecked {
            let option = if unchecked.contains("name the releases") { " (--community)" } else { "" };
            text.push_str(&format!("  unchecked  {unchecked}{option}\n"));
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
