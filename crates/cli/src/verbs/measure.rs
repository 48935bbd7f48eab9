//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::process::ExitCode;

use hedgerow::{Compare, Compared, CountQueries, MeasureOptions, Measures, Problem, QueryOptions, Release};
use serde::Serialize;

use super::{load_policy, print, print_json, warn};
use crate::args::{self, Talk};
use crate::failure::Failure;
use crate::progress::ProgressDisplay;
use crate::text::{ComparedText, MeasuresText};

#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    measures: Measures,
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<Vec<Compared>>,
    warnings: Vec<Problem>,
}

pub(crate) fn run(arguments: &args::MeasureArguments, talk: &Talk) -> Result<ExitCode, Failure> {
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
    let shown = ProgressDisplay::new(talk);
    let monitor = shown.monitor();
    let release = Release::open_with(&arguments.release, &monitor)?;
    let measures = hedgerow::Measure::new(&release, &policy).queries(options.clone()).run_with(&monitor)?;
    let compared = match arguments.compare {
        true => Some(Compare::new(&policy).queries(options).run_with(&monitor)?),
        false => None,
    };
    drop(monitor);
    drop(shown);
    let warnings: Vec<Problem> = release.units_warning().into_iter().collect();
    warn(talk, &warnings);
    if talk.json {
        print_json(&Printed { measures, compare: compared, warnings })?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&MeasuresText(&measures).to_string())?;
    if let Some(compared) = compared {
        print(&ComparedText { measures: &measures, compared: &compared }.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
