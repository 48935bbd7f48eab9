//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::process::ExitCode;

use hedgerow::{Compared, CountQueries, MeasureOptions, Measures, QueryOptions, Source};
use serde::Serialize;

use super::{load_policy, print, print_json};
use crate::args::{Measure, Talk};
use crate::failure::Failure;
use crate::progress::Shown;
use crate::text::{ComparedText, MeasuresText};

#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    measures: Measures,
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<Vec<Compared>>,
}

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
    let compared = match arguments.compare {
        true => Some(hedgerow::compare(&policy, Source::Policy, &options, &monitor)?),
        false => None,
    };
    drop(monitor);
    drop(shown);
    if talk.json {
        print_json(&Printed { measures, compare: compared })?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&MeasuresText(&measures).to_string())?;
    if let Some(compared) = compared {
        print(&ComparedText { measures: &measures, compared: &compared }.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
