//! `hedgerow synth`: synthetic data to try things on.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use hedgerow_table::TableError;

use super::print;
use crate::args::{Synth, SynthWhat, Talk};
use crate::failure::Failure;

pub(crate) fn run(arguments: &Synth, talk: &Talk) -> Result<ExitCode, Failure> {
    let SynthWhat::Census(census) = &arguments.what;
    match &census.output {
        None => {
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            hedgerow_synth::census(census.rows, census.seed, &mut out)?;
            out.flush()?;
        }
        Some(directory) => {
            hedgerow_synth::write_example(directory, census.rows, census.seed)
                .map_err(|error| failed(directory, error))?;
            if !talk.quiet && !talk.json {
                print(&format!("wrote {0}/census.csv with hierarchies and {0}/policy.toml\n", directory.display()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(directory: &Path, error: std::io::Error) -> TableError {
    match error.kind() {
        ErrorKind::AlreadyExists => {
            TableError::input(directory.display().to_string(), error.to_string(), "name another directory with -o")
        }
        _ => TableError::io(directory, error),
    }
}
