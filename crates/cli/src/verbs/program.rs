//! Verbs that are programs of their own, so that the command's build does not grow by their parts.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Runs a program that is beside this one or on the PATH, and ends as it ends. `None` where there
/// is none.
pub(super) fn run(name: &str, words: &[OsString]) -> Option<ExitCode> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let own = [std::env::current_exe().ok(), crate::STARTED_AS.get().cloned()];
    let beside = own.into_iter().flatten().map(|own| own.with_file_name(&name)).find(|path| path.is_file());
    let status = Command::new(beside.unwrap_or_else(|| name.into())).args(words).status().ok()?;
    Some(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
