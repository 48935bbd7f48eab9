//! `hedgerow report DIR… -o FILE`: one page about one release, or about several together.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use hedgerow::{Release, Report};

use super::{load_policy, print, print_json};
use crate::args::{self, Talk};
use crate::failure::Failure;
use crate::progress::ProgressDisplay;

pub(crate) fn run(arguments: &args::ReportArguments, talk: &Talk) -> Result<ExitCode, Failure> {
    refuse_other_files(arguments)?;
    let policy = arguments.policy.as_deref().map(load_policy).transpose()?;
    let shown = ProgressDisplay::new(talk);
    let monitor = shown.monitor();
    let date = arguments.date.clone().or_else(today);
    let open = |path| Release::open_with(path, &monitor);
    let releases = arguments.releases.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let mut report = Report::new(&releases).publishable(arguments.publishable);
    if let Some(date) = date {
        report = report.date(date);
    }
    if let Some(policy) = &policy {
        report = report.policy(policy);
    }
    if let Some(people) = &arguments.people {
        report = report.people(people);
    }
    if let Some(ledger) = &arguments.ledger {
        report = with_ledger(report, ledger)?;
    }
    let reported = report.run_with(&monitor)?;
    drop(monitor);
    drop(shown);
    reported.write(&arguments.output)?;
    if talk.json {
        print_json(&reported.json)?;
    } else if !talk.quiet {
        let kind = if arguments.publishable {
            "from the released tables alone"
        } else if policy.is_some() || arguments.people.is_some() || arguments.ledger.is_some() {
            "internal: it shows figures about the private source and must not be published"
        } else {
            "from the released tables; --policy adds what was lost, --publishable omits what must not be published"
        };
        print(&format!(
            "report   {} ({} KiB)\nkind     {kind}\n",
            arguments.output.display(),
            reported.html.len().div_ceil(1024)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn today() -> Option<String> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    hedgerow::day_of((since.as_secs() / 86_400) as f64)
}

/// A report replaces a report; any other file only when that is requested.
fn refuse_other_files(arguments: &args::ReportArguments) -> Result<(), Failure> {
    let output = &arguments.output;
    let is_report = || {
        let mut start = vec![0u8; 4096];
        let read = std::fs::File::open(output).and_then(|mut file| file.read(&mut start));
        read.is_ok_and(|length| String::from_utf8_lossy(&start[..length]).contains(hedgerow::REPORT_TITLE))
    };
    // A device, a pipe or a folder is never replaced; behind a link, the file that it leads to is.
    let found = std::fs::symlink_metadata(output);
    let is_other = |found: &std::fs::Metadata| {
        if found.is_symlink() { !output.is_file() } else { !found.is_file() }
    };
    if found.is_ok_and(|found| is_other(&found)) {
        let hint = "name a file with -o";
        return Err(Failure::usage(output.display().to_string(), "is not a file that can be replaced", hint));
    }
    if arguments.force || !output.exists() || is_report() {
        return Ok(());
    }
    let hint = "name another file with -o, or add --force to replace it";
    Err(Failure::usage(output.display().to_string(), "exists already and is not a report", hint))
}

#[cfg(feature = "federation")]
fn with_ledger<'r>(report: Report<'r>, ledger: &Path) -> Result<Report<'r>, Failure> {
    Ok(report.ledger(ledger))
}

#[cfg(not(feature = "federation"))]
fn with_ledger<'r>(_: Report<'r>, _: &Path) -> Result<Report<'r>, Failure> {
    let hint = "build it with its default features: `cargo install --path crates/cli`";
    Err(Failure::usage("--ledger", "this build of the command reads no ledgers", hint))
}
