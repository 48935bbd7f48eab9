//! The report that a person signs: one page about one release, or about several together.

use std::path::{Path, PathBuf};

use hedgerow_audit::{
    Adversary, Audited, Measures, Narrowing, QuasiSource, SourceTable, compare, contingencies, narrowings,
    released_risk, safe_harbor, singled_out,
};
use hedgerow_policy::{Method, Role};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::read_earlier;
use hedgerow_publish::explore::{Height, explore, is_small};
use hedgerow_publish::undivided::undivided;
use hedgerow_publish::why::why;
use hedgerow_report::Section;
use hedgerow_report::facts::ReportFacts;
use hedgerow_table::{InputError, Table, whole};
use serde_json::Value;

use crate::check::{Check, check_release, compare_with_source, count_in_source};
#[cfg(feature = "federation")]
use crate::ledger::summed_up;
use crate::measure::count_units_alone;
use crate::{Audit, Error, ErrorKind, ExploredAttribute, MeasureOptions, Monitor, Policy, Release, Source};
use document::{
    AlonePart, Document, ErrorShare, HeightPart, LatticePart, ManifestPart, NarrowingPart, NarrowingStepPart,
    PolicyFile, ReleasePart, RowsStated, SourceFile, SourcePart, Together, columns, related,
};

pub(crate) mod document;
pub(crate) mod facts;
mod internal_facts;

/// The largest lattice, in nodes, and the most work, in nodes times rows, that is explored for a
/// report; beyond it the neighbors of the chosen node are described.
const NODES_MAX: u64 = 20_000;
const WORK_MAX: u64 = 100_000_000;

/// A report in the making.
#[derive(Debug)]
#[must_use = "nothing is reported before `run`"]
pub struct Report<'a> {
    releases: Vec<Release>,
    policy: Option<&'a Policy>,
    source: Source<'a>,
    people: Option<Source<'a>>,
    #[cfg(feature = "federation")]
    ledger: Option<PathBuf>,
    publishable: bool,
    queries: MeasureOptions,
    date: Option<String>,
}

/// A report: the page, and every number of it as JSON.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reported {
    /// The output of `hedgerow report --json`.
    pub json: Value,
    /// One self-contained page.
    pub html: String,
    /// The findings of the audit.
    pub audited: Audited,
    facts: ReportFacts,
}

impl<'a> Report<'a> {
    /// A report about these releases.
    pub fn new(releases: &[Release]) -> Report<'a> {
        Report {
            releases: releases.to_vec(),
            policy: None,
            source: Source::of_policy(),
            people: None,
            #[cfg(feature = "federation")]
            ledger: None,
            publishable: false,
            queries: MeasureOptions::default(),
            date: None,
        }
    }

    /// The policy that a release was made from: adds what needs the private source.
    pub fn policy(mut self, policy: &'a Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Takes the private rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// The people to look for in the audit, as in [`Audit::people`].
    pub fn people(mut self, people: impl Into<Source<'a>>) -> Self {
        self.people = Some(people.into());
        self
    }

    /// The ledger of the joint run that the release was found by, as
    /// [`crate::federation::ledger_lines`] writes it: adds what custodians opened to one another.
    #[cfg(feature = "federation")]
    pub fn ledger(mut self, file: impl AsRef<Path>) -> Self {
        self.ledger = Some(file.as_ref().to_path_buf());
        self
    }

    /// Only what the released tables show: neither policy, people nor ledger are read.
    pub fn publishable(mut self, publishable: bool) -> Self {
        self.publishable = publishable;
        self
    }

    /// The date that the page carries, such as 2026-01-31.
    pub fn date(mut self, date: impl Into<String>) -> Self {
        self.date = Some(date.into());
        self
    }

    /// The queries by which releases are measured.
    pub fn queries(mut self, queries: MeasureOptions) -> Self {
        self.queries = queries;
        self
    }

    /// Makes the report.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
    /// let release = hedgerow::publish(&policy, folder.path().join("release"))?.open()?;
    /// let reported = hedgerow::Report::new(&[release]).policy(&policy).run()?;
    /// reported.write(folder.path().join("report.html"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(self) -> Result<Reported, Error> {
        self.run_with(&Monitor::default())
    }

    /// Makes the report, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Reported, Error> {
        let names = short_names(self.releases.iter().map(Release::name));
        let releases: Vec<Release> =
            self.releases.iter().zip(&names).map(|(release, name)| release.clone().named(name)).collect();
        let policy = self.policy.filter(|_| !self.publishable);
        let table = policy.map(|policy| self.source.read(policy.inner(), monitor)).transpose()?;
        let internal = policy.zip(table.as_deref());
        let mut parts = Vec::new();
        for (index, release) in releases.iter().enumerate() {
            let others: Vec<&Release> =
                releases.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other).collect();
            let mut part = from_release(release, &others)?;
            if let Some((policy, table)) = internal {
                let checked = part.of_manifest.as_mut().map(|stated| &mut stated.check);
                match from_source(release.inner(), policy, table, checked, &self.queries, monitor) {
                    Ok(found) => part.of_source = found,
                    // Of several releases a policy has made one.
                    Err(error) if error.kind() == ErrorKind::Input && releases.len() > 1 => {}
                    Err(error) => return Err(error),
                }
            }
            parts.push(part);
        }
        let people = self.people.clone().filter(|_| !self.publishable);
        let mut audit = Audit::new(&releases);
        if let Some(policy) = policy.filter(|_| people.is_some()) {
            audit = audit.policy(policy);
        }
        if let Some(people) = people {
            audit = audit.people(people);
        }
        let audited = audit.run_with(monitor)?;
        for (part, name) in parts.iter_mut().zip(&names) {
            let own = audited.findings.iter().filter(|finding| finding.releases == [name.as_str()]);
            part.findings = own.cloned().collect();
        }
        let document = Document {
            version: env!("CARGO_PKG_VERSION"),
            publishable: self.publishable,
            date: self.date.clone(),
            policy: policy.and_then(policy_file),
            source: policy.map(source_file).transpose()?.flatten(),
            people_named: audited.people_named,
            omitted: if self.publishable { &OMITTED } else { &[] },
            releases: parts,
            #[cfg(feature = "federation")]
            ledger: self.ledger.as_deref().filter(|_| !self.publishable).map(summed_up).transpose()?,
            together: (releases.len() > 1).then(|| together(&releases, &audited)).transpose()?,
            audit: audited,
        };
        let facts = facts::of_document(&document);
        let json = value(&document)?;
        Ok(Reported { json, html: hedgerow_report::page(&facts), audited: document.audit, facts })
    }
}

/// The name of a file without what leads to it.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The text of the policy, where it is a file.
fn policy_file(policy: &Policy) -> Option<PolicyFile> {
    let text = std::fs::read_to_string(&policy.path).ok()?;
    Some(PolicyFile { name: file_name(&policy.path), text })
}

/// Which bytes the source of a policy has, where it is a file.
fn source_file(policy: &Policy) -> Result<Option<SourceFile>, Error> {
    let path = &policy.source.path;
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some(SourceFile { name: file_name(path), digest: hedgerow_release::digest::of_file(path)? }))
}

/// The parts that a report for publication omits.
const OMITTED: [&str; 9] = [
    "the policy and the digest of its source",
    "losses and their distribution over attributes",
    "distributions before and after",
    "loss by subgroup",
    "errors of count queries",
    "the journalist's risk",
    "the lattice, and why attributes were generalized and rows suppressed",
    "the audit of named people",
    "what custodians opened to one another in a joint run",
];

fn value(of: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(of)
        .map_err(|error| Error::internal(format!("internal error: a report cannot be written as JSON: {error}")))
}

/// The names of the directories, without what leads to them; the same name again gets a number.
fn short_names<'n>(paths: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let resolved = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let name =
            resolved.file_name().map_or_else(|| "release".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut unique = name.clone();
        let mut number = 2;
        while names.contains(&unique) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        names.push(unique);
    }
    names
}

/// The figures from the released tables alone.
fn from_release(release: &Release, others: &[&Release]) -> Result<ReleasePart, Error> {
    let about_units = release.units_warning();
    let (release, others) = (release.inner(), others.iter().map(|other| other.inner()).collect::<Vec<_>>());
    let counted = RowsStated { source: None, out: release.rows(), suppressed: None };
    let part = ReleasePart {
        name: release.name().to_owned(),
        method: release.method().to_owned(),
        digest: release.digest()?.to_owned(),
        rows: counted,
        of_manifest: None,
        tables: released_risk(release)?,
        singled_out: singled_out(release),
        pairs: contingencies(release)?,
        safe_harbor: None,
        of_source: None,
        findings: Vec::new(),
    };
    let Some(manifest) = release.manifest() else { return Ok(part) };
    // Where the other releases are those that a guarantee was judged with, it is recomputed too.
    let alone = check_release(release, &[])?;
    let mut check = if alone.unchecked.is_empty() || others.is_empty() {
        alone
    } else {
        let combined = check_release(release, &others)?;
        if combined.contradictions.len() > alone.contradictions.len() { alone } else { combined }
    };
    check.warnings.extend(about_units);
    // Where the release lies on this machine is not for readers of the page.
    check.warnings.iter_mut().for_each(|warning| warning.place = release.name().to_owned());
    let stated = &manifest.hedgerow;
    let rows = &stated.rows;
    Ok(ReleasePart {
        rows: RowsStated { source: Some(rows.source), out: rows.out, suppressed: Some(rows.suppressed) },
        of_manifest: Some(ManifestPart {
            units: stated.units,
            columns: columns(manifest),
            dependencies: stated.dependencies.clone(),
            related: related(release, manifest),
            check,
        }),
        safe_harbor: Some(safe_harbor(release)),
        ..part
    })
}

/// The figures that need the private source. What a check left open is counted there. A release
/// that is not what the policy makes of the source has none of them, and its check says why.
fn from_source(
    release: &hedgerow_release::Release,
    policy: &Policy,
    table: &Table,
    checked: Option<&mut Check>,
    options: &MeasureOptions,
    monitor: &Monitor<'_>,
) -> Result<Option<SourcePart>, Error> {
    let inner = policy.inner();
    let bound = Bound::with_earlier(inner, table, read_earlier(inner, table, monitor)?)?;
    let found = refuse_other_method(release, inner).and_then(|()| measured(release, &bound, table, options, monitor));
    match (found, checked) {
        (Ok(found), None) => Ok(Some(found)),
        (Ok(found), Some(checked)) => {
            if compare_with_source(checked, release, table)? {
                count_in_source(checked, release, policy, table)?;
            }
            Ok(Some(found))
        }
        (Err(error), Some(checked))
            if error.kind() == ErrorKind::Input && (!checked.holds() || is_made_from(release, inner, table)) =>
        {
            checked.contradict(format!(
                "{}: {}; the release is not what the policy makes of its source, so that no figure about the source is shown",
                error.place(),
                error.problem()
            ));
            Ok(None)
        }
        (Err(error), _) => Err(error),
    }
}

/// Whether a release says of itself that it was made by such a policy, by its method, of as many
/// rows.
fn is_made_from(release: &hedgerow_release::Release, policy: &hedgerow_policy::Policy, table: &Table) -> bool {
    let Some(manifest) = release.manifest() else { return false };
    let fields = manifest.resources.iter().flat_map(|resource| &resource.schema.fields);
    let mut with_role = fields.filter_map(|field| Some((field.role.as_deref()?, field.name.as_str())));
    let is_of_policy =
        |role: &str, name: &str| policy.attributes.iter().any(|own| own.role.name() == role && own.name == name);
    let of_method = release.method() == policy.publish.method.name();
    of_method
        && manifest.hedgerow.rows.source == table.rows as u64
        && with_role.all(|(role, name)| is_of_policy(role, name))
}

fn measured(
    release: &hedgerow_release::Release,
    bound: &Bound<'_>,
    table: &Table,
    options: &MeasureOptions,
    monitor: &Monitor<'_>,
) -> Result<SourcePart, Error> {
    let policy = bound.policy;
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    let quasi = bound.quasi.iter();
    let source = SourceTable {
        table,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: sensitive.map(|attribute| attribute.name.as_str()).collect(),
        k: bound.k(),
    };
    let mut measures = hedgerow_audit::measure(release, &source, options, monitor)?;
    count_units_alone(release, policy, table, &mut measures);
    let mut part = SourcePart {
        comparison: compare(release, &source)?,
        query_error: None,
        why: None,
        lattice: None,
        undivided: None,
        measures,
    };
    if let Measures::Table(measures) = &part.measures {
        if let Some(queries) = &measures.queries {
            let steps = queries.percentiles.iter().zip(0u32..);
            let share = |(&error, percent)| ErrorShare { error, share: f64::from(percent) / 100.0 };
            part.query_error = Some(steps.map(share).collect());
        }
        let levels: Option<Vec<u8>> = measures
            .attributes
            .iter()
            .map(|attribute| attribute.level.and_then(|level| u8::try_from(level).ok()))
            .collect();
        if let Some(levels) = levels.filter(|_| policy.publish.method == Method::FullDomain) {
            part.why = Some(why(bound, &levels, monitor)?);
            part.lattice = lattice(bound, levels, monitor)?;
        }
    }
    let is_local = matches!(policy.publish.method, Method::Mondrian | Method::BestCut | Method::Cluster);
    part.undivided = is_local.then(|| undivided(bound, release)).transpose()?.flatten();
    Ok(part)
}

fn refuse_other_method(release: &hedgerow_release::Release, policy: &hedgerow_policy::Policy) -> Result<(), Error> {
    if release.manifest().is_none_or(|_| release.method() == policy.publish.method.name()) {
        return Ok(());
    }
    let problem =
        format!("the release was made by `{}`, the policy says `{}`", release.method(), policy.publish.method.name());
    Err(InputError::new(release.name(), problem, "name the policy that the release was made from").into())
}

/// The whole lattice, where it is small.
fn lattice(bound: &Bound<'_>, chosen: Vec<u8>, monitor: &Monitor<'_>) -> Result<Option<LatticePart>, Error> {
    if !is_small(bound, NODES_MAX, WORK_MAX) {
        return Ok(None);
    }
    let found = explore(bound, monitor)?;
    let attributes = found.attributes.iter().map(|(name, top)| ExploredAttribute { name: name.clone(), top: *top });
    let height = |height: Height| HeightPart { levels: height.levels, nodes: height.nodes, holding: height.holding };
    Ok(Some(LatticePart {
        attributes: attributes.collect(),
        nodes: found.nodes,
        holding_count: found.holding.len(),
        holding: found.holding.iter().map(|node| node.levels.clone()).collect(),
        heights: found.heights().into_iter().map(height).collect(),
        chosen,
    }))
}

/// The values that each release leaves, those that all leave together, and how they narrow down.
fn together(releases: &[Release], audited: &Audited) -> Result<Together, Error> {
    let of = |adversary: Adversary| audited.findings.iter().filter(move |finding| finding.adversary == adversary);
    let alone = of(Adversary::Attribute).map(|finding| {
        let linker = of(Adversary::Linker).find(|other| other.releases == finding.releases);
        AlonePart {
            release: finding.releases.join(" + "),
            protect: finding.protect.clone(),
            effective_k: linker.and_then(|linker| linker.effective_k),
            effective_l: finding.effective_l,
            max_confidence: finding.max_confidence,
        }
    });
    let combines = [Adversary::Composition, Adversary::Independence];
    let combined = audited.findings.iter().filter(|finding| combines.contains(&finding.adversary));
    let inner: Vec<hedgerow_release::Release> = releases.iter().map(|release| release.inner().clone()).collect();
    let mut chains = Vec::new();
    for finding in of(Adversary::Composition) {
        chains.extend(narrowings(&inner, finding)?.into_iter().map(counted));
    }
    Ok(Together { alone: alone.collect(), combined: combined.cloned().collect(), narrowings: chains })
}

/// A chain with the numbers of values in it.
fn counted(chain: Narrowing) -> NarrowingPart {
    let steps = chain.steps.into_iter();
    NarrowingPart {
        protect: chain.protect,
        people: chain.people,
        steps: steps.map(|step| NarrowingStepPart { values_count: step.values.len(), step }).collect(),
        left_count: chain.left.len(),
        left: chain.left,
    }
}

impl Reported {
    /// The sections of the page, for a page of another program.
    pub fn sections(&self) -> Vec<Section> {
        hedgerow_report::sections(&self.facts)
    }

    /// Writes the page to a file, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(whole::write(path.as_ref(), self.html.as_bytes())?)
    }
}
