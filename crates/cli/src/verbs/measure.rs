//! `hedgerow measure DIR --policy POLICY`: what a release lost, and what risk is left.

use std::path::Path;
use std::process::ExitCode;

use hedgerow_audit::max_likelihood::{CountQueries, measure_tables};
use hedgerow_audit::{
    Measured, MeasuredBuckets, MeasuredClones, Measures, QuasiSource, QueryOptions, Recoding, TableMeasures, measure,
    measure_buckets, measure_clones,
};
use hedgerow_policy::{Method, Policy, Role};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_release::cloned::Cloned;
use hedgerow_release::manifest::{Manifest, Resource};
use hedgerow_release::read::{read_codebook, read_released};
use hedgerow_release::shape::Shape;

use super::{print, print_json};
use crate::args::{Measure, Talk};
use crate::failure::Failure;
use crate::progress::Bars;
use crate::text::MeasuresText;

pub(crate) fn run(arguments: &Measure, talk: &Talk) -> Result<ExitCode, Failure> {
    let policy = Policy::load(&arguments.policy)?;
    let directory = &arguments.release;
    let manifest = Manifest::read(directory)?;
    let bars = Bars::new(talk);
    let queries = QueryOptions { count: arguments.queries, seed: arguments.seed, ..QueryOptions::default() };
    let measures = match Shape::of_release(directory, &manifest)? {
        Shape::Generalized { data } => generalized(directory, &manifest, data, &policy, &queries, &bars)?,
        Shape::Bucketized { quasi, sensitive } => {
            bucketized(directory, &manifest, [quasi, sensitive], &policy, &queries, &bars)?
        }
        Shape::Cloned { .. } => cloned(directory, &manifest, &policy, &queries, &bars)?,
        Shape::Decomposed { .. } => return several(arguments, &policy, bars, talk),
    };
    drop(bars);
    show(&Measures::Table(measures), talk)
}

fn show(measures: &Measures, talk: &Talk) -> Result<ExitCode, Failure> {
    if talk.json {
        print_json(measures)?;
    } else {
        print(&MeasuresText(measures).to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Several tables about the same people: what they show together.
fn several(arguments: &Measure, policy: &Policy, bars: Bars, talk: &Talk) -> Result<ExitCode, Failure> {
    let source = read_source(policy, &bars)?;
    let queries = CountQueries {
        count: arguments.queries,
        seed: arguments.seed,
        dimension: arguments.query_dimension,
        share: arguments.value_share,
    };
    let measured = measure_tables(&arguments.release, &source, queries, &bars)?;
    drop(bars);
    show(&Measures::Decomposed(measured), talk)
}

fn generalized(
    directory: &Path,
    manifest: &Manifest,
    data: &Resource,
    policy: &Policy,
    queries: &QueryOptions,
    bars: &Bars,
) -> Result<TableMeasures, Failure> {
    let released = read_released(directory, data, bars)?;
    let codebook = read_codebook(directory)?;
    let source = read_source(policy, bars)?;
    let bound = Bound::new(policy, &source)?;
    let quasi = bound.quasi.iter();
    let full_domain = manifest.hedgerow.method == Method::FullDomain.name();
    let input = Measured {
        source: &source,
        released: &released,
        codebook: &codebook,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive(policy),
        k: bound.k(),
        rows_suppressed: manifest.hedgerow.rows.suppressed,
        recoding: if full_domain { Recoding::FullDomain } else { Recoding::Local },
    };
    Ok(measure(&input, queries, bars)?)
}

fn bucketized(
    directory: &Path,
    manifest: &Manifest,
    [quasi, values]: [&Resource; 2],
    policy: &Policy,
    queries: &QueryOptions,
    bars: &Bars,
) -> Result<TableMeasures, Failure> {
    let (rows, values) = (read_released(directory, quasi, bars)?, read_released(directory, values, bars)?);
    let source = read_source(policy, bars)?;
    let bound = Bound::new(policy, &source)?;
    let released = |name: &&str| values.column(name).is_some();
    let input = MeasuredBuckets {
        source: &source,
        rows: &rows,
        values: &values,
        quasi: bound.quasi.iter().map(|quasi| quasi.attribute.name.as_str()).collect(),
        sensitive: sensitive(policy).into_iter().filter(released).collect(),
        k: bound.k(),
        rows_suppressed: manifest.hedgerow.rows.suppressed,
    };
    Ok(measure_buckets(&input, queries, bars)?)
}

fn cloned(
    directory: &Path,
    manifest: &Manifest,
    policy: &Policy,
    queries: &QueryOptions,
    bars: &Bars,
) -> Result<TableMeasures, Failure> {
    let released = Cloned::read(directory, manifest, bars)?;
    let source = read_source(policy, bars)?;
    let bound = Bound::new(policy, &source)?;
    let input = MeasuredClones {
        source: &source,
        released: &released,
        quasi: bound.quasi.iter().map(|quasi| quasi.attribute.name.as_str()).collect(),
        k: bound.k(),
        rows_suppressed: manifest.hedgerow.rows.suppressed,
    };
    Ok(measure_clones(&input, queries, bars)?)
}

fn sensitive(policy: &Policy) -> Vec<&str> {
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    sensitive.map(|attribute| attribute.name.as_str()).collect()
}
