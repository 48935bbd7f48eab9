//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::process::ExitCode;

use hedgerow::{CountQueries, MeasureOptions, QueryOptions, Source};

use super::{load_policy, print, print_json};
use crate::args::{Measure, Talk};
use crate::failure::Failure;
use crate::progress::Shown;
use crate::text::MeasuresText;

pub(crate) fn run(arguments: &Measure, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = load_policy(&arguments.policy)?;
    let options = MeasureOptions {
        queries: QueryOptions { count: arguments.queries, seed: arguments.seed, ..QueryOptions::default() },
        combined: CountQueries {
            count: arguments.queries,
            seed: arguments.seed,
            dimension: arguments.query_dimension,
            share: arguments.value_share,
        },
    };
    let shown = Shown::new(talk);
    let monitor = shown.monitor();
    let release = hedgerow::open_with(&arguments.release, &monitor)?;
    let measures = hedgerow::measure(&release, &policy, Source::Policy, &options, &monitor)?;
    drop(monitor);
    drop(shown);
    if talk.json {
        print_json(&measures)?;
    } else {
        print(&MeasuresText(&measures).to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
