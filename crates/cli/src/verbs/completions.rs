//! `hedgerow completions SHELL`: prints a completion script.

use std::process::ExitCode;

use clap::CommandFactory;

use super::print;
use crate::args::{Arguments, Completions};
use crate::failure::Failure;

pub(crate) fn run(arguments: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "hedgerow", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
