//! `hedgerow synth`: synthetic data to try things on.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use hedgerow::{Error, ErrorKind};
use serde::Serialize;

use super::{print, print_json};
use crate::args::{Synth, SynthWhat, Talk};
use crate::failure::Failure;

#[derive(Serialize)]
struct Written {
    directory: String,
    rows: u64,
}

pub(crate) fn run(arguments: &Synth, talk: &Talk) -> Result<ExitCode, Failure> {
    let (what, name) = match &arguments.what {
        SynthWhat::Census(what) => (what, "census"),
        SynthWhat::Hospital(what) => (what, "hospital"),
        SynthWhat::Households(what) => (what, "households"),
        SynthWhat::Taxes(what) => (what, "taxes"),
    };
    let fill = |out: &mut dyn Write| match &arguments.what {
        SynthWhat::Census(_) => hedgerow::synthetic::census(what.rows, what.seed, out),
        SynthWhat::Hospital(_) => hedgerow::synthetic::hospital(what.rows, what.seed, out),
        SynthWhat::Households(_) => hedgerow::synthetic::households(what.rows, what.seed, out),
        SynthWhat::Taxes(_) => hedgerow::synthetic::taxes(what.rows, what.seed, out),
    };
    match &what.output {
        None if talk.json => {
            let problem = "without -o the data itself goes to standard output, which leaves no room for JSON";
            let hint = "name a directory with -o, or leave --json out";
            return Err(Failure::usage("--json", problem, hint));
        }
        None => {
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            fill(&mut out)?;
            out.flush()?;
        }
        Some(directory) => {
            let written = match &arguments.what {
                SynthWhat::Census(_) => hedgerow::synthetic::write_example(directory, what.rows, what.seed),
                SynthWhat::Hospital(_) | SynthWhat::Households(_) | SynthWhat::Taxes(_) => {
                    hedgerow::synthetic::write_data(directory, name, fill)
                }
            };
            written.map_err(failed)?;
            if talk.json {
                print_json(&Written { directory: directory.display().to_string(), rows: what.rows })?;
            } else if !talk.quiet {
                let also = if name == "census" { " with hierarchies and {0}/policy.toml" } else { "" };
                let also = also.replace("{0}", &directory.display().to_string());
                print(&format!("wrote {}/{name}.csv{also}\n", directory.display()))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The library's hint names no flag.
fn failed(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Input => Failure::usage(error.place(), error.problem(), "name another directory with -o"),
        _ => error.into(),
    }
}
