//! `hedgerow federation`: custodians who compute together.

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(feature = "federation")]
use super::lop;
use super::program;
use crate::args::{Federation, FederationWhat, Talk};
use crate::failure::Failure;

#[cfg_attr(not(feature = "federation"), expect(unused_variables, reason = "`lop` alone prints"))]
pub(crate) fn run(arguments: &Federation, talk: &Talk) -> Result<ExitCode, Failure> {
    match &arguments.what {
        #[cfg(feature = "federation")]
        FederationWhat::Lop(arguments) => lop::measure(arguments, talk),
        FederationWhat::Node(words) => run_node(words),
    }
}

/// Hands a command to the node's own program, so that this one needs no network and no database.
fn run_node(words: &[OsString]) -> Result<ExitCode, Failure> {
    program::run("hedgerow-node", words).ok_or_else(|| {
        let word = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let problem = "`hedgerow-node` was not found, which has all commands but `lop`";
        let hint = "put it beside `hedgerow` or on the PATH: `cargo build --release -p hedgerow-node` makes it";
        Failure::usage(format!("federation {word}"), problem, hint)
    })
}
