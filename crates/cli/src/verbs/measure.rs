//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::process::ExitCode;

use hedgerow_audit::{Measured, QuasiSource, QueryOptions, measure};
use hedgerow_policy::{Policy, Role};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_table::TableError;
use hedgerow_table::release::manifest::Manifest;
use hedgerow_table::release::read::{read_codebook, read_released};

use super::{print, print_json};
use crate::args::{Measure, Talk};
use crate::failure::Failure;
use crate::progress::Bars;

pub(crate) fn run(arguments: &Measure, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = Policy::load(&arguments.policy)?;
    let directory = &arguments.release;
    let manifest = Manifest::read(directory)?;
    let bars = Bars::new(talk);
    let Some(resource) = manifest.resources.iter().find(|resource| resource.name == "data") else {
        let hint = "this version measures generalised releases, whose table is named `data`";
        return Err(TableError::input(directory.display().to_string(), "the release has no table `data`", hint).into());
    };
    let released = read_released(directory, resource, &bars)?;
    let codebook = read_codebook(directory)?;
    let source = read_source(&policy, &bars)?;
    let bound = Bound::new(&policy, &source)?;
    let quasi = bound.quasi.iter();
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let input = Measured {
        source: &source,
        released: &released,
        codebook: &codebook,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
        k: bound.k(),
        rows_suppressed: manifest.hedgerow.rows.suppressed,
    };
    let queries = QueryOptions { count: arguments.queries, seed: arguments.seed, ..QueryOptions::default() };
    let measures = measure(&input, &queries, &bars)?;
    drop(bars);
    if talk.json {
        print_json(&measures.to_json())?;
    } else {
        print(&measures.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
