//! The main job: from a policy to a verified release.

use std::borrow::Cow;
use std::time::Instant;

use hedgerow_buckets::anatomy;
use hedgerow_buckets::cloning;
use hedgerow_buckets::decompose;
use hedgerow_draft::bind::Bound;
use hedgerow_draft::clone_report::CloneReport;
use hedgerow_draft::coarsen;
use hedgerow_draft::community::{self, EarlierReleases};
use hedgerow_draft::consistent;
use hedgerow_draft::dependencies::Dependencies;
use hedgerow_draft::draft::{self, Draft, Searched};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::generalized;
use hedgerow_draft::only_where;
use hedgerow_draft::options::PublishOptions;
use hedgerow_draft::related;
use hedgerow_draft::units;
use hedgerow_lattice::explore;
use hedgerow_lattice::full_domain;
use hedgerow_local as local;
use hedgerow_local::divided::Divided;
use hedgerow_policy::{Method, Policy};
use hedgerow_release::manifest::{Manifest, RowTotals, UnitCounts};
use hedgerow_release::{Release, Within};
use hedgerow_table::{Column, InputError, Table};
use hedgerow_verify::check::Checked;
use hedgerow_verify::verified::{Staged, Verified};
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use crate::catalog::{CatalogAudit, OpenedCatalog};
use crate::foreseen;
use crate::joint_refusals;
use crate::other_methods;
use crate::out_of_core;
use crate::phase::Phase;
use crate::published::Published;
use crate::repair;
use crate::row_store::{RowSource, RowStore, Searchable};

/// Publishes what a policy describes: the one way from rows to a verified release in its place.
pub fn publish(
    policy: &Policy,
    source: RowSource<'_>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    match options.gate.repair {
        true => repair::publish_repaired(policy, source, options),
        false => publish_once(policy, source, options),
    }
}

/// The same, with the policy as it is.
pub(crate) fn publish_once(
    policy: &Policy,
    source: RowSource<'_>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    publish_with(policy, source, None, options)
}

/// The same for rows that others have divided into classes: these are written, verified, audited
/// and placed, and none is searched for.
pub fn publish_divided(
    policy: &Policy,
    table: &Table,
    divided: Divided<'_>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    publish_with(policy, RowSource::Table(table), Some(divided), options)
}

fn publish_with(
    policy: &Policy,
    source: RowSource<'_>,
    divided: Option<Divided<'_>>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    let started = Instant::now();
    // First, so that a long search is not lost to a destination that was never possible.
    let staged = Staged::next_to(&options.destination, options.overwrite)?;
    refuse(policy)?;
    if divided.is_some() {
        joint_refusals::refuse(policy)?;
    }
    let catalog = OpenedCatalog::open(&options.gate, policy, options.progress)?;
    let reading = Phase::new(options.progress, "reading");
    let known = catalog.known_columns()?;
    let mut store = source.open(policy, &known, &reading)?;
    let repeating = store.take_identifiers(policy, &known, &reading)?;
    let exact = if catalog.is_gated(&options.gate) { store.made_coarser(policy) } else { Vec::new() };
    let (store, coarsened) = store.coarsened(policy)?;
    let searchable = store.searchable(policy, &options.gate, &reading)?;
    foreseen::refuse(policy, &store, &searchable, &options.gate, options.memory)?;
    let earlier = community::read_earlier(policy, searchable.table(), &reading)?;
    reading.finish();
    options.progress.check()?;
    let dependencies = store.dependencies(policy, options.progress)?;
    // The values of rows that others divided are not those of the source.
    let closed = dependencies.closed(policy).filter(|_| divided.is_none());
    let judged = closed.as_ref().unwrap_or(policy);
    let mut bound = bind(judged, &searchable, earlier, &dependencies)?;
    bound.coarsened = coarsened;
    bound.warnings.extend(repeating);
    if !options.levels.is_empty() {
        explore::refuse_other_methods(&bound)?;
    }
    if closed.is_some() {
        bound.warnings.extend(dependencies.closing_warnings(policy));
    }
    if divided.is_none() {
        bound.warnings.extend(store.singling_out(policy, &searchable, options.progress)?);
    }
    dependencies.refuse_known_protected(policy)?;
    bound.warnings.extend(dependencies.warnings.iter().cloned());
    let read_time = started.elapsed();

    let searching = Instant::now();
    let mut rng = generalized::rng(options)?;
    let mut draft = search(&bound, divided, options, &mut rng)?;
    if store.in_memory() {
        dependencies.refuse_exposed_people(&bound, &draft)?;
    }
    draft.related = related::stated(&bound, &draft);
    let related = related::warnings(&bound, &draft);
    draft.warnings.extend(related);
    let search_time = searching.elapsed();

    let writing = Instant::now();
    let summary = Summary::take(&mut draft);
    let (verified, checked) = write_and_verify(&store, &bound, draft, &dependencies, staged, options, &mut rng)?;
    let people = match &searchable {
        Searchable::Rows(table) => Some(with_columns(table, exact)),
        Searchable::Distinct(_) => None,
    };
    let (release, audited) = catalog.place(verified, policy, people.as_deref(), &options.gate, options.progress)?;
    let mut warnings: Vec<InputError> = bound.warnings.iter().cloned().chain(summary.warnings).collect();
    if let Some(audited) = &audited {
        warnings.extend(audit_warnings(policy, audited, summary.units));
    }
    Ok(Published {
        release,
        rows: summary.rows,
        units: summary.units,
        checked,
        losses: summary.losses,
        searched: summary.searched,
        cloned: summary.cloned,
        audited,
        spilled: store.spilled(),
        read_time,
        search_time,
        write_time: writing.elapsed(),
        warnings,
    })
}

/// The policy bound to what the search takes.
fn bind<'a>(
    policy: &'a Policy,
    searchable: &'a Searchable<'_>,
    earlier: EarlierReleases,
    dependencies: &Dependencies,
) -> Result<Bound<'a>, PublishError> {
    let mut bound = match searchable {
        Searchable::Rows(table) => Bound::with_earlier(policy, table, earlier)?,
        Searchable::Distinct(counted) => Bound::to_counted(policy, counted, earlier)?,
    };
    bound.dependencies_found = dependencies.found().map(|(from, to)| (from.to_vec(), to.clone())).collect();
    Ok(bound)
}

/// Warnings about what an audit with other releases does not decide.
fn audit_warnings(policy: &Policy, audited: &CatalogAudit, units: Option<UnitCounts>) -> Vec<InputError> {
    let mut warnings: Vec<InputError> = audited.lacking(policy).into_iter().chain(audited.undecided(policy)).collect();
    if policy.has_units() {
        let problem = "the audit with other releases counts rows, not units: an attacker who knows all rows of a unit \
                       in several releases can exclude more";
        let hint = "let no unit be in several releases, or publish one row for each";
        let warning = InputError::new(policy.path.display().to_string(), problem, hint);
        warnings.push(warning.about("units", [""; 0], units.map(|units| units.out)));
    }
    warnings
}

/// A table with other columns of the same names: the people of an audit have the values of the
/// source, also where the release has coarser ones.
fn with_columns(table: &Table, columns: Vec<Column>) -> Cow<'_, Table> {
    if columns.is_empty() {
        return Cow::Borrowed(table);
    }
    let mut table = table.clone();
    for column in columns {
        if let Some(own) = table.columns.iter_mut().find(|own| own.name == column.name) {
            *own = column;
        }
    }
    Cow::Owned(table)
}

/// Refuses policies that a method cannot publish whatever the rows are.
fn refuse(policy: &Policy) -> Result<(), PublishError> {
    consistent::refuse(policy)?;
    only_where::refuse(policy)?;
    match policy.publish.method {
        Method::Anatomy => Ok(anatomy::refuse(policy)?),
        Method::Clone => Ok(cloning::refuse(policy)?),
        _ => Ok(()),
    }
}

/// The draft of the policy's method.
fn search<'a>(
    bound: &'a Bound<'_>,
    divided: Option<Divided<'_>>,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<Draft<'a>, PublishError> {
    let phase = Phase::new(options.progress, "searching");
    let searched_with = PublishOptions { progress: &phase, ..options.clone() };
    let searches = divided.is_none();
    let mut draft = match (divided, bound.policy.publish.method) {
        (Some(divided), _) => local::divided::draft(bound, divided)?,
        (None, Method::FullDomain) => full_domain::draft(bound, &searched_with)?,
        (None, Method::Mondrian | Method::BestCut | Method::Cluster) => local::draft(bound, &searched_with)?,
        (None, Method::Anatomy) => anatomy::draft(bound, &searched_with, rng)?,
        (None, Method::Clone) => cloning::draft(bound, &searched_with, rng)?,
        (None, Method::Decompose) => decompose::draft(bound, &searched_with, rng)?,
    };
    if searches {
        draft.warnings.extend(other_methods::advice(bound, &draft.losses, &searched_with)?);
    }
    units::link(&mut draft, bound, rng);
    phase.finish();
    options.progress.check()?;
    Ok(draft)
}

/// The result for the caller once the tables of a draft are written.
struct Summary {
    rows: RowTotals,
    units: Option<UnitCounts>,
    losses: Map<String, Value>,
    searched: Option<Searched>,
    cloned: Option<CloneReport>,
    warnings: Vec<InputError>,
}

impl Summary {
    fn take(draft: &mut Draft<'_>) -> Summary {
        Summary {
            rows: draft.rows,
            units: draft.units.as_ref().map(|units| units.counts),
            losses: draft.losses.clone(),
            searched: draft.searched.clone(),
            cloned: draft.cloned.take(),
            warnings: std::mem::take(&mut draft.warnings),
        }
    }
}

/// Writes a draft next to its destination and recomputes every guarantee from the written bytes.
fn write_and_verify(
    store: &RowStore<'_>,
    bound: &Bound<'_>,
    mut draft: Draft<'_>,
    dependencies: &Dependencies,
    staged: Staged,
    options: &PublishOptions<'_>,
    rng: &mut StdRng,
) -> Result<(Verified, Checked), PublishError> {
    let phase = Phase::of(options.progress, "writing", draft.rows_to_write(!store.in_memory()).max(1));
    let rows = draft.rows;
    let (rules, units) = (draft.rules.take(), draft.units.take());
    let related = std::mem::take(&mut draft.related);
    let written = store.write(draft, bound, staged.path(), options.format, rng, &phase)?;
    phase.finish();
    options.progress.check()?;
    let mut manifest = draft::manifest(bound, written.resources.clone(), rows);
    bound.coarsened.declare(bound.policy, &mut manifest);
    manifest.hedgerow.units = units.as_ref().map(|units| units.counts);
    manifest.hedgerow.related = related;
    let named = |released: &Release| {
        let mut rules = rules.unwrap_or_else(|| generalized::named_rules(bound, released));
        if let Some(units) = &units {
            units.state(bound, &mut rules);
        }
        rules
    };
    let describe = |manifest: &mut Manifest, released: &Release| {
        manifest.hedgerow.hierarchies = generalized::hierarchies(bound, released);
        coarsen::state_released(manifest, released);
    };
    let phase = Phase::of(options.progress, "verifying", written.bytes());
    let judged: Vec<&str> =
        out_of_core::judged_names(bound.policy).chain(dependencies.dividing(bound.policy)).collect();
    let within = store.read_by().map(|by| Within { judged: &judged, by });
    let (verified, checked) = staged.verify(manifest, named, describe, within, &phase)?;
    if !store.in_memory() {
        let released_rules = generalized::named_rules(bound, verified.release());
        dependencies.refuse_exposed_rows(bound.policy, &released_rules, verified.release())?;
    }
    verified.describe(&options.metadata)?;
    written.wait()?;
    phase.finish();
    options.progress.check()?;
    Ok((verified, checked))
}
