//! `hedgerow query DIR SQL`: estimated answers from a release, each with what is certain and what
//! possible.

use std::process::ExitCode;

use hedgerow::Release;

use super::{print, print_json};
use crate::args::{QueryArguments, Talk};
use crate::failure::{Failure, say};
use crate::progress::ProgressDisplay;
use crate::text;

pub(crate) fn run(arguments: &QueryArguments, talk: &Talk) -> Result<ExitCode, Failure> {
    let shown = ProgressDisplay::new(talk);
    let answer = Release::open_with(&arguments.release, &shown.monitor())?.query(&arguments.sql)?;
    drop(shown);
    if talk.json {
        print_json(&answer)?;
    } else {
        print(&text::answer::answer(&answer))?;
        for note in answer.notes.iter().filter(|_| !talk.quiet) {
            say(&format!("note: {note}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
