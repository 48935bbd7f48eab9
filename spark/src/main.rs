//! The `hedgerow-spark` command. Results go to standard output, talk to standard error. Exit codes:
//! 0 done; 1 failed; 2 usage or policy error; 3 no release can meet the policy; 4 a check found a
//! breach.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hedgerow::{Check, Claim, Error, Policy, Published};
use hedgerow_spark::{Publish, check};
use serde_json::Value;

/// Publishes tables of a Spark cluster: the rows stay there, and so does the work on them.
#[derive(Parser)]
#[command(name = "hedgerow-spark", version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Make a release of what `[source]` of a policy names, whose `engine` is the cluster
    Publish {
        /// The policy
        policy: PathBuf,
        /// The directory of the release, in a folder that this machine and the cluster share
        #[arg(short, long)]
        output: PathBuf,
        /// Replace a release that is there already
        #[arg(long)]
        force: bool,
        /// Count all lattice nodes that satisfy every rule
        #[arg(long)]
        candidates: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Recompute every guarantee of a release on a cluster
    Check {
        /// The directory of the release
        release: PathBuf,
        /// The cluster, such as sc://host:15002
        #[arg(long)]
        engine: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    // A panic's message may carry a value from the private table, so only its place is printed.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        say(&format!("error: internal error{place} (this is a bug in hedgerow; nothing was published)"));
    }));
    let outcome = std::panic::catch_unwind(|| match Arguments::parse().verb {
        Verb::Publish { policy, output, force, candidates, json } => {
            let policy = Policy::load(&policy)?;
            let published = Publish::new(&policy, output).overwrite(force).candidates(candidates).run()?;
            published.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
            print(if json { to_json(&published) } else { published_text(&published) });
            Ok(ExitCode::SUCCESS)
        }
        Verb::Check { release, engine, json } => {
            let found = check(&release, &engine)?;
            found.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
            print(if json { to_json(&found) } else { check_text(&found) });
            Ok(if found.holds() { ExitCode::SUCCESS } else { ExitCode::from(BREACH) })
        }
    });
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => report(&error),
        Err(_) => ExitCode::from(FAILED),
    }
}

const FAILED: u8 = 1;
const BREACH: u8 = 4;

fn report(error: &Error) -> ExitCode {
    say(&format!("error: {error}"));
    ExitCode::from(error.exit_code())
}

/// A line on standard error. Unlike `eprintln!` it does not panic when the reader is gone.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn print(text: String) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).map_or_else(|_| String::new(), |text| text + "\n")
}

fn published_text(published: &Published) -> String {
    let (rows, classes) = (published.rows, published.classes);
    let mut text = format!(
        "release  {}\nrows     {} read, {} released, {} suppressed\nclasses  {} of {} to {} rows\n",
        published.release.display(),
        rows.source,
        rows.out,
        rows.suppressed,
        classes.count,
        classes.min,
        classes.max,
    );
    if let Some(search) = &published.search {
        let levels =
            search.levels.iter().zip(&search.tops).map(|((name, level), top)| format!("{name} {level} of {top}"));
        text.push_str(&format!("levels   {}\n", levels.collect::<Vec<_>>().join(", ")));
        if let Some(candidates) = search.candidates {
            text.push_str(&format!("nodes    {candidates} lattice nodes satisfy every rule\n"));
        }
    }
    let losses: Vec<String> = published.loss.iter().map(|(name, loss)| format!("{name} {loss}")).collect();
    text.push_str(&format!("loss     {}\n", losses.join(", ")));
    text.push_str("guarantees, recomputed by the cluster from the written tables\n");
    text + &claims_text(&published.guarantees)
}

fn check_text(check: &Check) -> String {
    let mut text = claims_text(&check.guarantees);
    for problem in &check.contradictions {
        text.push_str(&format!("contradiction: {problem}\n"));
    }
    for what in &check.unchecked {
        text.push_str(&format!("not checked: {what}\n"));
    }
    text + if check.holds() { "every guarantee holds\n" } else { "the release does not hold what it claims\n" }
}

fn claims_text(claims: &[Claim]) -> String {
    let pairs = |map: &serde_json::Map<String, Value>| {
        map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    };
    let line = |claim: &Claim| {
        let verdict = if claim.holds { "holds" } else { "BROKEN" };
        let of = claim.protect.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
        let (required, achieved) = (pairs(&claim.required), pairs(&claim.achieved));
        format!("  {}{of}: {required} required, {achieved} achieved: {verdict}\n", claim.model)
    };
    claims.iter().map(line).collect()
}
