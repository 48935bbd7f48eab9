//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::process::ExitCode;

use hedgerow_audit::max_likelihood::CountQueries;
use hedgerow_audit::{MeasureOptions, QuasiSource, QueryOptions, SourceTable, measure};
use hedgerow_policy::{Policy, Role};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_release::Release;

use super::{print, print_json};
use crate::args::{Measure, Talk};
use crate::failure::Failure;
use crate::progress::Bars;
use crate::text::MeasuresText;

pub(crate) fn run(arguments: &Measure, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = Policy::load(&arguments.policy)?;
    let bars = Bars::new(talk);
    let release = Release::open(&arguments.release, &bars)?;
    let table = read_source(&policy, &bars)?;
    let bound = Bound::new(&policy, &table)?;
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let quasi = bound.quasi.iter();
    let source = SourceTable {
        table: &table,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
        k: bound.k(),
    };
    let options = MeasureOptions {
        queries: QueryOptions { count: arguments.queries, seed: arguments.seed, ..QueryOptions::default() },
        combined: CountQueries {
            count: arguments.queries,
            seed: arguments.seed,
            dimension: arguments.query_dimension,
            share: arguments.value_share,
        },
    };
    let measures = measure(&release, &source, &options, &bars)?;
    drop(bars);
    if talk.json {
        print_json(&measures)?;
    } else {
        print(&MeasuresText(&measures).to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
