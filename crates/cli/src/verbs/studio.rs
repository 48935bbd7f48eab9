//! `hedgerow studio`: the web application, a program of its own.

use std::ffi::OsString;
use std::process::ExitCode;

use super::program;
use crate::args::Studio;
use crate::failure::Failure;

pub(crate) fn run(studio: &Studio) -> Result<ExitCode, Failure> {
    let mut words: Vec<OsString> = Vec::new();
    if let Some(port) = studio.port {
        words.extend(["--port".into(), port.to_string().into()]);
    }
    if studio.no_browser {
        words.push("--no-browser".into());
    }
    words.push("--".into());
    words.extend(studio.named.iter().cloned());
    program::run("hedgerow-studio", &words).ok_or_else(|| {
        let hint = "put it beside `hedgerow` or on the PATH: `cargo build --release -p hedgerow-studio` makes it";
        Failure::usage("studio", "`hedgerow-studio` was not found", hint)
    })
}
