//! The report that a person signs: one page about one release, or about several together.

use std::path::{Path, PathBuf};

use hedgerow_audit::{
    Adversary, Measures, QuasiSource, SourceTable, compare, contingencies, narrowings, released_risk, safe_harbor,
    singled_out,
};
use hedgerow_policy::{Method, Role};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::community::read_earlier;
use hedgerow_publish::explore::{Height, explore, is_small};
use hedgerow_publish::undivided::undivided;
use hedgerow_publish::why::why;
use hedgerow_release::manifest::Manifest;
use hedgerow_table::{InputError, Table, whole};
use serde_json::{Map, Value, json};

use crate::check::{Check, check_release, count_in_source};
#[cfg(feature = "federation")]
use crate::ledger::summed_up;
use crate::measure::count_units_alone;
use crate::{Audit, Error, ErrorKind, MeasureOptions, Monitor, Policy, Release, Source};

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
            let mut part = from_release(release)?;
            let mut checked = checked(release, &others)?;
            if let Some((policy, table)) = internal {
                match from_source(release.inner(), policy, table, checked.as_mut(), &self.queries, monitor) {
                    Ok(found) => part.extend(found),
                    // Of several releases a policy has made one.
                    Err(error) if error.kind() == ErrorKind::Input && releases.len() > 1 => {}
                    Err(error) => return Err(error),
                }
            }
            if let Some(checked) = checked {
                part.insert("check".to_owned(), value(&checked)?);
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
            part.insert("findings".to_owned(), value(&own.collect::<Vec<_>>())?);
        }
        let mut document = Map::new();
        document.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        document.insert("publishable".to_owned(), json!(self.publishable));
        document.extend(self.date.as_ref().map(|date| ("date".to_owned(), json!(date))));
        if let Some(policy) = policy {
            document.extend(made_from(policy)?);
        }
        document.insert("people_named".to_owned(), json!(audited.people_named));
        if self.publishable {
            document.insert("omitted".to_owned(), json!(OMITTED));
        }
        document.insert("releases".to_owned(), value(&parts)?);
        #[cfg(feature = "federation")]
        if let Some(ledger) = self.ledger.as_deref().filter(|_| !self.publishable) {
            document.insert("ledger".to_owned(), summed_up(ledger)?);
        }
        if releases.len() > 1 {
            document.extend(together(&releases, &audited)?);
        }
        document.insert("audit".to_owned(), with_rows(value(&audited)?, &audited));
        let json = Value::Object(document);
        let html = hedgerow_report::page(&json);
        Ok(Reported { json, html })
    }
}

/// The text of the policy, and which bytes its source had where that is a file.
fn made_from(policy: &Policy) -> Result<Map<String, Value>, Error> {
    let name = |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut made_from = Map::new();
    if let Ok(text) = std::fs::read_to_string(&policy.path) {
        made_from.insert("policy".to_owned(), json!({ "name": name(&policy.path), "text": text }));
    }
    let path = &policy.source.path;
    if path.is_file() {
        let digest = hedgerow_release::digest::of_file(path)?;
        made_from.insert("source".to_owned(), json!({ "name": name(path), "digest": digest }));
    }
    Ok(made_from)
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

pub(crate) fn value(of: &impl serde::Serialize) -> Result<Value, Error> {
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
fn from_release(release: &Release) -> Result<Map<String, Value>, Error> {
    let release = release.inner();
    let mut part = Map::new();
    part.insert("name".to_owned(), json!(release.name()));
    part.insert("method".to_owned(), json!(release.method()));
    part.insert("digest".to_owned(), json!(release.digest()?));
    let Some(manifest) = release.manifest() else {
        part.insert("rows".to_owned(), json!({ "out": release.rows() }));
        part.insert("tables".to_owned(), value(&released_risk(release)?)?);
        part.insert("singled_out".to_owned(), value(&singled_out(release))?);
        part.insert("pairs".to_owned(), value(&contingencies(release)?)?);
        return Ok(part);
    };
    part.insert("rows".to_owned(), value(&manifest.hedgerow.rows)?);
    if let Some(units) = &manifest.hedgerow.units {
        part.insert("units".to_owned(), value(units)?);
    }
    part.insert("columns".to_owned(), columns(manifest));
    part.insert("dependencies".to_owned(), value(&manifest.hedgerow.dependencies)?);
    part.insert("tables".to_owned(), value(&released_risk(release)?)?);
    part.insert("singled_out".to_owned(), value(&singled_out(release))?);
    part.insert("pairs".to_owned(), value(&contingencies(release)?)?);
    part.insert("safe_harbor".to_owned(), value(&safe_harbor(release))?);
    Ok(part)
}

/// The check of a release that has a manifest, recomputed from the released tables. Where the other
/// releases are those that a guarantee was judged with, it is recomputed with them.
fn checked(release: &Release, others: &[&Release]) -> Result<Option<Check>, Error> {
    let about_units = release.units_warning();
    let (release, others) = (release.inner(), others.iter().map(|other| other.inner()).collect::<Vec<_>>());
    if release.manifest().is_none() {
        return Ok(None);
    }
    let alone = check_release(release, &[])?;
    let mut checked = if alone.unchecked.is_empty() || others.is_empty() {
        alone
    } else {
        let combined = check_release(release, &others)?;
        if combined.contradictions.len() > alone.contradictions.len() { alone } else { combined }
    };
    checked.warnings.extend(about_units);
    // Where the release lies on this machine is not for readers of the page.
    checked.warnings.iter_mut().for_each(|warning| warning.place = release.name().to_owned());
    Ok(Some(checked))
}

/// The columns of every released table.
pub(crate) fn columns(manifest: &Manifest) -> Value {
    let mut columns = Vec::new();
    for resource in manifest.resources.iter().filter(|resource| resource.name != hedgerow_release::shape::CODEBOOK) {
        for field in &resource.schema.fields {
            columns.push(json!({
                "name": field.name, "type": field.kind, "role": field.role, "values": field.values, "file": resource.path,
            }));
        }
    }
    json!(columns)
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
) -> Result<Map<String, Value>, Error> {
    let inner = policy.inner();
    let bound = Bound::with_earlier(inner, table, read_earlier(inner, table, monitor)?)?;
    let found = refuse_other_method(release, inner).and_then(|()| measured(release, &bound, table, options, monitor));
    match (found, checked) {
        (Ok(found), None) => Ok(found),
        (Ok(found), Some(checked)) => {
            count_in_source(checked, release, policy, table)?;
            Ok(found)
        }
        (Err(error), Some(checked))
            if error.kind() == ErrorKind::Input && (!checked.holds() || is_made_from(release, inner, table)) =>
        {
            checked.contradict(format!(
                "{}: {}; the release is not what the policy makes of its source, so that no figure about the source is shown",
                error.place(),
                error.problem()
            ));
            Ok(Map::new())
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
) -> Result<Map<String, Value>, Error> {
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
    let mut part = Map::new();
    part.insert("comparison".to_owned(), value(&compare(release, &source)?)?);
    if let Measures::Table(measures) = &measures {
        if let Some(queries) = &measures.queries {
            let steps = queries.percentiles.iter().zip(0u32..);
            let steps = steps.map(|(error, percent)| json!({ "error": error, "share": f64::from(percent) / 100.0 }));
            part.insert("query_error".to_owned(), steps.collect());
        }
        let levels: Option<Vec<u8>> = measures
            .attributes
            .iter()
            .map(|attribute| attribute.level.and_then(|level| u8::try_from(level).ok()))
            .collect();
        if let Some(levels) = levels.filter(|_| policy.publish.method == Method::FullDomain) {
            part.insert("why".to_owned(), value(&why(bound, &levels, monitor)?)?);
            part.extend(lattice(bound, &levels, monitor)?);
        }
    }
    let is_local = matches!(policy.publish.method, Method::Mondrian | Method::BestCut | Method::Cluster);
    if let Some(found) = is_local.then(|| undivided(bound, release)).transpose()?.flatten() {
        part.insert("undivided".to_owned(), value(&found)?);
    }
    part.insert("measures".to_owned(), value(&measures)?);
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
fn lattice(bound: &Bound<'_>, chosen: &[u8], monitor: &Monitor<'_>) -> Result<Map<String, Value>, Error> {
    if !is_small(bound, NODES_MAX, WORK_MAX) {
        return Ok(Map::new());
    }
    let found = explore(bound, monitor)?;
    let attributes = found.attributes.iter().map(|(name, top)| json!({ "name": name, "top": top }));
    let height = |height: Height| json!({ "levels": height.levels, "nodes": height.nodes, "holding": height.holding });
    let lattice = json!({
        "attributes": attributes.collect::<Vec<_>>(),
        "nodes": found.nodes,
        "holding_count": found.holding.len(),
        "holding": found.holding.iter().map(|node| &node.levels).collect::<Vec<_>>(),
        "heights": found.heights().into_iter().map(height).collect::<Vec<_>>(),
        "chosen": chosen,
    });
    Ok([("lattice".to_owned(), lattice)].into_iter().collect())
}

/// The findings with the rows of the people's list that each explanation is about, from 1: only
/// this document has them, and a publishable one looks for no people.
fn with_rows(mut document: Value, audited: &hedgerow_audit::Audited) -> Value {
    fn items(of: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
        of.and_then(Value::as_array_mut).into_iter().flatten()
    }
    for (shown, finding) in items(document.get_mut("adversaries")).zip(&audited.findings) {
        let explanations = items(shown.get_mut("explanations"));
        for (shown, explanation) in explanations.zip(&finding.explanations).filter(|(_, own)| !own.rows.is_empty()) {
            shown["rows"] = json!(explanation.rows.iter().map(|row| row + 1).collect::<Vec<u32>>());
        }
    }
    document
}

/// The values that each release leaves, those that all leave together, and how they narrow down.
fn together(releases: &[Release], audited: &hedgerow_audit::Audited) -> Result<Map<String, Value>, Error> {
    let mut alone = Vec::new();
    for finding in audited.findings.iter().filter(|finding| finding.adversary == Adversary::Attribute) {
        let linker = audited
            .findings
            .iter()
            .find(|other| other.adversary == Adversary::Linker && other.releases == finding.releases);
        alone.push(json!({
            "release": finding.releases.join(" + "),
            "protect": finding.protect,
            "effective_k": linker.and_then(|linker| linker.effective_k),
            "effective_l": finding.effective_l,
            "max_confidence": finding.max_confidence,
        }));
    }
    let combined = audited
        .findings
        .iter()
        .filter(|finding| [Adversary::Composition, Adversary::Independence].contains(&finding.adversary));
    let inner: Vec<hedgerow_release::Release> = releases.iter().map(|release| release.inner().clone()).collect();
    let mut chains = Vec::new();
    for finding in audited.findings.iter().filter(|finding| finding.adversary == Adversary::Composition) {
        chains.extend(narrowings(&inner, finding)?);
    }
    let mut chains = value(&chains)?;
    for chain in chains.as_array_mut().into_iter().flatten() {
        let left = chain["left"].as_array().map_or(0, Vec::len);
        chain["left_count"] = json!(left);
        for step in chain["steps"].as_array_mut().into_iter().flatten() {
            step["values_count"] = json!(step["values"].as_array().map_or(0, Vec::len));
        }
    }
    let entries = [
        ("alone".to_owned(), json!(alone)),
        ("combined".to_owned(), value(&combined.collect::<Vec<_>>())?),
        ("narrowings".to_owned(), chains),
    ];
    Ok(entries.into_iter().collect())
}

impl Reported {
    /// Writes the page to a file, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(whole::write(path.as_ref(), self.html.as_bytes())?)
    }
}
