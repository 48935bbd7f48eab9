//! `hedgerow query DIR SQL`: estimated answers from a release, each with what is certain and what possible.

use std::process::ExitCode;

use hedgerow_audit::query;
use hedgerow_release::Release;

use super::{print, print_json};
use crate::args::{Query, Talk};
use crate::failure::{Failure, say};
use crate::progress::Bars;
use crate::text;

pub(crate) fn run(arguments: &Query, talk: &Talk) -> Result<ExitCode, Failure> {
    let bars = Bars::new(talk);
    let answer = query::answer(&Release::open(&arguments.release, &bars)?, &arguments.sql)?;
    drop(bars);
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
