//! `hedgerow synth`: synthetic data to try things on.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::{print, print_json};
use crate::args::{Synth, SynthWhat, Talk};
use crate::failure::Failure;

pub(crate) fn run(arguments: &Synth, talk: &Talk) -> Result<ExitCode, Failure> {
    let SynthWhat::Census(census) = &arguments.what;
    match &census.output {
        None if talk.json => {
            let problem = "without -o the data itself goes to standard output, which leaves no room for JSON";
            let hint = "name a directory with -o, or leave --json out";
            return Err(Failure::usage("--json", problem, hint));
        }
        None => {
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            hedgerow::synthetic::census(census.rows, census.seed, &mut out)?;
            out.flush()?;
        }
        Some(directory) => {
            hedgerow::synthetic::write_example(directory, census.rows, census.seed)
                .map_err(|error| failed(directory, error))?;
            if talk.json {
                print_json(&json!({ "directory": directory.display().to_string(), "rows": census.rows }))?;
            } else if !talk.quiet {
                print(&format!("wrote {0}/census.csv with hierarchies and {0}/policy.toml\n", directory.display()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(directory: &Path, error: std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            let problem = "holds a file already that would be written there";
            Failure::usage(directory.display().to_string(), problem, "name another directory with -o")
        }
        _ => hedgerow::Error::Io { path: directory.to_path_buf(), source: error }.into(),
    }
}
