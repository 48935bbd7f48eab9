//! `hedgerow query DIR SQL`: estimated answers from a release, each with what is certain and what possible.

use std::process::ExitCode;

use hedgerow_audit::query::answer_release;

use super::{print, print_json};
use crate::args::{Query, Talk};
use crate::failure::{Failure, say};
use crate::progress::Bars;

pub(crate) fn run(arguments: &Query, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    let answer = answer_release(&arguments.release, &arguments.sql, &bars)?;
    drop(bars);
    if talk.json {
        print_json(&answer.to_json())?;
    } else {
        print(&answer.to_string())?;
        for note in answer.notes.iter().filter(|_| !talk.quiet) {
            say(&format!("note: {note}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
